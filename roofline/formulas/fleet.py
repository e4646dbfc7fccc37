"""Fleets: users into requests, requests into replicas, and how seldom anybody waits in a large pool."""

from __future__ import annotations

import math

import numpy as np

from roofline.units import Floats

_cumulative_erf = np.vectorize(math.erf, otypes=[float])


def mean_arrivals_per_s(*, n_users: Floats, n_requests: Floats, period_s: Floats) -> Floats:
    """Requests a second, on average over day and night.

        lambda = U m / t                                                         [1]

    Every user makes m requests in a period t.

    [1] J. Little, "A proof for the queuing formula L = lambda W", Oper. Res. 9(3), 1961.

    >>> mean_arrivals_per_s(n_users=604800, n_requests=7, period_s=604800.0)
    7.0
    """
    return n_users * n_requests / period_s


def replica_request_s(
    *,
    n_input_tokens: Floats,
    n_output_tokens: Floats,
    cached_frac: Floats,
    cached_ratio: Floats,
    prefill_tokens_per_s: Floats,
    decode_tokens_per_s: Floats,
) -> Floats:
    """Time of a replica that a request takes, its prompt partly cached.

        s = T ((1 - h) + h r) / R_prefill + G / R_decode                         [1, Statistics: nodes from tokens and rates]

    Rates are those of a full replica; r is the time of a cached prompt token over that of one computed anew. Prefill and decode
    may run on the same devices or on devices of their own: their times add either way.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 Inference System Overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> rates = {"prefill_tokens_per_s": 10000.0, "decode_tokens_per_s": 1000.0}
    >>> replica_request_s(n_input_tokens=1000, n_output_tokens=100, cached_frac=0.5, cached_ratio=0.0, **rates)
    0.15000000000000002
    """
    computed = (1.0 - cached_frac) + cached_frac * cached_ratio
    return n_input_tokens * computed / prefill_tokens_per_s + n_output_tokens / decode_tokens_per_s


def n_replicas(*, arrivals_per_s: Floats, request_s: Floats, utilisation_frac: Floats) -> Floats:
    """Whole replicas that carry a load when each may be busy a share of the time.

        n = ceil(lambda s / u)                                                   [1]

    The share that is not used is headroom: for bursts shorter than the hour planned for, and against queueing.

    [1] J. Little, "A proof for the queuing formula L = lambda W", Oper. Res. 9(3), 1961.

    >>> float(n_replicas(arrivals_per_s=100.0, request_s=0.15, utilisation_frac=0.5))
    30.0
    """
    return np.ceil(arrivals_per_s * request_s / utilisation_frac)


def pool_waiting_frac(*, n_servers: Floats, offered_load: Floats) -> Floats:
    """Probability that an arrival at a large pool has to wait.

        P = 1 / (1 + b N(b) / phi(b)),  b = (1 - a / c) sqrt(c)                  [1, eq. 2.2]

    The limit of `erlang_c_frac` for many servers, good to a few per cent from a hundred on, in one step whatever their number.
    N and phi are the normal distribution and its density. 1 where the load reaches the servers.

    [1] S. Halfin, W. Whitt, "Heavy-traffic limits for queues with many exponential servers", Oper. Res. 29(3), 1981.

    >>> round(float(pool_waiting_frac(n_servers=110, offered_load=100.0)), 2)
    0.24
    """
    slack = np.maximum(1.0 - offered_load / n_servers, 0.0) * np.sqrt(n_servers)
    density = np.exp(-(slack**2) / 2.0) / math.sqrt(2.0 * math.pi)
    below = (1.0 + _cumulative_erf(slack / math.sqrt(2.0))) / 2.0
    with np.errstate(divide="ignore", over="ignore"):
        found: Floats = 1.0 / (1.0 + np.divide(slack * below, density))
    return found
