"""Which plan: every legal candidate evaluated at once for every load, and the one expected to be fastest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.performance.machine import Machine, Rates
from roofline.performance.memory import Footprint, footprint
from roofline.performance.serving import decode_step, mean_context_tokens, service
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
    """For each load, the candidate with the highest expected output rate among those that fit.

    At a given batch that is the shortest step; at the largest batch that fits, the highest throughput; at a request rate,
    the shortest step that keeps up. Where nothing fits, the candidate nearest to fitting.
    """
    shards = candidates(structure, request)
    n = np.size(np.asarray(shards.tensor))
    columns = Workload(load.prompt_tokens[:, None], load.output_tokens[:, None], load.batch[:, None], load.request_rate[:, None])
    room = footprint(structure, columns.prompt_tokens + columns.output_tokens, columns.prompt_tokens, shards, formats, machine)
    shape = (load.prompt_tokens.size, n)
    most = np.broadcast_to(np.asarray(room.max_batch), shape)
    batch = np.broadcast_to(_wanted_batch(structure, shards, formats, machine, columns, most), shape)
    feasible = most >= np.maximum(1.0, batch)
    if n == 1:
        index = np.zeros(shape[0], dtype=np.int64)
    else:
        rate = _merit(structure, shards, formats, machine, columns, batch, feasible)
        lacking = np.broadcast_to(np.asarray(room.cache_bytes(np.ones(shape)) + room.weights_bytes), shape)
        index = np.where(np.any(feasible, axis=1), np.argmax(rate, axis=1), np.argmin(lacking, axis=1))
    rows = np.arange(shape[0])
    return Choice(
        shard=_at(shards, index),
        batch=batch[rows, index],
        max_batch=most[rows, index],
        n_candidates=n,
        n_feasible=np.count_nonzero(feasible, axis=1),
    )


def _wanted_batch(
    structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload, most: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sequences decoding at once: as given, as the request rate needs, or the most that fit."""
    given = np.where(np.isnan(load.batch), most, load.batch)
    if np.all(np.isnan(load.request_rate)):
        return given
    return np.where(np.isnan(load.request_rate), given, batch_for_rate(structure, shard, formats, machine, load))


def batch_for_rate(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload) -> NDArray[np.float64]:
    """Sequences in decode when requests arrive at a steady rate: the fixed point of ``B = r G t(B)``.

    ``t(B)`` is the expected time per output token when each second also holds ``r`` prefills, ``step(B) / (1 - r T)``, with
    ``T`` the prefill time of one prompt over all groups. Infinite where prefill and decode together take more time than
    there is.
    """
    prompt = service(structure, shard, formats, machine, 1.0, load.prompt_tokens, load.output_tokens).expected_prompt_s
    left = 1.0 - load.request_rate * prompt / shard.groups
    context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
    batch: Floats = np.ones(np.shape(left))
    for _ in range(_FIXED_POINT_STEPS):
        step = decode_step(structure, shard, formats, machine, batch, context).expected_s
        batch = np.clip(load.request_rate * load.output_tokens * step / np.maximum(left, _TIE), 1.0, 1e12)
    return np.where((left > 0) & (batch < 1e11), np.ceil(batch), np.inf)


def _merit(
    structure: Structure,
    shards: Shard,
    formats: Rates,
    machine: Machine,
    load: Workload,
    batch: NDArray[np.float64],
    feasible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """What is compared: output tokens per second, or steps per second where a request rate is to be met."""
    context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
    held = np.where(feasible, np.maximum(batch, 1.0), 1.0)
    step = decode_step(structure, shards, formats, machine, held, context).expected_s
    per_step = np.where(np.isnan(load.request_rate), held, 1.0)
    return np.where(feasible, per_step / step * (1.0 - _TIE * np.asarray(shards.tensor)), -np.inf)


def _at(shards: Shard, index: NDArray[np.int64]) -> Shard:
    def at(values: Floats) -> NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64)[index]

    return Shard(at(shards.tensor), at(shards.pipeline), at(shards.data), at(shards.expert), at(shards.attention_data))


def room_for(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload) -> Footprint:
    """Footprint of each load under its plan."""
    return footprint(structure, load.prompt_tokens + load.output_tokens, load.prompt_tokens, shard, formats, machine)
