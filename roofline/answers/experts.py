"""Dense and experts: what a mixture touches at each batch, against a dense model that uses as many parameters a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.answers.anatomy import ExpertCurve, expert_curve
from roofline.answers.curves import shard_of
from roofline.answers.report import Report
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.sweep import loads_table
from roofline.errors import PlanError
from roofline.formulas.experts import distinct_experts, tokens_per_touched_expert
from roofline.performance.counts import ParameterCounts, parameter_counts
from roofline.performance.ledger import Load, ledger, met_tokens, over_rows
from roofline.performance.offload import WHOLE
from roofline.performance.planning import Workload
from roofline.performance.served import served_structure
from roofline.performance.serving import mean_context_tokens
from roofline.performance.sharding import Shard
from roofline.performance.steps import decode_load
from roofline.performance.structure import Structure, structure
from roofline.specs.model import Block, ModelSpec

_LEAST_DOUBLINGS, _MOST_DOUBLINGS = 10, 20
_POINTS_PER_DOUBLING = 4
_BATCHES = (1, 8, 64, 512, 4096)
_MOST_SHARED = 64


@dataclass(frozen=True)
class Reads:
    """Weights read per token of a step by one set, against its tokens."""

    experts: NDArray[np.float64]
    same_active: NDArray[np.float64]
    """Of a dense model that uses as many parameters a token."""
    same_total: NDArray[np.float64]
    """Of a dense model that uses all of them."""


@dataclass(frozen=True)
class Speed:
    """Expected output tokens per second in total at one batch; ``None`` where it does not fit."""

    batch: int
    experts: float | None
    same_active: float | None

    @property
    def ratio(self) -> float | None:
        """The mixture's over the dense model's."""
        return None if self.experts is None or self.same_active is None else self.experts / self.same_active


@dataclass(frozen=True)
class Shared:
    """Devices that share one set of experts, each bringing the same number of sequences."""

    devices: int
    experts_each: float
    """Experts that one device holds, of a layer."""
    tokens: float
    """That meet the set in a step."""
    tokens_per_touched: float
    read_bytes: float
    """Weights that one device reads in a step."""
    tokens_per_s_per_device: float | None
    """Expected; ``None`` where the weights do not fit."""


@dataclass(frozen=True)
class Mixture:
    """What experts do to one model under one load."""

    report: Report
    parameters: ParameterCounts
    n_expert_layers: int
    n_experts: int
    n_active: int
    met: float
    """Tokens of a step that meet one set of experts under the plan."""
    touched: float
    tokens_per_touched: float
    filling_tokens: float
    """That fill the arithmetic while one matrix is read."""
    saturating_tokens: float
    """That must meet a set of experts for each expert to get as many."""
    curve: ExpertCurve
    reads: Reads
    read_ratio: float
    """At the tokens that meet: weights read over those of the dense model of the same active size."""
    worst_ratio: float
    worst_tokens: float
    """Where that ratio is largest."""
    speeds: tuple[Speed, ...]
    """Empty where parts of the model lie on unlike machines; so is ``shared``."""
    per_device: float
    """Sequences that each device brings."""
    can_share: bool
    """Whether the engine can spread experts over devices."""
    shared: tuple[Shared, ...]


def mixture(report: Report) -> Mixture | None:
    """The expert side of a report; ``None`` where the model is dense."""
    scenario = report.scenario.model_copy(update={"offload": report.offload})
    found = resolve(scenario)
    routing = found.structure.routing
    if routing is None:
        return None
    n, k = routing.n_experts, routing.n_active
    shard = WHOLE if found.box is not None else shard_of(report.plan, scenario)
    step = decode_load(float(report.batch), report.context_tokens, shard, found.structure.shortcuts)
    met = float(met_tokens(step, shard))
    tokens = _tokens(report.critical_batch_with_experts, met)
    reads = Reads(
        experts=read_bytes(found.structure, tokens, found) / tokens,
        same_active=read_bytes(_terms(dense_twin(found.model), found), tokens, found) / tokens,
        same_total=read_bytes(_terms(dense_twin(found.model, all_experts=True), found), tokens, found) / tokens,
    )
    ratio = reads.experts / reads.same_active
    per_device = max(1.0, report.batch / report.plan.devices_used)
    return Mixture(
        report=report,
        parameters=parameter_counts(found.model),
        n_expert_layers=sum(g.n_layers for g in found.model.groups if any(b.routing for b in g.blocks)),
        n_experts=n,
        n_active=k,
        met=met,
        touched=float(distinct_experts(n_experts=n, n_active_experts=k, n_tokens=met)),
        tokens_per_touched=float(tokens_per_touched_expert(n_experts=n, n_active_experts=k, n_tokens=met)),
        filling_tokens=report.critical_batch_dense,
        saturating_tokens=report.critical_batch_with_experts,
        curve=expert_curve(routing, tokens),
        reads=reads,
        read_ratio=float(ratio[tokens == met][0]),
        worst_ratio=float(ratio.max()),
        worst_tokens=float(tokens[int(ratio.argmax())]),
        speeds=() if found.box is not None else _speeds(report, found),
        per_device=per_device,
        can_share=found.request.splits_tensors,
        shared=() if found.box is not None else tuple(_shared(report, found, ways, per_device) for ways in _ways(n)),
    )


def dense_twin(model: ModelSpec, *, all_experts: bool = False) -> ModelSpec:
    """The same model with a dense feed-forward of the size that a token visits, or of all experts; no router."""
    groups = tuple(
        group.model_copy(update={"blocks": tuple(_dense_block(block, all_experts) for block in group.blocks)})
        for group in model.groups
    )
    size = "total" if all_experts else "active"
    kept = {name: getattr(model, name) for name in ModelSpec.model_fields}
    return ModelSpec.model_validate({**kept, "id": f"{model.id}-dense-{size}", "groups": groups})


def read_bytes(terms: Structure, tokens: NDArray[np.float64], found: Resolved) -> NDArray[np.float64]:
    """Weights that one set reads in a decode step of so many tokens."""
    load = Load(n_sequences=tokens, n_new=1.0, n_cached=0.0, stage_tokens=tokens)
    rows = ledger(terms, load, (load,), WHOLE, found.formats)
    return np.asarray(sum((over_rows(ops.weight_bytes) for ops in rows), np.zeros(tokens.shape)))


def _dense_block(block: Block, all_experts: bool) -> Block:
    if block.routing is None:
        return block
    copies = block.routing.n_experts if all_experts else block.routing.n_active
    tensors = [
        tensor.model_copy(update={"part": "dense_mlp", "n_copies": copies}) if tensor.part == "routed_experts" else tensor
        for tensor in block.tensors
        if tensor.part != "router"
    ]
    return block.model_copy(update={"kind": "dense feed-forward", "routing": None, "tensors": tuple(tensors)})


def _terms(model: ModelSpec, found: Resolved) -> Structure:
    return structure(model, found.formats.weights_id)


def _tokens(saturating: float, met: float) -> NDArray[np.float64]:
    """Four points a doubling past the critical batch, with the tokens that meet among them."""
    doublings = np.clip(np.ceil(np.log2(2.0 * max(saturating, met))), _LEAST_DOUBLINGS, _MOST_DOUBLINGS)
    return np.unique(np.append(2.0 ** np.arange(0.0, doublings + 1e-9, 1.0 / _POINTS_PER_DOUBLING), met))


def _speeds(report: Report, found: Resolved) -> tuple[Speed, ...]:
    """Both models on the same devices, each with its own best plan."""
    batches = sorted({*_BATCHES, report.batch})
    twin = dense_twin(found.model)
    open_request = replace(found.request, expert=None)
    terms = served_structure(report.scenario, twin, found.formats.weights_id)
    dense = replace(found, model=twin, structure=terms, request=open_request)
    columns = [_rates(report, which, batches) for which in (found, dense)]
    return tuple(Speed(*row) for row in zip(batches, *columns, strict=True))


def _rates(report: Report, found: Resolved, batches: Sequence[float]) -> list[float | None]:
    size = (len(batches),)
    prompt, output = float(report.scenario.input_tokens), float(report.scenario.output_tokens)
    load = Workload(np.full(size, prompt), np.full(size, output), np.array(batches, dtype=np.float64), np.full(size, np.nan))
    try:
        table = loads_table(report.scenario, found, load)
    except PlanError:
        return [None] * len(batches)
    rates = zip(table["expected_output_tokens_per_s"], table["fits"], strict=True)
    return [float(rate) if fits else None for rate, fits in rates]


def _ways(n_experts: int) -> tuple[int, ...]:
    """Powers of two, and the widest, that divide the experts."""
    powers = [2**i for i in range(_MOST_SHARED.bit_length()) if n_experts % 2**i == 0]
    return tuple(w for w in powers if w <= n_experts)


def _shared(report: Report, found: Resolved, ways: int, per_device: float) -> Shared:
    """Attention copied to each device, each with its own sequences; experts spread over all of them."""
    routing = found.structure.routing
    if routing is None:
        raise AssertionError("only for mixtures")
    batch, spread = per_device * ways, float(ways)
    shard = Shard(1.0, 1.0, spread, spread, 0.0)
    context = mean_context_tokens(report.scenario.input_tokens, report.scenario.output_tokens)
    load = decode_load(batch, context, shard)
    tokens = float(met_tokens(load, shard))
    each = tokens_per_touched_expert(n_experts=routing.n_experts, n_active_experts=routing.n_active, n_tokens=tokens)
    spreading = ways if ways > 1 else None
    request = replace(
        found.request, devices=ways, tensor=1, pipeline=1, data=ways, expert=spreading, attention_data=None, context=1
    )
    (rate,) = _rates(report, replace(found, request=request), [batch])
    rows = ledger(found.structure, load, (load,), shard, found.formats)
    return Shared(
        devices=ways,
        experts_each=routing.n_experts / ways,
        tokens=tokens,
        tokens_per_touched=float(each),
        read_bytes=sum((float(np.sum(ops.weight_bytes)) for ops in rows), 0.0),
        tokens_per_s_per_device=None if rate is None else rate / ways,
    )
