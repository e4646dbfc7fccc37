"""A log axis with round ticks."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import Any

from roofline.figures.theme import Look, axis
from roofline.figures.words import axis_number

_DECADES_OF_FIVES, _DECADES_OF_THREES = 30.0, 1e3
"""An axis longer than these has ticks at 1-3-10, and at powers of ten only."""


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends.

    >>> round_ticks(2, 90), round_ticks(2, 40)
    ([3.0, 10.0, 30.0], [2.0, 5.0, 10.0, 20.0])
    """
    ratio = high / low
    steps = (1, 2, 5) if ratio < _DECADES_OF_FIVES else (1, 3) if ratio < _DECADES_OF_THREES else (1,)
    ticks = [f * 10.0**p for p in range(floor(log10(low)), ceil(log10(high)) + 1) for f in steps]
    return [tick for tick in ticks if low <= tick <= high]


def log_axis(values: Iterable[float | None], look: Look, **own: object) -> dict[str, Any]:
    """An axis around positive values, with a little room below and more above."""
    known = [value for value in values if value]
    low, high = min(known, default=1.0) / 1.5, max(known, default=1.0) * 2.5
    shown = round_ticks(low, high)
    text = [axis_number(t) for t in shown]
    return axis(look, type="log", range=[log10(low), log10(high)], tickvals=shown, ticktext=text, **own)
