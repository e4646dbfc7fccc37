"""What new prompts do to running sequences: steps that carry a chunk of a prompt take longer, and every user waits for them."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.performance.serving import chunk_of, mean_context_tokens, mixed_step
from roofline.performance.steps import Setting


@dataclass(frozen=True)
class Interference:
    """Expected steps of a loaded server: full, each ended sequence followed by the next, or at the request rate."""

    chunk_tokens: float
    """Prompt tokens that a step carries for one attention group."""
    chunk_step_s: float
    """A decode step while such a chunk rides along: the longest gap between tokens."""
    chunk_steps_frac: float
    """Share of steps that carry one."""
    tpot_s: float
    """Time per output token, mean over steps with and without."""


def interference(
    setting: Setting, batch: float, prompt_tokens: float, output_tokens: float, request_rate: float | None
) -> Interference:
    """Steps of a loaded server, with and without a chunk of a prompt.

        full:     c = min(1, n_chunks / n_steps)             of one turnover
        at rate:  T = t / (1 - q (t_c - t)),  c = q T        q chunks a second reach each micro-batch

    t is a step without, t_c one with a chunk, T the mean. A. Agrawal et al., OSDI 2024, section 3 (Sarathi-Serve).
    """
    shortcuts, held = setting.structure.shortcuts, float(setting.micro_batch(batch))
    computed, n_steps = float(shortcuts.computed_tokens(prompt_tokens)), output_tokens / shortcuts.tokens_per_step
    chunk = float(chunk_of(setting, computed, computed if request_rate else computed * held / n_steps))
    context = mean_context_tokens(prompt_tokens, output_tokens)
    with_chunk = float(mixed_step(setting, batch, context, chunk, prompt_tokens, output_tokens).expected_s)
    without = float(setting.decode(batch, context, output_tokens).expected_s)
    if request_rate is None:
        share = min(1.0, held * computed / chunk / n_steps)
    else:
        chunks_per_s = request_rate * computed / chunk / float(setting.shard.groups * setting.shard.pipeline)
        left = 1.0 - chunks_per_s * (with_chunk - without)
        share = min(1.0, chunks_per_s * without / left) if left > 0.0 else 1.0
    mean = share * with_chunk + (1.0 - share) * without
    return Interference(chunk, with_chunk, share, mean / shortcuts.tokens_per_step)
