"""All-reduces over the links a group spans: the least that any way takes, and what the best common way is expected to take.

Inside a node a collective waits once, however many devices take part, and sends what a ring sends: that is how measured engines
behave, in-switch addition or not. Beyond the widest direct link each device takes its share of the payload to the other nodes,
round a ring or over two trees, whichever is sooner for the payload.
"""

from __future__ import annotations

import numpy as np

from roofline.formulas.collectives import all_reduce_ring_s, all_reduce_switch_s
from roofline.formulas.hierarchy import all_reduce_double_tree_s, all_reduce_two_level_s
from roofline.performance.machine import Machine, Tier
from roofline.units import Floats


def link_bytes_per_s(ways: Floats, machine: Machine) -> Floats:
    """Rate of the nearest link that reaches a group of this many devices: in a mesh, as many pairs as there are peers."""
    group = np.asarray(ways)
    rate: Floats = machine.tiers[-1].bytes_per_s
    for tier in reversed(machine.tiers[:-1]):
        mesh = np.minimum(tier.bytes_per_s, tier.pair_bytes_per_s * np.maximum(group - 1.0, 1.0))
        rate = np.where(group <= tier.n_devices, mesh, rate)
    return rate


def n_nodes(ways: Floats, machine: Machine) -> Floats:
    """Groups of directly linked devices that a group spans."""
    return np.maximum(1.0, np.ceil(ways / machine.tiers[0].n_devices))


def sent_bytes(payload: Floats, ways: Floats, machine: Machine) -> Floats:
    """Bytes one device sends at least, over all its links: its payload once where a switch adds up, else as in a ring.

    Two levels send as much in all as one ring.
    """
    least = all_reduce_ring_s(payload_bytes=payload, n_devices=ways, link_bytes_per_s=1.0, latency_s=0.0)
    nearest = machine.tiers[0]
    if not nearest.adds_in_switch:
        return least
    added = all_reduce_switch_s(payload_bytes=payload, link_bytes_per_s=1.0, latency_s=0.0)
    return np.where(np.asarray(ways) <= nearest.n_devices, np.minimum(least, added), least)


def reduction_limit_s(payload: Floats, ways: Floats, machine: Machine) -> Floats:
    """Least time over ways of doing it: one ring, two levels split at any link, or added up in a switch."""
    best = sent_bytes(payload, ways, machine) / link_bytes_per_s(ways, machine)
    for tier in machine.tiers[:-1]:
        if np.any(np.asarray(ways) > tier.n_devices):
            best = np.minimum(best, _two_level_limit_s(payload, ways, tier, machine))
    return best


def _two_level_limit_s(payload: Floats, ways: Floats, tier: Tier, machine: Machine) -> Floats:
    nodes = np.maximum(1.0, np.ceil(ways / tier.n_devices))
    inside = link_bytes_per_s(ways / nodes, machine)
    # a switch that adds up spares up to half of what a ring sends inside
    spared = 2.0 if tier.adds_in_switch else 1.0
    return all_reduce_two_level_s(
        payload_bytes=payload,
        n_inside=ways / nodes,
        n_nodes=nodes,
        inside_bytes_per_s=inside * spared,
        between_bytes_per_s=link_bytes_per_s(ways, machine),
    )


def reduction_s(payload: Floats, ways: Floats, machine: Machine) -> tuple[Floats, Floats]:
    """Transfer and waiting as expected, one all-reduce of a group."""
    share, alpha = machine.engine.link_frac.value, machine.engine.link_latency_s.value
    rate = link_bytes_per_s(ways, machine)
    flat = all_reduce_ring_s(payload_bytes=payload, n_devices=ways, link_bytes_per_s=rate, latency_s=0.0) / share
    waits = alpha * (1.0 + np.log2(n_nodes(ways, machine)))
    if len(machine.tiers) < 2 or not np.any(np.asarray(ways) > machine.tiers[-2].n_devices):
        return flat, waits
    nodes = np.maximum(1.0, np.ceil(ways / machine.tiers[-2].n_devices))
    group = ways / nodes
    inner = link_bytes_per_s(group, machine)
    inside = all_reduce_ring_s(payload_bytes=payload, n_devices=group, link_bytes_per_s=inner * share, latency_s=0.0)
    # the latency of a link is that of a message and its answer, the latency of the formulas one way
    link = {"n_devices": nodes, "link_bytes_per_s": rate * share}
    ring = all_reduce_ring_s(payload_bytes=payload / group, latency_s=alpha / 2.0, **link)
    tree = all_reduce_double_tree_s(payload_bytes=payload / group, latency_s=alpha / 2.0, **link)
    rounds = np.where(ring <= tree, nodes - 1.0, np.log2(nodes))
    beyond = nodes > 1.0
    transfer = np.where(beyond, inside + np.minimum(ring, tree) - alpha * rounds, flat)
    return transfer, np.where(beyond, alpha * (1.0 + rounds), waits)
