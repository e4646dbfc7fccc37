"""Queues: waiting time at a service, and Little's law."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def erlang_c_frac(*, n_servers: int, offered_load: Floats) -> Floats:
    """Probability that an arrival has to wait.

        B_0 = 1,  B_j = a B_(j-1) / (j + a B_(j-1)),  C = c B_c / (c - a (1 - B_c))        [1]

    Poisson arrivals, exponential service, one queue. 1 where the offered load reaches the servers.

    [1] A. K. Erlang, 1917; the stable recursion over servers is standard (e.g. L. Kleinrock, "Queueing Systems", vol. 1, 1975).

    >>> round(float(erlang_c_frac(n_servers=2, offered_load=1.0)), 4)
    0.3333
    """
    a = np.asarray(offered_load)
    blocked = np.ones_like(a * 1.0)
    for j in range(1, n_servers + 1):
        blocked = a * blocked / (j + a * blocked)
    stable = a < n_servers
    left = np.where(stable, n_servers - a * (1.0 - blocked), 1.0)
    return np.where(stable, n_servers * blocked / left, 1.0)


def mmc_wait_s(*, n_servers: int, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean wait before service with Poisson arrivals and exponential service.

        W_q = C s / (c - a),  a = lambda s                                       [1]

    Infinite where the load reaches the servers.

    [1] A. K. Erlang, 1917; L. Kleinrock, "Queueing Systems", vol. 1, 1975.

    >>> round(float(mmc_wait_s(n_servers=1, arrivals_per_s=0.5, service_s=1.0)), 3)
    1.0
    """
    a = arrivals_per_s * service_s
    free = np.where(a < n_servers, n_servers - a, np.nan)
    waits = erlang_c_frac(n_servers=n_servers, offered_load=a) * service_s / free
    return np.where(a < n_servers, waits, np.inf)


def md1_sojourn_s(*, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean time in a queue with Poisson arrivals and one server of constant service time, service included.

        W = s + lambda s^2 / (2 (1 - lambda s))                                  [1, eq. 1]

    Infinite where the load reaches one.

    [1] Y. Zhong et al., "DistServe", OSDI 2024. arXiv:2401.09670

    >>> md1_sojourn_s(arrivals_per_s=0.5, service_s=1.0).item()
    1.5
    """
    load = np.asarray(arrivals_per_s * service_s)
    free = np.where(load < 1.0, 1.0 - load, np.nan)
    return np.where(load < 1.0, service_s + load * service_s / (2.0 * free), np.inf)


def littles_law_sequences(*, arrivals_per_s: Floats, time_in_system_s: Floats) -> Floats:
    """Sequences in a system in steady state.

        N = lambda W                                                             [1]

    Holds whatever the distributions.

    [1] J. Little, "A proof for the queuing formula L = lambda W", Oper. Res. 9(3), 1961.

    >>> littles_law_sequences(arrivals_per_s=10.0, time_in_system_s=3.0)
    30.0
    """
    return arrivals_per_s * time_in_system_s
