"""How long an arrival waits: percentiles of a wait, and what collecting a batch adds."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def wait_percentile_s(*, mean_wait_s: Floats, load_frac: Floats, percentile_frac: Floats) -> Floats:
    """Wait that a share of the arrivals stays below.

        P(W > t) = rho exp(-rho t / W_q),  t_p = max(0, W_q / rho ln(rho / (1 - p)))          [1, sec. 3.2; 2]

    Exact with Poisson arrivals and one server of exponential service; for other service times the tail that heavy traffic
    gives, with the right mean and the right share that does not wait: up to 30 % too long for constant service at low load.
    Zero where nothing is asked of the server.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975. [2] J. Kingman, "The single server queue in heavy traffic", 1961.

    >>> round(float(wait_percentile_s(mean_wait_s=1.0, load_frac=0.5, percentile_frac=0.9)), 3)
    3.219
    """
    waits = np.add(load_frac, percentile_frac) > 1.0
    load = np.where(waits, load_frac, 1.0)
    late = mean_wait_s / load * np.log(load / np.subtract(1.0, np.where(waits, percentile_frac, 0.0)))
    return np.where(waits, late, 0.0 * mean_wait_s)


def collected_wait_s(*, window_s: Floats, arrivals_per_s: Floats, service_s: Floats) -> Floats:
    """Mean wait for those that were collected in the same window and are served first.

        W = lambda w s / 2                                                       [1]

    Half of what a window collects is ahead of an arrival on average. Poisson arrivals, one server, served in turn.

    [1] L. Kleinrock, "Queueing Systems", vol. 1, Wiley, 1975, bulk arrivals.

    >>> collected_wait_s(window_s=2.0, arrivals_per_s=3.0, service_s=0.5)
    1.5
    """
    return 0.5 * window_s * arrivals_per_s * service_s
