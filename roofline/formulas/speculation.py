"""Speculative decoding: tokens a verification step yields, and the speed-up."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def expected_tokens_per_step(*, acceptance_frac: Floats, n_draft_tokens: Floats) -> Floats:
    """Tokens that one verification of a draft yields, expected.

        t = (1 - a^(g + 1)) / (1 - a)                                            [1, eq. 1]

    Each drafted token is accepted with the same probability, independently; a = 1 gives g + 1. Written with log1p and expm1,
    so that it keeps its digits near a = 1.

    [1] Y. Leviathan, M. Kalman, Y. Matias, "Fast inference from transformers via speculative decoding", ICML 2023.

    >>> round(float(expected_tokens_per_step(acceptance_frac=0.8, n_draft_tokens=4)), 3)
    3.362
    """
    missed = np.subtract(1.0, acceptance_frac)
    certain = missed <= 0.0
    safe = np.where(certain, 1.0, missed)
    with np.errstate(divide="ignore"):
        some = -np.expm1((n_draft_tokens + 1.0) * np.log1p(-safe)) / safe
    return np.where(certain, n_draft_tokens + 1.0, some)


def speculative_speedup(*, acceptance_frac: Floats, n_draft_tokens: Floats, draft_cost_frac: Floats) -> Floats:
    """Speed-up of decoding by drafting, while verification is as quick as one step.

        s = t / (1 + g c)                                                        [1, theorem 3.8]

    c is the time of a draft step over that of a target step. Holds while B (g + 1) stays below the critical batch.

    [1] Y. Leviathan, M. Kalman, Y. Matias, "Fast inference from transformers via speculative decoding", ICML 2023.

    >>> round(float(speculative_speedup(acceptance_frac=0.8, n_draft_tokens=4, draft_cost_frac=0.05)), 2)
    2.8
    """
    tokens = expected_tokens_per_step(acceptance_frac=acceptance_frac, n_draft_tokens=n_draft_tokens)
    return tokens / (1.0 + n_draft_tokens * draft_cost_frac)


def speculative_work_ratio(*, acceptance_frac: Floats, n_draft_tokens: Floats, draft_work_frac: Floats) -> Floats:
    """Work per token with drafting over work without, expected.

        r = (g c_f + g + 1) / t                                                  [1, theorem 3.11]

    c_f is the work of a draft step over that of a target step. Never below 1: drafting buys time with arithmetic, and gains
    nothing once the step is compute bound.

    [1] Y. Leviathan, M. Kalman, Y. Matias, "Fast inference from transformers via speculative decoding", ICML 2023.

    >>> float(speculative_work_ratio(acceptance_frac=0.5, n_draft_tokens=2, draft_work_frac=0.25))
    2.0
    """
    tokens = expected_tokens_per_step(acceptance_frac=acceptance_frac, n_draft_tokens=n_draft_tokens)
    return (n_draft_tokens * draft_work_frac + n_draft_tokens + 1.0) / tokens


def tree_tokens_per_step(*, acceptance_frac: Floats, n_branches: Floats, n_levels: Floats) -> Floats:
    """Tokens that one verification of a tree of drafts yields, expected.

        t = (1 - a_b^(d + 1)) / (1 - a_b),  a_b = 1 - (1 - a)^b                  [1, sec. 3]

    b drafts at each node of a tree of d levels, each accepted with the same probability, independently: a level passes where
    one of its siblings does. Drafts of one node are alike, so real trees gain less. One branch gives
    `expected_tokens_per_step`.

    [1] X. Miao et al., "SpecInfer", ASPLOS 2024. arXiv:2305.09781

    >>> round(float(tree_tokens_per_step(acceptance_frac=0.5, n_branches=2, n_levels=2)), 4)
    2.3125
    """
    level = 1.0 - np.power(np.subtract(1.0, acceptance_frac), n_branches)
    return expected_tokens_per_step(acceptance_frac=level, n_draft_tokens=n_levels)
