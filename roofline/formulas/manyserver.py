"""How seldom anybody waits where servers are very many: the limit of the queue, in one step."""

from __future__ import annotations

import math

import numpy as np

from roofline.units import Floats

_cumulative_erf = np.vectorize(math.erf, otypes=[float])


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
