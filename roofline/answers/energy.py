"""Joules and grams of carbon dioxide of a token, from the power a device draws at the load it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from roofline.catalog.grids import Grid, load_grid
from roofline.catalog.ownership import Owned, owned
from roofline.formulas.energy import carbon_g_per_token, energy_j_per_token
from roofline.formulas.power import n_devices_in_power, power_at_load_w
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION


@dataclass(frozen=True)
class Work:
    """How busy a device is in each phase, and what a cached prompt token takes."""

    prefill_load_frac: float
    """The larger of MFU and MBU."""
    decode_load_frac: float
    cached_token_ratio: float
    """Of the time of a prompt token computed anew."""


@dataclass(frozen=True)
class TokenSeconds:
    """Time of the whole system that a token takes, s; NaN where the load does not fit."""

    input_s: float
    output_s: float


@dataclass(frozen=True)
class Energy:
    """Energy and carbon of tokens at work; None where the device's power is not known."""

    device_power_w: float | None
    """What one device and its share of the server draw while decoding, before PUE."""
    joules_per_input_token: float | None
    joules_per_output_token: float | None
    grams_co2e_per_million_tokens: float | None
    """Of both kinds, in the proportion of the load."""
    grams_co2e_per_million_output_tokens: float | None
    grid: str
    basis: str


def energy(scenario: Scenario, accelerator: Accelerator, seconds: TokenSeconds, work: Work) -> Energy:
    """Energy of tokens: power at the load of a phase, times the time a token takes."""
    grid = load_grid(scenario.grid)
    found = owned(scenario.ownership or Ownership(), accelerator, scenario.grid)
    if found.power_w is None or not isfinite(seconds.output_s):
        reason = "the load does not fit" if found.power_w else f"the power of {accelerator.id} is not known"
        return Energy(None, None, None, None, None, grid.id, reason)
    inputs = _joules(scenario, found, seconds.input_s, work.prefill_load_frac)
    outputs = _joules(scenario, found, seconds.output_s, work.decode_load_frac)
    n_tokens = scenario.input_tokens + scenario.output_tokens
    blended = (scenario.input_tokens * inputs + scenario.output_tokens * outputs) / n_tokens
    return Energy(
        device_power_w=power_w(found, work.decode_load_frac),
        joules_per_input_token=inputs,
        joules_per_output_token=outputs,
        grams_co2e_per_million_tokens=_grams(grid, blended),
        grams_co2e_per_million_output_tokens=_grams(grid, outputs),
        grid=grid.id,
        basis=_basis(found, grid, scenario.grid is not None, work),
    )


def power_w(found: Owned, load_frac: float) -> float:
    """What a device at a load draws, with its share of the server."""
    rated = found.power_w.value if found.power_w else 0.0
    at_load = power_at_load_w(rated_w=rated, idle_frac=found.idle_frac.value, load_frac=min(1.0, load_frac))
    return float(at_load) + found.host_w.value


def devices_in_power(found: Owned, budget_w: float) -> int | None:
    """Most devices that a supply carries at rated power, server and facility with them; None where power is not known."""
    if found.power_w is None:
        return None
    device_w = found.power_w.value + found.host_w.value
    return int(n_devices_in_power(budget_w=budget_w, device_w=device_w, pue=found.pue.value))


def _joules(scenario: Scenario, found: Owned, token_s: float, load_frac: float) -> float:
    joules = energy_j_per_token(
        n_devices=scenario.devices, power_w=power_w(found, load_frac), pue=found.pue.value, tokens_per_s=1.0 / token_s
    )
    return float(joules)


def _grams(grid: Grid, joules: float) -> float | None:
    if grid.carbon_g_per_kwh is None:
        return None
    grams = carbon_g_per_token(energy_j_per_token=joules, grid_g_per_kwh=grid.carbon_g_per_kwh.value)
    return float(grams) * PER_MILLION


def _basis(found: Owned, grid: Grid, chosen: bool, work: Work) -> str:
    rated = found.power_w.value if found.power_w else 0.0
    drawn = (
        f"{rated:,.0f} W rated, {found.idle_frac.value:.0%} idle and the rest in proportion to the load "
        f"({min(1.0, work.decode_load_frac):.0%} in decode), {found.host_w.value:,.0f} W of the server, PUE {found.pue.value:g}"
    )
    carbon = grid.carbon_g_per_kwh
    if carbon is None:
        return f"{drawn}; the carbon intensity of {grid.name} is not known"
    place = grid.name if chosen else f"{grid.name}, as no grid is chosen"
    return f"{drawn}; {carbon.value:g} g/kWh ({place}, {carbon.date}, {carbon.source})"
