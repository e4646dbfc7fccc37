"""What a fleet answers: frozen results, every number with the steps that lead to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.sensitivity import Sensitivity, Swing
from roofline.language import tr
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario


@dataclass(frozen=True)
class Step:
    """One link of the chain from users to money."""

    name: str
    value: float
    unit: str
    formula: str
    inputs: tuple[str, ...]
    """Names of earlier steps and of assumptions, with their values."""
    source: str


@dataclass(frozen=True)
class Capacity:
    """What one replica carries, at the largest batch that still gives every user the speed asked for."""

    scenario: Scenario
    meets_speed: bool
    batch: int
    request_s: float
    """Time of a replica that a call takes; its inverse is the calls a second of a full replica."""
    prompt_s: float
    """Of that, prefill."""
    tokens_per_s_per_user: float
    """Prefill of others included."""
    ttft_s: float
    """Alone, its prompt partly cached."""
    usd_per_device_hour: float | None
    """Of a full replica."""
    idle_usd_per_device_hour: float | None
    """The same while nothing is asked of it: what is owned then draws less."""
    working_w: float | None
    """Of one device and its share of the server, at the load of a full replica."""
    idle_w: float | None
    rated_w: float | None
    pue: float
    grid_g_per_kwh: float | None
    devices_per_system: int
    """Bought and fed together."""
    devices_per_rack: int | None
    """0 where a rack does not feed one system."""
    basis: str


@dataclass(frozen=True)
class Site:
    """One pool of replicas in one region."""

    region: str
    pool: str
    capacity: Capacity
    calls_per_s: NDArray[np.float64]
    """At every hour of a day, UTC."""
    peak_calls_per_s: float
    """In the busiest minutes of the busiest hour."""
    replicas: int
    devices: int
    racks: int | None
    busy_frac: float
    """Of replica time, mean over a day."""
    night_idle_frac: float
    """Of replicas with nothing to do in the quietest hour."""
    waits_frac: float
    """Of calls that find every place taken, in the busiest minutes."""
    wait_s: float
    """Mean wait of all calls then: for a place, and for prefill ahead."""
    ttft_seen_s: float
    """Round trip, wait and prefill."""
    ttft_seen_after_failures_s: float
    """The same with the spare replicas gone."""

    @property
    def usd_per_device_hour(self) -> float | None:
        """Mean over a day: owned devices that wait draw less than those at work."""
        idle, working = self.capacity.idle_usd_per_device_hour, self.capacity.usd_per_device_hour
        if idle is None or working is None:
            return None
        return idle + (working - idle) * self.busy_frac


@dataclass(frozen=True)
class FleetReport:
    """A fleet: totals, sites, the chain of steps, and what moves the answer."""

    asked: FleetScenario
    fits: bool
    sentence: str
    calls_per_s: float
    """Mean over a day, of all models, after cached results."""
    output_tokens_per_s: float
    """Mean over a day."""
    peak_output_tokens_per_s: float
    """Sum of the busiest minutes of every region."""
    replicas: int | None
    devices: int | None
    devices_by_hardware: dict[str, int]
    devices_if_pooled: int | None
    """Were any region to serve any other: the peaks of day and night even out."""
    racks: int | None
    provisioned_power_w: float | None
    """Everything at rated power, facility included."""
    users_within_power: float | None
    """Weekly users that a power budget carries, where one is given."""
    mean_power_w: float | None
    """Over a day, idle replicas at idle power."""
    idle_device_hours_per_day: float
    usd_per_hour: float | None
    usd_per_month: float | None
    usd_per_user_month: float | None
    usd_per_message: float | None
    usd_per_million_output_tokens: float | None
    joules_per_message: float | None
    grams_co2e_per_message: float | None
    sites: tuple[Site, ...]
    steps: tuple[Step, ...]
    swings: tuple[Swing, ...]
    """Devices, against every assumption over its range."""
    assumptions: dict[str, str]
    """Name -> value, unit and source; ``yours`` where the person gave it."""
    reasons: tuple[str, ...]

    @property
    def sensitivity(self) -> Sensitivity:
        """What moves the number of devices."""
        devices = None if self.devices is None else float(self.devices)
        return Sensitivity(tr("number of devices"), "", devices, self.swings)
