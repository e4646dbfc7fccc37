"""Money: price of device time joined to a token rate."""

from __future__ import annotations

import numpy as np

from roofline.units import HOURS_PER_YEAR, KILO, SECONDS_PER_HOUR, Floats


def rental_usd_per_token(*, n_devices: Floats, price_usd_per_h: Floats, tokens_per_s: Floats, utilisation_frac: Floats) -> Floats:
    """Price of a token on rented devices.

        c = n p / (3600 R u)                                                     [1]

    All devices are paid for all the time; u is the share of it in which tokens are made.

    [1] E. Erdil, "Inference economics of language models", Epoch AI, 2025. arXiv:2506.04645

    >>> round(rental_usd_per_token(n_devices=1, price_usd_per_h=3.6, tokens_per_s=1000.0, utilisation_frac=1.0) * 1e6, 6)
    1.0
    """
    return n_devices * price_usd_per_h / (SECONDS_PER_HOUR * tokens_per_s * utilisation_frac)


def ownership_usd_per_h(
    *,
    purchase_usd: Floats,
    residual_frac: Floats,
    life_years: Floats,
    utilisation_frac: Floats,
    power_w: Floats,
    pue: Floats,
    electricity_usd_per_kwh: Floats,
) -> Floats:
    """Price of a used hour of a device that is owned.

        p = K (1 - r) / (8766 y u) + P PUE e / 1000                              [1, ch. 6]

    Straight-line over its life; power is drawn in the used hours only. Staff, space and capital cost are left out.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> power = {"power_w": 700.0, "pue": 1.3, "electricity_usd_per_kwh": 0.08}
    >>> round(ownership_usd_per_h(purchase_usd=30000.0, residual_frac=0.0, life_years=4.0, utilisation_frac=0.6, **power), 2)
    1.5
    """
    capital = purchase_usd * (1.0 - residual_frac) / (HOURS_PER_YEAR * life_years * utilisation_frac)
    return capital + power_w * pue * electricity_usd_per_kwh / KILO


def blended_usd_per_token(
    *, input_usd_per_token: Floats, output_usd_per_token: Floats, n_input_tokens: Floats, n_output_tokens: Floats
) -> Floats:
    """Mean price of a token of a request.

        c = (T c_in + G c_out) / (T + G)                                         [1]

    Each token weighs the same, so the mix decides; published blends often fix T : G at 3 : 1.

    [1] Artificial Analysis, "Methodology", blended price. https://artificialanalysis.ai/methodology

    >>> blended_usd_per_token(input_usd_per_token=1.0, output_usd_per_token=4.0, n_input_tokens=2, n_output_tokens=1)
    2.0
    """
    spent = n_input_tokens * input_usd_per_token + n_output_tokens * output_usd_per_token
    return spent / (n_input_tokens + n_output_tokens)


def break_even_utilisation_frac(*, capital_usd_per_h: Floats, rent_usd_per_h: Floats, power_usd_per_h: Floats) -> Floats:
    """Share of the time above which owning a device is cheaper than renting one by the hour.

        u* = k / (p_rent - p_power)                                              [1, ch. 6]

    Capital accrues all the time, power and rent only in used hours: k / u + p_power = p_rent. Above 1 owning never pays;
    infinite where power alone costs the rent.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> float(break_even_utilisation_frac(capital_usd_per_h=0.8, rent_usd_per_h=2.1, power_usd_per_h=0.1))
    0.4
    """
    with np.errstate(divide="ignore"):
        return np.divide(capital_usd_per_h, np.maximum(rent_usd_per_h - power_usd_per_h, 0.0 * rent_usd_per_h))


def rental_usd(*, n_devices: Floats, price_usd_per_h: Floats, rented_h: Floats) -> Floats:
    """Bill for devices rented over a time.

        K = n p t                                                                [1, statistics]

    Used or not. A month is 730.5 hours on average.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 inference system overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> rental_usd(n_devices=8, price_usd_per_h=2.0, rented_h=24.0)
    384.0
    """
    return n_devices * price_usd_per_h * rented_h


def work_flops_per_usd(*, peak_flops_per_s: Floats, price_usd_per_h: Floats) -> Floats:
    """Most work that a dollar of device time buys.

        f = 3600 C / p                                                           [1, part 8]

    At the dense peak. Tables that print C / p mean FLOP/s for a dollar an hour, 3600 times less.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> work_flops_per_usd(peak_flops_per_s=1e15, price_usd_per_h=3.6)
    1e+18
    """
    return SECONDS_PER_HOUR * peak_flops_per_s / price_usd_per_h
