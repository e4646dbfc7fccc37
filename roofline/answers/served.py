"""Assumptions behind ways of serving that spare work, in plain words."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.answers.resolve import Resolved
from roofline.performance.lora import adapter_bytes
from roofline.performance.structure import MatrixTerm
from roofline.specs.scenario import Scenario
from roofline.specs.speculation import LOOKUP, MODULE, Speculation
from roofline.units import memory_size

_CACHED = (
    "prefill computes the rest on top of them and prefill rates count computed tokens only; every sequence keeps and reads a "
    "whole cache of its own, though shared prefixes could be held once; storage between requests is free"
)
_FORCED = "appended as the grammar tells them and computed along with the next step; no cost of the grammar itself"
_ADAPTERS = (
    "on every matrix of the layers but routers, in 16 bit, divided as their matrix; every sequence uses one, all equally often; "
    "each in use is read once a step; no time for launching their kernels"
)
_VERIFIED = "each drafted token is accepted with the same chance; verification computes all of them"


def serving_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """What was assumed where a scenario spares work; nothing where it does not."""
    rows: list[Assumption] = []
    if scenario.prefix_hit:
        rows.append(Assumption("prefix cache", f"{scenario.prefix_hit:.1%} of prompt tokens are cached", _CACHED))
    if scenario.speculative is not None:
        per_step = found.structure.shortcuts.sampled_tokens_per_step
        value = f"{scenario.speculative}: {per_step:.3g} tokens a verification"
        rows.append(Assumption("speculative decoding", value, f"{_VERIFIED}; {_drafting(found, scenario.speculative)}"))
    if scenario.forced_output:
        rows.append(Assumption("forced tokens", f"{scenario.forced_output:.1%} of output tokens", _FORCED))
    if scenario.adapters is not None:
        size = memory_size(adapter_bytes(found.model, scenario.adapters))
        value = f"{scenario.adapters.count:,} of rank {scenario.adapters.rank:,}, {size} over all devices"
        rows.append(Assumption("adapters", value, _ADAPTERS))
    return rows


def _drafting(found: Resolved, asked: Speculation) -> str:
    """What one draft takes."""
    if asked.draft == LOOKUP:
        return "drafting from earlier text is free"
    if asked.draft == MODULE:
        return (
            "a draft is one layer like the last, behind a joining matrix, and the output head; one module is held and run again "
            "for every drafted token, scheduled together with the model; it reads the prompt too"
        )
    draft = found.structure.shortcuts.draft
    size = "" if draft is None or draft.structure is None else f" of {memory_size(_stored_bytes(draft.structure.matrices))}"
    return f"a draft is a whole step of {asked.draft}{size} on the same plan; its weights and cache are held beside the model's"


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
    return [
        f"{draft.structure.model.id} has {other:,} tokens in its vocabulary, {found.model.id} has {own:,}: drafts need the same."
    ]
