"""What the panels over one batch axis share: the axis, the strip of bounds, where memory is full, the critical batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2, log10
from typing import Any

import numpy as np

from roofline.answers.report import BOUND_NAMES, BatchCurve, Bound, Report
from roofline.figures.labels import CHARACTER_FRAC, text_width
from roofline.figures.theme import Look, axis, axis_title, tint
from roofline.figures.words import BOUND_WORDS, axis_number, sig
from roofline.language import localised, tr

TOP, STRIP, BOTTOM = (0.56, 1.0), (0.455, 0.515), (0.0, 0.41)
"""Where the two panels and the strip between them stand, from 0 to 1."""
_STRIP_CHARACTERS = {False: 56, True: 40}
"""Characters that fit across the strip."""


def batches(curve: BatchCurve) -> list[float]:
    """Batches of the curve."""
    return [float(b) for b in np.atleast_1d(curve.batch)]


def batch_span(curve: BatchCurve) -> tuple[float, float]:
    """The batch axis: from one to a little past what fits."""
    return 1.0, max(16.0, curve.max_batch * max(1.6, curve.max_batch**0.12))


def batch_axis(span: tuple[float, float], look: Look, anchor: str) -> dict[str, Any]:
    """The log axis of the batch."""
    powers = floor(log2(span[1]))
    stride = max(1, ceil(powers / (5 if look.compact else 9)))
    ticks = [float(2**k) for k in range(0, powers + 1, stride)]
    return axis(
        look,
        type="log",
        range=[log10(span[0]), log10(span[1])],
        tickvals=ticks,
        ticktext=[localised(f"{t:,.0f}") if t < 10_000 else axis_number(t) for t in ticks],
        title=axis_title(look, tr("Sequences decoding at once (batch)")),
        anchor=anchor,
    )


def axis_place(report: Report, span: tuple[float, float]) -> float:
    """Where the chosen batch stands on its axis, 0 to 1."""
    return log10(report.batch) / log10(span[1])


def bound_strip(curve: BatchCurve, span: tuple[float, float], look: Look) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Which bound rules from where."""
    shapes, words = [], []
    for bound, start, end in bound_runs(curve):
        colour = look.palette.bounds[bound]
        shapes.append(_rectangle(start, end, STRIP, colour, 1.0))
        room = log10(end / start) / log10(span[1]) * _STRIP_CHARACTERS[look.compact]
        name = tr(BOUND_NAMES[bound])
        if text_width(name, 1.0) < room * CHARACTER_FRAC:
            words.append(_strip_word(start, end, name, look.palette.on_mark, look))
    if curve.max_batch < span[1]:
        shapes.append(_rectangle(max(1, curve.max_batch), span[1], STRIP, look.palette.grid, 1.0))
    return shapes, words


def bound_runs(curve: BatchCurve) -> list[tuple[Bound, float, float]]:
    """Stretches of the batch axis under one bound, up to what fits."""
    values = batches(curve)
    runs: list[tuple[Bound, float]] = []
    last = max(1.0, float(curve.max_batch))
    for batch, bound in zip(values, curve.bound, strict=True):
        if batch > last:
            break
        if runs and runs[-1][0] == bound:
            continue
        runs.append((bound, batch))
    ends = [start for _, start in runs[1:]] + [last]
    return [(bound, start, end) for (bound, start), end in zip(runs, ends, strict=True) if end > start]


def strip_words(curve: BatchCurve) -> str:
    """The strip as a sentence."""
    runs = bound_runs(curve)
    return "; ".join(tr("{bound} from batch {start:,.0f}", bound=tr(BOUND_WORDS[b]), start=start) for b, start, _ in runs)


def _rectangle(start: float, end: float, rows: tuple[float, float], colour: str, opacity: float) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": start,
        "x1": end,
        "y0": rows[0],
        "y1": rows[1],
        "fillcolor": colour,
        "opacity": opacity,
        "line": {"width": 0},
        "layer": "below",
    }


def _strip_word(start: float, end: float, text: str, colour: str, look: Look) -> dict[str, Any]:
    middle = (log10(start) + log10(end)) / 2
    font = {"size": look.tick_px, "color": colour}
    return {"x": middle, "y": sum(STRIP) / 2, "yref": "paper", "text": f"<b>{text}</b>", "showarrow": False, "font": font}


def beyond_full(
    curve: BatchCurve, span: tuple[float, float], look: Look, panels: Sequence[tuple[float, float]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Beyond what fits: grey, and why."""
    start = max(1.0, float(curve.max_batch))
    shapes = [_rectangle(start, span[1], rows, look.palette.axis, 0.16) for rows in panels]
    word = {
        "x": (log10(start) + log10(span[1])) / 2,
        "y": sum(panels[0]) / 2,
        "yref": "paper",
        "text": tr("over {batch:,}: memory full", batch=curve.max_batch),
        "showarrow": False,
        "xanchor": "center",
        "yanchor": "middle",
        "textangle": -90,
        "font": {"size": look.tick_px, "color": look.palette.muted},
    }
    return shapes, [word]


def critical_line(
    report: Report, curve: BatchCurve, span: tuple[float, float], look: Look, panels: Sequence[tuple[float, float]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The critical batch, where it is on the axis."""
    batch = report.critical_batch_system
    if not 1 < batch < min(span[1], curve.max_batch):
        return [], []
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": batch, "x1": batch, "y0": y0, "y1": y1, "line": line}
        for y0, y1 in panels
    ]
    word = {
        "x": log10(batch),
        "y": panels[0][1],
        "yref": "paper",
        "text": tr("critical {batch}", batch=sig(batch)),
        "showarrow": False,
    }
    word |= {"xanchor": "right", "xshift": -4, "yanchor": "top", "yshift": -20, "bgcolor": tint(look.palette.page, 0.75)}
    word |= {"font": {"size": look.tick_px, "color": look.palette.muted}}
    return shapes, [word]
