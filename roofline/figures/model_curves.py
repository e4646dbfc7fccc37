"""A model's curves: cache against context, experts against tokens in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.answers.anatomy import Anatomy, ExpertCurve
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import axis_number, sig
from roofline.units import with_prefix

HEIGHT_PX, COMPACT_HEIGHT_PX = 400, 360
_TOP, _BOTTOM = (0.55, 1.0), (0.0, 0.45)
_NEAR = 0.05
"""Curves that differ by less than this share are drawn as one."""
_DASHES = (("7px,4px", "dashed"), ("2px,3px", "dotted"), ("8px,3px,2px,3px", "dash and dot"))
"""How engines' curves are drawn, and the word for it."""
_DEVICE_HEADROOM = 40.0
"""A device's memory is drawn when it is within this factor of the curve's end."""


@dataclass(frozen=True)
class CacheMarks:
    """What is marked on the cache figure."""

    context_tokens: int
    scenario_tokens: int
    device_name: str
    device_bytes: float


def cache_figure(found: Anatomy, marks: CacheMarks, look: Look) -> Spec:
    """Bytes of one sequence against its length; log on both axes."""
    curve, palette = found.cache, look.palette
    tokens = _list(curve.context_tokens)
    low, high = tokens[0], max(tokens[-1], float(marks.context_tokens))
    lines = [("least needed", curve.least_bytes, {"color": palette.kinds[0], "width": 2.75})]
    for i, (names, values) in enumerate(_reserved(found)):
        colour, (dash, _) = palette.kinds[1 + i % 3], _DASHES[i % len(_DASHES)]
        lines.append((f"reserved by {', '.join(names)}", values, {"color": colour, "width": 1.75, "dash": dash}))
    data = [_curve(name, tokens, _list(values), line, "y", "tokens") for name, values, line in reversed(lines)]
    chosen = _kept(found)
    data.append(_ring(float(marks.context_tokens), chosen, f"{marks.context_tokens:,} tokens: {_size(chosen)}", look, "y"))
    sizes = [v for _, column, _ in lines for v in _list(column) if v > 0] + [chosen]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = _powers_axis(low, high, look, "Tokens of the sequence", stride=2)
    top = max(sizes) * 3
    device = marks.device_bytes if marks.device_bytes < max(sizes) * _DEVICE_HEADROOM else None
    layout["yaxis"] = _bytes_axis(min(sizes) / 2, max(top, (device or 0.0) * 2.5), look)
    layout["shapes"] = _cache_shapes(marks, device, look)
    layout["annotations"] = _cache_words(marks, device, chosen, (low, high), look)
    return {"data": data, "layout": layout}


def cache_key(found: Anatomy) -> str:
    """Which line is which."""
    groups = _reserved(found)
    lines = [f"{_DASHES[i % len(_DASHES)][1]}: set aside by {_all(names)}" for i, (names, _) in enumerate(groups)]
    named = {name for names, _ in groups for name in names}
    plain = [name for name in found.cache.reserved_bytes if name not in named]
    about = [f"and about what {_all(plain)} set{'s' if len(plain) == 1 else ''} aside"] if plain else []
    first = " ".join(["Solid: what the mathematics needs", *about])
    return f"One sequence. {'; '.join([first, *lines])}."


