"""Collectives: time over links with latency per message.

Payloads are what one device holds, of an all-gather what it holds in the end; link rates are per device and direction.
"""

from __future__ import annotations

import numpy as np

from roofline.units import BITS_PER_BYTE, Floats


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

        T = 2 alpha log2(p) + 2 (p - 1) / p V / W_n                              [1, sec. 4.5]

    Volume as a ring, by halving and doubling: log2(p) exchanges to add up and as many to hand the sums round.

    [1] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005.

    >>> float(all_reduce_tree_s(payload_bytes=0.0, n_devices=8, link_bytes_per_s=1e9, latency_s=1.0))
    6.0
    """
    return 2.0 * np.log2(n_devices) * latency_s + 2.0 * (n_devices - 1.0) / n_devices * payload_bytes / link_bytes_per_s


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


def point_to_point_s(*, payload_bytes: Floats, n_hops: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """Sending a payload from one device to another, through devices between.

        T = h alpha + V / W_n                                                    [1, part 2]

    Hops overlap: a device passes on what it has while the rest arrives. The rate is that of all links used at once.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/tpus/

    >>> point_to_point_s(payload_bytes=1e9, n_hops=2, link_bytes_per_s=1e9, latency_s=0.25)
    1.5
    """
    return n_hops * latency_s + payload_bytes / link_bytes_per_s


def torus_all_gather_s(
    *, payload_bytes: Floats, n_axes: Floats, n_hops: Floats, link_bytes_per_s: Floats, latency_s: Floats
) -> Floats:
    """All-gather over axes of a torus, both ways around every ring at once; reduce-scatter takes the same.

        T = max(h alpha, V / (2 a W_n))                                          [1, part 3]

    h is half the sum of the axes. Rings of many devices: the share a device holds at first is not taken off. Without links
    that close the ring, twice as long.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/sharding/

    >>> float(torus_all_gather_s(payload_bytes=4e9, n_axes=2, n_hops=4, link_bytes_per_s=1e9, latency_s=1e-6))
    1.0
    """
    return np.maximum(n_hops * latency_s, payload_bytes / (2.0 * n_axes * link_bytes_per_s))


def hierarchical_all_reduce_s(
    *,
    payload_bytes: Floats,
    n_devices_per_node: Floats,
    n_nodes: Floats,
    node_bytes_per_s: Floats,
    network_bytes_per_s: Floats,
    latency_s: Floats,
) -> Floats:
    """All-reduce in two levels: scatter inside a node, reduce between nodes, gather inside.

        T = alpha + 2 (g - 1) / g V / W_u + 2 (N - 1) / N V / (g W_o)            [1, part 12]

    W_u and W_o are the rates of a device inside its node and out of it. Levels one after the other; alpha is the latency of
    the whole. With equal rates it takes as long as one ring around all.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/gpus/

    >>> rates = {"node_bytes_per_s": 4e9, "network_bytes_per_s": 1e9, "latency_s": 0.0}
    >>> hierarchical_all_reduce_s(payload_bytes=8e9, n_devices_per_node=4, n_nodes=2, **rates)
    5.0
    """
    inside = 2.0 * (n_devices_per_node - 1.0) / n_devices_per_node * payload_bytes / node_bytes_per_s
    between = 2.0 * (n_nodes - 1.0) / n_nodes * payload_bytes / (n_devices_per_node * network_bytes_per_s)
    return latency_s + inside + between


def tree_latency_s(
    *, n_devices: Floats, n_nodes: Floats, base_latency_s: Floats, node_latency_s: Floats, network_latency_s: Floats
) -> Floats:
    """Latency of an all-reduce along chains inside nodes and a tree between them, there and back.

        T = alpha_0 + 2 ((p / N - 1) alpha_u + log2(N) alpha_o)                  [1, collective latency]

    alpha_u and alpha_o are the latencies of a step inside a node and between nodes.

    [1] E. Erdil, "Inference economics of language models", Epoch AI, 2025. arXiv:2506.04645

    >>> latencies = {"base_latency_s": 0.0, "node_latency_s": 1.0, "network_latency_s": 5.0}
    >>> float(tree_latency_s(n_devices=16, n_nodes=2, **latencies))
    24.0
    """
    return base_latency_s + 2.0 * ((n_devices / n_nodes - 1.0) * node_latency_s + np.log2(n_nodes) * network_latency_s)


def links_bytes_per_s(*, n_links: Floats, link_bits_per_s: Floats) -> Floats:
    """Rate of links side by side, from their rate in bits.

        W_n = n b / 8                                                            [1, part 12]

    One direction. Networks are sold by the bit, memory by the byte.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/gpus/

    >>> links_bytes_per_s(n_links=8, link_bits_per_s=400e9)
    400000000000.0
    """
    return n_links * link_bits_per_s / BITS_PER_BYTE
