"""Joules and grams of carbon dioxide of a token, from the power a device draws at the load it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from roofline.answers.pricing import drawn_w
from roofline.catalog.grids import Grid, load_grid
from roofline.catalog.ownership import Owned, owned
from roofline.formulas.energy import carbon_g_per_token, energy_j_per_token
from roofline.formulas.ownership import n_devices_in_power
from roofline.language import localised, tr
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION


@dataclass(frozen=True)
class DeviceSeconds:
    """Time of one device that a token takes, all devices of the system added up; NaN where the load does not fit."""

    computed_tokens: float
    """Of a prompt."""
    cached_tokens: float
    """Of a prompt."""
    input_s: float
    """Of a prompt token that is computed."""
    cached_s: float
    """Of a prompt token that is read from the cache."""
    output_s: float


@dataclass(frozen=True)
class Work:
    """How busy a device is in each phase."""

    prefill_load_frac: float
    """The larger of MFU and MBU."""
    decode_load_frac: float

    def mean_load_frac(self, seconds: DeviceSeconds, output_tokens: int) -> float:
        """Of both phases, by the time that a request takes of each."""
        read_s = seconds.computed_tokens * seconds.input_s + seconds.cached_tokens * seconds.cached_s
        written_s = output_tokens * seconds.output_s
        return (read_s * self.prefill_load_frac + written_s * self.decode_load_frac) / (read_s + written_s)


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


def energy(scenario: Scenario, accelerator: Accelerator, seconds: DeviceSeconds, work: Work) -> Energy:
    """Energy of tokens: power at the load of a phase, times the time a token takes."""
    grid = load_grid(scenario.grid)
    found = owned(scenario.ownership or Ownership(), accelerator, scenario.grid)
    if found.power_w is None or not isfinite(seconds.output_s):
        unknown = tr("the power of {device} is not known", device=accelerator.id)
        reason = tr("the load does not fit") if found.power_w else unknown
        return Energy(None, None, None, None, None, grid.id, reason)
    inputs, cached = (_joules(found, taken, work.prefill_load_frac) for taken in (seconds.input_s, seconds.cached_s))
    outputs = _joules(found, seconds.output_s, work.decode_load_frac)
    request = seconds.computed_tokens * inputs + seconds.cached_tokens * cached + scenario.output_tokens * outputs
    blended = request / (scenario.input_tokens + scenario.output_tokens)
    return Energy(
        device_power_w=drawn_w(found, work.decode_load_frac),
        joules_per_input_token=inputs,
        joules_per_output_token=outputs,
        grams_co2e_per_million_tokens=_grams(grid, blended),
        grams_co2e_per_million_output_tokens=_grams(grid, outputs),
        grid=grid.id,
        basis=_basis(found, grid, scenario.grid is not None, work),
    )


def devices_in_power(found: Owned, budget_w: float) -> int | None:
    """Most devices that a supply carries at rated power, server and facility with them; None where power is not known."""
    if found.power_w is None:
        return None
    device_w = found.power_w.value + found.host_w.value
    return int(n_devices_in_power(budget_w=budget_w, device_w=device_w, pue=found.pue.value))


def _joules(found: Owned, device_s: float, load_frac: float) -> float:
    if device_s == 0.0:
        return 0.0
    power = drawn_w(found, load_frac)
    return float(energy_j_per_token(n_devices=1.0, power_w=power, pue=found.pue.value, tokens_per_s=1.0 / device_s))


def _grams(grid: Grid, joules: float) -> float | None:
    if grid.carbon_g_per_kwh is None:
        return None
    grams = carbon_g_per_token(energy_j_per_token=joules, grid_g_per_kwh=grid.carbon_g_per_kwh.value)
    return float(grams) * PER_MILLION


def _basis(found: Owned, grid: Grid, chosen: bool, work: Work) -> str:
    rated = found.power_w.value if found.power_w else 0.0
    drawn = tr(
        "{rated:,.0f} W rated, {idle:.0%} idle and the rest in proportion to the load "
        "({load:.0%} in decode), {server:,.0f} W of the server, PUE {pue:g}",
        rated=rated,
        idle=found.idle_frac.value,
        load=min(1.0, work.decode_load_frac),
        server=found.host_w.value,
        pue=found.pue.value,
    )
    carbon = grid.carbon_g_per_kwh
    if carbon is None:
        return f"{drawn}; {tr('the carbon intensity of {grid} is not known', grid=grid.name)}"
    place = grid.name if chosen else tr("{grid}, as no grid is chosen", grid=grid.name)
    return f"{drawn}; {localised(f'{carbon.value:g}')} g/kWh ({place}, {carbon.date}, {carbon.source})"
