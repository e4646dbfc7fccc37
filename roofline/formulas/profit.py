"""Profit: revenue at published prices, margins, volume that pays for a fixed cost."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def revenue_usd(
    *,
    n_cached_tokens: Floats,
    n_missed_tokens: Floats,
    n_output_tokens: Floats,
    cached_usd_per_token: Floats,
    input_usd_per_token: Floats,
    output_usd_per_token: Floats,
) -> Floats:
    """What tokens bring at list prices.

        Y = T_hit c_hit + T_miss c_in + G c_out                                  [1, statistics]

    Every token is sold at its price; discounts and free use are left out.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 inference system overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> prices = {"cached_usd_per_token": 0.1, "input_usd_per_token": 0.5, "output_usd_per_token": 2.0}
    >>> revenue_usd(n_cached_tokens=10, n_missed_tokens=10, n_output_tokens=10, **prices)
    26.0
    """
    prompts = n_cached_tokens * cached_usd_per_token + n_missed_tokens * input_usd_per_token
    return prompts + n_output_tokens * output_usd_per_token


def markup_ratio(*, revenue_usd: Floats, cost_usd: Floats) -> Floats:
    """Profit over cost.

        m = (Y - K) / K                                                          [1, statistics]

    Some call this the margin; it may be far above 1, which `gross_margin_ratio` cannot.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 inference system overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> markup_ratio(revenue_usd=300.0, cost_usd=100.0)
    2.0
    """
    return (revenue_usd - cost_usd) / cost_usd


def gross_margin_ratio(*, revenue_usd: Floats, cost_usd: Floats) -> Floats:
    """Profit over revenue.

        m = (Y - K) / Y                                                          [1, ch. 6]

    Below zero where cost exceeds revenue; never above 1.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> gross_margin_ratio(revenue_usd=400.0, cost_usd=100.0)
    0.75
    """
    return (revenue_usd - cost_usd) / revenue_usd


def break_even_tokens(*, fixed_usd: Floats, price_usd_per_token: Floats, marginal_usd_per_token: Floats) -> Floats:
    """Tokens whose sale, or whose purchase saved, pays for a fixed cost.

        T* = K / (c - v)                                                         [1, ch. 6]

    c is the price elsewhere or to customers, v what one more token costs to make. Infinite where it costs the price.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> float(break_even_tokens(fixed_usd=400.0, price_usd_per_token=5.0, marginal_usd_per_token=1.0))
    100.0
    """
    with np.errstate(divide="ignore"):
        return np.divide(fixed_usd, np.maximum(price_usd_per_token - marginal_usd_per_token, 0.0 * price_usd_per_token))
