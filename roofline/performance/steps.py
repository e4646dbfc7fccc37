"""Steps that are asked for, under one plan: prefill, decode and both together, one by one or several in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from operator import attrgetter
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from roofline.performance.drafting import with_decode_drafts, with_prompt_draft
from roofline.performance.ledger import Load, Ops
from roofline.performance.machine import Machine, Rates
from roofline.performance.network import NetworkTime
from roofline.performance.overlap import n_pieces, overlapped, piece
from roofline.performance.segments import stack_step
from roofline.performance.sharding import Shard
from roofline.performance.shortcuts import PLAIN, Shortcuts
from roofline.performance.structure import Structure
from roofline.performance.timing import OpTimes, StepTime
from roofline.units import Floats

_Number = TypeVar("_Number")
_FEW_CELLS = 4096
"""Loads times plans up to which steps without rows are quicker in one pass: beyond, each only where it differs."""


@dataclass(frozen=True)
class Prefill:
    """A prompt in every attention group at once, on top of tokens already cached, in chunks."""

    n_new: Floats
    n_cached: Floats


@dataclass(frozen=True)
class Decode:
    """`Shortcuts.tokens_per_step` tokens of every sequence, drafts included."""

    batch: Floats
    context_tokens: Floats
    n_steps: Floats = 1.0
    """Of the generation whose mean the context is."""


Step = Prefill | Decode


def decode_load(batch: Floats, context_tokens: Floats, shard: Shard, shortcuts: Shortcuts = PLAIN, n_steps: Floats = 1.0) -> Load:
    """A decode step of one micro-batch: the batch spread over groups and stages, one sequence at least."""
    new = shortcuts.new_tokens_per_step
    stage = np.maximum(1.0, batch / shard.pipeline)
    return Load(
        n_sequences=np.maximum(1.0, stage / shard.groups),
        n_new=new,
        n_cached=context_tokens,
        stage_tokens=stage * new,
        n_steps=n_steps,
        n_logits=shortcuts.n_logits,
    )


def prefill_load(n_new: Floats, n_cached: Floats, shard: Shard, machine: Machine) -> tuple[Load, Floats]:
    """One prompt in every attention group at once, and the chunks it is cut into."""
    load = Load(n_sequences=1.0, n_new=n_new, n_cached=n_cached, stage_tokens=n_new * shard.groups)
    return load, np.maximum(1.0, n_new / shard.context / machine.engine.prefill_chunk_tokens.value)


@dataclass(frozen=True)
class Setting:
    """What every step of a course shares."""

    structure: Structure
    shard: Shard
    formats: Rates
    machine: Machine

    @property
    def overlaps(self) -> bool:
        """Whether a step is cut into two halves that hide each other's exchanges: as asked, else as the engine does."""
        if self.shard.two_batch is not None:
            return self.shard.two_batch
        return self.machine.engine.overlaps_batches and not self.machine.segments

    @property
    def is_plain(self) -> bool:
        """Whether a step is only that of the whole stack on one kind of device: nothing is done beside it."""
        return self.structure.shortcuts.draft is None and not self.machine.segments and not self.overlaps

    def step(
        self, load: Load, parts: tuple[Load, ...], passes: Floats = 1.0, cycle: bool = False, may_stream: bool = False
    ) -> StepTime:
        """A step whose matrices see all of a load, and whose caches belong to its parts; see `stack_step`."""
        whole = self._undivided(load, parts, passes, cycle, may_stream)
        if not self.overlaps:
            return whole

        def cut(pieces: Floats) -> StepTime:
            halves = tuple(piece(part, pieces) for part in parts)
            return overlapped(whole, self._undivided(piece(load, pieces), halves, passes, cycle, may_stream), pieces)

        halved = cut(n_pieces(load))
        if self.shard.two_batch:
            return halved
        sooner = np.asarray(halved.expected_s) < np.asarray(whole.expected_s)
        return cut(np.where(sooner, n_pieces(load), 1.0)) if sooner.any() else whole

    def prefill(self, n_new: Floats, n_cached: Floats) -> StepTime:
        """A `Prefill`."""
        load, passes = prefill_load(n_new, n_cached, self.shard, self.machine)
        step = self.step(load, (load,), passes, may_stream=True)
        return with_prompt_draft(step, self.structure.shortcuts.draft, load, self.shard, self.formats, self.machine)

    def decode(self, batch: Floats, context: Floats, n_steps: Floats = 1.0) -> StepTime:
        """A `Decode`."""
        shortcuts = self.structure.shortcuts
        load = decode_load(batch, context, self.shard, shortcuts, n_steps)
        step = self.step(load, (load,), cycle=True)
        alone = decode_load(batch, context, self.shard, n_steps=n_steps)
        return with_decode_drafts(step, shortcuts.draft, alone, self.shard, self.formats, self.machine)

    def steps(self, asked: Sequence[Step], n_with_rows: int = 0) -> tuple[StepTime, ...]:
        """Several steps, in one pass where that is quicker: the numbers of each are those that it has alone.

        Only the first few are sure to come with their rows: those of many loads are told apart where they differ, not copied.
        """
        if not self.is_plain:
            return tuple(self._alone(step) for step in asked)
        loads, passes = zip(*(self._load(step) for step in asked), strict=True)
        numbers = [[getattr(load, f.name) for load in loads] for f in fields(Load)]
        shape = np.broadcast_shapes(*(np.shape(value) for values in (*numbers, passes, [self.shard.tensor]) for value in values))
        if prod(shape) > (1 if n_with_rows else _FEW_CELLS):
            return tuple(self._alone(step) for step in asked)
        load, chunks = Load(*(_side_by_side(values, shape) for values in numbers)), _side_by_side(passes, shape)
        cycle = np.reshape([isinstance(step, Decode) for step in asked], (-1, *(1 for _ in shape)))
        step = self._undivided(load, (load,), chunks, cycle, False)
        return tuple(_one_of(step, n, len(shape) + 1, n < n_with_rows) for n in range(len(asked)))

    def _alone(self, asked: Step) -> StepTime:
        if isinstance(asked, Prefill):
            return self.prefill(asked.n_new, asked.n_cached)
        return self.decode(asked.batch, asked.context_tokens, asked.n_steps)

    def _load(self, asked: Step) -> tuple[Load, Floats]:
        """What a step brings, and its chunks."""
        if isinstance(asked, Prefill):
            return prefill_load(asked.n_new, asked.n_cached, self.shard, self.machine)
        shortcuts = self.structure.shortcuts
        return decode_load(asked.batch, asked.context_tokens, self.shard, shortcuts, asked.n_steps), 1.0

    def _undivided(
        self, load: Load, parts: tuple[Load, ...], passes: Floats, cycle: bool | NDArray[np.bool_], may_stream: bool
    ) -> StepTime:
        return stack_step(self.structure, load, parts, self.shard, self.formats, self.machine, passes, cycle, may_stream)

    def micro_batch(self, batch: Floats) -> Floats:
        """Sequences of one attention group in one stage."""
        return np.maximum(1.0, batch / (self.shard.pipeline * self.shard.groups))


