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


def held_bytes(*, weight_bytes: Floats, n_sequences: Floats, cache_bytes_per_sequence: Floats) -> Floats:
    """Memory that weights and caches take.

        M = P b_w + B m                                                          [1, part 8]

    Activations and what the engine needs come on top.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> held_bytes(weight_bytes=16e9, n_sequences=32, cache_bytes_per_sequence=1e9)
    48000000000.0
    """
    return weight_bytes + n_sequences * cache_bytes_per_sequence


def fewest_devices(*, needed_bytes: Floats, usable_bytes_per_device: Floats) -> Floats:
    """Fewest devices that hold something divided evenly.

        n = ceil(M_needed / M)                                                   [1, part 8]

    Plans often ask for a power of two, or for a number that divides the heads.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> float(fewest_devices(needed_bytes=140e9, usable_bytes_per_device=80e9))
    2.0
    """
    return np.ceil(needed_bytes / usable_bytes_per_device)


def max_context_tokens(
    *, usable_bytes: Floats, weight_bytes: Floats, cache_bytes_per_token: Floats, n_sequences: Floats
) -> Floats:
    """Longest context whose cache fits beside the weights, the same for every sequence.

        S_max = max(0, floor((M - P b_w) / (B m_1)))                             [1, table 1]

    The cache grows by m_1 with every token, as it does without windows. Infinite where it does not grow.

    [1] R. Pope et al., "Efficiently scaling transformer inference", MLSys 2023. arXiv:2211.05102

    >>> float(max_context_tokens(usable_bytes=80e9, weight_bytes=16e9, cache_bytes_per_token=1e5, n_sequences=64))
    10000.0
    """
    cache = n_sequences * cache_bytes_per_token
    return max_sequences(usable_bytes=usable_bytes, weight_bytes=weight_bytes, cache_bytes_per_sequence=cache)


def sharded_bytes(*, n_rows: Floats, row_bytes: Floats, n_ways: Floats) -> Floats:
    """Bytes on the fullest device of an array divided by rows.

        M = ceil(n / p) b                                                        [1, part 3]

    Rows stay whole: heads, experts or vocabulary that do not divide evenly are padded or left uneven.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/sharding/

    >>> float(sharded_bytes(n_rows=10, row_bytes=100.0, n_ways=4))
    300.0
    """
    return np.ceil(n_rows / n_ways) * row_bytes


def activation_bytes(
    *, n_tokens: Floats, hidden_size: Floats, n_layers: Floats, n_kept: Floats, bytes_per_element: Floats
) -> Floats:
    """Bytes of activations of the model's width that are kept.

        M = k L m D b_a                                                          [1, part 4]

    k tensors to a layer; inference keeps a few of one layer at a time.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/transformers/

    >>> activation_bytes(n_tokens=8192, hidden_size=5120, n_layers=1, n_kept=1, bytes_per_element=2)
    83886080
    """
    return n_kept * n_layers * n_tokens * hidden_size * bytes_per_element
