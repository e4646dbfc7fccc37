"""All-reduces over the links a group spans: the least that any way takes, and what the best common way is expected to take.

Inside a node a collective waits once, however many devices take part, and sends what a ring sends: that is how measured engines
behave, in-switch addition or not. Beyond the widest direct link each device takes its share of the payload to the other nodes,
round a ring or over two trees, whichever is sooner for the payload.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from roofline.formulas.collectives import all_reduce_ring_s, all_reduce_switch_s
from roofline.formulas.hierarchy import all_reduce_double_tree_s, all_reduce_two_level_s
from roofline.performance.machine import Machine, Tier
from roofline.units import Floats


@dataclass(frozen=True)
class Reduction:
    """Of one all-reduce."""

    sent_bytes: Floats
    """By one device at least, over all its links: as in a ring, or its payload once where a switch adds up; two levels send as
    much in all as one ring."""
    limit_s: Floats
    transfer_s: Floats
    """As expected."""
    latency_s: Floats


def link_bytes_per_s(ways: Floats, machine: Machine) -> Floats:
    """Rate of the nearest link that reaches a group of this many devices: in a mesh, as many pairs as there are peers."""
    group = np.asarray(ways)
    rate: Floats = machine.tiers[-1].bytes_per_s
    for tier in reversed(machine.tiers[:-1]):
        near: Floats = tier.bytes_per_s
        if tier.pair_bytes_per_s < tier.bytes_per_s:
            near = np.minimum(near, tier.pair_bytes_per_s * np.maximum(group - 1.0, 1.0))
        rate = np.where(group <= tier.n_devices, near, rate)
    return rate


def n_nodes(ways: Floats, machine: Machine) -> Floats:
    """Groups of directly linked devices that a group spans."""
    return np.maximum(1.0, np.ceil(ways / machine.tiers[0].n_devices))


def reduction(payload: Floats, ways: Floats, machine: Machine) -> Reduction:
    """One all-reduce of a group: the least over ring, switch and two levels, and what is expected."""
    share, alpha = machine.engine.link_frac.value, machine.engine.link_latency_s.value
    rate = link_bytes_per_s(ways, machine)
    ring = all_reduce_ring_s(payload_bytes=payload, n_devices=ways, link_bytes_per_s=1.0, latency_s=0.0)
    nearest, sent = machine.tiers[0], ring
    if nearest.adds_in_switch:
        added = all_reduce_switch_s(payload_bytes=payload, link_bytes_per_s=1.0, latency_s=0.0)
        sent = np.where(np.asarray(ways) <= nearest.n_devices, np.minimum(ring, added), ring)
    flat = Reduction(sent, sent / rate, ring / rate / share, alpha * (1.0 + np.log2(n_nodes(ways, machine))))
    most = float(np.max(np.asarray(ways)))
    passed = [tier for tier in machine.tiers[:-1] if tier.n_devices < most]
    if not passed:
        return flat
    limit = flat.limit_s
    for tier in passed:
        levels = _levels(ways, tier, machine)
        limit = np.minimum(limit, _two_level_limit_s(payload, rate, tier, levels))
    if most <= machine.tiers[-2].n_devices:
        return replace(flat, limit_s=limit)
    return replace(_over_nodes(payload, rate, machine, levels, flat), limit_s=limit)


@dataclass(frozen=True)
class _Levels:
    """A group cut along a link."""

    nodes: Floats
    inside: Floats
    """Devices of a node."""
    inside_bytes_per_s: Floats


def _levels(ways: Floats, tier: Tier, machine: Machine) -> _Levels:
    nodes = np.maximum(1.0, np.ceil(ways / tier.n_devices))
    inside = ways / nodes
    return _Levels(nodes, inside, link_bytes_per_s(inside, machine))


def _two_level_limit_s(payload: Floats, rate: Floats, tier: Tier, levels: _Levels) -> Floats:
    # a switch that adds up spares up to half of what a ring sends inside
    spared = 2.0 if tier.adds_in_switch else 1.0
    return all_reduce_two_level_s(
        payload_bytes=payload,
        n_inside=levels.inside,
        n_nodes=levels.nodes,
        inside_bytes_per_s=levels.inside_bytes_per_s * spared,
        between_bytes_per_s=rate,
    )


def _over_nodes(payload: Floats, rate: Floats, machine: Machine, levels: _Levels, flat: Reduction) -> Reduction:
    """As expected where a group is larger than the widest direct link: inside, then between, by ring or tree."""
    share, alpha = machine.engine.link_frac.value, machine.engine.link_latency_s.value
    nodes, part = levels.nodes, payload / levels.inside
    inner = levels.inside_bytes_per_s * share
    inside = all_reduce_ring_s(payload_bytes=payload, n_devices=levels.inside, link_bytes_per_s=inner, latency_s=0.0)
    # the latency of a link is that of a message and its answer, the latency of the formulas one way
    link = {"n_devices": nodes, "link_bytes_per_s": rate * share}
    ring = all_reduce_ring_s(payload_bytes=part, latency_s=alpha / 2.0, **link)
    tree = all_reduce_double_tree_s(payload_bytes=part, latency_s=alpha / 2.0, **link)
    rounds = np.where(ring <= tree, nodes - 1.0, np.log2(nodes))
    beyond = nodes > 1.0
    return replace(
        flat,
        transfer_s=np.where(beyond, inside + np.minimum(ring, tree) - alpha * rounds, flat.transfer_s),
        latency_s=np.where(beyond, alpha * (1.0 + rounds), flat.latency_s),
    )
