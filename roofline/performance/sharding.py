"""Parallel plans: which are legal, and what share of each term one device holds.

A system of ``n`` devices runs ``data x pipeline x context x tensor`` ways, some left idle where they do not divide. Experts
may be spread over ``expert`` devices of a stage, across data-parallel replicas. With data-parallel attention every device of a
tensor group keeps its own sequences, whole attention weights and whole cache, and only feed-forwards are divided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from roofline.errors import PlanError
from roofline.language import tr
from roofline.performance.structure import Division, Structure
from roofline.specs.engine import EngineProfile
from roofline.specs.scenario import Scenario
from roofline.units import Floats

_MAX_AUTO_TENSOR = 128
_AUTO_STAGES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
"""Pipeline depths tried: the same whatever the devices, so that more devices only add plans."""
MOST_COPIED_FRAC = 0.125
"""Experts that may be held twice where they do not divide: 32 of 256 are (DeepSeek, 2025; LMSYS, 2025)."""


@dataclass(frozen=True)
class Shard:
    """One plan, or an array of candidate plans: every field broadcasts."""

    tensor: Floats
    pipeline: Floats
    data: Floats
    expert: Floats
    attention_data: Floats
    """1 where attention is data parallel over the tensor group, else 0."""
    expert_skew: float = 1.0
    """Tokens on the fullest of the devices that experts are spread over, as asked, over the mean."""
    context: float = 1.0
    """Devices that share the positions of a sequence: its prompt and its cache; each holds all weights of its part."""
    two_batch: bool | None = None
    """Whether a step is cut into two halves, each hiding the exchanges of the other; None: as the engine does."""

    @cached_property
    def n_axes(self) -> int:
        """Of candidate plans: none for one plan."""
        return max(np.ndim(ways) for ways in (self.tensor, self.pipeline, self.data, self.expert, self.attention_data))

    @cached_property
    def attention_tensor(self) -> Floats:
        """Ways attention heads are split."""
        return np.where(self.attention_data > 0, 1.0, self.tensor)

    @cached_property
    def groups(self) -> Floats:
        """Attention groups a stage has: each holds its own sequences."""
        return self.data * self.tensor / self.attention_tensor

    @cached_property
    def tokens_factor(self) -> Floats:
        """Tokens a tensor group's feed-forward sees per token of one attention group."""
        return self.tensor / self.attention_tensor

    @cached_property
    def expert_ways(self) -> Floats:
        """Devices that share one set of experts."""
        return np.maximum(self.expert, self.tensor)

    def expert_weight_ways(self, n_experts: int) -> Floats:
        """What one device holds of the experts, as a division: whole ones, some of them twice where they do not divide."""
        held = n_experts / np.ceil(np.divide(n_experts, self.expert))
        return np.where(np.asarray(self.expert) >= self.tensor, held, self.expert_ways)

    @cached_property
    def exchanges(self) -> Floats:
        """1 where tokens travel to experts by all-to-all, 0 where an all-reduce of the tensor group does it."""
        spread = (self.expert > self.tensor) | ((self.expert > 1) & (self.attention_data > 0))
        return np.where(spread, 1.0, 0.0)

    def scalar(self) -> Shard:
        """The one plan of an array of one, as numbers."""
        return self.over(lambda values: float(np.asarray(values).reshape(-1)[0]))

    def over(self, change: Callable[[Floats], Floats]) -> Shard:
        """The same kind of plan with other ways."""
        fields = (self.tensor, self.pipeline, self.data, self.expert, self.attention_data)
        tensor, pipeline, data, expert, attention_data = (change(values) for values in fields)
        return replace(self, tensor=tensor, pipeline=pipeline, data=data, expert=expert, attention_data=attention_data)

    @cached_property
    def devices_used(self) -> Floats:
        """Devices with work."""
        return self.tensor * self.pipeline * self.data * self.context

    def ways(self, division: Division, n_kv_heads: int) -> Floats:
        """Parts a term is divided into, of which one device holds one."""
        if division == "heads":
            return self.attention_tensor
        if division == "kv_heads":
            return np.minimum(self.attention_tensor, float(n_kv_heads))
        if division == "width":
            return self.tensor
        if division == "experts":
            return self.expert_ways
        return 1.0


