"""Why a device lost, in one sentence, and what a search comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.replicas import Option, Points, capacity
from roofline.answers.report import Bound, Phase
from roofline.answers.search_batch import Chosen
from roofline.answers.search_result import Cause, Deployment, Loser
from roofline.language import later, tr
from roofline.specs.hardware import Accelerator
from roofline.specs.search import SearchQuery
from roofline.units import duration, significant

_PHASES: dict[Phase, str] = {"prefill": later("prefill"), "decode": later("decode")}
_BOUNDS: dict[Bound, str] = {
    "compute": later("compute"),
    "memory": later("memory"),
    "network": later("network"),
    "host": later("host"),
    "latency": later("latency"),
}


@dataclass(frozen=True)
class Standing:
    """How near one option comes to the promise, at one sequence a replica: no batch is quicker."""

    hardware: str
    best_ttft_s: float
    best_tpot_s: float
    tpot_with_ttft_s: float
    """Best TPOT of the plans that keep the TTFT; infinite where none does."""
    excess: float
    """Times over the promise, whichever is missed more, at the nearest plan."""
    nearest: Chosen
    keeps: bool


def standing(query: SearchQuery, option: Option, at: Points, keeps: NDArray[np.bool_]) -> Standing:
    """The best times of an option, and its plan nearest to the promise."""
    ttft, tpot = at.promised_ttft_s[:, 0], at.promised_tpot_s[:, 0]
    excess = np.maximum(ttft / query.promised_ttft_s, tpot / query.promised_tpot_s)
    plan = int(np.argmin(excess))
    in_time = tpot[ttft <= query.promised_ttft_s]
    carried, rate = float(capacity(query, at)[plan, 0]), float(at.request_rate[plan, 0])
    return Standing(
        hardware=option.found.accelerator.id,
        best_ttft_s=float(np.min(ttft)),
        best_tpot_s=float(np.min(tpot)),
        tpot_with_ttft_s=float(np.min(in_time)) if in_time.size else np.inf,
        excess=float(excess[plan]),
        nearest=Chosen(option, plan, np.inf, carried, rate),
        keeps=bool(np.any(keeps)),
    )


@dataclass(frozen=True)
class Tried:
    """One device after all its formats were tried."""

    accelerator: Accelerator
    formats: tuple[str, ...]
    standings: tuple[Standing, ...]
    """Of the formats that fit."""
    problem: str
    """A fact that is missing; empty where none is."""
    price_basis: str
    usd: float | None
    """Least that the traffic, or a million tokens, costs on it; None where the promise is broken or no price is known."""


def losers(query: SearchQuery, tried: Sequence[Tried], winning: Sequence[Deployment], least_usd: float) -> tuple[Loser, ...]:
    """Every device that is not among the winners, the nearest first."""
    named = {item.scenario.hardware for item in winning}
    found = [(item, *_reason(query, item, least_usd)) for item in tried if item.accelerator.id not in named]

    def order(entry: tuple[Tried, Cause, str]) -> tuple[float, float]:
        item = entry[0]
        return (min((s.excess for s in item.standings), default=np.inf), np.inf if item.usd is None else item.usd)

    return tuple(_loser(*entry) for entry in sorted(found, key=order))


def _loser(item: Tried, cause: Cause, reason: str) -> Loser:
    ttft = min((s.best_ttft_s for s in item.standings), default=None)
    tpot = min((s.best_tpot_s for s in item.standings), default=None)
    return Loser(item.accelerator.id, item.accelerator.name, cause, reason, ttft, tpot)


def _reason(query: SearchQuery, item: Tried, least_usd: float) -> tuple[Cause, str]:
    if item.problem:
        return "facts", item.problem
    if not item.standings:
        formats = ", ".join(item.formats)
        return "memory", tr("Does not fit on up to {n:,} of it (weights {formats}).", n=query.most_devices, formats=formats)
    if any(s.keeps for s in item.standings):
        if item.usd is None:
            return "price", tr("Keeps the promise, but {why}.", why=item.price_basis)
        cost = _money(query, item.usd)
        if not least_usd > 0.0:
            return "dearer", tr("Keeps the promise at {cost}.", cost=cost)
        ratio = significant(item.usd / least_usd)
        return "dearer", tr("Keeps the promise at {cost}, {ratio} times the cheapest.", cost=cost, ratio=ratio)
    return _broken(query, item)


def _money(query: SearchQuery, usd: float) -> str:
    if query.has_traffic:
        return tr("{usd} USD an hour", usd=significant(usd))
    return tr("{usd} USD a million tokens", usd=significant(usd))


def _broken(query: SearchQuery, item: Tried) -> tuple[Cause, str]:
    """Which part of the promise no plan keeps."""
    ttft, tpot = min(s.best_ttft_s for s in item.standings), min(s.best_tpot_s for s in item.standings)
    where = tr("at the slow end of the band") if query.holds_band else tr("as expected")
    if tpot > query.promised_tpot_s:
        return "tpot", _too_long("TPOT", tpot, where, query.promised_tpot_s)
    if ttft > query.promised_ttft_s:
        return "ttft", _too_long("TTFT", ttft, where, query.promised_ttft_s)
    return "both", tr(
        "No plan keeps both: with TTFT within {ttft}, TPOT is {tpot} at best {where}, promised {promised}.",
        ttft=duration(query.promised_ttft_s),
        tpot=duration(min(s.tpot_with_ttft_s for s in item.standings)),
        where=where,
        promised=duration(query.promised_tpot_s),
    )


def _too_long(name: str, best_s: float, where: str, promised_s: float) -> str:
    return tr(
        "{name} too long: best reachable {best} {where}, promised {promised}.",
        name=name,
        best=duration(best_s),
        where=where,
        promised=duration(promised_s),
    )


def sentence(query: SearchQuery, winners: Sequence[Deployment], nearest: Deployment | None) -> str:
    """What the search comes to."""
    if winners:
        best = winners[0]
        usd = best.usd_per_hour if query.has_traffic else best.usd_per_million_tokens
        return tr(
            "Cheapest: {machines}, for {cost} at {rate} requests/s.",
            machines=_machines(best),
            cost=_money(query, usd or 0.0),
            rate=significant(best.requests_per_s),
        )
    if nearest is None:
        return tr(
            "Nothing fits: no device holds {model} with one sequence on up to {n} of them.",
            model=query.model,
            n=query.most_devices,
        )
    ttft_s, tpot_s = nearest.held_ttft_s, nearest.held_tpot_s
    misses = []
    if ttft_s > query.promised_ttft_s:
        misses.append(_miss("TTFT", ttft_s, query.promised_ttft_s, "prefill", nearest.bound["prefill"]))
    if tpot_s > query.promised_tpot_s:
        misses.append(_miss("TPOT", tpot_s, query.promised_tpot_s, "decode", nearest.bound["decode"]))
    if not misses:
        return tr("Nothing with a price keeps the promise; without one, {machines} does.", machines=_machines(nearest))
    told = misses[0] if len(misses) == 1 else tr("{one} and {other}", one=misses[0], other=misses[1])
    return tr("Nothing keeps the promise. Nearest: {machines}, with {misses}.", machines=_machines(nearest), misses=told)


def notes(query: SearchQuery, winners: Sequence[Deployment]) -> tuple[str, ...]:
    """What the answer rests on."""
    ttft = tr("TTFT is the prefill of one prompt, without queueing.")
    if query.waits_at is not None:
        ttft = tr(
            "TTFT is held with the wait that {percentile:g} of 100 arrivals stay below, as they come at random.",
            percentile=query.percentile,
        )
    held = tr("The promise is held as expected; {ttft}", ttft=ttft)
    if query.holds_band:
        held = tr("The promise is held at the slow end of the prediction band (its 90th percentile); {ttft}", ttft=ttft)
    found = [held]
    if any(_is_owned(query, item) for item in winners):
        found.append(tr("Where nobody rents a device out, its price is that of owning it, all of its life in use."))
    found.append(tr("Narrower weights can cost quality; only memory and speed are compared."))
    return tuple(found)


def _is_owned(query: SearchQuery, item: Deployment) -> bool:
    """Whether the market's price of a winner is that of owning it."""
    return query.price == "market" and item.price_kind == "ownership"


def _miss(name: str, found_s: float, promised_s: float, phase: Phase, bound: Bound) -> str:
    return tr(
        "{name} {time} where {promised} is promised ({phase} is bound by {bound})",
        name=name,
        time=duration(found_s),
        promised=duration(promised_s),
        phase=tr(_PHASES[phase]),
        bound=tr(_BOUNDS[bound]),
    )


def _machines(item: Deployment) -> str:
    one = f"{item.devices_per_replica} x {item.hardware_name}"
    many = one if item.replicas == 1 else tr("{n} replicas of {one}", n=item.replicas, one=one)
    return tr("{machines} (weights {weights})", machines=many, weights=item.weights)
