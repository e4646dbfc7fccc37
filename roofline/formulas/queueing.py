"""Queues: waiting time at a service, and Little's law."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def erlang_c_frac(*, n_servers: Floats, offered_load: Floats) -> Floats:
    """Probability that an arrival has to wait.

        C = c B_c / (c - a (1 - B_c)),  B_j = a B_(j-1) / (j + a B_(j-1)),  B_0 = 1        [1, sec. 3.5]

    The load a is arrival rate times service time. Poisson arrivals, exponential service, one queue, whole servers. 1 where
    the load reaches the servers. The recursion takes as many rounds as the largest group has servers.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975.

    >>> round(float(erlang_c_frac(n_servers=2, offered_load=1.0)), 4)
    0.3333
    """
    blocked = 1.0 + 0.0 * n_servers * offered_load
    for j in range(1, int(np.max(n_servers)) + 1):
        blocked = np.where(j <= n_servers, offered_load * blocked / (j + offered_load * blocked), blocked)
    idle = np.maximum(n_servers - offered_load * (1.0 - blocked), blocked)
    return np.minimum(1.0, n_servers * blocked / idle)


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
