"""Several years of owning beside several years of renting: cash of every year, and what it is worth today."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from roofline.answers.evaluate import evaluate
from roofline.answers.pricing import hourly_parts, outlay_usd
from roofline.catalog.boxes import load_box
from roofline.catalog.hardware import rental_usd_per_h
from roofline.catalog.ownership import Owned, owned
from roofline.errors import InputError, MissingFactError
from roofline.formulas.ownership import present_frac
from roofline.language import tr
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import HOURS_PER_YEAR

MOST_YEARS = 50
_SAME_INSTANT = 1e-9


@dataclass(frozen=True)
class Year:
    """Money paid in a year, USD; year 0 is the day of purchase, other years are paid at their end."""

    year: int
    outlay_usd: float
    """Machines bought, less what the old ones fetch."""
    running_usd: float
    """Electricity, space and staff."""
    own_usd: float
    own_present_usd: float
    own_cumulative_usd: float
    """Not discounted."""
    rent_usd: float | None
    rent_present_usd: float | None
    rent_cumulative_usd: float | None


@dataclass(frozen=True)
class MultiYear:
    """A purchase over years; ``None`` where no rental is known."""

    years: tuple[Year, ...]
    own_present_usd: float
    """Net present value of all payments."""
    rent_present_usd: float | None
    cheaper_from_year: int | None
    """The first year at whose end less was paid in all for owning than for renting."""
    basis: str


def multi_year(scenario: Scenario, n_years: int | None = None) -> MultiYear:
    """What all devices of a scenario cost year by year, owned, or rented at your price or the market's.

    Owned ones draw their mean power over work and idle hours, or rated power where the load does not fit.
    Machines are replaced at the end of their life; at the end of the horizon they are sold, on a straight line between outlay
    and residual value.

    Raises
    ------
    MissingFactError
        No purchase price is known and none is given.
    """
    device = load_box(scenario.hardware)
    found = owned(scenario.ownership or Ownership(), device, scenario.grid)
    if found.price_usd is None and not found.power_only:
        raise MissingFactError(tr("no purchase price of {device} is known: give it as ownership price=25000.", device=device.id))
    horizon = ceil(found.life_years.value) if n_years is None else n_years
    if not 1 <= horizon <= MOST_YEARS:
        raise InputError(tr("years must lie between 1 and {most}.", most=MOST_YEARS))
    rented = _rental(scenario, device)
    rent = None if rented is None else rented[0] * HOURS_PER_YEAR * scenario.devices
    load = evaluate(scenario).cost.mean_load_frac
    running = hourly_parts(found, 1.0 if load is None else load).running_usd_per_h * HOURS_PER_YEAR * scenario.devices
    years = _years(found, _deals(found, scenario.devices, horizon), running, horizon, rent)
    ahead = (y.year for y in years if y.rent_cumulative_usd is not None and y.own_cumulative_usd < y.rent_cumulative_usd)
    return MultiYear(
        years=years,
        own_present_usd=sum(y.own_present_usd for y in years),
        rent_present_usd=None if rent is None else sum(y.rent_present_usd or 0.0 for y in years),
        cheaper_from_year=next(ahead, None),
        basis=tr(
            "owned at {capital:.0%} a year; rented: {basis}",
            capital=found.capital_frac.value,
            basis=tr("not known") if rented is None else rented[1],
        ),
    )


def _rental(scenario: Scenario, device: Accelerator) -> tuple[float, str] | None:
    """What renting one device costs an hour: your price, else quotes on the terms asked for."""
    if scenario.usd_per_device_hour is not None:
        return scenario.usd_per_device_hour, tr("your price")
    return rental_usd_per_h(device, scenario.rental)


def _years(found: Owned, dealt: list[tuple[float, float]], running: float, horizon: int, rent: float | None) -> tuple[Year, ...]:
    own_sum = rent_sum = 0.0
    years = []
    for year in range(horizon + 1):
        deals = [(at, usd) for at, usd in dealt if max(0, ceil(at - _SAME_INSTANT)) == year]
        outlay, paid = sum(usd for _, usd in deals), running if year else 0.0
        rented = None if rent is None else rent * bool(year)
        own_sum, rent_sum = own_sum + outlay + paid, rent_sum + (rented or 0.0)
        worth = _present(found, year)
        years.append(
            Year(
                year=year,
                outlay_usd=outlay,
                running_usd=paid,
                own_usd=outlay + paid,
                own_present_usd=sum(usd * _present(found, at) for at, usd in deals) + paid * worth,
                own_cumulative_usd=own_sum,
                rent_usd=rented,
                rent_present_usd=None if rented is None else rented * worth,
                rent_cumulative_usd=None if rented is None else rent_sum,
            )
        )
    return tuple(years)


def _deals(found: Owned, n_devices: int, horizon: int) -> list[tuple[float, float]]:
    """Purchases and sales: when, in years, and what is paid; nothing for a machine that is there already."""
    if found.power_only:
        return []
    outlay, life, kept = outlay_usd(found) * n_devices, found.life_years.value, found.residual_frac.value
    deals, bought = [(0.0, outlay)], 0.0
    while bought + life < horizon - _SAME_INSTANT:
        bought += life
        deals += [(bought, -kept * outlay), (bought, outlay)]
    age = min(1.0, (horizon - bought) / life)
    return [*deals, (float(horizon), -outlay * (1.0 - (1.0 - kept) * age))]


def _present(found: Owned, years: float) -> float:
    return float(present_frac(discount_frac=found.capital_frac.value, n_years=years))
