"""Cards of softmax attention with keys and values per head: from numbers to a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roofline.adapters.tensors import matrix, norm, vector
from roofline.specs.model import Attend, Block, Tensor

Span = Literal["full", "sliding", "chunked", "sparse", "cross"]


@dataclass(frozen=True)
class HeadShape:
    """Heads of one attention."""

    hidden: int
    n_heads: int
    n_kv_heads: int
    key_size: int
    value_size: int


@dataclass(frozen=True)
class AttentionExtras:
    """What a class adds to plain attention."""

    bias_qkv: bool = False
    bias_o: bool = False
    qk_norm: str = "none"
    query_gate: bool = False
    """The query projection also makes an output gate: it is twice as wide."""
    gate: str = "none"
    """A gate projection of its own: one per head, or of the width of the heads."""
    n_sinks: int = 0
    fused: bool = False
    has_value: bool = True
    """False where the value is the key before its norm (no value matrix, both cached)."""
    reads_other_cache: bool = False
    """Keys and values come from an earlier layer: no matrices for them and no cache."""
    index_heads: int = 0
    index_size: int = 0
    in_use: bool = True
    """False for layers that a text prompt skips."""


@dataclass(frozen=True)
class Reach:
    """Which earlier positions a query sees."""

    span: Span = "full"
    window: int | None = None
    chunk: int | None = None
    top_k: int | None = None


def attention(shape: HeadShape, extras: AttentionExtras, reach: Reach) -> Block:
    """Multi-head, grouped-query or multi-query attention, and its windowed, chunked and block-sparse forms.

        q: h H d,   k: h K d,   v: h K d_v,   o: H d_v h;   cache K (d + d_v) per token

    H d need not equal h. Grouping saves bytes, not FLOPs.

    J. Ainslie et al., "GQA", 2023, section 2; I. Beltagy et al., "Longformer", 2020 (window); key and value projections
    as in the ``self_attn`` module of the reference decoder classes.
    """
    tensors = [*_projections(shape, extras), *_qk_norms(shape, extras)]
    if extras.n_sinks:
        tensors.append(vector("attention/query", "self_attn.sinks", "attention", extras.n_sinks))
    kept = 0 if extras.reads_other_cache else shape.n_kv_heads * (shape.key_size + shape.value_size)
    attends = [
        Attend(
            kind=reach.span,
            n_heads=shape.n_heads,
            n_kv_heads=shape.n_kv_heads,
            key_size=shape.key_size,
            value_size=shape.value_size,
            cache_elements=kept,
            read_elements=shape.n_kv_heads * (shape.key_size + shape.value_size),
            window=reach.window,
            chunk=reach.chunk,
            top_k=reach.top_k,
        )
    ]
    if extras.index_heads:
        index_tensors, index = block_index(shape.hidden, extras.index_heads, extras.index_size)
        tensors += index_tensors
        attends.append(index)
    if not extras.in_use:
        tensors = [t.model_copy(update={"use": "vector"}) for t in tensors]
    return Block(kind=_card_name(shape), tensors=tuple(tensors), attends=tuple(attends), reduces=extras.in_use)


def block_index(hidden: int, n_heads: int, size: int) -> tuple[list[Tensor], Attend]:
    """Index branch of block-sparse attention: queries per group, one key, norms on both.

        index q: h n d,   index k: h d,   norms 2 d;   scores 2 n d per earlier token; cache d per token

    Selection scores of MiniMax-M3's sparse layers: ``index_q_proj`` and ``index_k_proj`` of its attention module.
    """
    tensors = [
        matrix("attention/index", "self_attn.index_q_proj", "attention", n_heads * size, hidden),
        matrix("attention/index", "self_attn.index_k_proj", "attention", size, hidden),
        vector("norms", "self_attn.index_norm", "norm", 2 * size),
    ]
    return tensors, index_attend(n_heads, size)


def index_attend(n_heads: int, size: int, *, stride: int = 1) -> Attend:
    """Scores of an index over all earlier (compressed) tokens: ``2 n d`` FLOPs and d cached elements each."""
    return Attend(
        kind="index",
        n_heads=n_heads,
        n_kv_heads=1,
        key_size=size,
        value_size=0,
        cache_elements=size,
        read_elements=size,
        stride=stride,
    )


def _card_name(shape: HeadShape) -> str:
    if shape.n_kv_heads == shape.n_heads:
        return "multi-head attention"
    return "multi-query attention" if shape.n_kv_heads == 1 else "grouped-query attention"


def _projections(shape: HeadShape, extras: AttentionExtras) -> list[Tensor]:
    """Query, key, value, output and gate matrices with their biases."""
    queries, keys = shape.n_heads * shape.key_size, shape.n_kv_heads * shape.key_size
    values, out = shape.n_kv_heads * shape.value_size, shape.n_heads * shape.value_size
    queries *= 2 if extras.query_gate else 1
    gguf = ("attn_qkv",) * 3 if extras.fused else ("attn_q", "attn_k", "attn_v")
    tensors = [_projection("attention/query", "self_attn.q_proj", queries, shape.hidden, gguf[0], "heads")]
    if not extras.reads_other_cache:
        tensors.append(_projection("attention/key_value", "self_attn.k_proj", keys, shape.hidden, gguf[1], "kv_heads"))
        if extras.has_value:
            tensors.append(_projection("attention/key_value", "self_attn.v_proj", values, shape.hidden, gguf[2], "kv_heads"))
    tensors.append(_projection("attention/output", "self_attn.o_proj", shape.hidden, out, "attn_output", "heads"))
    if extras.bias_qkv:
        tensors.append(vector("attention/query", "self_attn.q_proj.bias", "attention", queries, split="heads"))
        if not extras.reads_other_cache:
            n = keys + (values if extras.has_value else 0)
            tensors.append(vector("attention/key_value", "self_attn.kv_proj.bias", "attention", n, split="kv_heads"))
    if extras.bias_o:
        tensors.append(vector("attention/output", "self_attn.o_proj.bias", "attention", shape.hidden))
    if extras.gate != "none":
        width = shape.n_heads if extras.gate == "heads" else out
        tensors.append(_projection("attention/gate", "self_attn.g_proj", width, shape.hidden, "attn_gate", "heads"))
    return tensors


def _projection(operator: str, module: str, n_out: int, n_in: int, gguf: str, split: Literal["heads", "kv_heads"]) -> Tensor:
    return matrix(operator, module, "attention", n_out, n_in, split=split, gguf=gguf)


def _qk_norms(shape: HeadShape, extras: AttentionExtras) -> tuple[Tensor, ...]:
    """Norms of queries and keys."""
    if extras.qk_norm == "none":
        return ()
    wide = extras.qk_norm == "full"
    kind = "layer" if extras.qk_norm == "head_layer" else "rms"
    queries = norm("self_attn.q_norm", shape.key_size * (shape.n_heads if wide else 1), kind)
    keys = norm("self_attn.k_norm", shape.key_size * (shape.n_kv_heads if wide else 1), kind)
    return queries if extras.reads_other_cache else queries + keys
