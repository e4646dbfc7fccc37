"""The price of an hour of one device: rented, owned, or there already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roofline.catalog.hardware import rental_usd_per_h
from roofline.catalog.ownership import Owned, owned
from roofline.formulas.capital import payment_usd
from roofline.formulas.ownership import electricity_usd_per_h
from roofline.language import later, tr
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import HOURS_PER_YEAR, KILO, MONTHS_PER_YEAR

PriceKind = Literal["yours", "rental", "ownership", "power only", "unknown"]
RENTAL_TERMS = {"on-demand": later("on-demand"), "committed": later("committed"), "spot": later("spot")}
"""Terms of rental quotes, as words."""


@dataclass(frozen=True)
class HourlyParts:
    """What an hour of an owned device is made of, USD."""

    capital_usd_per_h: float
    electricity_usd_per_h: float
    hosting_usd_per_h: float
    staff_usd_per_h: float

    @property
    def total_usd_per_h(self) -> float:
        """All parts."""
        return self.capital_usd_per_h + self.running_usd_per_h

    @property
    def running_usd_per_h(self) -> float:
        """What is paid every hour once the machine is there."""
        return self.electricity_usd_per_h + self.hosting_usd_per_h + self.staff_usd_per_h


@dataclass(frozen=True)
class DevicePrice:
    """What an hour of one device costs, and why."""

    usd_per_h: float | None
    basis: str
    kind: PriceKind = "yours"
    parts: HourlyParts | None = None
    """Where it is owned."""
    outlay_usd: float | None = None
    """Paid for one device with its share of server and network, where it is owned."""


def market_price(accelerator: Accelerator) -> DevicePrice:
    """Median of dated rental quotes on demand, else the cost of owning a device."""
    rental = rental_usd_per_h(accelerator)
    if rental is not None:
        return DevicePrice(rental[0], rental[1], "rental")
    found = ownership_price(owned(Ownership(), accelerator))
    if found.usd_per_h is None:
        said = tr("no price is known for {device}: give your own price per device hour", device=accelerator.id)
        return DevicePrice(None, said, "unknown")
    return found


def chosen_price(scenario: Scenario, accelerator: Accelerator, market: DevicePrice) -> DevicePrice:
    """The basis a scenario asks for: owned, rented on other terms, or the market's."""
    if scenario.ownership is not None:
        return ownership_price(owned(scenario.ownership, accelerator, scenario.grid))
    if scenario.rental == "on-demand":
        return market
    rental = rental_usd_per_h(accelerator, scenario.rental)
    if rental is None:
        terms = tr(RENTAL_TERMS[scenario.rental])
        said = tr("no {terms} rental of {device} is known: give your own price", terms=terms, device=accelerator.id)
        return DevicePrice(None, said, "unknown")
    return DevicePrice(rental[0], rental[1], "rental")


def ownership_price(found: Owned) -> DevicePrice:
    """Price of an hour of an owned device, all hours of its life alike."""
    if found.power_w is None and found.power_only:
        said = tr("the power of this device is not known: give it as ownership power,power=350")
        return DevicePrice(None, said, "unknown")
    if found.price_usd is None and not found.power_only:
        said = tr("no purchase price of this device is known: give it as ownership price=25000")
        return DevicePrice(None, said, "unknown")
    parts = hourly_parts(found)
    kind: PriceKind = "power only" if found.power_only else "ownership"
    return DevicePrice(parts.total_usd_per_h, _basis(found), kind, parts, None if found.power_only else outlay_usd(found))


def outlay_usd(found: Owned) -> float:
    """Paid for a device with its share of server and network."""
    return (found.price_usd.value if found.price_usd else 0.0) * (1.0 + found.overhead_frac.value)


def drawn_w(found: Owned) -> float:
    """Device and its share of the server, at the plug."""
    return (found.power_w.value if found.power_w else 0.0) + found.host_w.value


def hourly_parts(found: Owned) -> HourlyParts:
    """Every part of an hour; of a machine that is there, electricity alone."""
    electricity = electricity_usd_per_h(
        power_w=drawn_w(found), pue=found.pue.value, electricity_usd_per_kwh=found.usd_per_kwh.value
    )
    if found.power_only:
        return HourlyParts(0.0, float(electricity), 0.0, 0.0)
    outlay = outlay_usd(found)
    capital = payment_usd(
        purchase_usd=outlay,
        residual_frac=found.residual_frac.value,
        n_payments=found.life_years.value,
        interest_frac=found.capital_frac.value,
    )
    hosting = drawn_w(found) / KILO * found.hosting_usd_per_kw_month.value * MONTHS_PER_YEAR
    return HourlyParts(
        capital_usd_per_h=float(capital) / HOURS_PER_YEAR,
        electricity_usd_per_h=float(electricity),
        hosting_usd_per_h=hosting / HOURS_PER_YEAR,
        staff_usd_per_h=found.staff_frac.value * outlay / HOURS_PER_YEAR,
    )


def _basis(found: Owned) -> str:
    drawn = tr(
        "{power:,.0f} W at {price:g} USD/kWh and PUE {pue:g}",
        power=drawn_w(found),
        price=found.usd_per_kwh.value,
        pue=found.pue.value,
    )
    if found.power_only or found.price_usd is None:
        return tr("power only, the machine is there: {drawn}", drawn=drawn)
    unknown = "" if found.power_w is not None else tr(", the device's own power unknown and left out")
    return tr(
        "owned: {price:,.0f} USD ({source}) and {rest:.0%} for the rest, {years:g} years, {left:.0%} left, {capital:.0%} a year "
        "for capital, {drawn}, {hosting:g} USD a kW and month for space, {staff:.0%} of the outlay a year for staff",
        price=found.price_usd.value,
        source=tr(found.price_usd.source),
        rest=found.overhead_frac.value,
        years=found.life_years.value,
        left=found.residual_frac.value,
        capital=found.capital_frac.value,
        drawn=drawn + unknown,
        hosting=found.hosting_usd_per_kw_month.value,
        staff=found.staff_frac.value,
    )
