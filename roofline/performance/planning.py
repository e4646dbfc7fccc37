"""Which plan: every legal candidate evaluated at once for every load, and the one expected to be fastest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.performance.machine import Machine, Rates
from roofline.performance.memory import Footprint, footprint
from roofline.performance.serving import Service, mean_context_tokens, service
from roofline.performance.sharding import Request, Shard, candidates
from roofline.performance.steps import Setting
from roofline.performance.structure import Structure
from roofline.units import Floats

_ROUNDS = 100
_MOST_SEQUENCES = 1e13
_TIE = 1e-9
"""Plans whose rates differ by less than this share count as equal: the one with fewer tensor ways is taken."""
_ROUNDING = 1e-12
"""A request rate that is over what a system keeps up with by less than this share is that rate, rounded."""


def least_whole(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The least whole numbers at which functions of one array have fallen to zero, all at once; infinite where they never do.

    False position with halved weights (Illinois) on whole numbers: each lies above one end of its bracket, and is the other
    in the end.

    M. Dowell, P. Jarratt, "A modified regula falsi method for computing the root of an equation", BIT 11, 1971.

    >>> least_whole(lambda x: 10.0 - x * x, np.array([1.0, 5.0]), np.array([9.0, 9.0])).tolist()
    [4.0, 5.0]
    """
    above, below = function(low), function(high)
    never, early = below > 0.0, above <= _TIE * low
    side = np.zeros(low.shape)
    for _ in range(_ROUNDS):
        found = never | early | (high - low <= 1.0)
        if np.all(found):
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = low + (high - low) * above / (above - below)
        middle = np.ceil(np.where((guess > low) & (guess < high), guess, 0.5 * (low + high)))
        middle = np.where(found, high, np.clip(middle, low + 1.0, high - 1.0))
        value = function(middle)
        over = value > _TIE * middle
        below = np.where(over & (side > 0), 0.5 * below, below)
        above = np.where(~over & (side < 0), 0.5 * above, above)
        low, above = np.where(over, middle, low), np.where(over, value, above)
        high, below = np.where(over, high, middle), np.where(over, below, value)
        side = np.where(over, 1.0, -1.0)
    return np.where(never, np.inf, np.where(early, low, high))


@dataclass(frozen=True)
class Workload:
    """Loads as arrays of one length, or as axes that broadcast. A batch of NaN is the most that fit; a rate of NaN is none."""

    prompt_tokens: NDArray[np.float64]
    output_tokens: NDArray[np.float64]
    batch: NDArray[np.float64]
    request_rate: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of all loads, crossed."""
        return np.broadcast_shapes(*(np.shape(values) for values in self._columns()))

    def over_plans(self) -> Workload:
        """The same loads with a last axis for candidate plans."""
        return Workload(*(values[..., None] for values in self._columns()))

    def _columns(self) -> tuple[NDArray[np.float64], ...]:
        return self.prompt_tokens, self.output_tokens, self.batch, self.request_rate


@dataclass(frozen=True)
class BestLimits:
    """Each limit over all plans that fit, whatever plan is chosen: nothing these devices can do is faster."""

    ttft_s: Floats
    system_prompt_s: Floats
    """Time between prompts of the whole system."""
    step_s: Floats
    request_s: Floats

    def scalar(self) -> BestLimits:
        """Those of an array of one load, as numbers."""
        fields = (self.ttft_s, self.system_prompt_s, self.step_s, self.request_s)
        return BestLimits(*(float(np.asarray(values)[0]) for values in fields))


@dataclass(frozen=True)
class Choice:
    """For each load the plan, the batch it runs and whether that fits."""

    shard: Shard
    batch: NDArray[np.float64]
    max_batch: NDArray[np.float64]
    n_candidates: int
    n_feasible: NDArray[np.int64]
    best: BestLimits | None
    """Where there is more than one candidate: over all that hold the batch."""

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the batch fits its plan."""
        return (self.max_batch >= self.batch) & (self.batch >= 1.0)


def choose(
    structure: Structure, request: Request, formats: Rates, machine: Machine, load: Workload, alone: bool = False
) -> Choice:
    """For each load, the candidate that is expected to finish its requests soonest, among those that fit.

    Compared is the expected output rate with prefill included, at the given batch or at the largest that fits each
    candidate; at a request rate, the expected step. Where nothing fits, the candidate nearest to it. Candidates for more
    devices include, or improve on, those for fewer, so that more devices are never expected to be slower. Where decode is
    ``alone``, prompts are read elsewhere, and the output rate is that of its steps.
    """
    shards = candidates(structure, request)
    n = np.size(np.asarray(shards.tensor))
    scene = _Scene(structure, formats, machine, load.over_plans(), alone)
    room = scene.room(shards)
    most = np.asarray(room.max_batch)
    batch = scene.wanted_batch(shards, most)
    feasible = most >= np.maximum(1.0, batch)
    if n == 1:
        return Choice(shards, batch[..., 0], most[..., 0], n, np.count_nonzero(feasible, axis=-1), None)
    shape = (*load.shape, n)
    most, batch, feasible = (np.broadcast_to(values, shape) for values in (most, batch, feasible))
    merit, times = scene.merit(shards, batch, feasible)
    lacking = np.broadcast_to(np.asarray(room.cache_bytes(np.ones(n)) + room.weights_bytes), shape)
    index = np.where(np.any(feasible, axis=-1), np.argmax(merit, axis=-1), np.argmin(lacking, axis=-1))

    def taken(values: NDArray[np.float64]) -> NDArray[np.float64]:
        chosen: NDArray[np.float64] = np.take_along_axis(values, index[..., None], axis=-1)[..., 0]
        return chosen

    chosen = taken(batch)
    if np.all(batch == chosen[..., None]):
        best = scene.limits(shards, times, feasible)
    else:
        alike = np.maximum(np.where(np.isfinite(chosen), chosen, 1.0), 1.0)[..., None]
        best = scene.limits(shards, scene.service(shards, alike), most >= alike)
    return Choice(_at(shards, index), chosen, taken(most), n, np.count_nonzero(feasible, axis=-1), best)


