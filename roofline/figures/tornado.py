"""What moves an answer most: one bar an assumption, the widest on top."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isclose, log10
from typing import Any

from roofline.answers.sensitivity import OF_THE_TIME, Sensitivity, Swing
from roofline.figures.labels import text_width
from roofline.figures.theme import Look, Spec, axis, axis_title, base_layout, safe
from roofline.figures.words import axis_number, sig
from roofline.language import later, localised, tr

MOST_BARS = 10
_ROW_PX, _AROUND_PX = 34, 76
_PLOT_PX, _COMPACT_PLOT_PX = 300, 190
"""About what is left of the width for bars and the words at their ends."""
_LEAST_BAR_FRAC = 0.3
"""Of that width, however long the words."""
_MANY = 10_000
_TICKS = 4
_SAME = 1e-9
_OTHER = {"low": "high", "high": "low"}
_ENDS = {"low": later("low end"), "high": later("high end")}
_LONGEST_NAME = 26
_LONGEST_UNIT = len("tokens/s")
_SHORT_UNITS = {"USD per kW and month": "USD/kW", "ratio": ""}
"""Units as the end of a bar has them; others that are too long for it are left out."""


def tornado_figure(found: Sensitivity, look: Look) -> Spec:
    """The answer where every assumption is at the low and at the high end of its range, the others held."""
    swings = found.swings[:MOST_BARS]
    centre = found.value or 0.0
    names = [safe(_short(swing.name)) for swing in swings]
    palette = look.palette
    span = _span(swings, centre, look)
    layout = base_layout(look, height=_AROUND_PX + _ROW_PX * max(1, len(swings)), left=_left(names, look))
    layout["margin"] = {**layout["margin"], "l": _left(names, look), "t": 8}
    layout["barmode"] = "overlay"
    layout["bargap"] = 0.34
    title = axis_title(look, ", ".join(filter(None, (f"{found.answer[:1].upper()}{found.answer[1:]}", found.unit))))
    layout["xaxis"] = axis(look, range=list(span), title=title, **_ticks(span, swings, centre))
    layout["yaxis"] = axis(look, autorange="reversed", showgrid=False, ticks="", fixedrange=True)
    layout["yaxis"]["tickfont"] = {"size": look.font_px, "color": palette.text}
    layout["shapes"] = [
        {
            "type": "line",
            "x0": centre,
            "x1": centre,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": palette.text, "width": 1.5},
        }
    ]
    data = [
        _bars(swings, names, centre, "low", palette.kinds[0], look),
        _bars(swings, names, centre, "high", palette.kinds[1], look),
    ]
    return {"data": data, "layout": layout}


def tornado_alt(found: Sensitivity) -> str:
    """The answer of the figure in one sentence."""
    if not found.swings:
        return tr("Nothing that is assumed moves the {answer}.", answer=found.answer)
    first, *rest = found.swings[:MOST_BARS]
    words = tr(
        "{name} moves the {answer} most: {at_low} at {low} {unit}, {at_high} at {high}.",
        name=f"{first.name[:1].upper()}{first.name[1:]}",
        answer=found.answer,
        at_low=f"{sig(first.at_low)} {found.unit}".strip(),
        low=sig(first.low),
        unit=tr(first.unit),
        at_high=f"{sig(first.at_high)} {found.unit}".strip(),
        high=sig(first.high),
    )
    more = ", ".join(swing.name for swing in rest)
    return f"{words} {tr('Then: {more}.', more=more)}" if more else words


def _span(swings: Sequence[Swing], centre: float, look: Look) -> tuple[float, float]:
    """The axis: all bars, and room on both sides for the words at their ends."""
    ends = [(getattr(swing, f"at_{end}"), _end_words(swing, end, centre)) for swing in swings for end in ("low", "high")]
    values = [value for value, _ in ends] or [centre]
    low, high = min(*values, centre), max(*values, centre)
    width = _COMPACT_PLOT_PX if look.compact else _PLOT_PX
    words = [[f"{text} " for value, text in ends if below == (value < centre)] or [" "] for below in (True, False)]
    lengths = (max(text_width(text, look.tick_px) for text in texts) for texts in words)
    left, right = (min((1.0 - _LEAST_BAR_FRAC) / 2.0, length / width) for length in lengths)
    scale = (high - low or abs(centre) or 1.0) / (1.0 - left - right)
    return low - left * scale, high + right * scale


def _ticks(span: tuple[float, float], swings: Sequence[Swing], centre: float) -> dict[str, Any]:
    """A handful of round numbers; none below nought where no answer is."""
    low, high = span
    floor_at = low if min((centre, *(min(s.at_low, s.at_high) for s in swings))) < 0.0 else max(0.0, low)
    rough = (high - low) / _TICKS
    step = min((f * 10.0 ** floor(log10(rough)) for f in (1, 2, 5, 10)), key=lambda f: abs(f - rough))
    values = [n * step for n in range(ceil(floor_at / step), floor(high / step) + 1)]
    return {"tickvals": values, "ticktext": [axis_number(value) if value >= 0.0 else sig(value) for value in values]}


def _left(names: Sequence[str], look: Look) -> int:
    return 14 + round(max((text_width(name, look.font_px) for name in names), default=0.0))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _bars(swings: Sequence[Swing], names: Sequence[str], centre: float, end: str, colour: str, look: Look) -> dict[str, Any]:
    """From the answer to where one end of each range takes it."""
    values = [getattr(swing, f"at_{end}") for swing in swings]
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(names),
        "x": [value - centre for value in values],
        "base": [centre] * len(values),
        "name": tr(_ENDS[end]),
        "marker": {"color": colour, "line": {"width": 0}},
        "text": [_end_words(swing, end, centre) for swing in swings],
        "textposition": "outside",
        "textfont": {"size": look.tick_px, "color": look.palette.muted},
        "cliponaxis": False,
        "hovertext": [_hover(swing, end) for swing in swings],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _end_words(swing: Swing, end: str, centre: float) -> str:
    """The assumption's value at one end; nothing where the answer stays, and both values at the further of two on one side."""
    here, other = getattr(swing, f"at_{end}"), getattr(swing, f"at_{_OTHER[end]}")
    if _stays(here, centre):
        return ""
    if _stays(other, centre) or (here < centre) != (other < centre):
        return _value_words(swing, end)
    if (abs(here - centre), end) < (abs(other - centre), _OTHER[end]):
        return ""
    return tr("{low} to {high}", low=_number(swing.low), high=_value_words(swing, "high"))


def _stays(answer: float, centre: float) -> bool:
    """Whether an answer is the usual one, rounding apart."""
    return isclose(answer, centre, rel_tol=_SAME)


def _value_words(swing: Swing, end: str) -> str:
    value = getattr(swing, end)
    if swing.unit == OF_THE_TIME:
        return localised(f"{value:.0%}")
    return f"{_number(value)} {_unit(swing.unit)}".strip()


def _number(value: float) -> str:
    return axis_number(value) if value >= _MANY else sig(value)


def _unit(unit: str) -> str:
    short = _SHORT_UNITS.get(unit, unit)
    return safe(tr(short)) if len(short) <= _LONGEST_UNIT else ""


def _hover(swing: Swing, end: str) -> str:
    name, unit, source = (safe(text) for text in (swing.name, tr(swing.unit), swing.source[:120]))
    return tr(
        "<b>{name}</b><br>{given} {unit} instead of {usual}<br>answer {answer}<br>{source}",
        name=name,
        given=sig(getattr(swing, end)),
        unit=unit,
        usual=sig(swing.value),
        answer=sig(getattr(swing, f"at_{end}")),
        source=source,
    )
