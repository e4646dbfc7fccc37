"""A step over machines in series: parts of a model on devices of several kinds, on the host, or read from disk.

    expected = sum of parts + hand-over
    limit    = max( longest part at the full load, sum of parts at one token of one sequence, network )

The sum is no bound at a full batch: its sequences may follow each other through the parts, each part working on others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.performance.ledger import ACTIVATION_BYTES, Load, ledger
from roofline.performance.machine import Machine, Rates, Segment
from roofline.performance.network import NetworkTime
from roofline.performance.reduction import link_bytes_per_s
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.performance.timing import OpTimes, StepTime, step_time, summed
from roofline.units import Floats

FILL_FRAC = 0.8
"""Share of a chunk's time that the next stage can hide; the rest is handed on in turn."""


def stack_step(
    structure: Structure,
    load: Load,
    parts: tuple[Load, ...],
    shard: Shard,
    formats: Rates,
    machine: Machine,
    passes: Floats = 1.0,
    cycle: bool | NDArray[np.bool_] = False,
    may_stream: bool = False,
) -> StepTime:
    """One step of the whole stack, wherever it lies: matrices see all of a load, caches belong to its ``parts``.

    ``may_stream`` lets devices take over prompts of the host.
    """
    if not machine.segments:
        return step_time(ledger(structure, load, parts, shard, formats), structure, load, shard, formats, machine, passes, cycle)
    steps = tuple(_part_time(s, load, parts, shard, passes, may_stream) for s in machine.segments)
    alone = Load(1.0, np.minimum(load.n_new, 1.0), load.n_cached, 1.0)
    chain: Floats = 0.0
    for segment in machine.segments:
        chain = chain + _time(segment, segment.chain, alone, (alone,), shard, 1.0).limit_s
    step = _joined(steps, chain, _hand_over(machine, load, passes))
    return replace(step, expected_s=step.limit_s) if machine.engine.is_ideal else step


def _time(segment: Segment, structure: Structure, load: Load, parts: tuple[Load, ...], shard: Shard, passes: Floats) -> StepTime:
    rows = ledger(structure, load, parts, shard, segment.formats)
    return step_time(rows, structure, load, shard, segment.formats, segment.machine, passes)


def _part_time(segment: Segment, load: Load, parts: tuple[Load, ...], shard: Shard, passes: Floats, may_stream: bool) -> StepTime:
    """A part where it lies; or on a device that its weights are sent to, where that is expected to be quicker."""
    own = _time(segment, segment.structure, load, parts, shard, passes)
    if segment.tier == "device":
        return own
    own = replace(own, rows=tuple(_named(row, segment.tier) for row in own.rows), on_host=True)
    if not may_stream or segment.streams_to is None:
        return own
    sent = _streamed(segment, segment.streams_to, load, parts, shard, passes)
    # loads of one call have prompts of one length, hence one way that is quicker
    quicker = sent if bool(np.all(np.asarray(sent.expected_s) < np.asarray(own.expected_s))) else own
    zero = 0.0 * own.limit_s
    return replace(
        quicker,
        limit_s=np.minimum(own.limit_s, sent.limit_s),
        limit_compute_s=zero,
        limit_memory_s=zero,
        limit_network_s=zero,
    )


def _named(row: OpTimes, tier: str) -> OpTimes:
    return replace(row, ops=replace(row.ops, names=tuple(f"{tier}/{name}" for name in row.ops.names)))


def _streamed(segment: Segment, device: Segment, load: Load, parts: tuple[Load, ...], shard: Shard, passes: Floats) -> StepTime:
    """A prompt's share of a host part, run by a device after each chunk's weights came over the host link."""
    step = _time(replace(segment, machine=device.machine, formats=device.formats), segment.structure, load, parts, shard, passes)
    rate = host_link_bytes_per_s(device.machine)
    touched = summed(step.rows, lambda row: row.ops.weight_bytes)
    limit, transfer = touched / rate, passes * touched / (rate * device.machine.engine.host_link_frac.value)
    wire = NetworkTime("network/weights", 1.0, touched, limit, transfer, 0.0)
    expected = np.maximum(step.expected_s, limit) if device.machine.engine.is_ideal else step.expected_s + transfer
    longer = np.maximum(step.limit_s, limit)
    return replace(step, network=(*step.network, wire), limit_s=longer, expected_s=expected)


