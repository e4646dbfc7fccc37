"""What a model is made of: parameters by part, cache, FLOPs and experts, as sums over its structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

import numpy as np

from roofline.catalog.formats import load_format
from roofline.errors import InputError
from roofline.formulas.attention import attention_flops
from roofline.formulas.experts import distinct_experts
from roofline.formulas.memory import paged_tokens
from roofline.language import tr
from roofline.performance.ledger import state_bytes
from roofline.performance.reach import held_tokens, visited_pairs
from roofline.performance.weights import weight_bytes
from roofline.specs.model import Attend, ModelSpec, Part, Recurrence, Tensor
from roofline.units import BITS_PER_BYTE, Floats

PAGE_TOKENS = 16
"""Tokens per page of a paged cache: vLLM's default."""


@dataclass(frozen=True)
class ParameterCounts:
    """Parameters by where they are, each once; the parts but for the towers sum to the total."""

    total: int
    """Text parameters."""
    active: int
    """Of the total, what a token visits."""
    active_matmul: int
    """Of the active ones, all but tables that are only looked up."""
    embedding: int
    output_head: int
    attention: int
    state_space: int
    dense_mlp: int
    routed_experts: int
    shared_experts: int
    router: int
    norm: int
    vision_audio: int
    other: int


@dataclass(frozen=True)
class CacheCounts:
    """What one sequence keeps."""

    bytes_per_token: float
    """Growth per token once every window is full."""
    bytes_per_token_uncapped: float
    """All caches, windows ignored."""
    bytes: float
    """Least that a sequence of the context asked for must keep."""
    allocated_bytes: float
    """Whole pages in every layer, windows not freed: one pool, as a paged engine without a pool per kind reserves it."""
    state_bytes: float
    """Recurrent state, whatever the context."""


@dataclass(frozen=True)
class FlopCounts:
    """Work of one sequence; a multiplication with its addition is two FLOPs."""

    prefill: float
    """Causal, logits of the last position only."""
    prefill_full_attention: float
    """Every query against every key, logits of every position: what framework counters say."""
    decode: float
    """One token on top of the context asked for."""


@dataclass(frozen=True)
class ExpertCounts:
    """Experts of one layer."""

    total: int
    active: int
    distinct: float
    """That at least one token of the batch visits, expected."""


@dataclass(frozen=True)
class ModelCounts:
    """Everything that ``roofline model`` answers."""

    name: str
    layers: int
    parameters: ParameterCounts
    tied_embeddings: bool
    weight_bytes: float
    stored_format: str
    kv_cache: CacheCounts
    flops: FlopCounts
    experts: ExpertCounts | None
    draft_parameters: int
    assumptions: tuple[str, ...]
    source: str


def count_model(
    model: ModelSpec,
    *,
    weights: str | None = None,
    kv_cache: str = "bf16",
    context: int = 4096,
    tokens: int = 4096,
    batch: int = 1,
) -> dict[str, Any]:
    """Answer as nested tables, for JSON."""
    return asdict(model_counts(model, weights=weights, kv_cache=kv_cache, context=context, tokens=tokens, batch=batch))


def model_counts(
    model: ModelSpec,
    *,
    weights: str | None = None,
    kv_cache: str = "bf16",
    context: int = 4096,
    tokens: int = 4096,
    batch: int = 1,
) -> ModelCounts:
    """Count a model at a context, a prompt length and a batch.

    Raises
    ------
    InputError
        A format that is no cache format; unknown format ids.
    """
    return ModelCounts(
        name=model.name,
        layers=model.n_layers,
        parameters=parameter_counts(model),
        tied_embeddings=model.tied_embeddings,
        weight_bytes=weight_bytes(model, weights),
        stored_format=model.stored_format,
        kv_cache=cache_counts(model, kv_cache=kv_cache, context_tokens=context),
        flops=FlopCounts(
            prefill=float(sequence_flops(model, n_new=tokens)),
            prefill_full_attention=full_attention_flops(model, tokens),
            decode=float(sequence_flops(model, n_new=1, n_cached=context)),
        ),
        experts=expert_counts(model, batch),
        draft_parameters=model.draft_parameters,
        assumptions=model.assumptions,
        source=model.source,
    )


def _tensors(model: ModelSpec) -> Iterator[tuple[int, Tensor, int | None]]:
    """Tensors of ends and layers: how many layers have each, and how many experts of it a token visits."""
    for tensor in model.ends:
        yield 1, tensor, None
    for group in model.groups:
        for block in group.blocks:
            active = block.routing.n_active if block.routing is not None else None
            for tensor in block.tensors:
                yield group.n_layers, tensor, active if tensor.part == "routed_experts" else None


def _attends(model: ModelSpec) -> Iterator[tuple[int, Attend]]:
    return ((g.n_layers, a) for g in model.groups for b in g.blocks for a in b.attends)


def _recurrences(model: ModelSpec) -> Iterator[tuple[int, Recurrence]]:
    return ((g.n_layers, r) for g in model.groups for b in g.blocks for r in b.recurrences)


