"""One scenario, one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from roofline.answers.assumptions import assumptions
from roofline.answers.busy import Busy, busy_decode, busy_prefill
from roofline.answers.economics import cost, device_seconds
from roofline.answers.energy import Work
from roofline.answers.operator_rows import operator_rows
from roofline.answers.placing import memory_tiers, series_plan, settled
from roofline.answers.pools import Pools, pools
from roofline.answers.pools_report import decode_scenario, plan_of, with_pools
from roofline.answers.report import Bound, Fitting, Formats, Memory, OperatorRow, Phase, Plan, Report, Share, Waiting
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.speeds import Speeds, ranked, scalar_times, speeds
from roofline.answers.waiting import waiting
from roofline.answers.wording import plan_reason, reasons, sentence, source_lines
from roofline.errors import PlanError
from roofline.formulas.bounds import (
    critical_batch_experts_tokens,
    critical_batch_tokens,
    ridge_point_flops_per_byte,
)
from roofline.performance.memory import Footprint, footprint, held_sequences, widest_stage_frac
from roofline.performance.planning import Choice, Workload, choose, room_for
from roofline.performance.prefix import compared_prefills, prompt_parts
from roofline.performance.served import served_structure
from roofline.performance.serving import Service, mean_context_tokens, service
from roofline.performance.sharding import Shard, candidates
from roofline.performance.steps import Decode, Setting, Step
from roofline.performance.structure import Structure
from roofline.performance.timing import StepTime
from roofline.performance.weights import weight_bytes
from roofline.specs.scenario import Scenario

_DEVICE_LADDER = tuple(sorted({m * 2**k for k in range(17) for m in (1, 3)}))
"""Counts of devices tried when a load does not fit."""


@dataclass(frozen=True)
class _Run:
    """A chosen plan with its times."""

    choice: Choice
    shard: Shard
    batch: float
    fits: bool
    footprint: Footprint
    service: Service
    speeds: Speeds
    compared: tuple[StepTime, ...]
    """Prefills that tell what cached tokens cost."""
    doubled: StepTime | None
    """A step at twice the batch, if that fits."""
    pools: Pools | None = None
    """Where prefill has devices of its own; the rest is then that of the others."""


def evaluate(scenario: Scenario, constants: Mapping[str, float] | None = None) -> Report:
    """What limits this load, how fast it runs, whether it fits, and what a token costs.

    ``constants`` are shares fitted on a machine of one's own, in place of the engine's: `roofline.answers.refit`.

    Raises
    ------
    RooflineError
        The scenario names something that does not exist or cannot be: one sentence says what would be right.
    """
    asked = scenario
    scenario, choice = settled(scenario)
    found = resolve(scenario, constants)
    run = _run(scenario, found)
    sustained = None if scenario.request_rate is None else sustained_requests_per_s(scenario, found)
    if run.pools is None:
        report = _report(scenario, found, run, sustained)
        return replace(report, scenario=asked, reasons=(*choice, *report.reasons)) if choice else report
    report = _report(decode_scenario(scenario, run.pools), found, run, sustained)
    return with_pools(report, scenario, found, run.pools)


@dataclass(frozen=True)
class Brief:
    """What a table of many scenarios shows of each: the same numbers as in its report."""

    scenario: Scenario
    memory: Memory
    speeds: Speeds
    bound: Bound
    """Of decode."""
    decode_load_frac: float
    """What power follows."""


def brief(scenario: Scenario, found: Resolved) -> Brief:
    """The speed and memory of one scenario, shared devices and offload settled, without its reasons and costs."""
    run = _run(scenario, found)
    load = float(_busy(scenario, found, run)["decode"].load_frac)
    return Brief(scenario, _memory(scenario, found, run), run.speeds, ranked(run.service.decode)[0].bound, load)


def _report(scenario: Scenario, found: Resolved, run: _Run, sustained: float | None) -> Report:
    times = run.speeds
    shares: dict[Phase, tuple[Share, ...]] = {"prefill": ranked(run.service.prefill), "decode": ranked(run.service.decode)}
    bounds: dict[Phase, Bound] = {phase: found_shares[0].bound for phase, found_shares in shares.items()}
    busy = _busy(scenario, found, run)
    mfu: dict[Phase, float] = {phase: float(part.mfu) for phase, part in busy.items()}
    mbu: dict[Phase, float] = {phase: float(part.mbu) for phase, part in busy.items()}
    work = Work(float(busy["prefill"].load_frac), float(busy["decode"].load_frac))
    parts = prompt_parts(float(scenario.input_tokens), run.service, run.compared)
    price = cost(scenario, found.accelerator, found.price, times, lambda at: device_seconds(scenario, at, parts), work)
    memory = _memory(scenario, found, run)
    doubled = None if run.doubled is None else float(run.doubled.expected_s)
    dense, experts = _critical_batches(found)
    filling = experts * _copies(run.shard, found) / found.structure.shortcuts.new_tokens_per_step
    plan = _plan(run, found)
    return Report(
        scenario=scenario,
        model_name=found.model.name,
        hardware_name=found.accelerator.name,
        batch=int(run.batch),
        tokens_per_step=run.service.tokens_per_step,
        context_tokens=float(mean_context_tokens(scenario.input_tokens, scenario.output_tokens)),
        plan=plan,
        formats=_formats(found),
        memory=memory,
        critical_batch_dense=dense,
        critical_batch_with_experts=experts,
        critical_batch_system=filling,
        sustained_requests_per_s=sustained,
        ridge_flops_per_byte=float(
            ridge_point_flops_per_byte(
                peak_flops_per_s=found.formats.gemm_flops_per_s,
                bandwidth_bytes_per_s=found.machine.bandwidth_bytes_per_s,
            )
        ),
        peak_flops_per_s={dtype: fact.base for dtype, fact in found.accelerator.peaks.items()},
        bandwidth_bytes_per_s=found.machine.bandwidth_bytes_per_s,
        limit=scalar_times(times.limit),
        expected=scalar_times(times.expected),
        expected_low=scalar_times(times.low),
        expected_high=scalar_times(times.high),
        waiting=_waiting(scenario, run),
        bound=bounds,
        shares=shares,
        mfu=mfu,
        mbu=mbu,
        cost=price,
        operators=_operators(found, run.service),
        sentence=sentence(found, scenario, run.batch, run.service.decode, shares["decode"], memory, doubled, filling, sustained),
        assumptions=assumptions(found, scenario),
        reasons=reasons(found, scenario, memory, price, plan, sustained),
        sources=source_lines(found),
        offload=scenario.offload,
    )


def _operators(found: Resolved, result: Service) -> tuple[OperatorRow, ...]:
    prefill, decode = (operator_rows(phase, getattr(result, phase), found.formats) for phase in get_args(Phase))
    return (*prefill, *decode)


def _run(scenario: Scenario, found: Resolved) -> _Run:
    load = workload([scenario])
    if scenario.prefill_devices is not None:
        return _pooled_run(scenario, found, load)
    choice = choose(found.structure, found.request, found.formats, found.machine, load)
    shard, wanted, fits = choice.shard.scalar(), float(choice.batch[0]), bool(choice.fits[0])
    batch = max(1.0, wanted) if np.isfinite(wanted) else 1.0
    prompt, output = float(scenario.input_tokens), float(scenario.output_tokens)
    best = choice.best.scalar() if choice.best is not None and fits else None
    room = footprint(found.structure, prompt + output, prompt, shard, found.formats, found.machine)
    beside = _beside(scenario, found, fits, batch, room)
    result = service(found.structure, shard, found.formats, found.machine, batch, prompt, output, beside=beside)
    compared, doubled = _parted(beside, result.beside)
    return _Run(
        choice=choice,
        shard=shard,
        batch=batch,
        fits=fits,
        footprint=room,
        service=result,
        speeds=speeds(result, shard, found.engine, batch, output, fits, load.request_rate[0], best),
        compared=compared,
        doubled=doubled,
    )


def _waiting(scenario: Scenario, run: _Run) -> Waiting | None:
    """The wait for a turn among prompts; devices that only prefill run no decode step to wait for."""
    if scenario.request_rate is None or not run.fits:
        return None
    shard, step_s = run.shard, float(run.speeds.expected.decode_step_s)
    if run.pools is not None:
        shard, step_s = run.pools.prefill.shard, 0.0
    found = waiting(
        run.speeds.expected, run.service.computed_tokens, shard.groups, step_s, scenario.request_rate, scenario.batching_window_s
    )
    return Waiting(*(float(value) for value in astuple(found)))


def _pooled_run(scenario: Scenario, found: Resolved, load: Workload) -> _Run:
    """Prefill on devices of its own; the footprint is that of a decode device."""
    split = pools(scenario, found, load)
    prompt, output = float(scenario.input_tokens), float(scenario.output_tokens)
    fits = bool(np.isfinite(split.speeds.expected.decode_step_s))
    room = footprint(found.structure, prompt + output, prompt, split.shard, found.formats, found.machine)
    beside = _beside(scenario, found, fits, split.batch, room)
    steps = Setting(found.structure, split.shard, found.formats, found.machine).steps(beside)
    compared, doubled = _parted(beside, steps)
    return _Run(
        choice=split.decode,
        shard=split.shard,
        batch=split.batch,
        fits=fits,
        footprint=room,
        service=split.service,
        speeds=split.speeds,
        compared=compared,
        doubled=doubled,
        pools=split,
    )


def _beside(scenario: Scenario, found: Resolved, fits: bool, batch: float, room: Footprint) -> tuple[Step, ...]:
    """Steps of other loads that a report tells of: prefills that are compared, and twice the batch if that fits."""
    compared = compared_prefills(found.structure, found.machine, float(scenario.input_tokens))
    if not fits or 2.0 * batch > float(room.max_batch):
        return compared
    context = mean_context_tokens(scenario.input_tokens, scenario.output_tokens)
    return (*compared, Decode(2.0 * batch, context, float(scenario.output_tokens)))


def _parted(asked: tuple[Step, ...], found: tuple[StepTime, ...]) -> tuple[tuple[StepTime, ...], StepTime | None]:
    """Compared prefills, and the doubled batch where it was asked for."""
    return (found[:-1], found[-1]) if isinstance(asked[-1], Decode) else (found, None)


def workload(scenarios: Sequence[Scenario]) -> Workload:
    """The loads of scenarios as arrays."""

    def column(name: str) -> NDArray[np.float64]:
        values = (getattr(s, name) for s in scenarios)
        return np.array([np.nan if v is None else float(v) for v in values])

    return Workload(column("input_tokens"), column("output_tokens"), column("batch"), column("request_rate"))


def _plan(run: _Run, found: Resolved) -> Plan:
    if found.box is not None:
        return series_plan(found)
    return plan_of(run.shard, plan_reason(run.choice, found.request))


def _formats(found: Resolved) -> Formats:
    formats = found.formats
    return Formats(
        weights=formats.weights_label,
        weights_id=formats.weights_id,
        activations=formats.activations.id,
        kv_cache=formats.kv_cache.id,
        gemm_rate=formats.gemm_dtype,
        attention_rate=formats.attention_dtype,
    )


def _memory(scenario: Scenario, found: Resolved, run: _Run) -> Memory:
    room = run.footprint
    held = float(held_sequences(run.batch, room.sequences_per_device))
    per_sequence = float(room.cache_bytes_per_sequence)
    fits = run.fits
    weights = None if fits else fitting_weights(scenario, found)
    return Memory(
        weights_bytes_per_device=float(room.weights_bytes),
        kv_cache_bytes_per_device=held * per_sequence,
        kv_cache_least_bytes_per_device=held * float(room.least_cache_bytes_per_sequence),
        activation_bytes_per_device=float(room.activation_bytes) + held * float(room.activation_bytes_per_sequence),
        overhead_bytes_per_device=float(room.overhead_bytes),
        usable_bytes_per_device=float(room.usable_bytes),
        kv_cache_bytes_per_sequence=per_sequence * float(run.shard.context / widest_stage_frac(found.structure, run.shard)),
        fits=fits,
        max_batch=int(room.max_batch),
        min_devices=None if fits or found.box else fewest_devices(scenario, found),
        fitting_weights=weights,
        fitting_pair=None if fits or weights or room.max_batch >= 1 else fitting_pair(scenario, found),
        tiers=memory_tiers(scenario, found, room, run.batch),
    )


def sustained_requests_per_s(scenario: Scenario, found: Resolved) -> float:
    """Requests a second that the best plan keeps up with when all that fit run at once; 0 where nothing fits."""
    open_load = scenario.model_copy(update={"request_rate": None, "batch": None})
    run = _run(open_load, found)
    return float(run.speeds.expected.requests_per_s) if run.fits else 0.0


def fewest_devices(scenario: Scenario, found: Resolved) -> int | None:
    """Fewest devices, on a ladder of counts, on which some legal plan carries this load; ``None`` where none of them does."""
    asked = scenario if scenario.request_rate is not None else scenario.model_copy(update={"batch": scenario.batch or 1})
    for n in _DEVICE_LADDER:
        if n > scenario.devices and _carries(asked, found.structure, n, found):
            return int(n)
    return None


def fitting_weights(scenario: Scenario, found: Resolved) -> str | None:
    """The first format of the engine's ladder in which the load fits on the same devices."""
    asked = scenario if scenario.request_rate is not None else scenario.model_copy(update={"batch": scenario.batch or 1})
    now = weight_bytes(found.model, found.formats.weights_id)
    for name in found.engine.weight_ladder:
        if weight_bytes(found.model, name) >= now:
            continue
        if found.box is not None:
            again = resolve(asked.model_copy(update={"weights": name}))
            if _carries(asked, again.structure, 1, again):
                return name
        elif _carries(asked, served_structure(scenario, found.model, name), scenario.devices, found):
            return name
    return None


