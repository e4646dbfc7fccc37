"""Weights read for each token: a mixture of experts against dense models of its active and of its total size."""

from __future__ import annotations

from math import log10
from typing import Any

from roofline.answers.experts import Mixture
from roofline.figures.lines import COMPACT_HEIGHT_PX, HEIGHT_PX, bytes_axis, line_trace, powers_axis, ring, ring_word
from roofline.figures.theme import Look, Spec, axis_title, base_layout, tint
from roofline.figures.words import sig
from roofline.language import later, tr
from roofline.units import with_prefix

_APART = 1.5
"""Where both lines are nearer than this factor, one number says it."""
_NAMES = (later("this model"), later("dense, same active size"), later("dense, same total size"))
_DASHES = (None, "7px,4px", "2px,3px")


def reads_figure(found: Mixture, look: Look) -> Spec:
    """Three lines over the tokens of a step, log on both axes; the scenario's step is ringed on the first two."""
    tokens = [float(v) for v in found.curve.tokens]
    names = [tr(name) for name in _NAMES]
    columns = (found.reads.experts, found.reads.same_active, found.reads.same_total)
    lines = [[float(v) for v in column] for column in columns]
    data: list[dict[str, Any]] = [
        line_trace(name, tokens, values, _pen(i, look), "y", tr("tokens"), _size)
        for i, (name, values) in enumerate(zip(names, lines, strict=True))
    ]
    at = tokens.index(found.met)
    for values, name in zip(lines[:2], names, strict=False):
        text = tr("{name}, {tokens:,.0f} tokens: {size} a token", name=name, tokens=found.met, size=_size(values[at]))
        data.append(ring(found.met, values[at], text, look, "y"))
    named = lines[:2] if found.read_ratio > _APART else lines[:1]
    span = (tokens[0], tokens[-1])
    low, high = min(lines[1]) / 2.0, max(lines[2]) * 2.0
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = powers_axis(*span, look, tr("Tokens in a step"), stride=2)
    title = "" if look.compact else tr("Weights read per token")
    layout["yaxis"] = {**bytes_axis(low, high, look), "title": axis_title(look, title)}
    line = {"color": look.palette.muted, "width": 1, "dash": "1px,3px"}
    up = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "xref": "x", "line": line}
    layout["shapes"] = [{**up, "x0": found.saturating_tokens, "x1": found.saturating_tokens}]
    layout["annotations"] = [
        *(ring_word(found.met, values[at], _size(values[at]), span, look, "y", log_y=True, flip=True) for values in named),
        _critical(found, look),
    ]
    return {"data": data, "layout": layout}


def reads_alt(found: Mixture) -> str:
    """The answer of the figure in one sentence."""
    at = list(found.curve.tokens).index(found.met)
    return tr(
        "Weights read per token against tokens in a step: at {tokens:,.0f} tokens {size}, "
        "{ratio} times as much as a dense model of the same active size; "
        "the gap is widest, {worst} times, at {worst_tokens:,.0f} tokens.",
        tokens=found.met,
        size=_size(float(found.reads.experts[at])),
        ratio=sig(found.read_ratio),
        worst=sig(found.worst_ratio),
        worst_tokens=found.worst_tokens,
    )


def _pen(i: int, look: Look) -> dict[str, Any]:
    dash = _DASHES[i]
    return {"color": look.palette.kinds[i], "width": 2.75 if i == 0 else 2.0, **({"dash": dash} if dash else {})}


def _critical(found: Mixture, look: Look) -> dict[str, Any]:
    place = {"x": log10(found.saturating_tokens), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top", "xshift": -4}
    font = {"size": look.tick_px, "color": look.palette.muted}
    text = tr("critical batch {tokens}", tokens=sig(found.saturating_tokens))
    return {**place, "text": text, "showarrow": False, "font": font, "bgcolor": tint(look.palette.page, 0.75)}


def _size(value: float) -> str:
    return with_prefix(float(value), "B")
