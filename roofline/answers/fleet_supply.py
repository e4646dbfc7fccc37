"""What replicas carry, and how many of them a region needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from roofline.answers.economics import device_price
from roofline.answers.energy import power_w
from roofline.answers.evaluate import evaluate
from roofline.answers.fleet_report import Capacity, Site
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.answers.sweep import loads_table
from roofline.catalog.fleet import Assumed
from roofline.catalog.grids import load_grid
from roofline.catalog.ownership import Owned, owned, systems
from roofline.formulas.fleet import n_replicas, pool_waiting_frac, replica_request_s
from roofline.formulas.queueing import littles_law_sequences, md1_wait_s
from roofline.performance.planning import Workload
from roofline.specs.fleet import Region
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import KILO, Floats

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
    prefill_tokens_per_s: NDArray[np.float64]
    decode_tokens_per_s: NDArray[np.float64]


@dataclass(frozen=True)
class Carried:
    """The batch a replica runs at, and the time of a replica that a call then takes."""

    batch: int
    request_s: float
    fits: bool
    reason: str
    """Why it cannot serve, or serves more slowly than asked; empty where it does."""


def rates(replica: Scenario) -> Rates:
    """Prefill and decode rates at every size of batch that fits."""
    report = evaluate(replica.model_copy(update={"utilisation": 1.0}))
    top = max(1, report.memory.max_batch)
    sizes = np.unique(np.round(np.geomspace(1, top, 1 + ceil(_PER_DOUBLING * np.log2(max(2, top))))))
    return _at(report, sizes if replica.batch is None else np.array([float(replica.batch)]))


def _at(report: Report, sizes: NDArray[np.float64]) -> Rates:
    replica, same = report.scenario, np.ones_like(sizes)
    load = Workload(same * replica.input_tokens, same * replica.output_tokens, sizes, np.nan * same)
    table = loads_table(replica, resolve(replica), load)
    return Rates(report, sizes, table["expected_prefill_tokens_per_s"], table["expected_output_tokens_per_s"])


def carried(found: Rates, prefix_hit: float, speed: float) -> Carried:
    """The largest batch at which every user still gets the speed asked for, else one; the batch given, where one is."""
    if not found.report.memory.fits:
        return Carried(0, float("nan"), False, found.report.sentence)
    coarse = _quick(found, prefix_hit, speed)
    if found.report.scenario.batch is not None:
        return _carried(found, prefix_hit, 0, "")
    if coarse is None:
        slow = f"{speed:g} tokens/s for each user are more than this replica gives even one."
        return _carried(found, prefix_hit, 0, slow)
    if coarse + 1 == found.batch.size:
        return _carried(found, prefix_hit, coarse, "")
    finer = _at(found.report, np.unique(np.floor(np.linspace(found.batch[coarse], found.batch[coarse + 1], _FINER))))
    return _carried(finer, prefix_hit, _quick(finer, prefix_hit, speed) or 0, "")


def _quick(found: Rates, prefix_hit: float, speed: float) -> int | None:
    """Place of the largest batch that gives every user the speed asked for."""
    given = found.report.scenario.output_tokens / (found.batch * _request_s(found, prefix_hit))
    quick = np.flatnonzero(np.nan_to_num(given) >= speed)
    return int(quick[-1]) if quick.size else None


def _carried(found: Rates, prefix_hit: float, place: int, reason: str) -> Carried:
    seconds = np.asarray(_request_s(found, prefix_hit))
    return Carried(int(found.batch[place]), float(seconds[place]), bool(np.isfinite(seconds[place])), reason)


def _request_s(found: Rates, prefix_hit: float) -> Floats:
    replica = found.report.scenario
    return replica_request_s(
        n_input_tokens=replica.input_tokens,
        n_output_tokens=replica.output_tokens,
        cached_frac=prefix_hit,
        cached_ratio=found.report.cost.cached_token_ratio,
        prefill_tokens_per_s=found.prefill_tokens_per_s,
        decode_tokens_per_s=found.decode_tokens_per_s,
    )


def capacity(replica: Scenario, found: Carried, wanted: Assumed) -> Capacity:
    """Everything a site needs to know of its replicas."""
    report = evaluate(replica.model_copy(update={"batch": found.batch, "utilisation": 1.0}))
    expected, device = report.expected, resolve(replica)
    price = device_price(replica, device.price)
    parts = owned(replica.ownership or Ownership(), device.accelerator, replica.grid)
    prompt_s = max(0.0, found.request_s - replica.output_tokens / float(expected.output_tokens_per_s))
    grid = load_grid(replica.grid)
    rated = None if parts.power_w is None else parts.power_w.value + parts.host_w.value
    alone_s = replica.input_tokens / float(expected.prefill_tokens_per_s)
    return Capacity(
        scenario=report.scenario,
        meets_speed=not found.reason,
        batch=report.batch,
        request_s=found.request_s,
        prompt_s=prompt_s,
        tokens_per_s_per_user=replica.output_tokens / (report.batch * found.request_s),
        ttft_s=float(expected.ttft_s) * prompt_s / alone_s,
        usd_per_device_hour=price.usd_per_h,
        working_w=_working_w(report, parts, prompt_s / found.request_s),
        idle_w=None if rated is None else power_w(parts, 0.0),
        rated_w=rated,
        pue=parts.pue.value,
        grid_g_per_kwh=grid.carbon_g_per_kwh.value if grid.carbon_g_per_kwh else None,
        devices_per_rack=None if rated is None else _per_rack(device.accelerator.id, rated, wanted.rack_kw.value * KILO),
        basis=price.basis,
    )


def _working_w(report: Report, parts: Owned, prefill_share: float) -> float | None:
    """Mean power of a device of a full replica: prefill and decode by their share of the time."""
    if parts.power_w is None or not np.isfinite(prefill_share):
        return None
    prefill, decode = (power_w(parts, max(report.mfu[phase], report.mbu[phase])) for phase in ("prefill", "decode"))
    return prefill_share * prefill + (1.0 - prefill_share) * decode


def _per_rack(device: str, rated_w: float, rack_w: float) -> int:
    """Devices of the whole systems that a rack feeds, one system at least."""
    system = systems().get(device)
    together = system.n_devices if system else 1
    return max(1, floor(rack_w / (rated_w * together))) * together


def replicas_needed(peak_calls_per_s: float, request_s: float, found: Assumed) -> int:
    """Whole replicas for the busiest minutes of one region, with headroom and spares."""
    needed = n_replicas(arrivals_per_s=peak_calls_per_s, request_s=request_s, utilisation_frac=found.busy.value)
    return int(needed) + int(found.spares.value)


def site(region: Region, pool: str, held: Capacity, calls_per_s: NDArray[np.float64], found: Assumed) -> Site:
    """Replicas of a pool in a region, and how they fare in the busiest minutes and in the quietest hour."""
    peak = float(calls_per_s.max()) * found.burst.value
    replicas, spares = replicas_needed(peak, held.request_s, found), int(found.spares.value)
    devices = replicas * held.scenario.devices
    busy = np.minimum(1.0, calls_per_s * held.request_s / replicas)
    waits, wait = _waiting(held, peak, replicas)
    _, late = _waiting(held, peak, max(1, replicas - spares))
    return Site(
        region=region.name,
        pool=pool,
        capacity=held,
        calls_per_s=calls_per_s,
        peak_calls_per_s=peak,
        replicas=replicas,
        devices=devices,
        racks=None if held.devices_per_rack is None else ceil(devices / held.devices_per_rack),
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
