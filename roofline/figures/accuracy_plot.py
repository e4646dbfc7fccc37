"""Expected against measured, row by row: rates beside times, each over its diagonal with factor-of-two guides."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from roofline.answers.accuracy import Point
from roofline.figures.labels import in_lines
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe, tint
from roofline.figures.words import axis_number, sig
from roofline.language import later, tr

HEIGHT_PX, COMPACT_HEIGHT_PX, COMPACT_PAIR_PX = 520, 440, 760
KIND_WORDS = {
    "decode_single": later("decode, one sequence"),
    "decode_batch": later("decode, batch"),
    "offline_throughput": later("offline throughput"),
    "prefill": later("prefill"),
    "server": later("server under load"),
}
RATE = "tokens/s"
"""Unit of the panel of rates; times are in seconds."""
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
_GUIDE = 2.0
"""How far apart the guides are from the diagonal, as a factor."""
_ROOM = 1.35
"""Factor between the outermost point and the frame."""
_SHARE_OF_RATES = 0.6
"""Of the width, where times stand beside rates."""
_GAP = 0.1
_NAME_CHARACTERS = 60
_LEAST_DECADES = 1.0
_NARROW_PX = 112.0
"""What the smaller of two panels has for a line of words."""
Pair = tuple[float, float]


def accuracy_figure(shown: Sequence[Point], own: Sequence[Point], look: Look) -> Spec:
    """Every row that counts: expected against measured, log on both axes, colour and sign by kind; one's own on top."""
    rates = [p for p in shown if p.row.is_rate], [p for p in own if p.row.is_rate]
    times = [p for p in shown if not p.row.is_rate], [p for p in own if not p.row.is_rate]
    panels = [panel for panel in ((rates, RATE), (times, "s")) if panel[0][0] or panel[0][1]]
    pair = len(panels) > 1
    height = (COMPACT_PAIR_PX if pair else COMPACT_HEIGHT_PX) if look.compact else HEIGHT_PX
    layout = base_layout(look, height=height)
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    named: set[str] = set()
    for n, ((public, mine), unit) in enumerate(panels):
        ends = _ends([*public, *mine])
        suffix = "" if n == 0 else "2"
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        data += [_guide(ends, axes, look), _diagonal(ends, axes, look), *_kinds(public, unit, axes, named, look)]
        data += _mine(mine, unit, axes, named, look)
        across, up = _domains(n, pair, look)
        first = tr("Tokens per second, measured") if unit == RATE else tr("Seconds, measured")
        layout[f"xaxis{suffix}"] = _axis(ends, look, domain=list(across), anchor=f"y{suffix}", title=axis_title(look, first))
        layout[f"yaxis{suffix}"] = _axis(ends, look, domain=list(up), anchor=f"x{suffix}", title=axis_title(look, tr("Expected")))
        notes += _guide_words(axes, unit, look, narrow=pair and not look.compact)
    layout["annotations"] = notes
    layout["showlegend"] = True
    layout["legend"] = _legend(look)
    layout["margin"] = {**layout["margin"], "t": 40 if not look.compact else 96, "l": 62}
    return {"data": data, "layout": layout}


def accuracy_alt(shown: Sequence[Point], own: Sequence[Point], summary: str) -> str:
    """The answer of the figure in one sentence."""
    if not own:
        return tr(
            "Expected against measured for {n:,} public measurements, on log axes with the diagonal: {summary}",
            n=len(shown),
            summary=summary,
        )
    return tr(
        "Expected against measured for {n:,} public measurements and {own:,} of your own, "
        "on log axes with the diagonal: {summary}",
        n=len(shown),
        own=len(own),
        summary=summary,
    )


def _domains(n: int, pair: bool, look: Look) -> tuple[Pair, Pair]:
    """Where a panel stands: side by side, or one above the other on a phone."""
    if not pair:
        return (0.0, 1.0), (0.0, 1.0)
    if look.compact:
        return (0.0, 1.0), ((0.56, 1.0) if n == 0 else (0.0, 0.4))
    return ((0.0, _SHARE_OF_RATES - _GAP / 2) if n == 0 else (_SHARE_OF_RATES + _GAP / 2, 1.0)), (0.0, 1.0)


def _ends(found: Sequence[Point]) -> Pair:
    """The common range of both axes."""
    values = [value for point in found for value in (point.measured, point.expected)]
    low, high = min(values) / _ROOM, max(values) * _ROOM
    spare = max(0.0, _LEAST_DECADES - log10(high / low)) / 2.0
    return low / 10**spare, high * 10**spare


def _axis(ends: Pair, look: Look, **own: object) -> dict[str, Any]:
    low, high = ends
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1.0,) if high / low > 10**2.5 else (1.0, 3.0)
    ticks = [f * 10.0**p for p in decades for f in steps if low <= f * 10.0**p <= high]
    text = [axis_number(t) for t in ticks]
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=ticks, ticktext=text, **own)


