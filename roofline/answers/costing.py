"""What tokens, requests and users cost, reserved beside used, as one table of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose

from roofline.answers.report import Cost
from roofline.catalog.fleet import fleet_defaults
from roofline.catalog.ownership import YOURS, Part
from roofline.errors import InputError
from roofline.language import later, tr
from roofline.specs.hardware import Price
from roofline.units import HOURS_PER_DAY, HOURS_PER_YEAR, MONTHS_PER_YEAR

DAYS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR / HOURS_PER_DAY
MOST_REQUESTS_PER_DAY = 1e6
_REQUEST, _USER = "usd_per_request", "usd_per_user_month"
_KINDS: dict[str, str] = {
    "usd_per_million_input_tokens": later("Million input tokens, computed"),
    "usd_per_million_cached_input_tokens": later("Million input tokens, from the cache"),
    "usd_per_million_output_tokens": later("Million output tokens"),
    "usd_per_million_tokens": later("Million tokens in this mix"),
    _REQUEST: later("One request"),
}
"""Prices of a report -> messages."""


@dataclass(frozen=True)
class PriceRow:
    """One price, USD: as reserved, as used, and the band of the latter."""

    id: str
    name: str
    """As a message."""
    reserved_usd: float
    used_usd: float
    low_usd: float | None
    high_usd: float | None


@dataclass(frozen=True)
class CostSheet:
    """Every price of a scenario."""

    rows: tuple[PriceRow, ...]
    requests_per_day: Part
    """Of one user."""

    def row(self, name: str) -> PriceRow:
        """The row of this id."""
        return next(row for row in self.rows if row.id == name)


def requests_per_user_day(given: float | None = None) -> Part:
    """Requests of a user a day: the person's own, else what a large service reports.

    Raises
    ------
    InputError
        The number given is no number of requests.
    """
    default = fleet_defaults()["messages"]
    if given is None or isclose(given, default.value):
        return default
    if not 0 < given <= MOST_REQUESTS_PER_DAY:
        most = MOST_REQUESTS_PER_DAY
        raise InputError(tr("requests of a user a day must lie above 0 and at most at {most:,.0f}.", most=most))
    return Part.own(given, default.unit)


def cost_sheet(cost: Cost, requests_per_day: float | None = None) -> CostSheet | None:
    """Prices of tokens by kind, of a request, and of a user's month; None without a price or where nothing fits."""
    if cost.used is None or cost.reserved is None:
        return None
    rate = requests_per_user_day(requests_per_day)
    rows = [_row(cost, name, name, words) for name, words in _KINDS.items()]
    return CostSheet((*rows, _row(cost, _USER, _REQUEST, later("One user, a month"), rate.value * DAYS_PER_MONTH)), rate)


def _row(cost: Cost, key: str, name: str, words: str, factor: float = 1.0) -> PriceRow:
    reserved, used, low, high = (
        None if found is None else getattr(found, name) * factor
        for found in (cost.reserved, cost.used, cost.used_low, cost.used_high)
    )
    return PriceRow(key, words, reserved or 0.0, used or 0.0, low, high)


def ordered_quotes(prices: tuple[Price, ...], kinds: tuple[str, ...]) -> tuple[Price, ...]:
    """Rental quotes on some terms, the newest first, then the cheapest."""
    found = [price for price in prices if price.kind == "rental" and price.commitment in kinds]
    cheapest = sorted(found, key=lambda price: price.amount.base)
    return tuple(sorted(cheapest, key=lambda price: price.date, reverse=True))


def is_yours(part: Part) -> bool:
    """Whether the person gave it."""
    return part.source == YOURS
