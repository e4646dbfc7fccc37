"""Mixtures of experts: how many experts a batch touches, how many tokens each gets."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def distinct_experts(*, n_experts: Floats, n_active_experts: Floats, n_tokens: Floats) -> Floats:
    """Experts that at least one token of a batch visits, expected.

        d = E (1 - (1 - k/E)^B)                                                  [1, sec. IV.2, occupancy]

    Uniform routing, independent between tokens; skewed or correlated routing visits fewer. Written with log1p and expm1, so
    that small k/E keeps its digits; k = E visits all.

    [1] W. Feller, "An Introduction to Probability Theory and Its Applications", vol. 1, 3rd ed., Wiley, 1968.

    >>> round(float(distinct_experts(n_experts=256, n_active_experts=8, n_tokens=32)), 1)
    163.3
    """
    share = np.divide(n_active_experts, n_experts)
    every = share >= 1.0
    missed = np.expm1(n_tokens * np.log1p(-np.where(every, 0.0, share)))
    return n_experts * np.where(every, np.minimum(np.ceil(n_tokens), 1.0), -missed)


def tokens_per_touched_expert(*, n_experts: Floats, n_active_experts: Floats, n_tokens: Floats) -> Floats:
    """Tokens that share one reading of a touched expert, expected.

        m_e = B k / d                                                            [1, part 12]

    Tends to 1 for one token and to B k / E for many; routing as in `distinct_experts`, at least one token.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/

    >>> round(float(tokens_per_touched_expert(n_experts=256, n_active_experts=8, n_tokens=400)), 1)
    12.5
    """
    touched = distinct_experts(n_experts=n_experts, n_active_experts=n_active_experts, n_tokens=n_tokens)
    return n_tokens * n_active_experts / touched
