"""A predicted speed joined to a price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np

from roofline.answers.boxes import box_price
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


def usd_per_million(scenario: Scenario, price: DevicePrice, tokens_per_s: Floats, load_frac: Floats) -> Floats | None:
    """Price of a million tokens at a system rate and a load of its devices, all paid for; None without a price."""
    if price.usd_per_h is None:
        return None
    per_token = rental_usd_per_token(
        n_devices=scenario.devices,
        price_usd_per_h=price.at_load(load_frac * scenario.utilisation),
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
    prefill_s = min(computed_s, 1.0 / (scenario.request_rate * prompt.computed_tokens))
    output_s = float(output_system_s(times, scenario.request_rate, prompt.computed_tokens, scenario.output_tokens))
    return spread(prompt, prefill_s * scenario.devices, output_s * scenario.devices)


def output_system_s(times: Times, request_rate: Floats, computed_tokens: Floats, output_tokens: Floats) -> Floats:
    """Time of the whole system that an output token takes: at a request rate (NaN: a batch) what prefill leaves of a request."""
    left = np.maximum(1.0 / np.asarray(request_rate) - computed_tokens / times.prefill_tokens_per_s, 0.0) / output_tokens
    return np.where(np.isfinite(request_rate), left, 1.0 / np.asarray(times.output_tokens_per_s))


def output_seconds(
    found: Speeds, request_rate: Floats, computed_tokens: Floats, output_tokens: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """`output_system_s` at the limit, as expected, and at the cheap and the dear end of the band, of many loads at once."""
    mean, one, other, least = (
        output_system_s(times, request_rate, computed_tokens, output_tokens)
        for times in (found.expected, found.low, found.high, found.limit)
    )
    shorter = found.limit.decode_step_s / found.expected.decode_step_s
    least = np.where(np.isfinite(request_rate), mean * shorter, least)
    return least, mean, np.maximum(np.minimum(one, other), least), np.maximum(one, other)


def spread(prompt: PromptParts, prefill_s: float, output_s: float) -> DeviceSeconds:
    """Device time of a prefill, given per computed token, shared with the cached ones.

    Computed tokens pay for a prefill without a cache behind it, cached ones for what reading them adds.
    """
    input_s = prefill_s * (1.0 - prompt.cached_time_frac)
    return DeviceSeconds(prompt.computed_tokens, prompt.cached_tokens, input_s, prompt.cached_token_ratio * input_s, output_s)


def least_seconds(scenario: Scenario, found: Speeds, taken: Callable[[Times], DeviceSeconds]) -> DeviceSeconds:
    """Device time of tokens at the limit.

    At a request rate a quicker prefill would leave more of a request's time, which is paid for in any case, to the output.
    So the output keeps its share of the load as expected, with steps as short as the limit.
    """
    seconds = taken(found.limit)
    if scenario.request_rate is None:
        return seconds
    shorter = float(found.limit.decode_step_s) / float(found.expected.decode_step_s)
    return replace(seconds, output_s=taken(found.expected).output_s * shorter)


def token_cost(scenario: Scenario, price: DevicePrice, seconds: DeviceSeconds, work: Work) -> TokenCost | None:
    """Price of tokens by kind at the scenario's utilisation; None without a price or where the load does not fit."""
    if price.usd_per_h is None or not np.isfinite(seconds.input_s + seconds.output_s):
        return None
    alone = scenario.model_copy(update={"devices": 1})
    inputs, cached, outputs = (
        0.0 if taken == 0.0 else float(usd_per_million(alone, price, 1.0 / taken, load) or 0.0)
        for taken, load in (
            (seconds.input_s, work.prefill_load_frac),
            (seconds.cached_s, work.prefill_load_frac),
            (seconds.output_s, work.decode_load_frac),
        )
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
    price, seconds = device_price(scenario, market), taken(found.expected)
    full = scenario.model_copy(update={"utilisation": 1.0})
    load = work.mean_load_frac(seconds, scenario.output_tokens) * scenario.utilisation
    decoding = float(price.at_load(work.decode_load_frac * scenario.utilisation))
    hour, used = _hour(scenario, accelerator, price, load), token_cost(scenario, price, seconds, work)
    spent = energy(scenario, accelerator, seconds, work)
    least = _of_outputs(token_cost(scenario, price, least_seconds(scenario, found, taken), work))
    cheap, dear = _band(least, *(token_cost(scenario, price, taken(times), work) for times in (found.low, found.high)))
    return Cost(
        usd_per_million_input_tokens=None if used is None else used.usd_per_million_input_tokens,
        usd_per_million_cached_input_tokens=None if used is None else used.usd_per_million_cached_input_tokens,
        usd_per_million_output_tokens=None if used is None else used.usd_per_million_output_tokens,
        usd_per_million_tokens=None if used is None else used.usd_per_million_tokens,
        usd_per_hour=None if hour.usd_per_h is None else hour.usd_per_h * scenario.devices,
        joules_per_output_token=spent.joules_per_output_token,
        grams_co2e_per_million_tokens=spent.grams_co2e_per_million_tokens,
        usd_per_million_output_tokens_low=_of_outputs(cheap),
        usd_per_million_output_tokens_high=_of_outputs(dear),
        usd_per_million_output_tokens_at_limit=least,
        usd_per_device_hour=hour.usd_per_h,
        basis=hour.basis,
        price_kind=hour.kind,
        used=used,
        reserved=token_cost(full, price, seconds, work),
        used_low=cheap,
        used_high=dear,
        usd_per_device_hour_decoding=None if price.usd_per_h is None else decoding,
        usd_per_device_hour_parts=hour.parts,
        mean_load_frac=load if np.isfinite(load) else None,
        energy=spent,
    )


def _hour(scenario: Scenario, accelerator: Accelerator, price: DevicePrice, load_frac: float) -> DevicePrice:
    """The price of an hour of an owned device with its mean power over work and idle hours; rated where the load does not fit."""
    known = price.load_usd_per_h > 0.0 and np.isfinite(load_frac)
    return box_price(scenario, accelerator, load_frac) if known else price


def _band(least: float | None, one: TokenCost | None, other: TokenCost | None) -> tuple[TokenCost | None, TokenCost | None]:
    """Every price at its cheap and at its dear end: at a request rate a slow prefill leaves less for the output.

    No less than the least that output can cost.
    """
    if one is None or other is None or least is None:
        return None, None
    ends = [sorted((getattr(one, item.name), getattr(other, item.name))) for item in fields(TokenCost)]
    cheap, dear = (TokenCost(*(pair[end] for pair in ends)) for end in (0, 1))
    floor = max(least, cheap.usd_per_million_output_tokens)
    return replace(cheap, usd_per_million_output_tokens=floor), dear


def _of_outputs(found: TokenCost | None) -> float | None:
    return None if found is None else found.usd_per_million_output_tokens
