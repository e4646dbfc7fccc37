"""Where a condition stops to hold, for whole numbers, many at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def largest_kept(keeps: Callable[[Array], NDArray[np.bool_]], kept: Array, broken: Array) -> Array:
    """The largest whole number that keeps a condition, between one that does and one that does not.

    What is kept by a number is kept by every smaller one.

    >>> largest_kept(lambda n: n * n <= 50.0, np.array([0.0, 2.0]), np.array([100.0, 3.0])).tolist()
    [7.0, 2.0]
    """
    while np.any(broken - kept > 1.0):
        middle = np.maximum(kept, np.floor(0.5 * (kept + broken)))
        good = keeps(middle)
        kept, broken = np.where(good, middle, kept), np.where(good, broken, middle)
    return kept
