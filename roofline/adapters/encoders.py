"""Encoder-decoder models: the decoder as layers, the encoder as weights that run once per request.

The answer is that of the decoder. The encoder's work depends on a source that a text prompt does not have, and so does
the cache of the cross-attention: both are left out of FLOPs and of the cache per token, and said to be.
"""

from __future__ import annotations

from dataclasses import dataclass

from roofline.adapters.attention_cards import AttentionExtras, HeadShape, Reach, attention
from roofline.adapters.families import Habits
from roofline.adapters.feedforward_cards import FeedForwardShape, dense
from roofline.adapters.fields import MAX_LAYERS, Fields
from roofline.adapters.tensors import norm, norm_block, vector
from roofline.language import tr
from roofline.specs.model import Block, LayerGroup, Tensor

CONVOLUTION_COLUMNS = 3
"""Of the two convolutions before an audio encoder."""


@dataclass(frozen=True)
class StackShape:
    """One stack of an encoder-decoder."""

    n_layers: int
    heads: HeadShape
    width: int
    gated: bool
    bias: bool
    norm: str


def decoder_groups(fields: Fields, habits: Habits) -> tuple[LayerGroup, ...]:
    """Layers of the decoder: self-attention, cross-attention, feed-forward, three norms.

    C. Raffel et al., "T5", 2020, section 2.1; A. Radford et al., "Whisper", 2022, section 2.2: keys have no bias.
    """
    shape = _stack(fields, habits, decoder=True)
    blocks = (_attention(shape), _cross(shape), _feed(shape), _norms(shape, 3))
    fields.assume(
        "encoder", tr("FLOPs and cache are of the decoder: the encoder and the cross-attention cache depend on the source.")
    )
    return (LayerGroup(layers=tuple(range(shape.n_layers)), blocks=blocks),)


def decoder_layers(fields: Fields) -> int:
    """Layers of the decoder; as many as the encoder has where the file does not say."""
    for name in ("num_decoder_layers", "decoder_layers"):
        stated = fields.optional(name, MAX_LAYERS)
        if stated:
            return stated
    return fields.size("n_layers", largest=MAX_LAYERS)


def encoder_tensors(fields: Fields, habits: Habits) -> list[Tensor]:
    """All weights of the encoder and of what comes before it, held but not part of a text token's work."""
    shape = _stack(fields, habits, decoder=False)
    layer = [t for block in (_attention(shape), _feed(shape), _norms(shape, 2)) for t in block.tensors]
    hidden = shape.heads.hidden
    tensors = [_held(t, shape.n_layers) for t in layer]
    tensors += [_held(t, 1) for t in norm("encoder.norm", hidden, shape.norm)]
    buckets = fields.optional("relative_attention_num_buckets")
    if buckets:
        tables = shape.n_layers + decoder_layers(fields) if habits.bias_every_layer else 2
        tensors.append(vector("other", "relative_attention_bias", "other", buckets * shape.heads.n_heads, copies=tables))
    mels = fields.optional("num_mel_bins")
    if mels:
        first = CONVOLUTION_COLUMNS * hidden * mels + hidden
        second = CONVOLUTION_COLUMNS * hidden * hidden + hidden
        tensors.append(vector("vision_audio", "encoder.conv", "other", first + second))
        tensors.append(vector("embedding", "encoder.embed_positions", "embedding", fields.size("max_source_positions") * hidden))
    return tensors


def _held(tensor: Tensor, copies: int) -> Tensor:
    return tensor.model_copy(
        update={
            "n_copies": copies,
            "use": "vector",
            "module": f"encoder.{tensor.module}",
            "operator": "other",
            "split": "replicated",
        }
    )


def _stack(fields: Fields, habits: Habits, *, decoder: bool) -> StackShape:
    side = "decoder" if decoder else "encoder"
    hidden = fields.size("hidden_size")
    n_heads = fields.optional(f"{side}_attention_heads") or fields.size("n_heads")
    size = fields.size("key_size", fallback=hidden // n_heads or None)
    stated = fields.raw("feed_forward_proj")
    gated = str(stated).startswith("gated") if stated is not None else fields.flag("is_gated_act")
    n_layers = decoder_layers(fields) if decoder else fields.optional("encoder_layers", MAX_LAYERS) or fields.size("n_layers")
    return StackShape(
        n_layers=n_layers,
        heads=HeadShape(hidden, n_heads, n_heads, size, size),
        width=fields.optional(f"{side}_ffn_dim") or fields.size("ffn_size"),
        gated=gated,
        bias=bool(habits.bias_mlp),
        norm=habits.norm,
    )


def _attention(shape: StackShape) -> Block:
    block = attention(shape.heads, AttentionExtras(bias_o=shape.bias), Reach())
    return _with_biases(block, shape)


def _with_biases(block: Block, shape: StackShape) -> Block:
    if not shape.bias:
        return block
    biases = vector("attention/query", "self_attn.qv_proj.bias", "attention", 2 * shape.heads.hidden)
    return block.model_copy(update={"tensors": (*block.tensors, biases)})


def _cross(shape: StackShape) -> Block:
    """Cross-attention: queries and outputs per token, keys and values once per source."""
    block = _with_biases(attention(shape.heads, AttentionExtras(bias_o=shape.bias), Reach("cross")), shape)
    tensors = tuple(
        t.model_copy(
            update={
                "module": t.module.replace("self_attn", "encoder_attn"),
                "use": "vector" if t.operator == "attention/key_value" else t.use,
            }
        )
        for t in block.tensors
    )
    return block.model_copy(update={"tensors": tensors, "kind": "cross-attention"})


def _feed(shape: StackShape) -> Block:
    return dense(FeedForwardShape(hidden=shape.heads.hidden, width=shape.width, gated=shape.gated, bias=shape.bias))


def _norms(shape: StackShape, n: int) -> Block:
    return norm_block({f"layer_norm.{i}": shape.heads.hidden for i in range(n)}, shape.norm)
