"""Many people on many machines: from users a week to devices, racks, power and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import ceil, isfinite

import numpy as np
from numpy.typing import NDArray

from roofline.answers.fleet_demand import daily_shape, demand
from roofline.answers.fleet_report import FleetReport, Site
from roofline.answers.fleet_steps import assumption_lines, chain, sentence
from roofline.answers.fleet_supply import Carried, capacity, carried, rates, replicas_needed, site
from roofline.answers.sensitivity import Swing, widest_first
from roofline.catalog.boxes import load_box
from roofline.catalog.fleet import CALL, NAMES, Assumed, assumed, settled
from roofline.catalog.models import load_model
from roofline.language import cached, later, tr
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario
from roofline.units import (
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    KILO,
    MONTHS_PER_YEAR,
    PER_MILLION,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    with_prefix,
)

_HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR


@dataclass(frozen=True)
class Pool:
    """Replicas of one kind with the calls they carry everywhere together."""

    name: str
    replica: Scenario
    carried: Carried
    calls_per_s: float


def fleet(asked: FleetScenario) -> FleetReport:
    """Devices, racks, power, money and waiting of a fleet, with the chain of steps and what moves the answer.

    Where the replica does not state a prompt, an output or a share found in a cache, those of the assumed call are taken.

    Raises
    ------
    RooflineError
        The replica names something that does not exist or cannot be.
    """
    asked = settled(asked)
    found = assumed(asked)
    pools = _pools(asked, found)
    failing = [pool for pool in pools if not pool.carried.fits]
    sites = () if failing else _sites(asked, found, pools)
    return _report(asked, found, pools, sites, _swings(asked, found) if sites else ())


def _pools(asked: FleetScenario, found: Assumed) -> tuple[Pool, ...]:
    """The replica's hardware, other hardware beside it, and the small model."""
    wanted = demand(found)
    rest = max(0.0, 1.0 - sum(other.share for other in asked.mix))
    shares = [(asked.replica, rest), *((asked.on(other.hardware), other.share) for other in asked.mix)]
    kinds = [(replica, wanted.main_calls_per_s * share) for replica, share in shares]
    if asked.small_replica is not None:
        kinds.append((asked.small_replica, wanted.small_calls_per_s))
    return tuple(
        Pool(
            name=_pool_name(replica),
            replica=replica,
            carried=_carried_at(replica, found.speed.value),
            calls_per_s=calls,
        )
        for replica, calls in kinds
        if calls > 0.0
    )


def _pool_name(replica: Scenario) -> str:
    model, device = load_model(replica.model).name, load_box(replica.hardware).name
    return tr("{model} on {n} x {device}", model=model[:60], n=replica.devices, device=device[:60])


@cached(maxsize=256)
def _carried_at(replica: Scenario, speed: float) -> Carried:
    """What a replica carries at a speed for each user."""
    return carried(rates(replica), speed)


def _sites(asked: FleetScenario, found: Assumed, pools: Sequence[Pool]) -> tuple[Site, ...]:
    held = {pool.name: capacity(pool.replica, pool.carried, found, is_own_rack=asked.rack_kw is not None) for pool in pools}
    return tuple(
        site(region, pool.name, held[pool.name], pool.calls_per_s * region.share * daily_shape(found.peak.value, region), found)
        for pool in pools
        for region in asked.regions
    )


def _if_pooled(asked: FleetScenario, found: Assumed, pools: Sequence[Pool]) -> int:
    """Devices where any region may serve any other: one peak instead of the sum of them, the spares of one region."""
    top = float(_world_shape(asked, found.peak.value).max()) * found.burst.value
    return sum(replicas_needed(pool.calls_per_s * top, pool.carried.request_s, found) * pool.replica.devices for pool in pools)


def _world_shape(asked: FleetScenario, peak: float) -> NDArray[np.float64]:
    shape = np.zeros(int(HOURS_PER_DAY))
    for region in asked.regions:
        shape = shape + region.share * daily_shape(peak, region)
    return shape


