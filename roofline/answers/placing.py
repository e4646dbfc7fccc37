"""Answers of machines in series: the fastest offload that fits, the plan, and what each memory holds."""

from __future__ import annotations

import numpy as np

from roofline.answers.report import MemoryTier, Plan
from roofline.answers.resolve import Resolved, resolve
from roofline.errors import InputError
from roofline.language import tr
from roofline.performance.memory import Footprint, footprints, held_sequences
from roofline.performance.offload import WHOLE
from roofline.performance.planning import Workload, choose
from roofline.performance.serving import service
from roofline.specs.offload import parsed_offload
from roofline.specs.scenario import Scenario
from roofline.units import significant

CHOICES = ("none", "experts:0.25", "experts:0.5", "experts:0.75", "experts", "layers", "cache")
"""Offloads that ``auto`` chooses from."""


def settled(scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """A scenario whose offload is chosen, with the reason: the one expected to finish its requests soonest among those that fit.

    Nothing is offloaded where all of it fits on the devices: host memory is slower.
    """
    if parsed_offload(scenario.offload).kind != "auto":
        return scenario, ()
    rates: dict[str, float] = {}
    for choice in CHOICES:
        tried = scenario.model_copy(update={"offload": choice})
        try:
            rates[choice] = requests_per_s(tried, resolve(tried))
        except InputError:
            continue
        if choice == "none" and rates[choice] > 0.0:
            break
    best = max(rates, key=lambda choice: rates[choice], default="none")
    chosen = scenario.model_copy(update={"offload": best})
    if best == "none" and rates.get("none", 0.0) > 0.0:
        return chosen, (tr("Offload chosen: none, since all of the load fits on the devices."),)
    if not rates.get(best):
        return chosen, (tr("Offload chosen: none, since the load fits with none of them."),)
    others = ", ".join(
        tr("{offload} {ratio} times", offload=name, ratio=significant(rate / rates[best]))
        for name, rate in rates.items()
        if rate and name != best
    )
    if not others:
        return chosen, (tr("Offload chosen: {best}, the fastest that fits.", best=best),)
    return chosen, (tr("Offload chosen: {best}, the fastest that fits; as fast are {others}.", best=best, others=others),)


def requests_per_s(scenario: Scenario, found: Resolved) -> float:
    """Expected rate of whole requests at the batch of a scenario, or the most that fit; zero where it does not fit."""
    prompt, output = float(scenario.input_tokens), float(scenario.output_tokens)
    one = [np.array([np.nan if v is None else float(v)]) for v in (prompt, output, scenario.batch, scenario.request_rate)]
    choice = choose(found.structure, found.request, found.formats, found.machine, Workload(*one))
    if not choice.fits[0]:
        return 0.0
    shard, batch = choice.shard.scalar(), float(choice.batch[0])
    times = service(found.structure, shard, found.formats, found.machine, batch, prompt, output)
    return batch / float(times.expected_request_s)


def series_plan(found: Resolved) -> Plan:
    """Machines in series as a plan: every device with layers is a stage."""
    parts = found.machine.segments
    used = sum(part.tier == "device" for part in parts)
    experts = found.box is not None and found.box.offload.kind == "experts"
    order = tr(", then ").join(
        tr("experts of {layers:g} layers on {place}", layers=part.structure.n_layers, place=part.pool)
        if experts and part.tier == "host"
        else tr("{layers:g} layers on {place}", layers=part.structure.n_layers, place=part.pool)
        for part in parts
        if part.structure.n_layers
    )
    return Plan(1, used, 1, 1, False, used, tr("In series: {order}.", order=order))


def memory_tiers(scenario: Scenario, found: Resolved, room: Footprint, batch: float) -> tuple[MemoryTier, ...]:
    """Every memory with what lies in it."""
    tokens, prompt = float(scenario.input_tokens + scenario.output_tokens), float(scenario.input_tokens)
    rooms = footprints(tokens, prompt, WHOLE, found.machine) or ((found.accelerator.name, "device", room),)
    return tuple(_tier(name, tier, each, batch) for name, tier, each in rooms)


def _tier(name: str, tier: str, room: Footprint, batch: float) -> MemoryTier:
    held = float(held_sequences(batch, room.sequences_per_device))
    weights, cache = float(room.weights_bytes), held * float(room.cache_bytes_per_sequence)
    if tier == "disk":
        return MemoryTier(name, tier, weights, None, weights, 0.0)
    rest = float(room.activation_bytes + room.overhead_bytes) + held * float(room.activation_bytes_per_sequence)
    return MemoryTier(name, tier, weights + cache + rest, float(room.usable_bytes), weights, cache)
