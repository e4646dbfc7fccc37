"""Speed, throughput and cost against the batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log2, log10
from typing import Any

import numpy as np

from roofline.answers.report import BatchCurve, Bound, Report
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, tint
from roofline.figures.words import BOUND_WORDS, axis_number, sig
from roofline.units import Floats

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 430
COST_HEIGHT_PX = 360
_TOP, _STRIP, _BOTTOM = (0.56, 1.0), (0.455, 0.515), (0.0, 0.41)
_STRIP_CHARACTERS = {False: 56, True: 40}
"""Characters that fit across the strip."""
_EARLY, _LATE = 0.1, 0.82
"""Shares of the batch axis before and after which a word has room on one side only."""

Line = list[float | None]


def throughput_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """Tokens per second in total and per user over one batch axis, with what binds between them."""
    span = _span(curve)
    rates = (
        ("y", "Tokens/s in total", "output_tokens_per_s"),
        ("y2", "Tokens/s per user", "tokens_per_s_per_user"),
    )
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for name, title, field in rates:
        lines = [_line(getattr(t, field), curve) for t in (curve.expected_low, curve.expected_high, curve.expected, curve.limit)]
        data += _panel(lines, curve, look, name, title)
        data += _ring(report, curve, getattr(report.expected, field), look, name)
        notes += _panel_words(report, curve, lines, span, name, title, look)
        top = _top(getattr(curve.limit, field), curve)
        notes += _ring_word(report, getattr(report.expected, field), top, _place(report, span), look, name)
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = _batch_axis(span, look, anchor="y2")
    layout["yaxis"] = _rate_axis(curve.limit.output_tokens_per_s, curve, look, _TOP)
    layout["yaxis2"] = _rate_axis(curve.limit.tokens_per_s_per_user, curve, look, _BOTTOM)
    strip_shapes, strip_words = _strip(curve, span, look)
    full_shapes, full_words = _full(curve, span, look, (_TOP, _BOTTOM))
    critical_shapes, critical_words = _critical(report, curve, span, look, (_TOP, _BOTTOM))
    layout["shapes"] = full_shapes + strip_shapes + critical_shapes
    layout["annotations"] = notes + strip_words + full_words + critical_words
    return {"data": data, "layout": layout}


def throughput_alt(report: Report, curve: BatchCurve) -> str:
    """The answer of the figure in one sentence."""
    return (
        f"Throughput and speed against batch: at batch {report.batch:,} "
        f"expected {sig(report.expected.output_tokens_per_s)} tokens/s in total "
        f"and {sig(report.expected.tokens_per_s_per_user)} per user, "
        f"limit {sig(report.limit.output_tokens_per_s)} and {sig(report.limit.tokens_per_s_per_user)}; "
        f"at most {curve.max_batch:,} sequences fit. What takes the longest: {strip_words(curve)}."
    )


def cost_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """USD per million output tokens against the batch; log on both axes."""
    span = _span(curve)
    fields = (
        curve.usd_per_million_output_tokens_low,
        curve.usd_per_million_output_tokens_high,
        curve.usd_per_million_output_tokens,
        curve.usd_per_million_output_tokens_at_limit,
    )
    lines = [_line(f, curve) for f in fields if f is not None]
    usd = report.cost.usd_per_million_output_tokens
    data = [*_panel(lines, curve, look, "y", "USD per million output tokens"), *_ring(report, curve, usd, look, "y")]
    layout = base_layout(look, height=COST_HEIGHT_PX)
    layout["xaxis"] = _batch_axis(span, look, anchor="y")
    layout["yaxis"] = _usd_axis(lines, look)
    full_shapes, full_words = _full(curve, span, look, ((0.0, 1.0),))
    layout["shapes"] = full_shapes
    title = "USD per million output tokens"
    layout["annotations"] = [
        *_panel_words(report, curve, lines, span, "y", title, look, log_y=True),
        *_ring_word(report, usd, 0.0, _place(report, span), look, "y"),
        *full_words,
    ]
    return {"data": data, "layout": layout}


def cost_alt(report: Report) -> str:
    """The answer of the cost figure in one sentence."""
    cost = report.cost
    return (
        f"Cost against batch: at batch {report.batch:,} "
        f"expected {sig(cost.usd_per_million_output_tokens)} USD per million output tokens "
        f"({sig(cost.usd_per_million_output_tokens_low)} to {sig(cost.usd_per_million_output_tokens_high)}), "
        f"limit {sig(cost.usd_per_million_output_tokens_at_limit)}."
    )


def _line(values: Floats, curve: BatchCurve) -> Line:
    """Values as a list over the batches that fit; null beyond, so that lines end there."""
    column = np.broadcast_to(np.asarray(values, dtype=float), np.shape(curve.batch))
    return [float(v) if isfinite(v) else None for v in column]


def _batches(curve: BatchCurve) -> list[float]:
    return [float(b) for b in np.atleast_1d(curve.batch)]


def _span(curve: BatchCurve) -> tuple[float, float]:
    """The batch axis: from one to a little past what fits."""
    return 1.0, max(16.0, curve.max_batch * max(1.6, curve.max_batch**0.12))


def _batch_axis(span: tuple[float, float], look: Look, anchor: str) -> dict[str, Any]:
    powers = floor(log2(span[1]))
    stride = max(1, ceil(powers / (5 if look.compact else 9)))
    ticks = [float(2**k) for k in range(0, powers + 1, stride)]
    return axis(
        look,
        type="log",
        range=[log10(span[0]), log10(span[1])],
        tickvals=ticks,
        ticktext=[f"{t:,.0f}" if t < 10_000 else axis_number(t) for t in ticks],
        title=axis_title(look, "Sequences decoding at once (batch)"),
        anchor=anchor,
    )


def _place(report: Report, span: tuple[float, float]) -> float:
    """Where the chosen batch stands on its axis, 0 to 1."""
    return log10(report.batch) / log10(span[1])


def _top(limit: Floats, curve: BatchCurve) -> float:
    """The end of a rate axis."""
    return 1.12 * max((v for v in _line(limit, curve) if v is not None), default=1.0)


def _rate_axis(limit: Floats, curve: BatchCurve, look: Look, domain: tuple[float, float]) -> dict[str, Any]:
    return axis(look, range=[0, _top(limit, curve)], domain=list(domain), nticks=4 if look.compact else 5, tickformat="~s")


def _usd_axis(lines: Sequence[Line], look: Look) -> dict[str, Any]:
    values = [v for line in lines for v in line if v]
    low, high = min(values, default=1.0) / 1.5, max(values, default=1.0) * 2.5
    ticks = [f * 10.0**p for p in range(floor(log10(low)), ceil(log10(high)) + 1) for f in (1, 3)]
    shown = [t for t in ticks if low <= t <= high]
    text = [f"{t:g}" if t < 1000 else axis_number(t) for t in shown]
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=shown, ticktext=text)


def _panel(lines: Sequence[Line], curve: BatchCurve, look: Look, yaxis: str, title: str) -> list[dict[str, Any]]:
    """Band, limit and expectation of one quantity. ``lines``: low, high, expected, limit."""
    colour, x = look.palette.phases["decode"], _batches(curve)
    low, high, expected, limit = lines
    inside = [i for i, v in enumerate(expected) if v is not None]
    band_x = [x[i] for i in inside] + [x[i] for i in reversed(inside)]
    band_y = [low[i] for i in inside] + [high[i] for i in reversed(inside)]
    common = {"type": "scatter", "mode": "lines", "yaxis": yaxis}
    text = [f"{title}<br>batch {x[i]:,.0f}: expected {sig(expected[i])} ({sig(low[i])} to {sig(high[i])})" for i in inside]
    return [
        common
        | {
            "x": band_x,
            "y": band_y,
            "fill": "toself",
            "fillcolor": tint(colour, 0.17),
            "line": {"width": 0},
            "hoverinfo": "skip",
            "name": "band",
        },
        common
        | {
            "x": x,
            "y": limit,
            "line": {"color": look.palette.muted, "width": 1.5, "dash": "5px,4px"},
            "text": [f"limit at batch {b:,.0f}: {sig(v)}" for b, v in zip(x, limit, strict=True)],
            "hovertemplate": "%{text}<extra></extra>",
            "name": "limit",
        },
        common
        | {
            "x": [x[i] for i in inside],
            "y": [expected[i] for i in inside],
            "line": {"color": colour, "width": 2.75},
            "text": text,
            "hovertemplate": "%{text}<extra></extra>",
            "name": "expected",
        },
    ]


def _ring(report: Report, curve: BatchCurve, value: Floats | None, look: Look, yaxis: str) -> list[dict[str, Any]]:
    """The chosen batch."""
    if value is None or not isfinite(float(value)):
        return []
    marker = {"size": 12, "color": look.palette.page, "line": {"color": look.palette.phases["decode"], "width": 3}}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [report.batch],
            "y": [float(value)],
            "yaxis": yaxis,
            "marker": marker,
            "name": "chosen batch",
            "hovertemplate": f"chosen batch {report.batch:,}: {sig(value)}<extra></extra>",
        }
    ]


def _ring_word(report: Report, value: Floats | None, top: float, place: float, look: Look, yaxis: str) -> list[dict[str, Any]]:
    """The number at the ring: on the side where the lines are not, above where the axis would be in the way."""
    if value is None or not isfinite(float(value)):
        return []
    log_y, low = top <= 0, 0 < float(value) < 0.25 * top
    left = place > _LATE or (place > _EARLY and not log_y and (yaxis == "y2") != low)
    return [
        {
            "x": log10(report.batch),
            "y": log10(float(value)) if log_y else float(value),
            "yref": yaxis,
            "text": f"<b>{sig(value)}</b>",
            "showarrow": False,
            "xanchor": "right" if left else "left",
            "xshift": -9 if left else 9,
            "yshift": 14 if log_y or low or place < _EARLY else -14,
            "bgcolor": tint(look.palette.page, 0.75),
            "borderpad": 0,
            "font": {"size": 13 if look.compact else 14, "color": look.palette.phases["decode"]},
        }
    ]


def _panel_words(
    report: Report,
    curve: BatchCurve,
    lines: Sequence[Line],
    span: tuple[float, float],
    yaxis: str,
    title: str,
    look: Look,
    *,
    log_y: bool = False,
) -> list[dict[str, Any]]:
    """The panel's name inside its corner, and the two lines by name."""
    falls = yaxis == "y2" or log_y
    name = {"xref": "paper", "yref": f"{yaxis} domain", "x": 0, "y": 1, "text": f"<b>{title}</b>", "showarrow": False}
    name |= {"xanchor": "right" if falls else "left", "x": 1 if falls else 0, "yanchor": "top", "xshift": -6 if falls else 8}
    name |= {"font": {"size": look.font_px, "color": look.palette.text}}
    words = [name]
    for word, line, where, up in (("limit", lines[3], 0.45, not log_y), ("expected", lines[2], 0.26, log_y)):
        spot = _spot(curve, line, where, report.batch)
        if spot is None:
            continue
        colour = look.palette.phases["decode"] if word == "expected" else look.palette.muted
        words.append(
            {
                "x": log10(spot[0]),
                "y": log10(spot[1]) if log_y else spot[1],
                "yref": yaxis,
                "text": f"<b>{word}</b>" if word == "expected" else word,
                "showarrow": False,
                "yshift": 13 if up or not falls else -13,
                "xshift": (30 if up else -22) if log_y else 22 if yaxis == "y2" and word == "limit" else 0,
                "font": {"size": look.tick_px, "color": colour},
            }
        )
    return words


