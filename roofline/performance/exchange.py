"""Tokens on their way to experts and back: the least any way sends, and what the kernels of engines are expected to take.

Inside a node every device is one hop away. Beyond it, up to `GRAPH_TOKENS` tokens a device go straight to each expert chosen,
in kernels that a captured graph can hold; more of them go once to each node and are handed on inside it, which sends less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.formulas.collectives import expert_exchange_bytes
from roofline.formulas.exchange import visited_nodes
from roofline.performance.imbalance import load_ratio
from roofline.performance.ledger import Load
from roofline.performance.machine import Machine
from roofline.performance.reduction import link_bytes_per_s, n_nodes
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.specs.model import Routing
from roofline.units import Floats

DISPATCH_BYTES, COMBINE_BYTES = 1.0, 2.0
"""Of an element: tokens leave in 8 bit and come back in 16."""
GRAPH_TOKENS = 256.0
"""Most tokens a device sends straight to every expert: what the buffers of such kernels are recommended for (DeepEP, 2025)."""


@dataclass(frozen=True)
class Exchange:
    """Dispatch and combine of one layer, for one device."""

    sent_bytes: Floats
    """By any way at least."""
    limit_s: Floats
    transfer_s: Floats
    latency_s: Floats
    units_frac: Floats
    """Share of the transfer for which it holds up the work that hides it."""


def exchange(structure: Structure, load: Load, shard: Shard, machine: Machine) -> Exchange:
    """One layer's dispatch and combine.

    Inside a node the device with most visits receives as much more than the mean, and all wait for it.
    """
    routing, engine = structure.routing, machine.engine
    if routing is None:
        raise AssertionError("only for models with experts")
    ways = shard.expert_ways
    nodes = n_nodes(ways, machine)
    tokens = load.n_tokens * shard.tokens_factor / shard.tensor
    link = link_bytes_per_s(ways, machine)
    places = np.where(nodes > 1.0, nodes, ways)
    # a token needs to reach a device, or a node, no more than once, whatever the routing
    sent = _sent(structure, tokens, _copies(routing, places))
    fullest = 1.0 if shard.expert_skew == 1.0 else load_ratio(routing, shard)
    share = np.where(nodes > 1.0, engine.exchange_frac.value, engine.link_frac.value / fullest)
    taken = _kernel_bytes(structure, routing, tokens, places) / (link * share)
    handed_on = (nodes > 1.0) & (np.asarray(tokens) > GRAPH_TOKENS)
    return Exchange(
        sent_bytes=sent,
        limit_s=sent / link,
        transfer_s=sent / link if engine.is_ideal else taken,
        latency_s=2.0 * engine.exchange_latency_s.value,
        units_frac=np.where(handed_on, engine.exchange_units_frac.value, 0.0),
    )


def _copies(routing: Routing, places: Floats) -> Floats:
    """Other devices, or nodes, that hold an expert of a token's choice, on average."""
    visited = visited_nodes(
        n_nodes=places, n_active_experts=routing.n_active, n_groups=routing.n_groups, n_active_groups=routing.n_active_groups
    )
    return visited * (1.0 - 1.0 / places)


def _kernel_bytes(structure: Structure, routing: Routing, tokens: Floats, places: Floats) -> Floats:
    """What engines send: straight to every expert, or in large steps once to a device or node, which is not sooner."""
    straight = _sent(structure, np.minimum(tokens, GRAPH_TOKENS), routing.n_active * (1.0 - 1.0 / places))
    handed_on = _sent(structure, tokens, _copies(routing, places))
    return np.where(np.asarray(tokens) > GRAPH_TOKENS, np.maximum(straight, handed_on), straight)


def _sent(structure: Structure, tokens: Floats, copies: Floats) -> Floats:
    return expert_exchange_bytes(
        n_tokens=tokens,
        hidden_size=float(structure.model.hidden_size),
        n_copies=copies,
        dispatch_bytes_per_element=DISPATCH_BYTES,
        combine_bytes_per_element=COMBINE_BYTES,
    )
