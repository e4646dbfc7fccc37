"""Answers in plain words: what binds, why this plan, what was assumed, where facts come from."""

from __future__ import annotations

from roofline.answers.report import Bound, Cost, Memory, Plan, Share
from roofline.answers.resolve import Resolved
from roofline.language import later, localised, tr
from roofline.performance.planning import Choice
from roofline.performance.sharding import Request
from roofline.performance.timing import StepTime
from roofline.specs.hardware import Fact
from roofline.specs.scenario import Scenario
from roofline.units import duration, memory_size, significant

_TIGHT = 0.97
_TAKES: dict[Bound, str] = {
    "compute": later("go into arithmetic"),
    "memory": later("read weights and cache"),
    "network": later("move data between devices"),
    "host": later("go into scheduling on the host"),
    "latency": later("wait for kernels to start and collectives to answer"),
}
_NOUN: dict[Bound, str] = {
    "compute": later("arithmetic"),
    "memory": later("memory bandwidth"),
    "network": later("the network"),
    "host": later("host scheduling"),
    "latency": later("latency"),
}
FACT_KINDS = {
    "datasheet": later("datasheet"),
    "measured": later("measured"),
    "derived": later("derived"),
    "estimate": later("estimate"),
    "unverified": later("unverified"),
}
"""How a fact is known, as a word."""
LINK_KINDS = {"scale-up": later("scale-up"), "scale-out": later("scale-out"), "host": later("host")}
"""Where a link leads, as a word."""


def sentence(
    found: Resolved,
    scenario: Scenario,
    batch: float,
    decode: StepTime,
    shares: tuple[Share, ...],
    memory: Memory,
    doubled_step_s: float | None,
    critical_tokens: float,
    sustained: float | None,
) -> str:
    """What binds decode, and what would change it; or what is missing where the load cannot be carried."""
    if not memory.fits:
        return not_carried(found, scenario, memory, sustained)
    step, bound, longest = float(decode.expected_s), shares[0].bound, shares[0].seconds
    noun, takes = tr(_NOUN[bound]), tr(_TAKES[bound])
    if bound == "host" and any(part.tier != "device" for part in found.machine.segments):
        noun, takes = tr("host memory"), _on_host(found)
    text = tr(
        "Decode is bound by {noun}: {longest} of {step} a step {takes}.",
        noun=noun,
        longest=duration(longest),
        step=duration(step),
        takes=takes,
    )
    if sustained is not None:
        sequences = (
            tr("One sequence decodes at a time")
            if round(batch) == 1
            else tr("{batch:,.0f} sequences decode at once", batch=batch)
        )
        held = tr(
            "{sequences}; with as many as fit, and no promise of speed, the system keeps up with about {rate} requests/s.",
            sequences=sequences,
            rate=significant(sustained),
        )
        return f"{text} {held}"
    return f"{text} {_critical(batch, critical_tokens)}; {_doubling(step, doubled_step_s)}"


def _critical(batch: float, critical_tokens: float) -> str:
    """Where the batch stands against the critical one, as a clause."""
    tokens = significant(critical_tokens)
    if batch >= critical_tokens:
        return tr("Under this plan the batch is past the critical one of about {tokens} sequences", tokens=tokens)
    return tr("Under this plan the critical batch is about {tokens} sequences", tokens=tokens)


def _doubling(step: float, doubled_step_s: float | None) -> str:
    """What twice the batch would do, as a clause."""
    if doubled_step_s is None:
        return tr("twice the batch does not fit in memory.")
    return tr(
        "doubling the batch under it adds {gain:.0%} throughput and costs {loss:.0%} of each user's speed.",
        gain=2.0 * step / doubled_step_s - 1.0,
        loss=1.0 - step / doubled_step_s,
    )


def _on_host(found: Resolved) -> str:
    """What takes the time of a step that host memory binds, as a phrase."""
    kind = found.box.offload.kind if found.box is not None else "none"
    host = next(part for part in found.machine.segments if part.tier != "device").pool
    disk = tr(", and waits for the disk") if any(part.tier == "disk" for part in found.machine.segments) else ""
    if kind == "layers":
        layers = sum(p.structure.n_layers for p in found.machine.segments if p.tier == "host")
        return tr("go into what the {host} computes: {layers:g} of the layers", host=host, layers=layers) + disk
    if kind == "experts":
        return tr("go into what the {host} computes: routed experts", host=host) + disk
    return (
        tr("go into what comes from the {host}: the cache", host=host)
        if kind == "cache"
        else tr("go into what comes from disk: weights")
    )