def fitting_pair(scenario: Scenario, found: Resolved) -> Fitting | None:
    """The first format in which one sequence fits, with as much of the batch as it has room for."""
    one = scenario.model_copy(update={"batch": 1})
    weights = None if scenario.request_rate is not None else fitting_weights(one, found)
    if weights is None:
        return None
    return Fitting(weights, most_sequences(one.model_copy(update={"weights": weights})))


def most_sequences(scenario: Scenario) -> int:
    """Sequences that the roomiest plan holds: a part of `evaluate`, and refused where that refuses."""
    found = resolve(scenario)
    shards = candidates(found.structure, found.request)
    room = room_for(found.structure, shards, found.formats, found.machine, workload([scenario]))
    return int(np.max(np.asarray(room.max_batch)))


def carries(scenario: Scenario) -> bool:
    """Whether some plan holds the batch of a scenario, or one sequence."""
    return most_sequences(scenario) >= (scenario.batch or 1)


def _carries(scenario: Scenario, terms: Structure, devices: int, found: Resolved) -> bool:
    """Whether some plan holds a batch, or keeps up with a request rate."""
    request = replace(found.request, devices=devices)
    load = workload([scenario])
    try:
        shards = candidates(terms, request)
    except PlanError:
        return False
    room = room_for(terms, shards, found.formats, found.machine, load)
    if scenario.request_rate is None:
        return bool(np.any(np.asarray(room.max_batch) >= load.batch))
    holds_one = bool(np.any(np.asarray(room.max_batch) >= 1.0))
    return holds_one and bool(choose(terms, request, found.formats, found.machine, load).fits[0])


