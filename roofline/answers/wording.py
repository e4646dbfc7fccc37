"""Answers in plain words: what binds, why this plan, what was assumed, where facts come from."""

from __future__ import annotations

from roofline.answers.asked import asked_assumptions
from roofline.answers.report import Assumption, Bound, Cost, Memory, Plan, Share
from roofline.answers.resolve import Resolved
from roofline.answers.served import serving_assumptions, serving_notes
from roofline.performance.planning import Choice
from roofline.performance.sharding import Request
from roofline.performance.timing import StepTime
from roofline.specs.engine import Constant
from roofline.specs.hardware import Fact
from roofline.specs.scenario import Scenario
from roofline.units import duration, memory_size, significant

_TIGHT = 0.97
_TAKES: dict[Bound, str] = {
    "compute": "go into arithmetic",
    "memory": "read weights and cache",
    "network": "move data between devices",
    "host": "go into scheduling on the host",
    "latency": "wait for kernels to start and collectives to answer",
}
_NOUN: dict[Bound, str] = {
    "compute": "arithmetic",
    "memory": "memory bandwidth",
    "network": "the network",
    "host": "host scheduling",
    "latency": "latency",
}


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
    noun, takes = _NOUN[bound], _TAKES[bound]
    if bound == "host" and any(part.tier != "device" for part in found.machine.segments):
        noun, takes = "host memory", f"go into what {_on_host(found)}"
    text = f"Decode is bound by {noun}: {duration(longest)} of {duration(step)} a step {takes}."
    if sustained is not None:
        return (
            f"{text} {batch:,.0f} sequences decode at once; the system keeps up with about {significant(sustained)} requests/s."
        )
    if batch >= critical_tokens:
        text += f" The batch is past the {significant(critical_tokens)} sequences at which weights stop setting the pace"
    else:
        text += f" It would take about {significant(critical_tokens)} sequences at once to fill the arithmetic units"
    if doubled_step_s is None:
        return f"{text}; twice the batch does not fit in memory."
    gain = 2.0 * step / doubled_step_s - 1.0
    loss = 1.0 - step / doubled_step_s
    return f"{text}; doubling the batch adds {gain:.0%} throughput and costs {loss:.0%} of each user's speed."


def _on_host(found: Resolved) -> str:
    """What the host holds, as a phrase."""
    kind = found.box.offload.kind if found.box is not None else "none"
    host = next(part for part in found.machine.segments if part.tier != "device").pool
    disk = ", and waits for the disk" if any(part.tier == "disk" for part in found.machine.segments) else ""
    return {
        "layers": f"the {host} computes: {_layers(found)} of the layers{disk}",
        "experts": f"the {host} computes: routed experts{disk}",
        "cache": f"comes from the {host}: the cache",
    }.get(kind, "comes from disk: weights")


def _layers(found: Resolved) -> str:
    return f"{sum(p.structure.n_layers for p in found.machine.segments if p.tier == 'host'):g}"


def not_carried(found: Resolved, scenario: Scenario, memory: Memory, sustained: float | None) -> str:
    """How much is missing, and what would do."""
    if scenario.request_rate is not None and sustained:
        asked = significant(scenario.request_rate)
        text = f"Cannot keep up: {asked} requests/s are asked for and about {significant(sustained)} are possible."
    elif memory.max_batch >= 1:
        most = "1 sequence fits" if memory.max_batch == 1 else f"{memory.max_batch:,} sequences fit"
        text = f"Does not fit: {scenario.batch or 1:,} sequences are asked for and at most {most} at this length."
    else:
        name, need, room = "a device", float(memory.used_bytes_per_device), float(memory.usable_bytes_per_device)
        for tier in memory.tiers if found.box is not None else ():
            if tier.usable_bytes is not None and tier.used_bytes > tier.usable_bytes:
                name, need, room = tier.name, tier.used_bytes, tier.usable_bytes
        text = f"Does not fit: {name} needs {memory_size(need)} and has {memory_size(room)}."
    remedies = []
    if memory.min_devices is not None:
        remedies.append(f"{memory.min_devices:,} x {found.accelerator.id}")
    if memory.fitting_weights is not None:
        remedies.append(f"{memory.fitting_weights} weights")
    return f"{text} {_either(remedies)}"


