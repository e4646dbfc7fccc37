"""A model as a scenario serves it: its structure, what it need not compute, and what drafts for it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from roofline.catalog.models import catalogue_model_id, load_model, model_ids
from roofline.errors import InputError, UnknownIdError
from roofline.language import tr
from roofline.performance.lora import with_adapters
from roofline.performance.shortcuts import Draft, Shortcuts
from roofline.performance.structure import Structure, structure
from roofline.specs.model import Block, LayerGroup, ModelSpec, Tensor
from roofline.specs.scenario import Scenario
from roofline.specs.speculation import LOOKUP, MODULE, Speculation


def served_structure(scenario: Scenario, model: ModelSpec, weights: str | None) -> Structure:
    """Terms of a model stored in a format, with how the scenario serves it.

    Raises
    ------
    RooflineError
        A draft that the model does not have, or that the catalogue does not know.
    """
    shortcuts = Shortcuts(
        prefix_hit_frac=scenario.prefix_hit,
        forced_frac=scenario.forced_output,
        draft=None if scenario.speculative is None else draft_of(scenario.speculative, model, weights),
    )
    return replace(with_adapters(structure(model, weights), scenario.adapters), shortcuts=shortcuts)


def draft_of(asked: Speculation, model: ModelSpec, weights: str | None) -> Draft:
    """What drafts; a draft model is stored in the format asked for the model, or as its own file says."""
    if asked.draft == LOOKUP:
        return Draft(asked.n_tokens, asked.acceptance)
    if asked.draft != MODULE:
        return Draft(asked.n_tokens, asked.acceptance, structure(draft_model(asked.draft), weights))
    if not model.draft_parameters:
        raise InputError(
            tr(
                "{model} has no multi-token-prediction module: draft with ngram, or with a smaller model of its vocabulary.",
                model=model.id,
            )
        )
    return Draft(asked.n_tokens, asked.acceptance, structure(draft_module(model), weights), is_module=True)


def draft_model(ref: str) -> ModelSpec:
    """A draft model of the catalogue.

    Raises
    ------
    UnknownIdError
        There is none by that name.
    """
    if catalogue_model_id(ref) is None:
        raise UnknownIdError("models", ref, (MODULE, LOOKUP, *model_ids()))
    return load_model(ref)


@lru_cache(maxsize=128)
def draft_module(model: ModelSpec) -> ModelSpec:
    """One multi-token-prediction module as a model: a layer like the last, behind a matrix that joins two inputs.

    DeepSeek-AI, "DeepSeek-V3 technical report", 2024, section 2.2: tables are shared with the model.
    """
    last = max(model.groups, key=lambda group: group.layers[-1])
    h = model.hidden_size
    join = Tensor(operator="join", module="eh_proj", gguf="nextn.eh_proj", part="other", n_out=h, n_in=2 * h)
    layer = LayerGroup(layers=(0,), blocks=(Block(kind="join", tensors=(join,), reduces=False), *last.blocks))
    return ModelSpec(
        id=f"{model.id}-{MODULE}",
        name=f"{model.name} draft module",
        architecture=model.architecture,
        hidden_size=h,
        stream_size=model.stream_size,
        vocabulary=model.vocabulary,
        n_layers=1,
        groups=(layer,),
        ends=tuple(tensor for tensor in model.ends if tensor.part != "vision_audio"),
        tied_embeddings=model.tied_embeddings,
        stored_format=model.stored_format,
    )
