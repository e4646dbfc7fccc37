"""Vision towers and their projectors: parameters only. They run once per image, apart from the text.

A block of width e and feed-forward f has 4 e e in attention, 2 e f (3 e f if gated) in the feed-forward, two norms, and the
biases its class has. Shapes are those of the vision modules of the reference classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from roofline.adapters.families import Habits
from roofline.adapters.fields import MAX_LAYERS, Fields
from roofline.adapters.tensors import vector
from roofline.language import tr
from roofline.specs.model import Tensor

CHANNELS = 3
MLLAMA_TILINGS = 9
"""Ways to arrange up to four tiles, each with an embedding."""
MLLAMA_STATES = 5
"""Intermediate layers whose outputs are joined to the last, where the file does not list them."""
LLAMA4_PATCHES_SHUFFLED = 4096


@dataclass(frozen=True)
class BlockShape:
    """A block of a tower."""

    width: int
    feed: int
    wide_heads: int = 0
    """Width of the heads together, where it is not ``width``."""
    gated: bool = False
    attention_bias: bool = True
    output_bias: bool = True
    feed_bias: bool = True
    norm_bias: bool = True
    extra: int = 0

    @property
    def n_parameters(self) -> int:
        """Weights of one block."""
        e, f, a = self.width, self.feed, self.wide_heads or self.width
        up = 2 if self.gated else 1
        biases = 3 * a * self.attention_bias + e * self.output_bias + (up * f + e) * self.feed_bias
        return 4 * e * a + (up + 1) * e * f + biases + 2 * e * (1 + self.norm_bias) + self.extra


@dataclass(frozen=True)
class Pieces:
    """A tower in three pieces."""

    before: int
    """Patches, positions, first norms."""
    blocks: int
    after: int
    """Last norms, merger, projector."""


def tower_tensors(outer: Fields, habits: Habits, hidden: int) -> list[Tensor]:
    """Weights of the tower a file describes; none where it has none, or one of a kind not known, which is said."""
    for name in ("audio_config", "speech_config"):
        if outer.table(name):
            outer.assume(name, tr("The tower of {name} is not counted.", name=name))
    vision = outer.inner("vision_config")
    if vision is None or not outer.table("vision_config"):
        return []
    maker = _MAKERS.get(habits.tower)
    if maker is None:
        outer.assume("vision_config", tr("The vision tower is of a kind not known here: it is not counted."))
        return []
    pieces = maker(outer, vision, hidden)
    parts = {"patches": pieces.before, "blocks": pieces.blocks, "projector": pieces.after}
    return [vector("vision_audio", f"vision_tower.{name}", "vision_audio", n) for name, n in parts.items() if n > 0]


def _depth(vision: Fields, fallback: int | None = None) -> int:
    names = ("depth", "num_hidden_layers", "vt_num_hidden_layers")
    stated = next((vision.optional(n, MAX_LAYERS) for n in names if vision.stated(n)), None)
    return stated or vision.size("num_hidden_layers", fallback, largest=MAX_LAYERS)


def _side(vision: Fields, name: str, fallback: int) -> int:
    return vision.size(name, fallback)


def _patch(vision: Fields, fallback: int = 14) -> int:
    """Inputs of one patch: channels by area."""
    return CHANNELS * _side(vision, "patch_size", fallback) ** 2


def _n_patches(vision: Fields, image: int) -> int:
    return (_side(vision, "image_size", image) // _side(vision, "patch_size", 14)) ** 2


def _merge(vision: Fields, fallback: int = 2) -> int:
    """Patches merged into one image token."""
    stated = vision.whole_numbers("merge_kernel_size")
    if stated:
        return stated[0] * stated[-1]
    return vision.size("spatial_merge_size", fallback) ** 2


def _mlp(n_in: int, inner: int, n_out: int) -> int:
    """Two matrices with biases."""
    return n_in * inner + inner + inner * n_out + n_out


def _clip(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    e, f = vision.size("hidden_size", 1024), vision.size("intermediate_size", 4096)
    before = _patch(vision) * e + (_n_patches(vision, 336) + 1) * e + e + 2 * e
    newline = hidden if outer.stated("image_grid_pinpoints") else 0
    return Pieces(before, _depth(vision, 24) * BlockShape(e, f).n_parameters, 2 * e + _mlp(e, hidden, hidden) + newline)


def _siglip(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    e, f = vision.size("hidden_size", 1152), vision.size("intermediate_size", 4304)
    before = _patch(vision) * e + e + _n_patches(vision, 896) * e
    pooled = 4 * (e * e + e) + e + 2 * e + _mlp(e, f, e) if vision.flag("vision_use_head", True) else 0
    return Pieces(before, _depth(vision, 27) * BlockShape(e, f).n_parameters, 2 * e + e * hidden + e + pooled)


def _merging_vision(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Towers that merge patches by a multilayer perceptron, their first generation."""
    e = vision.size("embed_dim", 1280)
    f, m = int(e * vision.number("mlp_ratio", 4.0)), _merge(vision) * e
    before = _patch(vision) * _side(vision, "temporal_patch_size", 2) * e
    return Pieces(
        before, _depth(vision, 32) * BlockShape(e, f).n_parameters, 2 * e + _mlp(m, m, vision.size("hidden_size", hidden))
    )