def _either(remedies: list[str]) -> str:
    if not remedies:
        return "Try a smaller load, or a device with more memory."
    chosen = " or ".join(remedies)
    return f"{chosen[0].upper()}{chosen[1:]} would do."


def plan_reason(choice: Choice, request: Request) -> str:
    """Why this plan."""
    if request.devices == 1:
        return "One device: nothing to divide."
    if choice.n_candidates == 1:
        return "As asked."
    if not choice.n_feasible[0]:
        return f"None of {choice.n_candidates} legal plans fits; this one comes nearest."
    asked = "with the ways asked for" if request.is_manual else "legal"
    if choice.n_feasible[0] == 1:
        return f"The only one of {choice.n_candidates} {asked} plans that fits."
    return f"Soonest to finish its requests among the {choice.n_feasible[0]} of {choice.n_candidates} {asked} plans that fit."


def assumptions(found: Resolved, scenario: Scenario) -> tuple[Assumption, ...]:
    """Everything used that is not a fact."""
    engine = found.engine
    rows = [
        ("share of memory bandwidth", engine.bandwidth_frac, "{:.2f}"),
        ("share of bandwidth for the cache", engine.cache_bandwidth_frac, "{:.2f}"),
        ("share of the dense peak", engine.compute_frac_of(found.formats.gemm_dtype), "{:.2f}"),
        ("tokens at which products reach half their rate", engine.half_tokens, "{:g}"),
        ("the same for packed weights multiplied in 16 bit", engine.packed_half_tokens, "{:g}"),
        ("time per layer, s", engine.layer_s, "{:.2g}"),
        ("time per step, s", engine.step_s, "{:.2g}"),
        ("time per sequence and step, s", engine.sequence_s, "{:.2g}"),
    ]
    if found.box is not None:
        rows += _series_rows(found)
    elif scenario.devices > 1:
        rows += [
            ("share of link bandwidth", engine.link_frac, "{:.2f}"),
            ("latency of a collective, s", engine.link_latency_s, "{:.2g}"),
        ]
    rows.append(("memory an engine keeps for itself, bytes", engine.memory_overhead_bytes, "{:.2g}"))
    found_rows = [
        Assumption(name, f"{form.format(c.value)} ({form.format(c.low)} to {form.format(c.high)})", c.basis)
        for name, c, form in rows
    ]
    found_rows.append(
        Assumption(
            "band of expected times",
            f"{engine.decode_time_band[0]:g} to {engine.decode_time_band[1]:g} of decode",
            engine.band_basis,
        )
    )
    found_rows += _host_assumptions(found, scenario)
    found_rows += [Assumption("calibration", "known" if engine.is_calibrated else "fallback", text) for text in engine.calibrated]
    if found.structure.routing is not None:
        found_rows.append(Assumption("routing", "uniform and independent", "distinct experts E(1-(1-k/E)^B)"))
    found_rows += asked_assumptions(found, scenario)
    found_rows.append(Assumption("context of a step", "prompt plus half the output", "mean over a generation"))
    found_rows += serving_assumptions(found, scenario)
    found_rows += [Assumption("model file", text, found.model.source) for text in found.model.assumptions]
    return tuple(found_rows)


def _series_rows(found: Resolved) -> list[tuple[str, Constant, str]]:
    """Constants between machines in series, and of the host."""
    rows = [("hand-over between parts, s", found.engine.hop_s, "{:.2g}")]
    host = next((part for part in found.machine.segments if part.tier == "host"), None)
    if host is not None:
        engine = host.machine.engine
        rows += [
            ("share of the host link", found.engine.host_link_frac, "{:.2f}"),
            ("host: share of memory bandwidth, over all sockets", engine.bandwidth_frac, "{:.2f}"),
            ("host: the same for experts, as a factor", engine.expert_bandwidth_factor, "{:.2f}"),
            ("host: time per layer, s", engine.layer_s, "{:.2g}"),
        ]
    return rows


