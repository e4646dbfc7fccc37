"""What fits: weights, cache, activations and overhead of one device against its usable memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.formulas.memory import paged_tokens
from roofline.performance.ledger import ACTIVATION_BYTES, cache_bytes_per_sequence, state_bytes_per_sequence
from roofline.performance.machine import Machine, Rates, Segment
from roofline.performance.parts import together
from roofline.performance.sharding import Shard
from roofline.performance.shortcuts import Draft
from roofline.performance.structure import Structure
from roofline.performance.structure import structure as structure_of
from roofline.specs.engine import EngineProfile
from roofline.specs.model import ModelSpec
from roofline.units import Floats

_LIVE_BUFFERS = 6.0
"""Activation tensors of stream width alive at once in a fused forward pass: input, residual, q/k/v, output, gate, up."""
_LOGIT_BYTES = 4.0


@dataclass(frozen=True)
class Footprint:
    """Bytes on one device, but for the batch; ``max_batch`` is what the rest has room for."""

    weights_bytes: Floats
    cache_bytes_per_sequence: Floats
    """As the engine reserves it."""
    least_cache_bytes_per_sequence: Floats
    """As the mathematics needs it."""
    activation_bytes: Floats
    activation_bytes_per_sequence: Floats
    overhead_bytes: Floats
    usable_bytes: Floats
    sequences_per_device: Floats
    """Sequences of the whole system that one device keeps the cache of, per sequence of the system."""
    max_batch: Floats

    def cache_bytes(self, batch: Floats) -> Floats:
        """Cache of a device when ``batch`` sequences are spread over the system."""
        return held_sequences(batch, self.sequences_per_device) * self.cache_bytes_per_sequence


def held_sequences(batch: Floats, share: Floats) -> Floats:
    """Sequences on the fullest device: whole ones."""
    return np.ceil(np.round(np.asarray(batch) * share, 9))


def footprint(
    structure: Structure, n_tokens: Floats, prompt_tokens: Floats, shard: Shard, formats: Rates, machine: Machine
) -> Footprint:
    """Bytes of one device when each sequence may grow to ``n_tokens``; of the fullest where machines differ."""
    if machine.segments:
        return _fullest_device(footprints(n_tokens, prompt_tokens, shard, machine))
    engine, per_element = machine.engine, formats.cache_bytes_per_element
    shortcuts = structure.shortcuts
    beside, draft_least, draft_cache = _draft_bytes(shortcuts.draft, n_tokens, shard, per_element, engine)
    weights = weight_bytes_per_device(structure, shard) + beside
    stage = widest_stage_frac(structure, shard)
    least = cache_bytes_per_sequence(structure, n_tokens, shard, per_element) * stage + draft_least
    cache = reserved_bytes_per_sequence(structure, n_tokens, shard, per_element, engine) * stage + draft_cache
    in_flight = np.minimum(prompt_tokens / shard.context, engine.prefill_chunk_tokens.value)
    per_token = structure.stream_size * ACTIVATION_BYTES * _LIVE_BUFFERS
    logits = shortcuts.n_logits * structure.model.vocabulary * _LOGIT_BYTES / shard.tensor
    per_sequence = shortcuts.new_tokens_per_step * per_token + logits
    overhead = engine.memory_overhead_bytes.value + engine.memory_reserve_frac.value * machine.usable_bytes
    usable = machine.usable_bytes
    room = usable - weights - overhead - in_flight * per_token
    per_device = room / (cache + per_sequence)
    share = 1.0 / shard.groups
    return Footprint(
        weights_bytes=weights,
        cache_bytes_per_sequence=cache,
        least_cache_bytes_per_sequence=least,
        activation_bytes=in_flight * per_token,
        activation_bytes_per_sequence=per_sequence,
        overhead_bytes=overhead,
        usable_bytes=usable,
        sequences_per_device=share,
        max_batch=np.maximum(0.0, np.floor(per_device)) * shard.groups,
    )


def _draft_bytes(
    draft: Draft | None, n_tokens: Floats, shard: Shard, per_element: float, engine: EngineProfile
) -> tuple[Floats, Floats, Floats]:
    """Weights of a draft on the fullest device, and the cache it needs and reserves there for each sequence."""
    if draft is None or draft.structure is None or draft.held is None:
        return 0.0, 0.0, 0.0
    stage = widest_stage_frac(draft.structure, shard)
    return (
        weight_bytes_per_device(draft.held, shard),
        cache_bytes_per_sequence(draft.structure, n_tokens, shard, per_element) * stage,
        reserved_bytes_per_sequence(draft.structure, n_tokens, shard, per_element, engine) * stage,
    )


def widest_stage_frac(structure: Structure, shard: Shard) -> Floats:
    """Share of the layers that the widest stage of a pipeline holds."""
    stages, n = np.asarray(shard.pipeline), max(structure.n_layers, 1.0)
    return np.where(stages > 1, np.ceil(n / stages) / n, 1.0)


def footprints(n_tokens: Floats, prompt_tokens: Floats, shard: Shard, machine: Machine) -> tuple[tuple[str, str, Footprint], ...]:
    """Every memory that holds part of a model: its name, its tier and its bytes."""
    pools: dict[str, list[Segment]] = {}
    for segment in machine.segments:
        pools.setdefault(segment.pool, []).append(segment)
    found: list[tuple[str, str, Footprint]] = []
    for name, parts in pools.items():
        first, held = parts[0], together(tuple(part.structure for part in parts))
        if found:
            held = replace(held, shortcuts=replace(held.shortcuts, draft=None))  # a draft lies in the first memory
        room = footprint(held, n_tokens, prompt_tokens, shard, first.formats, first.machine)
        found.append((name, first.tier, room))
    return tuple(found)


def _fullest_device(rooms: tuple[tuple[str, str, Footprint], ...]) -> Footprint:
    """The device with the least room, and the most sequences that every memory has room for."""
    least = min((room.max_batch for _, _, room in rooms), key=lambda most: float(np.min(most)))
    device = min((room for _, tier, room in rooms if tier == "device"), key=lambda room: float(np.min(room.max_batch)))
    return replace(device, max_batch=least)


def reserved_bytes_per_sequence(
    structure: Structure, n_tokens: Floats, shard: Shard, bytes_per_element: float, engine: EngineProfile
) -> Floats:
    """Cache and state that an engine sets aside for one sequence on each device of its attention group, all layers.

    Whole pages; sliding layers keep their window and some slack; a latent is kept as it is, or expanded to every head's key
    and value by engines without absorbed kernels. State takes what it needs.
    """
    page = engine.page_tokens.value
    total: Floats = 0.0
    for term in structure.attends:
        attend = term.attend
        if not attend.cache_elements or attend.kind == "cross":
            continue
        kept = paged_tokens(n_tokens=n_tokens / shard.context, block_tokens=page)
        if attend.window is not None or attend.chunk is not None:
            reach = min(attend.window or np.inf, attend.chunk or np.inf) / shard.context + engine.window_slack_tokens.value
            kept = np.minimum(kept, paged_tokens(n_tokens=reach, block_tokens=page))
        elements, heads = float(attend.cache_elements), attend.n_kv_heads
        if attend.absorbed_key_size is not None and engine.expands_latent:
            elements, heads = float(attend.n_heads * (attend.key_size + attend.value_size)), attend.n_heads
        ways = shard.ways("kv_heads", heads)
        total = total + term.count * kept / attend.stride * elements * bytes_per_element / ways
    return total + state_bytes_per_sequence(structure, shard)


def cache_by_context(
    model: ModelSpec, n_tokens: Floats, bytes_per_element: float, engines: Sequence[EngineProfile]
) -> tuple[Floats, dict[str, Floats]]:
    """Cache and state of one undivided sequence: the least there must be, and what each engine sets aside."""
    whole, terms = Shard(1.0, 1.0, 1.0, 1.0, 0.0), structure_of(model, None)
    reserved = {e.id: reserved_bytes_per_sequence(terms, n_tokens, whole, bytes_per_element, e) for e in engines}
    return cache_bytes_per_sequence(terms, n_tokens, whole, bytes_per_element), reserved


def weight_bytes_per_device(structure: Structure, shard: Shard) -> Floats:
    """Weights on the fullest device: its share of the widest stage, and the larger end where the ends are apart."""
    layers: Floats = 0.0
    ends: list[Floats] = [0.0]
    for term in structure.matrices:
        routing = term.routing
        ways = shard.ways(term.division, term.n_kv_heads) if routing is None else shard.expert_weight_ways(routing.n_experts)
        share = term.count * term.weight_bytes / ways
        if term.in_layers:
            layers = layers + share
        else:
            ends.append(share)
    stage = widest_stage_frac(structure, shard)
    joint: Floats = sum(ends, 0.0)
    apart: Floats = 0.0
    for end in ends:
        apart = np.maximum(apart, end)
    return layers * stage + np.where(np.asarray(shard.pipeline) > 1, apart, joint) + structure.resident_bytes / shard.tensor
