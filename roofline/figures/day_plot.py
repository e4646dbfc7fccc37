"""A fleet over a day: what is asked of it hour by hour, and what it carries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.answers.fleet_day import Day
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import sig
from roofline.language import tr

HEIGHT_PX, COMPACT_HEIGHT_PX = 400, 340
_MOST_REGIONS = 4
_PATTERNS = ("", "/", ".", "x")


def day_figure(found: Day, look: Look) -> Spec:
    """Calls a second by region, stacked, under the line of what all replicas carry; the space between is idle."""
    palette, capacity = look.palette, found.capacity_calls_per_s
    hours = [*(float(h) for h in found.hours), 24.0]
    data: list[dict[str, Any]] = []
    shown = _shown(found)
    for (name, calls), colour, pattern in zip(shown.items(), palette.kinds, _PATTERNS, strict=False):
        data.append(_area(name, hours, _closed(calls), colour, pattern, named=len(shown) > 1))
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": hours,
            "y": [capacity] * len(hours),
            "name": tr("all replicas"),
            "showlegend": False,
            "line": {"color": palette.text, "width": 2.25, "dash": "7px,4px"},
            "hovertemplate": tr("all replicas carry {calls} calls/s", calls=sig(capacity)) + "<extra></extra>",
        }
    )
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX, left=74)
    ticks = list(range(0, 25, 6 if look.compact else 3))
    title = axis_title(look, tr("Hour of the day, UTC"))
    layout["xaxis"] = axis(look, range=[0, 24], tickvals=ticks, ticktext=[f"{h:02d}" for h in ticks], title=title)
    title = axis_title(look, tr("Calls a second"))
    layout["yaxis"] = axis(look, range=[0, capacity * 1.16], title=title, tickformat="~s", nticks=6)
    layout["annotations"] = _words(found, look)
    if len(shown) > 1:
        layout["showlegend"] = True
        font = {"size": look.font_px, "color": palette.text}
        place = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
        layout["legend"] = {**place, "font": font, "bgcolor": "rgba(0,0,0,0)"}
        layout["margin"] = {**layout["margin"], "t": 40}
    return {"data": data, "layout": layout}


def day_alt(found: Day) -> str:
    """The answer of the figure in one sentence."""
    return tr(
        "Demand over a day against a capacity of {capacity} calls a second: highest at {busiest:02d}:00 UTC, "
        "lowest at {quietest:02d}:00, when {idle:.0%} stands idle.",
        capacity=sig(found.capacity_calls_per_s),
        busiest=found.busiest_hour,
        quietest=found.quietest_hour,
        idle=found.night_idle_frac,
    )


def _shown(found: Day) -> dict[str, NDArray[np.float64]]:
    """Every region, or the largest few and the rest together."""
    ordered = sorted(found.calls_per_s.items(), key=lambda item: -float(item[1].mean()))
    if len(ordered) <= _MOST_REGIONS:
        return dict(ordered)
    kept, rest = ordered[: _MOST_REGIONS - 1], ordered[_MOST_REGIONS - 1 :]
    return {**dict(kept), tr("others"): np.sum([calls for _, calls in rest], axis=0)}


def _closed(calls: NDArray[np.float64]) -> list[float]:
    """With the first hour of the next day."""
    return [*(float(value) for value in calls), float(calls[0])]


def _area(name: str, hours: list[float], calls: list[float], colour: str, pattern: str, *, named: bool) -> dict[str, Any]:
    words = safe(name)
    area: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": hours,
        "y": calls,
        "name": words,
        "showlegend": named,
        "stackgroup": "demand",
        "line": {"color": colour, "width": 2},
        "fillcolor": tint(colour, 0.35),
        "hovertemplate": tr("%{x:02d}:00 UTC: %{y:,.3s} calls/s") + f"<extra>{words}</extra>",
    }
    if pattern:
        area["fillpattern"] = {"shape": pattern, "fgcolor": colour, "bgcolor": tint(colour, 0.25), "size": 7}
    return area


def _words(found: Day, look: Look) -> list[dict[str, Any]]:
    """The line's name, and how much is idle when fewest ask."""
    capacity = found.capacity_calls_per_s
    line = {
        "x": 0,
        "y": capacity,
        "text": tr("what all replicas carry"),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": 8,
        "font": {"size": look.font_px, "color": look.palette.text},
    }
    quiet = float(found.total_calls_per_s[found.quietest_hour])
    idle = {
        "x": min(20.0, max(4.0, float(found.quietest_hour))),
        "y": (quiet + capacity) / 2.0,
        "text": tr("<b>{share:.0%} idle</b>", share=found.night_idle_frac),
        "showarrow": False,
        "font": {"size": look.font_px + 1, "color": look.palette.text},
    }
    return [line, idle]
