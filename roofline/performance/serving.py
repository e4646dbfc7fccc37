"""Steps into answers: TTFT, TPOT, throughput, alone and when prefill shares the devices.

A `Course` is steps with how often each is run, so that the wall time of any way of serving is a sum over steps. The forms
here follow how engines schedule: static batches (all prompts, then all tokens), and continuous batches whose steps mix
chunks of new prompts with tokens of running sequences.

A. Agrawal et al., "Taming throughput-latency tradeoff in LLM inference with Sarathi-Serve", OSDI 2024. arXiv:2403.02310
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.performance.drafting import with_decode_drafts, with_prompt_draft
from roofline.performance.ledger import Load
from roofline.performance.machine import Machine, Rates
from roofline.performance.segments import pipeline_fill_frac, prompt_times, slowest_limit_s
from roofline.performance.sharding import Shard
from roofline.performance.steps import Decode, Prefill, Setting, Step, decode_load
from roofline.performance.structure import Structure
from roofline.performance.timing import StepTime
from roofline.units import Floats


@dataclass(frozen=True)
class Service:
    """Times of one load under one plan, as plain arrays; ``expected_*`` before any band."""

    computed_tokens: Floats
    """Prompt tokens of a request that no cache holds."""
    prefill: StepTime
    decode: StepTime
    tokens_per_step: float
    """Output tokens that a decode step yields to each sequence."""
    limit_ttft_s: Floats
    expected_ttft_s: Floats
    limit_prompt_s: Floats
    """Time between prompts of one attention group in a full pipeline."""
    expected_prompt_s: Floats
    limit_request_s: Floats
    """Least wall time in which the whole batch is prefilled and decoded once, both overlapped."""
    expected_request_s: Floats
    """The same as expected: prefill and decode take turns."""
    beside: tuple[StepTime, ...] = ()
    """Steps of other loads under the same plan, without rows."""


def service(
    structure: Structure,
    shard: Shard,
    formats: Rates,
    machine: Machine,
    batch: Floats,
    prompt_tokens: Floats,
    output_tokens: Floats,
    with_rows: bool = True,
    beside: tuple[Step, ...] = (),
) -> Service:
    """Prefill and decode of one load, with their rows where they are wanted, and whatever steps are asked for beside them."""
    context, shortcuts = mean_context_tokens(prompt_tokens, output_tokens), structure.shortcuts
    computed = shortcuts.computed_tokens(prompt_tokens)
    asked = (Prefill(computed, prompt_tokens - computed), Decode(batch, context, output_tokens), *beside)
    prefill, decode, *others = Setting(structure, shard, formats, machine).steps(asked, 2 if with_rows else 0)
    stages = shard.pipeline
    between, first = prompt_times(prefill, stages, machine)
    share = batch / stages / shard.groups
    steps = output_tokens / shortcuts.tokens_per_step
    longest = steps * decode.limit_s
    for read, written in zip(prefill.parts or (prefill,), decode.parts or (decode,), strict=True):
        compute = share * read.limit_compute_s + steps * written.limit_compute_s
        memory = share * read.limit_cache_s + steps * written.limit_memory_s
        wire = share * read.limit_network_s + steps * written.limit_network_s
        longest = np.maximum(np.maximum(longest, np.maximum(compute, memory)), wire)
    whole = np.maximum(batch * between / shard.groups, first) + steps * decode.expected_s
    return Service(
        computed_tokens=computed,
        prefill=prefill,
        decode=decode,
        tokens_per_step=shortcuts.tokens_per_step,
        limit_ttft_s=prefill.limit_s / stages,
        expected_ttft_s=first,
        limit_prompt_s=slowest_limit_s(prefill) / stages,
        expected_prompt_s=between,
        limit_request_s=longest,
        expected_request_s=longest if machine.engine.is_ideal else whole,
        beside=tuple(others),
    )


def mean_context_tokens(prompt_tokens: Floats, output_tokens: Floats) -> Floats:
    """Tokens cached at the middle of a generation: the mean over its steps."""
    return np.asarray(prompt_tokens) + np.floor(np.asarray(output_tokens) / 2.0)


MIXED_STEP_TOKENS = 8192.0
"""Most prompt tokens that serving engines add to one step of running sequences."""
SCHEDULER_SEQUENCES = 2048.0
"""Most sequences a scheduler runs at once in one replica."""
WAVES = 8.0
"""Batches' worth of requests below which the last, partial one is felt."""
_ROUNDS = 60


