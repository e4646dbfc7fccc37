"""Drafts beside a step: the module or model that proposes tokens, run before each verification.

A verification is the step that the ledger gives for g + 1 tokens of each sequence; drafting puts g steps of a smaller model
before it, one after the other. Both are one round, told as one step whose rows are those of the model and ``draft/…``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roofline.performance.ledger import Load, ledger
from roofline.performance.machine import Machine, Rates
from roofline.performance.network import NetworkTime
from roofline.performance.sharding import Shard
from roofline.performance.shortcuts import Draft
from roofline.performance.timing import OpTimes, StepTime, step_time
from roofline.units import Floats


def with_decode_drafts(
    step: StepTime, draft: Draft | None, load: Load, shard: Shard, formats: Rates, machine: Machine
) -> StepTime:
    """A verification with its drafts, on the same plan; ``load`` brings one token of each sequence.

    A model is spread over stages as the target is. A module sits on the last stage, which runs it for every micro-batch.
    """
    if draft is None or draft.structure is None:
        return step
    stages = replace(shard, pipeline=1.0) if draft.is_module else shard
    rows = ledger(draft.structure, load, (load,), stages, formats)
    one = step_time(rows, draft.structure, load, stages, formats, machine, cycle=True)
    return _after(one, step, draft, float(draft.n_tokens), shard.pipeline if draft.is_module else 1.0)


def with_prompt_draft(
    step: StepTime, draft: Draft | None, load: Load, shard: Shard, formats: Rates, machine: Machine
) -> StepTime:
    """A prefill that fills the cache of the draft too."""
    if draft is None or draft.structure is None:
        return step
    rows = ledger(draft.structure, load, (load,), shard, formats)
    return _after(step_time(rows, draft.structure, load, shard, formats, machine, step.passes), step, draft, 1.0, 1.0)


def _after(one: StepTime, step: StepTime, draft: Draft, n: float, turns: Floats) -> StepTime:
    """A step preceded by ``n`` draft steps; ``turns`` is how many micro-batches the same devices draft for in a cycle."""
    if step.parts:  # of machines in series the first holds the draft, and no part can follow sooner than it is through
        first = _after(one, step.parts[0], draft, n, turns)
        limit = np.maximum(step.limit_s, first.limit_s)
        return replace(_added(one, step, draft, n, turns), limit_s=limit, parts=(first, *step.parts[1:]))
    return replace(_added(one, step, draft, n, turns), limit_s=step.limit_s + n * one.limit_s)


def _added(one: StepTime, step: StepTime, draft: Draft, n: float, turns: Floats) -> StepTime:
    """The sums of a step and its drafts."""
    scheduled = 0.0 if draft.is_module else n
    return replace(
        step,
        rows=step.rows + tuple(_rows_of(row, n, turns) for row in one.rows),
        network=step.network + tuple(_network_of(item, n, turns) for item in one.network),
        n_steps=step.n_steps + scheduled * one.n_steps,
        n_sequence_steps=step.n_sequence_steps + scheduled * one.n_sequence_steps,
        layer_latency_s=step.layer_latency_s + n * turns * one.layer_latency_s,
        host_s=step.host_s + scheduled * one.host_s,
        limit_compute_s=step.limit_compute_s + n * one.limit_compute_s,
        limit_memory_s=step.limit_memory_s + n * one.limit_memory_s,
        limit_cache_s=step.limit_cache_s + n * one.limit_cache_s,
        limit_network_s=step.limit_network_s + n * one.limit_network_s,
        expected_s=step.expected_s + n * turns * (one.expected_s - one.host_s) + scheduled * one.host_s,
    )


def _rows_of(row: OpTimes, n: float, turns: Floats) -> OpTimes:
    """A row run ``n`` times a step."""
    op = row.ops
    return replace(
        row,
        ops=replace(
            op,
            names=tuple(f"draft/{name}" for name in op.names),
            count=op.count * n,
            work_flops=op.work_flops * n,
            weight_bytes=op.weight_bytes * n,
            cache_bytes=op.cache_bytes * n,
            activation_bytes=op.activation_bytes * n,
            score_pairs=op.score_pairs * n,
            stored_bytes=op.stored_bytes * n,
        ),
        compute_limit_s=row.compute_limit_s * n,
        memory_limit_s=row.memory_limit_s * n,
        limit_s=row.limit_s * n,
        compute_s=row.compute_s * n,
        memory_s=row.memory_s * n,
        unpack_s=row.unpack_s * n,
        expected_s=row.expected_s * n,
        repeats=row.repeats * turns,
    )


def _network_of(item: NetworkTime, n: float, turns: Floats) -> NetworkTime:
    """A collective run ``n`` times a step."""
    return NetworkTime(
        name=item.name.replace("network/", "network/draft_"),
        count=item.count * n,
        network_bytes=item.network_bytes * n,
        limit_s=item.limit_s * n,
        transfer_s=item.transfer_s * n * turns,
        latency_s=item.latency_s * n * turns,
    )
