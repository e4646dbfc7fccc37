"""From tensors and metadata of a GGUF layer to its mixers: what attends, what recurs, and whether the shapes agree.

Spans, cache and FLOPs come from the cards that configurations use too; only the tensors are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roofline.adapters import recurrent_cards as recurrent
from roofline.adapters.attention_cards import AttentionExtras, HeadShape, attention
from roofline.adapters.gguf_metadata import Metadata
from roofline.adapters.latent_cards import IndexShape, LatentShape, latent_attention
from roofline.errors import ConfigurationError
from roofline.language import later, localised, tr
from roofline.specs.model import Block, Tensor

CHUNK = 256
"""Tokens per chunk of Mamba-2's kernels, which files do not say."""
_SHAPES = (
    later("The tensor 'blk.{layer}.{role}' has {n:,} columns; the metadata asks for {asked}."),
    later("The tensor 'blk.{layer}.{role}' has {n:,} rows; the metadata asks for {asked}."),
)
"""What is said of a shape that does not agree, by axis."""


class Layer:
    """Matrices of one layer by role, and where to find its numbers."""

    def __init__(self, metadata: Metadata, position: int, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.metadata, self.position, self._shapes = metadata, position, shapes

    def has(self, *roles: str) -> bool:
        """Whether any of these tensors is there."""
        return any(role in self._shapes for role in roles)

    def size(self, key: str, fallback: int | None = None) -> int:
        """A number of this layer."""
        return self.metadata.size(key, self.position, fallback)

    def optional(self, key: str) -> int | None:
        """A number of this layer, or None."""
        return self.metadata.optional(key, self.position)

    def rows(self, role: str) -> int:
        """Rows of a matrix that must be there."""
        return self._dimension(role, 1)

    def columns(self, role: str) -> int:
        """Length of a row of a matrix that must be there."""
        return self._dimension(role, 0)

    def _dimension(self, role: str, axis: int) -> int:
        shape = self._shapes.get(role)
        if shape is None:
            raise ConfigurationError(
                tr("Layer {layer:,} has no tensor '{role}', which its kind of layer needs.", layer=self.position, role=role)
            )
        return shape[axis] if axis < len(shape) else 1

    def check(self, role: str, axis: int, *expected: int) -> None:
        """Refuse a matrix whose shape is not what the metadata says."""
        if self.has(role) and self._dimension(role, axis) not in expected:
            asked = tr(" or ").join(localised(f"{n:,}") for n in dict.fromkeys(expected))
            raise ConfigurationError(
                tr(_SHAPES[axis], layer=self.position, role=role, n=self._dimension(role, axis), asked=asked)
            )


def head_shape(layer: Layer, *, windowed: bool) -> HeadShape:
    """Heads and their sizes, which may differ between full and windowed layers."""
    hidden = layer.metadata.size("embedding_length")
    n_heads = layer.size("attention.head_count")
    n_kv_heads = layer.size("attention.head_count_kv", n_heads)
    plain = hidden // n_heads or None
    key, value = layer.optional("attention.key_length"), layer.optional("attention.value_length")
    if windowed:
        key = layer.optional("attention.key_length_swa") or key
        value = layer.optional("attention.value_length_swa") or value
    if n_kv_heads > n_heads or n_heads % n_kv_heads:
        raise ConfigurationError(
            tr("{n:,} query heads cannot share {of:,} key-value heads: they must be a multiple.", n=n_heads, of=n_kv_heads)
        )
    if plain is None and (key is None or value is None):
        raise ConfigurationError(
            tr("{n:,} heads do not fit in a width of {width:,}, and no key_length is given.", n=n_heads, width=hidden)
        )
    return HeadShape(hidden, n_heads, n_kv_heads, key or plain or 1, value or plain or 1)


def per_head_attention(layer: Layer, *, shared: bool) -> tuple[Block, HeadShape]:
    """Multi-head, grouped or multi-query attention with what it sees."""
    reach = layer.metadata.reach(layer.position)
    shape = head_shape(layer, windowed=reach.span != "full")
    queries = shape.n_heads * shape.key_size
    keys, values = shape.n_kv_heads * shape.key_size, shape.n_kv_heads * shape.value_size
    layer.check("attn_q", 1, queries, 2 * queries)
    layer.check("attn_qkv", 1, queries + keys + values)
    layer.check("attn_k", 1, keys)
    layer.check("attn_v", 1, values)
    layer.check("attn_output", 0, shape.n_heads * shape.value_size)
    for role in ("attn_q", "attn_k") if not layer.has("attn_qkv") and not shared else ():
        layer.rows(role)
    layer.rows("attn_output")
    return attention(shape, AttentionExtras(reads_other_cache=shared), reach), shape


def latent(layer: Layer) -> Block:
    """Latent attention; the cache is one latent and one rotary key per token.

    Files from 2025 on state the sizes of heads as ``key_length_mla`` and ``value_length_mla``, earlier ones as
    ``key_length`` and ``value_length``, and split kv_b into k_b and v_b: ``DeepseekV2Model`` of llama.cpp's converter.
    """
    rank = layer.size("attention.kv_lora_rank")
    rope = layer.size("rope.dimension_count")
    key = layer.size("attention.key_length_mla", layer.optional("attention.key_length"))
    value = layer.size("attention.value_length_mla", layer.optional("attention.value_length"))
    n_heads = layer.size("attention.head_count")
    if key <= rope:
        raise ConfigurationError(tr("Keys of {n:,} cannot hold a rotary part of {rotary:,}.", n=key, rotary=rope))
    layer.check("attn_kv_a_mqa", 1, rank + rope)
    layer.check("attn_q_b" if layer.has("attn_q_b") else "attn_q", 1, n_heads * key)
    layer.check("attn_kv_b", 1, n_heads * (key - rope + value))
    layer.check("attn_output", 0, n_heads * value)
    layer.rows("attn_output")
    if not layer.has("attn_kv_b"):
        layer.rows("attn_k_b")
        layer.rows("attn_v_b")
    shape = LatentShape(
        hidden=layer.metadata.size("embedding_length"),
        n_heads=n_heads,
        query_rank=layer.columns("attn_q_b") if layer.has("attn_q_b") else None,
        latent_rank=rank,
        nope_size=key - rope,
        rope_size=rope,
        value_size=value,
    )
    return latent_attention(shape, _index(layer))


def _index(layer: Layer) -> IndexShape | None:
    top_k = layer.metadata.optional("attention.indexer.top_k")
    if top_k is None:
        if layer.has("indexer.attn_k"):
            raise ConfigurationError(
                tr("Layer {layer:,} has an indexer, but the file does not say its top_k.", layer=layer.position)
            )
        return None
    heads, size = layer.size("attention.indexer.head_count"), layer.size("attention.indexer.key_length")
    layer.check("indexer.attn_q_b", 1, heads * size)
    layer.check("indexer.attn_k", 1, size)
    return IndexShape(heads, size, top_k, owned=layer.has("indexer.attn_k"))


def _mamba(layer: Layer) -> Block:
    width, state = layer.size("ssm.inner_size"), layer.size("ssm.state_size")
    rank, columns = layer.size("ssm.time_step_rank"), layer.size("ssm.conv_kernel")
    layer.check("ssm_in", 1, 2 * width)
    layer.check("ssm_conv1d", 0, columns)
    layer.check("ssm_x", 1, rank + 2 * state)
    layer.check("ssm_dt", 1, width)
    layer.check("ssm_out", 0, width)
    layer.rows("ssm_out")
    hidden = layer.metadata.size("embedding_length")
    shape = recurrent.SelectiveShape(hidden=hidden, width=width, state=state, columns=columns, step_rank=rank)
    return recurrent.selective_state(shape)


def _mamba2(layer: Layer) -> Block:
    width, state = layer.size("ssm.inner_size"), layer.size("ssm.state_size")
    heads, groups, columns = layer.size("ssm.time_step_rank"), layer.size("ssm.group_count", 1), layer.size("ssm.conv_kernel")
    channels = width + 2 * groups * state
    layer.check("ssm_in", 1, channels + width + heads)
    layer.check("ssm_conv1d", 0, columns)
    layer.check("ssm_out", 0, width)
    layer.rows("ssm_out")
    layer.metadata.assume(
        "chunk", tr("Prompts pass through Mamba-2 in chunks of {n} tokens, which the file does not say.", n=CHUNK)
    )
    hidden = layer.metadata.size("embedding_length")
    return recurrent.dual_state(
        recurrent.SelectiveShape(
            hidden=hidden, width=width, state=state, columns=columns, heads=heads, groups=groups, chunk=CHUNK
        )
    )


def _delta_net(layer: Layer) -> Block:
    """Keys are as many and as wide as groups and state say; values as time_step_rank and inner_size say."""
    key_size, key_heads = layer.size("ssm.state_size"), layer.size("ssm.group_count")
    value_heads, width = layer.size("ssm.time_step_rank"), layer.size("ssm.inner_size")
    columns = layer.size("ssm.conv_kernel")
    channels = 2 * key_heads * key_size + width
    layer.check("attn_qkv", 1, channels)
    layer.check("ssm_in", 1, channels + width)
    layer.check("attn_gate", 1, width)
    layer.check("ssm_conv1d", 0, columns)
    layer.check("ssm_out", 0, width)
    layer.rows("attn_qkv" if layer.has("attn_qkv") else "ssm_in")
    layer.rows("ssm_out")
    if width % value_heads:
        raise ConfigurationError(
            tr("'ssm.inner_size' must be a multiple of the {heads:,} value heads, not {n:,}.", heads=value_heads, n=width)
        )
    return recurrent.gated_delta_net(
        recurrent.DeltaShape(
            hidden=layer.metadata.size("embedding_length"),
            key_heads=key_heads,
            value_heads=value_heads,
            key_size=key_size,
            value_size=width // value_heads,
            columns=columns,
        )
    )


def _delta_attention(layer: Layer) -> Block:
    heads, size, columns = layer.size("attention.head_count"), layer.size("kda.head_dim"), layer.size("ssm.conv_kernel")
    for role in ("attn_q", "attn_k", "attn_v"):
        layer.check(role, 1, heads * size)
        layer.rows(role)
    layer.check("attn_output", 0, heads * size)
    layer.rows("attn_output")
    return recurrent.delta_attention(
        recurrent.DeltaShape(
            hidden=layer.metadata.size("embedding_length"),
            key_heads=heads,
            value_heads=heads,
            key_size=size,
            value_size=size,
            columns=columns,
            state_bits=32,
        )
    )


def _short_convolution(layer: Layer) -> Block:
    hidden, columns = layer.metadata.size("embedding_length"), layer.size("shortconv.l_cache")
    layer.check("shortconv.in_proj", 1, 3 * hidden)
    layer.check("shortconv.conv", 0, columns)
    layer.rows("shortconv.out_proj")
    return recurrent.short_convolution(hidden, columns, bias=False)


def recurrent_maker(layer: Layer) -> Callable[[Layer], Block] | None:
    """The kind of recurrence that a layer's tensors are of."""
    kinds: tuple[tuple[tuple[str, ...], Callable[[Layer], Block]], ...] = (
        (("shortconv.in_proj",), _short_convolution),
        (("ssm_conv1d_q",), _delta_attention),
        (("ssm_ba", "ssm_beta", "ssm_alpha"), _delta_net),
        (("ssm_x",), _mamba),
        (("ssm_in",), _mamba2),
    )
    return next((maker for roles, maker in kinds if layer.has(*roles)), None)


def is_delta(layer: Layer) -> bool:
    """Whether names of attention are of a delta rule here."""
    return layer.has("ssm_conv1d_q", "ssm_ba", "ssm_beta", "ssm_alpha")


def attention_block(layer: Layer, *, shared: bool) -> tuple[Block, HeadShape | None] | None:
    """The attention of a layer, where it has any."""
    if layer.has("attn_kv_a_mqa"):
        return latent(layer), None
    if layer.has("indexer.attn_k", "indexer.attn_q_b", "indexer.proj"):
        raise ConfigurationError(
            tr("Layer {layer:,} has an indexer on attention per head, which is not understood.", layer=layer.position)
        )
    if layer.has("attn_q", "attn_qkv"):
        return per_head_attention(layer, shared=shared)
    if layer.has("attn_output"):
        return Block(kind="matrix"), None
    if layer.has("attn_k", "attn_v", "attn_q_b", "attn_kv_b"):
        raise ConfigurationError(tr("Layer {layer:,} has keys or values but no queries.", layer=layer.position))
    return None


def fused_pieces(fused: Tensor, shape: HeadShape) -> list[Tensor]:
    """A fused query, key and value matrix as the three it is made of."""
    parts = (
        ("attention/query", "self_attn.q_proj", "heads", shape.n_heads * shape.key_size),
        ("attention/key_value", "self_attn.k_proj", "kv_heads", shape.n_kv_heads * shape.key_size),
        ("attention/key_value", "self_attn.v_proj", "kv_heads", shape.n_kv_heads * shape.value_size),
    )
    return [
        fused.model_copy(update={"operator": operator, "module": module, "split": split, "n_out": rows})
        for operator, module, split, rows in parts
    ]