def _all(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def cache_alt(found: Anatomy, marks: CacheMarks) -> str:
    """The answer of the cache figure in one sentence."""
    ends = "; ".join(f"{', '.join(names)} {_size(values[-1])}" for names, values in _reserved(found))
    last = found.cache.context_tokens[-1]
    more = f", reserved by {ends}" if ends else ", and engines reserve about that"
    return (
        f"Cache against context of {found.counts.name}: {_size(_kept(found))} for one sequence "
        f"of {marks.context_tokens:,} tokens; "
        f"at {last:,.0f} tokens least {_size(found.cache.least_bytes[-1])}{more}."
    )


def experts_figure(curve: ExpertCurve, batch: int, look: Look) -> Spec:
    """Experts that a step touches, and tokens that each of them gets, over one log axis."""
    tokens, palette = _list(curve.tokens), look.palette
    touched, each = _list(curve.distinct), _list(curve.tokens_per_touched)
    at = int(np.argmin(np.abs(curve.tokens - batch)))
    data = [
        _curve("experts touched", tokens, touched, {"color": palette.kinds[0], "width": 2.75}, "y", "tokens"),
        _curve("tokens per touched expert", tokens, each, {"color": palette.kinds[1], "width": 2.75}, "y2", "tokens"),
        _ring(tokens[at], touched[at], f"{batch:,} tokens: {sig(touched[at])} experts", look, "y"),
        _ring(tokens[at], each[at], f"{batch:,} tokens: {sig(each[at])} for each touched expert", look, "y2"),
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = {**_powers_axis(tokens[0], tokens[-1], look, "Tokens in a step", stride=2), "anchor": "y2"}
    layout["yaxis"] = axis(look, range=[0, curve.total * 1.35], domain=list(_TOP), nticks=5)
    top = each[-1] * 1.6
    layout["yaxis2"] = {**_counts_axis(0.8, top, look), "domain": list(_BOTTOM)}
    layout["shapes"] = [_level(float(curve.total), "y", look)]
    last = (tokens[0], tokens[-1])
    layout["annotations"] = [
        _panel_name(f"Experts touched, of {curve.total:,}", "y", look),
        _panel_name("Tokens per touched expert", "y2", look),
        _ring_word(tokens[at], touched[at], sig(touched[at]), last, look, "y", log_y=False),
        _ring_word(tokens[at], each[at], sig(each[at]), last, look, "y2", log_y=True),
    ]
    return {"data": data, "layout": layout}


def experts_alt(curve: ExpertCurve, batch: int) -> str:
    """The answer of the expert figure in one sentence."""
    at = int(np.argmin(np.abs(curve.tokens - batch)))
    return (
        f"Experts touched against tokens in a step: {batch:,} tokens, each with {curve.active:,} of {curve.total:,} experts, "
        f"touch {sig(curve.distinct[at])} of them; each touched one works for {sig(curve.tokens_per_touched[at])} tokens."
    )


def _reserved(found: Anatomy) -> list[tuple[list[str], NDArray[np.float64]]]:
    """Engines that reserve the same, together; without those that reserve just what is needed."""
    groups: list[tuple[list[str], NDArray[np.float64]]] = []
    for name, values in found.cache.reserved_bytes.items():
        same = next((names for names, other in groups if np.allclose(other, values, rtol=_NEAR)), None)
        if same is None:
            groups.append(([name], values))
        else:
            same.append(name)
    return [(names, v) for names, v in groups if not np.allclose(v, found.cache.least_bytes, rtol=_NEAR)]


def _kept(found: Anatomy) -> float:
    """Cache and state at the context asked for."""
    return float(found.counts.kv_cache.bytes + found.counts.kv_cache.state_bytes)


def _list(values: NDArray[np.float64]) -> list[float]:
    return [float(v) for v in values]


def _size(value: float) -> str:
    return with_prefix(float(value), "B")


def _curve(name: str, x: list[float], y: list[float], line: dict[str, Any], yaxis: str, unit: str) -> dict[str, Any]:
    shown = _size if yaxis == "y" and "experts" not in name else sig
    text = [f"{safe(name)}<br>{a:,.0f} {unit}: {shown(b)}" for a, b in zip(x, y, strict=True)]
    trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "yaxis": yaxis, "name": safe(name), "line": line}
    return {**trace, "text": text, "hovertemplate": "%{text}<extra></extra>"}


def _ring(x: float, y: float, text: str, look: Look, yaxis: str) -> dict[str, Any]:
    marker = {"size": 12, "color": look.palette.page, "line": {"color": look.palette.text, "width": 2.5}}
    point = {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "yaxis": yaxis,
        "name": "chosen",
        "marker": marker,
        "cliponaxis": False,
    }
    return {**point, "text": [text], "hovertemplate": "%{text}<extra></extra>"}


def _ring_word(
    x: float, y: float, text: str, span: tuple[float, float], look: Look, yaxis: str, *, log_y: bool
) -> dict[str, Any]:
    """The number at a ring, on the side that has room."""
    left = log10(x / span[0]) / log10(span[1] / span[0]) > 0.5
    return {
        "x": log10(x),
        "y": log10(y) if log_y else y,
        "yref": yaxis,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "xanchor": "right" if left else "left",
        "xshift": -10 if left else 10,
        "yshift": 13 if left else -13,
        "bgcolor": tint(look.palette.page, 0.75),
        "font": {"size": 13 if look.compact else 14, "color": look.palette.text},
    }


def _panel_name(text: str, yaxis: str, look: Look) -> dict[str, Any]:
    place = {"xref": "paper", "yref": f"{yaxis} domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "xshift": 8}
    return {**place, "text": f"<b>{text}</b>", "showarrow": False, "font": {"size": look.font_px, "color": look.palette.text}}


def _level(value: float, yaxis: str, look: Look) -> dict[str, Any]:
    line = {"color": look.palette.muted, "width": 1.5, "dash": "5px,4px"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": yaxis, "y0": value, "y1": value, "line": line}


def _cache_shapes(marks: CacheMarks, device: float | None, look: Look) -> list[dict[str, Any]]:
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    at = marks.scenario_tokens
    shapes = [{"type": "line", "yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": at, "x1": at, "line": line}]
    return shapes if device is None else [*shapes, _level(device, "y", look)]


def _cache_words(
    marks: CacheMarks, device: float | None, chosen: float, span: tuple[float, float], look: Look
) -> list[dict[str, Any]]:
    font = {"size": look.tick_px, "color": look.palette.muted}
    words = [_ring_word(float(marks.context_tokens), chosen, _size(chosen), span, look, "y", log_y=True)]
    if span[0] <= marks.scenario_tokens <= span[1]:
        left = log10(marks.scenario_tokens / span[0]) / log10(span[1] / span[0]) > 0.5
        side = {"xanchor": "right" if left else "left", "xshift": -4 if left else 4, "yanchor": "bottom"}
        text = f"this scenario: {marks.scenario_tokens:,}"
        words.append(
            {"x": log10(marks.scenario_tokens), "y": 0, "yref": "paper", "text": text, "showarrow": False, **side, "font": font}
        )
    if device is not None:
        place = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": 6, "yanchor": "bottom", "y": log10(device)}
        text = f"memory of one {safe(marks.device_name)}"
        ground = tint(look.palette.page, 0.75)
        words.append({**place, "yref": "y", "text": text, "showarrow": False, "font": font, "bgcolor": ground})
    return words


def _powers_axis(low: float, high: float, look: Look, title: str, *, stride: int) -> dict[str, Any]:
    """A log axis with ticks at powers of two."""
    first, last = ceil(log2(low)), floor(log2(high))
    step = stride * (2 if look.compact else 1)
    ticks = [2.0**k for k in range(first, last + 1, step)]
    return axis(
        look,
        type="log",
        range=[log10(low / 1.15), log10(high * 1.15)],
        tickvals=ticks,
        ticktext=[f"{t:,.0f}" if t < 10_000 else _binary(t) for t in ticks],
        title=axis_title(look, title),
    )


def _binary(tokens: float) -> str:
    """Powers of two as people say them: 32k, 1M."""
    return f"{tokens / 2**20:.0f}M" if tokens >= 2**20 else f"{tokens / 2**10:.0f}k"


def _bytes_axis(low: float, high: float, look: Look) -> dict[str, Any]:
    ticks = _decades(low, high, (1, 3) if high / low < 1e3 else (1,))
    return axis(
        look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=[with_prefix(t, "B", 1) for t in ticks]
    )


def _counts_axis(low: float, high: float, look: Look) -> dict[str, Any]:
    ticks = _decades(low, high, (1, 3) if high / low < 1e3 else (1,))
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=[axis_number(t) for t in ticks])


def _decades(low: float, high: float, steps: Sequence[int]) -> list[float]:
    found = [f * 10.0**p for p in range(floor(log10(low)), ceil(log10(high)) + 1) for f in steps]
    return [t for t in found if low <= t <= high]