@dataclass(frozen=True)
class Course:
    """Steps, each with how often it is run."""

    parts: tuple[tuple[Floats, StepTime], ...]

    @property
    def expected_s(self) -> Floats:
        """Wall time as expected."""
        return sum((n * step.expected_s for n, step in self.parts), 0.0)

    @property
    def limit_s(self) -> Floats:
        """Least wall time of these very steps."""
        return sum((n * step.limit_s for n, step in self.parts), 0.0)

    def times(self, n: Floats) -> Course:
        """The course run ``n`` times over."""
        return Course(tuple((n * count, step) for count, step in self.parts))

    def then(self, other: Course) -> Course:
        """One course after another."""
        return Course(self.parts + other.parts)


def prompts_course(setting: Setting, n_prompts: Floats, prompt_tokens: Floats, n_cached: Floats = 0.0) -> Course:
    """Prompts read in chunks, on top of tokens already cached; over stages, chunks follow each other."""
    tokens = n_prompts * prompt_tokens
    shard = setting.shard
    load = Load(n_sequences=n_prompts / shard.groups, n_new=prompt_tokens, n_cached=n_cached, stage_tokens=tokens)
    chunk = setting.machine.engine.prefill_chunk_tokens.value
    step = setting.step(load, (load,), np.maximum(1.0, tokens / shard.groups / shard.context / chunk), may_stream=True)
    if step.parts:
        return Course(((prompt_times(step, 1.0, setting.machine)[1] / step.expected_s, step),))
    return Course(((pipeline_fill_frac(step.passes, shard.pipeline), step),))


def static_batch(setting: Setting, batch: Floats, prompt_tokens: Floats, output_tokens: Floats) -> Course:
    """All prompts of a batch, then all of its tokens: nothing joins or leaves."""
    context = mean_context_tokens(prompt_tokens, output_tokens)
    decode = Course(((output_tokens, setting.decode(batch, context, output_tokens)),))
    return prompts_course(setting, batch, prompt_tokens).then(decode)


def mixed_step(
    setting: Setting, batch: Floats, context: Floats, new_tokens: Floats, prompt_tokens: Floats, n_steps: Floats = 1.0
) -> StepTime:
    """A step that gives every running sequence its tokens and computes ``new_tokens`` of waiting prompts beside them."""
    structure, shard, formats, machine = setting.structure, setting.shard, setting.formats, setting.machine
    shortcuts = structure.shortcuts
    running = decode_load(batch, context, shard, shortcuts, n_steps)
    computed = shortcuts.computed_tokens(prompt_tokens)
    prompts = new_tokens / computed
    reading = Load(prompts, computed, prompt_tokens - computed, new_tokens * shard.groups)
    sequences = running.n_sequences + prompts
    tokens = running.n_tokens + new_tokens
    logits = (running.n_sequences * shortcuts.n_logits + prompts) / sequences
    both = Load(sequences, tokens / sequences, context, running.stage_tokens + new_tokens * shard.groups, logits)
    step = setting.step(both, (running, reading), cycle=True)
    step = with_prompt_draft(step, shortcuts.draft, reading, shard, formats, machine)
    alone = decode_load(batch, context, shard, n_steps=n_steps)
    return with_decode_drafts(step, shortcuts.draft, alone, shard, formats, machine)


