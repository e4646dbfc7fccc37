"""The roofline: what the machine allows, where every operator stands under it, and how the batch moves the whole step."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10
from typing import Any

from roofline.answers.report import PHASE_NAMES, BatchCurve, Bound, Phase, Report
from roofline.figures.roofline_geometry import COMPACT_HEIGHT_PX, HEIGHT_PX, Ceiling, Dot, Scene, Step, scene, symbol
from roofline.figures.roofline_words import SIDES, all_words
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import BOUND_WORDS, axis_number, operator_name, rate_tick, sig
from roofline.language import tr
from roofline.units import duration, with_prefix

Trace = dict[str, Any]
_PHASES: tuple[Phase, ...] = ("prefill", "decode")


def roofline_figure(report: Report, curve: BatchCurve, look: Look) -> Spec:
    """The roofline of a report with the path of the batch through it."""
    shown = scene(report, curve, look)
    data = [*_tints(shown, look), *_roofs(shown, look), *_path_traces(shown, look)]
    data += [_operators(phase, shown, look) for phase in _PHASES]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    across, up = shown.scale.x, shown.scale.y
    layout["xaxis"] = _log_axis(look, across, axis_number, tr("FLOP per byte of memory traffic"), whole=look.compact)
    layout["yaxis"] = _log_axis(look, up, rate_tick, "" if look.compact else tr("FLOP/s per device"), whole=True)
    layout["annotations"] = all_words(shown, look)
    return {"data": data, "layout": layout}


def roofline_alt(report: Report) -> str:
    """The answer of the figure in one sentence."""
    return tr(
        "Roofline of {model} on {hardware}: the ridge lies at {ridge} FLOP per byte; "
        "decode at batch {batch:,} is bound by {decode}, prefill by {prefill}.",
        model=report.model_name,
        hardware=report.hardware_name,
        ridge=sig(report.ridge_flops_per_byte),
        batch=report.batch,
        decode=tr(BOUND_WORDS[report.bound["decode"]]),
        prefill=tr(BOUND_WORDS[report.bound["prefill"]]),
    )


def _log_axis(look: Look, span: tuple[float, float], word: Callable[[float], str], title: str, *, whole: bool) -> dict[str, Any]:
    """Ticks at decades, with the threes between them unless the axis is short of room."""
    powers = range(floor(log10(span[0])), ceil(log10(span[1])) + 1)
    ticks = [f * 10.0**p for p in powers for f in ((1,) if whole else (1, 3))]
    inside = [t for t in ticks if span[0] <= t <= span[1]]
    return axis(
        look,
        type="log",
        range=[log10(span[0]), log10(span[1])],
        tickvals=inside,
        ticktext=[word(t) for t in inside],
        title=axis_title(look, title),
    )


def _tints(shown: Scene, look: Look) -> list[Trace]:
    """The memory side and the compute side under the roof in use."""
    peak, ridge = shown.peak, shown.report.ridge_flops_per_byte
    (start, low), (right, foot) = shown.roof_start, (shown.scale.x[1], shown.scale.y[0])
    sides: tuple[tuple[Bound, list[float], list[float]], ...] = (
        ("memory", [start, ridge, ridge, start], [low, peak, foot, foot]),
        ("compute", [ridge, right, right, ridge], [peak, peak, foot, foot]),
    )
    common: Trace = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "fill": "toself", "hoverinfo": "skip"}
    return [
        common | {"x": xs, "y": ys, "fillcolor": tint(look.palette.bounds[side], 0.07), "name": tr(SIDES[side])}
        for side, xs, ys in sides
    ]


def _roofs(shown: Scene, look: Look) -> list[Trace]:
    """Bandwidth and peaks as lines; the pair in use is one bold line."""
    ordered = sorted(shown.roofs, key=lambda r: (r.in_use, r.flops_per_s))
    ridge = shown.report.ridge_flops_per_byte
    foot: Trace = {"type": "scatter", "mode": "lines", "name": tr("ridge"), "hoverinfo": "skip"}
    foot |= {"x": [ridge, ridge], "y": [shown.scale.y[0], shown.peak]}
    foot |= {"line": {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}}
    return [_roof(roof, shown, look) for roof in ordered] + [foot]


def _roof(roof: Ceiling, shown: Scene, look: Look) -> Trace:
    ridge = shown.report.ridge_flops_per_byte
    xs, ys = [roof.ridge, shown.scale.x[1]], [roof.flops_per_s, roof.flops_per_s]
    if roof.in_use:
        xs, ys = [shown.roof_start[0], *xs], [shown.roof_start[1], *ys]
    elif roof.flops_per_s > shown.peak:
        xs, ys = [ridge, *xs], [shown.peak, *ys]
    bold = {"color": look.palette.text, "width": 2.5}
    thin = {"color": look.palette.muted, "width": 1.25, "dash": "5px,4px"}
    peak = with_prefix(roof.flops_per_s, "FLOP/s")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": tr("ceiling {name}", name=roof.name),
        "x": xs,
        "y": ys,
        "line": bold if roof.in_use else thin,
        "hovertemplate": f"{tr('{name} peak {rate}', name=safe(roof.name), rate=peak)}<extra></extra>",
    }


def _path_traces(shown: Scene, look: Look) -> list[Trace]:
    """The decode step as a whole at every batch that fits, and where the chosen one stands."""
    if not shown.path:
        return []
    colour, batch = look.palette.phases["decode"], shown.report.batch
    doublings = [s for s in shown.path if s.batch & (s.batch - 1) == 0]
    chosen = min(shown.path, key=lambda s: abs(s.batch - batch))
    line = _steps(tr("path of the batch"), shown.path, "lines") | {"hoverinfo": "skip", "hovertemplate": None}
    line |= {"line": {"color": colour, "width": 1.5, "dash": "2px,3px"}}
    spots = _steps(tr("batches"), doublings, "markers") | {"marker": {"color": colour, "size": 5}}
    ring = _steps(tr("chosen batch"), [chosen], "markers")
    ring |= {
        "marker": {"symbol": "circle-open", "size": 13, "color": look.palette.text, "line": {"width": 2}},
    }
    return [line, spots, ring]


def _steps(name: str, steps: list[Step] | tuple[Step, ...], mode: str) -> Trace:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "x": [s.x for s in steps],
        "y": [s.y for s in steps],
        "text": [_step_hover(step) for step in steps],
        "hovertemplate": "%{text}<extra></extra>",
        "unselected": {"marker": {"opacity": 1}},
    }


def _step_hover(step: Step) -> str:
    title = tr("whole decode step at batch {batch:,}", batch=step.batch)
    return f"{title}<br>{sig(step.x)} FLOP/byte, {with_prefix(step.y, 'FLOP/s')}"


def _operators(phase: Phase, shown: Scene, look: Look) -> Trace:
    dots = [d for d in shown.dots if d.row.phase == phase]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": tr(PHASE_NAMES[phase]),
        "x": [d.x for d in dots],
        "y": [d.y for d in dots],
        "ids": [f"{phase}:{d.row.name}" for d in dots],
        "text": [_hover(d) for d in dots],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": symbol(phase),
            "size": [round(d.size_px, 1) for d in dots],
            "color": look.palette.phases[phase],
            "opacity": 1,
            "line": {"color": look.palette.page, "width": 1.5},
        },
        "unselected": {"marker": {"opacity": 0.75}},
    }


def _hover(dot: Dot) -> str:
    row = dot.row
    work, traffic = with_prefix(row.flops, "FLOP"), with_prefix(row.bytes, "B")
    lines = (
        f"<b>{safe(operator_name(row.name))}</b>, {tr(PHASE_NAMES[row.phase])}, {tr('{n:g} layers', n=row.count)}",
        f"{work} / {traffic} = {sig(row.intensity)} FLOP/byte",
        tr(
            "weights {weights}, cache {cache}",
            weights=with_prefix(row.weight_bytes, "B"),
            cache=with_prefix(row.cache_bytes, "B"),
        ),
        tr(
            "limit {limit}, expected {expected} ({share:.0%} of the step)",
            limit=duration(row.limit_s),
            expected=duration(row.expected_s),
            share=dot.share,
        ),
        tr("reaches {rate}, bound by {bound}", rate=with_prefix(dot.y, "FLOP/s"), bound=tr(BOUND_WORDS[row.bound])),
    )
    return "<br>".join(lines)