def parameter_counts(model: ModelSpec) -> ParameterCounts:
    """Parameters by part, total, active, and active without tables that are only looked up."""
    parts: dict[str, int] = dict.fromkeys(get_args(Part), 0)
    idle = looked_up = 0
    for n, tensor, active in _tensors(model):
        parts[tensor.part] += n * tensor.n_parameters
        if active is not None:
            idle += n * tensor.n_out * tensor.n_in * (tensor.n_copies - active)
        if tensor.use == "lookup" and tensor.part != "vision_audio":
            looked_up += n * tensor.n_parameters
    total = sum(count for part, count in parts.items() if part != "vision_audio")
    named = {f.name for f in fields(ParameterCounts)}
    return ParameterCounts(
        total=total,
        active=total - idle,
        active_matmul=total - idle - looked_up,
        **{part: count for part, count in parts.items() if part in named},
    )


def cache_counts(model: ModelSpec, *, kv_cache: str, context_tokens: float) -> CacheCounts:
    """Bytes one sequence keeps in a cache format, scales included."""
    cache_format = load_format(kv_cache)
    if "kv_cache" not in cache_format.roles:
        raise InputError(
            tr(
                "{format} is not a format for {role}; it is one for {roles}.",
                format=cache_format.id,
                role=tr("the cache"),
                roles=", ".join(cache_format.roles),
            )
        )
    per_element = cache_format.bits_per_weight / BITS_PER_BYTE
    growing = uncapped = held = 0.0
    for n, attend in _attends(model):
        if attend.kind == "cross":
            continue
        per_token = n * attend.cache_elements / attend.stride
        uncapped += per_token
        growing += 0.0 if attend.window or attend.chunk else per_token
        held += n * attend.cache_elements * float(held_tokens(attend, context_tokens))
    reserved = float(paged_tokens(n_tokens=context_tokens, block_tokens=PAGE_TOKENS))
    return CacheCounts(
        bytes_per_token=growing * per_element,
        bytes_per_token_uncapped=uncapped * per_element,
        bytes=held * per_element,
        allocated_bytes=uncapped * per_element * reserved,
        state_bytes=sum(n * state_bytes(r) for n, r in _recurrences(model)),
    )


def linear_flops_per_token(model: ModelSpec) -> float:
    """FLOPs of matrices and convolutions that a token visits, without the output head."""
    flops = 0.0
    for n, tensor, active in _tensors(model):
        if tensor.use in ("matmul", "convolution") and tensor.operator != "output_head":
            flops += 2.0 * n * tensor.n_out * tensor.n_in * (tensor.n_copies if active is None else active)
    return flops


def head_flops_per_logit(model: ModelSpec) -> float:
    """FLOPs of the output head for one position, tied or not."""
    return sum(2.0 * t.n_parameters for t in model.ends if t.operator == "output_head" and t.use == "matmul")


def attend_flops(attend: Attend, *, pairs: Floats, n_cached: Floats = 0.0) -> Floats:
    """FLOPs of one attention over visited keys; latent attention takes the cheaper of its two forms.

    Expanded, old latents pass through the up projection again; absorbed, scores stay in the latent space. The queries'
    own up projection is a matrix like any other in both.
    """
    plain = attention_flops(pairs=pairs, n_heads=attend.n_heads, key_size=attend.key_size, value_size=attend.value_size)
    if attend.absorbed_key_size is None or attend.absorbed_value_size is None:
        return plain
    absorbed = attention_flops(
        pairs=pairs, n_heads=attend.n_heads, key_size=attend.absorbed_key_size, value_size=attend.absorbed_value_size
    )
    return np.minimum(absorbed, plain + 2.0 * attend.expansion_elements * n_cached)


def sequence_flops(model: ModelSpec, *, n_new: Floats, n_cached: Floats = 0.0, n_logits: Floats = 1.0) -> Floats:
    """FLOPs of new tokens of one sequence on top of cached ones, causally."""
    flops = n_new * linear_flops_per_token(model) + n_logits * head_flops_per_logit(model)
    for n, attend in _attends(model):
        pairs = visited_pairs(attend, n_new, n_cached)
        flops = flops + n * attend_flops(attend, pairs=pairs, n_cached=n_cached)
    one_by_one = np.equal(n_new, 1.0)
    for n, recurrence in _recurrences(model):
        flops = flops + n * n_new * np.where(one_by_one, recurrence.decode_flops, recurrence.prefill_flops)
    return flops


def full_attention_flops(model: ModelSpec, n_tokens: int) -> float:
    """FLOPs of a prompt with every query against every key, and logits of every position."""
    flops = n_tokens * (linear_flops_per_token(model) + head_flops_per_logit(model))
    square = float(n_tokens) ** 2
    for n, attend in _attends(model):
        pairs = 0.0 if attend.kind == "cross" else square / attend.stride
        flops += n * float(attend_flops(attend, pairs=pairs))
    return flops + sum(float(n) * n_tokens * r.prefill_flops for n, r in _recurrences(model))


def expert_counts(model: ModelSpec, n_tokens: int) -> ExpertCounts | None:
    """Experts of the first kind of expert layer; None where there are none."""
    if not model.routings:
        return None
    routing = model.routings[0]
    distinct = distinct_experts(n_experts=routing.n_experts, n_active_experts=routing.n_active, n_tokens=n_tokens)
    return ExpertCounts(total=routing.n_experts, active=routing.n_active, distinct=float(distinct))
