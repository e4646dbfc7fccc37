"""Which plan: the legal candidates, all evaluated at once, and the one expected to be fastest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.performance.machine import Machine, Rates
from roofline.performance.memory import Footprint, footprint
from roofline.performance.serving import decode_step, mean_context_tokens, service
from roofline.performance.sharding import Request, Shard, candidates
from roofline.performance.structure import Structure
from roofline.units import Floats

_FIXED_POINT_STEPS = 40


@dataclass(frozen=True)
class Workload:
    """The load as numbers or arrays; a batch of NaN is the most that fit, a rate of NaN is none."""

    prompt_tokens: Floats
    output_tokens: Floats
    batch: Floats
    request_rate: Floats


@dataclass(frozen=True)
class Choice:
    """The plan, and the batch it runs."""

    shard: Shard
    n_candidates: int
    n_feasible: int
    footprint: Footprint
    batch: float
    fits: bool


def choose(structure: Structure, request: Request, formats: Rates, machine: Machine, load: Workload) -> Choice:
    """The candidate with the highest expected output rate at this load, among those that fit.

    A given batch, or the largest that fits each candidate; ties go to the plan with the fewest tensor ways. Where nothing
    fits, the candidate nearest to fitting.
    """
    shards = candidates(structure, request)
    room = footprint(structure, load.prompt_tokens + load.output_tokens, load.prompt_tokens, shards, formats, machine)
    n = np.size(np.asarray(shards.tensor))
    batch = wanted_batch(structure, shards, formats, machine, load, room)
    if n == 1:
        index = 0
    else:
        index = _best(structure, shards, formats, machine, load, room, batch)
    picked = _pick(shards, index)
    chosen_batch = float(np.broadcast_to(batch, (n,))[index])
    fits = np.broadcast_to(np.asarray(room.max_batch), (n,)) >= np.maximum(1.0, np.nan_to_num(batch, nan=np.inf))
    return Choice(
        shard=picked,
        n_candidates=n,
        n_feasible=int(np.count_nonzero(fits)),
        footprint=footprint(structure, load.prompt_tokens + load.output_tokens, load.prompt_tokens, picked, formats, machine),
        batch=chosen_batch,
        fits=bool(fits[index]),
    )


def wanted_batch(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload, room: Footprint) -> Floats:
    """Sequences decoding at once: as given, as the request rate needs, or the most that fit."""
    rate = np.asarray(load.request_rate)
    if np.all(np.isnan(rate)):
        return np.where(np.isnan(np.asarray(load.batch)), room.max_batch, load.batch)
    return batch_for_rate(structure, shard, formats, machine, load)


def batch_for_rate(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload) -> Floats:
    """Sequences in decode when requests arrive at a steady rate: the fixed point of ``B = r G t(B)``.

    ``t(B)`` is the expected time per output token when each second also holds ``r`` prefills: ``step(B) / (1 - r T)``, with
    ``T`` the prefill time of one prompt over all groups. Infinite where prefill alone takes more time than there is.
    """
    outputs, rate = np.asarray(load.output_tokens), np.asarray(load.request_rate)
    prompt = service(structure, shard, formats, machine, 1.0, load.prompt_tokens, load.output_tokens).expected_prompt_s
    left = 1.0 - rate * prompt / shard.groups
    context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
    batch: Floats = np.ones(np.shape(left))
    for _ in range(_FIXED_POINT_STEPS):
        step = decode_step(structure, shard, formats, machine, batch, context).expected_s
        batch = np.minimum(np.maximum(1.0, rate * outputs * step / np.maximum(left, 1e-9)), 1e12)
    return np.where((left > 0) & (batch < 1e11), np.ceil(batch), np.inf)


def _best(
    structure: Structure, shards: Shard, formats: Rates, machine: Machine, load: Workload, room: Footprint, batch: Floats
) -> int:
    feasible = np.asarray(room.max_batch) >= np.maximum(1.0, batch)
    if not np.any(feasible):
        need = np.asarray(room.weights_bytes + room.cache_bytes(np.where(np.isfinite(batch), np.maximum(batch, 1.0), 1.0)))
        return int(np.argmin(need + 0.0 * np.asarray(shards.tensor)))
    context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
    step = decode_step(structure, shards, formats, machine, np.maximum(np.where(feasible, batch, 1.0), 1.0), context).expected_s
    rate = np.where(feasible, np.maximum(batch, 1.0) / step, -np.inf)
    if not np.all(np.isnan(np.asarray(load.request_rate))):
        rate = np.where(feasible, 1.0 / step, -np.inf)
    best = float(np.max(rate))
    near = np.flatnonzero(rate >= best * (1.0 - 1e-9))
    return int(near[np.argmin(np.asarray(shards.tensor)[near])])


def _pick(shards: Shard, index: int) -> Shard:
    def at(values: Floats) -> float:
        return float(np.asarray(values)[index])

    return Shard(at(shards.tensor), at(shards.pipeline), at(shards.data), at(shards.expert), at(shards.attention_data))
