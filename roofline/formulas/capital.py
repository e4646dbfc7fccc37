"""Capital: paying off a purchase, and owning against renting."""

from __future__ import annotations

import numpy as np

from roofline.units import HOURS_PER_YEAR, KILO, Floats


def payment_usd(*, purchase_usd: Floats, residual_frac: Floats, n_payments: Floats, interest_frac: Floats) -> Floats:
    """Equal payment at the end of each period that pays off a purchase, less what it sells for in the end.

        A = K i (1 - r (1 + i)^-n) / (1 - (1 + i)^-n)                            [1, pmt]

    i is the interest, or cost of capital, of one period; n a number of periods. K (1 - r) / n without interest, written
    with expm1 and log1p so that it gets there smoothly. Without residual, A / K is the capital recovery factor.

    [1] NumPy Financial. https://numpy.org/numpy-financial/latest/pmt.html

    >>> round(float(payment_usd(purchase_usd=1000.0, residual_frac=0.0, n_payments=10, interest_frac=0.08)), 2)
    149.03
    """
    growth = np.log1p(interest_frac)
    repaid = -np.expm1(-n_payments * growth)
    free = repaid <= 0.0
    factor = np.where(free, 1.0 / n_payments, interest_frac / np.where(free, 1.0, repaid))
    return purchase_usd * (factor * (1.0 - residual_frac) + interest_frac * residual_frac)


def total_ownership_usd_per_h(
    *,
    capital_usd_per_year: Floats,
    staff_usd_per_year: Floats,
    hosting_usd_per_year: Floats,
    power_w: Floats,
    pue: Floats,
    electricity_usd_per_kwh: Floats,
    utilisation_frac: Floats,
) -> Floats:
    """Price of a used hour of a device, with capital, staff and hosting.

        p = ((k + s + h) / 8766 + P PUE e / 1000) / u                            [1, ch. 6]

    Everything accrues all the time: power is the mean over used and idle hours (`mean_power_w`). Capital comes from
    `payment_usd`; staff and hosting are one device's share.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> yearly = {"capital_usd_per_year": 8000.0, "staff_usd_per_year": 400.0, "hosting_usd_per_year": 366.0}
    >>> power = {"power_w": 500.0, "pue": 1.2, "electricity_usd_per_kwh": 0.1}
    >>> round(total_ownership_usd_per_h(**yearly, **power, utilisation_frac=0.5), 2)
    2.12
    """
    yearly = capital_usd_per_year + staff_usd_per_year + hosting_usd_per_year
    return (yearly / HOURS_PER_YEAR + power_w * pue * electricity_usd_per_kwh / KILO) / utilisation_frac


def break_even_h(*, purchase_usd: Floats, rent_usd_per_h: Floats, running_usd_per_h: Floats) -> Floats:
    """Hours of use after which a purchase has cost less than renting.

        t* = K / (p_rent - p_run)                                                [1, ch. 6]

    Without interest and without residual. Infinite where running it costs the rent.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> float(break_even_h(purchase_usd=20_000.0, rent_usd_per_h=2.1, running_usd_per_h=0.1))
    10000.0
    """
    with np.errstate(divide="ignore"):
        return np.divide(purchase_usd, np.maximum(rent_usd_per_h - running_usd_per_h, 0.0 * rent_usd_per_h))
