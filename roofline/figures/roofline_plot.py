"""The roofline: what the machine allows, where every operator stands under it, and how the batch moves the whole step."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10, sqrt
from typing import Any

import numpy as np

from roofline.answers.report import BatchCurve, OperatorRow, Phase, Report
from roofline.figures.labels import Box, Label, Mark, along, around, clusters, place, text_box
from roofline.figures.theme import BOUND_MARKS, Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import (
    BOUND_WORDS,
    axis_number,
    operator_name,
    rate_name,
    rate_tick,
    short_operator_name,
    sig,
)
from roofline.units import duration, with_prefix

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 400
_PLOT_PX = (430.0, 394.0)
"""Narrowest plot that labels are placed for; a wider one only spreads them."""
_DECADES = 5.0
"""Most decades of either axis below its top; what lies lower is in the table."""
_SYMBOLS: dict[Phase, str] = {"prefill": "diamond", "decode": "circle"}


@dataclass(frozen=True)
class Ceiling:
    """A flat roof: one peak rate and the number formats that share it."""

    flops_per_s: float
    name: str
    in_use: bool
    ridge: float


@dataclass(frozen=True)
class Dot:
    """An operator as a point."""

    row: OperatorRow
    x: float
    y: float
    share: float

    @property
    def size_px(self) -> float:
        """Diameter: area by share of the step."""
        return 8 + 16 * sqrt(self.share)


@dataclass(frozen=True)
class Scale:
    """Both log axes and the pixels labels are placed in."""

    x: tuple[float, float]
    y: tuple[float, float]

    def px(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the top left corner."""
        across = (log10(x) - log10(self.x[0])) / (log10(self.x[1]) - log10(self.x[0]))
        up = (log10(y) - log10(self.y[0])) / (log10(self.y[1]) - log10(self.y[0]))
        return across * _PLOT_PX[0], (1 - up) * _PLOT_PX[1]


def ceilings(report: Report) -> list[Ceiling]:
    """Every distinct peak of the device, highest first."""
    by_rate: dict[float, list[str]] = {}
    for dtype, rate in report.peak_flops_per_s.items():
        by_rate.setdefault(rate, []).append(dtype)
    used = report.peak_flops_per_s[report.formats.gemm_rate]
    return [
        Ceiling(
            flops_per_s=rate,
            name=rate_name(report.formats.gemm_rate)
            if rate == used
            else ", ".join(rate_name(d) for d in by_rate[rate]),
            in_use=rate == used,
            ridge=rate / report.bandwidth_bytes_per_s,
        )
        for rate in sorted(by_rate, reverse=True)
    ]


def dots(report: Report) -> list[Dot]:
    """Operators that do arithmetic and touch memory, each at its intensity and expected rate."""
    totals = {phase: sum(r.expected_s for r in report.operators if r.phase == phase) for phase in ("prefill", "decode")}
    return [
        Dot(row, row.intensity, row.flops / row.expected_s, row.expected_s / totals[row.phase])
        for row in report.operators
        if row.flops > 0 and row.expected_s > 0 and isfinite(row.intensity) and row.intensity > 0
    ]