def _swings(asked: FleetScenario, found: Assumed) -> tuple[Swing, ...]:
    """Devices with every assumption at both ends of its range."""
    return widest_first(
        Swing(
            name=tr(NAMES[item.name]),
            value=part.value,
            low=part.low,
            high=part.high,
            unit=part.unit,
            at_low=_devices(asked, found, item.name, part.low),
            at_high=_devices(asked, found, item.name, part.high),
            source=tr(part.source),
        )
        for item in fields(Assumed)
        for part in (getattr(found, item.name),)
        if part.low < part.high and item.name != "rack_kw"
    )


def _devices(asked: FleetScenario, found: Assumed, name: str, value: float) -> float:
    """Devices with one assumption moved; NaN where a replica cannot carry it."""
    if name in CALL:
        exact = int(value) if name.endswith("_tokens") else value
        asked = asked.model_copy(update={"replica": asked.replica.model_copy(update={name: exact})})
    moved = replace(found, **{name: replace(getattr(found, name), value=value)})
    pools = _pools(asked, moved)
    if not all(pool.carried.fits for pool in pools):
        return float("nan")
    tops = [float(daily_shape(moved.peak.value, region).max()) * region.share * moved.burst.value for region in asked.regions]
    return float(
        sum(
            replicas_needed(pool.calls_per_s * top, pool.carried.request_s, moved) * pool.replica.devices
            for pool in pools
            for top in tops
        )
    )


@dataclass(frozen=True)
class _Totals:
    """Sums over sites; None where a fact is missing."""

    usd_per_h: float | None
    rated_w: float | None
    mean_w: float | None
    grams_per_s: float | None
    idle_device_h: float


def _totals(sites: Sequence[Site]) -> _Totals:
    usd = [_times(s.usd_per_device_hour, s.devices) for s in sites]
    rated = [_times(s.capacity.rated_w, s.devices * s.capacity.pue) for s in sites]
    mean = [_mean_w(s) for s in sites]
    grams = [
        None if w is None or s.capacity.grid_g_per_kwh is None else w / KILO / SECONDS_PER_HOUR * s.capacity.grid_g_per_kwh
        for w, s in zip(mean, sites, strict=True)
    ]
    idle = sum((1.0 - s.busy_frac) * s.devices * HOURS_PER_DAY for s in sites)
    return _Totals(_sum(usd), _sum(rated), _sum(mean), _sum(grams), idle)


def _mean_w(placed: Site) -> float | None:
    carried = placed.capacity
    if carried.working_w is None or carried.idle_w is None:
        return None
    return placed.devices * carried.pue * (placed.busy_frac * carried.working_w + (1.0 - placed.busy_frac) * carried.idle_w)


def _times(value: float | None, n: float) -> float | None:
    return None if value is None else value * n


