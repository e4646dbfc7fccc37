"""Work that hides behind other work: halves of a batch that compute and communicate in turn."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def two_batches_s(*, half_compute_s: Floats, half_exchange_s: Floats) -> Floats:
    """Time of a step cut into two halves of its batch, one of which computes while the other communicates.

        T = 2 max(t(B / 2), c(B / 2))                                            [1, sec. 2.3.2]

    Each half reads the weights for itself. Assumes that either can use the device or the link as if alone, and that the first
    and last exchange of a step, one layer's worth, are small.

    [1] C. Zhao et al., "Insights into DeepSeek-V3", ISCA 2025. arXiv:2505.09343

    >>> round(float(two_batches_s(half_compute_s=0.0, half_exchange_s=0.00737856)), 5)
    0.01476
    """
    return 2.0 * np.maximum(half_compute_s, half_exchange_s)
