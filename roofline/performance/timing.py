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

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.formulas.bounds import compute_s, soft_maximum_s, traffic_s
from roofline.formulas.operators import saturating_frac
from roofline.performance.ledger import Load, Op
from roofline.performance.machine import Machine, Rates
from roofline.performance.network import NetworkTime, collectives
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.specs.engine import EngineProfile
from roofline.units import Floats

MATVEC_TOKENS = 16.0
"""Tokens up to which products run as matrix times vector, straight from stored weights."""
PACKED_BYTES = 1.9
"""Weights below this many bytes each are packed."""
_TINY_S = 1e-30


@dataclass(frozen=True)
class OpTime:
    """Times of one row."""

    op: Op
    compute_limit_s: Floats
    memory_limit_s: Floats
    limit_s: Floats
    compute_s: Floats
    memory_s: Floats
    unpack_s: Floats
    expected_s: Floats
    repeats: Floats
    """Times the row is run in a step: once a stage for the ends of a model in a full pipeline."""


@dataclass(frozen=True)
class StepTime:
    """One step of the whole stack."""

    rows: tuple[OpTime, ...]
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
    rows: tuple[Op, ...],
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
    timed = tuple(_op_time(op, formats, machine, passes, 1.0 if op.in_layers else ends) for op in rows)
    network = collectives(structure, load, shard, formats, machine)
    engine = machine.engine
    n_expert_layers = float(structure.expert_reductions)
    latency = passes * (structure.n_layers * engine.layer_s.value + n_expert_layers * engine.expert_layer_s.value)
    group_sequences = load.n_sequences * shard.tokens_factor
    n_steps = passes * shard.pipeline
    host = n_steps * (engine.step_s.value + engine.sequence_s.value * group_sequences)
    host = host + (shard.pipeline - 1.0) * engine.hop_s.value
    device, compute, memory, cache, busy = _on_device(timed)
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
        limit_compute_s=compute,
        limit_memory_s=memory,
        limit_cache_s=cache,
        limit_network_s=wire,
        limit_s=np.maximum(device, wire),
        expected_s=np.maximum(device, wire) if engine.is_ideal else busy + talk + latency + host,
    )


def _beyond(network: tuple[NetworkTime, ...], device_s: Floats, wire_s: Floats) -> tuple[NetworkTime, ...]:
    """Collectives with only the time that the work of the device does not hide."""
    seen = np.maximum(wire_s - device_s, 0.0) / np.maximum(wire_s, _TINY_S)
    return tuple(replace(item, transfer_s=item.transfer_s * seen) for item in network)