def saturated(setting: Setting, batch: Floats, prompt_tokens: Floats, output_tokens: Floats) -> Course:
    """One turnover of a full server: as many prompts read as sequences end, beside the tokens of those that run."""
    context = mean_context_tokens(prompt_tokens, output_tokens)
    held, shortcuts = setting.micro_batch(batch), setting.structure.shortcuts
    computed, steps = shortcuts.computed_tokens(prompt_tokens), output_tokens / shortcuts.tokens_per_step
    new_tokens = chunk_of(setting, computed, computed * held / steps)
    n_mixed = held * computed / new_tokens
    n_plain = np.maximum(0.0, steps - n_mixed)
    mixed = mixed_step(setting, batch, context, new_tokens, prompt_tokens, output_tokens)
    return Course(((n_mixed, mixed), (n_plain, setting.decode(batch, context, output_tokens))))


def chunk_of(setting: Setting, prompt_tokens: Floats, wanted_tokens: Floats) -> Floats:
    """Prompt tokens that one step carries: as many as are wanted, whole prompts at least, and no more than the engine allows."""
    most = min(MIXED_STEP_TOKENS, setting.machine.engine.prefill_chunk_tokens.value)
    return np.minimum(most, np.maximum(prompt_tokens, wanted_tokens))


def few_requests(setting: Setting, n_requests: float, batch: float, prompt_tokens: float, output_tokens: float) -> Course:
    """A finite queue: whole turnovers, and one partial whose time lies between that of one sequence and of a full batch."""
    full = saturated(setting, batch, prompt_tokens, output_tokens)
    if n_requests >= WAVES * batch or batch <= 1.0:
        return full.times(n_requests / batch)
    waves = np.floor(n_requests / batch)
    rest = n_requests - waves * batch
    if rest < 1.0:
        return full.times(waves)
    share = (rest - 1.0) / (batch - 1.0)
    alone = saturated(setting, 1.0, prompt_tokens, output_tokens)
    return full.times(waves + share).then(alone.times(1.0 - share))


def concurrency(setting: Setting, n_clients: float, room: float, prompt_tokens: float, output_tokens: float) -> Course:
    """One turnover with so many clients, each sending its next request at once; those without room wait."""
    return saturated(setting, min(n_clients, room), prompt_tokens, output_tokens)


def offered_rate(
    setting: Setting, rate: float, room: float, prompt_tokens: float, output_tokens: float, n_requests: float = np.inf
) -> Course:
    """One token of every sequence when requests arrive at a steady rate.

        B = r G T,  T = t(B) / (1 - r (t(B + S) - t(B))),  T <= T of a full server

    t is a step, S the prompt, G the output: the share of time that prompts add is taken from the tokens (Little's law).
    A finite number of requests never fills the server as an endless stream does: faster arrivals than the server can take
    pile up to ``n (1 - mu / r)`` sequences before they drain, half as many on average.
    """
    context = float(mean_context_tokens(prompt_tokens, output_tokens))
    each = rate / float(setting.shard.groups)
    most = min(room, max(1.0, n_requests / 2.0))
    batch = 1.0
    for _ in range(_ROUNDS):
        step = setting.decode(batch, context, output_tokens)
        mixed = mixed_step(setting, batch, context, prompt_tokens, prompt_tokens, output_tokens)
        left = 1.0 - each * float(mixed.expected_s - step.expected_s)
        wanted = rate * output_tokens * float(step.expected_s) / left if left > 0.0 else np.inf
        if wanted >= most:
            break
        if abs(wanted - batch) < 1e-9 * batch or wanted < 1.0:
            return Course(((1.0 / left, step),))
        batch = wanted
    else:
        return Course(((1.0 / left, step),))
    piled = _piled_up(setting, rate, most, prompt_tokens, output_tokens, n_requests)
    return saturated(setting, piled, prompt_tokens, output_tokens).times(1.0 / output_tokens)


def _piled_up(setting: Setting, rate: float, most: float, prompt_tokens: float, output_tokens: float, n_requests: float) -> float:
    """Mean sequences under a finite burst that arrives faster than it is served; by bisection."""
    if not np.isfinite(n_requests):
        return most
    low, high = 1.0, most
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        served = middle / float(saturated(setting, middle, prompt_tokens, output_tokens).expected_s)
        if middle < 0.5 * n_requests * (1.0 - served / rate):
            low = middle
        else:
            high = middle
    return low
