"""Collectives over links of two kinds: fast ones inside a node, slow ones between nodes."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def all_reduce_double_tree_s(*, payload_bytes: Floats, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """All-reduce over two binary trees, each of which carries half of the payload up and down again.

        T = 2 alpha log2(p) + 2 V / W_n                                          [1, sec. 5]

    An inner node of one tree is a leaf of the other, so that every link is full. Fewer waits than a ring in large groups,
    more bytes than a ring in small ones; one device takes no time.

    [1] P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
        Computing 35(12), 2009.

    >>> float(all_reduce_double_tree_s(payload_bytes=1e9, n_devices=8, link_bytes_per_s=1e9, latency_s=0.5))
    5.0
    """
    sends = np.where(np.asarray(n_devices) > 1.0, 2.0, 0.0)
    return 2.0 * np.log2(n_devices) * latency_s + sends * payload_bytes / link_bytes_per_s


def all_reduce_two_level_s(
    *, payload_bytes: Floats, n_inside: Floats, n_nodes: Floats, inside_bytes_per_s: Floats, between_bytes_per_s: Floats
) -> Floats:
    """Least time of an all-reduce that adds up inside nodes, then between them, and hands the sum out inside again.

        T = 2 V max( (g - 1) / (g W_1), (n - 1) / (n g W_2) )                    [1, part 12]

    Each of g devices of a node takes its share of the payload over its own link to the other nodes. Levels overlap, no latency.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/gpus/

    >>> float(all_reduce_two_level_s(payload_bytes=8e9, n_inside=8, n_nodes=2, inside_bytes_per_s=1e12, between_bytes_per_s=5e10))
    0.02
    """
    inside = (n_inside - 1.0) / n_inside / inside_bytes_per_s
    between = (n_nodes - 1.0) / n_nodes / n_inside / between_bytes_per_s
    return 2.0 * payload_bytes * np.maximum(inside, between)
