"""A predicted speed joined to a price."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

from roofline.answers.energy import TokenSeconds, Work, energy
from roofline.answers.pricing import DevicePrice
from roofline.answers.report import Cost, Times, TokenCost
from roofline.answers.speeds import Speeds
from roofline.formulas.cost import blended_usd_per_token, rental_usd_per_token
from roofline.formulas.ownership import request_usd
from roofline.specs.hardware import Accelerator
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION, Floats


def device_price(scenario: Scenario, market: DevicePrice) -> DevicePrice:
    """Your price, else the market's."""
    if scenario.usd_per_device_hour is not None:
        return DevicePrice(scenario.usd_per_device_hour, "your price")
    return market


def usd_per_million(scenario: Scenario, price: DevicePrice, tokens_per_s: Floats) -> Floats | None:
    """Price of a million tokens at a system rate, all devices paid for; None without a price."""
    if price.usd_per_h is None:
        return None
    per_token = rental_usd_per_token(
        n_devices=scenario.devices,
        price_usd_per_h=price.usd_per_h,
        tokens_per_s=tokens_per_s,
        utilisation_frac=scenario.utilisation,
    )
    return per_token * PER_MILLION


def token_seconds(scenario: Scenario, times: Times) -> TokenSeconds:
    """Time of the whole system that tokens take.

    Where a batch is given, prompts and outputs take the inverse of their rates. Where requests arrive at a rate, a request has
    ``1 / rate`` of all devices, however busy they are: the prompt takes what it needs, and the output the rest.
    """
    prompt_s = 1.0 / float(times.prefill_tokens_per_s)
    if scenario.request_rate is None:
        return TokenSeconds(prompt_s, 1.0 / float(times.output_tokens_per_s))
    request_s = 1.0 / scenario.request_rate
    prefill_s = min(prompt_s * scenario.input_tokens, request_s)
    return TokenSeconds(prefill_s / scenario.input_tokens, (request_s - prefill_s) / scenario.output_tokens)


def token_cost(scenario: Scenario, price: DevicePrice, seconds: TokenSeconds, cached_token_ratio: float) -> TokenCost | None:
    """Price of tokens by kind at the scenario's utilisation; None without a price or where the load does not fit."""
    inputs = usd_per_million(scenario, price, np.divide(1.0, seconds.input_s))
    outputs = usd_per_million(scenario, price, np.divide(1.0, seconds.output_s)) if seconds.output_s else 0.0
    if inputs is None or outputs is None or not np.isfinite(inputs + outputs):
        return None
    blended = blended_usd_per_token(
        input_usd_per_token=inputs,
        output_usd_per_token=outputs,
        n_input_tokens=scenario.input_tokens,
        n_output_tokens=scenario.output_tokens,
    )
    request = request_usd(
        n_input_tokens=scenario.input_tokens,
        n_output_tokens=scenario.output_tokens,
        cached_frac=0.0,
        input_usd_per_token=inputs / PER_MILLION,
        cached_usd_per_token=cached_token_ratio * inputs / PER_MILLION,
        output_usd_per_token=outputs / PER_MILLION,
    )
    return TokenCost(
        usd_per_million_input_tokens=float(inputs),
        usd_per_million_cached_input_tokens=float(cached_token_ratio * inputs),
        usd_per_million_output_tokens=float(outputs),
        usd_per_million_tokens=float(blended),
        usd_per_request=float(request),
    )


def cost(scenario: Scenario, accelerator: Accelerator, market: DevicePrice, found: Speeds, work: Work) -> Cost:
    """Cost of input, cached input and output tokens, each charged for the device time it takes."""
    price = device_price(scenario, market)
    full = scenario.model_copy(update={"utilisation": 1.0})
    seconds = token_seconds(scenario, found.expected)
    used = token_cost(scenario, price, seconds, work.cached_token_ratio)
    inputs, cached, outputs, blended = (None,) * 4 if used is None else astuple(used)[:4]
    joules = energy(scenario, accelerator, seconds, work)
    low, high = sorted((_output_usd(scenario, price, found.low), _output_usd(scenario, price, found.high)))
    limit = _output_usd(scenario, price, found.limit)
    return Cost(
        usd_per_million_input_tokens=inputs,
        usd_per_million_cached_input_tokens=cached,
        usd_per_million_output_tokens=outputs,
        usd_per_million_tokens=blended,
        usd_per_hour=None if price.usd_per_h is None else price.usd_per_h * scenario.devices,
        joules_per_output_token=joules.joules_per_output_token,
        grams_co2e_per_million_tokens=joules.grams_co2e_per_million_tokens,
        usd_per_million_output_tokens_low=_known(low),
        usd_per_million_output_tokens_high=_known(high),
        usd_per_million_output_tokens_at_limit=_known(limit),
        usd_per_device_hour=price.usd_per_h,
        basis=price.basis,
        price_kind=price.kind,
        used=used,
        reserved=token_cost(full, price, seconds, work.cached_token_ratio),
        cached_token_ratio=work.cached_token_ratio,
        usd_per_device_hour_parts=price.parts,
        energy=joules,
    )


def _output_usd(scenario: Scenario, price: DevicePrice, times: Times) -> float:
    """Price of a million output tokens at some speeds; NaN where not known."""
    found = token_cost(scenario, price, token_seconds(scenario, times), 0.0)
    return float("nan") if found is None else found.usd_per_million_output_tokens


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
