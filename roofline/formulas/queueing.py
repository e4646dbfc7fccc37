"""Queues: waiting time at a service, and Little's law."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats

MOST_SERVERS = 100_000
"""Largest group that recursions over servers are followed for; more have no value here."""


def erlang_b_frac(*, n_servers: Floats, offered_load: Floats) -> Floats:
    """Probability that an arrival is turned away where nobody may wait.

        B_c = a B_(c-1) / (c + a B_(c-1)),  B_0 = 1                              [1, sec. 3.6]

    The load a is arrival rate times service time. Poisson arrivals, any service time, whole servers. The recursion takes as
    many rounds as the largest group has servers, at most a hundred thousand: more servers than that have no value here.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> round(float(erlang_b_frac(n_servers=2, offered_load=1.0)), 4)
    0.2
    """
    blocked = 1.0 + 0.0 * n_servers * offered_load
    for j in range(1, int(np.minimum(np.max(n_servers), MOST_SERVERS)) + 1):
        blocked = np.where(j <= n_servers, offered_load * blocked / (j + offered_load * blocked), blocked)
        if not np.any(blocked):
            break
    return np.where(n_servers > MOST_SERVERS, np.nan, blocked)


def erlang_c_frac(*, n_servers: Floats, offered_load: Floats) -> Floats:
    """Probability that an arrival has to wait.

        C = c B_c / (c - a (1 - B_c))                                            [1, sec. 3.5]

    B_c is `erlang_b_frac`. Poisson arrivals, exponential service, one queue, whole servers. 1 where the load reaches the
    servers.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> round(float(erlang_c_frac(n_servers=2, offered_load=1.0)), 4), float(erlang_c_frac(n_servers=0, offered_load=0.0))
    (0.3333, 1.0)
    """
    blocked = erlang_b_frac(n_servers=n_servers, offered_load=offered_load)
    full = offered_load >= n_servers
    idle = np.where(full, 1.0, n_servers - offered_load * (1.0 - blocked))
    return np.where(full, 1.0, n_servers * blocked / idle)


def fewest_servers(*, offered_load: Floats, wait_frac: Floats) -> Floats:
    """Fewest servers at which no more than a share of arrivals waits.

        c* = min {c : C(c, a) <= w}                                              [1, sec. 3.5]

    C is `erlang_c_frac`, assumptions as there. Infinite where nobody may wait, or the load is; no value beyond a hundred
    thousand servers.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> float(fewest_servers(offered_load=1.0, wait_frac=0.4))
    2.0
    """
    load, most = np.broadcast_arrays(offered_load, wait_frac)
    never = np.isinf(load) | (most <= 0.0)
    found = np.where(never, np.inf, np.where(np.isnan(load + most) | (load > MOST_SERVERS), np.nan, 0.0))
    servers, blocked = 0, np.ones(load.shape)
    while np.any(found == 0.0):
        servers += 1
        if servers > MOST_SERVERS:
            return np.where(found == 0.0, np.nan, found)
        blocked = load * blocked / (servers + load * blocked)
        few = servers * blocked <= most * (servers - load * (1.0 - blocked))
        found = np.where((found == 0.0) & few, servers, found)
    return found


def mmc_wait_s(*, n_servers: Floats, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean wait before service with Poisson arrivals and exponential service.

        W_q = C s / (c - a),  a = lambda s                                       [1, sec. 3.5]

    C is `erlang_c_frac`, assumptions as there. Infinite where the load reaches the servers.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> round(float(mmc_wait_s(n_servers=1, arrivals_per_s=0.5, service_s=1.0)), 3)
    1.0
    """
    load = arrivals_per_s * service_s
    waiting = erlang_c_frac(n_servers=n_servers, offered_load=load)
    with np.errstate(divide="ignore"):
        return np.divide(waiting * service_s, np.maximum(n_servers - load, 0.0))