def roofline_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """The roofline of a report with the path of the batch through it."""
    roofs, points = ceilings(report), dots(report)
    path = _path(curve)
    scale = _scale(report, roofs, points, path)
    points = [p for p in points if p.x >= scale.x[0] and p.y >= scale.y[0]]
    data = [
        *_tints(report, scale, look),
        *_roofs(report, roofs, scale, look),
        *_path_traces(path, curve, report, look),
        *(_operators(phase, points, report, look) for phase in ("prefill", "decode")),
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = _log_axis(
        look, scale.x, _ticks(scale.x, whole=look.compact), axis_number, "FLOP per byte of memory traffic"
    )
    layout["yaxis"] = _log_axis(
        look, scale.y, _ticks(scale.y, whole=True), rate_tick, "" if look.compact else "FLOP/s per device"
    )
    layout["annotations"] = _annotations(report, roofs, points, path, scale, look)
    return {"data": data, "layout": layout}


def roofline_alt(report: Report) -> str:
    """The answer of the figure in one sentence."""
    return (
        f"Roofline of {report.model_name} on {report.hardware_name}: the ridge lies at {sig(report.ridge_flops_per_byte)} FLOP per byte; "
        f"decode at batch {report.batch:,} is bound by {BOUND_WORDS[report.bound['decode']]}, "
        f"prefill by {BOUND_WORDS[report.bound['prefill']]}."
    )


def _path(curve: BatchCurve) -> list[tuple[int, float, float]]:
    """Batch, intensity and rate of the decode step where it fits."""
    columns = (np.atleast_1d(c) for c in (curve.batch, curve.intensity_flops_per_byte, curve.flops_per_s_per_device))
    rows = [(float(b), float(x), float(y)) for b, x, y in zip(*columns, strict=True)]
    return [(round(b), x, y) for b, x, y in rows if isfinite(x) and isfinite(y) and x > 0 and y > 0]


def _scale(report: Report, roofs: list[Ceiling], points: list[Dot], path: list[tuple[int, float, float]]) -> Scale:
    xs = [p.x for p in points] + [x for _, x, _ in path]
    ys = [p.y for p in points] + [y for _, _, y in path]
    right = max([*xs, roofs[0].ridge * 8]) * 1.6
    top = roofs[0].flops_per_s * 3.2
    left = max(min([*xs, report.ridge_flops_per_byte / 100]) / 1.8, right / 10**_DECADES)
    bottom = max(min([*ys, top / 1000]) / 4, top / 10**_DECADES)
    return Scale((left, right), (bottom, top))


def _ticks(span: tuple[float, float], whole: bool) -> list[float]:
    """Decades, with the threes between them unless the axis is short of room."""
    powers = range(floor(log10(span[0])), ceil(log10(span[1])) + 1)
    factors = (1,) if whole else (1, 3)
    found = [f * 10.0**p for p in powers for f in factors]
    return [t for t in found if span[0] <= t <= span[1]]


def _log_axis(look: Look, span: tuple[float, float], ticks: list[float], word: Any, title: str) -> dict[str, Any]:
    return axis(
        look,
        type="log",
        range=[log10(span[0]), log10(span[1])],
        tickvals=ticks,
        ticktext=[word(t) for t in ticks],
        title=axis_title(look, title),
    )


def _tints(report: Report, scale: Scale, look: Look) -> list[dict[str, Any]]:
    """The memory side and the compute side under the roof in use."""
    peak, ridge = report.peak_flops_per_s[report.formats.gemm_rate], report.ridge_flops_per_byte
    start = max(scale.x[0], scale.y[0] / report.bandwidth_bytes_per_s)
    sides = (
        ("memory", [start, ridge, ridge, start], [start * report.bandwidth_bytes_per_s, peak, scale.y[0], scale.y[0]]),
        ("compute", [ridge, scale.x[1], scale.x[1], ridge], [peak, peak, scale.y[0], scale.y[0]]),
    )
    return [
        {
            "type": "scatter",
            "x": xs,
            "y": ys,
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": tint(look.palette.bounds["memory" if side == "memory" else "compute"], 0.07),
            "hoverinfo": "skip",
            "name": f"{side}-bound",
        }
        for side, xs, ys in sides
    ]


def _roofs(report: Report, roofs: list[Ceiling], scale: Scale, look: Look) -> list[dict[str, Any]]:
    """Bandwidth and peaks as lines; the pair in use is one bold line."""
    palette, bandwidth = look.palette, report.bandwidth_bytes_per_s
    start = max(scale.x[0], scale.y[0] / bandwidth)
    lines = []
    for roof in sorted(roofs, key=lambda r: (r.in_use, r.flops_per_s)):
        corner = [roof.ridge, scale.x[1]], [roof.flops_per_s, roof.flops_per_s]
        if roof.in_use:
            corner = [start, *corner[0]], [start * bandwidth, *corner[1]]
        elif roof.flops_per_s > report.peak_flops_per_s[report.formats.gemm_rate]:
            corner = [report.ridge_flops_per_byte, *corner[0]], [report.ridge_flops_per_byte * bandwidth, *corner[1]]
        lines.append(
            {
                "type": "scatter",
                "x": corner[0],
                "y": corner[1],
                "mode": "lines",
                "line": {"color": palette.text, "width": 2.5}
                if roof.in_use
                else {"color": palette.muted, "width": 1.25, "dash": "5px,4px"},
                "name": f"ceiling {roof.name}",
                "hovertemplate": f"{safe(roof.name)} peak {with_prefix(roof.flops_per_s, 'FLOP/s')}<extra></extra>",
            }
        )
    lines.append(
        {
            "type": "scatter",
            "x": [report.ridge_flops_per_byte] * 2,
            "y": [scale.y[0], report.peak_flops_per_s[report.formats.gemm_rate]],
            "mode": "lines",
            "line": {"color": palette.muted, "width": 1, "dash": "1px,3px"},
            "name": "ridge",
            "hoverinfo": "skip",
        }
    )
    return lines


def _path_traces(
    path: list[tuple[int, float, float]], curve: BatchCurve, report: Report, look: Look
) -> list[dict[str, Any]]:
    """The decode step as a whole at every batch that fits, and where the chosen one stands."""
    if not path:
        return []
    colour = look.palette.phases["decode"]
    shown = [p for p in path if p[0] & (p[0] - 1) == 0]
    text = [f"whole decode step at batch {b:,}<br>{sig(x)} FLOP/byte, {with_prefix(y, 'FLOP/s')}" for b, x, y in shown]
    line = {
        "type": "scatter",
        "x": [p[1] for p in path],
        "y": [p[2] for p in path],
        "mode": "lines",
        "name": "path of the batch",
    }
    line |= {"line": {"color": colour, "width": 1.5, "dash": "2px,3px"}, "hoverinfo": "skip"}
    spots = {
        "type": "scatter",
        "x": [p[1] for p in shown],
        "y": [p[2] for p in shown],
        "mode": "markers",
        "name": "batches",
    }
    spots |= {"marker": {"color": colour, "size": 5}, "text": text, "hovertemplate": "%{text}<extra></extra>"}
    chosen = min(path, key=lambda p: abs(p[0] - report.batch))
    ring = {"type": "scatter", "x": [chosen[1]], "y": [chosen[2]], "mode": "markers", "name": "chosen batch"}
    ring |= {
        "marker": {"symbol": "circle-open", "size": 13, "color": look.palette.text, "line": {"width": 2}},
        "text": [
            f"whole decode step at batch {report.batch:,}<br>{sig(chosen[1])} FLOP/byte, {with_prefix(chosen[2], 'FLOP/s')}"
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    return [line, spots, ring]


def _operators(phase: Phase, points: list[Dot], report: Report, look: Look) -> dict[str, Any]:
    mine = [p for p in points if p.row.phase == phase]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": phase,
        "x": [p.x for p in mine],
        "y": [p.y for p in mine],
        "ids": [f"{phase}:{p.row.name}" for p in mine],
        "text": [_hover(p) for p in mine],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": _SYMBOLS[phase],
            "size": [round(p.size_px, 1) for p in mine],
            "color": look.palette.phases[phase],
            "opacity": 1,
            "line": {"color": look.palette.page, "width": 1.5},
        },
    }


def _hover(dot: Dot) -> str:
    row = dot.row
    return "<br>".join(
        [
            f"<b>{safe(operator_name(row.name))}</b>, {row.phase}, {row.count:g} layers",
            f"{with_prefix(row.flops, 'FLOP')} / {with_prefix(row.bytes, 'B')} = {sig(row.intensity)} FLOP/byte",
            f"weights {with_prefix(row.weight_bytes, 'B')}, cache {with_prefix(row.cache_bytes, 'B')}",
            f"limit {duration(row.limit_s)}, expected {duration(row.expected_s)} ({sig(dot.share * 100, 2)}% of the step)",
            f"reaches {with_prefix(dot.y, 'FLOP/s')}, bound by {BOUND_WORDS[row.bound]}",
        ]
    )


def _annotations(
    report: Report,
    roofs: list[Ceiling],
    points: list[Dot],
    path: list[tuple[int, float, float]],
    scale: Scale,
    look: Look,
) -> list[dict[str, Any]]:
    """All words of the figure in one list: fixed ones first, then operators where they find room."""
    fixed = _fixed_words(report, roofs, scale, look)
    if look.compact:
        return [item for item, _ in fixed]
    obstacles = [box for _, box in fixed] + _lines_px(report, roofs, scale)
    obstacles += [around(*scale.px(p.x, p.y), p.size_px / 2) for p in points]
    obstacles += [around(*scale.px(x, y), 4) for _, x, y in path]
    marks = [
        Mark(*scale.px(p.x, p.y), p.size_px / 2, short_operator_name(p.row.name), p.row.phase, p.share) for p in points
    ]
    phase_of = {"prefill": "prefill", "decode": "decode"}
    where = {scale.px(p.x, p.y): p for p in points}
    labels = place(clusters(marks), obstacles, Box(2, 2, _PLOT_PX[0] - 2, _PLOT_PX[1] - 2), look.font_px)
    return [item for item, _ in fixed] + [
        _operator_label(
            label, where[(label.mark.x, label.mark.y)], look.palette.phases[phase_of[label.mark.group]], look
        )  # type: ignore[index]
        for label in labels
    ]


def _operator_label(label: Label, dot: Dot, colour: str, look: Look) -> dict[str, Any]:
    item = {
        "x": log10(dot.x),
        "y": log10(dot.y),
        "text": safe(label.mark.text),
        "font": {"size": look.font_px, "color": colour},
    }
    if label.leader:
        return item | {
            "showarrow": True,
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": look.palette.axis,
            "ax": round(label.dx, 1),
            "ay": round(label.dy, 1),
            "standoff": round(label.mark.radius, 1),
        }
    return item | {"showarrow": False, "xshift": round(label.dx, 1), "yshift": round(-label.dy, 1)}


def _lines_px(report: Report, roofs: list[Ceiling], scale: Scale) -> list[Box]:
    """Roofs and the ridge as obstacles."""
    start = max(scale.x[0], scale.y[0] / report.bandwidth_bytes_per_s)
    top = roofs[0]
    boxes = along(scale.px(start, start * report.bandwidth_bytes_per_s), scale.px(top.ridge, top.flops_per_s))
    for roof in roofs:
        if roof.flops_per_s > scale.y[0]:
            boxes += along(scale.px(roof.ridge, roof.flops_per_s), scale.px(scale.x[1], roof.flops_per_s))
    peak = report.peak_flops_per_s[report.formats.gemm_rate]
    return boxes + along(scale.px(report.ridge_flops_per_byte, scale.y[0]), scale.px(report.ridge_flops_per_byte, peak))


def _fixed_words(report: Report, roofs: list[Ceiling], scale: Scale, look: Look) -> list[tuple[dict[str, Any], Box]]:
    """Ceilings, bandwidth, ridge and the two corner words, with the boxes they take."""
    size = look.tick_px
    words = []
    rows_taken: list[float] = []
    for roof in sorted(roofs, key=lambda r: (not r.in_use, -r.flops_per_s)):
        x, y = scale.px(roof.ridge, roof.flops_per_s)
        if roof.flops_per_s <= scale.y[0] or any(abs(y - other) < size + 3 for other in rows_taken):
            continue
        rows_taken.append(y)
        peak = with_prefix(roof.flops_per_s, "FLOP/s")
        text = f"{roof.name} {peak}" if look.compact else f"{roof.name} peak {peak}"
        words.append(_beside(text, roof.ridge, roof.flops_per_s, (x, y), bold=roof.in_use, look=look))
    words.append(_bandwidth_word(report, rows_taken, scale, look))
    return [w for w in words if w is not None] + _foot_words(report, scale, look)


def _beside(
    text: str, x: float, y: float, px: tuple[float, float], *, bold: bool, look: Look
) -> tuple[dict[str, Any], Box] | None:
    """A word left of the memory roof, its right end near the line; none where the axis cuts it off."""
    size = look.tick_px
    box = text_box(0, px[1], text, size)
    width = (box.right - box.left) * (1.06 if bold else 1.0)
    if px[0] - 14 - width < 0:
        return None
    item = {
        "x": log10(x),
        "y": log10(y),
        "text": f"<b>{safe(text)}</b>" if bold else safe(text),
        "showarrow": False,
        "xanchor": "right",
        "xshift": -12,
        "yshift": 2,
        "font": {"size": size, "color": look.palette.text if bold else look.palette.muted},
    }
    return item, Box(px[0] - 14 - width, box.top - 2, px[0] - 10, box.bottom)


def _bandwidth_word(
    report: Report, rows_taken: list[float], scale: Scale, look: Look
) -> tuple[dict[str, Any], Box] | None:
    """The memory roof's name, on the lowest free row where it fits left of the line."""
    text = f"Memory {with_prefix(report.bandwidth_bytes_per_s, 'B/s')}"
    for fraction in (0.3, 0.4, 0.5, 0.6, 0.7):
        y = 10 ** (log10(scale.y[0]) + fraction * (log10(scale.y[1]) - log10(scale.y[0])))
        x = y / report.bandwidth_bytes_per_s
        if not scale.x[0] < x < scale.x[1]:
            continue
        px = scale.px(x, y)
        found = _beside(text, x, y, px, bold=True, look=look)
        if found is not None and all(abs(px[1] - other) > look.tick_px + 6 for other in rows_taken):
            return found
    return None


def _foot_words(report: Report, scale: Scale, look: Look) -> list[tuple[dict[str, Any], Box]]:
    size, palette = look.tick_px, look.palette
    ridge_px = scale.px(report.ridge_flops_per_byte, scale.y[0])[0]
    foot = _PLOT_PX[1] - 12
    words: list[tuple[dict[str, Any], Box]] = []

    def add(text: str, shown: str, x: float, anchor: str, shift: float, left_px: float) -> None:
        box = text_box(0, foot, text, size)
        width = box.right - box.left
        item = {
            "x": x,
            "y": log10(scale.y[0]),
            "text": shown,
            "showarrow": False,
            "xanchor": anchor,
            "yanchor": "bottom",
        }
        item |= {"xshift": shift, "yshift": 4, "font": {"size": size, "color": palette.text}}
        words.append((item, Box(left_px, box.top, left_px + width, box.bottom)))

    def marked(side: str) -> str:
        bound = "memory" if side == "memory" else "compute"
        return f"<span style='color:{palette.bounds[bound]}'>{BOUND_MARKS[bound]}</span> <b>{side}-bound</b>"  # type: ignore[index]

    width = text_box(0, 0, "■ compute-bound", size).right * 2
    ridge = f"ridge {sig(report.ridge_flops_per_byte)}"
    add("● memory-bound", marked("memory"), log10(scale.x[0]), "left", 6, 6)
    if _PLOT_PX[0] - ridge_px > width:
        add("■ compute-bound", marked("compute"), log10(scale.x[1]), "right", -6, _PLOT_PX[0] - 6 - width)
    if ridge_px > 2 * width:
        add(ridge, ridge, log10(report.ridge_flops_per_byte), "right", -6, ridge_px - 6 - width * 0.6)
        words[-1][0]["font"] = {"size": size, "color": palette.muted}
    return words
