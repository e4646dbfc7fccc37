"""The price of an hour of one device: rented, owned, or there already."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

from roofline.catalog.hardware import rental_usd_per_h
from roofline.catalog.ownership import Owned, owned
from roofline.formulas.capital import payment_usd
from roofline.formulas.energy import mean_power_w
from roofline.formulas.ownership import electricity_usd_per_h
from roofline.language import later, tr
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import HOURS_PER_YEAR, KILO, MONTHS_PER_YEAR, Floats, significant

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
    load_usd_per_h: float = 0.0
    """Of electricity: what full load adds to an idle device, where it is owned."""

    def at_load(self, load_frac: Floats) -> Floats:
        """Price of an hour at a mean load; ``usd_per_h`` itself is at rated power. NaN where it is not known.

        >>> DevicePrice(0.5, "", load_usd_per_h=0.25).at_load(0.5)
        0.375
        """
        if self.usd_per_h is None:
            return nan
        return self.usd_per_h - self.load_usd_per_h * (1.0 - load_frac)


def market_price(accelerator: Accelerator, load_frac: float | None = None) -> DevicePrice:
    """Median of dated rental quotes on demand, else the cost of owning a device, at a mean load where one is known."""
    rental = rental_usd_per_h(accelerator)
    if rental is not None:
        return DevicePrice(rental[0], rental[1], "rental")
    found = ownership_price(owned(Ownership(), accelerator), load_frac)
    if found.usd_per_h is None:
        said = tr("no price is known for {device}: give your own price per device hour", device=accelerator.id)
        return DevicePrice(None, said, "unknown")
    return found


def chosen_price(scenario: Scenario, accelerator: Accelerator, load_frac: float | None = None) -> DevicePrice:
    """The basis a scenario asks for: owned, rented on other terms, or the market's."""
    if scenario.ownership is not None:
        return ownership_price(owned(scenario.ownership, accelerator, scenario.grid), load_frac)
    if scenario.rental == "on-demand":
        return market_price(accelerator, load_frac)
    rental = rental_usd_per_h(accelerator, scenario.rental)
    if rental is None:
        terms = tr(RENTAL_TERMS[scenario.rental])
        said = tr("no {terms} rental of {device} is known: give your own price", terms=terms, device=accelerator.id)
        return DevicePrice(None, said, "unknown")
    return DevicePrice(rental[0], rental[1], "rental")


def ownership_price(found: Owned, load_frac: float | None = None) -> DevicePrice:
    """Price of an hour of an owned device, all hours of its life alike: at a mean load, or at rated power where none is known."""
    if found.power_w is None and found.power_only:
        said = tr("the power of this device is not known: give it as ownership power,power=350")
        return DevicePrice(None, said, "unknown")
    if found.price_usd is None and not found.power_only:
        said = tr("no purchase price of this device is known: give it as ownership price=25000")
        return DevicePrice(None, said, "unknown")
    parts = hourly_parts(found, 1.0 if load_frac is None else load_frac)
    full, idle = (hourly_parts(found, load).electricity_usd_per_h for load in (1.0, 0.0))
    kind: PriceKind = "power only" if found.power_only else "ownership"
    outlay = None if found.power_only else outlay_usd(found)
    return DevicePrice(parts.total_usd_per_h, _basis(found, load_frac), kind, parts, outlay, full - idle)


def outlay_usd(found: Owned) -> float:
    """Paid for a device with its share of server and network."""
    return (found.price_usd.value if found.price_usd else 0.0) * (1.0 + found.overhead_frac.value)


def drawn_w(found: Owned, load_frac: float = 1.0) -> float:
    """Device at a load and its share of the server, at the plug: idle power, and the rest in proportion to the load."""
    rated = found.power_w.value if found.power_w else 0.0
    idle = rated * found.idle_frac.value
    at_load = mean_power_w(idle_power_w=idle, busy_power_w=rated, utilisation_frac=min(1.0, load_frac))
    return float(at_load) + found.host_w.value


def hourly_parts(found: Owned, load_frac: float = 1.0) -> HourlyParts:
    """Every part of an hour at a mean load; of a machine that is there, electricity alone. Space is paid for rated power."""
    electricity = electricity_usd_per_h(
        power_w=drawn_w(found, load_frac), pue=found.pue.value, electricity_usd_per_kwh=found.usd_per_kwh.value
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


def _drawn(found: Owned, load_frac: float | None) -> str:
    """Power that is paid for, and whether it is that of a load."""
    values = {"price": found.usd_per_kwh.value, "pue": found.pue.value}
    if load_frac is None:
        return tr("{power:,.0f} W, its rated power, at {price:g} USD/kWh and PUE {pue:g}", power=drawn_w(found), **values)
    return tr(
        "{power} W on average over work and idle hours ({rated:,.0f} W rated) at {price:g} USD/kWh and PUE {pue:g}",
        power=significant(drawn_w(found, load_frac)),
        rated=drawn_w(found),
        **values,
    )


def _basis(found: Owned, load_frac: float | None) -> str:
    drawn = _drawn(found, load_frac)
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
