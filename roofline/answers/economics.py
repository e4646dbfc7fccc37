"""A predicted speed joined to a price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from roofline.answers.energy import DeviceSeconds, Work, energy
from roofline.answers.pricing import DevicePrice
from roofline.answers.report import Cost, Times, TokenCost
from roofline.answers.speeds import Speeds
from roofline.formulas.cost import blended_usd_per_token, rental_usd_per_token
from roofline.formulas.profit import revenue_usd
from roofline.language import tr
from roofline.performance.prefix import PromptParts
from roofline.specs.hardware import Accelerator
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION, Floats


def device_price(scenario: Scenario, market: DevicePrice) -> DevicePrice:
    """Your price, else the market's."""
    if scenario.usd_per_device_hour is not None:
        return DevicePrice(scenario.usd_per_device_hour, tr("your price"))
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


def device_seconds(scenario: Scenario, times: Times, prompt: PromptParts) -> DeviceSeconds:
    """Device time of tokens where prefill and decode share the devices.

    Where a batch is given, prompts and outputs take the inverse of their rates. Where requests arrive at a rate, a request has
    ``1 / rate`` of all devices, however busy they are: the prompt takes what it needs, and the output the rest.
    """
    computed_s = 1.0 / float(times.prefill_tokens_per_s)
    if scenario.request_rate is None:
        return spread(prompt, computed_s * scenario.devices, scenario.devices / float(times.output_tokens_per_s))
    request_s = 1.0 / scenario.request_rate
    prefill_s = min(computed_s * prompt.computed_tokens, request_s)
    output_s = (request_s - prefill_s) / scenario.output_tokens
    return spread(prompt, prefill_s / prompt.computed_tokens * scenario.devices, output_s * scenario.devices)


def spread(prompt: PromptParts, prefill_s: float, output_s: float) -> DeviceSeconds:
    """Device time of a prefill, given per computed token, shared with the cached ones.

    Computed tokens pay for a prefill without a cache behind it, cached ones for what reading them adds.
    """
    input_s = prefill_s * (1.0 - prompt.cached_time_frac)
    return DeviceSeconds(prompt.computed_tokens, prompt.cached_tokens, input_s, prompt.cached_token_ratio * input_s, output_s)


def token_cost(scenario: Scenario, price: DevicePrice, seconds: DeviceSeconds) -> TokenCost | None:
    """Price of tokens by kind at the scenario's utilisation; None without a price or where the load does not fit."""
    if price.usd_per_h is None or not np.isfinite(seconds.input_s + seconds.output_s):
        return None
    alone = scenario.model_copy(update={"devices": 1})
    inputs, cached, outputs = (
        0.0 if taken == 0.0 else float(usd_per_million(alone, price, 1.0 / taken) or 0.0)
        for taken in (seconds.input_s, seconds.cached_s, seconds.output_s)
    )
    request = float(
        revenue_usd(
            n_cached_tokens=seconds.cached_tokens,
            n_missed_tokens=seconds.computed_tokens,
            n_output_tokens=scenario.output_tokens,
            cached_usd_per_token=cached,
            input_usd_per_token=inputs,
            output_usd_per_token=outputs,
        )
    )
    blended = blended_usd_per_token(
        input_usd_per_token=(request - scenario.output_tokens * outputs) / scenario.input_tokens,
        output_usd_per_token=outputs,
        n_input_tokens=scenario.input_tokens,
        n_output_tokens=scenario.output_tokens,
    )
    return TokenCost(
        usd_per_million_input_tokens=inputs,
        usd_per_million_cached_input_tokens=cached,
        usd_per_million_output_tokens=outputs,
        usd_per_million_tokens=float(blended),
        usd_per_request=request / PER_MILLION,
    )


def cost(
    scenario: Scenario,
    accelerator: Accelerator,
    market: DevicePrice,
    found: Speeds,
    taken: Callable[[Times], DeviceSeconds],
    work: Work,
) -> Cost:
    """Cost and energy of computed input, cached input and output tokens, each charged for the device time it takes."""
    price = device_price(scenario, market)
    full = scenario.model_copy(update={"utilisation": 1.0})
    seconds = taken(found.expected)
    used = token_cost(scenario, price, seconds)
    spent = energy(scenario, accelerator, seconds, work)
    cheap, dear = _band(*(token_cost(scenario, price, taken(times)) for times in (found.low, found.high)))
    return Cost(
        usd_per_million_input_tokens=None if used is None else used.usd_per_million_input_tokens,
        usd_per_million_cached_input_tokens=None if used is None else used.usd_per_million_cached_input_tokens,
        usd_per_million_output_tokens=None if used is None else used.usd_per_million_output_tokens,
        usd_per_million_tokens=None if used is None else used.usd_per_million_tokens,
        usd_per_hour=None if price.usd_per_h is None else price.usd_per_h * scenario.devices,
        joules_per_output_token=spent.joules_per_output_token,
        grams_co2e_per_million_tokens=spent.grams_co2e_per_million_tokens,
        usd_per_million_output_tokens_low=_of_outputs(cheap),
        usd_per_million_output_tokens_high=_of_outputs(dear),
        usd_per_million_output_tokens_at_limit=_of_outputs(token_cost(scenario, price, taken(found.limit))),
        usd_per_device_hour=price.usd_per_h,
        basis=price.basis,
        price_kind=price.kind,
        used=used,
        reserved=token_cost(full, price, seconds),
        used_low=cheap,
        used_high=dear,
        usd_per_device_hour_parts=price.parts,
        energy=spent,
    )


def _band(one: TokenCost | None, other: TokenCost | None) -> tuple[TokenCost | None, TokenCost | None]:
    """Every price at its cheap and at its dear end: at a request rate a slow prefill leaves less for the output."""
    if one is None or other is None:
        return None, None
    ends = [sorted((getattr(one, item.name), getattr(other, item.name))) for item in fields(TokenCost)]
    return TokenCost(*(low for low, _ in ends)), TokenCost(*(high for _, high in ends))


def _of_outputs(found: TokenCost | None) -> float | None:
    return None if found is None else found.usd_per_million_output_tokens
