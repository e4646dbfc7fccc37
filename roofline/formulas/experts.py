"""Mixtures of experts: how many experts a batch touches, how many tokens each gets."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def distinct_experts(*, n_experts: Floats, n_active_experts: Floats, n_tokens: Floats) -> Floats:
    """Experts that at least one token of a batch visits, expected.

        d = E (1 - (1 - k/E)^B)                                                  [1, occupancy]

    Uniform, independent routing. Written with log1p and expm1, so that small k/E keeps its digits; k = E touches all.

    [1] W. Feller, "An Introduction to Probability Theory and Its Applications", vol. 1, 3rd ed., Wiley, 1968, sec. IV.2.

    >>> round(float(distinct_experts(n_experts=256, n_active_experts=8, n_tokens=32)), 1)
    163.3
    """
    share = np.asarray(n_active_experts) / n_experts
    missed = np.log1p(-np.minimum(share, 1.0 - 1e-16))
    return np.where(share >= 1.0, n_experts, -n_experts * np.expm1(n_tokens * missed))


def tokens_per_touched_expert(*, n_experts: Floats, n_active_experts: Floats, n_tokens: Floats) -> Floats:
    """Tokens that share one reading of a touched expert, expected.

        m_e = B k / d                                                            [1, part 12]

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/

    >>> round(float(tokens_per_touched_expert(n_experts=256, n_active_experts=8, n_tokens=400)), 1)
    12.5
    """
    touched = distinct_experts(n_experts=n_experts, n_active_experts=n_active_experts, n_tokens=n_tokens)
    return n_tokens * n_active_experts / touched
