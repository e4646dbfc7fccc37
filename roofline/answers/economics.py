"""A predicted speed joined to a price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.answers.report import Cost
from roofline.answers.speeds import Speeds
from roofline.catalog.hardware import purchase_usd, rental_usd_per_h
from roofline.formulas.cost import blended_usd_per_token, ownership_usd_per_h, rental_usd_per_token
from roofline.formulas.energy import energy_j_per_token
from roofline.performance.prefix import PromptParts
from roofline.specs.hardware import Accelerator
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION, Floats

LIFE_YEARS = 4.0
RESIDUAL_FRAC = 0.1
PUE = 1.0
ELECTRICITY_USD_PER_KWH = 0.125
"""Owned hardware where nobody rents it out: four years, a tenth left, United States all-sector retail price of 2022."""


@dataclass(frozen=True)
class DevicePrice:
    """What an hour of one device costs, and why."""

    usd_per_h: float | None
    basis: str


def device_price(scenario: Scenario, market: DevicePrice) -> DevicePrice:
    """Your price, else the market's."""
    if scenario.usd_per_device_hour is not None:
        return DevicePrice(scenario.usd_per_device_hour, "your price")
    return market


def market_price(accelerator: Accelerator) -> DevicePrice:
    """Median of dated rental quotes, else the cost of owning a device."""
    rental = rental_usd_per_h(accelerator)
    if rental is not None:
        return DevicePrice(rental[0], rental[1])
    bought = purchase_usd(accelerator)
    if bought is None:
        return DevicePrice(None, f"no price is known for {accelerator.id}: give your own price per device hour")
    power_w = accelerator.tdp.base if accelerator.tdp else 0.0
    owned = ownership_usd_per_h(
        purchase_usd=bought[0],
        residual_frac=RESIDUAL_FRAC,
        life_years=LIFE_YEARS,
        utilisation_frac=1.0,
        power_w=power_w,
        pue=PUE,
        electricity_usd_per_kwh=ELECTRICITY_USD_PER_KWH,
    )
    basis = (
        f"owned: {bought[1]}, {LIFE_YEARS:g} years, {RESIDUAL_FRAC:.0%} residual value, "
        f"{power_w:g} W at {ELECTRICITY_USD_PER_KWH:g} USD/kWh"
    )
    return DevicePrice(float(owned), basis)


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


def _at_rate(scenario: Scenario, price: DevicePrice, found: Speeds, computed_tokens: float) -> tuple[float | None, float | None]:
    """Price of a million computed input and output tokens where requests arrive at a rate: the whole bill, split by device time.

    An hour of all devices buys the requests of an hour, however busy they are. Prefill and decode share it as they share the
    time: a request takes ``T / prefill rate`` and ``G tau / B`` of it.
    """
    step = float(found.expected.decode_step_s)
    if scenario.request_rate is None or price.usd_per_h is None or not np.isfinite(step):
        return None, None
    per_request = usd_per_million(scenario, price, scenario.request_rate)
    prefill_s = computed_tokens / float(found.expected.prefill_tokens_per_s)
    decode_s = 1.0 / scenario.request_rate - prefill_s
    share = prefill_s / (prefill_s + max(decode_s, 0.0))
    if per_request is None:
        return None, None
    bill = float(per_request)
    return bill * share / computed_tokens, bill * (1.0 - share) / scenario.output_tokens


def _input_prices(prefill_usd: float | None, prompt: PromptParts) -> tuple[float | None, float | None]:
    """Prices of a computed and of a cached token, from that of a prefill per computed token; together they pay for it."""
    if prefill_usd is None:
        return None, None
    inputs = prefill_usd * (1.0 - prompt.cached_time_frac)
    if prompt.cached_tokens <= 0.0:
        return inputs, None
    return inputs, prefill_usd * prompt.cached_time_frac * prompt.computed_tokens / prompt.cached_tokens


def cost(scenario: Scenario, accelerator: Accelerator, market: DevicePrice, found: Speeds, prompt: PromptParts) -> Cost:
    """Cost of computed input, cached input and output tokens, each charged for the device time it takes.

    Computed tokens pay for a prefill without a cache behind it, cached ones for what reading them adds: together, the prefill.
    """
    price = device_price(scenario, market)
    expected, low, high, limit = found.expected, found.low, found.high, found.limit

    def usd(tokens_per_s: Floats) -> float | None:
        value = usd_per_million(scenario, price, tokens_per_s)
        return None if value is None or not np.isfinite(value) else float(value)

    prefill, outputs = usd(expected.prefill_tokens_per_s), usd(expected.output_tokens_per_s)
    if scenario.request_rate is not None:
        prefill, outputs = _at_rate(scenario, price, found, prompt.computed_tokens)
    blended = None
    if prefill is not None and outputs is not None:
        blended = float(
            blended_usd_per_token(
                input_usd_per_token=prefill * (prompt.computed_tokens / scenario.input_tokens),
                output_usd_per_token=outputs,
                n_input_tokens=scenario.input_tokens,
                n_output_tokens=scenario.output_tokens,
            )
        )
    inputs, cached = _input_prices(prefill, prompt)
    joules = None
    if accelerator.tdp is not None and np.isfinite(expected.output_tokens_per_s):
        joules = float(
            energy_j_per_token(
                n_devices=scenario.devices,
                power_w=accelerator.tdp.base,
                pue=PUE,
                tokens_per_s=expected.output_tokens_per_s,
            )
        )
    return Cost(
        usd_per_million_input_tokens=inputs,
        usd_per_million_cached_input_tokens=cached,
        usd_per_million_output_tokens=outputs,
        usd_per_million_tokens=blended,
        usd_per_hour=None if price.usd_per_h is None else price.usd_per_h * scenario.devices,
        joules_per_output_token=joules,
        grams_co2e_per_million_tokens=None,
        usd_per_million_output_tokens_low=usd(high.output_tokens_per_s),
        usd_per_million_output_tokens_high=usd(low.output_tokens_per_s),
        usd_per_million_output_tokens_at_limit=usd(limit.output_tokens_per_s),
        usd_per_device_hour=price.usd_per_h,
        basis=price.basis,
    )