def _side_by_side(values: Sequence[Floats], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers of several steps along an axis before those of loads and plans."""
    out = np.empty((len(values), *shape))
    for n, value in enumerate(values):
        out[n] = value
    return out


def _one_of(step: StepTime, n: int, n_axes: int, with_rows: bool) -> StepTime:
    """One of several steps that were timed side by side."""

    def one(value: _Number) -> _Number:
        """Of a number, or of those of rows, which have one more axis in front."""
        if not isinstance(value, np.ndarray) or value.ndim < n_axes:
            return value
        at = n if value.ndim == n_axes else (slice(None), min(n, value.shape[1] - 1))
        return cast(_Number, value[at])

    totals = dict(zip(_TOTALS, map(one, attrgetter(*_TOTALS)(step)), strict=True))
    if not with_rows:
        return replace(step, rows=(), network=(), **totals)
    rows = []
    for row in step.rows:
        ops = Ops(row.ops.names, row.ops.kind, row.ops.count, *map(one, _SIZES(row.ops)))
        rows.append(OpTimes(ops, *map(one, _TIMES(row))))
    network = (NetworkTime(item.name, item.count, *map(one, _SENT(item))) for item in step.network)
    return replace(step, rows=tuple(rows), network=tuple(network), **totals)


_TOTALS = tuple(f.name for f in fields(StepTime) if f.name not in ("rows", "network", "parts", "on_host"))
_TIMES = attrgetter(*(f.name for f in fields(OpTimes)[1:]))
"""Numbers of a row's times, in the order of its fields; so are the next two."""
_SIZES = attrgetter(*(f.name for f in fields(Ops)[3:]))
_SENT = attrgetter(*(f.name for f in fields(NetworkTime)[2:]))
