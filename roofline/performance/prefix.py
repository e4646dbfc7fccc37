"""What cached prompt tokens cost: two prefills compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.performance.machine import Machine
from roofline.performance.serving import Service
from roofline.performance.steps import Prefill
from roofline.performance.structure import Structure
from roofline.performance.timing import StepTime


@dataclass(frozen=True)
class PromptParts:
    """A prompt, divided into what is computed and what is cached, and the share of prefill time that the cached part takes."""

    computed_tokens: float
    cached_tokens: float
    cached_time_frac: float
    cached_token_ratio: float
    """Device time of a cached token over that of a computed one; of a half-cached prompt where none is cached."""


def compared_prefills(structure: Structure, machine: Machine, prompt_tokens: float) -> tuple[Prefill, ...]:
    """Prefills that tell what cached tokens cost: of what is computed without them; of half a prompt, without and with the other.

    Machines in series are given both halves at once: they go one way.
    """
    computed = float(structure.shortcuts.computed_tokens(prompt_tokens))
    if computed < prompt_tokens:
        return (Prefill(computed, 0.0),)
    half = prompt_tokens / 2.0
    return (Prefill(half, np.array([0.0, half])),) if machine.segments else (Prefill(half, 0.0), Prefill(half, half))


def prompt_parts(prompt_tokens: float, run: Service, compared: Sequence[StepTime]) -> PromptParts:
    """Marginal device time of cached tokens: a prefill on top of them against the same prefill on top of none.

        c = 1 - T(n | 0) / T(n | s)

    n tokens are computed, s are cached: only attention reads them, so that c tends to nothing for short prompts. The times
    compared are those of `compared_prefills`.
    """
    computed = float(run.computed_tokens)
    cached = prompt_tokens - computed
    times = [float(value) for step in compared for value in np.ravel(step.expected_s)]
    if cached <= 0.0:
        return PromptParts(computed, 0.0, 0.0, _ratio(times[0], times[-1]))
    whole = float(run.prefill.expected_s)
    return PromptParts(computed, cached, 1.0 - times[0] / whole, _ratio(times[0], whole) * computed / cached)


def _ratio(without_s: float, on_top_s: float) -> float:
    """What reading a cache adds to a prefill, as a share of it."""
    return max(0.0, on_top_s / without_s - 1.0)
