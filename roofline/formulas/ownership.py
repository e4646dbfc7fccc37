"""Owning: what money of later years is worth, electricity, and how many devices a supply of power carries."""

from __future__ import annotations

import numpy as np

from roofline.units import KILO, Floats


def present_frac(*, discount_frac: Floats, n_years: Floats) -> Floats:
    """Worth today of one unit of money paid after some years.

        v = (1 + i)^-n                                                           [1, PV]

    A fixed rate; nothing is said about inflation.

    [1] OASIS, "Open Document Format for Office Applications 1.2, part 2", 2011, sec. 6.12.

    >>> round(float(present_frac(discount_frac=0.25, n_years=1)), 6)
    0.8
    """
    return np.exp(-n_years * np.log1p(discount_frac))


def electricity_usd_per_h(*, power_w: Floats, pue: Floats, electricity_usd_per_kwh: Floats) -> Floats:
    """Price of the electricity of an hour.

        c = P PUE e / 1000                                                       [1, ch. 5]

    Power at the plug of the machine; the facility adds its share by PUE. A flat tariff.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> electricity_usd_per_h(power_w=700.0, pue=1.25, electricity_usd_per_kwh=0.08)
    0.07
    """
    return power_w * pue * electricity_usd_per_kwh / KILO


def n_devices_in_power(*, budget_w: Floats, device_w: Floats, pue: Floats) -> Floats:
    """Most devices that a supply of power carries.

        n = floor(P_supply / (P_device PUE))                                     [1, sec. 2]

    Device power with its share of the host; none is set aside for peaks above it.

    [1] X. Fan, W.-D. Weber, L. A. Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.

    >>> float(n_devices_in_power(budget_w=1e6, device_w=1250.0, pue=1.25))
    640.0
    """
    return np.floor(budget_w / (device_w * pue))
