"""Where the parts of a model lie: layers over devices of several kinds, and what host memory and disk hold.

Layers go where they run fastest, as many as fit; the host takes the first layers, or the routed experts, or the cache, and
what its memory cannot hold is read from disk. Decode of parts in series takes the sum of their times, which is linear in the
layers of each: filling the fastest device first is the best split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from roofline.errors import InputError
from roofline.language import tr
from roofline.performance.ledger import Load, ledger
from roofline.performance.machine import Machine, Rates, Segment
from roofline.performance.memory import Footprint, footprint
from roofline.performance.parts import (
    cache_of,
    ends_of,
    expert_layers,
    layers_of,
    nothing_of,
    routed_experts_of,
    table_of,
    together,
    weights_of,
    with_fewer_weights,
    without_cache,
    without_experts,
    without_shared_experts,
    without_table,
)
from roofline.performance.segments import host_link_bytes_per_s
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.performance.timing import step_time
from roofline.specs.engine import Constant, EngineProfile
from roofline.specs.hardware import Accelerator
from roofline.specs.offload import Offload

WHOLE = Shard(1.0, 1.0, 1.0, 1.0, 0.0)
"""No parallelism: parts follow each other."""
_BOUNDLESS_BYTES = 1e18
_MOST_SEQUENCES = 2**20


@dataclass(frozen=True)
class Seat:
    """A machine that can hold layers, with the formats it runs."""

    name: str
    machine: Machine
    formats: Rates


@dataclass(frozen=True)
class Box:
    """Devices in one box with their host, and what is left to it."""

    seats: tuple[Seat, ...]
    host: Seat | None
    offload: Offload
    disk_bytes_per_s: float | None


@dataclass(frozen=True)
class Demand:
    """The load that a placement must hold; sequences are open where the most that fit are wanted."""

    sequences: float | None
    n_tokens: float
    prompt_tokens: float
    context_tokens: float


def segments(structure: Structure, box: Box, demand: Demand) -> tuple[Segment, ...]:
    """Parts in the order in which a step passes through them.

    Raises
    ------
    InputError
        More layers on the host than there are, experts of a model without any.
    """
    body, aside = _divided(structure, box.offload)
    if box.offload.kind == "layers" and box.offload.amount is None and _holds(body, box.seats, demand):
        box = replace(box, offload=Offload("none"))
    if box.offload.kind in ("layers", "experts"):
        body = without_table(body)  # engines look input tokens up on the host when anything is left there
    given = None if box.offload.kind != "layers" else box.offload.amount
    _refuse_more_layers(structure, given)
    seats = _fastest_last(body, box.seats, demand)
    counts = _layers_on(body, seats, demand, given, box.offload.kind == "layers")
    devices = _device_segments(body, seats, counts, box.offload)
    on_host = structure.n_layers - sum(counts) if box.offload.kind == "layers" else 0.0
    if box.host is None or box.offload.kind == "none":
        found = devices
    elif box.offload.kind == "layers":
        part = together((layers_of(structure, on_host / structure.n_layers), table_of(structure)))
        found = (*_host_segment(box.host, part, devices[-1:], 0.0), *(replace(s, crossings=1.0) for s in devices))
    elif box.offload.kind == "experts":
        crossings = 2.0 * expert_layers(aside)
        found = (*devices, *_host_segment(box.host, together((aside, table_of(structure))), devices[-1:], crossings))
    else:
        found = (*devices, _cache_segment(box.host, aside, devices[-1]))
    if box.disk_bytes_per_s is None:
        return found
    rate = box.disk_bytes_per_s
    return tuple(part for segment in found for part in _spilled(segment, rate, demand, box.host is None))


def _holds(body: Structure, seats: tuple[Seat, ...], demand: Demand) -> bool:
    """Whether devices have room for everything."""
    seats = _fastest_last(body, seats, demand)
    return sum(_capacities(body, seats, demand, demand.sequences or 1.0)) >= body.n_layers


def _divided(structure: Structure, offload: Offload) -> tuple[Structure, Structure]:
    """What devices hold, and what lies aside."""
    if offload.kind == "experts":
        if structure.routing is None:
            raise InputError(
                tr(
                    "{model} has no routed experts to keep on the host: offload its layers or its cache.",
                    model=structure.model.id,
                )
            )
        share = 1.0 if offload.amount is None else offload.amount
        return without_experts(structure, share), routed_experts_of(structure, share)
    if offload.kind == "cache":
        return without_cache(structure), cache_of(structure)
    return structure, nothing_of(structure)


def _refuse_more_layers(structure: Structure, given: float | None) -> None:
    if given is not None and given > structure.n_layers:
        raise InputError(
            tr(
                "{given:g} layers are more than the {layers:g} of {model}.",
                given=given,
                layers=structure.n_layers,
                model=structure.model.id,
            )
        )


def _fastest_last(body: Structure, seats: tuple[Seat, ...], demand: Demand) -> tuple[Seat, ...]:
    """Seats by the time a layer takes on them, slowest first; the last one also runs the ends of the model."""
    if len(seats) == 1:
        return seats
    n = demand.sequences or 1.0
    load = Load(n, 1.0, demand.context_tokens, n)
    layer = layers_of(body, 1.0 / body.n_layers)

    def layer_s(seat: Seat) -> float:
        step = step_time(ledger(layer, load, (load,), WHOLE, seat.formats), layer, load, WHOLE, seat.formats, seat.machine)
        return float(step.expected_s - step.host_s)

    return tuple(sorted(seats, key=layer_s, reverse=True))


def _layers_on(body: Structure, seats: tuple[Seat, ...], demand: Demand, on_host: float | None, may_leave: bool) -> list[float]:
    """Layers of each seat: the fastest filled first; all of them, but for those the host takes."""
    n_layers = body.n_layers - (on_host or 0.0)
    if len(seats) == 1 and (on_host is not None or not may_leave):
        return [n_layers]
    one = demand.sequences or 1.0
    if demand.sequences is None and not may_leave:
        one = _most_sequences(body, seats, demand, n_layers)
    most = _capacities(body, seats, demand, one)
    if sum(most) < n_layers and (not may_leave or on_host is not None):
        usable = np.array([seat.machine.usable_bytes for seat in seats])
        return [float(n_layers * share) for share in usable / usable.sum()]
    counts: list[float] = []
    for room in reversed(most):
        counts.insert(0, min(room, n_layers - sum(counts)))
    return counts


def _most_sequences(body: Structure, seats: tuple[Seat, ...], demand: Demand, n_layers: float) -> float:
    """Sequences at which all layers just fit, by halving."""
    low, high = 1, _MOST_SEQUENCES
    while high - low > 1:
        middle = (low + high) // 2
        fits = sum(_capacities(body, seats, demand, float(middle))) >= n_layers
        low, high = (middle, high) if fits else (low, middle)
    return float(low)


def _capacities(body: Structure, seats: tuple[Seat, ...], demand: Demand, n_sequences: float) -> list[float]:
    """Whole layers that each seat has room for, the last beside the ends of the model."""
    layer, found = layers_of(body, 1.0 / body.n_layers), []
    for n, seat in enumerate(seats):
        beside = ends_of(body) if n == len(seats) - 1 else nothing_of(body)
        fixed, each = _room(beside, seat, demand), _room(layer, seat, demand)
        taken = fixed.weights_bytes + fixed.overhead_bytes + fixed.activation_bytes
        taken = taken + n_sequences * fixed.activation_bytes_per_sequence
        free = float(fixed.usable_bytes - taken)
        per_layer = float(each.weights_bytes + n_sequences * each.cache_bytes_per_sequence)
        found.append(max(0.0, float(np.floor(free / per_layer + 1e-9))))
    return found


def _room(part: Structure, seat: Seat, demand: Demand) -> Footprint:
    return footprint(part, demand.n_tokens, demand.prompt_tokens, WHOLE, seat.formats, seat.machine)


def _device_segments(body: Structure, seats: tuple[Seat, ...], counts: list[float], offload: Offload) -> tuple[Segment, ...]:
    """Parts on devices, those without layers left out but for the last, which has the ends."""
    found: list[Segment] = []
    for n, (seat, count) in enumerate(zip(seats, counts, strict=True)):
        is_last = n == len(seats) - 1
        if not count and not is_last:
            continue
        part = layers_of(body, count / body.n_layers)
        part = together((part, ends_of(body))) if is_last else part
        chain = without_shared_experts(part) if offload.kind == "experts" else part
        crossings = 1.0 if found else 0.0
        found.append(Segment(seat.name, "device", part, seat.machine, seat.formats, chain, crossings))
    return tuple(found)


def _host_segment(host: Seat, part: Structure, takes_over: tuple[Segment, ...], crossings: float) -> tuple[Segment, ...]:
    device = takes_over[0] if takes_over[0].machine.engine.streams_prompts else None
    return (Segment(host.name, "host", part, host.machine, host.formats, part, crossings, device),)


def _cache_segment(host: Seat, part: Structure, device: Segment) -> Segment:
    """Attention on the device with a cache that comes over the host link; it can be read ahead, so nothing waits for it."""
    share = device.machine.engine.host_link_frac
    machine = replace(
        device.machine,
        bandwidth_bytes_per_s=min(host_link_bytes_per_s(device.machine), host.machine.bandwidth_bytes_per_s),
        usable_bytes=host.machine.usable_bytes,
        engine=device.machine.engine.model_copy(
            update={
                "cache_bandwidth_frac": share,
                "step_s": _nothing(device.machine.engine.step_s),
                "sequence_s": _nothing(device.machine.engine.sequence_s),
                "memory_overhead_bytes": host.machine.engine.memory_overhead_bytes,
            }
        ),
    )
    return Segment(host.name, "host", part, machine, device.formats, nothing_of(part))


def _nothing(constant: Constant) -> Constant:
    """No time at all: another part of the step takes it."""
    return constant.model_copy(update={"value": 0.0, "low": 0.0})


def _spilled(segment: Segment, rate: float, demand: Demand, is_own_host: bool) -> tuple[Segment, ...]:
    """A part whose weights outgrow host memory: the rest is read from disk in every step, as far as it is touched."""
    if segment.tier != "host" and not is_own_host:
        return (segment,)
    seat = Seat(segment.pool, segment.machine, segment.formats)
    room = _room(segment.structure, seat, demand)
    n = demand.sequences or 1.0
    held = n * float(room.cache_bytes_per_sequence + room.activation_bytes_per_sequence) + float(room.activation_bytes)
    over = float(room.weights_bytes + room.overhead_bytes - room.usable_bytes) + held
    if over <= 0.0 or not float(room.weights_bytes):
        return (segment,)
    share = min(1.0, over / float(room.weights_bytes))
    kept = replace(
        segment, structure=with_fewer_weights(segment.structure, share), chain=with_fewer_weights(segment.chain, share)
    )
    part, engine = weights_of(segment.structure, share), segment.machine.engine
    whole = engine.bandwidth_frac.model_copy(update={"value": 1.0, "high": 1.0})
    machine = replace(
        segment.machine,
        bandwidth_bytes_per_s=rate,
        usable_bytes=_BOUNDLESS_BYTES,
        engine=engine.model_copy(
            update={
                "bandwidth_frac": whole,
                "expert_bandwidth_factor": whole,
                "step_s": _nothing(engine.step_s),
                "sequence_s": _nothing(engine.sequence_s),
            }
        ),
    )
    return (kept, Segment(tr("disk"), "disk", part, machine, segment.formats, part))


def host_seat(cpu: Accelerator, sockets: int, engine: EngineProfile, formats: Rates, memory_bytes: float | None) -> Seat:
    """The CPUs of a host as one machine: arithmetic adds up over sockets, bandwidth only in part.

    Weights spread over sockets are also read across the link between them: each further socket adds ``added_socket_frac`` of
    the first one's bandwidth. Scheduling is the device engine's.
    """
    spread = (1.0 + engine.added_socket_frac.value * (sockets - 1)) / sockets
    update = {
        name: _scaled(getattr(engine, name), spread) for name in ("bandwidth_frac", "cache_bandwidth_frac") if not engine.is_ideal
    }
    update |= {"step_s": _nothing(engine.step_s), "sequence_s": _nothing(engine.sequence_s)}
    machine = Machine(
        accelerator=cpu,
        engine=engine.model_copy(update=update),
        bandwidth_bytes_per_s=sockets * cpu.bandwidth_bytes_per_s,
        usable_bytes=sockets * cpu.usable_memory_bytes if memory_bytes is None else memory_bytes,
        vector_flops_per_s=sockets * cpu.peaks["fp32"].base if "fp32" in cpu.peaks else math.inf,
        power_w=math.inf,
        tiers=(),
        notes=(),
    )
    rates = replace(
        formats,
        gemm_flops_per_s=sockets * formats.gemm_flops_per_s,
        wide_flops_per_s=sockets * formats.wide_flops_per_s,
        attention_flops_per_s=sockets * formats.attention_flops_per_s,
        half_flops_per_s=sockets * formats.half_flops_per_s,
    )
    count = f"{sockets} x " if sockets > 1 else ""
    return Seat(tr("host ({cpu})", cpu=f"{count}{cpu.name}"), machine, rates)


def _scaled(constant: Constant, factor: float) -> Constant:
    return constant.model_copy(update={name: getattr(constant, name) * factor for name in ("value", "low", "high")})
