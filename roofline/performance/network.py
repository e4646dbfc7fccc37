"""What a step sends between devices: all-reduces, expert and context exchange, hand-over between stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.performance.context_exchange import exchange_bytes
from roofline.performance.exchange import exchange
from roofline.performance.ledger import ACTIVATION_BYTES, Load, own_positions
from roofline.performance.machine import Machine, Rates
from roofline.performance.reduction import link_bytes_per_s, n_nodes, reduction
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.units import Floats

EXPERT_EXCHANGE = "network/expert_exchange"


@dataclass(frozen=True)
class NetworkTime:
    """Times of one kind of collective in a step."""

    name: str
    count: float
    network_bytes: Floats
    """Sent by one device, one direction."""
    limit_s: Floats
    transfer_s: Floats
    latency_s: Floats
    units_frac: Floats = 0.0
    """Share of the transfer for which it holds up work beside it."""


def collectives(structure: Structure, load: Load, shard: Shard, formats: Rates, machine: Machine) -> tuple[NetworkTime, ...]:
    """What a step sends: all-reduces of the tensor group, expert and context exchange, hand-over between stages."""
    if np.all(np.asarray(shard.devices_used) == 1.0):
        return ()
    stream = structure.stream_size * ACTIVATION_BYTES
    own = own_positions(load, shard)
    payload = own.n_tokens * shard.tokens_factor * stream
    exchanges = shard.exchanges
    replicated = 1.0 - shard.attention_data
    reductions = (
        structure.mixer_reductions * replicated + structure.dense_reductions + structure.expert_reductions * (1.0 - exchanges)
    )
    found = [_all_reduce(payload, reductions, shard, machine)]
    if structure.routing is not None:
        found.append(_expert_exchange(structure, own, shard, machine))
    if shard.context > 1.0:
        found.append(_context_exchange(structure, load, shard, formats, machine))
    found.append(_hand_over(payload, shard, machine))
    return tuple(found)


def _all_reduce(payload: Floats, reductions: Floats, shard: Shard, machine: Machine) -> NetworkTime:
    ways = shard.tensor
    one = reduction(payload, ways, machine)
    split = np.where(np.asarray(ways) > 1.0, 1.0, 0.0)
    return NetworkTime(
        name="network/all_reduce",
        count=float(np.max(np.asarray(reductions * split))),
        network_bytes=reductions * one.sent_bytes,
        limit_s=reductions * one.limit_s,
        transfer_s=reductions * one.transfer_s,
        latency_s=reductions * split * one.latency_s,
    )


def _expert_exchange(structure: Structure, load: Load, shard: Shard, machine: Machine) -> NetworkTime:
    """Dispatch and combine of routed tokens, in every layer of experts."""
    one = exchange(structure, load, shard, machine)
    layers = shard.exchanges * structure.expert_reductions
    return NetworkTime(
        name=EXPERT_EXCHANGE,
        count=float(structure.expert_reductions) if np.any(np.asarray(shard.exchanges) > 0) else 0.0,
        network_bytes=layers * one.sent_bytes,
        limit_s=layers * one.limit_s,
        transfer_s=layers * one.transfer_s,
        latency_s=layers * one.latency_s,
        units_frac=one.units_frac,
    )


def _context_exchange(structure: Structure, load: Load, shard: Shard, formats: Rates, machine: Machine) -> NetworkTime:
    """Keys and values passed round, or queries out and partial results back: the fewer bytes."""
    ways, engine = shard.tensor * shard.context, machine.engine
    sent = exchange_bytes(structure, load, shard, formats)
    link = link_bytes_per_s(ways, machine)
    layers = sum(term.count for term in structure.attends if term.attend.kind not in ("cross", "index"))
    return NetworkTime(
        name="network/context_exchange",
        count=float(layers),
        network_bytes=sent,
        limit_s=sent / link,
        transfer_s=sent / (link * engine.link_frac.value),
        latency_s=layers * 2.0 * engine.link_latency_s.value * (1.0 + np.log2(n_nodes(ways, machine))),
    )


def _hand_over(payload: Floats, shard: Shard, machine: Machine) -> NetworkTime:
    hops = shard.pipeline - 1.0
    link = link_bytes_per_s(shard.tensor * shard.context * shard.pipeline, machine)
    sent = hops * payload / shard.tensor
    return NetworkTime(
        name="network/hand_over",
        count=float(np.max(np.asarray(hops))),
        network_bytes=sent,
        limit_s=sent / link,
        transfer_s=sent / (link * machine.engine.link_frac.value),
        latency_s=0.0 * hops,
    )