def host_link_bytes_per_s(machine: Machine) -> float:
    """Rate between a device and its host."""
    link = machine.accelerator.link("host")
    return link.bandwidth.base if link is not None else machine.tiers[0].bytes_per_s


def _hand_over(machine: Machine, load: Load, passes: Floats) -> tuple[NetworkTime, ...]:
    """Activations that go from part to part, and the wait for each hand-over."""
    found = []
    for before, segment in zip(machine.segments, machine.segments[1:], strict=False):
        if not segment.crossings:
            continue
        device = segment.machine if segment.tier == "device" else machine
        engine, rate = device.engine, _rate_between(before, segment, device)
        sent = segment.crossings * load.n_tokens * segment.structure.stream_size * ACTIVATION_BYTES
        wait = segment.crossings * engine.hop_s.value
        found.append(
            NetworkTime("network/hand_over", segment.crossings, sent, sent / rate, sent / (rate * engine.link_frac.value), wait)
        )
    return tuple(found)


def _rate_between(a: Segment, b: Segment, device: Machine) -> float:
    """The link that both ends have."""
    if a.tier == b.tier == "device":
        if a.machine.accelerator.id == b.machine.accelerator.id:
            return float(link_bytes_per_s(2.0, b.machine))
        return min(host_link_bytes_per_s(a.machine), host_link_bytes_per_s(b.machine))
    return host_link_bytes_per_s(device)


def _joined(parts: tuple[StepTime, ...], chain_s: Floats, hops: tuple[NetworkTime, ...]) -> StepTime:
    """Steps of parts as one."""

    def total(name: str) -> Floats:
        return sum((getattr(part, name) for part in parts), 0.0)

    longest: Floats = chain_s
    for part in parts:
        longest = np.maximum(longest, part.limit_s)
    passes = parts[0].passes
    wire = sum((hop.limit_s for hop in hops), 0.0)
    handing = sum((hop.transfer_s + passes * hop.latency_s for hop in hops), 0.0)
    limit = np.maximum(longest, wire)
    return StepTime(
        rows=tuple(row for part in parts for row in part.rows),
        network=(*(item for part in parts for item in part.network), *hops),
        passes=passes,
        n_steps=total("n_steps"),
        n_sequence_steps=total("n_sequence_steps"),
        layer_latency_s=total("layer_latency_s"),
        host_s=total("host_s"),
        limit_compute_s=total("limit_compute_s"),
        limit_memory_s=total("limit_memory_s"),
        limit_cache_s=total("limit_cache_s"),
        limit_network_s=total("limit_network_s") + wire,
        limit_s=limit,
        expected_s=total("expected_s") + handing,
        parts=parts,
    )


def slowest_limit_s(step: StepTime) -> Floats:
    """Least time between steps when every part works on its own: that of the longest part."""
    if not step.parts:
        return step.limit_s
    longest: Floats = 0.0
    for part in step.parts:
        longest = np.maximum(longest, part.limit_s)
    return longest


def prompt_times(prefill: StepTime, n_stages: Floats, machine: Machine) -> tuple[Floats, Floats]:
    """Expected time between prompts, and of the first one.

    Chunks of a prompt follow each other through stages and through devices in series; with the host among the parts, they
    take turns.
    """
    passes = prefill.passes
    if not prefill.parts:
        return prefill.expected_s / n_stages, prefill.expected_s * pipeline_fill_frac(passes, n_stages)
    if any(segment.tier != "device" for segment in machine.segments):
        return prefill.expected_s, prefill.expected_s
    longest: Floats = 0.0
    for part in prefill.parts:
        longest = np.maximum(longest, part.expected_s)
    chained = (passes - 1.0) / passes * longest + prefill.expected_s / passes
    return longest, (1.0 - FILL_FRAC) * prefill.expected_s + FILL_FRAC * chained


def pipeline_fill_frac(n_chunks: Floats, n_stages: Floats) -> Floats:
    """Time of a prompt over stages, relative to one device that runs all of them.

    >>> float(pipeline_fill_frac(1.0, 4.0)), float(pipeline_fill_frac(4.0, 1.0))
    (1.0, 1.0)
    """
    return 1.0 - FILL_FRAC + FILL_FRAC * (n_chunks + n_stages - 1.0) / (n_chunks * n_stages)
