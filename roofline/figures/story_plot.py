"""A story's chart: lines over the places of its slider, or one bar for each name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log10
from typing import Any

from roofline.answers.stories import Chart, Place
from roofline.figures.labels import Box, in_lines, text_width
from roofline.figures.log_axis import log_axis
from roofline.figures.theme import SERIES_DASHES, SERIES_SYMBOLS, Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import count_tick, sig
from roofline.language import later, localised, tr

HEIGHT_PX, COMPACT_HEIGHT_PX = 400, 360
_MANY_LABELS = 8
_LEAST_WIDTH_PX = 300.0
"""Narrowest plot that names are placed for."""
_LONG = 0.6
"""Share of that for a line of a name."""
_ASIDE_PX, _CLEAR_PX, _BOLD = 10, 6, 1.08


@dataclass(frozen=True)
class ChartWords:
    """How a chart is named, to be translated where it is drawn."""

    x: str
    y: str
    series: dict[str, str]
    """Series id -> its name."""
    absent: str = later("no number")
    """What is said of a bar without one."""
    place: Callable[[Place], str] = str
    """The name of a bar."""


def story_figure(chart: Chart, words: ChartWords, look: Look) -> Spec:
    """Bars where the places are names, else lines on log axes with a ring at the slider's place."""
    if any(isinstance(place, str) for place in chart.x):
        return _bars(chart, words, look)
    return _lines(chart, words, look)


def story_alt(chart: Chart, words: ChartWords) -> str:
    """The chart's answer in one sentence."""
    said = []
    for name, values in chart.series.items():
        if chart.at is not None:
            shown = tr("{value} at {place}", value=sig(values[chart.at]), place=_spoken(chart.x[chart.at], words))
        else:
            shown = ", ".join(
                f"{_spoken(place, words)} {sig(value) if isfinite(value) else tr(words.absent)}"
                for place, value in zip(chart.x, values, strict=True)
            )
        said.append(f"{tr(words.series[name])}: {shown}")
    title, against = tr(words.y), tr(words.x)
    if words.x:
        title = tr("{y} against {x}", y=title, x=f"{against[:1].lower()}{against[1:]}")
    return f"{title}. {'; '.join(said)}."


def _lines(chart: Chart, words: ChartWords, look: Look) -> Spec:
    x = [float(place) for place in chart.x]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    stride = 1 if len(x) <= _MANY_LABELS and not look.compact else 2
    layout["xaxis"] = axis(
        look,
        type="log",
        range=[log10(x[0] / 1.3), log10(x[-1] * 1.3)],
        tickvals=x[::stride],
        ticktext=[_place(place) for place in chart.x[::stride]],
        title=axis_title(look, tr(words.x)),
    )
    layout["yaxis"] = log_axis((v for values in chart.series.values() for v in values if isfinite(v)), look)
    layout["annotations"] = [_corner(words, look)]
    data: list[dict[str, Any]] = []
    for number, (name, values) in enumerate(chart.series.items()):
        data += _line(chart, x, values, tr(words.series[name]), number, look)
    layout["annotations"] += _names(chart, words, layout, look)
    return {"data": data, "layout": layout}


