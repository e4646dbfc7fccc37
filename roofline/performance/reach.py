"""How far attention looks back: keys visited by queries, entries a cache keeps, entries one query reads.

Closed forms of sums over query positions; every argument is a number or an array that broadcasts.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from roofline.formulas.attention import causal_pairs, chunked_pairs, windowed_pairs
from roofline.specs.model import Attend
from roofline.units import Floats


def visited_pairs(attend: Attend, n_new: Floats, n_cached: Floats) -> Floats:
    """Keys visited in all by new queries on top of cached tokens, causally.

        A(n, s) = V(s + n) - V(s),    V(m) = sum of the keys that queries 1..m visit

    A query at position p counts ``min(p + 1, w)`` keys under a window, ``(p mod c) + 1`` within a chunk,
    ``min((p + 1) / stride, k)`` among compressed or selected entries, and p + 1 otherwise. A cross-attention
    looks at another sequence, which is absent from a text prompt: it visits nothing.

    A. Q. Jiang et al., "Mistral 7B", 2023, section 2 (window); DeepSeek-AI, "DeepSeek-V3.2", 2025 (selected keys).

    >>> plain = Attend(n_heads=1, n_kv_heads=1, key_size=1, value_size=1, cache_elements=2, read_elements=2)
    >>> float(visited_pairs(plain, 3, 2)), float(visited_pairs(plain.model_copy(update={"window": 2}), 4, 0))
    (12.0, 7.0)
    """
    if attend.kind == "cross":
        return np.zeros(np.broadcast(n_new, n_cached).shape)
    if attend.chunk is not None:
        return chunked_pairs(n_new_tokens=n_new, n_cached_tokens=n_cached, chunk_tokens=float(attend.chunk))
    reach = _reach_tokens(attend)
    if isfinite(reach):
        return windowed_pairs(n_new_tokens=n_new, n_cached_tokens=n_cached, window_tokens=reach) / attend.stride
    return causal_pairs(n_new_tokens=n_new, n_cached_tokens=n_cached) / attend.stride


def held_tokens(attend: Attend, n_tokens: Floats) -> Floats:
    """Entries the cache must keep for a sequence: the window, the chunk, or one per ``stride`` tokens.

    A selection (``top_k``) reads less but keeps everything.

    >>> chunked = Attend(n_heads=1, n_kv_heads=1, key_size=1, value_size=1, cache_elements=2, read_elements=2, chunk=8)
    >>> float(held_tokens(chunked, 5)), float(held_tokens(chunked, 50))
    (5.0, 8.0)
    """
    tokens = np.asarray(n_tokens, dtype=np.float64)
    if attend.kind == "cross":
        return np.zeros_like(tokens)
    limit = min(attend.window or np.inf, attend.chunk or np.inf)
    return np.minimum(tokens, limit) / attend.stride


def read_tokens(attend: Attend, n_cached: Floats, n_steps: Floats = 1.0) -> Floats:
    """Entries that one decode query reads of ``n_cached`` tokens; the mean over steps in whose midst it has so many.

        (V(s + G - 1) - V(s - 1)) / G,    s = n - floor(G / 2),  V as in `visited_pairs`

    A window or a chunk that fills, or is left, during a generation is read in part: the mean context would not tell.

    >>> picked = Attend(n_heads=1, n_kv_heads=1, key_size=1, value_size=1, cache_elements=2, read_elements=2, top_k=4)
    >>> float(read_tokens(picked, 3)), float(read_tokens(picked, 300)), float(read_tokens(picked, 4, 3))
    (3.0, 4.0, 3.6666666666666665)
    """
    cached = np.asarray(n_cached, dtype=np.float64)
    if attend.kind == "cross":
        return np.zeros_like(cached)
    if not _is_bounded(attend):
        return cached / attend.stride
    before = np.maximum(cached - np.floor(np.asarray(n_steps) / 2.0), 1.0) - 1.0
    return visited_pairs(attend, n_steps, before) / n_steps


def decoded_pairs(attend: Attend, n_new: Floats, n_cached: Floats, n_steps: Floats) -> Floats:
    """Keys visited in one step by the new queries of a sequence; the mean over steps, as in `read_tokens`."""
    if not _is_bounded(attend):
        return visited_pairs(attend, n_new, n_cached)
    before = np.maximum(np.asarray(n_cached) - np.floor(np.asarray(n_steps) / 2.0), 0.0)
    spread = n_new / n_steps * visited_pairs(attend, n_steps, before)
    return np.where(np.asarray(n_steps) > 1.0, spread, visited_pairs(attend, n_new, n_cached))


def _is_bounded(attend: Attend) -> bool:
    """Whether a query sees no more than a window, a chunk or a selection."""
    return attend.chunk is not None or isfinite(_reach_tokens(attend))


def _reach_tokens(attend: Attend) -> float:
    """Tokens that the keys of one query can stand for."""
    return min(attend.window or np.inf, attend.top_k * attend.stride if attend.top_k else np.inf)
