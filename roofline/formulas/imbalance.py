"""Uneven work: how much more the fullest of several devices has than the mean, which the others wait for."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def greatest_load_ratio(*, n_ranks: Floats, n_experts: Floats, n_active_experts: Floats) -> Floats:
    """The most that one rank's tokens can be of the mean over ranks.

        s_max = min(w, E / k)                                                    [1, sec. 2.2, top-k routing]

    All tokens meet on one of w ranks, or each sends that rank no more than one visit per expert it chooses. Equal numbers of
    experts on every rank.

    [1] W. Fedus, B. Zoph, N. Shazeer, "Switch Transformers", JMLR 23(120), 2022. arXiv:2101.03961

    >>> float(greatest_load_ratio(n_ranks=64, n_experts=256, n_active_experts=8))
    32.0
    """
    return np.minimum(n_ranks, np.divide(n_experts, n_active_experts))


def largest_normal_ratio(*, n_draws: Floats) -> Floats:
    """Expected largest of so many independent normal draws, in standard deviations above their mean.

        M = b - (ln ln w + ln 4 pi - 2 g) / (2 b),  b = sqrt(2 ln w)              [1, sec. 28.6]

    The mean of the limiting distribution, g = 0.5772 Euler's constant: 0.1 high at eight draws, exact in the limit; one draw
    has mean 0, and no mean is negative.

    [1] H. Cramér, "Mathematical Methods of Statistics", Princeton University Press, 1946.

    >>> round(float(largest_normal_ratio(n_draws=72)), 2)
    2.44
    """
    many = np.maximum(n_draws, 2.0)
    reach = np.sqrt(2.0 * np.log(many))
    found = reach - (np.log(np.log(many)) + np.log(4.0 * np.pi) - 2.0 * np.euler_gamma) / (2.0 * reach)
    return np.where(np.asarray(n_draws) > 1.0, found, 0.0)


def even_routing_load_ratio(*, n_visits: Floats, n_ranks: Floats) -> Floats:
    """Visits of the fullest rank over the mean when each visit falls on any rank alike.

        s = 1 + M(w) sqrt((w - 1) / n)                                           [1, sec. 2]

    n visits in all, w ranks, M the expected maximum of w standard normal draws: counts are close to normal once each rank has
    several visits; at most all of them.

    [1] M. Raab, A. Steger, "Balls into bins: a simple and tight analysis", RANDOM 1998.

    >>> round(float(even_routing_load_ratio(n_visits=16384, n_ranks=64)), 3)
    1.149
    """
    spread = np.sqrt(np.divide(np.subtract(n_ranks, 1.0), n_visits))
    return np.minimum(1.0 + largest_normal_ratio(n_draws=n_ranks) * spread, n_ranks)
