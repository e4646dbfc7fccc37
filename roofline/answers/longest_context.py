"""The longest prompt and answer that fit, over all legal plans at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array, largest_whole
from roofline.answers.evaluate import workload
from roofline.answers.resolve import Resolved, resolve
from roofline.performance.memory import footprint
from roofline.performance.planning import room_for
from roofline.performance.sharding import Shard, candidates
from roofline.specs.scenario import Scenario

MOST_CONTEXT_TOKENS = 10_000_000


def longest_prompts(found: Resolved, shards: Shard, output_tokens: int, batch: float = 1.0) -> Array:
    """Longest prompt under each plan that so many sequences have room for with their answers; 0 where not even one token has."""
    every = shards.over(lambda values: np.asarray(values).reshape(-1))

    def fits(prompts: Array) -> NDArray[np.bool_]:
        room = footprint(found.structure, prompts + output_tokens, prompts, every, found.formats, found.machine)
        return np.broadcast_to(np.asarray(room.max_batch) >= batch, prompts.shape)

    return largest_whole(fits, np.full(np.size(every.tensor), float(MOST_CONTEXT_TOKENS - output_tokens)))


def longest_context_tokens(found: Resolved, shards: Shard, output_tokens: int) -> NDArray[np.int64]:
    """Most tokens of one sequence under each plan; those of the answer are among them. Plans hold the answer and one token."""
    return np.maximum(longest_prompts(found, shards, output_tokens), 1.0).astype(np.int64) + output_tokens


def most_context_tokens(scenario: Scenario, found: Resolved, batch: int = 1) -> int:
    """Most tokens of each of so many sequences under any plan; where memories differ, doubled from what is asked while it fits.

    What lies where depends on the load there, so that every length is placed anew; a model's trained context ends the doubling.
    0 where none fits.
    """
    output = scenario.output_tokens
    if found.box is None:
        prompts = longest_prompts(found, candidates(found.structure, found.request), output, float(batch))
        return int(np.max(prompts)) + output if np.max(prompts) >= 1.0 else 0
    prompt, most = scenario.input_tokens, found.model.trained_context or MOST_CONTEXT_TOKENS
    if not _holds(scenario, prompt, batch):
        return 0
    while 2 * prompt + output <= most and _holds(scenario, 2 * prompt, batch):
        prompt *= 2
    return prompt + output


def _holds(scenario: Scenario, prompt: int, batch: int) -> bool:
    longer = scenario.model_copy(update={"input_tokens": prompt})
    found = resolve(longer)
    room = room_for(found.structure, candidates(found.structure, found.request), found.formats, found.machine, workload([longer]))
    return bool(np.any(np.asarray(room.max_batch) >= batch))
