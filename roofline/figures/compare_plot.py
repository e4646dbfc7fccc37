"""Scenarios side by side: their curves on the same axes, each with its colour, dash and mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log10
from typing import Any, Literal

import numpy as np

from roofline.answers.report import BatchCurve, Report
from roofline.figures.labels import Box, around, text_box
from roofline.figures.log_axis import log_axis
from roofline.figures.theme import SERIES_DASHES, SERIES_SYMBOLS, Look, Spec, axis_title, base_layout, tint
from roofline.figures.words import sig
from roofline.language import later, tr
from roofline.units import Floats

Plot = Literal["total", "user", "cost"]
PLOTS: tuple[Plot, ...] = ("total", "user", "cost")
LETTERS = ("a", "b", "c", "d")
HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 400
_WIDTH_PX, _HEIGHT_PX = 302.0, 342.0
"""The smallest plot that letters are placed for."""
_LETTER_PX = 14
_BESIDE = tuple((right, down) for right in (13.0, 26.0, 39.0, 0.0) for down in (0.0, -19.0, 19.0))
"""Where a letter may stand from its line's end, right and down, in pixels, the best first."""
_BATCH_TITLE = later("Sequences decoding at once (batch)")
_TITLES: dict[Plot, tuple[str, str]] = {
    "total": (_BATCH_TITLE, later("Tokens/s in total")),
    "user": (_BATCH_TITLE, later("Tokens/s per user")),
    "cost": (later("USD per million output tokens"), later("Tokens/s per user")),
}

Point = tuple[float, float, float, float, float]
"""Batch, x, y, and the low and high end of y."""


@dataclass(frozen=True)
class Line:
    """One scenario as drawn."""

    letter: str
    points: tuple[Point, ...]
    chosen: tuple[float, float] | None


def compare_figure(reports: Mapping[str, Report], curves: Mapping[str, BatchCurve], plot: Plot, look: Look) -> Spec:
    """Curves of all scenarios: total or speed per user against the batch, or speed per user against cost."""
    lines = [_line(letter, reports[letter], curve, plot) for letter, curve in curves.items()]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    x_title, y_title = _titles(plot)
    layout["xaxis"] = log_axis((p[1] for line in lines for p in line.points), look, title=axis_title(look, x_title))
    layout["yaxis"] = log_axis((p[i] for line in lines for p in line.points for i in (3, 4)), look)
    layout["annotations"] = [_corner(y_title, plot, look), *_names([line for line in lines if line.points], layout, look)]
    bands = [_band(line, look) for line in lines] if plot != "cost" else []
    return {"data": [*bands, *(trace for line in lines for trace in _traces(line, plot, look))], "layout": layout}


def compare_alt(reports: Mapping[str, Report], plot: Plot) -> str:
    """The figure's answer in one sentence."""
    said = [
        tr(
            "{letter} at batch {batch:,}: {total} tokens/s in total, {user} per user, {usd} USD per million output tokens",
            letter=letter.upper(),
            batch=report.batch,
            total=sig(report.expected.output_tokens_per_s),
            user=sig(report.expected.tokens_per_s_per_user),
            usd=sig(report.cost.usd_per_million_output_tokens),
        )
        for letter, report in reports.items()
    ]
    x_title, y_title = _titles(plot)
    x_words = x_title[:1].lower() + x_title[1:]
    return tr("{y} against {x}. {scenarios}.", y=y_title, x=x_words, scenarios="; ".join(said))


def _titles(plot: Plot) -> tuple[str, str]:
    """What stands along both axes."""
    x_title, y_title = _TITLES[plot]
    return tr(x_title), tr(y_title)


def _line(letter: str, report: Report, curve: BatchCurve, plot: Plot) -> Line:
    field = "output_tokens_per_s" if plot == "total" else "tokens_per_s_per_user"
    batch = _column(curve.batch, curve)
    y, low, high = (_column(getattr(t, field), curve) for t in (curve.expected, curve.expected_low, curve.expected_high))
    x = batch if plot != "cost" else _column(curve.usd_per_million_output_tokens, curve)
    points = tuple(p for p in zip(batch, x, y, low, high, strict=True) if all(isfinite(v) and v > 0 for v in p))
    at = next(((p[1], p[2]) for p in points if p[0] == report.batch), None)
    return Line(letter, points, at)


