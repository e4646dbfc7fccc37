"""Parts that line figures over a log axis share: curves, the chosen point and its number, panel names, axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log2, log10
from typing import Any

from roofline.figures.theme import Look, axis, axis_title, safe, tint
from roofline.figures.words import axis_number, sig
from roofline.language import localised, tr
from roofline.units import memory_size, with_prefix

HEIGHT_PX, COMPACT_HEIGHT_PX = 400, 360
_MOST_TICKS = 7
TOP, BOTTOM = (0.55, 1.0), (0.0, 0.45)
"""Where two panels over one axis stand, from 0 to 1."""


def line_trace(
    name: str, x: list[float], y: list[float], line: dict[str, Any], yaxis: str, unit: str, shown: Callable[[float], str] = sig
) -> dict[str, Any]:
    """A line whose every point says its name and value."""
    text = [f"{safe(name)}<br>{localised(f'{a:,.0f}')} {unit}: {shown(b)}" for a, b in zip(x, y, strict=True)]
    trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "yaxis": yaxis, "name": safe(name), "line": line}
    return {**trace, "text": text, "hovertemplate": "%{text}<extra></extra>"}


def ring(x: float, y: float, text: str, look: Look, yaxis: str) -> dict[str, Any]:
    """The chosen point."""
    marker = {"size": 12, "color": look.palette.page, "line": {"color": look.palette.text, "width": 2.5}}
    point = {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "yaxis": yaxis,
        "name": tr("chosen"),
        "marker": marker,
        "cliponaxis": False,
    }
    return {**point, "text": [text], "hovertemplate": "%{text}<extra></extra>"}


def ring_word(
    x: float,
    y: float,
    text: str,
    span: tuple[float, float],
    look: Look,
    yaxis: str,
    *,
    log_y: bool,
    flip: bool = False,
) -> dict[str, Any]:
    """The number at a ring, on the side that has room: clear of a rising line, or flipped, of a falling one."""
    left = log10(x / span[0]) / log10(span[1] / span[0]) > 0.5
    return {
        "x": log10(x),
        "y": log10(y) if log_y else y,
        "yref": yaxis,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "xanchor": "right" if left else "left",
        "xshift": -10 if left else 10,
        "yshift": 13 if left != flip else -13,
        "bgcolor": tint(look.palette.page, 0.75),
        "font": {"size": 13 if look.compact else 14, "color": look.palette.text},
    }


def panel_name(text: str, yaxis: str, look: Look) -> dict[str, Any]:
    """The name of a panel, inside its top left corner."""
    place = {"xref": "paper", "yref": f"{yaxis} domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "xshift": 8}
    return {**place, "text": f"<b>{text}</b>", "showarrow": False, "font": {"size": look.font_px, "color": look.palette.text}}


def level(value: float, yaxis: str, look: Look) -> dict[str, Any]:
    """A dashed line across a panel."""
    line = {"color": look.palette.muted, "width": 1.5, "dash": "5px,4px"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": yaxis, "y0": value, "y1": value, "line": line}


def powers_axis(low: float, high: float, look: Look, title: str, *, stride: int) -> dict[str, Any]:
    """A log axis with ticks at powers of two."""
    first, last = ceil(log2(low)), floor(log2(high))
    step = stride * (2 if look.compact else 1)
    ticks = [2.0**k for k in range(first, last + 1, step)]
    return axis(
        look,
        type="log",
        range=[log10(low / 1.15), log10(high * 1.15)],
        tickvals=ticks,
        ticktext=[localised(f"{t:,.0f}") if t < 10_000 else _binary(t) for t in ticks],
        title=axis_title(look, title),
    )


def _binary(tokens: float) -> str:
    """Powers of two as people say them: 32k, 1M."""
    return f"{tokens / 2**20:.0f}M" if tokens >= 2**20 else f"{tokens / 2**10:.0f}k"


def bytes_axis(low: float, high: float, look: Look) -> dict[str, Any]:
    """A log axis of sizes."""
    ticks = decades(low, high, (1, 3) if high / low < 1e3 else (1,))
    return axis(
        look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=[with_prefix(t, "B", 1) for t in ticks]
    )


def memory_axis(low: float, high: float, look: Look) -> dict[str, Any]:
    """A log axis of sizes of memory, at powers of two."""
    first, last = ceil(log2(low)), floor(log2(high))
    stride = max(1, ceil((last - first + 1) / _MOST_TICKS))
    ticks = [2.0**p for p in range(first, last + 1) if p % stride == 0]
    words = [memory_size(tick).replace(".00", "").replace(".0", "") for tick in ticks]
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=words)


def counts_axis(low: float, high: float, look: Look) -> dict[str, Any]:
    """A log axis of counts."""
    ticks = decades(low, high, (1, 3) if high / low < 1e3 else (1,))
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=[axis_number(t) for t in ticks])


def decades(low: float, high: float, steps: Sequence[int]) -> list[float]:
    """Ticks at powers of ten, times each step."""
    found = [f * 10.0**p for p in range(floor(log10(low)), ceil(log10(high)) + 1) for f in steps]
    return [t for t in found if low <= t <= high]
