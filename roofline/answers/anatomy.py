"""A model laid open: its layers, parameters by part, cache by context, weights by format, experts by batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.adapters.inline import is_inline
from roofline.catalog.engines import base_profiles
from roofline.catalog.formats import load_format
from roofline.catalog.models import load_model
from roofline.errors import InputError
from roofline.formulas.experts import distinct_experts, tokens_per_touched_expert
from roofline.language import later, tr
from roofline.performance.counts import ModelCounts, model_counts
from roofline.performance.memory import cache_by_context
from roofline.performance.weights import weight_bytes
from roofline.specs.model import Attend, Block, LayerGroup, ModelSpec, Routing
from roofline.units import BITS_PER_BYTE, Floats

WEIGHT_FORMATS = ("bf16", "fp8", "int8", "q8_0", "q6_k", "q4_k_m", "nvfp4", "mxfp4", "q3_k_m", "q2_k")
"""Formats a model is commonly stored in, widest first."""
_MOST_CONTEXT_TOKENS = 1_048_576
_LEAST_CONTEXT_TOKENS = 256
_BATCH_DOUBLINGS = 13
_CARDS = {
    "grouped-query attention": later("grouped-query attention"),
    "multi-head attention": later("multi-head attention"),
    "multi-query attention": later("multi-query attention"),
    "latent attention": later("latent attention"),
    "latent attention with an indexer": later("latent attention with an indexer"),
    "compressed attention": later("compressed attention"),
    "lightning attention": later("lightning attention"),
    "kimi delta attention": later("kimi delta attention"),
    "gated delta net": later("gated delta net"),
    "gated linear recurrence": later("gated linear recurrence"),
    "short convolution": later("short convolution"),
    "shared transformer block": later("shared transformer block"),
    "gated feed-forward": later("gated feed-forward"),
    "feed-forward": later("feed-forward"),
    "mixture of experts": later("mixture of experts"),
    "channel mixing": later("channel mixing"),
    "residual streams": later("residual streams"),
    "matrix": later("matrix"),
}
"""Cards of the rule sheet in words; names of designs, such as mamba, are the same everywhere."""


@dataclass(frozen=True)
class Layer:
    """One kind of layer of the stack."""

    positions: tuple[int, ...]
    mixers: tuple[Block, ...]
    feeds: tuple[Block, ...]
    parameters: int
    """Of one such layer."""
    active_parameters: int

    @property
    def mixer(self) -> str:
        """Attention or recurrence, in words, with its reach."""
        return tr(" and ").join(_mixer_words(block) for block in self.mixers) or tr("no mixer")

    @property
    def feed_forward(self) -> str:
        """The same of what follows it."""
        return tr(" and ").join(_feed_words(block) for block in self.feeds) or tr("no feed-forward")


@dataclass(frozen=True)
class WeightSize:
    """The model in one format; ``None`` is as its file says."""

    format: str
    stored: bool
    bytes: float


@dataclass(frozen=True)
class CacheCurve:
    """Cache and state of one sequence against its length."""

    context_tokens: NDArray[np.float64]
    least_bytes: NDArray[np.float64]
    reserved_bytes: dict[str, NDArray[np.float64]]
    """Engine id -> bytes as that engine sets them aside."""


@dataclass(frozen=True)
class ExpertCurve:
    """Experts of a layer against tokens in a step."""

    tokens: NDArray[np.float64]
    distinct: NDArray[np.float64]
    tokens_per_touched: NDArray[np.float64]
    total: int
    active: int


@dataclass(frozen=True)
class Anatomy:
    """What the Model page shows."""

    model: ModelSpec
    counts: ModelCounts
    layers: tuple[Layer, ...]
    weights: tuple[WeightSize, ...]
    cache: CacheCurve
    experts: ExpertCurve | None


def anatomy(ref: str, *, kv_cache: str = "bf16", context: int = 32_768, batch: int = 64) -> Anatomy:
    """Lay a model open.

    Raises
    ------
    RooflineError
        No such model, or no such cache format.
    """
    model = load_model(ref)
    counts = model_counts(model, kv_cache=kv_cache, context=context, tokens=context, batch=batch)
    return Anatomy(
        model=model,
        counts=counts,
        layers=tuple(_layer(group) for group in model.groups),
        weights=_weights(model),
        cache=_cache(model, kv_cache),
        experts=_experts(model),
    )


def own_model(ref: str) -> bool:
    """Whether the model is the person's own and travels inside the link."""
    return is_inline(ref)


