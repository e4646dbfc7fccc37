"""Money over use and over time: one's own system against an API, owning against renting."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

import numpy as np

from roofline.answers.api import Against, Crossing
from roofline.answers.owning import MultiYear
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe
from roofline.figures.words import axis_number, sig
from roofline.language import tr
from roofline.units import PER_MILLION

HEIGHT_PX, COMPACT_HEIGHT_PX = 400, 350
_FEW_DECADES = 2.5
_MIDDLE = 0.6
"""Share of the axis from which on a word stands left of its point."""


def crossing_figure(found: Against, lines: Crossing, look: Look) -> Spec:
    """USD a month against tokens a day, log on both axes; one's own system in whole steps."""
    palette = look.palette
    tokens = [float(value) for value in lines.tokens_per_day]
    api, own = ([float(value) for value in column] for column in (lines.api_usd_per_month, lines.own_usd_per_month))
    data = [
        _line(tr("the API"), tokens, api, {"color": palette.kinds[1], "width": 2.5, "dash": "7px,4px"}),
        _line(tr("your own"), tokens, own, {"color": palette.kinds[0], "width": 2.75, "shape": "hv"}),
    ]
    notes = [
        _end_label(safe(found.api.name), tokens[0], api[0], palette.kinds[1], look, up=True),
        _end_label(tr("your own system"), tokens[0], own[0], palette.kinds[0], look, up=True),
    ]
    if found.crosses and found.break_even_tokens_per_day is not None:
        even = found.break_even_tokens_per_day
        at = float(np.interp(even, lines.tokens_per_day, lines.api_usd_per_month))
        data.append(_ring(even, at, look))
        late = log10(even / tokens[0]) > _MIDDLE * log10(tokens[-1] / tokens[0])
        notes.append(_note(log10(even), log10(at), tr("{n} M a day", n=sig(even / PER_MILLION)), look, left=late))
    values = [value for value in (*api, *own) if value > 0]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX, left=74)
    title = tr("Tokens a day, prompt and output")
    layout["xaxis"] = _log_axis(tokens[0], tokens[-1], look, title, stride=2 if look.compact else 1)
    layout["yaxis"] = _log_axis(min(values) / 1.6, max(values) * 2.2, look, tr("USD a month"))
    layout["shapes"], more = _full(found, tokens, look)
    layout["annotations"] = [*notes, *more]
    return {"data": data, "layout": layout}


def crossing_alt(found: Against) -> str:
    """The answer of the figure in one sentence."""
    return f"{tr('USD a month against tokens a day, for an API and for your own system.')} {found.sentence}"


def years_figure(found: MultiYear, look: Look) -> Spec:
    """What was paid in all at the end of every year."""
    palette = look.palette
    years = [row.year for row in found.years]
    own = [row.own_cumulative_usd for row in found.years]
    rent = [row.rent_cumulative_usd for row in found.years if row.rent_cumulative_usd is not None]
    owning, renting = tr("owning"), tr("renting")
    data = [_marked(owning, years, own, palette.kinds[0], "circle", "solid")]
    above = not rent or own[-1] >= rent[-1]
    notes = [_plain_label(owning, years[-1], own[-1], palette.kinds[0], look, up=above)]
    if len(rent) == len(years):
        data.append(_marked(renting, years, rent, palette.kinds[1], "square", "7px,4px"))
        notes.append(_plain_label(renting, years[-1], rent[-1], palette.kinds[1], look, up=not above))
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX, left=74)
    layout["xaxis"] = axis(look, title=axis_title(look, tr("End of year")), dtick=max(1, ceil(len(years) / 10)), tick0=0)
    layout["xaxis"]["range"] = [-0.2, years[-1] * 1.04 + 0.2]
    layout["yaxis"] = axis(look, title=axis_title(look, tr("USD paid in all")), rangemode="tozero", tickformat="~s")
    layout["annotations"] = notes
    return {"data": data, "layout": layout}


