"""Memory: sizes of weights, and how many sequences fit beside them."""

from __future__ import annotations

import numpy as np

from roofline.units import BITS_PER_BYTE, Floats


def weight_bytes(*, n_parameters: Floats, bits_per_weight: Floats) -> Floats:
    """Bytes of weights stored at a number of bits each, scales included.

        M = P b / 8                                                              [1]

    The average over all tensors, which files mix; some keep the output head wider.

    [1] G. Gerganov et al., llama.cpp, tools/quantize/README.md, 2025: sizes by bits per weight.

    >>> weight_bytes(n_parameters=8e9, bits_per_weight=4.5)
    4500000000.0
    """
    return n_parameters * bits_per_weight / BITS_PER_BYTE


def max_sequences(*, usable_bytes: Floats, weight_bytes: Floats, cache_bytes_per_sequence: Floats) -> Floats:
    """Most sequences whose cache fits beside the weights; none where the weights do not.

        B_max = max(0, floor((M - P b_w) / m))                                   [1, part 8]

    What activations and the engine need is taken off ``usable_bytes`` before. Infinite where a sequence keeps no cache and
    the weights fit.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> float(max_sequences(usable_bytes=80e9, weight_bytes=16e9, cache_bytes_per_sequence=1e9))
    64.0
    """
    spare = usable_bytes - weight_bytes
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.floor(np.divide(spare, cache_bytes_per_sequence))
    return np.where(spare < 0.0, 0.0, np.where(cache_bytes_per_sequence > 0.0, room, np.inf))


def paged_tokens(*, n_tokens: Floats, block_tokens: Floats) -> Floats:
    """Tokens that a paged cache reserves: whole blocks.

        S' = ceil(S / s) s                                                       [1, sec. 4]

    At most one block of a sequence is partly empty; blocks shared between sequences are not looked at.

    [1] W. Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.

    >>> float(paged_tokens(n_tokens=33, block_tokens=16))
    48.0
    """
    return np.ceil(n_tokens / block_tokens) * block_tokens