def _merging_gated(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    e, f = vision.size("hidden_size", 1280), vision.size("intermediate_size", 3420)
    m = _merge(vision) * e
    block = BlockShape(e, f, gated=True, norm_bias=False)
    before = _patch(vision) * _side(vision, "temporal_patch_size", 2) * e
    return Pieces(before, _depth(vision, 32) * block.n_parameters, e + _mlp(m, m, vision.size("out_hidden_size", hidden)))


def _merging_deep(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Towers with a position table, whose intermediate outputs may be merged too."""
    e, f = vision.size("hidden_size", 1152), vision.size("intermediate_size", 4304)
    m, out = _merge(vision) * e, vision.size("out_hidden_size", hidden)
    before = (
        _patch(vision, 16) * _side(vision, "temporal_patch_size", 2) * e + e + vision.size("num_position_embeddings", 2304) * e
    )
    stacked = len(vision.listing("deepstack_visual_indexes") or [])
    after = 2 * e + _mlp(m, m, out) + stacked * (2 * m + _mlp(m, m, out))
    return Pieces(before, _depth(vision, 27) * BlockShape(e, f).n_parameters, after)


def _moon(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """MoonViT, with and without biases."""
    e = vision.optional("vt_hidden_size") or vision.size("hidden_size", 1152)
    f = vision.optional("vt_intermediate_size") or vision.size("intermediate_size", 4304)
    rows = vision.optional("init_pos_emb_height") or vision.size("pos_emb_height", 64)
    columns = vision.optional("init_pos_emb_width") or vision.size("pos_emb_width", 64)
    biased, centred = vision.flag("attn_bias", True), vision.text("norm_type") != "rmsnorm"
    block = BlockShape(
        e,
        f,
        vision.optional("qkv_hidden_size") or e,
        attention_bias=biased,
        output_bias=biased,
        feed_bias=vision.flag("linear_bias", True),
        norm_bias=centred,
    )
    before = _patch(vision) * e + e * vision.flag("patch_embed_proj_bias", True) + rows * columns * e
    m, out = _merge(vision) * e, vision.size("text_hidden_size", hidden)
    projector = 2 * e + _mlp(m, m, out) if centred else e + out + m * m + m * out
    return Pieces(before, _depth(vision, 27) * block.n_parameters, e * (1 + centred) + projector)


def _block_sparse_vision(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of MiniMax-M3: a projector per patch, then a merger."""
    e, f = vision.size("hidden_size", 1280), vision.size("intermediate_size", 5120)
    inner = outer.size("projector_hidden_size", hidden)
    before = _patch(vision) * _side(vision, "temporal_patch_size", 2) * e + 2 * e
    merged = _merge(vision) * hidden
    after = _mlp(e, inner, hidden) + _mlp(merged, inner, hidden)
    return Pieces(before, _depth(vision, 32) * BlockShape(e, f).n_parameters, after)


def _shuffling(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of Llama 4: patches are shuffled into wider ones before the adapter."""
    e, f = vision.size("hidden_size", 768), vision.size("intermediate_size", 5632)
    inner, out = (
        vision.size("projector_input_dim", LLAMA4_PATCHES_SHUFFLED),
        vision.size("projector_output_dim", LLAMA4_PATCHES_SHUFFLED),
    )
    before = e + (_n_patches(vision, 448) + 1) * e + _patch(vision) * e + 2 * e
    after = 2 * e + f * inner + inner * out + vision.size("vision_output_dim", 7680) * hidden
    return Pieces(before, _depth(vision, 34) * BlockShape(e, f).n_parameters, after)


def _four_norms(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of Gemma 4: gated blocks of four norms, norms of queries and keys, two-dimensional positions."""
    e, f = vision.size("hidden_size", 768), vision.size("intermediate_size", 3072)
    size = vision.size("head_dim", 64)
    block = BlockShape(
        e, f, gated=True, attention_bias=False, output_bias=False, feed_bias=False, norm_bias=False, extra=2 * e + 2 * size
    )
    before = 2 * vision.size("position_embedding_size", 10240) * e + _patch(vision, 16) * e
    return Pieces(before, _depth(vision, 16) * block.n_parameters, e * hidden)


def _tiled(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of Llama 3.2: local and gated global blocks over tiles."""
    e, f = vision.size("hidden_size", 1280), vision.size("intermediate_size", 5120)
    tiles, rows = vision.size("max_num_tiles", 4), _n_patches(vision, 448) + 1
    local = BlockShape(e, f, attention_bias=False, output_bias=False)
    last = vision.size("num_global_layers", 8)
    blocks = _depth(vision, 32) * local.n_parameters + last * (local.n_parameters + 2)
    tables = 1 + rows * e + (MLLAMA_TILINGS * tiles * rows * e) + 2 * (1 + MLLAMA_TILINGS * tiles * e)
    listed = vision.listing("intermediate_layers_indices")
    joined = e * (1 + (len(listed) if listed is not None else MLLAMA_STATES))
    out = vision.size("vision_output_dim", joined)
    return Pieces(e + _patch(vision) * e + tables + 2 * e, blocks, 2 * e + out * hidden + hidden)


def _plain_gated(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Pixtral: gated blocks without biases, rotary positions, a patch merger."""
    e, f = vision.size("hidden_size", 1024), vision.size("intermediate_size", 4096)
    block = BlockShape(e, f, gated=True, attention_bias=False, output_bias=False, feed_bias=False, norm_bias=False)
    m, bias = outer.size("spatial_merge_size", 2) ** 2, outer.flag("multimodal_projector_bias")
    after = e + m * e * e + e * hidden + hidden * hidden + 2 * hidden * bias
    return Pieces(_patch(vision, 16) * e + e, _depth(vision, 24) * block.n_parameters, after)


def _scaled(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """InternViT: blocks with a scale per channel after each sublayer."""
    e, f = vision.size("hidden_size", 1024), vision.size("intermediate_size", 4096)
    block = BlockShape(e, f, attention_bias=vision.flag("attention_bias") or vision.flag("qkv_bias"), extra=2 * e)
    rows = _n_patches(vision, 448) + 1
    m = 4 * e
    after = 2 * m + _mlp(m, hidden, hidden)
    return Pieces(e + rows * e + _patch(vision) * e + e, _depth(vision, 24) * block.n_parameters, after)


def _downsampling(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of GLM-V: gated blocks, a strided convolution, a gated merger."""
    e, out = vision.size("hidden_size", 1536), vision.size("out_hidden_size", hidden)
    wide = vision.size("intermediate_size", 13696)
    block = BlockShape(e, out, gated=True, attention_bias=False, output_bias=False, feed_bias=False, norm_bias=False)
    before = _patch(vision) * _side(vision, "temporal_patch_size", 2) * e + e + _n_patches(vision, 336) * e + e
    after = e + e * out * _merge(vision) + out + out * out + 2 * out + 3 * out * wide
    return Pieces(before, _depth(vision, 24) * block.n_parameters, after)


def _strided(outer: Fields, vision: Fields, hidden: int) -> Pieces:
    """Tower of Step: scaled blocks, then two strided convolutions that double the width."""
    e, f = vision.size("hidden_size", 1536), vision.size("intermediate_size", 8960)
    before = _patch(vision) * e + vision.size("max_position_embeddings", _n_patches(vision, 728)) * e + 2 * e
    doubled = 9 * e * 2 * e + 2 * e + 9 * 2 * e * 4 * e + 4 * e
    after = doubled + 4 * e * hidden + hidden * outer.flag("projector_bias")
    return Pieces(before, _depth(vision, 47) * BlockShape(e, f, extra=2 * e).n_parameters, after)


_MAKERS: dict[str, Callable[[Fields, Fields, int], Pieces]] = {
    "clip": _clip,
    "siglip": _siglip,
    "qwen2_vl": _merging_vision,
    "qwen2_5_vl": _merging_gated,
    "qwen3_vl": _merging_deep,
    "moonvit": _moon,
    "minimax_m3": _block_sparse_vision,
    "llama4": _shuffling,
    "gemma4": _four_norms,
    "mllama": _tiled,
    "pixtral": _plain_gated,
    "internvl": _scaled,
    "glm4v": _downsampling,
    "step": _strided,
}