@dataclass(frozen=True)
class _Scene:
    """What candidates are compared on: loads as a column, so that candidates are the rows of a table."""

    structure: Structure
    formats: Rates
    machine: Machine
    load: Workload
    alone: bool

    def room(self, shards: Shard) -> Footprint:
        """Memory of every load under every candidate."""
        tokens = self.load.prompt_tokens + self.load.output_tokens
        return footprint(self.structure, tokens, self.load.prompt_tokens, shards, self.formats, self.machine)

    def service(self, shards: Shard, batch: Floats) -> Service:
        """Times of every load under every candidate."""
        return service(
            self.structure,
            shards,
            self.formats,
            self.machine,
            batch,
            self.load.prompt_tokens,
            self.load.output_tokens,
            with_rows=False,
        )

    def wanted_batch(self, shards: Shard, most: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sequences decoding at once: as given, as the request rate needs, or the most that fit."""
        unknown = np.isnan(self.load.batch)
        given = np.where(unknown, most, self.load.batch) if np.any(unknown) else self.load.batch
        if np.all(np.isnan(self.load.request_rate)):
            return given
        return np.where(np.isnan(self.load.request_rate), given, self.batch_for_rate(shards))

    def batch_for_rate(self, shards: Shard) -> NDArray[np.float64]:
        """Sequences in decode when requests arrive at a steady rate: the least ``B`` with ``B >= r G t(B)``.

        ``t(B)`` is the expected time per output token when each second also holds ``r`` prefills, ``step(B) / n / (1 - r T)``,
        with ``n`` the tokens a step yields and ``T`` the prefill time of one prompt over all groups. Infinite where no batch
        keeps up.
        """
        load, rate = self.load, self.load.request_rate * (1.0 - _ROUNDING)
        prompt_s = 0.0 if self.alone else self.service(shards, 1.0).expected_prompt_s / shards.groups
        left = 1.0 - rate * prompt_s
        context = mean_context_tokens(load.prompt_tokens, load.output_tokens)
        steps = rate * load.output_tokens / self.structure.shortcuts.tokens_per_step / np.maximum(left, _TIE)

        setting = Setting(self.structure, shards, self.formats, self.machine)

        def behind(batch: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(steps * setting.decode(batch, context, load.output_tokens).expected_s - batch)

        shape = np.broadcast_shapes(np.shape(left), np.shape(steps))
        low, high = np.ones(shape), np.full(shape, _MOST_SEQUENCES)
        needed = least_whole(behind, low, high)
        return np.where((left > 0) & (needed < _MOST_SEQUENCES), needed, np.inf)

    def merit(
        self, shards: Shard, batch: NDArray[np.float64], feasible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Service]:
        """Higher is better, minus infinity for what does not fit; and the times that were compared."""
        held = np.where(feasible, np.maximum(batch, 1.0), 1.0)
        result = self.service(shards, held)
        wall = (
            self.load.output_tokens / result.tokens_per_step * result.decode.expected_s
            if self.alone
            else result.expected_request_s
        )
        merit = np.where(np.isnan(self.load.request_rate), held / wall, 1.0 / result.decode.expected_s)
        return np.where(feasible, merit * (1.0 - _TIE * np.asarray(shards.tensor)), -np.inf), result

    def limits(self, shards: Shard, times: Service, feasible: NDArray[np.bool_]) -> BestLimits:
        """The least limits over all plans that hold a load's batch."""

        def least(times: Floats) -> NDArray[np.float64]:
            best: NDArray[np.float64] = np.min(np.where(feasible, times, np.inf), axis=-1)
            return best

        groups = np.asarray(shards.groups)
        return BestLimits(
            ttft_s=least(times.limit_ttft_s),
            system_prompt_s=least(times.limit_prompt_s / groups),
            step_s=least(times.decode.limit_s),
            request_s=least(times.limit_request_s),
        )


def _at(shards: Shard, index: NDArray[np.int64]) -> Shard:
    def at(values: Floats) -> NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64)[index]

    return shards.over(at)


def room_for(structure: Structure, shard: Shard, formats: Rates, machine: Machine, load: Workload) -> Footprint:
    """Footprint of each load under its plan."""
    return footprint(structure, load.prompt_tokens + load.output_tokens, load.prompt_tokens, shard, formats, machine)
