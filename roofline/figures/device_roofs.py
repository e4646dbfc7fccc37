"""Up to four devices on one roofline: the bandwidth and the peak of each at one number format."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any

from roofline.answers.browse import Roof
from roofline.figures.lines import decades
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe
from roofline.figures.words import axis_number, rate_name, rate_tick, sig
from roofline.language import tr
from roofline.units import with_prefix

HEIGHT_PX, COMPACT_HEIGHT_PX = 440, 380
LETTERS = "ABCD"
MARKS = ("●", "■", "◆", "▲")
DASHES = ("solid", "9px,5px", "2px,3px", "9px,4px,2px,4px")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_LEFT, _RIGHT, _ABOVE, _BELOW = 100.0, 40.0, 2.2, 1.5
"""Factors past the outermost ridges and the highest peak."""
_CLOSE = 1.5
"""Roofs nearer than this factor leave no room for a letter between them."""


def roofs_figure(roofs: Sequence[Roof], look: Look) -> Spec:
    """Each device as one bent line with its letter and, at the bend, its mark; log on both axes."""
    left = min(roof.ridge_flops_per_byte for roof in roofs) / _LEFT
    right = max(roof.ridge_flops_per_byte for roof in roofs) * _RIGHT
    bottom = min(roof.bandwidth_bytes_per_s for roof in roofs) * left / _BELOW
    top = max(roof.peak_flops_per_s for roof in roofs) * _ABOVE
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    title = axis_title(look, tr("FLOP per byte of memory traffic"))
    across = decades(left, right, (1,) if look.compact else (1, 3))
    up = decades(bottom, top, (1,))
    layout["xaxis"] = axis(
        look,
        type="log",
        range=[log10(left), log10(right)],
        tickvals=across,
        ticktext=[axis_number(t) for t in across],
        title=title,
    )
    layout["yaxis"] = axis(
        look,
        type="log",
        range=[log10(bottom), log10(top)],
        tickvals=up,
        ticktext=[rate_tick(t) for t in up],
        title=axis_title(look, "" if look.compact else tr("FLOP/s per device")),
    )
    layout["annotations"] = [_letter(i, roofs, (left, right), look) for i in range(len(roofs))]
    data = [trace for i, roof in enumerate(roofs) for trace in (_line(i, roof, left, right, look), _ridge(i, roof, look))]
    return {"data": data, "layout": layout}


def roofs_alt(roofs: Sequence[Roof], dtype: str) -> str:
    """The answer of the figure in one sentence."""
    parts = [
        f"{letter} {roof.name}: {', '.join((*_rates(roof), _ridge_words(roof)))}"
        for letter, roof in zip(LETTERS, roofs, strict=False)
    ]
    return tr("Rooflines at {rate}. {devices}.", rate=rate_name(dtype), devices="; ".join(parts))


def _rates(roof: Roof) -> tuple[str, str]:
    return with_prefix(roof.peak_flops_per_s, "FLOP/s"), with_prefix(roof.bandwidth_bytes_per_s, "B/s")


def _ridge_words(roof: Roof) -> str:
    return tr("ridge at {ridge} FLOP per byte", ridge=sig(roof.ridge_flops_per_byte))


def _line(i: int, roof: Roof, left: float, right: float, look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{LETTERS[i]} {safe(roof.name)}",
        "x": [left, roof.ridge_flops_per_byte, right],
        "y": [left * roof.bandwidth_bytes_per_s, roof.peak_flops_per_s, roof.peak_flops_per_s],
        "line": {"color": look.palette.kinds[i], "width": 2.5, "dash": DASHES[i]},
        "hovertemplate": f"{safe(roof.name)}<br>{', '.join(_rates(roof))}<extra></extra>",
    }


def _ridge(i: int, roof: Roof, look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": tr("ridge of {device}", device=safe(roof.name)),
        "x": [roof.ridge_flops_per_byte],
        "y": [roof.peak_flops_per_s],
        "marker": {
            "symbol": _SYMBOLS[i],
            "size": 11,
            "color": look.palette.kinds[i],
            "line": {"color": look.palette.page, "width": 1.5},
        },
        "hovertemplate": f"{safe(roof.name)}<br>{_ridge_words(roof)}<extra></extra>",
    }


def _letter(i: int, roofs: Sequence[Roof], span: tuple[float, float], look: Look) -> dict[str, Any]:
    """The device's letter on its flat roof, under it where another roof is close above; each at a place of its own."""
    place = 0.98 - 0.055 * i * (1.4 if look.compact else 1.0)
    peak = roofs[i].peak_flops_per_s
    below = any(1.0 < roof.peak_flops_per_s / peak < _CLOSE for roof in roofs)
    return {
        "x": log10(span[0]) + place * log10(span[1] / span[0]),
        "y": log10(peak),
        "text": f"<b>{LETTERS[i]}</b>",
        "showarrow": False,
        "yanchor": "top" if below else "bottom",
        "yshift": -2 if below else 2,
        "font": {"size": look.font_px, "color": look.palette.text},
    }
