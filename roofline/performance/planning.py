"""Which plan: every legal candidate evaluated at once for every load, and the one expected to be fastest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.errors import PlanError
from roofline.performance.machine import Machine, Rates
from roofline.performance.memory import Footprint, footprint
from roofline.performance.serving import Service, decode_step, mean_context_tokens, service
from roofline.performance.sharding import Request, Shard, candidates
from roofline.performance.structure import Structure
from roofline.units import Floats

_FIXED_POINT_STEPS = 40
_TIE = 1e-9
"""Plans whose rates differ by less than this share count as equal: the one with fewer tensor ways is taken."""


@dataclass(frozen=True)
class Workload:
    """Loads as arrays of one length. A batch of NaN is the most that fit; a request rate of NaN is none."""

    prompt_tokens: NDArray[np.float64]
    output_tokens: NDArray[np.float64]
    batch: NDArray[np.float64]
    request_rate: NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """For each load the plan, the batch it runs and whether that fits."""

    shard: Shard
    batch: NDArray[np.float64]
    max_batch: NDArray[np.float64]
    n_candidates: int
    n_feasible: NDArray[np.int64]

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the batch fits its plan."""
        return (self.max_batch >= self.batch) & (self.batch >= 1.0)


def choose(structure: Structure, request: Request, formats: Rates, machine: Machine, load: Workload) -> Choice:
    """For each load, the candidate that is expected to finish its requests soonest, among those that fit.

    Compared is the expected output rate with prefill included, at the given batch or at the largest that fits each
    candidate; at a request rate, the expected step. A given batch is never run on a plan whose limit is worse than that of
    some plan for one device fewer: more devices do not slow a limit down. Where nothing fits, the candidate nearest to it.
    """
    shards = candidates(structure, request)
    n = np.size(np.asarray(shards.tensor))
    columns = Workload(load.prompt_tokens[:, None], load.output_tokens[:, None], load.batch[:, None], load.request_rate[:, None])
    scene = _Scene(structure, formats, machine, columns)
    shape = (load.prompt_tokens.size, n)
    room = scene.room(shards)
    most = np.broadcast_to(np.asarray(room.max_batch), shape)
    batch = np.broadcast_to(scene.wanted_batch(shards, most), shape)
    feasible = most >= np.maximum(1.0, batch)
    if n == 1:
        index = np.zeros(shape[0], dtype=np.int64)
    else:
        merit = scene.merit(shards, batch, feasible, scene.fewer(request))
        lacking = np.broadcast_to(np.asarray(room.cache_bytes(np.ones(shape)) + room.weights_bytes), shape)
        index = np.where(np.any(feasible, axis=1), np.argmax(merit, axis=1), np.argmin(lacking, axis=1))
    rows = np.arange(shape[0])
    return Choice(
        shard=shards if n == 1 else _at(shards, index),
        batch=batch[rows, index],
        max_batch=most[rows, index],
        n_candidates=n,
        n_feasible=np.count_nonzero(feasible, axis=1),
    )


@dataclass(frozen=True)
class _Scene:
    """What candidates are compared on: loads as a column, so that candidates are the rows of a table."""

    structure: Structure
    formats: Rates
    machine: Machine
    load: Workload

    def room(self, shards: Shard) -> Footprint:
        """Memory of every load under every candidate."""
        tokens = self.load.prompt_tokens + self.load.output_tokens
        return footprint(self.structure, tokens, self.load.prompt_tokens, shards, self.formats, self.machine)

    def service(self, shards: Shard, batch: Floats) -> Service:
        """Times of every load under every candidate."""
        return service(
            self.structure, shards, self.formats, self.machine, batch, self.load.prompt_tokens, self.load.output_tokens
        )

    def wanted_batch(self, shards: Shard, most: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sequences decoding at once: as given, as the request rate needs, or the most that fit."""
        given = np.where(np.isnan(self.load.batch), most, self.load.batch)
        if np.all(np.isnan(self.load.request_rate)):
            return given
        return np.where(np.isnan(self.load.request_rate), given, self.batch_for_rate(shards))

    def batch_for_rate(self, shards: Shard) -> NDArray[np.float64]:
        """Sequences in decode when requests arrive at a steady rate: the fixed point of ``B = r G t(B)``.

        ``t(B)`` is the expected time per output token when each second also holds ``r`` prefills, ``step(B) / (1 - r T)``,
        with ``T`` the prefill time of one prompt over all groups. Infinite where that takes more time than there is.
        """
        load = self.load
        left = 1.0 - load.request_rate * self.service(shards, 1.0).expected_prompt_s / shards.groups
        context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
        batch: Floats = np.ones(np.shape(left))
        for _ in range(_FIXED_POINT_STEPS):
            step = decode_step(self.structure, shards, self.formats, self.machine, batch, context).expected_s
            batch = np.clip(load.request_rate * load.output_tokens * step / np.maximum(left, _TIE), 1.0, 1e12)
        return np.where((left > 0) & (batch < 1e11), np.ceil(batch), np.inf)

    def fewer(self, request: Request) -> Shard | None:
        """The plans for one device fewer, where a batch is given."""
        if request.devices < 2 or np.all(np.isnan(self.load.batch)):
            return None
        try:
            return candidates(self.structure, replace(request, devices=request.devices - 1))
        except PlanError:
            return None

    def merit(
        self, shards: Shard, batch: NDArray[np.float64], feasible: NDArray[np.bool_], fewer: Shard | None
    ) -> NDArray[np.float64]:
        """Higher is better; minus infinity for what does not fit, or is slower at the limit than fewer devices."""
        n = batch.shape[1]
        held = np.where(feasible, np.maximum(batch, 1.0), 1.0)
        given = np.nan_to_num(self.load.batch, nan=1.0)
        both = shards if fewer is None else shards.beside(fewer)
        if fewer is not None:
            held = np.concatenate([held, np.broadcast_to(given, (held.shape[0], np.size(np.asarray(fewer.tensor))))], axis=1)
        result = self.service(both, held)
        rated = np.isnan(self.load.request_rate)
        merit = np.where(rated, held / result.expected_request_s, 1.0 / result.decode.expected_s)[:, :n]
        limit = np.broadcast_to(np.asarray(result.decode.limit_s), held.shape)
        allowed = feasible
        if fewer is not None:
            barred = np.isnan(self.load.batch) | (np.asarray(self.room(fewer).max_batch) < given)
            best = np.min(np.where(barred, np.inf, limit[:, n:]), axis=1, keepdims=True)
            quick = feasible & (limit[:, :n] <= best * (1.0 + _TIE))
            allowed = np.where(np.any(quick, axis=1, keepdims=True), quick, feasible)
        return np.where(allowed, merit * (1.0 - _TIE * np.asarray(shards.tensor)), -np.inf)


def _at(shards: Shard, index: NDArray[np.int64]) -> Shard:
    def at(values: Floats) -> NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64)[index]

    return Shard(at(shards.tensor), at(shards.pipeline), at(shards.data), at(shards.expert), at(shards.attention_data))


def room_for(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload) -> Footprint:
    """Footprint of each load under its plan."""
    return footprint(structure, load.prompt_tokens + load.output_tokens, load.prompt_tokens, shard, formats, machine)
