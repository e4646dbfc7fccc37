"""What replicas carry, and how many of them a region needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from roofline.answers.boxes import box_price
from roofline.answers.economics import device_price
from roofline.answers.evaluate import evaluate
from roofline.answers.fleet_report import Capacity, Site
from roofline.answers.pricing import DevicePrice, drawn_w
from roofline.answers.report import Report
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.sweep import loads_table
from roofline.catalog.fleet import Assumed
from roofline.catalog.grids import load_grid
from roofline.catalog.ownership import Owned, owned, systems
from roofline.formulas.fleet import needed_devices, whole_replicas
from roofline.formulas.manyserver import pool_waiting_frac
from roofline.formulas.queueing import littles_law_sequences, md1_wait_s
from roofline.language import cached, tr
from roofline.performance.planning import Workload
from roofline.specs.fleet import Region
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import KILO

_PER_DOUBLING = 4
"""Batches tried to a doubling, first over all sizes."""
_FINER = 12
"""Batches tried between the largest that is quick enough and the next."""


@dataclass(frozen=True)
class Rates:
    """One replica at batches of all sizes."""

    report: Report
    """At the most that fit, or at the batch given."""
    batch: NDArray[np.float64]
    calls_per_s: NDArray[np.float64]


@dataclass(frozen=True)
class Carried:
    """The batch a replica runs at, and the time of a replica that a call then takes."""

    batch: int
    request_s: float
    fits: bool
    reason: str
    """Why it cannot serve, or serves more slowly than asked; empty where it does."""


@cached(maxsize=128)
def rates(replica: Scenario) -> Rates:
    """Calls a second of a full replica at every size of batch that fits; kept, as a fleet is asked about again and again."""
    report = evaluate(replica.model_copy(update={"utilisation": 1.0}))
    top = max(1, report.memory.max_batch)
    sizes = np.unique(np.round(np.geomspace(1, top, 1 + ceil(_PER_DOUBLING * np.log2(max(2, top))))))
    return _at(report, sizes if replica.batch is None else np.array([float(replica.batch)]))


def _at(report: Report, sizes: NDArray[np.float64]) -> Rates:
    """Rates at batches; pools of prefill and decode are asked one by one."""
    replica, same = report.scenario, np.ones_like(sizes)
    if replica.prefill_devices is not None:
        asked = [evaluate(replica.model_copy(update={"batch": int(size)})) for size in sizes]
        return Rates(report, sizes, np.array([float(found.expected.requests_per_s) for found in asked]))
    load = Workload(same * replica.input_tokens, same * replica.output_tokens, sizes, np.nan * same)
    return Rates(report, sizes, loads_table(replica, resolve(replica), load)["expected_requests_per_s"])


def carried(found: Rates, speed: float) -> Carried:
    """The largest batch at which every user still gets the speed asked for, else one; the batch given, where one is."""
    if not found.report.memory.fits:
        return Carried(0, float("nan"), False, found.report.sentence)
    if found.report.scenario.batch is not None:
        return _carried(found, 0, "")
    coarse = _quick(found, speed)
    if coarse is None:
        reason = tr("{speed:g} tokens/s for each user are more than this replica gives even one.", speed=speed)
        return _carried(found, 0, reason)
    if coarse + 1 == found.batch.size:
        return _carried(found, coarse, "")
    finer = _at(found.report, np.unique(np.floor(np.linspace(found.batch[coarse], found.batch[coarse + 1], _FINER))))
    return _carried(finer, _quick(finer, speed) or 0, "")


def _quick(found: Rates, speed: float) -> int | None:
    """Place of the largest batch that gives every user the speed asked for, prefill of others included."""
    given = found.report.scenario.output_tokens * found.calls_per_s / found.batch
    quick = np.flatnonzero(np.nan_to_num(given) >= speed)
    return int(quick[-1]) if quick.size else None


def _carried(found: Rates, place: int, reason: str) -> Carried:
    calls = float(found.calls_per_s[place])
    return Carried(int(found.batch[place]), 1.0 / calls, bool(np.isfinite(calls)), reason)


def capacity(replica: Scenario, found: Carried, wanted: Assumed, *, is_own_rack: bool = False) -> Capacity:
    """Everything a site needs to know of its replicas; a rack of one's own may feed no system at all."""
    report = evaluate(replica.model_copy(update={"batch": found.batch}))
    device = resolve(replica)
    load = report.cost.mean_load_frac
    idle, working = (_price(replica, device, at) for at in (0.0, None if load is None else load / replica.utilisation))
    parts = owned(replica.ownership or Ownership(), device.accelerator, replica.grid)
    computed = replica.input_tokens * (1.0 - replica.prefix_hit)
    prompt_s = min(found.request_s, computed / float(report.expected.prefill_tokens_per_s))
    grid = load_grid(replica.grid)
    system = systems().get(device.accelerator.id)
    together = system.n_devices if system else 1
    rated = None if parts.power_w is None else parts.power_w.value + parts.host_w.value
    return Capacity(
        scenario=report.scenario,
        meets_speed=not found.reason,
        batch=report.batch,
        request_s=found.request_s,
        prompt_s=prompt_s,
        tokens_per_s_per_user=replica.output_tokens / (report.batch * found.request_s),
        ttft_s=float(report.expected.ttft_s),
        usd_per_device_hour=working.usd_per_h,
        idle_usd_per_device_hour=idle.usd_per_h,
        working_w=_working_w(report, parts, prompt_s / found.request_s),
        idle_w=None if rated is None else drawn_w(parts, 0.0),
        rated_w=rated,
        pue=parts.pue.value,
        grid_g_per_kwh=grid.carbon_g_per_kwh.value if grid.carbon_g_per_kwh else None,
        devices_per_system=together,
        devices_per_rack=None if rated is None else _fed(rated * together, wanted.rack_kw.value * KILO, is_own_rack) * together,
        basis=working.basis,
    )


