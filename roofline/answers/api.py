"""One's own machine against an API: what the same tokens cost, and where the lines cross."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from roofline.answers.economics import device_price
from roofline.answers.evaluate import evaluate
from roofline.answers.pricing import DevicePrice
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.apis import ApiPrice, api_prices, apis_of, load_api
from roofline.catalog.ownership import owned
from roofline.errors import InputError
from roofline.formulas.capital import break_even_h
from roofline.formulas.cost import break_even_utilisation_frac
from roofline.formulas.profit import revenue_usd
from roofline.language import tr
from roofline.specs.ownership import Ownership
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
    """At the utilisation given."""
    own_idle_usd_per_hour: float | None
    """While nothing is made: of owned devices less, as they draw less."""
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
    """Until an owned system has paid for itself at the utilisation given.

    None where it is not owned or never does in its life.
    """
    life_months: float | None
    """Of an owned system."""
    crosses: bool
    sentence: str


@dataclass(frozen=True)
class Crossing:
    """The lines of the figure: USD a month against tokens a day."""

    tokens_per_day: NDArray[np.float64]
    api_usd_per_month: NDArray[np.float64]
    own_usd_per_month: NDArray[np.float64]
    """Whole systems, one more whenever those there are full, and the power that tokens take; NaN without a price."""


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
    price, report = _chosen(scenario, api), evaluate(scenario)
    own = _own(report)
    charged = _api_usd_per_token(scenario, price)
    share = _break_even(own, charged) if charged > 0 else None
    crosses = share is not None and share <= _ALL_THE_TIME
    reserved, used = own.usd_per_token(1.0), own.usd_per_token(scenario.utilisation)
    return Against(
        api=price,
        api_usd_per_million_tokens=charged * PER_MILLION,
        own_usd_per_hour=own.usd_per_h(scenario.utilisation),
        own_idle_usd_per_hour=own.usd_per_h(0.0),
        own_tokens_per_day=own.made * SECONDS_PER_DAY,
        own_reserved_usd_per_million_tokens=None if reserved is None else reserved * PER_MILLION,
        own_used_usd_per_million_tokens=None if used is None else used * PER_MILLION,
        break_even_utilisation=share if crosses else None,
        break_even_tokens_per_day=share * own.made * SECONDS_PER_DAY if share is not None and crosses else None,
        break_even_usd_per_device_hour=charged * own.made * SECONDS_PER_HOUR * scenario.utilisation / scenario.devices
        if isfinite(own.made)
        else None,
        payback_months=_payback_months(own, charged, scenario.utilisation),
        life_months=own.life_months,
        crosses=crosses,
        sentence=_sentence(report, price, share, own),
    )


@dataclass(frozen=True)
class _Own:
    """One's own system: what it makes, and what an hour costs at any utilisation."""

    price: DevicePrice
    devices: int
    made: float
    """Tokens of both kinds a second, busy all the time; NaN where the load does not fit."""
    load_frac: float
    """Of its devices then."""
    life_months: float | None
    """Where it is bought."""
    running_usd_per_h: float | None
    """What all devices cost an hour once they are there, at the utilisation given."""

    def usd_per_h(self, utilisation: float) -> float | None:
        """All devices for an hour, busy for a share of it."""
        if self.price.usd_per_h is None:
            return None
        return self.devices * float(self.price.at_load(self.load_frac * utilisation))

    def usd_per_token(self, utilisation: float) -> float | None:
        """A token's share of the hours that are paid for."""
        hour = self.usd_per_h(utilisation)
        return None if hour is None or not isfinite(self.made) else hour / (self.made * SECONDS_PER_HOUR * utilisation)


def _own(report: Report) -> _Own:
    scenario, cost, found = report.scenario, report.cost, resolve(report.scenario)
    price, load, parts = device_price(scenario, found.price), cost.mean_load_frac, cost.usd_per_device_hour_parts
    life = owned(scenario.ownership or Ownership(), found.accelerator, scenario.grid).life_years.value
    return _Own(
        price=price,
        devices=scenario.devices,
        made=float(report.expected.requests_per_s) * (scenario.input_tokens + scenario.output_tokens),
        load_frac=1.0 if load is None else load / scenario.utilisation,
        life_months=None if price.outlay_usd is None else life * MONTHS_PER_YEAR,
        running_usd_per_h=None if parts is None else parts.running_usd_per_h * scenario.devices,
    )


def _break_even(own: _Own, charged: float) -> float | None:
    """Utilisation above which one's own tokens are cheaper; infinite where they never are."""
    idle, full = own.usd_per_h(0.0), own.usd_per_h(1.0)
    if idle is None or full is None or not isfinite(own.made):
        return None
    bought = charged * own.made * SECONDS_PER_HOUR
    return float(break_even_utilisation_frac(capital_usd_per_h=idle, rent_usd_per_h=bought, power_usd_per_h=full - idle))


def crossing(found: Against) -> Crossing:
    """Points of the two lines, from next to nothing to well past where one system is full."""
    full = found.own_tokens_per_day
    middle = found.break_even_tokens_per_day or full
    top = 3.0 * max(full, middle) if isfinite(full) else _SPAN
    tokens = np.geomspace(min(middle, top) / _SPAN, top, _POINTS)
    days, hourly, made = _HOURS_PER_MONTH / HOURS_PER_DAY, np.nan, 0.0
    if found.own_idle_usd_per_hour is not None and found.own_reserved_usd_per_million_tokens is not None:
        hourly = found.own_idle_usd_per_hour
        made = found.own_reserved_usd_per_million_tokens / PER_MILLION - hourly * HOURS_PER_DAY / full
    return Crossing(
        tokens_per_day=tokens,
        api_usd_per_month=tokens * found.api_usd_per_million_tokens / PER_MILLION * days,
        own_usd_per_month=np.maximum(1.0, np.ceil(tokens / full)) * hourly * _HOURS_PER_MONTH + tokens * made * days,
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


def _payback_months(own: _Own, charged: float, utilisation: float) -> float | None:
    """Simple payback of an owned system: outlay over what is saved; at the end of its life, when it is sold, at the latest.

    It pays where its tokens, with capital and what it fetches in the end, cost no more than the API's: as for break-even.
    """
    used = own.usd_per_token(utilisation)
    if own.life_months is None or own.running_usd_per_h is None or used is None or used > charged * _ALL_THE_TIME:
        return None
    hours = break_even_h(
        purchase_usd=(own.price.outlay_usd or 0.0) * own.devices,
        rent_usd_per_h=charged * own.made * SECONDS_PER_HOUR * utilisation,
        running_usd_per_h=own.running_usd_per_h,
    )
    return min(float(hours) / _HOURS_PER_MONTH, own.life_months)


def _sentence(report: Report, price: ApiPrice, share: float | None, own: _Own) -> str:
    if not report.memory.fits:
        return report.sentence
    if share is None:
        unknown = own.price.usd_per_h is None
        return tr("No comparison: {reason}.", reason=own.price.basis if unknown else tr("the API costs nothing"))
    if share > _ALL_THE_TIME:
        ratio = (own.usd_per_token(1.0) or 0.0) / _api_usd_per_token(report.scenario, price)
        return tr(
            "The lines never cross: busy all the time, this system costs {ratio} times what {api} charges.",
            ratio=significant(ratio),
            api=price.name,
        )
    return tr(
        "Your own system is cheaper than {api} above {share:.0%} utilisation, {n} million tokens a day.",
        api=price.name,
        share=share,
        n=significant(share * own.made * SECONDS_PER_DAY / PER_MILLION),
    )