def _spot(curve: BatchCurve, line: Line, fraction: float, batch: int) -> tuple[float, float] | None:
    """A point of a line at a share of the axis, moved away from the chosen batch."""
    points = [(b, v) for b, v in zip(_batches(curve), line, strict=True) if v]
    if len(points) < 4:
        return None
    end = log10(points[-1][0]) or 1.0
    chosen = log10(max(1, batch)) / end
    if abs(chosen - fraction) < 0.14:
        fraction += 0.24
    return min(points, key=lambda p: abs(log10(p[0]) / end - fraction))


def _strip(curve: BatchCurve, span: tuple[float, float], look: Look) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Which bound rules from where."""
    shapes, words = [], []
    for bound, start, end in bound_runs(curve):
        colour = look.palette.bounds[bound]
        shapes.append(_rectangle(start, end, _STRIP, colour, 1.0))
        room = log10(end / start) / log10(span[1]) * _STRIP_CHARACTERS[look.compact]
        if len(bound) < room:
            words.append(_strip_word(start, end, bound, look.palette.on_mark, look))
    if curve.max_batch < span[1]:
        shapes.append(_rectangle(max(1, curve.max_batch), span[1], _STRIP, look.palette.grid, 1.0))
    return shapes, words


def bound_runs(curve: BatchCurve) -> list[tuple[Bound, float, float]]:
    """Stretches of the batch axis under one bound, up to what fits."""
    batches = _batches(curve)
    runs: list[tuple[Bound, float]] = []
    last = max(1.0, float(curve.max_batch))
    for batch, bound in zip(batches, curve.bound, strict=True):
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
    return "; ".join(f"{BOUND_WORDS[b]} from batch {start:,.0f}" for b, start, _ in runs)


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
    return {"x": middle, "y": sum(_STRIP) / 2, "yref": "paper", "text": f"<b>{text}</b>", "showarrow": False, "font": font}


def _full(
    curve: BatchCurve, span: tuple[float, float], look: Look, panels: Sequence[tuple[float, float]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Beyond what fits: grey, and why."""
    start = max(1.0, float(curve.max_batch))
    shapes = [_rectangle(start, span[1], rows, look.palette.axis, 0.16) for rows in panels]
    word = {
        "x": (log10(start) + log10(span[1])) / 2,
        "y": sum(panels[0]) / 2,
        "yref": "paper",
        "text": f"over {curve.max_batch:,}: memory full",
        "showarrow": False,
        "xanchor": "center",
        "yanchor": "middle",
        "textangle": -90,
        "font": {"size": look.tick_px, "color": look.palette.muted},
    }
    return shapes, [word]


def _critical(
    report: Report, curve: BatchCurve, span: tuple[float, float], look: Look, panels: Sequence[tuple[float, float]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The batch that fills the arithmetic units, where it is on the axis."""
    batch = report.critical_batch_with_experts
    if not 1 < batch < min(span[1], curve.max_batch):
        return [], []
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": batch, "x1": batch, "y0": y0, "y1": y1, "line": line}
        for y0, y1 in panels
    ]
    word = {"x": log10(batch), "y": panels[0][1], "yref": "paper", "text": f"critical {sig(batch)}", "showarrow": False}
    word |= {"xanchor": "right", "xshift": -4, "yanchor": "top", "yshift": -20, "bgcolor": tint(look.palette.page, 0.75)}
    word |= {"font": {"size": look.tick_px, "color": look.palette.muted}}
    return shapes, [word]
