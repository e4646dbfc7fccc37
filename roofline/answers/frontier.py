"""The Pareto frontier of two merits: what nothing else beats in one without losing in the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array


def undominated(first: Array, second: Array) -> NDArray[np.int64]:
    """Indices of the points that no other point equals or beats in both merits, by falling first merit; of equals the first.

    >>> undominated(np.array([1.0, 2.0, 3.0, 2.0]), np.array([5.0, 4.0, 1.0, 3.0])).tolist()
    [2, 1, 0]
    """
    order = np.lexsort((-second, -first))
    ranked = second[order]
    best_before = np.concatenate(([-np.inf], np.maximum.accumulate(ranked)[:-1])) if order.size else ranked
    return order[ranked > best_before]


def beyond(first: Array, second: Array, front_first: Array, front_second: Array) -> NDArray[np.int64]:
    """Indices of the points that a frontier, as `undominated` sorts it, does not equal or beat in both merits.

    >>> front = np.array([3.0, 2.0]), np.array([1.0, 4.0])
    >>> beyond(np.array([1.0, 1.0, 2.5]), np.array([5.0, 4.0, 3.0]), *front).tolist()
    [0, 2]
    """
    if not front_first.size:
        return np.arange(first.size)
    n_at_least = front_first.size - np.searchsorted(front_first[::-1], first)
    best_there = np.concatenate(([-np.inf], front_second))[n_at_least]
    return np.flatnonzero(second > best_there)