def _copies(shard: Shard, found: Resolved) -> float:
    """Sets of weights that batches fill apart: replicas, or sets of experts, and stages with their own micro-batches."""
    sets = shard.data if found.structure.routing is None else shard.data * shard.tensor / shard.expert_ways
    return float(sets * shard.pipeline * shard.context)


def _critical_batches(found: Resolved) -> tuple[float, float]:
    bytes_per_parameter = weight_bytes(found.model, found.formats.weights_id) / found.structure.n_parameters
    dense = float(
        critical_batch_tokens(
            peak_flops_per_s=found.formats.gemm_flops_per_s,
            bandwidth_bytes_per_s=found.machine.bandwidth_bytes_per_s,
            weight_bytes_per_parameter=bytes_per_parameter,
        )
    )
    routing = found.structure.routing
    if routing is None:
        return dense, dense
    experts = critical_batch_experts_tokens(
        critical_batch_tokens=dense, n_experts=routing.n_experts, n_active_experts=routing.n_active
    )
    return dense, float(experts)


def _busy(scenario: Scenario, found: Resolved, run: _Run) -> dict[Phase, Busy]:
    """How busy the devices are in each phase: those of its own pool, where it has one."""
    shard, devices = run.shard, scenario.devices
    if run.pools is not None:
        shard, devices = run.pools.prefill.shard, run.pools.prefill.n_devices
    return {
        "prefill": busy_prefill(run.service, found, shard, devices),
        "decode": busy_decode(run.service, found, run.shard, run.batch, scenario.devices),
    }