def _price(replica: Scenario, device: Resolved, load_frac: float | None) -> DevicePrice:
    """Of an hour at a mean load."""
    price = device_price(replica, device.price)
    return box_price(replica, device.accelerator, load_frac) if price.load_usd_per_h else price


def _working_w(report: Report, parts: Owned, prefill_share: float) -> float | None:
    """Mean power of a device of a full replica: prefill and decode by their share of the time."""
    if parts.power_w is None or not np.isfinite(prefill_share):
        return None
    prefill, decode = (drawn_w(parts, max(report.mfu[phase], report.mbu[phase])) for phase in ("prefill", "decode"))
    return prefill_share * prefill + (1.0 - prefill_share) * decode


def _fed(system_w: float, rack_w: float, is_own_rack: bool) -> int:
    """Whole systems that a rack feeds; what exceeds the assumed rack has one made for it."""
    return max(0 if is_own_rack else 1, floor(rack_w / system_w))


def replicas_needed(peak_calls_per_s: float, request_s: float, found: Assumed) -> int:
    """Whole replicas for the busiest minutes of one region, with headroom and spares."""
    needed = needed_devices(
        demand_tokens_per_s=peak_calls_per_s,
        peak_ratio=1.0,
        device_tokens_per_s=1.0 / request_s,
        utilisation_frac=found.busy.value,
    )
    return int(whole_replicas(n_devices=needed, n_devices_per_replica=1.0)) + int(found.spares.value)


def site(region: Region, pool: str, held: Capacity, calls_per_s: NDArray[np.float64], found: Assumed) -> Site:
    """Replicas of a pool in a region, and how they fare in the busiest minutes and in the quietest hour."""
    peak = float(calls_per_s.max()) * found.burst.value
    replicas, spares = replicas_needed(peak, held.request_s, found), int(found.spares.value)
    devices = replicas * held.scenario.devices
    busy = np.minimum(1.0, calls_per_s * held.request_s / replicas)
    waits, wait = _waiting(held, peak, replicas)
    _, late = _waiting(held, peak, max(1, replicas - spares))
    return Site(
        region=tr(region.name),
        pool=pool,
        capacity=held,
        calls_per_s=calls_per_s,
        peak_calls_per_s=peak,
        replicas=replicas,
        devices=devices,
        racks=None if not held.devices_per_rack else ceil(devices / held.devices_per_rack),
        busy_frac=float(busy.mean()),
        night_idle_frac=1.0 - float(busy.min()),
        waits_frac=waits,
        wait_s=wait,
        ttft_seen_s=region.round_trip_s + wait + held.ttft_s,
        ttft_seen_after_failures_s=region.round_trip_s + late + held.ttft_s,
    )


def _waiting(held: Capacity, calls_per_s: float, replicas: int) -> tuple[float, float]:
    """Share of calls that find every place of a region taken, and the mean wait for a place and for prefill ahead.

    Places are sequences: replicas times batch, one pool. Prefill is one server per replica with constant service.
    """
    places = float(replicas * held.batch)
    held_s = held.batch * held.request_s
    offered = float(littles_law_sequences(arrivals_per_s=calls_per_s, time_in_system_s=held_s))
    if offered >= places:
        return 1.0, float("inf")
    waits = float(pool_waiting_frac(n_servers=places, offered_load=offered))
    ahead = md1_wait_s(arrivals_per_s=calls_per_s / replicas, service_s=held.prompt_s)
    return waits, waits * held_s / (places - offered) + float(ahead)
