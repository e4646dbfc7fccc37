"""Time of one step: the roofline limit, and what is expected of an engine.

The limit of a step is ``max(sum over rows of max(FLOPs / peak, bytes / bandwidth), network bytes / link)``: no efficiency
factor, network wholly hidden. The expectation keeps the rows and adds what software costs:

    matrix row   smax( F / (gamma P m / (m + m0)),  (Q + (1 + e) A + U) / (beta W),  2 iota N / P32 )
    attention    smax( F / (0.5 P16),               (Q + S) / (kappa beta W) )
    collectives  alpha (1 + log2(nodes)) + 2 (p - 1) / p V / (nu W_link), twice a layer; beyond a node see `reduction`
    exchanges    alpha_E + V (1 - 1 / nodes) / (nu_E W_link), dispatch and combine in each layer of experts; see `exchange`
    fixed        L tau_L + L_E tau_E + stages (tau_S + tau_q n_sequences) + (stages - 1) hop

with smax the p = 2 norm, F FLOPs, Q compulsory bytes, A activation bytes, V the payload of a collective; U and S are bytes of
unpacked weights and of scores where an engine keeps them in memory, N weights unpacked on the vector units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from roofline.formulas.bounds import compute_s, soft_maximum_s, traffic_s
from roofline.formulas.operators import saturating_frac
from roofline.performance.ledger import Load, Ops, over_rows
from roofline.performance.machine import Machine, Rates
from roofline.performance.network import NetworkTime, collectives
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.specs.engine import EngineProfile
from roofline.units import Floats

MATVEC_TOKENS = 16.0
"""Tokens up to which products run as matrix times vector, straight from stored weights."""
_TINY_S = 1e-30


@dataclass(frozen=True)
class OpTimes:
    """Times of rows of one kind, stacked as the rows are."""

    ops: Ops
    compute_limit_s: Floats
    memory_limit_s: Floats
    limit_s: Floats
    compute_s: Floats
    memory_s: Floats
    unpack_s: Floats
    expected_s: Floats
    repeats: Floats
    """Times a row is run in a step: once a stage for the ends of a model in a full pipeline."""

    @cached_property
    def busy_s(self) -> Floats:
        """As expected, in the whole step."""
        return self.expected_s * self.repeats


def summed(rows: tuple[OpTimes, ...], number: Callable[[OpTimes], Floats]) -> Floats:
    """A number of rows, summed over all of them."""
    return sum((over_rows(number(row)) for row in rows), 0.0)


@dataclass(frozen=True)
class StepTime:
    """One step of the whole stack."""

    rows: tuple[OpTimes, ...]
    network: tuple[NetworkTime, ...]
    passes: Floats
    """Times all layers are launched."""
    n_steps: Floats
    """Times the host schedules: a pass of a stage."""
    n_sequence_steps: Floats
    """Sequences the host looks after, summed over those."""
    layer_latency_s: Floats
    host_s: Floats
    limit_compute_s: Floats
    limit_memory_s: Floats
    limit_cache_s: Floats
    """Of the memory time, what caches and states take: prompts can ride on steps that read weights anyway."""
    limit_network_s: Floats
    limit_s: Floats
    expected_s: Floats
    parts: tuple[StepTime, ...] = ()
    """Steps of the machines that share the model, where there are several; the numbers above are then sums."""
    on_host: bool = False
    """Whether host memory sets the pace of this part."""


def step_time(
    rows: tuple[Ops, ...],
    structure: Structure,
    load: Load,
    shard: Shard,
    formats: Rates,
    machine: Machine,
    passes: Floats = 1.0,
    cycle: bool | NDArray[np.bool_] = False,
) -> StepTime:
    """Limit and expectation of a step; ``passes`` is how many chunks an engine cuts it into, rereading weights in each.

    In a ``cycle`` every stage of a pipeline has a micro-batch of its own: the last stage runs the ends of the model for
    each of them in turn, and what one micro-batch takes there holds all of them up.
    """
    ends = np.where(cycle, shard.pipeline, 1.0) if isinstance(cycle, np.ndarray) else shard.pipeline if cycle else 1.0
    timed = tuple(_op_times(ops, formats, machine, passes, ends) for ops in rows)
    network = collectives(structure, load, shard, formats, machine)
    engine = machine.engine
    n_expert_layers = float(structure.expert_reductions)
    latency = passes * (structure.n_layers * engine.layer_s.value + n_expert_layers * engine.expert_layer_s.value)
    group_sequences = load.n_sequences * shard.tokens_factor
    n_steps = passes * shard.pipeline
    host = n_steps * (engine.step_s.value + engine.sequence_s.value * group_sequences)
    host = host + (shard.pipeline - 1.0) * engine.hop_s.value
    device, busy = summed(timed, lambda row: row.limit_s), summed(timed, lambda row: row.busy_s)
    held = tuple(row for row in timed if row.ops.kind in ("attention", "recurrence"))
    wire, talk = _between_devices(network, passes)
    if engine.is_ideal:
        network = _beyond(network, device, wire)
    return StepTime(
        rows=timed,
        network=network,
        passes=passes,
        n_steps=n_steps,
        n_sequence_steps=n_steps * group_sequences,
        layer_latency_s=latency,
        host_s=host,
        limit_compute_s=summed(timed, lambda row: row.compute_limit_s),
        limit_memory_s=summed(timed, lambda row: row.memory_limit_s),
        limit_cache_s=summed(held, lambda row: row.memory_limit_s),
        limit_network_s=wire,
        limit_s=np.maximum(device, wire),
        expected_s=np.maximum(device, wire) if engine.is_ideal else busy + talk + latency + host,
    )


def _beyond(network: tuple[NetworkTime, ...], device_s: Floats, wire_s: Floats) -> tuple[NetworkTime, ...]:
    """Collectives with only the time that the work of the device does not hide."""
    seen = np.maximum(wire_s - device_s, 0.0) / np.maximum(wire_s, _TINY_S)
    return tuple(replace(item, transfer_s=item.transfer_s * seen) for item in network)


def _between_devices(network: tuple[NetworkTime, ...], passes: Floats) -> tuple[Floats, Floats]:
    """Sums over collectives: limit, and transfer with latency as expected."""
    wire: Floats = 0.0
    talk: Floats = 0.0
    for item in network:
        wire = wire + item.limit_s
        talk = talk + item.transfer_s + passes * item.latency_s
    return wire, talk


def _op_times(ops: Ops, formats: Rates, machine: Machine, passes: Floats, ends: Floats) -> OpTimes:
    """Times of rows; the ``ends`` of a model are run so many times."""
    peak, bandwidth = _peak(ops, formats), machine.bandwidth_bytes_per_s
    repeats = np.where(ops.in_layers, 1.0, ends)
    limit_compute = compute_s(work_flops=ops.work_flops, peak_flops_per_s=peak)
    limit_memory = traffic_s(traffic_bytes=ops.traffic_bytes, bandwidth_bytes_per_s=bandwidth)
    limit = np.maximum(limit_compute, limit_memory)
    if machine.engine.is_ideal:
        return OpTimes(ops, limit_compute, limit_memory, limit, limit_compute, limit_memory, 0.0, limit, repeats)
    fullest = ops.fullest
    if ops.kind in ("attention", "recurrence"):
        reached, moving = _cache_times(fullest, formats, machine)
    else:
        reached, moving = _matrix_times(fullest, formats, machine, passes)
    busy = compute_s(work_flops=fullest.work_flops, peak_flops_per_s=reached)
    unpacking = _unpack_s(fullest, machine, passes)
    return OpTimes(
        ops=ops,
        compute_limit_s=limit_compute,
        memory_limit_s=limit_memory,
        limit_s=limit,
        compute_s=busy,
        memory_s=moving,
        unpack_s=unpacking,
        repeats=repeats,
        expected_s=soft_maximum_s(first_s=soft_maximum_s(first_s=busy, second_s=moving), second_s=unpacking),
    )


def _peak(ops: Ops, formats: Rates) -> Floats:
    """Peak rate that rows run at."""
    if ops.kind in ("attention", "recurrence"):
        return formats.attention_flops_per_s
    return np.where(ops.wide, formats.wide_flops_per_s, formats.gemm_flops_per_s)


def _cache_times(ops: Ops, formats: Rates, machine: Machine) -> tuple[Floats, Floats]:
    """Rate that attention reaches, at 16 bit at most, and the time in which its bytes move."""
    engine, peak = machine.engine, min(formats.attention_flops_per_s, formats.wide_flops_per_s)
    traffic = ops.traffic_bytes + engine.score_bytes.value * ops.score_pairs
    reached_bytes_per_s = machine.bandwidth_bytes_per_s * engine.cache_bandwidth_frac.value
    moving = traffic_s(traffic_bytes=traffic, bandwidth_bytes_per_s=reached_bytes_per_s)
    return peak * engine.attention_compute_frac.value, moving


def _matrix_times(ops: Ops, formats: Rates, machine: Machine, passes: Floats) -> tuple[Floats, Floats]:
    """Rate that products reach, and the time in which their bytes move."""
    engine, tokens = machine.engine, ops.tokens / passes
    on_half = ops.packed & _runs_narrow_on_half(formats, engine) & ops.in_layers & np.logical_not(ops.wide)
    peak = np.where(ops.wide, _reached_peak("wide", formats, machine), _reached_peak("gemm", formats, machine))
    extra = (1.0 + engine.elementwise.value) * ops.activation_bytes
    if engine.unpack_bytes.value > 0.0 and np.any(ops.packed):
        spread = passes * engine.unpack_bytes.value * ops.n_weights
        extra = extra + np.where(ops.packed & (tokens > MATVEC_TOKENS), spread, 0.0)
    traffic = ops.weight_bytes * passes + ops.cache_bytes + extra
    bandwidth = machine.bandwidth_bytes_per_s * engine.bandwidth_frac.value
    half: Floats
    if ops.kind == "experts":
        peak, half = peak * engine.expert_compute_factor.value, engine.expert_half_tokens.value
        bandwidth *= engine.expert_bandwidth_factor.value
    else:
        in_layers = np.where(on_half, engine.packed_compute_factor.value, 1.0)
        peak = peak * np.where(ops.in_layers, in_layers, engine.head_compute_factor.value)
        half = np.where(on_half, engine.packed_half_tokens.value, engine.half_tokens.value)
    reached = peak * saturating_frac(n_tokens=tokens, half_tokens=half)
    return reached, traffic_s(traffic_bytes=traffic, bandwidth_bytes_per_s=bandwidth)


def _runs_narrow_on_half(formats: Rates, engine: EngineProfile) -> bool:
    """Whether weights of fewer bits are multiplied on 16-bit units."""
    return engine.compute_frac_name(formats.gemm_dtype) == "compute_frac"


def _reached_peak(rate: Literal["wide", "gemm"], formats: Rates, machine: Machine) -> float:
    """What large products reach of a peak: unpacked weights that of 16 bit, and no more than the power limit allows."""
    engine, unpacks = machine.engine, machine.engine.unpack_bytes.value > 0.0
    is_half = rate == "wide" or unpacks or formats.gemm_dtype in ("fp16", "bf16", "fp16_acc16")
    frac = engine.compute_frac if rate == "wide" or unpacks else engine.compute_frac_of(formats.gemm_dtype)
    peak = formats.wide_flops_per_s
    if rate == "gemm":
        peak = formats.half_flops_per_s if unpacks else formats.gemm_flops_per_s
    cap = engine.power_flops_per_j.value * machine.power_w
    return frac.value * (min(peak, cap) if cap > 0.0 and is_half else peak)


def _unpack_s(ops: Ops, machine: Machine, passes: Floats) -> Floats:
    """Vector work that turns stored weights into operands, once per pass."""
    engine = machine.engine
    if ops.kind not in ("matrix", "experts") or not engine.unpack_operations.value:
        return 0.0
    each = np.where(ops.packed, engine.unpack_operations.value, engine.unpack_operations_wide.value)
    return passes * 2.0 * each * ops.n_weights / machine.vector_flops_per_s
