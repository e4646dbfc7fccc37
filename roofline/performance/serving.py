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
from roofline.performance.ledger import Load, ledger
from roofline.performance.machine import Machine, Rates
from roofline.performance.overlap import n_pieces, overlapped, piece
from roofline.performance.sharding import Shard
from roofline.performance.shortcuts import PLAIN, Shortcuts
from roofline.performance.structure import Structure
from roofline.performance.timing import StepTime, step_time
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


def decode_load(batch: Floats, context_tokens: Floats, shard: Shard, shortcuts: Shortcuts = PLAIN) -> Load:
    """A decode step of one micro-batch: the batch spread over groups and stages, one sequence at least."""
    new = shortcuts.new_tokens_per_step
    stage = np.maximum(1.0, batch / shard.pipeline)
    return Load(
        n_sequences=np.maximum(1.0, stage / shard.groups),
        n_new=new,
        n_cached=context_tokens,
        stage_tokens=stage * new,
        n_logits=shortcuts.n_logits,
    )


def prefill_step(
    structure: Structure, shard: Shard, formats: Rates, machine: Machine, n_new: Floats, n_cached: Floats
) -> StepTime:
    """Prefill of one prompt in every attention group at once, on top of tokens already cached, in chunks."""
    load = Load(n_sequences=1.0, n_new=n_new, n_cached=n_cached, stage_tokens=n_new * shard.groups)
    passes = np.maximum(1.0, n_new / shard.context / machine.engine.prefill_chunk_tokens.value)
    step = Setting(structure, shard, formats, machine).step(load, (load,), passes)
    return with_prompt_draft(step, structure.shortcuts.draft, load, shard, formats, machine)


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
    computed = structure.shortcuts.computed_tokens(prompt_tokens)
    prefill = prefill_step(structure, shard, formats, machine, computed, prompt_tokens - computed)
    stages = shard.pipeline
    limit_prompt = prefill.limit_s / stages
    expected_prompt = prefill.expected_s / stages
    fill = pipeline_fill_frac(prefill.passes, stages)
    share = batch / stages / shard.groups
    steps = output_tokens / structure.shortcuts.tokens_per_step
    compute = share * prefill.limit_compute_s + steps * decode.limit_compute_s
    memory = share * _cache_limit_s(prefill) + steps * decode.limit_memory_s
    wire = share * prefill.limit_network_s + steps * decode.limit_network_s
    longest = np.maximum(steps * decode.limit_s, np.maximum(compute, memory))
    return Service(
        computed_tokens=computed,
        prefill=prefill,
        decode=decode,
        tokens_per_step=structure.shortcuts.tokens_per_step,
        limit_ttft_s=limit_prompt,
        expected_ttft_s=prefill.expected_s * fill,
        limit_prompt_s=limit_prompt,
        expected_prompt_s=expected_prompt,
        limit_request_s=np.maximum(longest, wire),
        expected_request_s=np.maximum(batch * expected_prompt / shard.groups, prefill.expected_s * fill)
        + steps * decode.expected_s,
    )


def _cache_limit_s(step: StepTime) -> Floats:
    """Least memory time of a step beside weights: prompts can ride on steps that read those anyway."""
    return sum((row.memory_limit_s for row in step.rows if row.op.kind in ("attention", "recurrence")), 0.0)


def decode_step(structure: Structure, shard: Shard, formats: Rates, machine: Machine, batch: Floats, context: Floats) -> StepTime:
    """One decode step of the whole stack, drafts included: `Shortcuts.tokens_per_step` tokens of every sequence."""
    shortcuts = structure.shortcuts
    load = decode_load(batch, context, shard, shortcuts)
    step = Setting(structure, shard, formats, machine).step(load, (load,), cycle=True)
    return with_decode_drafts(step, shortcuts.draft, decode_load(batch, context, shard), shard, formats, machine)


def mean_context_tokens(prompt_tokens: Floats, output_tokens: Floats) -> Floats:
    """Tokens cached at the middle of a generation: the mean over its steps."""
    return np.asarray(prompt_tokens) + np.floor(np.asarray(output_tokens) / 2.0)


FILL_FRAC = 0.8
"""Share of a chunk's time that the next stage can hide; the rest is handed on in turn."""
MIXED_STEP_TOKENS = 8192.0
"""Most prompt tokens that serving engines add to one step of running sequences."""
SCHEDULER_SEQUENCES = 2048.0
"""Most sequences a scheduler runs at once in one replica."""
WAVES = 8.0
"""Batches' worth of requests below which the last, partial one is felt."""
_ROUNDS = 60