def _layer(group: LayerGroup) -> Layer:
    parameters = active = 0
    for block in group.blocks:
        for tensor in block.tensors:
            parameters += tensor.n_parameters
            share = block.routing.n_active if block.routing and tensor.part == "routed_experts" else tensor.n_copies
            active += tensor.n_out * tensor.n_in * share
    return Layer(
        positions=tuple(group.layers),
        mixers=tuple(b for b in group.blocks if b.attends or b.recurrences),
        feeds=tuple(b for b in group.blocks if not b.attends and not b.recurrences and b.kind != "norms"),
        parameters=parameters,
        active_parameters=active,
    )


def _mixer_words(block: Block) -> str:
    return ", ".join([_card(block), *(reach for a in block.attends if (reach := _reach_words(a)))])


def _reach_words(attend: Attend) -> str:
    if attend.window is not None:
        return tr("window {n:,}", n=attend.window)
    if attend.chunk is not None:
        return tr("chunks of {n:,}", n=attend.chunk)
    if attend.top_k is not None:
        return tr("best {n:,} keys", n=attend.top_k)
    return ""


def _feed_words(block: Block) -> str:
    if block.routing is None:
        return _card(block)
    return tr("{card}, {k} of {n}", card=_card(block), k=block.routing.n_active, n=block.routing.n_experts)


def _card(block: Block) -> str:
    return tr(_CARDS.get(block.kind, block.kind))


def _weights(model: ModelSpec) -> tuple[WeightSize, ...]:
    sizes = [WeightSize(model.stored_format, True, weight_bytes(model, None))]
    for name in WEIGHT_FORMATS:
        if name == model.stored_format:
            continue
        try:
            sizes.append(WeightSize(load_format(name).id, False, weight_bytes(model, name)))
        except InputError:
            continue
    return tuple(sorted(sizes, key=lambda size: -size.bytes))


def _cache(model: ModelSpec, kv_cache: str) -> CacheCurve:
    most = max(min(model.trained_context or 131_072, _MOST_CONTEXT_TOKENS), 2 * _LEAST_CONTEXT_TOKENS)
    doublings = np.arange(0.0, np.log2(most / _LEAST_CONTEXT_TOKENS) + 1e-9, 0.25)
    context = np.unique(np.append(np.round(_LEAST_CONTEXT_TOKENS * 2.0**doublings), float(most)))
    bytes_per_element = load_format(kv_cache).bits_per_weight / BITS_PER_BYTE
    least, reserved = cache_by_context(model, context, bytes_per_element, base_profiles())

    def along(values: Floats) -> NDArray[np.float64]:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), context.shape)

    return CacheCurve(context, along(least), {name: along(values) for name, values in reserved.items()})


def _experts(model: ModelSpec) -> ExpertCurve | None:
    if not model.routings:
        return None
    return expert_curve(model.routings[0], 2.0 ** np.arange(0.0, _BATCH_DOUBLINGS + 1e-9, 0.25))


def expert_curve(routing: Routing, tokens: NDArray[np.float64]) -> ExpertCurve:
    """Experts of a layer that steps of so many tokens touch, and what each of them gets."""
    total, active = float(routing.n_experts), float(routing.n_active)
    return ExpertCurve(
        tokens=tokens,
        distinct=np.asarray(distinct_experts(n_experts=total, n_active_experts=active, n_tokens=tokens)),
        tokens_per_touched=np.asarray(tokens_per_touched_expert(n_experts=total, n_active_experts=active, n_tokens=tokens)),
        total=routing.n_experts,
        active=routing.n_active,
    )