def _guide(ends: Pair, axes: dict[str, str], look: Look) -> dict[str, Any]:
    """Within a factor of two."""
    low, high = ends
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high, high, low],
        "y": [low / _GUIDE, high / _GUIDE, high * _GUIDE, low * _GUIDE],
        "fill": "toself",
        "fillcolor": tint(look.palette.muted, 0.1),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "name": tr("factor of two"),
        **axes,
    }


def _diagonal(ends: Pair, axes: dict[str, str], look: Look) -> dict[str, Any]:
    line = {"color": look.palette.muted, "width": 1.5, "dash": "5px,4px"}
    name = tr("expected as measured")
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(ends),
        "y": list(ends),
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
        "name": name,
        **axes,
    }


def _kinds(found: Sequence[Point], unit: str, axes: dict[str, str], named: set[str], look: Look) -> list[dict[str, Any]]:
    """One trace for each kind, each named once in the legend."""
    colours = (*look.palette.kinds, look.palette.muted)
    traces = []
    for (kind, words), colour, symbol in zip(KIND_WORDS.items(), colours, _SYMBOLS, strict=True):
        group = [point for point in found if point.row.kind == kind]
        if not group:
            continue
        marker = {"size": 6 if look.compact else 7, "symbol": symbol, "color": tint(colour, 0.62), "line": {"width": 0}}
        traces.append({**_trace(group, unit, axes, tr(words), marker), "legendgroup": kind, "showlegend": kind not in named})
        named.add(kind)
    return traces


def _mine(found: Sequence[Point], unit: str, axes: dict[str, str], named: set[str], look: Look) -> list[dict[str, Any]]:
    """One's own rows, above all others."""
    if not found:
        return []
    line = {"color": look.palette.page, "width": 1.5}
    marker = {"size": 15, "symbol": "star", "color": look.palette.text, "line": line}
    trace = {**_trace(found, unit, axes, tr("yours"), marker), "legendgroup": "yours", "showlegend": "yours" not in named}
    named.add("yours")
    return [trace]


def _trace(found: Sequence[Point], unit: str, axes: dict[str, str], name: str, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [point.measured for point in found],
        "y": [point.expected for point in found],
        "text": [_hover(point, unit) for point in found],
        "hovertemplate": "%{text}<extra></extra>",
        "name": name,
        "marker": marker,
        **axes,
    }


def _hover(point: Point, unit: str) -> str:
    """A row in six lines; names are escaped."""
    row = point.row
    count = f"{row.devices} × " if row.devices not in ("", "1") else ""
    measured, expected, limit = (_valued(value, unit) for value in (point.measured, point.expected, point.limit))
    lines = (
        tr(
            "<b>{model}</b> on {machine}, {engine}",
            model=_name(row.model),
            machine=_name(count + row.hardware),
            engine=_name(row.engine),
        ),
        tr(
            "{weights} weights, batch {batch}, {input} in / {output} out",
            weights=_name(row.weights),
            batch=_name(row.batch),
            input=_name(row.input_length),
            output=_name(row.output_length),
        ),
        tr("measured {value}", value=measured),
        tr("expected {value} ({error:+.0%}), limit {limit}", value=expected, error=row.error or 0.0, limit=limit),
        f"{_name(row.source)} · {_name(row.id)}",
    )
    return "<br>".join(lines)


def _valued(value: float, unit: str) -> str:
    return tr("{rate} tokens/s", rate=sig(value)) if unit == RATE else f"{sig(value)} {unit}"


def _name(text: str) -> str:
    """A text of a table, short and harmless."""
    return safe(text if len(text) <= _NAME_CHARACTERS else f"{text[: _NAME_CHARACTERS - 1]}…") or tr("not said")


def _guide_words(axes: dict[str, str], unit: str, look: Look, *, narrow: bool) -> list[dict[str, Any]]:
    """What lies above and below the diagonal, in the corners; in lines where a panel is narrow."""
    font = {"size": look.tick_px, "color": look.palette.muted}
    fast, slow = tr("predicted faster than measured"), tr("predicted slower than measured")
    if narrow:
        fast, slow = (in_lines(text, _NARROW_PX, look.tick_px) for text in (fast, slow))
    above, below = (fast, slow) if unit == RATE else (slow, fast)
    common = {"showarrow": False, "font": font, "xref": f"{axes['xaxis']} domain", "yref": f"{axes['yaxis']} domain"}
    upper = {
        **common,
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": 6,
        "yshift": -4,
        "text": above,
        "align": "left",
    }
    lower = {
        **common,
        "x": 1,
        "y": 0,
        "xanchor": "right",
        "yanchor": "bottom",
        "xshift": -6,
        "yshift": 4,
        "text": below,
        "align": "right",
    }
    return [upper, lower]


def _legend(look: Look) -> dict[str, Any]:
    font = {"size": look.font_px, "color": look.palette.text}
    place = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    return {**place, "font": font, "bgcolor": "rgba(0,0,0,0)", "itemsizing": "constant"}