def not_carried(found: Resolved, scenario: Scenario, memory: Memory, sustained: float | None) -> str:
    """How much is missing, and what would do."""
    if scenario.request_rate is not None and sustained:
        text = tr(
            "Cannot keep up: {asked} requests/s are asked for and about {possible} are possible.",
            asked=significant(scenario.request_rate),
            possible=significant(sustained),
        )
    elif memory.max_batch >= 1:
        text = _too_many(scenario.batch or 1, memory.max_batch)
    else:
        name, need, room = tr("a device"), float(memory.used_bytes_per_device), float(memory.usable_bytes_per_device)
        for tier in memory.tiers if found.box is not None else ():
            if tier.usable_bytes is not None and tier.used_bytes > tier.usable_bytes:
                name, need, room = tier.name, tier.used_bytes, tier.usable_bytes
        text = tr("Does not fit: {name} needs {need} and has {room}.", name=name, need=memory_size(need), room=memory_size(room))
    remedies = []
    if memory.min_devices is not None:
        remedies.append(f"{localised(f'{memory.min_devices:,}')} x {found.accelerator.name}")
    if memory.fitting_weights is not None:
        remedies.append(tr("{format} weights", format=memory.fitting_weights))
    if memory.fitting_pair is not None:
        pair = memory.fitting_pair
        remedies.append(tr("{format} weights with batch {batch:,}", format=pair.weights, batch=pair.batch))
    return f"{text} {_either(remedies)}"


def _too_many(asked: int, most: int) -> str:
    if most == 1:
        return tr("Does not fit: {asked:,} sequences are asked for and at most 1 sequence fits at this length.", asked=asked)
    return tr(
        "Does not fit: {asked:,} sequences are asked for and at most {most:,} sequences fit at this length.",
        asked=asked,
        most=most,
    )


def _either(remedies: list[str]) -> str:
    """Ways out, one or two of them."""
    if not remedies:
        return tr("Try a smaller load, or a device with more memory.")
    remedy = remedies[0] if len(remedies) == 1 else tr("{one} or {other}", one=remedies[0], other=remedies[1])
    return tr("{remedy} would do.", remedy=f"{remedy[0].upper()}{remedy[1:]}")


def plan_reason(choice: Choice, request: Request) -> str:
    """Why this plan."""
    if request.devices == 1:
        return tr("One device: nothing to divide.")
    if choice.n_candidates == 1:
        return tr("As asked.")
    plans, fitting = choice.n_candidates, int(choice.n_feasible[0])
    if not fitting:
        return tr("None of {plans} legal plans fits; this one comes nearest.", plans=plans)
    if fitting == 1 and request.is_manual:
        return tr("The only one of {plans} with the ways asked for plans that fits.", plans=plans)
    if fitting == 1:
        return tr("The only one of {plans} legal plans that fits.", plans=plans)
    if request.is_manual:
        return tr(
            "Soonest to finish its requests among the {fitting} of {plans} with the ways asked for plans that fit.",
            fitting=fitting,
            plans=plans,
        )
    return tr("Soonest to finish its requests among the {fitting} of {plans} legal plans that fit.", fitting=fitting, plans=plans)


def reasons(
    found: Resolved, scenario: Scenario, memory: Memory, price: Cost, plan: Plan, sustained: float | None
) -> tuple[str, ...]:
    """Why something is null, was substituted or deserves a second look."""
    lines = [*found.engine_notes, *found.formats.notes, *found.machine.notes]
    if not memory.fits:
        lines.append(not_carried(found, scenario, memory, sustained))
    elif float(memory.used_bytes_per_device) > _TIGHT * float(memory.usable_bytes_per_device):
        lines.append(tr("Memory is tight: under 3 % is left for fragmentation and longer answers; some engines would refuse."))
    if price.usd_per_device_hour is None:
        lines.append(tr("No cost: {basis}.", basis=price.basis))
    if price.energy is not None and price.joules_per_output_token is None:
        lines.append(tr("No energy: {basis}.", basis=price.energy.basis))
    lines += _plan_notes(scenario, plan)
    lines += _drafting_notes(found)
    lines += _fact_notes(found, scenario)
    return tuple(lines)


