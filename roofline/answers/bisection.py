"""Where a condition stops to hold, for whole numbers, many at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def largest_whole(keeps: Callable[[Array], NDArray[np.bool_]], most: Array) -> Array:
    """The largest whole number from 1 to each bound that keeps a condition; 0 where 1 does not.

    >>> largest_whole(lambda n: n * n <= 50.0, np.array([100.0, 3.5, 0.0])).tolist()
    [7.0, 3.0, 0.0]
    """
    return largest_kept(lambda n: keeps(np.maximum(n, 1.0)), np.zeros_like(most), np.floor(most) + 1.0)


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
