"""Why a device lost, in one sentence, and what a search comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.found import Cause, Deployment, Loser
from roofline.answers.picking import Chosen
from roofline.answers.replicas import Option, Points, capacity
from roofline.specs.hardware import Accelerator
from roofline.specs.search import SearchQuery
from roofline.units import duration, significant


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
        return "memory", f"Does not fit on up to {query.most_devices:,} of it (weights {', '.join(item.formats)})."
    if any(s.keeps for s in item.standings):
        if item.usd is None:
            return "price", f"Keeps the promise, but {item.price_basis}."
        times = f", {significant(item.usd / least_usd)} times the cheapest" if least_usd > 0.0 else ""
        return "dearer", f"Keeps the promise at {_money(query, item.usd)}{times}."
    return _broken(query, item)


def _money(query: SearchQuery, usd: float) -> str:
    return f"{significant(usd)} USD {'an hour' if query.has_traffic else 'a million tokens'}"


def _broken(query: SearchQuery, item: Tried) -> tuple[Cause, str]:
    """Which part of the promise no plan keeps."""
    ttft, tpot = min(s.best_ttft_s for s in item.standings), min(s.best_tpot_s for s in item.standings)
    where = "at the slow end of the band" if query.holds_band else "as expected"
    if tpot > query.promised_tpot_s:
        return "tpot", f"TPOT too long: best reachable {duration(tpot)} {where}, promised {duration(query.promised_tpot_s)}."
    if ttft > query.promised_ttft_s:
        return "ttft", f"TTFT too long: best reachable {duration(ttft)} {where}, promised {duration(query.promised_ttft_s)}."
    together = min(s.tpot_with_ttft_s for s in item.standings)
    kept = f"with TTFT within {duration(query.promised_ttft_s)}, TPOT is {duration(together)} at best {where}"
    return "both", f"No plan keeps both: {kept}, promised {duration(query.promised_tpot_s)}."


def sentence(query: SearchQuery, winners: Sequence[Deployment], nearest: Deployment | None) -> str:
    """What the search comes to."""
    if winners:
        best = winners[0]
        usd = best.usd_per_hour if query.has_traffic else best.usd_per_million_tokens
        return f"Cheapest: {_machines(best)}, for {_money(query, usd or 0.0)} at {significant(best.requests_per_s)} requests/s."
    if nearest is None:
        return f"Nothing fits: no device holds {query.model} with one sequence on up to {query.most_devices} of them."
    ttft_s, tpot_s = nearest.held_ttft_s, nearest.held_tpot_s
    misses = []
    if ttft_s > query.promised_ttft_s:
        misses.append(_miss("TTFT", ttft_s, query.promised_ttft_s, "prefill", nearest.bound["prefill"]))
    if tpot_s > query.promised_tpot_s:
        misses.append(_miss("TPOT", tpot_s, query.promised_tpot_s, "decode", nearest.bound["decode"]))
    if not misses:
        return f"Nothing with a price keeps the promise; without one, {_machines(nearest)} does."
    return f"Nothing keeps the promise. Nearest: {_machines(nearest)}, with {' and '.join(misses)}."


def notes(query: SearchQuery, winners: Sequence[Deployment]) -> tuple[str, ...]:
    """What the answer rests on."""
    held = "at the slow end of the prediction band (its 90th percentile)" if query.holds_band else "as expected"
    if query.waits_at is None:
        first = "TTFT is the prefill of one prompt, without queueing."
    else:
        first = f"TTFT is held with the wait that {query.percentile:g} of 100 arrivals stay below, as they come at random."
    found = [f"The promise is held {held}; {first}"]
    if query.price == "market" and any(item.price_basis.startswith("owned") for item in winners):
        found.append("Where nobody rents a device out, its price is that of owning it, all of its life in use.")
    found.append("Narrower weights can cost quality; only memory and speed are compared.")
    return tuple(found)


def _miss(name: str, found_s: float, promised_s: float, phase: str, bound: str) -> str:
    return f"{name} {duration(found_s)} where {duration(promised_s)} is promised ({phase} is bound by {bound})"


def _machines(item: Deployment) -> str:
    one = f"{item.devices_per_replica} x {item.hardware_name}"
    many = one if item.replicas == 1 else f"{item.replicas} replicas of {one}"
    return f"{many} (weights {item.weights})"
