"""Steps into answers: TTFT, TPOT, throughput, alone and when prefill shares the devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.performance.ledger import Load, ledger
from roofline.performance.machine import Machine, Rates
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.performance.timing import StepTime, step_time
from roofline.units import Floats


@dataclass(frozen=True)
class Service:
    """Times of one load under one plan, as plain arrays; ``expected_*`` before any band."""

    prefill: StepTime
    decode: StepTime
    limit_ttft_s: Floats
    expected_ttft_s: Floats
    limit_prompt_s: Floats
    """Time between prompts of one attention group in a full pipeline."""
    expected_prompt_s: Floats
    limit_request_s: Floats
    """Least wall time in which the whole batch is prefilled and decoded once, both overlapped."""
    expected_request_s: Floats
    """The same as expected: prefill and decode take turns."""


def decode_load(batch: Floats, context_tokens: Floats, shard: Shard) -> Load:
    """A decode step of one micro-batch: the batch spread over groups and stages, one sequence at least."""
    stage = np.maximum(1.0, batch / shard.pipeline)
    return Load(
        n_sequences=np.maximum(1.0, stage / shard.groups),
        n_new=1.0,
        n_cached=context_tokens,
        stage_tokens=stage,
    )


def prefill_load(prompt_tokens: Floats, shard: Shard) -> Load:
    """Prefill of one prompt in every attention group at once."""
    return Load(n_sequences=1.0, n_new=prompt_tokens, n_cached=0.0, stage_tokens=prompt_tokens * shard.groups)


def service(
    structure: Structure,
    shard: Shard,
    formats: Rates,
    machine: Machine,
    batch: Floats,
    prompt_tokens: Floats,
    output_tokens: Floats,
) -> Service:
    """Prefill and decode of one load."""
    context = mean_context_tokens(prompt_tokens, output_tokens)
    decode = decode_step(structure, shard, formats, machine, batch, context)
    passes = np.maximum(1.0, prompt_tokens / machine.engine.prefill_chunk_tokens.value)
    load = prefill_load(prompt_tokens, shard)
    prefill = step_time(ledger(structure, load, shard, formats), structure, load, shard, formats, machine, passes)
    stages = shard.pipeline
    limit_prompt = prefill.limit_s / stages
    expected_prompt = prefill.expected_s / stages
    fill = (passes + stages - 1.0) / (passes * stages)
    work = batch * limit_prompt / shard.groups
    compute = batch * prefill.limit_compute_s / stages / shard.groups + output_tokens * decode.limit_compute_s
    memory = batch * prefill.limit_memory_s / stages / shard.groups + output_tokens * decode.limit_memory_s
    wire = batch * prefill.limit_network_s / stages / shard.groups + output_tokens * decode.limit_network_s
    longest = np.maximum(np.maximum(work, output_tokens * decode.limit_s), np.maximum(compute, memory))
    return Service(
        prefill=prefill,
        decode=decode,
        limit_ttft_s=limit_prompt,
        expected_ttft_s=prefill.expected_s * fill,
        limit_prompt_s=limit_prompt,
        expected_prompt_s=expected_prompt,
        limit_request_s=np.maximum(longest, wire),
        expected_request_s=np.maximum(batch * expected_prompt / shard.groups, prefill.expected_s * fill)
        + output_tokens * decode.expected_s,
    )


def decode_step(structure: Structure, shard: Shard, formats: Rates, machine: Machine, batch: Floats, context: Floats) -> StepTime:
    """One decode step of the whole stack."""
    load = decode_load(batch, context, shard)
    return step_time(ledger(structure, load, shard, formats), structure, load, shard, formats, machine)


def mean_context_tokens(prompt_tokens: Floats, output_tokens: Floats) -> Floats:
    """Tokens cached at the middle of a generation: the mean over its steps."""
    return np.asarray(prompt_tokens) + np.floor(np.asarray(output_tokens) / 2.0)