def _column(values: Floats | None, curve: BatchCurve) -> list[float]:
    filled = np.nan if values is None else np.asarray(values, dtype=float)
    return [float(v) for v in np.broadcast_to(filled, np.shape(curve.batch))]


def _band(line: Line, look: Look) -> dict[str, Any]:
    there, back = list(line.points), list(reversed(line.points))
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [p[1] for p in there] + [p[1] for p in back],
        "y": [p[3] for p in there] + [p[4] for p in back],
        "fill": "toself",
        "fillcolor": tint(_colour(line, look), 0.12),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": tr("{letter} band", letter=line.letter.upper()),
    }


def _traces(line: Line, plot: Plot, look: Look) -> list[dict[str, Any]]:
    """The curve, and the chosen batch on it."""
    at, colour, letter = LETTERS.index(line.letter), _colour(line, look), line.letter.upper()
    text = [_hover(letter, point, plot) for point in line.points]
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": [p[1] for p in line.points],
        "y": [p[2] for p in line.points],
        "line": {"color": colour, "width": 2.75, "dash": SERIES_DASHES[at]},
        "text": text,
        "hovertemplate": "%{text}<extra></extra>",
        "name": letter,
    }
    if line.chosen is None:
        return [curve]
    marker = {"size": 13, "symbol": SERIES_SYMBOLS[at], "color": look.palette.page, "line": {"color": colour, "width": 3}}
    ring = {"type": "scatter", "mode": "markers", "x": [line.chosen[0]], "y": [line.chosen[1]], "marker": marker}
    return [curve, {**ring, "cliponaxis": False, "name": tr("{letter} chosen", letter=letter), "hoverinfo": "skip"}]


def _hover(letter: str, point: Point, plot: Plot) -> str:
    """One batch of a curve."""
    batch, x, y, low, high = point
    words = tr(
        "{letter} at batch {batch:,.0f}: {value} {unit} ({low} to {high})",
        letter=letter,
        batch=batch,
        value=sig(y),
        unit=_titles(plot)[1].lower(),
        low=sig(low),
        high=sig(high),
    )
    return f"{words}<br>{tr('{usd} USD per million output tokens', usd=sig(x))}" if plot == "cost" else words


def _names(lines: Sequence[Line], layout: dict[str, Any], look: Look) -> list[dict[str, Any]]:
    """The letter at the end of its line, where it stands on no other letter and, if it can, on no line."""
    spans = layout["xaxis"]["range"], layout["yaxis"]["range"]
    spots = {line.letter: [_px(point, spans) for point in line.points] for line in lines}
    notes, taken = [], list[Box]()
    for line in lines:
        x, y = spots[line.letter][-1]
        others = [around(*spot, 2.0) for letter, found in spots.items() if letter != line.letter for spot in found]
        boxes = [text_box(x + right, y + down, line.letter, _LETTER_PX) for right, down in _BESIDE]
        clear = [box for box in boxes if not any(box.meets(other) for other in taken)]
        box = next((box for box in clear if not any(box.meets(other) for other in others)), clear[0])
        taken.append(box)
        shifts = {"xshift": round((box.left + box.right) / 2 - x), "yshift": round(y - (box.top + box.bottom) / 2)}
        at = {"x": log10(line.points[-1][1]), "y": log10(line.points[-1][2]), "showarrow": False}
        notes.append(
            {**at, **shifts, "text": f"<b>{line.letter.upper()}</b>", "font": {"size": _LETTER_PX, "color": _colour(line, look)}}
        )
    return notes


def _px(point: Point, spans: tuple[Sequence[float], Sequence[float]]) -> tuple[float, float]:
    """Where a point stands in the smallest plot."""
    return _share(log10(point[1]), spans[0]) * _WIDTH_PX, (1 - _share(log10(point[2]), spans[1])) * _HEIGHT_PX


def _share(value: float, span: Sequence[float]) -> float:
    return (value - span[0]) / (span[1] - span[0])


def _corner(text: str, plot: Plot, look: Look) -> dict[str, Any]:
    right = plot != "total"
    place = {"xref": "paper", "yref": "y domain", "y": 1, "yanchor": "top", "showarrow": False}
    side = {"x": 1, "xanchor": "right", "xshift": -6} if right else {"x": 0, "xanchor": "left", "xshift": 8}
    return {**place, **side, "text": f"<b>{text}</b>", "font": {"size": look.font_px, "color": look.palette.text}}


def _colour(line: Line, look: Look) -> str:
    return look.palette.kinds[LETTERS.index(line.letter)]
