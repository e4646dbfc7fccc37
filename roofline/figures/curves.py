"""Speed, throughput and cost against the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10
from typing import Any

import numpy as np

from roofline.answers.report import BatchCurve, Report
from roofline.figures.batch_axis import (
    BOTTOM,
    TOP,
    axis_place,
    batch_axis,
    batch_span,
    batches,
    beyond_full,
    bound_strip,
    critical_line,
    strip_words,
)
from roofline.figures.log_axis import log_axis
from roofline.figures.theme import Look, Spec, axis, base_layout, tint
from roofline.figures.words import sig
from roofline.language import later, tr
from roofline.units import Floats

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 430
COST_HEIGHT_PX = 360
_EARLY, _LATE = 0.1, 0.82
"""Shares of the batch axis before and after which a word has room on one side only."""
_FAR = 4.0
"""Where a limit is this much above what is expected, a linear axis would press the expectation flat: it is logarithmic."""
_LINES = {"limit": later("limit"), "expected": later("expected")}
"""Lines with a name beside them."""

Line = list[float | None]


@dataclass(frozen=True)
class Panel:
    """One quantity against the batch."""

    yaxis: str
    title: str
    lines: tuple[Line, Line, Line, Line]
    """Low, high, expected, limit."""
    falls: bool = False
    """Its corner without lines is the right one."""
    log_y: bool = False
    limit_below: bool = False
    """A cost: nothing real is cheaper than its limit."""

    @property
    def top(self) -> float:
        """The end of a linear axis."""
        return 1.12 * _most(self.lines[3])


def throughput_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """Tokens per second in total and per user over one batch axis, with what binds between them."""
    span = batch_span(curve)
    total = _rate_panel(curve, "y", tr("Tokens/s in total"), "output_tokens_per_s")
    user = _rate_panel(curve, "y2", tr("Tokens/s per user"), "tokens_per_s_per_user")
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for panel, value in ((total, report.expected.output_tokens_per_s), (user, report.expected.tokens_per_s_per_user)):
        data += _panel(panel, curve, look)
        data += _ring(report, panel, value, look)
        notes += _panel_words(report, curve, panel, look)
        notes += _ring_word(report, panel, value, axis_place(report, span), look)
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = batch_axis(span, look, anchor="y2")
    layout["yaxis"] = _rate_axis(total, look, TOP)
    layout["yaxis2"] = _rate_axis(user, look, BOTTOM)
    strip_shapes, strip_notes = bound_strip(curve, span, look)
    full_shapes, full_notes = beyond_full(curve, span, look, (TOP, BOTTOM))
    critical_shapes, critical_notes = critical_line(report, curve, span, look, (TOP, BOTTOM))
    layout["shapes"] = full_shapes + strip_shapes + critical_shapes
    layout["annotations"] = notes + strip_notes + full_notes + critical_notes
    return {"data": data, "layout": layout}


def _rate_panel(curve: BatchCurve, yaxis: str, title: str, field: str) -> Panel:
    """A rate; logarithmic where the limit is far above what is expected."""
    times = (curve.expected_low, curve.expected_high, curve.expected, curve.limit)
    low, high, expected, limit = (_line(getattr(t, field), curve) for t in times)
    far = any(top > _FAR * real for top, real in zip(limit, expected, strict=True) if top and real)
    return Panel(yaxis, title, (low, high, expected, limit), falls=yaxis == "y2", log_y=far)


def throughput_alt(report: Report, curve: BatchCurve) -> str:
    """The answer of the figure in one sentence."""
    return tr(
        "Throughput and speed against batch: at batch {batch:,} expected {total} tokens/s in total and {user} per user, "
        "limit {total_limit} and {user_limit}; at most {most:,} sequences fit. What takes the longest under this plan: {bounds}.",
        batch=report.batch,
        total=sig(report.expected.output_tokens_per_s),
        user=sig(report.expected.tokens_per_s_per_user),
        total_limit=sig(report.limit.output_tokens_per_s),
        user_limit=sig(report.limit.tokens_per_s_per_user),
        most=curve.max_batch,
        bounds=strip_words(curve),
    )


def cost_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """USD per million output tokens against the batch; log on both axes."""
    span = batch_span(curve)
    fields = (
        curve.usd_per_million_output_tokens_low,
        curve.usd_per_million_output_tokens_high,
        curve.usd_per_million_output_tokens,
        curve.usd_per_million_output_tokens_at_limit,
    )
    low, high, expected, limit = ([] if f is None else _line(f, curve) for f in fields)
    title = tr("USD per million output tokens")
    panel = Panel("y", title, (low, high, expected, limit), falls=True, log_y=True, limit_below=True)
    usd = report.cost.usd_per_million_output_tokens
    layout = base_layout(look, height=COST_HEIGHT_PX)
    layout["xaxis"] = batch_axis(span, look, anchor="y")
    layout["yaxis"] = _log_axis(panel.lines, look)
    full_shapes, full_notes = beyond_full(curve, span, look, ((0.0, 1.0),))
    layout["shapes"] = full_shapes
    layout["annotations"] = [
        *_panel_words(report, curve, panel, look),
        *_ring_word(report, panel, usd, axis_place(report, span), look),
        *full_notes,
    ]
    return {"data": [*_panel(panel, curve, look), *_ring(report, panel, usd, look)], "layout": layout}


def cost_alt(report: Report) -> str:
    """The answer of the cost figure in one sentence."""
    cost = report.cost
    return tr(
        "Cost against batch: at batch {batch:,} expected {usd} USD per million output tokens ({low} to {high}), limit {limit}.",
        batch=report.batch,
        usd=sig(cost.usd_per_million_output_tokens),
        low=sig(cost.usd_per_million_output_tokens_low),
        high=sig(cost.usd_per_million_output_tokens_high),
        limit=sig(cost.usd_per_million_output_tokens_at_limit),
    )


def _line(values: Floats, curve: BatchCurve) -> Line:
    """Values as a list over the batches that fit; null beyond, so that lines end there."""
    column = np.broadcast_to(np.asarray(values, dtype=float), np.shape(curve.batch))
    return [float(v) if isfinite(v) else None for v in column]


def _most(line: Line) -> float:
    return max((v for v in line if v is not None), default=1.0)


def _rate_axis(panel: Panel, look: Look, domain: tuple[float, float]) -> dict[str, Any]:
    """From nought, or logarithmic where the limit is far away."""
    if panel.log_y:
        return {**_log_axis(panel.lines, look), "domain": list(domain)}
    return axis(look, range=[0, panel.top], domain=list(domain), nticks=4 if look.compact else 5, tickformat="~s")


def _log_axis(lines: Sequence[Line], look: Look) -> dict[str, Any]:
    return log_axis((value for line in lines for value in line), look)


def _panel(panel: Panel, curve: BatchCurve, look: Look) -> list[dict[str, Any]]:
    """Band, limit and expectation of one quantity."""
    colour, x = look.palette.phases["decode"], batches(curve)
    low, high, expected, limit = panel.lines
    title = panel.title
    inside = [i for i, v in enumerate(expected) if v is not None]
    band_x = [x[i] for i in inside] + [x[i] for i in reversed(inside)]
    band_y = [low[i] for i in inside] + [high[i] for i in reversed(inside)]
    common = {"type": "scatter", "mode": "lines", "yaxis": panel.yaxis}
    text = [f"{title}<br>{_hover(x[i], expected[i], low[i], high[i])}" for i in inside]
    return [
        common
        | {
            "x": band_x,
            "y": band_y,
            "fill": "toself",
            "fillcolor": tint(colour, 0.17),
            "line": {"width": 0},
            "hoverinfo": "skip",
            "name": tr("band"),
        },
        common
        | {
            "x": x,
            "y": limit,
            "line": {"color": look.palette.muted, "width": 1.5, "dash": "5px,4px"},
            "text": [tr("limit at batch {batch:,.0f}: {value}", batch=b, value=sig(v)) for b, v in zip(x, limit, strict=True)],
            "hovertemplate": "%{text}<extra></extra>",
            "name": tr("limit"),
        },
        common
        | {
            "x": [x[i] for i in inside],
            "y": [expected[i] for i in inside],
            "line": {"color": colour, "width": 2.75},
            "text": text,
            "hovertemplate": "%{text}<extra></extra>",
            "name": tr("expected"),
        },
    ]


def _hover(batch: float, expected: float | None, low: float | None, high: float | None) -> str:
    return tr(
        "batch {batch:,.0f}: expected {expected} ({low} to {high})",
        batch=batch,
        expected=sig(expected),
        low=sig(low),
        high=sig(high),
    )


def _ring(report: Report, panel: Panel, value: Floats | None, look: Look) -> list[dict[str, Any]]:
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
            "yaxis": panel.yaxis,
            "marker": marker,
            "cliponaxis": False,
            "name": tr("chosen batch"),
            "hovertemplate": f"{tr('chosen batch {batch:,}: {value}', batch=report.batch, value=sig(value))}<extra></extra>",
        }
    ]


def _ring_word(report: Report, panel: Panel, value: Floats | None, place: float, look: Look) -> list[dict[str, Any]]:
    """The number at the ring."""
    if value is None or not isfinite(float(value)):
        return []
    number = float(value)
    left, up = _ring_side(panel, number, place)
    return [
        {
            "x": log10(report.batch),
            "y": log10(number) if panel.log_y else number,
            "yref": panel.yaxis,
            "text": f"<b>{sig(value)}</b>",
            "showarrow": False,
            "xanchor": "right" if left else "left",
            "xshift": -9 if left else 9,
            "yshift": 14 if up else -14,
            "bgcolor": tint(look.palette.page, 0.75),
            "borderpad": 0,
            "font": {"size": 13 if look.compact else 14, "color": look.palette.phases["decode"]},
        }
    ]


def _ring_side(panel: Panel, value: float, place: float) -> tuple[bool, bool]:
    """Left and up: on the side where the lines are not, above where the axis would be in the way."""
    if panel.limit_below:
        return place > _LATE, True
    if panel.log_y:
        left = place > _LATE
        return left, panel.falls != left
    low = 0 < value < 0.25 * panel.top
    left = place > _LATE or (place > _EARLY and panel.falls != low)
    return left, low or place < _EARLY


def _panel_words(report: Report, curve: BatchCurve, panel: Panel, look: Look) -> list[dict[str, Any]]:
    """The panel's name inside its corner, and the two lines by name."""
    right = panel.falls
    name = {"xref": "paper", "yref": f"{panel.yaxis} domain", "y": 1, "text": f"<b>{panel.title}</b>", "showarrow": False}
    name |= {"xanchor": "right" if right else "left", "x": 1 if right else 0, "yanchor": "top", "xshift": -6 if right else 8}
    name |= {"font": {"size": look.font_px, "color": look.palette.text}}
    words = [name]
    for word, line, where in (("limit", panel.lines[3], 0.45), ("expected", panel.lines[2], 0.26)):
        spot = _spot(curve, line, where, report.batch)
        if spot is None:
            continue
        x_shift, y_shift = _word_shift(panel, word)
        words.append(
            {
                "x": log10(spot[0]),
                "y": log10(spot[1]) if panel.log_y else spot[1],
                "yref": panel.yaxis,
                "text": f"<b>{tr(_LINES[word])}</b>" if word == "expected" else tr(_LINES[word]),
                "showarrow": False,
                "yshift": y_shift,
                "xshift": x_shift,
                "font": {
                    "size": look.tick_px,
                    "color": look.palette.phases["decode"] if word == "expected" else look.palette.muted,
                },
            }
        )
    return words


def _word_shift(panel: Panel, word: str) -> tuple[int, int]:
    """How far a line's name stands from the line."""
    above = (word == "limit") != panel.limit_below
    if panel.limit_below:
        return (30 if above else -22), (13 if above else -13)
    if panel.log_y and not panel.falls:
        return (-16, 13) if above else (30, -13)
    return (22 if panel.falls and word == "limit" else 0), (13 if above or not panel.falls else -13)


def _spot(curve: BatchCurve, line: Line, fraction: float, batch: int) -> tuple[float, float] | None:
    """A point of a line at a share of the axis, moved away from the chosen batch."""
    points = [(b, v) for b, v in zip(batches(curve), line, strict=True) if v]
    if len(points) < 4:
        return None
    end = log10(points[-1][0]) or 1.0
    chosen = log10(max(1, batch)) / end
    if abs(chosen - fraction) < 0.14:
        fraction += 0.24
    return min(points, key=lambda p: abs(log10(p[0]) / end - fraction))