def mmc_wait_quantile_s(*, n_servers: Floats, arrivals_per_s: Floats, service_s: Floats, quantile_frac: Floats) -> Floats:
    """Wait before service that a share of arrivals does not exceed, Poisson arrivals and exponential service.

        t_q = max(0, s / (c - a) ln(C / (1 - q)))                                [1, sec. 3.5]

    The tail of the wait is C exp(-(c - a) t / s), C as in `erlang_c_frac`. Infinite where the load reaches the servers.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> round(float(mmc_wait_quantile_s(n_servers=1, arrivals_per_s=0.5, service_s=1.0, quantile_frac=0.95)), 3)
    4.605
    """
    load = arrivals_per_s * service_s
    waiting = erlang_c_frac(n_servers=n_servers, offered_load=load)
    with np.errstate(divide="ignore"):
        spread = np.divide(service_s, np.maximum(n_servers - load, 0.0))
        return spread * np.log(np.maximum(1.0, np.divide(waiting, np.subtract(1.0, quantile_frac))))


def mg1_wait_s(*, arrivals_per_s: Floats, service_s: Floats, variation_ratio: Floats) -> Floats:
    """Mean wait before service with Poisson arrivals and one server of any service time.

        W_q = lambda s^2 (1 + v^2) / (2 (1 - lambda s))                          [1, sec. 5.7, Pollaczek-Khinchine]

    v is the standard deviation of the service time over its mean: 0 for prompts of equal length, 1 for exponential service.
    Infinite where the load reaches one.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> float(mg1_wait_s(arrivals_per_s=0.5, service_s=1.0, variation_ratio=1.0))
    1.0
    """
    steady = md1_wait_s(arrivals_per_s=arrivals_per_s, service_s=service_s)
    return steady * (1.0 + variation_ratio * variation_ratio)


def md1_wait_s(*, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean wait before service with Poisson arrivals and one server of constant service time.

        W_q = lambda s^2 / (2 (1 - lambda s))                                    [1, eq. 1, less the service]

    Half the wait under exponential service. Infinite where the load reaches one. Prefill of equal prompts is such a queue.

    [1] Y. Zhong et al., "DistServe", OSDI 2024. arXiv:2401.09670

    >>> float(md1_wait_s(arrivals_per_s=0.5, service_s=1.0))
    0.5
    """
    load = arrivals_per_s * service_s
    with np.errstate(divide="ignore"):
        return np.divide(load * service_s, 2.0 * np.maximum(1.0 - load, 0.0))


def md1_sojourn_s(*, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean time from arrival to the end of service with Poisson arrivals and one server of constant service time.

        W = s + lambda s^2 / (2 (1 - lambda s))                                  [1, eq. 1]

    `md1_wait_s` and the service; assumptions as there.

    [1] Y. Zhong et al., "DistServe", OSDI 2024. arXiv:2401.09670

    >>> float(md1_sojourn_s(arrivals_per_s=0.5, service_s=1.0))
    1.5
    """
    return service_s + md1_wait_s(arrivals_per_s=arrivals_per_s, service_s=service_s)


def littles_law_sequences(*, arrivals_per_s: Floats, time_in_system_s: Floats) -> Floats:
    """Sequences in a system in steady state.

        N = lambda W                                                             [1]

    Holds whatever the distributions and the order of service, in a system that keeps up.

    [1] J. Little, "A proof for the queuing formula L = lambda W", Oper. Res. 9(3), 1961.

    >>> littles_law_sequences(arrivals_per_s=10.0, time_in_system_s=3.0)
    30.0
    """
    return arrivals_per_s * time_in_system_s


def window_wait_s(*, window_s: Floats) -> Floats:
    """Mean wait for a batch that is collected over a fixed window.

        W = w / 2                                                                [1, sec. 5.1, residual life]

    Arrivals fall anywhere in the window with equal probability; the worst waits all of it. No early dispatch.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> window_wait_s(window_s=0.2)
    0.1
    """
    return window_s / 2.0
