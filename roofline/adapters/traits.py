"""What tells one layer from another beyond its kind: widths, indexers, reuse, ratios. Equal traits make one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from roofline.adapters.families import Habits
from roofline.adapters.fields import MAX_SIZE, Fields, shown
from roofline.adapters.stack import LayerPlan, layer_plans
from roofline.errors import ConfigurationError
from roofline.language import tr

FFN_MULTIPLE = 256
"""Searched architectures round the width of a feed-forward up to a multiple of this."""


@dataclass(frozen=True)
class Traits:
    """Everything the blocks of a layer depend on."""

    mixer: str
    feed_forward: str
    indexed: bool = True
    """Has an indexer of its own, where the model has any."""
    shares_cache: bool = False
    ratio: int = 0
    """Tokens per compressed entry."""
    width: int = 0
    """Feed-forward width, where it differs by layer."""
    n_kv_heads: int = 0
    """Cache heads, where they differ by layer."""
    repeated: bool = False
    """Runs a shared block again whose weights an earlier layer counts."""


def layer_traits(fields: Fields, habits: Habits, n_layers: int) -> tuple[Traits, ...]:
    """Traits of every layer, in order."""
    if fields.listing("block_configs"):
        return _searched(fields, n_layers)
    plans = layer_plans(fields, habits, n_layers)
    traits = [Traits(plan.mixer, plan.feed_forward) for plan in plans]
    for change in (_indexed, _shared_caches, _ratios, _widths, _repeats):
        traits = change(fields, plans, traits)
    return tuple(traits)


def _indexed(fields: Fields, plans: tuple[LayerPlan, ...], traits: list[Traits]) -> list[Traits]:
    """Layers with an indexer: by type, by frequency, by kind, or all."""
    if fields.table("sparse_attention_config") is None and not any(map(fields.optional, ("index_topk", "index_topk_blocks"))):
        return traits
    owned = _indexers(fields, len(plans))
    if len(owned) < len(plans):
        raise ConfigurationError(
            tr("The list of indexers has {n:,} entries for {layers:,} layers.", n=len(owned), layers=len(plans))
        )
    return [replace(t, indexed=own) for t, own in zip(traits, owned, strict=False)]


def _indexers(fields: Fields, n_layers: int) -> list[bool]:
    """Which layers have an indexer of their own."""
    words = fields.listing("indexer_types")
    if words:
        return [word == "full" for word in words]
    inner = fields.inner("sparse_attention_config")
    numbers = inner.whole_numbers("sparse_attention_freq") if inner else None
    if numbers is not None:
        return [number > 0 for number in numbers]
    if fields.optional("index_topk_blocks") and inner is None:
        kinds = fields.listing("layer_kinds") or [""] * n_layers
        return [kind == "minimax_m3_sparse" for kind in kinds]
    return [True] * n_layers


def _shared_caches(fields: Fields, plans: tuple[LayerPlan, ...], traits: list[Traits]) -> list[Traits]:
    """The last layers may read the cache of earlier ones."""
    n_shared = fields.count("num_kv_shared_layers")
    if not n_shared:
        return traits
    if n_shared >= len(plans):
        raise ConfigurationError(
            tr("'num_kv_shared_layers' must be below the {layers:,} layers, not {n:,}.", layers=len(plans), n=n_shared)
        )
    first = len(plans) - n_shared
    return [replace(t, shares_cache=i >= first) for i, t in enumerate(traits)]


def _ratios(fields: Fields, plans: tuple[LayerPlan, ...], traits: list[Traits]) -> list[Traits]:
    """Compression of each layer's cache; lists may be longer by the draft layers."""
    ratios = fields.whole_numbers("compress_ratios") or _rates_by_kind(fields)
    if ratios is None:
        if fields.optional("output_rank") and fields.optional("o_groups"):
            raise ConfigurationError(tr("The configuration does not say 'compress_ratios', which its cache depends on."))
        return traits
    if len(ratios) < len(plans):
        raise ConfigurationError(
            tr("{name!r} has {n:,} entries for {layers:,} layers.", name="compress_ratios", n=len(ratios), layers=len(plans))
        )
    return [replace(t, mixer="full", ratio=ratio) for t, ratio in zip(traits, ratios, strict=False)]