def _line(chart: Chart, x: list[float], values: tuple[float, ...], name: str, number: int, look: Look) -> list[dict[str, Any]]:
    """One line, and its ring."""
    colour = look.palette.kinds[number]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": [v if isfinite(v) else None for v in values],
        "line": {"color": colour, "width": 2.75, "dash": SERIES_DASHES[number]},
        "text": [
            f"{safe(name)}<br>{tr('at {place}: {value}', place=_place(p), value=sig(v))}"
            for p, v in zip(chart.x, values, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "name": safe(name),
    }
    if chart.at is None or not isfinite(values[chart.at]):
        return [line]
    marker = {"size": 12, "symbol": SERIES_SYMBOLS[number], "color": look.palette.page, "line": {"color": colour, "width": 3}}
    ring = {"type": "scatter", "mode": "markers", "x": [x[chart.at]], "y": [values[chart.at]], "marker": marker}
    return [line, {**ring, "cliponaxis": False, "hoverinfo": "skip", "name": tr("{name}, chosen", name=safe(name))}]


def _names(chart: Chart, words: ChartWords, layout: dict[str, Any], look: Look) -> list[dict[str, Any]]:
    """Every line by name with the number at its ring, above it or else below, none over another."""
    if chart.at is None:
        return []
    at, where = chart.at, log10(float(chart.x[chart.at]))
    (first, last), (low, high) = layout["xaxis"]["range"], layout["yaxis"]["range"]
    height = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    x = (where - first) / (last - first) * _LEAST_WIDTH_PX
    notes, taken = [], list[Box]()
    found = [(values[at], name) for name, values in chart.series.items() if isfinite(values[at])]
    for value, name in sorted(found, reverse=True):
        text = safe(f"{tr(words.series[name])} {sig(value)}")
        lines = in_lines(text, _LONG * _LEAST_WIDTH_PX, look.font_px).split("<br>")
        half, high = max(text_width(line, look.font_px) for line in lines) * _BOLD / 2, 9 * len(lines)
        side = 1 if x + _ASIDE_PX + 2 * half < _LEAST_WIDTH_PX or x < _LEAST_WIDTH_PX / 2 else -1
        y = (1 - (log10(value) - low) / (high - low)) * height
        places = [(shift, Box(x - half, y - shift - high, x + half, y - shift + high)) for shift in _shifts(high)]
        shift, box = next((p for p in places if not any(p[1].meets(other) for other in taken)), places[0])
        taken.append(box)
        notes.append(_name(where, log10(value), "<br>".join(lines), (side, shift), look))
    return notes


def _shifts(high: int) -> list[int]:
    """Upwards from a ring to the middle of its name, the best first."""
    return [up * (_CLEAR_PX + high + 2 * high * step) for step in range(3) for up in (1, -1)]


def _name(x: float, y: float, text: str, beside: tuple[int, int], look: Look) -> dict[str, Any]:
    side, shift = beside
    return {
        "x": x,
        "y": y,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "xanchor": "left" if side > 0 else "right",
        "xshift": side * _ASIDE_PX,
        "yshift": shift,
        "bgcolor": tint(look.palette.page, 0.75),
        "font": {"size": look.font_px, "color": look.palette.text},
    }


def _bars(chart: Chart, words: ChartWords, look: Look) -> Spec:
    """One group of bars for each name; the slider's is drawn full, others paler."""
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    names = [safe(words.place(place)) for place in chart.x]
    layout["xaxis"] = axis(
        look, ticks="", type="linear", automargin=True, nticks=5, title=axis_title(look, tr(words.y)), rangemode="tozero"
    )
    layout["yaxis"] = axis(look, ticks="", type="category", automargin=True, autorange="reversed", gridcolor="rgba(0,0,0,0)")
    layout["barmode"], layout["bargap"], layout["bargroupgap"] = "group", 0.3, 0.08
    most = max((v for values in chart.series.values() for v in values if isfinite(v)), default=1.0)
    layout["xaxis"]["range"] = [0, most * 1.25]
    data = []
    for number, (name, values) in enumerate(chart.series.items()):
        colour = look.palette.kinds[number]
        said = [f"{tr(words.series[name])} {sig(v)}" if len(chart.series) > 1 else sig(v) for v in values]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": names,
                "x": [v if isfinite(v) else 0.0 for v in values],
                "text": [text if isfinite(v) else tr(words.absent) for text, v in zip(said, values, strict=True)],
                "textposition": "outside",
                "textfont": {"size": look.tick_px, "color": look.palette.text},
                "cliponaxis": False,
                "marker": {"color": [colour if chart.at in (None, i) else tint(colour, 0.45) for i in range(len(names))]},
                "hoverinfo": "skip",
                "name": safe(tr(words.series[name])),
            }
        )
    return {"data": data, "layout": layout}


def _corner(words: ChartWords, look: Look) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "y domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "xshift": 8}
    font = {"size": look.font_px, "color": look.palette.text}
    return {**place, "text": f"<b>{tr(words.y)}</b>", "showarrow": False, "font": font, "bgcolor": tint(look.palette.page, 0.75)}


def _spoken(place: Place, words: ChartWords) -> str:
    return words.place(place) if isinstance(place, str) else localised(f"{place:,}")


def _place(place: Place) -> str:
    return safe(place) if isinstance(place, str) else count_tick(place)
