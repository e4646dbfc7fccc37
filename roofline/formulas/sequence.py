"""Sequences whose positions are shared by devices: what attention sends between them."""

from __future__ import annotations

from roofline.units import Floats


def ring_attention_bytes(*, cache_bytes: Floats, n_devices: Floats) -> Floats:
    """Bytes one device sends when keys and values pass round a ring until every query has met them all.

        V = (c - 1) / c Q                                                        [1, sec. 3]

    Q are the keys and values of the whole sequence, an equal part on each of c devices; no part returns to where it began.

    [1] H. Liu, M. Zaharia, P. Abbeel, "Ring Attention with Blockwise Transformers", ICLR 2024. arXiv:2310.01889

    >>> ring_attention_bytes(cache_bytes=8e9, n_devices=4)
    6000000000.0
    """
    return (n_devices - 1.0) / n_devices * cache_bytes


def passed_query_bytes(
    *, n_tokens: Floats, n_heads: Floats, key_size: Floats, value_size: Floats, n_devices: Floats, bytes_per_element: Floats
) -> Floats:
    """Bytes one device sends when queries go to where keys and values lie, and partial results come back.

        V = (c - 1) / c m N (H_k + H_v + 1) b                                    [1, sec. 3.3]

    m query tokens in all, an equal part on each of c devices; a partial result has the logarithm of its sum with it, by which
    parts are merged. Fewer bytes than the ring where few tokens look at many: in decode.

    [1] A. Yang et al., "Context Parallelism for Scalable Million-Token Inference", MLSys 2025. arXiv:2411.01783

    >>> passed_query_bytes(n_tokens=4, n_heads=1, key_size=64, value_size=63, n_devices=4, bytes_per_element=2)
    768.0
    """
    return (n_devices - 1.0) / n_devices * n_tokens * n_heads * (key_size + value_size + 1.0) * bytes_per_element
