"""All-to-all of tokens between devices that hold different experts, over nodes."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def expert_exchange_s(*, payload_bytes: Floats, outside_frac: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """One dispatch, or one combine: the kernels that send and receive, and what leaves over the link.

        T = alpha + V o / W_n                                                    [1, performance of low-latency kernels]

    V is what one device sends to all experts chosen, o the share of it that the link carries: 1 - 1 / N over N nodes. Messages
    go to all devices at once, so alpha does not grow with their number: with 31 us and 0.89 of the link, 22 published times
    over two to 32 nodes are met within 9 % [1, 2].

    [1] DeepSeek, DeepEP, 2025. https://github.com/deepseek-ai/DeepEP, docs/legacy.md
    [2] N. Licker et al., "fabric-lib: RDMA point-to-point communication for LLM systems", MLSys 2026. arXiv:2510.27656

    >>> round(expert_exchange_s(payload_bytes=7.57e6, outside_frac=0.75, link_bytes_per_s=44.5e9, latency_s=31e-6) * 1e6)
    159
    """
    return latency_s + payload_bytes * outside_frac / link_bytes_per_s


def visited_nodes(*, n_nodes: Floats, n_active_experts: Floats, n_groups: Floats, n_active_groups: Floats) -> Floats:
    """Nodes that hold an expert of a token's choice, on average.

        n = r (1 - (1 - 1/r)^k),   r = N (1 - (1 - g/G)^max(1, G/N))             [1, sec. 4.3, node-limited routing]

    Experts lie on N nodes in G groups, of which g are eligible for a token; r nodes hold one of these, and k choices fall on
    them alike. One group stands for no groups.

    [1] C. Zhao et al., "Insights into DeepSeek-V3", ISCA 2025. arXiv:2505.09343

    >>> groups = {"n_groups": 8, "n_active_groups": 4}
    >>> round(float(visited_nodes(n_nodes=8, n_active_experts=8, **groups)), 2)
    3.6
    """
    missed = np.maximum(0.0, 1.0 - np.divide(n_active_groups, n_groups)) ** np.maximum(1.0, np.divide(n_groups, n_nodes))
    reached = np.maximum(1.0, n_nodes * (1.0 - missed))
    return reached * (1.0 - (1.0 - 1.0 / reached) ** n_active_experts)
