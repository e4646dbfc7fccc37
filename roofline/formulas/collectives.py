"""Collectives: time over links with latency per message.

Payloads are what one device holds, of an all-gather what it holds in the end; link rates are per device and direction.
"""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def all_reduce_ring_s(*, payload_bytes: Floats, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """Ring all-reduce: reduce-scatter, then all-gather.

        T = 2 (p - 1) alpha + 2 (p - 1) / p V / W_n                              [1, sec. 4.5]

    Bandwidth-optimal; latency grows with the ring. One device takes no time.

    [1] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005.

    >>> all_reduce_ring_s(payload_bytes=1e9, n_devices=4, link_bytes_per_s=1e9, latency_s=0.0)
    1.5
    """
    return 2.0 * (n_devices - 1.0) * latency_s + 2.0 * (n_devices - 1.0) / n_devices * payload_bytes / link_bytes_per_s


def all_reduce_tree_s(*, payload_bytes: Floats, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """All-reduce whose latency grows with the logarithm of the group.

        T = alpha log2(p) + 2 (p - 1) / p V / W_n                                [1, sec. 4.5]

    Volume as a ring, by halving and doubling; alpha is the time of one exchange with one partner and back.

    [1] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005.

    >>> float(all_reduce_tree_s(payload_bytes=0.0, n_devices=8, link_bytes_per_s=1e9, latency_s=1.0))
    3.0
    """
    return np.log2(n_devices) * latency_s + 2.0 * (n_devices - 1.0) / n_devices * payload_bytes / link_bytes_per_s


def all_reduce_switch_s(*, payload_bytes: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """All-reduce added up inside the switch: each device sends its payload once and receives the sum.

        T = alpha + V / W_n                                                      [1]

    Holds for groups of two or more.

    [1] B. Klenk et al., "An in-network architecture for accelerating shared-memory multiprocessor collectives", ISCA 2020.

    >>> all_reduce_switch_s(payload_bytes=1e9, link_bytes_per_s=1e9, latency_s=0.5)
    1.5
    """
    return latency_s + payload_bytes / link_bytes_per_s


def all_gather_s(*, payload_bytes: Floats, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """All-gather of a payload whose whole has the size given; reduce-scatter takes the same.

        T = (p - 1) alpha + (p - 1) / p V / W_n                                  [1, sec. 4.1]

    Each device holds a share of V at first. Ring order; one device takes no time.

    [1] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005.

    >>> all_gather_s(payload_bytes=1e9, n_devices=4, link_bytes_per_s=1e9, latency_s=0.0)
    0.75
    """
    return (n_devices - 1.0) * latency_s + (n_devices - 1.0) / n_devices * payload_bytes / link_bytes_per_s


def all_to_all_s(*, payload_bytes: Floats, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """All-to-all over a switch: each device sends a share of its payload to every other.

        T = (p - 1) alpha + (p - 1) / p V / W_n                                  [1, part 12]

    V is what one device holds to send, its own share included; the global size over p. Assumes equal shares and a switch
    that carries all pairs at full rate.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/

    >>> all_to_all_s(payload_bytes=1e9, n_devices=2, link_bytes_per_s=1e9, latency_s=0.0)
    0.5
    """
    return (n_devices - 1.0) * latency_s + (n_devices - 1.0) / n_devices * payload_bytes / link_bytes_per_s


def expert_exchange_bytes(
    *,
    n_tokens: Floats,
    hidden_size: Floats,
    n_copies: Floats,
    dispatch_bytes_per_element: Floats,
    combine_bytes_per_element: Floats,
) -> Floats:
    """Bytes one device sends for one layer of experts: tokens out, results back.

        V = m k' D (b_d + b_c)                                                   [1, sec. 2.3.2]

    k' counts the destinations other than the device itself; a token may go once to a node that spreads it inside.

    [1] C. Zhao et al., "Insights into DeepSeek-V3", ISCA 2025. arXiv:2505.09343

    >>> sizes = {"n_copies": 9, "dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2}
    >>> expert_exchange_bytes(n_tokens=32, hidden_size=7000, **sizes)
    6048000
    """
    return n_tokens * n_copies * hidden_size * (dispatch_bytes_per_element + combine_bytes_per_element)