@dataclass(frozen=True)
class Request:
    """Ways asked for; ``None`` is open."""

    devices: int
    tensor: int | None
    pipeline: int | None
    data: int | None
    expert: int | None
    attention_data: bool | None
    splits_tensors: bool = True
    """Whether the engine can divide a matrix; else only layers and whole copies are spread."""
    expert_skew: float = 1.0
    context: int = 1
    two_batch: bool | None = None

    @property
    def is_manual(self) -> bool:
        """Whether the person fixed anything."""
        return any(x is not None for x in (self.tensor, self.pipeline, self.data, self.expert, self.attention_data))


def requested(scenario: Scenario, engine: EngineProfile) -> Request:
    """The part of a scenario that asks for a plan, and what the engine can do."""
    return Request(
        devices=scenario.devices,
        tensor=scenario.tensor_parallel,
        pipeline=scenario.pipeline_parallel,
        data=scenario.data_parallel,
        expert=scenario.expert_parallel,
        attention_data=scenario.attention_data_parallel,
        splits_tensors=engine.splits_tensors,
        expert_skew=scenario.expert_skew,
        context=scenario.context_parallel,
        two_batch=scenario.two_batch_overlap,
    )


def fewest_for_ways(request: Request) -> int:
    """Devices that the ways asked for take at least."""
    group = (request.tensor or 1) * request.context
    stage = max(math.lcm(request.expert or 1, group), group * (request.data or 1))
    return stage * (request.pipeline or 1)


@lru_cache(maxsize=512)
def candidates(structure: Structure, request: Request) -> Shard:
    """Every legal plan that answers a request, as arrays.

    Raises
    ------
    PlanError
        No legal plan has the ways asked for; the message names what would be legal.
    """
    _refuse_impossible(structure, request)
    _refuse_meaningless(structure, request)
    rows = [
        (t, p, d, e, float(a))
        for t in _tensor_options(structure, request)
        for e in _expert_options(structure, request, t)
        for p in _pipeline_options(structure, request, t)
        for d in _data_options(request, t, p, e)
        for a in _attention_options(structure, request, t)
    ]
    if not rows:
        raise PlanError(
            tr(
                "no plan for {devices} devices has these ways: tensor x pipeline x data x context must not exceed the devices, "
                "and expert-parallel ways must divide both the experts and tensor x data x context.",
                devices=request.devices,
            )
        )
    tensor, pipeline, data, expert, attention_data = np.array(rows, dtype=np.float64).T
    return Shard(tensor, pipeline, data, expert, attention_data, request.expert_skew, request.context, request.two_batch)


@lru_cache(maxsize=64)
def replica_plans(structure: Structure, most_devices: int, splits_tensors: bool) -> Shard:
    """Every legal plan of up to so many devices once, with no more copies of the weights than its experts are spread over.

    More devices under the same plan are more such replicas: they multiply throughput and cost, and change no time.
    """
    every = candidates(structure, Request(most_devices, None, None, None, None, None, splits_tensors))
    copies = np.asarray(every.expert) / np.gcd(_whole(every.expert), _whole(every.tensor))
    return Shard(every.tensor, every.pipeline, copies, every.expert, every.attention_data)


def _whole(values: Floats) -> NDArray[np.int64]:
    return np.asarray(values).astype(np.int64)


def legal_tensor_ways(structure: Structure, most: int) -> tuple[int, ...]:
    """Tensor-parallel ways, up to ``most``, that divide every kind of head of the model.

    Query heads must divide; cache heads either divide or are copied whole.
    """
    heads = {(t.attend.n_heads, t.attend.n_kv_heads) for t in structure.attends if t.attend.kind != "index"}
    heads |= {(t.recurrence.n_heads, t.recurrence.n_heads) for t in structure.recurrences}
    legal = [t for t in range(1, most + 1) if all(h % t == 0 and (k % t == 0 or t % k == 0) for h, k in heads)]
    return tuple(legal)


