"""Words and numbers that figures and pages share."""

from __future__ import annotations

import numpy as np

from roofline.answers.report import Bound
from roofline.language import later, localised, tr
from roofline.units import GIGA, KIBI, KILO, MEBI, MEGA, MILLI, TERA, duration, plain_number, significant, with_prefix

BOUND_WORDS: dict[Bound, str] = {
    "compute": later("compute"),
    "memory": later("memory bandwidth"),
    "network": later("network"),
    "host": later("host"),
    "latency": later("latency"),
}
"""To be translated where they are shown."""
_MOST_PREFIXED = 1e18
"""Above this, a power of ten says more than a prefix."""
_LONG = 10_000
_RATE_NAMES = {"fp16_acc16": later("FP16 with 16-bit sums")}


def operator_name(name: str) -> str:
    """An operator as people say it.

    >>> operator_name("experts/gate_up")
    'experts: gate up'
    """
    return name.replace("/", ": ").replace("_", " ")


def short_operator_name(name: str) -> str:
    """The same, short enough for a label.

    >>> short_operator_name("experts/gate_up"), short_operator_name("router")
    ('experts gate up', 'router')
    """
    return name.replace("/", " ").replace("_", " ")


def rate_name(dtype: str) -> str:
    """A number format whose peak rate is meant.

    >>> rate_name("bf16"), rate_name("fp16_acc16")
    ('BF16', 'FP16 with 16-bit sums')
    """
    return tr(_RATE_NAMES[dtype]) if dtype in _RATE_NAMES else dtype.upper()


def sig(value: object, digits: int = 3) -> str:
    """Three significant digits, of a scalar of any kind; ``n/a`` for what is not known.

    >>> sig(61.26), sig(None), sig(np.float64("nan"))
    ('61.3', 'n/a', 'n/a')
    """
    return "n/a" if value is None else significant(float(np.asarray(value, dtype=float)), digits)


def axis_number(value: float) -> str:
    """A tick: a short number with a letter for thousands.

    >>> axis_number(0.3), axis_number(300), axis_number(10_000), axis_number(2e9), axis_number(1e12), axis_number(2e-5)
    ('0.3', '300', '10k', '2bn', '1,000bn', '0.00002')
    """
    if value < KILO:
        return plain_number(value)
    if value < MEGA:
        return localised(f"{value / KILO:.3g}") + "k"
    if value < GIGA:
        return localised(f"{value / MEGA:.3g}") + "M"
    return tr("{number}bn", number=localised(f"{value / GIGA:.3g}" if value < TERA else f"{value / GIGA:,.0f}"))


def count_tick(value: float) -> str:
    """A tick of an axis of whole numbers; large powers of two as people say them.

    >>> count_tick(2048), count_tick(32_768), count_tick(2**20), count_tick(100_000), count_tick(2e9), count_tick(0.5)
    ('2,048', '32k', '1M', '100k', '2bn', '0.5')
    """
    if value < _LONG:
        return localised(f"{value:,g}")
    if value % MEBI == 0 and value < MEBI * KILO:
        return f"{value / MEBI:g}M"
    return f"{value / KIBI:g}k" if value % KIBI == 0 and value < MEBI else axis_number(value)


def rate_tick(flops_per_s: float) -> str:
    """A tick of a FLOP/s axis.

    >>> rate_tick(1e14), rate_tick(1e15)
    ('100 T', '1 P')
    """
    number, _, unit = with_prefix(flops_per_s, "F", 1).partition(" ")
    return f"{number} {unit.removesuffix('F')}".strip()


def scale_number(value: float) -> str:
    """A tick of an axis of any size.

    >>> scale_number(3e12), scale_number(0.03), scale_number(1e-9), scale_number(2e21)
    ('3T', '0.03', '1e-9', '2e21')
    """
    size = abs(value)
    if MILLI <= size < KILO or value == 0:
        return localised(f"{value:g}")
    if KILO <= size < _MOST_PREFIXED:
        number, _, letter = with_prefix(value, "", 1).partition(" ")
        return f"{number}{letter}"
    return localised(f"{value:.3g}".replace("e+", "e").replace("e-0", "e-"))


def quantity(value: float, unit: str) -> str:
    """A number with the unit that a formula's name claims.

    >>> quantity(3.35e12, "byte/s"), quantity(0.0042, "s"), quantity(0.25, "0 to 1"), quantity(163.3, "")
    ('3.35 TB/s', '4.20 ms', '0.250', '163')
    """
    if unit == "s" and value > 0:
        return duration(value)
    if unit.startswith(("FLOP", "byte")) and abs(value) >= 1:
        return with_prefix(value, unit.replace("byte", "B", 1))
    return significant(value) if unit == "0 to 1" else f"{significant(value)} {unit}".rstrip()