def _on_device(timed: tuple[OpTime, ...]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Sums over rows: limit, its compute, memory and cache, and what is expected."""
    limit: Floats = 0.0
    cache: Floats = 0.0
    compute: Floats = 0.0
    memory: Floats = 0.0
    busy: Floats = 0.0
    for row in timed:
        limit = limit + row.limit_s
        compute = compute + row.compute_limit_s
        memory = memory + row.memory_limit_s
        if row.op.kind in ("attention", "recurrence"):
            cache = cache + row.memory_limit_s
        busy = busy + row.expected_s * row.repeats
    return limit, compute, memory, cache, busy


def _between_devices(network: tuple[NetworkTime, ...], passes: Floats) -> tuple[Floats, Floats]:
    """Sums over collectives: limit, and transfer with latency as expected."""
    wire: Floats = 0.0
    talk: Floats = 0.0
    for item in network:
        wire = wire + item.limit_s
        talk = talk + item.transfer_s + passes * item.latency_s
    return wire, talk


def peak_of(op: Op, formats: Rates) -> float:
    """Peak rate that a row runs at."""
    if op.rate == "gemm":
        return formats.gemm_flops_per_s
    return formats.wide_flops_per_s if op.rate == "wide" else formats.attention_flops_per_s


def _op_time(op: Op, formats: Rates, machine: Machine, passes: Floats, repeats: Floats) -> OpTime:
    peak, bandwidth = peak_of(op, formats), machine.bandwidth_bytes_per_s
    if machine.engine.is_ideal:
        return _ideal_time(op, peak, bandwidth, repeats)
    limit_compute = compute_s(work_flops=op.work_flops, peak_flops_per_s=peak)
    limit_memory = traffic_s(traffic_bytes=op.traffic_bytes, bandwidth_bytes_per_s=bandwidth)
    fullest = op.fullest
    fraction, share, traffic = _efficiency(fullest, formats, machine.engine, passes)
    peak = _reached_peak(fullest, formats, machine)
    busy = compute_s(work_flops=fullest.work_flops, peak_flops_per_s=peak * fraction)
    moving = traffic_s(traffic_bytes=traffic, bandwidth_bytes_per_s=bandwidth * share)
    unpacking = _unpack_s(fullest, machine, passes)
    return OpTime(
        op=op,
        compute_limit_s=limit_compute,
        memory_limit_s=limit_memory,
        limit_s=np.maximum(limit_compute, limit_memory),
        compute_s=busy,
        memory_s=moving,
        unpack_s=unpacking,
        repeats=repeats,
        expected_s=soft_maximum_s(first_s=soft_maximum_s(first_s=busy, second_s=moving), second_s=unpacking),
    )


def _ideal_time(op: Op, peak: float, bandwidth: float, repeats: Floats) -> OpTime:
    """A row whose expectation is its limit."""
    compute = compute_s(work_flops=op.work_flops, peak_flops_per_s=peak)
    memory = traffic_s(traffic_bytes=op.traffic_bytes, bandwidth_bytes_per_s=bandwidth)
    longer = np.maximum(compute, memory)
    return OpTime(op, compute, memory, longer, compute, memory, 0.0, longer, repeats)


def _reached_peak(op: Op, formats: Rates, machine: Machine) -> float:
    """The peak an engine aims at: 16 bit for attention and unpacked weights, and no more than the power limit allows."""
    peak, engine = peak_of(op, formats), machine.engine
    if op.kind in ("attention", "recurrence"):
        return min(peak, formats.wide_flops_per_s)
    if op.rate == "gemm" and engine.unpack_bytes.value > 0.0:
        peak = formats.half_flops_per_s
    cap = engine.power_flops_per_j.value * machine.power_w
    is_half = op.rate == "wide" or engine.unpack_bytes.value > 0.0 or formats.gemm_dtype in ("fp16", "bf16", "fp16_acc16")
    return min(peak, cap) if cap > 0.0 and is_half else peak


def _unpack_s(op: Op, machine: Machine, passes: Floats) -> Floats:
    """Vector work that turns stored weights into operands, once per pass."""
    engine = machine.engine
    if op.kind not in ("matrix", "experts") or not engine.unpack_operations.value:
        return 0.0
    each = engine.unpack_operations.value if is_packed(op) else engine.unpack_operations_wide.value
    return passes * 2.0 * each * op.n_weights / machine.vector_flops_per_s


def is_packed(op: Op) -> bool:
    """Whether the weights of a row are stored in fewer than 16 bits."""
    return bool(np.all(op.weight_bytes < PACKED_BYTES * op.n_weights))


def _efficiency(op: Op, formats: Rates, engine: EngineProfile, passes: Floats) -> tuple[Floats, float, Floats]:
    """Share of the peak, share of the bandwidth, and bytes that really move, for one row."""
    if op.kind in ("attention", "recurrence"):
        traffic = op.traffic_bytes + engine.score_bytes.value * op.score_pairs
        return engine.attention_compute_frac.value, engine.cache_bandwidth_frac.value, traffic
    extra = (1.0 + engine.elementwise.value) * op.activation_bytes
    tokens = op.tokens / passes
    if engine.unpack_bytes.value > 0.0 and is_packed(op):
        extra = extra + np.where(tokens > MATVEC_TOKENS, passes * engine.unpack_bytes.value * op.n_weights, 0.0)
    traffic = op.weight_bytes * passes + op.cache_bytes + extra
    gamma = compute_frac(op, formats, engine)
    if op.kind == "experts":
        full = saturating_frac(n_tokens=tokens, half_tokens=engine.expert_half_tokens.value)
        compute = gamma * engine.expert_compute_factor.value * full
        return compute, engine.bandwidth_frac.value * engine.expert_bandwidth_factor.value, traffic
    half = engine.packed_half_tokens if is_unpacked_to_half(op, formats, engine) else engine.half_tokens
    full = saturating_frac(n_tokens=tokens, half_tokens=half.value)
    gamma *= compute_factor(op, formats, engine)
    return gamma * full, engine.bandwidth_frac.value, traffic


def compute_factor(op: Op, formats: Rates, engine: EngineProfile) -> float:
    """What the share of the peak is multiplied with: for the output head, or for packed weights on 16-bit units."""
    if not op.in_layers:
        return engine.head_compute_factor.value
    return engine.packed_compute_factor.value if is_unpacked_to_half(op, formats, engine) else 1.0


def is_unpacked_to_half(op: Op, formats: Rates, engine: EngineProfile) -> bool:
    """Whether weights of fewer bits are multiplied on 16-bit units."""
    is_half = engine.compute_frac_name(formats.gemm_dtype) == "compute_frac"
    return op.in_layers and op.rate == "gemm" and is_half and is_packed(op)


def compute_frac(op: Op, formats: Rates, engine: EngineProfile) -> float:
    """Share of the peak that large products of a row reach."""
    if op.rate == "wide" or engine.unpack_bytes.value > 0.0:
        return engine.compute_frac.value
    return engine.compute_frac_of(formats.gemm_dtype).value
