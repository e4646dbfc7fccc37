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


def mean_power_w(*, idle_power_w: Floats, busy_power_w: Floats, utilisation_frac: Floats) -> Floats:
    """Mean power of a device that is busy for a share of the time.

        P = P_idle + (P_busy - P_idle) u                                         [1, sec. 5.3]

    In proportion to use; over a day, u is the share of it in which the device works.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> mean_power_w(idle_power_w=100.0, busy_power_w=700.0, utilisation_frac=0.5)
    400.0
    """
    return idle_power_w + (busy_power_w - idle_power_w) * utilisation_frac


def embodied_g_per_token(*, embodied_g: Floats, life_s: Floats, tokens_per_s: Floats, utilisation_frac: Floats) -> Floats:
    """Carbon dioxide equivalent of making a device, spread over the tokens of its life.

        g = E / (y R u)                                                          [1, eq. 5]

    Straight-line; E covers one device with its share of the server, R is what that device delivers. What running it emits is
    `carbon_g_per_token`.

    [1] U. Gupta et al., "ACT: Designing sustainable computer systems with an architectural carbon modeling tool", ISCA 2022.

    >>> embodied_g_per_token(embodied_g=1.5e5, life_s=1.5e8, tokens_per_s=100.0, utilisation_frac=0.5)
    2e-05
    """
    return embodied_g / (life_s * tokens_per_s * utilisation_frac)
