"""What an estimate rests on that is no fact, in words: constants with their ranges, and what was taken of the load."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.answers.resolve import Resolved
from roofline.language import later, localised, tr
from roofline.performance.lora import adapter_bytes
from roofline.performance.structure import MatrixTerm
from roofline.specs.engine import Constant, EngineProfile
from roofline.specs.hardware import CATEGORY_WORDS
from roofline.specs.scenario import Scenario
from roofline.specs.speculation import LOOKUP, MODULE, Speculation
from roofline.units import memory_size

_CACHED = later(
    "prefill computes the rest on top of them and prefill rates count computed tokens only; every sequence keeps and reads a "
    "whole cache of its own, though shared prefixes could be held once; storage between requests is free"
)
_FORCED = later("appended as the grammar tells them and computed along with the next step; no cost of the grammar itself")
_ADAPTERS = later(
    "on every matrix of the layers but routers, in 16 bit, divided as their matrix; every sequence uses one, all equally often; "
    "each in use is read once a step; no time for launching their kernels"
)
_VERIFIED = later("each drafted token is accepted with the same chance; verification computes all of them")


def assumptions(found: Resolved, scenario: Scenario) -> tuple[Assumption, ...]:
    """Everything used that is not a fact."""
    engine = found.engine
    found_rows = [_constant(*row) for row in _constants(found, scenario)]
    low, high = engine.decode_time_band
    found_rows.append(
        Assumption(tr("band of expected times"), tr("{low:g} to {high:g} of decode", low=low, high=high), engine.band_basis)
    )
    found_rows += _host_assumptions(found, scenario)
    known = tr("known") if engine.is_calibrated else tr("fallback")
    found_rows += [Assumption(tr("calibration"), known, text) for text in engine.calibrated]
    if found.structure.routing is not None:
        uniform = tr("uniform and independent")
        found_rows.append(Assumption(tr("routing"), uniform, tr("distinct experts E(1-(1-k/E)^B)")))
    found_rows += _asked(found, scenario)
    context = tr("prompt plus half the output")
    found_rows.append(Assumption(tr("context of a step"), context, tr("mean over a generation")))
    found_rows += _serving(found, scenario)
    found_rows += [Assumption(tr("model file"), text, found.model.source) for text in found.model.assumptions]
    return tuple(found_rows)


def _constant(name: str, constant: Constant, form: str) -> Assumption:
    """A constant of the engine with its range."""
    value, low, high = (localised(format(number, form)) for number in (constant.value, constant.low, constant.high))
    return Assumption(name, tr("{value} ({low} to {high})", value=value, low=low, high=high), constant.basis)


def _constants(found: Resolved, scenario: Scenario) -> list[tuple[str, Constant, str]]:
    """Constants of the engine that the times rest on, each with the form it is written in."""
    engine = found.engine
    rows = [
        (tr("share of memory bandwidth"), engine.bandwidth_frac, ".2f"),
        (tr("share of bandwidth for the cache"), engine.cache_bandwidth_frac, ".2f"),
        (tr("share of the dense peak"), engine.compute_frac_of(found.formats.gemm_dtype), ".2f"),
        (tr("share of the peak for attention"), engine.attention_compute_frac, ".2f"),
        (tr("the output head, as a factor on the share of the peak"), engine.head_compute_factor, ".2f"),
        (tr("tokens at which products reach half their rate"), engine.half_tokens, "g"),
        (tr("the same for packed weights multiplied in 16 bit"), engine.packed_half_tokens, "g"),
        (tr("passes over activations that reach memory"), engine.elementwise, ".2g"),
        (tr("time per layer, s"), engine.layer_s, ".2g"),
        (tr("time per step, s"), engine.step_s, ".2g"),
        (tr("time per sequence and step, s"), engine.sequence_s, ".2g"),
    ]
    if found.structure.routing is not None:
        rows += _expert_rows(engine)
    if found.box is not None:
        rows += _series_rows(found)
    elif scenario.devices > 1:
        rows += _link_rows(found)
    return [
        *rows,
        (tr("tokens of a prompt computed at once"), engine.prefill_chunk_tokens, ",g"),
        (tr("tokens in a page of the cache"), engine.page_tokens, "g"),
        (tr("share of memory an engine leaves alone"), engine.memory_reserve_frac, ".2f"),
        (tr("memory an engine keeps for itself, bytes"), engine.memory_overhead_bytes, ".2g"),
    ]


def _expert_rows(engine: EngineProfile) -> list[tuple[str, Constant, str]]:
    """Constants of grouped products."""
    return [
        (tr("experts, as a factor on the share of bandwidth"), engine.expert_bandwidth_factor, ".2f"),
        (tr("experts, as a factor on the share of the peak"), engine.expert_compute_factor, ".2f"),
        (tr("tokens an expert at which its products reach half their rate"), engine.expert_half_tokens, "g"),
        (tr("time per layer of experts, s"), engine.expert_layer_s, ".2g"),
    ]


def _link_rows(found: Resolved) -> list[tuple[str, Constant, str]]:
    """Constants between devices that share a model."""
    engine = found.engine
    rows = [
        (tr("share of link bandwidth"), engine.link_frac, ".2f"),
        (tr("latency of a collective, s"), engine.link_latency_s, ".2g"),
        (tr("hand-over between stages, s"), engine.hop_s, ".2g"),
    ]
    if found.structure.routing is None:
        return rows
    return [
        *rows,
        (tr("latency of an exchange between experts, s"), engine.exchange_latency_s, ".2g"),
        (tr("share of the network that such an exchange reaches"), engine.exchange_frac, ".2f"),
    ]


def _series_rows(found: Resolved) -> list[tuple[str, Constant, str]]:
    """Constants between machines in series, and of the host."""
    rows = [(tr("hand-over between parts, s"), found.engine.hop_s, ".2g")]
    host = next((part for part in found.machine.segments if part.tier == "host"), None)
    if host is not None:
        engine = host.machine.engine
        rows += [
            (tr("share of the host link"), found.engine.host_link_frac, ".2f"),
            (tr("host: share of memory bandwidth, over all sockets"), engine.bandwidth_frac, ".2f"),
            (tr("host: the same for experts, as a factor"), engine.expert_bandwidth_factor, ".2f"),
            (tr("host: time per layer, s"), engine.layer_s, ".2g"),
        ]
    return rows


def _host_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """Which host, with how much memory, and what of it is not counted."""
    if found.box is None or found.box.host is None:
        return []
    host = found.box.host
    category = tr(CATEGORY_WORDS[found.accelerator.category])
    named = tr("as asked") if scenario.host else tr("usual beside a {category}; name yours", category=category)
    fitted = tr("as asked") if scenario.host_memory_gib else tr("the most its CPU takes; give yours")
    return [
        Assumption(tr("host"), host.name, tr("{named}; its price and power are not counted", named=named)),
        Assumption(tr("host memory"), memory_size(host.machine.usable_bytes), fitted),
        Assumption(
            tr("prompts over offloaded weights"),
            tr("the quicker way"),
            tr("the host computes, or weights go to the device by chunk"),
        ),
    ]


def _asked(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """What a scenario asks of a plan beyond its ways."""
    rows = []
    if scenario.context_parallel > 1:
        value = tr("{devices} devices share the positions of a sequence, evenly", devices=scenario.context_parallel)
        basis = tr("as asked; exchanges are not hidden in expected times")
        rows.append(Assumption(tr("context parallelism"), value, basis))
    if scenario.expert_skew > 1.0:
        value = tr("the fullest device has {skew:g} times the mean", skew=scenario.expert_skew)
        basis = tr("as asked; in expected times, where experts are spread over devices")
        rows.append(Assumption(tr("expert skew"), value, basis))
    if scenario.two_batch_overlap is None and found.engine.overlaps_batches and scenario.devices > 1:
        value = tr("halves of a batch hide each other's exchanges, in steps that it makes sooner")
        rows.append(Assumption(tr("two-batch overlap"), value, tr("as {engine} does", engine=found.engine.name)))
    if scenario.two_batch_overlap:
        value = tr("halves of a batch hide each other's exchanges; weights are read for each")
        rows.append(Assumption(tr("two-batch overlap"), value, tr("as asked; the limit hides the network anyway")))
    if scenario.prefill_devices is not None:
        value = tr("the cache of a prompt is sent once it is whole, over the links of the devices that hold it")
        rows.append(Assumption(tr("prefill apart"), value, tr("as asked; the limit sends it while it is made")))
    return rows


def _serving(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """What was assumed where a scenario spares work; nothing where it does not."""
    rows: list[Assumption] = []
    if scenario.prefix_hit:
        value = tr("{share:.1%} of prompt tokens are cached", share=scenario.prefix_hit)
        rows.append(Assumption(tr("prefix cache"), value, tr(_CACHED)))
    if scenario.speculative is not None:
        per_step = found.structure.shortcuts.sampled_tokens_per_step
        value = tr("{draft}: {tokens:.3g} tokens a verification", draft=str(scenario.speculative), tokens=per_step)
        rows.append(Assumption(tr("speculative decoding"), value, f"{tr(_VERIFIED)}; {_drafting(found, scenario.speculative)}"))
    if scenario.forced_output:
        value = tr("{share:.1%} of output tokens", share=scenario.forced_output)
        rows.append(Assumption(tr("forced tokens"), value, tr(_FORCED)))
    if scenario.adapters is not None:
        value = tr(
            "{count:,} of rank {rank:,}, {size} over all devices",
            count=scenario.adapters.count,
            rank=scenario.adapters.rank,
            size=memory_size(adapter_bytes(found.model, scenario.adapters)),
        )
        rows.append(Assumption(tr("adapters"), value, tr(_ADAPTERS)))
    return rows


def _drafting(found: Resolved, asked: Speculation) -> str:
    """What one draft takes."""
    if asked.draft == LOOKUP:
        return tr("drafting from earlier text is free")
    if asked.draft == MODULE:
        return tr(
            "a draft is one layer like the last, behind a joining matrix, and the output head; one module is held and run again "
            "for every drafted token, scheduled together with the model; it reads the prompt too"
        )
    draft = found.structure.shortcuts.draft
    if draft is None or draft.structure is None:
        return tr(
            "a draft is a whole step of {draft} on the same plan; its weights and cache are held beside the model's",
            draft=asked.draft,
        )
    return tr(
        "a draft is a whole step of {draft} of {size} on the same plan; its weights and cache are held beside the model's",
        draft=asked.draft,
        size=memory_size(_stored_bytes(draft.structure.matrices)),
    )


def _stored_bytes(terms: tuple[MatrixTerm, ...]) -> float:
    return sum(term.count * term.weight_bytes for term in terms)