def _host_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """Which host, with how much memory, and what of it is not counted."""
    if found.box is None or found.box.host is None:
        return []
    host = found.box.host
    named = "as asked" if scenario.host else f"usual beside a {found.accelerator.category}; name yours"
    fitted = "as asked" if scenario.host_memory_gib else "the most its CPU takes; give yours"
    return [
        Assumption("host", host.name, f"{named}; its price and power are not counted"),
        Assumption("host memory", memory_size(host.machine.usable_bytes), fitted),
        Assumption(
            "prompts over offloaded weights", "the quicker way", "the host computes, or weights go to the device by chunk"
        ),
    ]


def reasons(
    found: Resolved, scenario: Scenario, memory: Memory, price: Cost, plan: Plan, sustained: float | None
) -> tuple[str, ...]:
    """Why something is null, was substituted or deserves a second look."""
    lines = [*found.engine_notes, *found.formats.notes, *found.machine.notes]
    if not memory.fits:
        lines.append(not_carried(found, scenario, memory, sustained))
    elif float(memory.used_bytes_per_device) > _TIGHT * float(memory.usable_bytes_per_device):
        lines.append("Memory is tight: under 3 % is left for fragmentation and longer answers; some engines would refuse.")
    if price.usd_per_device_hour is None:
        lines.append(f"No cost: {price.basis}.")
    if price.energy is not None and price.joules_per_output_token is None:
        lines.append(f"No energy: {price.energy.basis}.")
    lines += _plan_notes(scenario, plan)
    lines += serving_notes(found)
    lines += _fact_notes(found, scenario)
    return tuple(lines)


def _plan_notes(scenario: Scenario, plan: Plan) -> list[str]:
    """Where the plan does less than was asked or paid for."""
    lines = []
    if scenario.attention_data_parallel and not plan.attention_data_parallel:
        lines.append("Data-parallel attention needs a tensor group of two or more: it has no effect here.")
    grouped = 1 < plan.expert_parallel <= plan.tensor_parallel and not plan.attention_data_parallel
    if scenario.expert_parallel is not None and grouped:
        lines.append("Expert parallelism inside a tensor group changes nothing here: the group divides the experts either way.")
    if scenario.two_batch_overlap and plan.devices_used == 1:
        lines.append("Two-batch overlap has nothing to hide on one device: it only reads the weights twice.")
    idle = scenario.devices - plan.devices_used
    if idle > 0:
        lines.append(f"{idle} of {scenario.devices} devices stay idle under this plan but are paid for.")
    return lines


def _fact_notes(found: Resolved, scenario: Scenario) -> list[str]:
    """Where a fact is weak, or stretched."""
    lines = []
    trained, total = found.model.trained_context, scenario.input_tokens + scenario.output_tokens
    if trained is not None and total > trained:
        lines.append(f"{total:,} tokens exceed the {trained:,} that {found.model.id} was trained for; counted all the same.")
    if found.accelerator.grade == "C":
        lines.append(f"A fact of {found.accelerator.id} that the roofline rests on is unverified (grade C).")
    if found.accelerator.announced:
        lines.append(f"{found.accelerator.id} is announced, not shipping.")
    return [*lines, *_uncalibrated(found)]


def _uncalibrated(found: Resolved) -> tuple[str, ...]:
    """Said where no measurement stands behind the constants."""
    if found.engine.is_calibrated:
        return ()
    return (f"Expected times rest on class means, not on measurements of {found.accelerator.id} under {found.engine.name}.",)


def source_lines(found: Resolved) -> dict[str, str]:
    """Facts used, with their sources."""
    device = found.accelerator
    lines = {"model structure": found.model.source or "given file"}
    facts: dict[str, Fact | None] = {
        "memory": device.visible_memory or device.memory,
        "memory bandwidth": device.bandwidth,
        f"{found.formats.gemm_dtype} peak": device.peaks[found.formats.gemm_dtype],
        f"{found.formats.wide_dtype} peak": device.peaks[found.formats.wide_dtype],
        "power": device.tdp,
    }
    facts |= {f"{item.kind} link ({item.name})": item.bandwidth for item in device.links}
    for name, fact in facts.items():
        if fact is not None:
            mark = "" if fact.kind == "datasheet" else f", {fact.kind}"
            lines[name] = f"{fact.value:g} {fact.unit} ({fact.source}{mark})"
    return lines