def _over(value: float | None, n: float) -> float | None:
    return None if value is None else value / n


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def _report(
    asked: FleetScenario, found: Assumed, pools: Sequence[Pool], sites: Sequence[Site], swings: tuple[Swing, ...]
) -> FleetReport:
    wanted, totals, outputs = demand(found), _totals(sites), found.output_tokens.value
    devices = sum(placed.devices for placed in sites)
    racks = _sum([None if placed.racks is None else float(placed.racks) for placed in sites])
    month = _times(totals.usd_per_h, _HOURS_PER_MONTH)
    by_hardware: Counter[str] = Counter()
    for placed in sites:
        by_hardware[placed.capacity.scenario.hardware] += placed.devices
    daily_messages = wanted.messages_per_s * SECONDS_PER_DAY
    per_s = wanted.messages_per_s
    report = FleetReport(
        asked=asked,
        fits=bool(sites),
        sentence="",
        calls_per_s=wanted.model_calls_per_s,
        output_tokens_per_s=wanted.model_calls_per_s * outputs,
        peak_output_tokens_per_s=sum(placed.peak_calls_per_s for placed in sites) * outputs,
        replicas=sum(placed.replicas for placed in sites) if sites else None,
        devices=devices if sites else None,
        devices_by_hardware=dict(by_hardware),
        devices_if_pooled=_if_pooled(asked, found, pools) if sites else None,
        racks=None if racks is None else ceil(racks),
        provisioned_power_w=totals.rated_w,
        users_within_power=_users_within(asked, found, sites, totals.rated_w),
        mean_power_w=totals.mean_w,
        idle_device_hours_per_day=totals.idle_device_h,
        usd_per_hour=totals.usd_per_h,
        usd_per_month=month,
        usd_per_user_month=_over(month, found.weekly_users.value),
        usd_per_message=_over(_times(totals.usd_per_h, HOURS_PER_DAY), daily_messages),
        usd_per_million_output_tokens=_over(
            _times(totals.usd_per_h, PER_MILLION / SECONDS_PER_HOUR), wanted.model_calls_per_s * outputs
        ),
        joules_per_message=_over(totals.mean_w, per_s),
        grams_co2e_per_message=_over(totals.grams_per_s, per_s),
        sites=tuple(sites),
        steps=(),
        swings=tuple(swing for swing in swings if isfinite(swing.width)),
        assumptions=assumption_lines(found),
        reasons=(*_reasons(pools, sites), *_power_reasons(asked, sites)),
    )
    return replace(report, sentence=sentence(report), steps=chain(report, found, wanted))


def _users_within(asked: FleetScenario, found: Assumed, sites: Sequence[Site], provisioned_w: float | None) -> float | None:
    """Weekly users that a power budget carries, in proportion; None where it does not feed one replica of each kind."""
    if asked.power_budget_w is None or not provisioned_w or asked.power_budget_w < (_least_w(sites) or 0.0):
        return None
    return float(np.floor(found.weekly_users.value * asked.power_budget_w / provisioned_w))


def _reasons(pools: Sequence[Pool], sites: Sequence[Site]) -> tuple[str, ...]:
    lines = [f"{pool.name}: {pool.carried.reason}" for pool in pools if pool.carried.reason]
    held = {placed.pool: placed.capacity for placed in sites}
    unpriced = [(name, c.basis) for name, c in held.items() if c.usd_per_device_hour is None]
    lines += [tr("{pool}: no cost: {basis}.", pool=name, basis=basis) for name, basis in unpriced]
    unrated = [name for name, c in held.items() if c.rated_w is None]
    lines += [tr("{pool}: no power: the rated power is not known.", pool=name) for name in unrated]
    late = [placed for placed in sites if not isfinite(placed.ttft_seen_after_failures_s)]
    words = later("{region}: with the spare replicas gone, {pool} no longer keeps up in the busiest minutes.")
    lines += [tr(words, region=s.region, pool=s.pool) for s in late]
    return tuple(lines)


def _least_w(sites: Sequence[Site]) -> float | None:
    """Power to provide for one replica of each kind."""
    held = {placed.pool: placed.capacity for placed in sites}.values()
    return _sum([_times(c.rated_w, c.pue * c.scenario.devices) for c in held])


def _power_reasons(asked: FleetScenario, sites: Sequence[Site]) -> tuple[str, ...]:
    """Why a rack or a power budget of one's own feeds nothing."""
    lines = []
    for name, held in {placed.pool: placed.capacity for placed in sites}.items():
        if held.devices_per_rack == 0 and held.rated_w is not None:
            words = later("{pool}: no racks: {n} x {device} with its host takes {power}, and a rack feeds {rack}.")
            power = with_prefix(held.rated_w * held.devices_per_system, "W")
            rack = with_prefix((asked.rack_kw or 0.0) * KILO, "W")
            device, n = held.scenario.hardware, held.devices_per_system
            lines.append(tr(words, pool=name, n=n, device=device, power=power, rack=rack))
    least, budget = _least_w(sites), asked.power_budget_w
    if least is not None and budget is not None and budget < least:
        words = later("No users within {budget}: one replica of each kind takes {power}, facility included.")
        lines.append(tr(words, budget=with_prefix(budget, "W"), power=with_prefix(least, "W")))
    return tuple(lines)
