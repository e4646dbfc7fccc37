"""The longest prompt and answer that fit for one sequence, over all legal plans at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array
from roofline.answers.evaluate import workload
from roofline.answers.resolve import Resolved, resolve
from roofline.performance.memory import footprint
from roofline.performance.planning import room_for
from roofline.performance.sharding import Shard, candidates
from roofline.specs.scenario import Scenario

MOST_CONTEXT_TOKENS = 10_000_000
_ROUNDS, _POINTS = 4, 64
"""64 contexts tried at once, four times: finer than one token in ten million."""


def longest_context_tokens(found: Resolved, shards: Shard, output_tokens: int) -> NDArray[np.int64]:
    """Most tokens of one sequence under each plan; those of the answer are among them. Plans hold the answer and one token."""
    every = shards.over(lambda values: np.asarray(values).reshape(-1, 1))
    low: Array = np.full(np.size(every.tensor), 1.0)
    high: Array = np.full(low.shape, float(MOST_CONTEXT_TOKENS - output_tokens) + 1.0)
    steps = np.arange(1, _POINTS + 1) / (_POINTS + 1)
    for _ in range(_ROUNDS):
        prompts = np.floor(low[:, None] + (high - low)[:, None] * steps)
        room = footprint(found.structure, prompts + output_tokens, prompts, every, found.formats, found.machine)
        n_kept = np.sum(np.broadcast_to(np.asarray(room.max_batch) >= 1.0, prompts.shape), axis=1)
        ends = np.concatenate((low[:, None], prompts, high[:, None]), axis=1)
        rows = np.arange(low.size)
        low, high = ends[rows, n_kept], ends[rows, n_kept + 1]
    return low.astype(np.int64) + output_tokens


def most_context_tokens(scenario: Scenario, found: Resolved) -> int:
    """Most tokens of one sequence under any plan; where memories differ, doubled from what is asked as long as it fits.

    What lies where depends on the load there, so that every length is placed anew; a model's trained context ends the doubling.
    """
    if found.box is None:
        return int(np.max(longest_context_tokens(found, candidates(found.structure, found.request), scenario.output_tokens)))
    prompt, most = scenario.input_tokens, found.model.trained_context or MOST_CONTEXT_TOKENS
    while 2 * prompt + scenario.output_tokens <= most and _holds(scenario, 2 * prompt):
        prompt *= 2
    return prompt + scenario.output_tokens


def _holds(scenario: Scenario, prompt: int) -> bool:
    longer = scenario.model_copy(update={"input_tokens": prompt})
    found = resolve(longer)
    room = room_for(found.structure, candidates(found.structure, found.request), found.formats, found.machine, workload([longer]))
    return bool(np.any(np.asarray(room.max_batch) >= 1.0))
