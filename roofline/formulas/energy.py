"""Energy and carbon of a token."""

from __future__ import annotations

from roofline.units import KILO, SECONDS_PER_HOUR, Floats


def energy_j_per_token(*, n_devices: Floats, power_w: Floats, pue: Floats, tokens_per_s: Floats) -> Floats:
    """Energy of a token at a system's power and rate.

        e = n P PUE / R                                                          [1]

    Power is what one device draws at that load, its share of the host included where it is known.

    [1] D. Patterson et al., "Carbon emissions and large neural network training", 2021. arXiv:2104.10350

    >>> energy_j_per_token(n_devices=8, power_w=500.0, pue=1.25, tokens_per_s=10_000.0)
    0.5
    """
    return n_devices * power_w * pue / tokens_per_s


def carbon_g_per_token(*, energy_j_per_token: Floats, grid_g_per_kwh: Floats) -> Floats:
    """Carbon dioxide equivalent of a token.

        g = e / 3.6e6 G                                                          [1]

    G is the mean, location-based intensity of the grid; making the hardware is left out.

    [1] D. Patterson et al., "Carbon emissions and large neural network training", 2021. arXiv:2104.10350

    >>> round(carbon_g_per_token(energy_j_per_token=3600.0, grid_g_per_kwh=400.0), 3)
    0.4
    """
    return energy_j_per_token / (KILO * SECONDS_PER_HOUR) * grid_g_per_kwh


def electricity_usd_per_token(*, energy_j_per_token: Floats, electricity_usd_per_kwh: Floats) -> Floats:
    """Price of the electricity of a token.

        c = e p / 3.6e6                                                          [1, app. B.8: joules in a kWh]

    A flat tariff; demand charges are left out.

    [1] A. Thompson, B. N. Taylor, "Guide for the Use of the International System of Units", NIST SP 811, 2008.

    >>> electricity_usd_per_token(energy_j_per_token=36.0, electricity_usd_per_kwh=0.1)
    1e-06
    """
    return energy_j_per_token * electricity_usd_per_kwh / (KILO * SECONDS_PER_HOUR)
