"""A formula's result against one of its inputs."""

from __future__ import annotations

from math import isfinite, log10
from typing import Any

from roofline.answers.formula_curve import FormulaCurve
from roofline.answers.formulary import plain_name, unit_words
from roofline.figures.lines import COMPACT_HEIGHT_PX, HEIGHT_PX, decades, ring, ring_word
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout
from roofline.figures.words import quantity, scale_number
from roofline.language import tr

_LOG_FROM = 8.0
"""Results that spread by more than this factor stand on a logarithmic axis."""
_TICKS = ((1, 2, 5), (1, 3), (1,))
_MOST_TICKS, _MOST_COMPACT_TICKS = 9, 6


def formula_figure(curve: FormulaCurve, look: Look) -> Spec:
    """The curve with the chosen input on it; the input's axis is logarithmic."""
    x, y = _points(curve)
    at = x.index(curve.at)
    log_y = _is_log([v for v in y if v is not None])
    palette, unit = look.palette, curve.formula.unit
    words = [_words(curve, a, b) for a, b in zip(x, y, strict=True)]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": curve.formula.name,
            "x": x,
            "y": y,
            "line": {"color": palette.kinds[0], "width": 2.75},
            "text": words,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = _log_axis(x[0], x[-1], look, _axis_words(plain_name(curve.parameter.name), curve.parameter.unit))
    layout["yaxis"] = _result_axis(
        [v for v in y if v is not None],
        look,
        "" if look.compact else _axis_words(plain_name(curve.formula.name), unit),
        log_y=log_y,
    )
    chosen = y[at]
    if chosen is not None:
        data.append(ring(curve.at, chosen, words[at], look, "y"))
        span = (x[0] / 1.001, x[-1])
        ends = [v for v in y if v is not None]
        falls = ends[0] > ends[-1]
        layout["annotations"] = [ring_word(curve.at, chosen, quantity(chosen, unit), span, look, "y", log_y=log_y, flip=falls)]
    return {"data": data, "layout": layout}


def formula_alt(curve: FormulaCurve) -> str:
    """The answer of the figure in one sentence."""
    x, y = _points(curve)
    shown = {a: b for a, b in zip(x, y, strict=True) if b is not None}
    name, against = curve.formula.name, plain_name(curve.parameter.name)
    if not shown:
        return tr("{formula} has no finite value along {input}.", formula=name, input=curve.parameter.name)
    parts = ", ".join(
        tr("{result} at {input}", result=_result(curve, shown[a]), input=_input(curve, a))
        for a in dict.fromkeys((min(shown), max(shown)))
    )
    if curve.at in shown:
        chosen = {"result": _result(curve, shown[curve.at]), "input": _input(curve, curve.at)}
        parts += f"; {tr('{result} at the chosen {input}', **chosen)}"
    return tr("{formula} against {input}: {results}.", formula=name, input=against, results=parts)


def _points(curve: FormulaCurve) -> tuple[list[float], list[float | None]]:
    results = [float(v) for v in curve.results]
    return [float(v) for v in curve.inputs], [v if isfinite(v) else None for v in results]


def _is_log(values: list[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > _LOG_FROM * min(values)


def _words(curve: FormulaCurve, at: float, result: float | None) -> str:
    return f"{_input(curve, at)}: {tr('no value') if result is None else _result(curve, result)}"


def _input(curve: FormulaCurve, value: float) -> str:
    return f"{plain_name(curve.parameter.name)} {quantity(value, curve.parameter.unit)}"


def _result(curve: FormulaCurve, value: float) -> str:
    return quantity(value, curve.formula.unit)


def _axis_words(name: str, unit: str) -> str:
    return f"{name} ({unit_words(unit)})" if unit else name


def _ticks(low: float, high: float, look: Look) -> list[float]:
    """As many round numbers as there is room for."""
    most = _MOST_COMPACT_TICKS if look.compact else _MOST_TICKS
    found = [decades(low, high, steps) for steps in _TICKS]
    fewest = found[-1][:: 1 + len(found[-1]) // most]
    return next((ticks for ticks in found if len(ticks) <= most), fewest)


def _log_axis(low: float, high: float, look: Look, title: str) -> dict[str, Any]:
    ticks = _ticks(low, high, look)
    span = [log10(low), log10(high)]
    text = [scale_number(t) for t in ticks]
    return axis(look, type="log", range=span, tickvals=ticks, ticktext=text, title=axis_title(look, title))


def _result_axis(values: list[float], look: Look, title: str, *, log_y: bool) -> dict[str, Any]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if log_y:
        return _log_axis(low / 1.5, high * 2.0, look, title)
    room = 0.18 * (high - min(low, 0.0)) or 1.0
    span = [min(low, 0.0) - (room if low < 0 else 0.0), max(high, 0.0) + room]
    return axis(look, range=span, nticks=5, tickformat=".3~s" if high >= 1e4 else ".3~g", title=axis_title(look, title))
