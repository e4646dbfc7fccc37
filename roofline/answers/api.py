"""One's own machine against an API: what the same tokens cost, and where the lines cross."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from roofline.answers.economics import device_price
from roofline.answers.evaluate import evaluate
from roofline.answers.pricing import DevicePrice
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.apis import ApiPrice, api_prices, apis_of, load_api
from roofline.errors import InputError
from roofline.formulas.capital import break_even_h
from roofline.formulas.profit import break_even_tokens, revenue_usd
from roofline.language import tr
from roofline.specs.scenario import Scenario
from roofline.units import (
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    PER_MILLION,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    significant,
)

_HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
_POINTS = 200
_ALL_THE_TIME = 1.0 + 1e-9
_SPAN = 1000.0
"""The figure reaches from a thousandth of the break-even, or of what one system makes, to a few times as much."""


@dataclass(frozen=True)
class Against:
    """A system of one's own beside an API, for the same requests. Tokens are of both kinds, in the mix asked for."""

    api: ApiPrice
    api_usd_per_million_tokens: float
    own_usd_per_hour: float | None
    own_tokens_per_day: float
    """What the system makes when busy all the time."""
    own_reserved_usd_per_million_tokens: float | None
    own_used_usd_per_million_tokens: float | None
    break_even_utilisation: float | None
    """Share of the time above which one's own system is cheaper; None where it never is."""
    break_even_tokens_per_day: float | None
    break_even_usd_per_device_hour: float | None
    """Price of a device below which a system busy as given pays."""
    payback_months: float | None
    """Until an owned system has paid for itself at the utilisation given; None where it never does or is not owned."""
    crosses: bool
    sentence: str


@dataclass(frozen=True)
class Crossing:
    """The lines of the figure: USD a month against tokens a day."""

    tokens_per_day: NDArray[np.float64]
    api_usd_per_month: NDArray[np.float64]
    own_usd_per_month: NDArray[np.float64]
    """Whole systems, one more whenever those there are full; NaN without a price."""


def against_api(scenario: Scenario, api: str | None = None) -> Against:
    """Where a system of one's own is cheaper than an API, for prompts and outputs as in the scenario.

    Parameters
    ----------
    scenario
        The system, its load (lengths and the share of prompts found in a cache) and its price.
    api
        Id of a public price, or ``input/cached/output`` in USD per million tokens; None: the cheapest for this model.

    Raises
    ------
    InputError
        No public price is known for the model and none is given, or the load is a request rate.
    """
    if scenario.request_rate is not None:
        words = tr("against an API the load follows from utilisation: give a batch, or none, instead of a request rate.")
        raise InputError(words)
    price = _chosen(scenario, api)
    report = evaluate(scenario)
    found = resolve(scenario)
    device = device_price(scenario, found.price)
    made = float(report.expected.requests_per_s) * (scenario.input_tokens + scenario.output_tokens)
    charged = _api_usd_per_token(scenario, price)
    per_hour = None if device.usd_per_h is None else device.usd_per_h * scenario.devices
    known = per_hour is not None and isfinite(made)
    reserved = per_hour / (made * SECONDS_PER_HOUR) if per_hour is not None and known else None
    share = reserved / charged if reserved is not None and charged > 0 else None
    crosses = share is not None and share <= _ALL_THE_TIME
    daily_usd = nan if per_hour is None else per_hour * HOURS_PER_DAY
    even = float(break_even_tokens(fixed_usd=daily_usd, price_usd_per_token=charged, marginal_usd_per_token=0.0))
    return Against(
        api=price,
        api_usd_per_million_tokens=charged * PER_MILLION,
        own_usd_per_hour=per_hour,
        own_tokens_per_day=made * SECONDS_PER_DAY,
        own_reserved_usd_per_million_tokens=None if reserved is None else reserved * PER_MILLION,
        own_used_usd_per_million_tokens=None if reserved is None else reserved / scenario.utilisation * PER_MILLION,
        break_even_utilisation=share if crosses else None,
        break_even_tokens_per_day=even if crosses else None,
        break_even_usd_per_device_hour=charged * made * SECONDS_PER_HOUR * scenario.utilisation / scenario.devices
        if isfinite(made)
        else None,
        payback_months=_payback_months(scenario, device, charged * made * SECONDS_PER_HOUR),
        crosses=crosses,
        sentence=_sentence(report, price, share, device, even),
    )


def crossing(found: Against) -> Crossing:
    """Points of the two lines, from next to nothing to well past where one system is full."""
    full = found.own_tokens_per_day
    middle = found.break_even_tokens_per_day or full
    top = 3.0 * max(full, middle) if isfinite(full) else _SPAN
    tokens = np.geomspace(min(middle, top) / _SPAN, top, _POINTS)
    hourly = np.nan if found.own_usd_per_hour is None else found.own_usd_per_hour
    return Crossing(
        tokens_per_day=tokens,
        api_usd_per_month=tokens * found.api_usd_per_million_tokens / PER_MILLION * _HOURS_PER_MONTH / HOURS_PER_DAY,
        own_usd_per_month=np.maximum(1.0, np.ceil(tokens / full)) * hourly * _HOURS_PER_MONTH,
    )


def _chosen(scenario: Scenario, api: str | None) -> ApiPrice:
    if api is not None:
        return load_api(api)
    known = apis_of(scenario.model)
    if not known:
        words = tr(
            "no public API price of {model} is known: name one of {names}, … "
            "or give input/cached/output in USD per million tokens.",
            model=scenario.model[:60],
            names=", ".join(list(api_prices())[:6]),
        )
        raise InputError(words)
    return min(known, key=lambda price: _api_usd_per_token(scenario, price))


def _api_usd_per_token(scenario: Scenario, price: ApiPrice) -> float:
    cached = scenario.input_tokens * scenario.prefix_hit
    request = revenue_usd(
        n_cached_tokens=cached,
        n_missed_tokens=scenario.input_tokens - cached,
        n_output_tokens=scenario.output_tokens,
        cached_usd_per_token=price.cached_usd_per_million / PER_MILLION,
        input_usd_per_token=price.input_usd_per_million / PER_MILLION,
        output_usd_per_token=price.output_usd_per_million / PER_MILLION,
    )
    return float(request) / (scenario.input_tokens + scenario.output_tokens)


def _payback_months(scenario: Scenario, device: DevicePrice, bought_usd_per_h: float) -> float | None:
    """Simple payback of an owned system: outlay over what is saved, at the utilisation given."""
    if device.outlay_usd is None or device.parts is None or not isfinite(bought_usd_per_h):
        return None
    hours = break_even_h(
        purchase_usd=device.outlay_usd * scenario.devices,
        rent_usd_per_h=bought_usd_per_h * scenario.utilisation,
        running_usd_per_h=device.parts.running_usd_per_h * scenario.devices,
    )
    return float(hours) / _HOURS_PER_MONTH if isfinite(hours) else None


def _sentence(report: Report, price: ApiPrice, share: float | None, device: DevicePrice, even_per_day: float) -> str:
    if not report.memory.fits:
        return report.sentence
    if share is None:
        return tr("No comparison: {reason}.", reason=device.basis if device.usd_per_h is None else tr("the API costs nothing"))
    if share > _ALL_THE_TIME:
        return tr(
            "The lines never cross: busy all the time, this system costs {ratio} times what {api} charges.",
            ratio=significant(share),
            api=price.name,
        )
    return tr(
        "Your own system is cheaper than {api} above {share:.0%} utilisation, {n} million tokens a day.",
        api=price.name,
        share=share,
        n=significant(even_per_day / PER_MILLION),
    )
