"""Speculative decoding: tokens a verification step yields, and the speed-up."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def expected_tokens_per_step(*, acceptance_frac: Floats, n_draft_tokens: Floats) -> Floats:
    """Tokens that one verification of a draft yields, expected.

        t = (1 - a^(g + 1)) / (1 - a)                                            [1, eq. 1]

    Each drafted token is accepted with the same probability, independently; a = 1 gives g + 1.

    [1] Y. Leviathan, M. Kalman, Y. Matias, "Fast inference from transformers via speculative decoding", ICML 2023.

    >>> round(float(expected_tokens_per_step(acceptance_frac=0.8, n_draft_tokens=4)), 3)
    3.362
    """
    a = np.asarray(acceptance_frac)
    safe = np.where(a < 1.0, a, 0.0)
    return np.where(a < 1.0, (1.0 - safe ** (n_draft_tokens + 1.0)) / (1.0 - safe), n_draft_tokens + 1.0)


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
