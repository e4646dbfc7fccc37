"""The only place where prefixes become numbers: a unit table for facts, and display of numbers for people."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context
from math import isfinite, log10
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from roofline.language import chosen, later, localised, tr

Floats = float | NDArray[np.float64]
"""A scalar or an array that broadcasts: the only numeric type inside the library."""

Unit = Literal[
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB",
    "GB/s", "TB/s", "Gbit/s",
    "GFLOP/s", "TFLOP/s", "PFLOP/s", "TOP/s",
    "us", "ms", "s",
    "W", "kW",
    "USD", "USD/h",
    "1",
]  # fmt: skip

KILO, MEGA, GIGA, TERA, PETA = 1e3, 1e6, 1e9, 1e12, 1e15
KIBI, MEBI, GIBI, TEBI = 2.0**10, 2.0**20, 2.0**30, 2.0**40
MILLI, MICRO = 1e-3, 1e-6
BITS_PER_BYTE = 8.0
SECONDS_PER_HOUR = 3600.0
HOURS_PER_YEAR = 8766.0
HOURS_PER_DAY, SECONDS_PER_DAY, MONTHS_PER_YEAR = 24.0, 86400.0, 12.0
PER_MILLION = 1e6

_TO_BASE: dict[str, float] = {
    "B": 1.0, "kB": KILO, "MB": MEGA, "GB": GIGA, "TB": TERA, "KiB": KIBI, "MiB": MEBI, "GiB": GIBI, "TiB": TEBI,
    "GB/s": GIGA, "TB/s": TERA, "Gbit/s": GIGA / BITS_PER_BYTE,
    "GFLOP/s": GIGA, "TFLOP/s": TERA, "PFLOP/s": PETA, "TOP/s": TERA,
    "us": MICRO, "ms": MILLI, "s": 1.0,
    "W": 1.0, "kW": KILO,
    "USD": 1.0, "USD/h": 1.0,
    "1": 1.0,
}  # fmt: skip

_LEAST_PLAIN = 1e-9
"""Below this a number is written with a power of ten."""
_PREFIXES = [(PETA, "P"), (TERA, "T"), (GIGA, "G"), (MEGA, "M"), (KILO, "k")]
_COUNTS = (
    (TERA, later("{n} trillion")),
    (GIGA, later("{n} billion")),
    (MEGA, later("{n} million")),
    (KILO, later("{n} thousand")),
)
_COUNTS_BY_TEN_THOUSANDS = {"ko": ((1e12, "{n}조"), (1e8, "{n}억"), (1e4, "{n}만"))}
"""Languages whose large numbers have names at other places than ours."""


def to_base(value: float, unit: Unit) -> float:
    """Convert a printed value to base units (byte, second, FLOP, watt, USD).

    >>> to_base(3.35, "TB/s")
    3350000000000.0
    >>> to_base(400, "Gbit/s")
    50000000000.0
    """
    return value * _TO_BASE[unit]


def units() -> tuple[str, ...]:
    """Every unit a fact may be given in."""
    return get_args(Unit)


def significant(value: float, digits: int = 3) -> str:
    """A number with honest precision, thousands separated; plain decimals as far as people read them: small amounts of money.

    >>> significant(7812.4), significant(61.26), significant(0.01234), significant(0)
    ('7,810', '61.3', '0.0123', '0')
    >>> significant(9.472e-05), significant(-3.1e-9), significant(2e-12)
    ('0.0000947', '-0.00000000310', '2.00e-12')
    """
    if not isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    exponent = int(np.floor(log10(abs(value))))
    rounded = round(value, digits - 1 - exponent)
    if abs(rounded) >= 10 ** (digits - 1):
        return localised(f"{rounded:,.0f}")
    decimals = max(0, digits - 1 - int(np.floor(log10(abs(rounded)))))
    return localised(f"{rounded:,.{decimals}f}" if abs(rounded) >= _LEAST_PLAIN else f"{rounded:.{digits - 1}e}")


def plain_number(value: float) -> str:
    """A round number, without trailing zeros, in plain decimals as far as people read them.

    >>> plain_number(0.5), plain_number(2.0), plain_number(5e-05), plain_number(3e-12)
    ('0.5', '2', '0.00005', '3e-12')
    """
    return localised(f"{value:.15f}".rstrip("0") if _LEAST_PLAIN <= abs(value) < MILLI else f"{value:g}")


def rounded_down(value: float, digits: int = 6) -> float:
    """The largest number of so few digits that is not above a positive one.

    >>> rounded_down(3.7311311626565372), rounded_down(0.3), rounded_down(12345.6)
    (3.73113, 0.3, 12345.6)
    """
    return float(Context(prec=digits, rounding=ROUND_DOWN).create_decimal(repr(float(value))))


def with_prefix(value: float, unit: str, digits: int = 3) -> str:
    """A number with a decimal prefix.

    >>> with_prefix(989.4e12, "FLOP/s"), with_prefix(3.35e12, "B/s")
    ('989 TFLOP/s', '3.35 TB/s')
    """
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor * (1 - 10.0**-digits):
            return f"{significant(value / factor, digits)} {prefix}{unit}"
    return f"{significant(value, digits)} {unit}"


def count_words(value: float) -> str:
    """A large count as people say it.

    >>> count_words(671.03e9), count_words(218_112_000), count_words(12_000), count_words(0)
    ('671 billion', '218 million', '12.0 thousand', '0')
    >>> from roofline.language import told_in
    >>> with told_in("ko"):
    ...     count_words(671.03e9), count_words(218_112_000), count_words(12_000)
    ('6,710억', '2.18억', '1.20만')
    """
    for factor, words in _COUNTS_BY_TEN_THOUSANDS.get(chosen(), _COUNTS):
        if value >= factor:
            return tr(words, n=significant(value / factor))
    return localised(f"{value:,.0f}")


def memory_size(value_bytes: float) -> str:
    """A size of memory as people know it: in binary gigabytes, the unit devices are sold and shown in.

    >>> memory_size(85519_826_944), memory_size(2.5e6), memory_size(2048)
    ('79.6 GiB', '2.38 MiB', '2.00 KiB')
    """
    if value_bytes >= GIBI / 2:
        return f"{significant(value_bytes / GIBI)} GiB"
    if 0 < value_bytes < MEBI / 2:
        return f"{significant(value_bytes / KIBI)} KiB"
    return f"{significant(value_bytes / MEBI)} MiB"


def duration(value_s: float) -> str:
    """A time in the unit people would say.

    >>> duration(0.0123), duration(2.5), duration(4.2e-5)
    ('12.3 ms', '2.50 s', '42.0 µs')
    """
    if value_s >= 1:
        return f"{significant(value_s)} s"
    if value_s >= MILLI:
        return f"{significant(value_s / MILLI)} ms"
    return f"{significant(value_s / MICRO)} µs"
