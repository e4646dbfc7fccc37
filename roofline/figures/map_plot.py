"""A number over two inputs: a heat map, what does not fit in grey, lines of the same cost, the scenario itself."""

from __future__ import annotations

from math import isfinite, log10
from typing import Any

import numpy as np

from roofline.answers.field_map import FieldMap, iso_costs
from roofline.figures.labels import Box, around, text_box
from roofline.figures.log_axis import round_ticks
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import axis_number, count_tick, sig
from roofline.language import later, tr
from roofline.units import plain_number

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 400
_LEAST_WIDTH_PX = 280.0
"""Narrowest map that words are placed for."""
_RING_PX = 10.0
INPUT_WORDS = {
    "batch": later("Batch (sequences at once)"),
    "input_tokens": later("Prompt (tokens)"),
    "output_tokens": later("Output (tokens)"),
    "devices": later("Devices"),
    "weights": later("Weights (format)"),
    "prefix_hit": later("Prompt found in a cache (share)"),
    "utilisation": later("Utilisation (share)"),
}
VALUE_WORDS = {
    "user": later("Tokens/s per user"),
    "total": later("Tokens/s in total"),
    "usd": later("USD per million output tokens"),
    "ttft": later("Time to first token (s)"),
}
_LESS_IS_BETTER = ("usd", "ttft")
_MOST_CHARACTERS = {False: 30, True: 20}
"""Of all ticks together, while each value has one."""


def map_figure(found: FieldMap, look: Look) -> Spec:
    """Stronger colour: better. Grey: does not fit. Lines: the same cost. Ring: the scenario itself."""
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = _axis(found.x_values, found.x, look)
    layout["yaxis"] = _axis(found.y_values, found.y, look)
    layout["margin"] = {**layout["margin"], "l": 62 if look.compact else 84}
    data = [_infeasible(found, look), _heat(found, look), *_iso(found, look)]
    layout["annotations"] = _iso_words(found, look, layout["height"] - layout["margin"]["t"] - layout["margin"]["b"])
    if found.chosen is not None:
        data.append(_ring(found, found.chosen, look))
    return {"data": data, "layout": layout}


def map_alt(found: FieldMap) -> str:
    """The map's answer in one sentence."""
    n, of = found.fitting
    x, y = tr(INPUT_WORDS[found.x]).lower(), tr(INPUT_WORDS[found.y]).lower()
    where = tr("{value} over {x} and {y}", value=tr(VALUE_WORDS[found.value]), x=x, y=y)
    if found.best is None:
        return tr("{where}: none of {of} points fits.", where=where, of=of)
    column, row = found.best
    return tr(
        "{where}: {n} of {of} points fit; best {best} at {x} and {y}.",
        where=where,
        n=n,
        of=of,
        best=sig(found.z[row, column]),
        x=_tick(found.x_values[column]),
        y=_tick(found.y_values[row]),
    )


