"""A model's curves: cache against context, experts against tokens in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.answers.anatomy import Anatomy, ExpertCurve
from roofline.figures.lines import (
    BOTTOM,
    COMPACT_HEIGHT_PX,
    HEIGHT_PX,
    TOP,
    counts_axis,
    level,
    line_trace,
    memory_axis,
    panel_name,
    powers_axis,
    ring,
    ring_word,
)
from roofline.figures.theme import Look, Spec, axis, base_layout, safe, tint
from roofline.figures.words import sig
from roofline.language import later, tr
from roofline.units import memory_size

_LOW, _FLAT = 0.2, 2.0
"""Share of all experts, and tokens of each, below which a number stands above its ring: below it is the axis."""
_NEAR = 0.05
"""Curves that differ by less than this share are drawn as one."""
_DASHES = (("7px,4px", later("dashed")), ("2px,3px", later("dotted")), ("8px,3px,2px,3px", later("dash and dot")))
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


@dataclass(frozen=True)
class Filling:
    """Where experts get enough to do."""

    tokens: float
    """That fill the arithmetic while one matrix is read."""
    saturating_tokens: float
    """Of a step, that give each expert as many."""


def cache_figure(found: Anatomy, marks: CacheMarks, look: Look) -> Spec:
    """Bytes of one sequence against its length; log on both axes."""
    curve, palette = found.cache, look.palette
    tokens = _list(curve.context_tokens)
    low, high = tokens[0], max(tokens[-1], float(marks.context_tokens))
    lines = [(tr("least needed"), curve.least_bytes, {"color": palette.kinds[0], "width": 2.75})]
    for i, (names, values) in enumerate(_reserved(found)):
        colour, (dash, _) = palette.kinds[1 + i % 3], _DASHES[i % len(_DASHES)]
        lines.append(
            (tr("reserved by {engines}", engines=", ".join(names)), values, {"color": colour, "width": 1.75, "dash": dash})
        )
    data = [line_trace(name, tokens, _list(values), line, "y", tr("tokens"), _size) for name, values, line in reversed(lines)]
    chosen = _kept(found)
    at_ring = tr("{n:,} tokens: {size}", n=marks.context_tokens, size=_size(chosen))
    data.append(ring(float(marks.context_tokens), chosen, at_ring, look, "y"))
    sizes = [v for _, column, _ in lines for v in _list(column) if v > 0] + [chosen]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = powers_axis(low, high, look, tr("Tokens of the sequence"), stride=2)
    top = max(sizes) * 3
    device = marks.device_bytes if marks.device_bytes < max(sizes) * _DEVICE_HEADROOM else None
    layout["yaxis"] = memory_axis(min(sizes) / 2, max(top, (device or 0.0) * 2.5), look)
    layout["shapes"] = _cache_shapes(marks, device, look)
    layout["annotations"] = _cache_words(marks, device, chosen, (low, high), look)
    return {"data": data, "layout": layout}


def cache_key(found: Anatomy) -> str:
    """Which line is which."""
    groups = _reserved(found)
    lines = [
        tr("{dash}: set aside by {engines}", dash=tr(_DASHES[i % len(_DASHES)][1]), engines=_all(names))
        for i, (names, _) in enumerate(groups)
    ]
    named = {name for names, _ in groups for name in names}
    plain = [name for name in found.cache.reserved_bytes if name not in named]
    return tr("One sequence. {lines}.", lines="; ".join([_solid(plain), *lines]))


def _solid(plain: Sequence[str]) -> str:
    """What the solid line is, with the engines that set aside about as much."""
    if not plain:
        return tr("Solid: what the mathematics needs")
    if len(plain) == 1:
        return tr("Solid: what the mathematics needs and about what {engine} sets aside", engine=plain[0])
    return tr("Solid: what the mathematics needs and about what {engines} set aside", engines=_all(plain))


def _all(names: Sequence[str]) -> str:
    return tr(" and ").join(filter(None, [", ".join(names[:-1]), names[-1]]))


def cache_alt(found: Anatomy, marks: CacheMarks) -> str:
    """The answer of the cache figure in one sentence."""
    engines = "; ".join(f"{', '.join(names)} {_size(values[-1])}" for names, values in _reserved(found))
    here = {"model": found.counts.name, "size": _size(_kept(found)), "n": marks.context_tokens}
    end = {"last": found.cache.context_tokens[-1], "least": _size(found.cache.least_bytes[-1])}
    if engines:
        return tr(
            "Cache against context of {model}: {size} for one sequence of {n:,} tokens; "
            "at {last:,.0f} tokens least {least}, reserved by {engines}.",
            **here,
            **end,
            engines=engines,
        )
    return tr(
        "Cache against context of {model}: {size} for one sequence of {n:,} tokens; "
        "at {last:,.0f} tokens least {least}, and engines reserve about that.",
        **here,
        **end,
    )


def experts_figure(curve: ExpertCurve, batch: float, look: Look, full: Filling | None = None) -> Spec:
    """Experts that a step touches, and tokens that each of them gets, over one log axis; and where each gets enough."""
    tokens, palette = _list(curve.tokens), look.palette
    touched, each = _list(curve.distinct), _list(curve.tokens_per_touched)
    at = int(np.argmin(np.abs(curve.tokens - batch)))
    styles = [{"color": colour, "width": 2.75} for colour in palette.kinds[:2]]
    first = tr("{n:,.0f} tokens: {experts} experts", n=batch, experts=sig(touched[at]))
    second = tr("{n:,.0f} tokens: {each} for each touched expert", n=batch, each=sig(each[at]))
    data = [
        line_trace(tr("experts touched"), tokens, touched, styles[0], "y", tr("tokens")),
        line_trace(tr("tokens per touched expert"), tokens, each, styles[1], "y2", tr("tokens")),
        ring(tokens[at], touched[at], first, look, "y"),
        ring(tokens[at], each[at], second, look, "y2"),
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = {**powers_axis(tokens[0], tokens[-1], look, tr("Tokens in a step"), stride=2), "anchor": "y2"}
    layout["yaxis"] = axis(look, range=[0, curve.total * 1.35], domain=list(TOP), nticks=5)
    top = max(each[-1], full.tokens if full else 0.0) * (3.0 if full else 1.6)
    layout["yaxis2"] = {**counts_axis(0.8, top, look), "domain": list(BOTTOM)}
    layout["shapes"] = [level(float(curve.total), "y", look), *([] if full is None else _full_shapes(full, look))]
    last = (tokens[0], tokens[-1])
    layout["annotations"] = [
        panel_name(tr("Experts touched, of {n:,}", n=curve.total), "y", look),
        panel_name(tr("Tokens per touched expert"), "y2", look),
        ring_word(tokens[at], touched[at], sig(touched[at]), last, look, "y", log_y=False, flip=touched[at] < _LOW * curve.total),
        ring_word(tokens[at], each[at], sig(each[at]), last, look, "y2", log_y=True, flip=each[at] < _FLAT),
        *([] if full is None else _full_words(full, look)),
    ]
    return {"data": data, "layout": layout}


def _full_shapes(full: Filling, look: Look) -> list[dict[str, Any]]:
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    at = full.saturating_tokens
    down = {"type": "line", "xref": "x", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": line}
    return [level(full.tokens, "y2", look), down]


def _full_words(full: Filling, look: Look) -> list[dict[str, Any]]:
    """Beside the lines: what an expert needs, and the tokens of a step that give it to each."""
    font, ground = {"size": look.tick_px, "color": look.palette.muted}, tint(look.palette.page, 0.75)
    common = {"showarrow": False, "font": font, "bgcolor": ground, "yanchor": "bottom"}
    enough = tr("enough: {tokens}", tokens=sig(full.tokens))
    return [
        {
            **common,
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "xshift": 8,
            "y": log10(full.tokens),
            "yref": "y2",
            "text": enough,
            "yanchor": "top",
        },
        {
            **common,
            "x": log10(full.saturating_tokens),
            "xanchor": "right",
            "xshift": -4,
            "y": 0,
            "yref": "y2 domain",
            "text": sig(full.saturating_tokens),
        },
    ]


def experts_alt(curve: ExpertCurve, batch: float) -> str:
    """The answer of the expert figure in one sentence."""
    at = int(np.argmin(np.abs(curve.tokens - batch)))
    return tr(
        "Experts touched against tokens in a step: {n:,.0f} tokens, each with {active:,} of {total:,} experts, "
        "touch {touched} of them; each touched one works for {each} tokens.",
        n=batch,
        active=curve.active,
        total=curve.total,
        touched=sig(curve.distinct[at]),
        each=sig(curve.tokens_per_touched[at]),
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
    return memory_size(float(value))


def _cache_shapes(marks: CacheMarks, device: float | None, look: Look) -> list[dict[str, Any]]:
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    at = marks.scenario_tokens
    shapes = [{"type": "line", "yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": at, "x1": at, "line": line}]
    return shapes if device is None else [*shapes, level(device, "y", look)]


def _cache_words(
    marks: CacheMarks, device: float | None, chosen: float, span: tuple[float, float], look: Look
) -> list[dict[str, Any]]:
    font = {"size": look.tick_px, "color": look.palette.muted}
    words = [ring_word(float(marks.context_tokens), chosen, _size(chosen), span, look, "y", log_y=True)]
    if span[0] <= marks.scenario_tokens <= span[1]:
        left = log10(marks.scenario_tokens / span[0]) / log10(span[1] / span[0]) > 0.5
        side = {"xanchor": "right" if left else "left", "xshift": -4 if left else 4, "yanchor": "bottom"}
        text = tr("this scenario: {n:,}", n=marks.scenario_tokens)
        words.append(
            {"x": log10(marks.scenario_tokens), "y": 0, "yref": "paper", "text": text, "showarrow": False, **side, "font": font}
        )
    if device is not None:
        place = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": 6, "yanchor": "bottom", "y": log10(device)}
        text = tr("memory of one {device}", device=safe(marks.device_name))
        ground = tint(look.palette.page, 0.75)
        words.append({**place, "yref": "y", "text": text, "showarrow": False, "font": font, "bgcolor": ground})
    return words
