"""Assumptions behind ways of serving that spare work, in plain words."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.answers.resolve import Resolved
from roofline.language import later, tr
from roofline.performance.lora import adapter_bytes
from roofline.performance.structure import MatrixTerm
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


def serving_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
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


def serving_notes(found: Resolved) -> list[str]:
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