def _heat(found: FieldMap, look: Look) -> dict[str, Any]:
    """The number itself, on a log scale."""
    shown = [[log10(v) if isfinite(v) and v > 0 else None for v in row] for row in found.z]
    known = [v for row in shown for v in row if v is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    ticks = round_ticks(10**low, 10**high) if high > low else []
    colours = look.palette.ramp[::-1] if found.value in _LESS_IS_BETTER else look.palette.ramp
    font = {"size": look.tick_px, "color": look.palette.muted}
    bar = {"thickness": 10, "outlinewidth": 0, "tickvals": [log10(t) for t in ticks], "tickfont": font, "len": 0.9}
    return {
        "type": "heatmap",
        "z": shown,
        "text": [[_point_words(found, c, r) for c in range(len(found.x_values))] for r in range(len(found.y_values))],
        "hovertemplate": "%{text}<extra></extra>",
        "colorscale": [[i / (len(colours) - 1), colour] for i, colour in enumerate(colours)],
        "colorbar": {**bar, "ticktext": [axis_number(t) for t in ticks]},
        "showscale": not look.compact,
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "name": tr(VALUE_WORDS[found.value]),
    }


def _infeasible(found: FieldMap, look: Look) -> dict[str, Any]:
    """Points that no plan carries."""
    grey = tint(look.palette.axis, 0.35)
    where = [
        [f"{_where(found, c, r)}<br>{safe(tr(found.reasons[r][c]))}" for c in range(len(found.x_values))]
        for r in range(len(found.y_values))
    ]
    return {
        "type": "heatmap",
        "z": [[None if fits else 1 for fits in row] for row in found.fits.tolist()],
        "text": where,
        "hovertemplate": "%{text}<extra></extra>",
        "colorscale": [[0, grey], [1, grey]],
        "showscale": False,
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "name": tr("does not fit"),
    }


def _iso(found: FieldMap, look: Look) -> list[dict[str, Any]]:
    """One line for each round cost."""
    usd = [[v if isfinite(v) else None for v in row] for row in found.usd.tolist()]
    line = {"color": look.palette.text, "width": 1.25, "dash": "4px,3px"}
    return [
        {
            "type": "contour",
            "z": usd,
            "contours": {
                "coloring": "none",
                "start": cost.usd,
                "end": cost.usd,
                "size": cost.usd,
            },
            "line": line,
            "showscale": False,
            "hoverinfo": "skip",
            "name": f"{plain_number(cost.usd)} USD",
        }
        for cost in iso_costs(found)
    ]


def _iso_words(found: FieldMap, look: Look, height_px: float) -> list[dict[str, Any]]:
    """Every line by its cost, at the place nearest its middle that is free; a line without one goes without."""
    font, ground = {"size": look.tick_px, "color": look.palette.text}, tint(look.palette.page, 0.7)
    columns, rows = len(found.x_values), len(found.y_values)

    def px(column: float, row: float) -> tuple[float, float]:
        return (column + 0.5) / columns * _LEAST_WIDTH_PX, (1 - (row + 0.5) / rows) * height_px

    frame = Box(0, 0, _LEAST_WIDTH_PX, height_px)
    taken = [] if found.chosen is None else [around(*px(*found.chosen), _RING_PX)]
    notes = []
    for cost in iso_costs(found):
        text = f"{plain_number(cost.usd)} USD"
        boxes = ((at, text_box(*px(*at), text, look.tick_px)) for at in cost.places)
        free = next(((at, box) for at, box in boxes if box.inside(frame) and not any(box.meets(other) for other in taken)), None)
        if free is not None:
            (x, y), box = free
            taken.append(box)
            notes.append({"x": x, "y": y, "text": text, "showarrow": False, "font": font, "bgcolor": ground})
    return notes


def _ring(found: FieldMap, at: tuple[int, int], look: Look) -> dict[str, Any]:
    marker = {"size": 15, "color": tint(look.palette.page, 0.0), "line": {"color": look.palette.text, "width": 3}}
    name = tr("this scenario")
    point = {"type": "scatter", "mode": "markers", "x": [at[0]], "y": [at[1]], "marker": marker, "name": name}
    return {**point, "text": [f"{name}<br>{_point_words(found, *at)}"], "hovertemplate": "%{text}<extra></extra>"}


def _axis(values: tuple[float | str, ...], field: str, look: Look) -> dict[str, Any]:
    """One step per value, whatever lies between them."""
    stride = 2 if sum(len(_tick(value)) for value in values) > _MOST_CHARACTERS[look.compact] else 1
    places = list(range(0, len(values), stride))
    return axis(
        look,
        tickvals=places,
        ticktext=[_tick(values[i]) for i in places],
        title=axis_title(look, tr(INPUT_WORDS[field])),
        range=[-0.5, len(values) - 0.5],
        showgrid=False,
    )


def _tick(value: float | str) -> str:
    return safe(value) if isinstance(value, str) else count_tick(value)


def _where(found: FieldMap, column: int, row: int) -> str:
    x, y = found.x_values[column], found.y_values[row]
    return f"{tr(INPUT_WORDS[found.x])}: {_tick(x)}<br>{tr(INPUT_WORDS[found.y])}: {_tick(y)}"


def _point_words(found: FieldMap, column: int, row: int) -> str:
    value, usd = found.z[row, column], found.usd[row, column]
    words = f"{_where(found, column, row)}<br>{tr(VALUE_WORDS[found.value])}: {sig(value)}"
    if found.value == "usd" or not np.isfinite(usd):
        return words
    return f"{words}<br>{tr('{usd} USD per million output tokens', usd=sig(usd))}"
