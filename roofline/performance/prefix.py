"""What cached prompt tokens cost: two prefills compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.performance.machine import Machine, Rates
from roofline.performance.serving import Service, prefill_step
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure


@dataclass(frozen=True)
class PromptParts:
    """A prompt, divided into what is computed and what is cached, and the share of prefill time that the cached part takes."""

    computed_tokens: float
    cached_tokens: float
    cached_time_frac: float
    cached_token_ratio: float
    """Device time of a cached token over that of a computed one; of a half-cached prompt where none is cached."""


def prompt_parts(
    structure: Structure, shard: Shard, formats: Rates, machine: Machine, prompt_tokens: float, run: Service
) -> PromptParts:
    """Marginal device time of cached tokens: a prefill on top of them against the same prefill on top of none.

        c = 1 - T(n | 0) / T(n | s)

    n tokens are computed, s are cached: only attention reads them, so that c tends to nothing for short prompts.
    """
    computed = float(run.computed_tokens)
    cached = prompt_tokens - computed
    if cached <= 0.0:
        half = prompt_tokens / 2.0
        step = prefill_step(structure, shard, formats, machine, half, np.array([0.0, half]))
        without, on_top = (float(value) for value in np.broadcast_to(step.expected_s, (2,)))
        return PromptParts(computed, 0.0, 0.0, _ratio(without, on_top))
    alone = float(prefill_step(structure, shard, formats, machine, computed, 0.0).expected_s)
    whole = float(run.prefill.expected_s)
    return PromptParts(computed, cached, 1.0 - alone / whole, _ratio(alone, whole) * computed / cached)


def _ratio(without_s: float, on_top_s: float) -> float:
    """What reading a cache adds to a prefill, as a share of it."""
    return max(0.0, on_top_s / without_s - 1.0)