def _refuse_impossible(structure: Structure, request: Request) -> None:
    t, p, e = request.tensor, request.pipeline, request.expert
    if not request.splits_tensors and max(t or 1, e or 1, request.context) > 1:
        raise PlanError(
            tr("this engine gives whole layers to each device: choose pipeline parallelism, or the engine 'serving'.")
        )
    if t is not None:
        legal = legal_tensor_ways(structure, max(t, 64))
        if t not in legal:
            shown = ", ".join(str(x) for x in legal if x <= 64)
            raise PlanError(
                tr(
                    "tensor parallelism {ways} does not divide the heads of {model}; legal: {legal}.",
                    ways=t,
                    model=structure.model.id,
                    legal=shown,
                )
            )
    if p is not None and p > structure.n_layers:
        raise PlanError(
            tr(
                "{stages} pipeline stages exceed the {layers} layers of {model}.",
                stages=p,
                layers=structure.n_layers,
                model=structure.model.id,
            )
        )
    if e is not None and e > 1 and structure.routing is None:
        raise PlanError(tr("{model} has no experts to spread: leave expert parallelism out.", model=structure.model.id))
    if e is not None and structure.routing is not None and _copied_frac(structure.routing.n_experts, e) > MOST_COPIED_FRAC:
        n = structure.routing.n_experts
        shown = ", ".join(str(x) for x in _divisors(n)[:12])
        raise PlanError(
            tr(
                "{n} experts do not divide over {devices} devices, even with one in eight held twice; "
                "expert parallelism can be {legal}.",
                n=n,
                devices=e,
                legal=shown,
            )
        )
    product = (t or 1) * (p or 1) * (request.data or 1) * request.context
    if product > request.devices:
        raise PlanError(tr("the plan needs {needed} devices but there are {devices}.", needed=product, devices=request.devices))


def _copied_frac(n_experts: int, ways: int) -> float:
    """Experts held twice, as a share, so that every device holds as many."""
    return math.ceil(n_experts / ways) * ways / n_experts - 1.0


def _refuse_meaningless(structure: Structure, request: Request) -> None:
    """What a model has nothing to do it with."""
    if request.expert_skew > 1.0 and structure.routing is None:
        raise PlanError(tr("{model} has no experts whose load could be skewed: leave the skew at 1.", model=structure.model.id))
    if request.context > 1 and structure.recurrences:
        raise PlanError(
            tr(
                "{model} has layers whose state runs along the sequence: context parallelism must be 1.",
                model=structure.model.id,
            )
        )


@cache
def _divisors(n: int) -> tuple[int, ...]:
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return tuple(sorted({*small, *(n // d for d in small)}))


def _tensor_options(structure: Structure, request: Request) -> list[int]:
    """Every legal way: more devices add to what fewer had."""
    if request.tensor is not None:
        return [request.tensor]
    if not request.splits_tensors:
        return [1]
    legal = legal_tensor_ways(structure, min(request.devices, _MAX_AUTO_TENSOR))
    if request.attention_data and len(legal) > 1:
        return [t for t in legal if t > 1]
    return list(legal)


def _pipeline_options(structure: Structure, request: Request, tensor: int) -> list[int]:
    if request.pipeline is not None:
        return [request.pipeline] if request.pipeline * tensor * request.context <= request.devices else []
    most = min(request.devices // (tensor * request.context) // (request.data or 1), structure.n_layers)
    return [p for p in _AUTO_STAGES if p <= most]


def _data_options(request: Request, tensor: int, pipeline: int, expert: int) -> list[int]:
    """The most replicas there is room for, such that experts divide over them."""
    room = request.devices // (tensor * pipeline * request.context)
    step = expert // math.gcd(expert, tensor * request.context)
    if request.data is not None:
        return [request.data] if request.data <= room and request.data % step == 0 else []
    return [room // step * step] if room >= step else []


def _attention_options(structure: Structure, request: Request, tensor: int) -> list[bool]:
    if request.attention_data is not None:
        return [request.attention_data and tensor > 1]
    if request.tensor is not None:
        return [False]
    replicates = any(t.attend.n_kv_heads < tensor for t in structure.attends)
    return [False, True] if tensor > 1 and replicates else [False]


def _expert_options(structure: Structure, request: Request, tensor: int) -> list[int]:
    """Ways to spread experts: not at all, or over as many devices as divide them, in powers of two and the widest."""
    if structure.routing is None:
        return [1]
    if request.expert is not None:
        return [request.expert] if request.expert % tensor == 0 or tensor % request.expert == 0 else []
    if not request.splits_tensors:
        return [1]
    stage = request.devices // (request.pipeline or 1)
    legal = [e for e in _divisors(structure.routing.n_experts) if e <= stage and e % tensor == 0]
    return [1, *(e for e in legal if e > 1 and (e & (e - 1) == 0 or e == structure.routing.n_experts))]