def _plan_notes(scenario: Scenario, plan: Plan) -> list[str]:
    """Where the plan does less than was asked or paid for."""
    lines = []
    if scenario.attention_data_parallel and not plan.attention_data_parallel:
        lines.append(tr("Data-parallel attention needs a tensor group of two or more: it has no effect here."))
    grouped = 1 < plan.expert_parallel <= plan.tensor_parallel and not plan.attention_data_parallel
    if scenario.expert_parallel is not None and grouped:
        lines.append(
            tr("Expert parallelism inside a tensor group changes nothing here: the group divides the experts either way.")
        )
    if scenario.two_batch_overlap and plan.devices_used == 1:
        lines.append(tr("Two-batch overlap has nothing to hide on one device: it only reads the weights twice."))
    idle = scenario.devices - plan.devices_used
    if idle > 0:
        lines.append(
            tr(
                "{idle} of {devices} devices stay idle under this plan but are paid for.",
                idle=idle,
                devices=scenario.devices,
            )
        )
    return lines


def _fact_notes(found: Resolved, scenario: Scenario) -> list[str]:
    """Where a fact is weak, or stretched."""
    lines = []
    trained, total = found.model.trained_context, scenario.input_tokens + scenario.output_tokens
    if trained is not None and total > trained:
        lines.append(
            tr(
                "{total:,} tokens exceed the {trained:,} that {model} was trained for; counted all the same.",
                total=total,
                trained=trained,
                model=found.model.id,
            )
        )
    device = found.accelerator
    if device.grade == "C":
        lines.append(tr("A fact of {device} that the roofline rests on is unverified (grade C).", device=device.id))
    if device.announced:
        lines.append(tr("{device} is announced, not shipping.", device=device.id))
    return [*lines, *_uncalibrated(found)]


def _uncalibrated(found: Resolved) -> tuple[str, ...]:
    """Said where no measurement stands behind the constants."""
    if found.engine.is_calibrated:
        return ()
    said = tr(
        "Expected times rest on class means, not on measurements of {device} under {engine}.",
        device=found.accelerator.id,
        engine=found.engine.name,
    )
    return (said,)


def source_lines(found: Resolved) -> dict[str, str]:
    """Facts used, with their sources."""
    device = found.accelerator
    lines = {tr("model structure"): found.model.source or tr("given file")}
    facts: dict[str, Fact | None] = {
        tr("memory"): device.visible_memory or device.memory,
        tr("memory bandwidth"): device.bandwidth,
        tr("{rate} peak", rate=found.formats.gemm_dtype): device.peaks[found.formats.gemm_dtype],
        tr("{rate} peak", rate=found.formats.wide_dtype): device.peaks[found.formats.wide_dtype],
        tr("power"): device.tdp,
    }
    facts |= {tr("{kind} link ({name})", kind=tr(LINK_KINDS[item.kind]), name=item.name): item.bandwidth for item in device.links}
    for name, fact in facts.items():
        if fact is not None:
            mark = "" if fact.kind == "datasheet" else f", {tr(FACT_KINDS[fact.kind])}"
            lines[name] = f"{localised(f'{fact.value:g}')} {fact.unit} ({fact.source}{mark})"
    if device.visible_memory is None and device.is_counted_in_gib:
        lines[tr("memory")] += f"; {tr('as printed: memory chips are counted in GiB')}"
    return lines


def _drafting_notes(found: Resolved) -> list[str]:
    """Where a way of serving deserves a second look."""
    draft = found.structure.shortcuts.draft
    if draft is None or draft.structure is None:
        return []
    own, other = found.model.vocabulary, draft.structure.model.vocabulary
    if own == other:
        return []
    said = tr(
        "{draft} has {other:,} tokens in its vocabulary, {model} has {own:,}: drafts need the same.",
        draft=draft.structure.model.id,
        other=other,
        model=found.model.id,
        own=own,
    )
    return [said]
