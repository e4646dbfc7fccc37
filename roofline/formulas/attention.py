"""Attention: keys visited, FLOPs, bytes of the cache."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def causal_pairs(*, n_new_tokens: Floats, n_cached_tokens: Floats) -> Floats:
    """Keys visited by new queries on top of cached tokens, each query seeing itself and all before it.

        A(n, s) = n s + n (n + 1) / 2                                            [1, part 4, causal]

    The full square that framework counters report is n (n + s).

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/transformers/

    >>> causal_pairs(n_new_tokens=4, n_cached_tokens=10)
    50.0
    """
    return n_new_tokens * n_cached_tokens + n_new_tokens * (n_new_tokens + 1.0) / 2.0


def windowed_pairs(*, n_new_tokens: Floats, n_cached_tokens: Floats, window_tokens: Floats) -> Floats:
    """Keys visited when a query sees at most a window, itself included.

        A_w = V(s + n) - V(s),  V(m) = g (g + 1) / 2 + (m - g) w,  g = min(m, w)    [1, sec. 2]

    The exact sum of min(position + 1, w) over the new queries. The window is finite; one longer than the sequence gives
    `causal_pairs`.

    [1] A. Jiang et al., "Mistral 7B", 2023. arXiv:2310.06825

    >>> float(windowed_pairs(n_new_tokens=4, n_cached_tokens=0, window_tokens=2))
    7.0
    """

    def visits(m: Floats) -> Floats:
        g = np.minimum(m, window_tokens)
        return g * (g + 1.0) / 2.0 + (m - g) * window_tokens

    return visits(n_cached_tokens + n_new_tokens) - visits(n_cached_tokens)


def chunked_pairs(*, n_new_tokens: Floats, n_cached_tokens: Floats, chunk_tokens: Floats) -> Floats:
    """Keys visited when a query sees only its own chunk.

        A_c = V(s + n) - V(s),  V(m) = floor(m / c) c (c + 1) / 2 + r (r + 1) / 2,  r = m mod c    [1]

    The exact sum of (position mod c) + 1 over the new queries, for whole numbers of tokens; chunks count from the start of
    the sequence.

    [1] Meta, "The Llama 4 herd", 2025: local layers attend within chunks of 8192.

    >>> float(chunked_pairs(n_new_tokens=4, n_cached_tokens=0, chunk_tokens=3))
    7.0
    """

    def visits(m: Floats) -> Floats:
        whole = np.floor(m / chunk_tokens)
        rest = m - whole * chunk_tokens
        return whole * chunk_tokens * (chunk_tokens + 1.0) / 2.0 + rest * (rest + 1.0) / 2.0

    return visits(n_cached_tokens + n_new_tokens) - visits(n_cached_tokens)


def attention_flops(*, pairs: Floats, n_heads: Floats, key_size: Floats, value_size: Floats) -> Floats:
    """FLOPs of scores and weighted sum over visited keys.

        F = 2 N (d_k + d_v) A                                                    [1, part 4]

    4 N H A where both sizes are H. Softmax and masking are not counted. Sharing of key heads changes bytes, not FLOPs.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/transformers/

    >>> attention_flops(pairs=10, n_heads=2, key_size=4, value_size=4)
    320.0
    """
    return 2.0 * n_heads * (key_size + value_size) * pairs


def kv_cache_bytes_per_token(
    *, n_layers: Floats, n_kv_heads: Floats, key_size: Floats, value_size: Floats, bytes_per_element: Floats
) -> Floats:
    """Cache of one token under multi-head, grouped-query or multi-query attention.

        M = L K (d_k + d_v) b_kv                                                 [1]

    2 L K H b_kv where both sizes are H. Scales and half-filled blocks are left out.

    [1] C. Chen, "Transformer inference arithmetic", kipply's blog, 2022.

    >>> kv_cache_bytes_per_token(n_layers=32, n_kv_heads=8, key_size=128, value_size=128, bytes_per_element=2)
    131072
    """
    return n_layers * n_kv_heads * (key_size + value_size) * bytes_per_element


def latent_cache_bytes_per_token(
    *, n_layers: Floats, latent_rank: Floats, rope_size: Floats, bytes_per_element: Floats
) -> Floats:
    """Cache of one token under latent attention: one vector for all heads.

        M = L (c + d_r) b_kv                                                     [1, sec. 2.1]

    The latent serves keys and values at once; every device of a tensor group keeps all of it.

    [1] DeepSeek-AI, "DeepSeek-V2", 2024. arXiv:2405.04434

    >>> latent_cache_bytes_per_token(n_layers=61, latent_rank=512, rope_size=64, bytes_per_element=2)
    70272
    """
    return n_layers * (latent_rank + rope_size) * bytes_per_element


def sliding_cache_bytes(
    *,
    n_tokens: Floats,
    n_full_layers: Floats,
    n_sliding_layers: Floats,
    window_tokens: Floats,
    bytes_per_token_layer: Floats,
) -> Floats:
    """Cache of one sequence where some layers keep only a window.

        M = m (L_g S + L_l min(S, w))                                            [1, sec. 2.1]

    m is the cache of one token in one layer, 2 K H b_kv, the same in both kinds. Assumes that what leaves the window is
    freed.

    [1] Gemma Team, "Gemma 3 technical report", 2025. arXiv:2503.19786

    >>> sizes = {"n_full_layers": 1, "n_sliding_layers": 5, "window_tokens": 1024, "bytes_per_token_layer": 2}
    >>> float(sliding_cache_bytes(n_tokens=4096, **sizes))
    18432.0
    """
    return bytes_per_token_layer * (n_full_layers * n_tokens + n_sliding_layers * np.minimum(n_tokens, window_tokens))


def absorbed_break_even_tokens(*, latent_rank: Floats, nope_size: Floats, value_size: Floats) -> Floats:
    """New tokens below which attending to the latent cache takes fewer FLOPs than expanding it first.

        n* = c (d_n + d_v) / (2 c - d_n - d_v)                                   [1, sec. 2.1]

    Per cached token and head, absorbed attention takes n (2 c + d_r) multiply-adds, expanded attention takes
    n (d_n + d_r + d_v) and once c (d_n + d_v): the rotary size cancels. Assumes a context much longer than the new tokens,
    and an expansion that is not kept. Infinite where the latent is no wider than half of what it stands for.

    [1] DeepSeek-AI, "DeepSeek-V2", 2024. arXiv:2405.04434

    >>> round(float(absorbed_break_even_tokens(latent_rank=512, nope_size=128, value_size=128)))
    171
    """
    expanded = nope_size + value_size
    with np.errstate(divide="ignore"):
        return np.divide(latent_rank * expanded, np.maximum(2.0 * latent_rank - expanded, 0.0))


def scaled_latent_cache_bytes_per_token(
    *,
    n_layers: Floats,
    latent_rank: Floats,
    latent_bytes_per_element: Floats,
    scale_group_size: Floats,
    scale_bytes: Floats,
    rope_size: Floats,
    rope_bytes_per_element: Floats,
) -> Floats:
    """Cache of one token under latent attention, the latent narrow with a scale to each group, the rotary key wide.

        M = L (c b_c + c / g b_s + d_r b_r)                                      [1, FP8 format]

    `latent_cache_bytes_per_token` with scales: 656 bytes a layer instead of 1152 in the format of the source.

    [1] DeepSeek-AI, FlashMLA, "A deep dive into the FP8 sparse kernel", 2025. https://github.com/deepseek-ai/FlashMLA

    >>> narrow = {"latent_bytes_per_element": 1, "scale_group_size": 128, "scale_bytes": 4}
    >>> scaled_latent_cache_bytes_per_token(n_layers=1, latent_rank=512, rope_size=64, rope_bytes_per_element=2, **narrow)
    656.0
    """
    latent = latent_rank * latent_bytes_per_element + latent_rank / scale_group_size * scale_bytes
    return n_layers * (latent + rope_size * rope_bytes_per_element)


def fused_attention_intensity_flops_per_byte(
    *, n_new_tokens: Floats, n_held_tokens: Floats, n_queries_per_kv_head: Floats, bytes_per_element: Floats
) -> Floats:
    """Arithmetic intensity of attention that keeps its scores on the chip.

        I = 2 / b n S G / (n G + S)                                              [1, part 4]

    n queries on S tokens held, themselves included; G query heads share a cache head. Every query against every key: half of
    it under a causal mask. Queries, keys, values and outputs move once. At b = 2 it is n / 2 for G = 1 and n = S, and tends
    to G in decode.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/transformers/

    >>> load = {"n_queries_per_kv_head": 1, "bytes_per_element": 2}
    >>> fused_attention_intensity_flops_per_byte(n_new_tokens=480, n_held_tokens=480, **load)
    240.0
    """
    queries = n_new_tokens * n_queries_per_kv_head
    return 2.0 / bytes_per_element * queries * n_held_tokens / (queries + n_held_tokens)


def equal_work_tokens(*, n_parameters: Floats, n_layers: Floats, n_heads: Floats, key_size: Floats, value_size: Floats) -> Floats:
    """Length of a sequence at which attention takes as many FLOPs as the matrices.

        T* = P / (L N (d_k + d_v))                                               [1, part 4]

    P are the parameters a token is multiplied by in those layers. Every query against every key; twice as long under a
    causal mask.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/transformers/

    >>> equal_work_tokens(n_parameters=268435456, n_layers=1, n_heads=32, key_size=128, value_size=128)
    32768.0
    """
    return n_parameters / (n_layers * n_heads * (key_size + value_size))