def years_alt(found: MultiYear) -> str:
    """The answer of the figure in one sentence."""
    last = found.years[-1]
    paid = {"n": last.year, "own": sig(last.own_cumulative_usd)}
    if last.rent_cumulative_usd is None:
        return tr("Paid in all after {n} years: {own} USD for owning.", **paid)
    rent = sig(last.rent_cumulative_usd)
    return tr("Paid in all after {n} years: {own} USD for owning, {rent} USD for renting.", rent=rent, **paid)


def _line(name: str, x: list[float], y: list[float], line: dict[str, Any]) -> dict[str, Any]:
    template = tr("%{x:,.3s} tokens a day<br>%{y:,.3s} USD a month") + f"<extra>{name}</extra>"
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": line, "hovertemplate": template}


def _marked(name: str, x: list[int], y: list[float], colour: str, symbol: str, dash: str) -> dict[str, Any]:
    template = tr("year %{x}: %{y:,.0f} USD") + f"<extra>{name}</extra>"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": y,
        "name": name,
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "marker": {"color": colour, "size": 8, "symbol": symbol},
        "hovertemplate": template,
    }


def _ring(x: float, y: float, look: Look) -> dict[str, Any]:
    marker = {"size": 13, "color": look.palette.page, "line": {"color": look.palette.text, "width": 2.5}}
    words = tr("break-even at {n} million tokens a day", n=sig(x / PER_MILLION))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "name": tr("break-even"),
        "marker": marker,
        "hovertemplate": f"{words}<extra></extra>",
    }


def _full(found: Against, tokens: list[float], look: Look) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Where one system is busy all the time."""
    full = found.own_tokens_per_day
    if not tokens[0] < full < tokens[-1]:
        return [], []
    line = {"color": look.palette.muted, "width": 1, "dash": "2px,3px"}
    shape = {"type": "line", "x0": full, "x1": full, "y0": 0, "y1": 1, "yref": "paper", "line": line}
    note = {
        "x": log10(full),
        "y": 0,
        "yref": "paper",
        "text": tr("one system full"),
        "showarrow": False,
        "textangle": -90,
        "xanchor": "right",
        "yanchor": "bottom",
        "yshift": 6,
        "font": {"size": look.tick_px, "color": look.palette.muted},
    }
    return [shape], [note]


def _end_label(text: str, x: float, y: float, colour: str, look: Look, *, up: bool) -> dict[str, Any]:
    return {
        "x": log10(x),
        "y": log10(y),
        "text": text,
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom" if up else "top",
        "xshift": 8,
        "yshift": 6,
        "font": {"size": look.font_px, "color": look.palette.text},
        "bgcolor": look.palette.page,
        "bordercolor": colour,
        "borderpad": 2,
    }


def _plain_label(text: str, x: float, y: float, colour: str, look: Look, *, up: bool) -> dict[str, Any]:
    """A name at a line's end, on the side where the other line is not."""
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": "right",
        "xshift": 8,
        "yanchor": "bottom" if up else "top",
        "yshift": 9 if up else -9,
        "font": {"size": look.font_px, "color": look.palette.text},
        "bgcolor": look.palette.page,
        "bordercolor": colour,
        "borderpad": 2,
    }


def _note(x: float, y: float, text: str, look: Look, *, left: bool) -> dict[str, Any]:
    """The number at a crossing, left above it or right below: the steep line runs the other way."""
    return {
        "x": x,
        "y": y,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "xanchor": "right" if left else "left",
        "xshift": -10 if left else 10,
        "yshift": 14 if left else -14,
        "font": {"size": look.font_px + 1, "color": look.palette.text},
        "bgcolor": look.palette.page,
    }


def _log_axis(low: float, high: float, look: Look, title: str, stride: int = 1) -> dict[str, Any]:
    """Decades, with 3s between where there are few."""
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1.0,) if high / low > 10**_FEW_DECADES else (1.0, 3.0)
    ticks = [f * 10.0**p for p in decades for f in steps if low <= f * 10.0**p <= high][::stride]
    text = [axis_number(tick) for tick in ticks]
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=text, title=axis_title(look, title))
