"""What a prompt token costs whose keys and values are already in the cache."""

from __future__ import annotations

import numpy as np

from roofline.performance.ledger import Load, ledger
from roofline.performance.machine import Machine, Rates
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.performance.timing import step_time


def cached_token_ratio(structure: Structure, shard: Shard, formats: Rates, machine: Machine, prompt_tokens: float) -> float:
    """Device time of a cached prompt token over that of one computed anew, in a prompt of which half is cached.

        r = (t(T/2 new on T/2 cached) - t(T/2 new)) / t(T/2 new)

    The same ledger as any prefill: new tokens attend to cached ones, which are read but not computed. Fetching the cache from
    elsewhere (host memory, disk) and keeping it until it is used again are left out.
    """
    half = prompt_tokens / 2.0
    load = Load(n_sequences=1.0, n_new=half, n_cached=np.array([0.0, half]), stage_tokens=half * shard.groups)
    passes = np.maximum(1.0, half / machine.engine.prefill_chunk_tokens.value)
    step = step_time(ledger(structure, load, shard, formats), structure, load, shard, formats, machine, passes)
    alone, on_cached = np.broadcast_to(step.expected_s, (2,))
    return float(min(1.0, max(0.0, on_cached / alone - 1.0)))
