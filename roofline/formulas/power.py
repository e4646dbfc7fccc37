"""Power of devices: what they draw under load, and how many a supply carries."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def power_at_load_w(*, rated_w: Floats, idle_frac: Floats, load_frac: Floats) -> Floats:
    """Power a device draws when part of it is busy.

        P = P_rated (i + (1 - i) u)                                              [1, sec. 4: linear between idle and peak]

    u is the share of the resource that binds which is at work: of peak arithmetic or of memory bandwidth.

    [1] X. Fan, W.-D. Weber, L. A. Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.

    >>> round(power_at_load_w(rated_w=700.0, idle_frac=0.2, load_frac=0.5), 6)
    420.0
    """
    return rated_w * (idle_frac + (1.0 - idle_frac) * load_frac)


def n_devices_in_power(*, budget_w: Floats, device_w: Floats, pue: Floats) -> Floats:
    """Most devices that a supply of power carries.

        n = floor(P_supply / (P_device PUE))                                     [1, sec. 2]

    Device power with its share of the host; none is set aside for peaks above it.

    [1] X. Fan, W.-D. Weber, L. A. Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.

    >>> float(n_devices_in_power(budget_w=1e6, device_w=1250.0, pue=1.25))
    640.0
    """
    return np.floor(budget_w / (device_w * pue))
