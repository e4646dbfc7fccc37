"""The cheapest replica of one device and format: from the rungs of a ladder to the exact batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array, largest_kept
from roofline.answers.replicas import Option, Points, bill_usd, capacity, meets, n_replicas, points
from roofline.specs.search import SearchQuery


@dataclass(frozen=True)
class Pick:
    """The plans that may be the cheapest of an option, each with the batch that keeps the promise and one that may not."""

    option: Option
    plans: NDArray[np.int64]
    kept: Array
    broken: Array
    """The next rung; the same where no more fit."""
    rung_usd: float
    """The cheapest on the ladder."""
    least_usd: float
    """No batch between the rungs costs less: a larger batch carries no less, and no power is below that of an idle device."""


@dataclass(frozen=True)
class Chosen:
    """A plan with its largest batch that keeps the promise."""

    option: Option
    plan: int
    usd: float
    """As compared: an hour of the traffic, or a million tokens."""
    carried: float
    """Of the traffic by one replica."""
    most_requests_per_s: float
    """Of one replica."""


def pick(query: SearchQuery, option: Option, at: Points, keeps: NDArray[np.bool_]) -> Pick | None:
    """What is worth a closer look on the ladder; None without a price or a point that keeps the promise."""
    if option.usd_per_h is None or not np.any(keeps):
        return None
    carried = capacity(query, at)
    usd, idle = (bill_usd(query, at.devices, carried, option.price.at_load(load)) for load in (at.load_frac, 0.0))
    on_rungs = np.min(np.where(keeps, usd, np.inf), axis=1)
    rows, n_rungs = np.arange(keeps.shape[0]), keeps.shape[1]
    last = n_rungs - 1 - np.argmax(keeps[:, ::-1], axis=1)
    following = np.minimum(last + 1, n_rungs - 1)
    least = np.where(np.any(keeps, axis=1), np.minimum(on_rungs, idle[rows, following]), np.inf)
    plans = np.flatnonzero(least <= np.min(on_rungs))
    return Pick(
        option=option,
        plans=plans,
        kept=at.batch[plans, last[plans]],
        broken=at.batch[plans, following[plans]],
        rung_usd=float(np.min(on_rungs)),
        least_usd=float(np.min(least)),
    )


def choose_batch(query: SearchQuery, found: Pick) -> Chosen:
    """The cheapest plan at its largest batch that keeps the promise; of plans that cost the same, the one with most to spare."""
    shard, resolved = found.option.plans(found.plans), found.option.found

    def keeps(batch: Array) -> NDArray[np.bool_]:
        return meets(query, points(query, resolved, shard, batch))

    batch = largest_kept(keeps, found.kept[:, None], found.broken[:, None])
    return _cheapest(query, found, points(query, resolved, shard, batch))


def _cheapest(query: SearchQuery, found: Pick, at: Points) -> Chosen:
    carried = capacity(query, at)
    usd = bill_usd(query, at.devices, carried, found.option.price.at_load(at.load_frac))[:, 0]
    most = (n_replicas(query, carried) * carried)[:, 0]
    at_least = np.flatnonzero(usd <= np.min(usd))
    index = int(at_least[np.argmax(most[at_least])])
    return Chosen(
        option=found.option,
        plan=int(found.plans[index]),
        usd=float(usd[index]),
        carried=float(carried[index, 0]),
        most_requests_per_s=float(at.request_rate[index, 0]),
    )


def cheapest(query: SearchQuery, picks: Iterable[Pick], n: int) -> tuple[Chosen, ...]:
    """Picks brought to their exact batch, cheapest first, as far as they can be among the first ``n``."""
    found: list[Chosen] = []
    for item in sorted(picks, key=lambda p: p.least_usd):
        if len(found) >= n and item.least_usd > sorted(c.usd for c in found)[n - 1]:
            break
        found.append(choose_batch(query, item))
    return tuple(sorted(found, key=lambda c: c.usd))
