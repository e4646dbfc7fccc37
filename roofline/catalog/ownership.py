"""What owning a device costs: a person's figures, completed by defaults that name their source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from roofline.catalog.grids import load_grid
from roofline.catalog.hardware import purchase_usd
from roofline.language import later, tr
from roofline.specs.hardware import Accelerator, Category
from roofline.specs.ownership import Ownership

YOURS = later("yours")
_UNITS = (
    later("a year"),
    later("ratio"),
    later("share of rated power"),
    later("share of the device price"),
    later("share of the outlay"),
    later("share of the outlay a year"),
    later("USD per kW and month"),
    later("years"),
)
"""Units of ``ownership.csv`` as messages: a part keeps its unit in English, and is told with `tr`."""

_SITES: dict[Category, str] = {
    "datacentre GPU": "datacentre",
    "TPU": "datacentre",
    "accelerator": "datacentre",
    "server CPU": "datacentre",
    "consumer GPU": "desk",
    "workstation GPU": "desk",
    "desktop CPU": "desk",
    "embedded GPU": "machine",
    "Apple": "machine",
}


@dataclass(frozen=True)
class Part:
    """An assumption: its value, how far it may be off, and where it comes from."""

    value: float
    low: float
    high: float
    unit: str
    source: str

    @classmethod
    def own(cls, value: float, unit: str) -> Part:
        """What the person gave: taken as known."""
        return cls(value, value, value, unit, YOURS)


@dataclass(frozen=True)
class System:
    """A machine that holds several devices."""

    name: str
    n_devices: int
    power_w: float
    source: str


@dataclass(frozen=True)
class Owned:
    """Every part of what owning one device costs; None where a fact is missing."""

    power_only: bool
    price_usd: Part | None
    power_w: Part | None
    """What the device draws, its share of the server apart."""
    overhead_frac: Part
    life_years: Part
    residual_frac: Part
    capital_frac: Part
    host_w: Part
    pue: Part
    usd_per_kwh: Part
    hosting_usd_per_kw_month: Part
    staff_frac: Part
    idle_frac: Part
    """Of rated power, drawn by an idle device."""


def _table(name: str) -> list[dict[str, str]]:
    text = (resources.files("roofline.catalog") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def _defaults() -> dict[tuple[str, str], Part]:
    return {
        (row["part"], row["site"]): Part(float(row["value"]), float(row["low"]), float(row["high"]), row["unit"], row["source"])
        for row in _table("ownership.csv")
    }


@cache
def systems() -> dict[str, System]:
    """Servers and racks by the device they hold."""
    return {
        row["device_id"]: System(row["system"], int(row["n_devices"]), float(row["power_w"]), row["source"])
        for row in _table("systems.csv")
    }


def owned(ownership: Ownership, accelerator: Accelerator, grid: str | None = None) -> Owned:
    """A person's figures for a device, the rest from the catalogue and from defaults."""
    site = _SITES[accelerator.category]

    def part(name: str) -> Part:
        default = _default(name, site)
        given = getattr(ownership, name)
        return default if given is None else Part.own(given, default.unit)

    return Owned(
        power_only=ownership.power_only,
        price_usd=_price(ownership, accelerator),
        power_w=_power(ownership, accelerator),
        overhead_frac=part("overhead_frac"),
        life_years=part("life_years"),
        residual_frac=part("residual_frac"),
        capital_frac=part("capital_frac"),
        host_w=_host(ownership, accelerator, site),
        pue=part("pue"),
        usd_per_kwh=_tariff(ownership, site, grid),
        hosting_usd_per_kw_month=part("hosting_usd_per_kw_month"),
        staff_frac=part("staff_frac"),
        idle_frac=_default("idle_share", site),
    )


def _default(name: str, site: str) -> Part:
    found = _defaults()
    return found.get((name, site)) or found[name, "any"]


def _price(ownership: Ownership, accelerator: Accelerator) -> Part | None:
    if ownership.price_usd is not None:
        return Part.own(ownership.price_usd, "USD")
    bought = purchase_usd(accelerator)
    if bought is None:
        return None
    quotes = [p.amount.base for p in accelerator.prices if p.kind == "purchase"]
    return Part(bought[0], min(quotes), max(quotes), "USD", bought[1])


def _power(ownership: Ownership, accelerator: Accelerator) -> Part | None:
    if ownership.power_w is not None:
        return Part.own(ownership.power_w, "W")
    if accelerator.tdp is None:
        return None
    share, rated = _default("power_share", "any"), accelerator.tdp.base
    return Part(share.value * rated, share.low * rated, share.high * rated, "W", f"{share.source}; {accelerator.tdp.source}")


def _host(ownership: Ownership, accelerator: Accelerator, site: str) -> Part:
    if ownership.host_w is not None:
        return Part.own(ownership.host_w, "W")
    rated = accelerator.tdp.base if accelerator.tdp else 0.0
    share, system = _default("host_share", site), systems().get(accelerator.id)
    if system is None or accelerator.tdp is None:
        return Part(share.value * rated, share.low * rated, share.high * rated, "W", share.source)
    host = max(0.0, system.power_w / system.n_devices - rated)
    source = tr(
        "{system}: {power:,.0f} W for {n}, less the devices ({source})",
        system=system.name,
        power=system.power_w,
        n=system.n_devices,
        source=system.source,
    )
    return Part(host, min(share.low * rated, host), host, "W", source)


def _tariff(ownership: Ownership, site: str, grid: str | None) -> Part:
    """Yours, else the price at the grid chosen, else the default."""
    default = _default("usd_per_kwh", site)
    if ownership.usd_per_kwh is not None:
        return Part.own(ownership.usd_per_kwh, default.unit)
    if grid is None:
        return default
    place = load_grid(grid)
    quoted = place.industrial_usd_per_kwh if site == "datacentre" else place.household_usd_per_kwh or place.industrial_usd_per_kwh
    if quoted is None:
        return default
    low, high = min(default.low, quoted.value), max(default.high, quoted.value)
    return Part(quoted.value, low, high, default.unit, f"{place.name}, {quoted.date} ({quoted.source})")
