"""Owning: capital spread over years, present values, electricity, and when an API would have been cheaper."""

from __future__ import annotations

import numpy as np

from roofline.units import KILO, SECONDS_PER_HOUR, Floats


def annuity_frac(*, discount_frac: Floats, n_years: Floats) -> Floats:
    """Equal yearly payment that repays a sum with interest, as a share of it.

        a = i / (1 - (1 + i)^-n),  1 / n where i = 0                             [1, PMT]

    Paid at the end of every year; n periods of any other length work alike.

    [1] OASIS, "Open Document Format for Office Applications 1.2, part 2", 2011, sec. 6.12. (PMT, PV, NPV)

    >>> round(float(annuity_frac(discount_frac=0.08, n_years=4)), 6)
    0.301921
    """
    growth = n_years * np.log1p(discount_frac)
    with np.errstate(divide="ignore", invalid="ignore"):
        repaid = np.divide(discount_frac, -np.expm1(-growth))
    return np.where(discount_frac == 0, 1.0 / n_years, repaid)


def present_frac(*, discount_frac: Floats, n_years: Floats) -> Floats:
    """Worth today of one unit of money paid after some years.

        v = (1 + i)^-n                                                           [1, PV]

    A fixed rate; nothing is said about inflation.

    [1] OASIS, "Open Document Format for Office Applications 1.2, part 2", 2011, sec. 6.12.

    >>> round(float(present_frac(discount_frac=0.25, n_years=1)), 6)
    0.8
    """
    return np.exp(-n_years * np.log1p(discount_frac))


def yearly_capital_usd(*, outlay_usd: Floats, residual_frac: Floats, discount_frac: Floats, n_years: Floats) -> Floats:
    """What a machine costs in every year of its life: write-off and interest, less what it still fetches.

        k = K (1 - r v) a                                                        [1, PMT with a final value]

    a is `annuity_frac`, v is `present_frac` at the end of life. Without interest this is straight-line: K (1 - r) / n.

    [1] OASIS, "Open Document Format for Office Applications 1.2, part 2", 2011, sec. 6.12.

    >>> float(yearly_capital_usd(outlay_usd=40000.0, residual_frac=0.1, discount_frac=0.0, n_years=4))
    9000.0
    """
    final = residual_frac * present_frac(discount_frac=discount_frac, n_years=n_years)
    return outlay_usd * (1.0 - final) * annuity_frac(discount_frac=discount_frac, n_years=n_years)


def electricity_usd_per_h(*, power_w: Floats, pue: Floats, electricity_usd_per_kwh: Floats) -> Floats:
    """Price of the electricity of an hour.

        c = P PUE e / 1000                                                       [1, ch. 5]

    Power at the plug of the machine; the facility adds its share by PUE. A flat tariff.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> electricity_usd_per_h(power_w=700.0, pue=1.25, electricity_usd_per_kwh=0.08)
    0.07
    """
    return power_w * pue * electricity_usd_per_kwh / KILO


def request_usd(
    *,
    n_input_tokens: Floats,
    n_output_tokens: Floats,
    cached_frac: Floats,
    input_usd_per_token: Floats,
    cached_usd_per_token: Floats,
    output_usd_per_token: Floats,
) -> Floats:
    """Price of a request, its prompt partly cached.

        c = T ((1 - h) c_in + h c_hit) + G c_out                                 [1, Statistics]

    h is the share of prompt tokens found in a cache. Every token has one price, whatever its place.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 Inference System Overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> price = {"input_usd_per_token": 2.0, "cached_usd_per_token": 1.0, "output_usd_per_token": 4.0}
    >>> request_usd(n_input_tokens=10, n_output_tokens=5, cached_frac=0.5, **price)
    35.0
    """
    prompt = (1.0 - cached_frac) * input_usd_per_token + cached_frac * cached_usd_per_token
    return n_input_tokens * prompt + n_output_tokens * output_usd_per_token


def break_even_tokens_per_s(*, cost_usd_per_h: Floats, price_usd_per_token: Floats) -> Floats:
    """Token rate at which a machine costs as much as buying the same tokens.

        R* = p / (3600 c)                                                        [1, rearranged]

    The machine is paid for all the time. Above what it can make, it never pays; infinite where tokens are free.

    [1] E. Erdil, "Inference economics of language models", Epoch AI, 2025. arXiv:2506.04645

    >>> round(float(break_even_tokens_per_s(cost_usd_per_h=3.6, price_usd_per_token=1e-6)), 6)
    1000.0
    """
    with np.errstate(divide="ignore"):
        return np.divide(cost_usd_per_h, price_usd_per_token) / SECONDS_PER_HOUR


def payback_h(*, outlay_usd: Floats, bought_usd_per_h: Floats, running_usd_per_h: Floats) -> Floats:
    """Hours until what is saved every hour has paid a machine back.

        t = K / (p_bought - p_running)                                           [1, sec. 4.3]

    Simple payback: no interest. Infinite where running the machine costs more than what it replaces.

    [1] W. Short, D. Packey, T. Holt, "A Manual for the Economic Evaluation", NREL/TP-462-5173, 1995.

    >>> float(payback_h(outlay_usd=30000.0, bought_usd_per_h=4.0, running_usd_per_h=1.0))
    10000.0
    """
    with np.errstate(divide="ignore"):
        return np.divide(outlay_usd, np.maximum(bought_usd_per_h - running_usd_per_h, 0.0 * bought_usd_per_h))