def pipeline_fill_frac(n_chunks: Floats, n_stages: Floats) -> Floats:
    """Time of a prompt over stages, relative to one device that runs all of them.

    >>> float(pipeline_fill_frac(1.0, 4.0)), float(pipeline_fill_frac(4.0, 1.0))
    (1.0, 1.0)
    """
    return 1.0 - FILL_FRAC + FILL_FRAC * (n_chunks + n_stages - 1.0) / (n_chunks * n_stages)


@dataclass(frozen=True)
class Setting:
    """What every step of a course shares."""

    structure: Structure
    shard: Shard
    formats: Rates
    machine: Machine

    def step(self, load: Load, parts: tuple[Load, ...], passes: Floats = 1.0, cycle: bool = False) -> StepTime:
        """A step whose matrices see all of a load, and whose caches belong to its parts."""
        whole = self._undivided(load, parts, passes, cycle)
        if not self.shard.two_batch:
            return whole
        pieces = n_pieces(load)
        halves = tuple(piece(part, pieces) for part in parts)
        return overlapped(whole, self._undivided(piece(load, pieces), halves, passes, cycle), pieces)

    def _undivided(self, load: Load, parts: tuple[Load, ...], passes: Floats, cycle: bool) -> StepTime:
        rows = ledger(self.structure, load, parts, self.shard, self.formats)
        return step_time(rows, self.structure, load, self.shard, self.formats, self.machine, passes, cycle)

    def decode(self, batch: Floats, context: Floats) -> StepTime:
        """One decode step."""
        return decode_step(self.structure, self.shard, self.formats, self.machine, batch, context)

    def micro_batch(self, batch: Floats) -> Floats:
        """Sequences of one attention group in one stage."""
        return np.maximum(1.0, batch / (self.shard.pipeline * self.shard.groups))


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
    passes = np.maximum(1.0, tokens / shard.groups / shard.context / chunk)
    step = setting.step(load, (load,), passes)
    return Course(((pipeline_fill_frac(passes, shard.pipeline), step),))


def static_batch(setting: Setting, batch: Floats, prompt_tokens: Floats, output_tokens: Floats) -> Course:
    """All prompts of a batch, then all of its tokens: nothing joins or leaves."""
    context = mean_context_tokens(prompt_tokens, output_tokens)
    decode = Course(((output_tokens, setting.decode(batch, context)),))
    return prompts_course(setting, batch, prompt_tokens).then(decode)


def mixed_step(setting: Setting, batch: Floats, context: Floats, new_tokens: Floats, prompt_tokens: Floats) -> StepTime:
    """A step that gives every running sequence a token and reads ``new_tokens`` of waiting prompts beside them."""
    shard = setting.shard
    running = decode_load(batch, context, shard)
    prompts = new_tokens / prompt_tokens
    reading = Load(prompts, prompt_tokens, 0.0, new_tokens * shard.groups)
    logits = running.n_sequences + prompts
    tokens = running.n_sequences + new_tokens
    both = Load(logits, tokens / logits, context, running.stage_tokens + new_tokens * shard.groups)
    return setting.step(both, (running, reading), cycle=True)


def saturated(setting: Setting, batch: Floats, prompt_tokens: Floats, output_tokens: Floats) -> Course:
    """One turnover of a full server: as many prompts read as sequences end, beside the tokens of those that run."""
    context = mean_context_tokens(prompt_tokens, output_tokens)
    held = setting.micro_batch(batch)
    wanted = np.maximum(prompt_tokens, prompt_tokens * held / output_tokens)
    new_tokens = np.minimum(MIXED_STEP_TOKENS, wanted)
    n_mixed = held * prompt_tokens / new_tokens
    n_plain = np.maximum(0.0, output_tokens - n_mixed)
    mixed = mixed_step(setting, batch, context, new_tokens, prompt_tokens)
    return Course(((n_mixed, mixed), (n_plain, setting.decode(batch, context))))


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
        step = setting.decode(batch, context)
        mixed = mixed_step(setting, batch, context, prompt_tokens, prompt_tokens)
        left = 1.0 - each * float(mixed.expected_s - step.expected_s)
        wanted = rate * output_tokens * float(step.expected_s) / left if left > 0.0 else np.inf
        if wanted >= most:
            break
        if abs(wanted - batch) < 1e-9 * batch or wanted < 1.0:
            return Course(((1.0 / left, step),))
        batch = wanted
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