def _rates_by_kind(fields: Fields) -> list[int] | None:
    """Ratios told as a rate per kind of layer."""
    rates, kinds = fields.inner("compress_rates"), fields.raw("layer_types")
    if rates is None or not isinstance(kinds, list):
        return None
    return [rates.count(str(kind)) for kind in kinds]


def _widths(fields: Fields, plans: tuple[LayerPlan, ...], traits: list[Traits]) -> list[Traits]:
    """Feed-forward widths listed per layer, or doubled where a cache is shared."""
    listed = fields.raw("intermediate_size")
    if isinstance(listed, list):
        widths = fields.whole_numbers("intermediate_size") or []
        if len(widths) < len(plans) or not all(widths):
            raise ConfigurationError(
                tr("'intermediate_size' must list a width for each of the {layers:,} layers.", layers=len(plans))
            )
        return [replace(t, width=width) for t, width in zip(traits, widths, strict=False)]
    if fields.flag("use_double_wide_mlp"):
        base = fields.size("ffn_size")
        return [replace(t, width=2 * base) if t.shares_cache else t for t in traits]
    return traits


def _repeats(fields: Fields, plans: tuple[LayerPlan, ...], traits: list[Traits]) -> list[Traits]:
    """Uses of a shared block after its first."""
    n_blocks, used, out = fields.optional("num_mem_blocks") or 1, 0, []
    for trait in traits:
        out.append(replace(trait, repeated=used >= n_blocks) if trait.mixer == "hybrid" else trait)
        used += trait.mixer == "hybrid"
    return out


def _searched(fields: Fields, n_layers: int) -> tuple[Traits, ...]:
    """Layers of a searched architecture: each names its attention and its feed-forward.

        width = 2 m h / 3, cut to a whole number and rounded up to a multiple of 256

    ``block_configs`` of the DeciLM classes; A. Bercovich et al., "Puzzle", 2024.
    """
    blocks = fields.listing("block_configs") or []
    if len(blocks) != n_layers:
        raise ConfigurationError(
            tr("{name!r} has {n:,} entries for {layers:,} layers.", name="block_configs", n=len(blocks), layers=n_layers)
        )
    hidden, n_heads = fields.size("hidden_size"), fields.size("n_heads")
    return tuple(_searched_layer(block, hidden, n_heads) for block in blocks)


def _searched_layer(block: object, hidden: int, n_heads: int) -> Traits:
    if not isinstance(block, Mapping):
        raise ConfigurationError(tr("An entry of 'block_configs' must be a table, not {value}.", value=shown(block)))
    inside = Fields(block, {}, "block_configs")
    attention, feed = inside.inner("attention"), inside.inner("ffn")
    if attention is None or feed is None:
        raise ConfigurationError(tr("Each entry of 'block_configs' must have the tables 'attention' and 'ffn'."))
    mixer, n_kv_heads = "full", 0
    if attention.flag("no_op"):
        mixer = "none"
    elif attention.flag("replace_with_linear"):
        mixer = "matrix"
    else:
        n_kv_heads = max(1, n_heads // attention.size("n_heads_in_group"))
    if feed.flag("no_op"):
        return Traits(mixer, "none", n_kv_heads=n_kv_heads)
    if feed.flag("replace_with_linear"):
        return Traits(mixer, "matrix", n_kv_heads=n_kv_heads)
    width = int(2 * feed.number("ffn_mult", 0.0) * hidden / 3)
    width = -(-width // FFN_MULTIPLE) * FFN_MULTIPLE
    if not 0 < width <= MAX_SIZE:
        raise ConfigurationError(
            tr("'ffn_mult' gives a feed-forward {width:,} wide; it must lie between 1 and {most:,}.", width=width, most=MAX_SIZE)
        )
    return Traits(mixer, "dense", width=width, n_kv_heads=n_kv_heads)
