"""The cheapest way to keep a promise: hardware, devices, replicas, plan, formats and batch.

Every device with every weight format is one pass over arrays: plans of a replica times a ladder of batches. A deployment is
replicas of one plan, so that its cost for a traffic depends on what one replica carries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from roofline.answers.deployments import deployment
from roofline.answers.edges import Edge, extended, frontier_points, no_edge, sheet
from roofline.answers.replicas import Option, Points, ladder, meets, named_formats, offered_price, option, points, weight_formats
from roofline.answers.resolve import Resolved, resolved
from roofline.answers.search_batch import Chosen, Pick, cheapest, pick
from roofline.answers.search_result import Deployment, Search
from roofline.answers.search_words import Standing, Tried, losers, notes, sentence, standing
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.catalog.models import load_model
from roofline.errors import MissingFactError
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
from roofline.specs.scenario import Scenario
from roofline.specs.search import SearchQuery


def search(query: SearchQuery, spread: Spread | None = None) -> Search:
    """The cheapest deployments that keep a promise, the frontier of speed against cost, and why each loser lost.

    Times are those of `evaluate` at a request rate: prefill takes its share of every second. A promise is held as expected, or
    from the 90th percentile on at the slow end of the prediction band; at a request rate and a percentile, TTFT has its wait.
    Plans are all legal ones of a replica; batches powers of two and the most that fit, and for the winners the largest that
    keeps the promise. Owned devices are compared with the power of full replicas; winners then draw that of their own share.
    ``spread`` is called like the built-in ``map`` over devices with formats: an executor's ``map`` spreads
    the work, one of your own can tell how far it is.

    Raises
    ------
    RooflineError
        Something that does not exist or cannot be is named: one sentence says what would be right.
    """
    start = time.perf_counter()
    devices = devices_of(query)
    scan = _scanned(query, devices, spread or map)
    chosen = cheapest(query, (p for p in scan.picks if p is not None), query.top)
    winners = tuple(sorted((deployment(query, c) for c in chosen[: query.top]), key=lambda item: _usd(query, item)))
    tried = tuple(_tried(query, scan, device, chosen) for device in devices)
    nearest = None
    if not winners and scan.standings:
        nearest = deployment(query, min(scan.standings, key=lambda s: s.excess).nearest)
    return Search(
        query=query,
        sentence=sentence(query, winners, nearest),
        notes=notes(query, winners),
        winners=winners,
        cost_frontier=frontier_points(scan.cost_edge, scan.options),
        throughput_frontier=frontier_points(scan.rate_edge, scan.options),
        losers=losers(query, tried, winners, chosen[0].usd if chosen else np.nan),
        nearest=nearest,
        n_hardware=len(devices),
        n_options=sum(len(device.formats) for device in devices),
        n_plans=sum(option.max_batch.size for option in scan.options),
        n_points=scan.n_points,
        seconds=time.perf_counter() - start,
    )


def _usd(query: SearchQuery, item: Deployment) -> float:
    """What is compared of a winner, evaluated at its share of the traffic."""
    usd = item.usd_per_hour if query.has_traffic else item.usd_per_million_tokens
    return np.inf if usd is None else usd


Entry = tuple[Scenario, Resolved]
"""A device with one weight format."""


@dataclass(frozen=True)
class Passed:
    """A device and format that fits, with every plan and batch of the ladder."""

    option: Option
    at: Points
    keeps: NDArray[np.bool_]


Spread = Callable[[Callable[[Entry], Passed | None], Sequence[Entry]], Iterable[Passed | None]]
"""How passes over options are run, in the order of the options."""


@dataclass(frozen=True)
class Candidate:
    """One device with the formats to try, or the fact that is missing."""

    accelerator: Accelerator
    formats: tuple[Entry, ...]
    problem: str = ""


@dataclass(frozen=True)
class _Scan:
    """Every option that fits, after its pass."""

    options: tuple[Option, ...]
    standings: tuple[Standing, ...]
    picks: tuple[Pick | None, ...]
    cost_edge: Edge
    rate_edge: Edge
    n_points: int


def devices_of(query: SearchQuery) -> tuple[Candidate, ...]:
    """What there is to choose from, each device once with the formats to try."""
    model = load_model(query.model)
    names = hardware_ids(query.announced) if query.hardware is None else query.hardware
    named = {name: load_hardware(name) for name in names}
    found = {accelerator.id: _device(query, model, name, accelerator) for name, accelerator in named.items()}
    return tuple(found.values())


def _device(query: SearchQuery, model: ModelSpec, name: str, accelerator: Accelerator) -> Candidate:
    def at(weights: str | None) -> Entry:
        scenario = query.scenario(name, weights)
        return scenario, resolved(scenario, model, accelerator)

    try:
        if query.weights is not None:
            return Candidate(accelerator, tuple(at(weights) for weights in named_formats(query)))
        stored = at(None)
        return Candidate(accelerator, (stored, *(at(weights) for weights in weight_formats(stored[1])[1:])))
    except MissingFactError as error:
        return Candidate(accelerator, (), str(error))


def _passed(query: SearchQuery, entry: Entry) -> Passed | None:
    """One pass over arrays; None where nothing fits."""
    scenario, found = entry
    item = option(query, scenario, found)
    if item is None:
        return None
    at = points(query, found, item.shard, ladder(item.max_batch))
    return Passed(item, at, meets(query, at))


def _scanned(query: SearchQuery, devices: Sequence[Candidate], spread: Spread) -> _Scan:
    """Every option that fits, one after the other; only frontiers and candidates are kept."""
    options: list[Option] = []
    standings: list[Standing] = []
    picks: list[Pick | None] = []
    cost_edge, rate_edge, n_points = no_edge(), no_edge(), 0
    entries = [entry for device in devices for entry in device.formats]
    for passed in spread(partial(_passed, query), entries):
        if passed is None:
            continue
        item, at, keeps = passed.option, passed.at, passed.keeps
        every = sheet(len(options), item, at, keeps, query.output_tokens)
        cost_edge, rate_edge = extended(cost_edge, "usd", every), extended(rate_edge, "per_device", every)
        options.append(item)
        standings.append(standing(query, item, at, keeps))
        picks.append(pick(query, item, at, keeps))
        n_points += keeps.size
    return _Scan(tuple(options), tuple(standings), tuple(picks), cost_edge, rate_edge, n_points)


def _tried(query: SearchQuery, scan: _Scan, device: Candidate, chosen: Sequence[Chosen]) -> Tried:
    """A device with all that its options came to."""
    mine = [n for n, item in enumerate(scan.options) if item.found.accelerator.id == device.accelerator.id]
    exact = {id(c.option): c.usd for c in chosen}
    usd = [exact.get(id(p.option), p.rung_usd) for p in (scan.picks[n] for n in mine) if p is not None]
    return Tried(
        accelerator=device.accelerator,
        formats=tuple(found.formats.weights_label for _, found in device.formats),
        standings=tuple(scan.standings[n] for n in mine),
        problem=device.problem,
        price_basis="" if not device.formats else offered_price(query, *device.formats[0]).basis,
        usd=min(usd, default=None),
    )
