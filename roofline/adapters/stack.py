"""Which mixer and which feed-forward each layer has, from the fields that say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roofline.adapters.families import Habits
from roofline.adapters.fields import MAX_LAYERS, Fields, shown
from roofline.errors import ConfigurationError
from roofline.language import tr

KINDS: dict[str, str] = {
    "full_attention": "full",
    "full": "full",
    "global": "full",
    "global_attention": "full",
    "attention": "full",
    "indexed_attention": "full",
    "minimax_m3_sparse": "full",
    "compressed_sparse_attention": "full",
    "heavily_compressed_attention": "full",
    "sliding_attention": "sliding",
    "sliding_window_attention": "sliding",
    "sliding": "sliding",
    "local": "sliding",
    "local_attention": "sliding",
    "swa": "sliding",
    "chunked_attention": "chunked",
    "chunked": "chunked",
    "linear_attention": "linear",
    "linear": "linear",
    "mamba": "linear",
    "mamba2": "linear",
    "conv": "linear",
    "short_conv": "linear",
    "recurrent": "linear",
    "kda": "linear",
    "hybrid": "hybrid",
    "moe": "experts",
    "mlp": "dense",
    "none": "none",
}
"""Words of layer lists to mixers; ``dense`` and ``experts`` stand for layers that are a feed-forward only."""

LETTERS = {"M": "linear", "*": "full", "-": "dense", "E": "experts"}
"""One letter, one layer."""


@dataclass(frozen=True)
class LayerPlan:
    """One layer before its sizes: what mixes tokens and what feeds forward."""

    mixer: str
    feed_forward: str
    position: int


def layer_count(fields: Fields) -> int:
    """Layers in the stack: stated, or as many as a list of kinds has."""
    if not fields.stated("n_layers"):
        pattern = fields.raw("hybrid_override_pattern")
        if isinstance(pattern, str) and pattern:
            return _bounded(len(pattern))
        for name in ("layer_kinds", "block_configs"):
            kinds = fields.listing(name)
            if kinds:
                return _bounded(len(kinds))
    return fields.size("n_layers", largest=MAX_LAYERS)


def _bounded(n_layers: int) -> int:
    if n_layers > MAX_LAYERS:
        raise ConfigurationError(
            tr("The configuration lists {n:,} layers; at most {most:,} are read.", n=n_layers, most=MAX_LAYERS)
        )
    return n_layers


def layer_plans(fields: Fields, habits: Habits, n_layers: int) -> tuple[LayerPlan, ...]:
    """Plans of all layers."""
    mixers = _mixers(fields, habits, n_layers)
    feeds = _feed_forwards(fields, mixers, n_layers)
    single = habits.sublayers == "single"
    plans = []
    for position, (mixer, feed) in enumerate(zip(mixers, feeds, strict=True)):
        if mixer in ("dense", "experts"):
            plans.append(LayerPlan("none", mixer, position))
        else:
            plans.append(LayerPlan(mixer, "none" if single else feed, position))
    return tuple(plans)


def _mixers(fields: Fields, habits: Habits, n_layers: int) -> Sequence[str]:
    """The first source that the file or the class has."""
    sources: tuple[Callable[[Fields, int], Sequence[str] | None], ...] = (
        _by_letters,
        _by_words,
        _by_numbers,
        _by_positions,
        _by_period,
    )
    for source in sources:
        found = source(fields, n_layers)
        if found is not None:
            return _windowed(found, habits)
    if habits.all_linear:
        return ["linear"] * n_layers
    if habits.pattern:
        return [habits.pattern[i % len(habits.pattern)] for i in range(n_layers)]
    return _by_window(fields, habits, n_layers)


def _windowed(kinds: Sequence[str], habits: Habits) -> Sequence[str]:
    """A class whose attention layers all have a window calls them attention and nothing more."""
    if "sliding" not in habits.pattern or "full" in habits.pattern:
        return kinds
    return ["sliding" if kind == "full" else kind for kind in kinds]


def _by_letters(fields: Fields, n_layers: int) -> Sequence[str] | None:
    pattern = fields.raw("hybrid_override_pattern")
    if pattern is None or fields.stated("layer_kinds"):
        return None
    if not isinstance(pattern, str) or set(pattern) - set(LETTERS):
        raise ConfigurationError(
            tr(
                "'hybrid_override_pattern' must be letters out of {letters}, not {value}.",
                letters="".join(LETTERS),
                value=shown(pattern),
            )
        )
    return _cut([LETTERS[letter] for letter in pattern], n_layers, "hybrid_override_pattern")


def _by_words(fields: Fields, n_layers: int) -> Sequence[str] | None:
    words = fields.listing("layer_kinds")
    if not words:
        return None
    for word in words:
        if not isinstance(word, str) or word not in KINDS:
            raise ConfigurationError(tr("The layer list holds {word}, a kind of layer that is not understood.", word=shown(word)))
    kinds = [KINDS[str(word)] for word in words]
    if fields.listing("block_types"):
        return [kinds[i % len(kinds)] for i in range(n_layers)]
    return _cut(kinds, n_layers, "layer_types")


def _by_numbers(fields: Fields, n_layers: int) -> Sequence[str] | None:
    """Lists with a number per layer."""
    meanings = {
        "hybrid_layer_pattern": {0: "full", 1: "sliding"},
        "attn_type_list": {0: "linear", 1: "full"},
        "no_rope_layers": {0: "full", 1: "chunked"},
    }
    for name, meaning in meanings.items():
        numbers = fields.whole_numbers(name)
        if name == "no_rope_layers" and not fields.optional("attention_chunk_size"):
            continue
        if numbers:
            return _cut([meaning.get(number, "full") for number in numbers], n_layers, name)
    return None


def _by_positions(fields: Fields, n_layers: int) -> Sequence[str] | None:
    """Lists of the positions of one kind."""
    table = fields.table("linear_attn_config")
    if table is not None:
        inner = fields.inner("linear_attn_config")
        full = inner.whole_numbers("full_attn_layers") if inner else None
        if full is not None:
            return _marked({i - 1 for i in full}, "full", "linear", n_layers)
    for name, kind, rest in (
        ("attn_layer_indices", "full", "linear"),
        ("full_attn_idxs", "full", "linear"),
        ("hybrid_layer_ids", "hybrid", "linear"),
        ("cross_attention_layers", "cross", "full"),
    ):
        positions = fields.whole_numbers(name)
        if positions is not None:
            return _marked(set(positions), kind, rest, n_layers)
    return None


def _by_period(fields: Fields, n_layers: int) -> Sequence[str] | None:
    """Numbers that say how often a kind comes."""
    letters = fields.raw("sliding_window_pattern")
    if isinstance(letters, str) and letters and not set(letters) - set("LG"):
        return ["full" if letters[i % len(letters)] == "G" else "sliding" for i in range(n_layers)]
    period = fields.optional("attn_layer_period")
    if period:
        offset = fields.count("attn_layer_offset")
        return ["full" if i % period == offset else "linear" for i in range(n_layers)]
    for name, rest in (
        ("full_attention_interval", "linear"),
        ("layer_group_size", "linear"),
        ("sliding_window_pattern", "sliding"),
        ("_sliding_window_pattern", "sliding"),
        ("global_attn_every_n_layers", "sliding"),
    ):
        period = fields.optional(name)
        if period:
            return ["full" if (i + 1) % period == 0 else rest for i in range(n_layers)]
    if fields.optional("attention_chunk_size"):
        period = fields.optional("no_rope_layer_interval") or 4
        return ["full" if (i + 1) % period == 0 else "chunked" for i in range(n_layers)]
    return None


def _by_window(fields: Fields, habits: Habits, n_layers: int) -> Sequence[str]:
    """All layers alike; under a switched window, the layers from ``max_window_layers`` on."""
    if (habits.window_switch and not fields.flag("use_sliding_window")) or not fields.optional("window"):
        return ["full"] * n_layers
    if not habits.window_switch:
        return ["sliding"] * n_layers
    first = fields.count("max_window_layers")
    return ["sliding" if i >= first else "full" for i in range(n_layers)]


def _cut(kinds: Sequence[str], n_layers: int, name: str) -> Sequence[str]:
    """A list may be longer by the draft layers, never shorter."""
    if len(kinds) < n_layers:
        raise ConfigurationError(
            tr("{name!r} has {n:,} entries for {layers:,} layers.", name=name, n=len(kinds), layers=n_layers)
        )
    return kinds[:n_layers]


def _marked(positions: set[int], kind: str, rest: str, n_layers: int) -> Sequence[str]:
    return [kind if i in positions else rest for i in range(n_layers)]


def has_experts(fields: Fields) -> bool:
    """Whether there are experts to choose among; one is a dense feed-forward."""
    return fields.count("n_experts") > 1


def _feed_forwards(fields: Fields, mixers: Sequence[str], n_layers: int) -> Sequence[str]:
    """Dense, experts, or both, for each layer."""
    if not has_experts(fields):
        return ["dense"] * n_layers
    if fields.flag("enable_moe_block"):
        return ["both"] * n_layers
    for source in (_experts_by_words, _experts_by_positions, _experts_by_range, _experts_by_step):
        found = source(fields, n_layers)
        if found is not None:
            return ["experts" if sparse else "dense" for sparse in found]
    first = fields.optional("first_k_dense_replace")
    if first is None:
        first = fields.count("num_dense_layers")
    step = fields.optional("moe_layer_freq") or 1
    return ["experts" if i >= first and i % step == 0 else "dense" for i in range(n_layers)]


def _experts_by_words(fields: Fields, n_layers: int) -> Sequence[bool] | None:
    words = fields.listing("mlp_layer_types")
    if words:
        return [word in ("sparse", "moe", "hash_moe") for word in _cut([str(w) for w in words], n_layers, "mlp_layer_types")]
    if isinstance(fields.raw("moe_layer_freq"), list):
        numbers = fields.whole_numbers("moe_layer_freq") or []
        return [kind == "1" for kind in _cut([str(min(n, 1)) for n in numbers], n_layers, "moe_layer_freq")]
    return None


def _experts_by_positions(fields: Fields, n_layers: int) -> Sequence[bool] | None:
    text = fields.raw("moe_layers_enum")
    if isinstance(text, str) and text:
        parts = [part.strip() for part in text[: 10 * MAX_LAYERS].split(",")]
        if not all(part.isdecimal() and len(part) < 6 for part in parts):
            raise ConfigurationError(tr("'moe_layers_enum' must be numbers between commas, not {value}.", value=shown(text)))
        positions = {int(part) for part in parts}
        return [i in positions for i in range(n_layers)]
    listed = fields.whole_numbers("moe_layers")
    if listed is None:
        return None
    positions = set(listed)
    return [i in positions for i in range(n_layers)]


def _experts_by_range(fields: Fields, n_layers: int) -> Sequence[bool] | None:
    step = fields.optional("moe_layer_interval")
    if step is None:
        return None
    first = fields.count("moe_layer_start_index")
    end = fields.raw("moe_layer_end_index")
    last = n_layers - 1 if end in (None, -1) else fields.count("moe_layer_end_index")
    return [first <= i <= last and (i + 1) % step == 0 for i in range(n_layers)]


def _experts_by_step(fields: Fields, n_layers: int) -> Sequence[bool] | None:
    period = fields.optional("expert_layer_period")
    if period:
        offset = fields.count("expert_layer_offset")
        return [i % period == offset for i in range(n_layers)]
    step = fields.optional("interleave_moe_layer_step")
    if step:
        return [(i + 1) % step == 0 for i in range(n_layers)]
    step = fields.optional("decoder_sparse_step")
    if step:
        dense = set(fields.whole_numbers("mlp_only_layers") or [])
        return [(i + 1) % step == 0 and i not in dense for i in range(n_layers)]
    return None
