"""Cards of attention that caches one compressed vector for all heads: from numbers to a block."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.adapters.attention_cards import index_attend
from roofline.adapters.tensors import matrix, norm, vector
from roofline.specs.model import Attend, Block, Recurrence, Tensor


@dataclass(frozen=True)
class LatentShape:
    """Sizes of multi-head latent attention."""

    hidden: int
    n_heads: int
    query_rank: int | None
    latent_rank: int
    nope_size: int
    rope_size: int
    value_size: int
    bias: bool = False
    gate: str = "none"


@dataclass(frozen=True)
class IndexShape:
    """Sizes of the indexer that picks the keys of sparse attention."""

    n_heads: int
    size: int
    top_k: int
    owned: bool = True
    """False where a layer takes over the selection of an earlier one."""


def latent_attention(shape: LatentShape, index: IndexShape | None = None) -> Block:
    """Multi-head latent attention, dense or with an indexer.

        q: h q + q + q H (n + p)  (or h H (n + p));   kv_a: h (r + p) + r;   kv_b: r H (n + d_v);   o: H d_v h
        cache r + p per token for all heads

    Expanded, a visited key costs 2 H (n + p + d_v) FLOPs; absorbed, 2 H (2 r + p). With an indexer a query visits at
    most ``top_k`` keys, after scoring all of them with 2 n_i d_i FLOPs each.

    DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1 and appendix C; "DeepSeek-V3.2", 2025 (indexer).
    """
    h, heads = shape.hidden, shape.n_heads
    up = heads * (shape.nope_size + shape.value_size)
    tensors = [
        *_latent_queries(shape),
        matrix(
            "attention/latent_down",
            "self_attn.kv_a_proj_with_mqa",
            "attention",
            shape.latent_rank + shape.rope_size,
            h,
            gguf="attn_kv_a_mqa",
        ),
        *norm("self_attn.kv_a_layernorm", shape.latent_rank),
        matrix(
            "attention/latent_up",
            "self_attn.kv_b_proj",
            "attention",
            up,
            shape.latent_rank,
            split="heads",
            gguf="attn_kv_b",
        ),
        matrix(
            "attention/output",
            "self_attn.o_proj",
            "attention",
            h,
            heads * shape.value_size,
            split="heads",
            gguf="attn_output",
        ),
        *_latent_extras(shape),
    ]
    attends = [_latent_attend(shape, index, up * shape.latent_rank)]
    if index is not None and index.owned:
        tensors += _indexer(h, shape.query_rank or h, index)
        attends.append(index_attend(index.n_heads, index.size))
    name = "latent attention" if index is None else "latent attention with an indexer"
    return Block(kind=name, tensors=tuple(tensors), attends=tuple(attends))


def _latent_queries(shape: LatentShape) -> list[Tensor]:
    width = shape.n_heads * (shape.nope_size + shape.rope_size)
    if shape.query_rank is None:
        full = matrix("attention/query", "self_attn.q_proj", "attention", width, shape.hidden, split="heads", gguf="attn_q")
        return [full]
    return [
        matrix(
            "attention/latent_down",
            "self_attn.q_a_proj",
            "attention",
            shape.query_rank,
            shape.hidden,
            gguf="attn_q_a",
        ),
        *norm("self_attn.q_a_layernorm", shape.query_rank),
        matrix(
            "attention/latent_up",
            "self_attn.q_b_proj",
            "attention",
            width,
            shape.query_rank,
            split="heads",
            gguf="attn_q_b",
        ),
    ]


def _latent_extras(shape: LatentShape) -> list[Tensor]:
    """Biases and an output gate."""
    tensors = []
    if shape.bias:
        down = shape.latent_rank + shape.rope_size + (shape.query_rank or 0)
        tensors.append(vector("attention/latent_down", "self_attn.a_proj.bias", "attention", down))
        tensors.append(vector("attention/output", "self_attn.o_proj.bias", "attention", shape.hidden))
    if shape.gate != "none":
        width = shape.n_heads * (shape.value_size if shape.gate == "width" else 1)
        tensors.append(matrix("attention/gate", "self_attn.g_proj", "attention", width, shape.hidden, split="heads"))
    return tensors


def _latent_attend(shape: LatentShape, index: IndexShape | None, expansion: int) -> Attend:
    record = shape.latent_rank + shape.rope_size
    return Attend(
        kind="latent" if index is None else "sparse",
        n_heads=shape.n_heads,
        n_kv_heads=1,
        key_size=shape.nope_size + shape.rope_size,
        value_size=shape.value_size,
        cache_elements=record,
        read_elements=record,
        top_k=None if index is None else index.top_k,
        absorbed_key_size=record,
        absorbed_value_size=shape.latent_rank,
        expansion_elements=expansion,
    )


def _indexer(hidden: int, query_rank: int, index: IndexShape) -> list[Tensor]:
    """Queries from the query latent, one key, a weight per index head, and a layer norm of the key."""
    name = "self_attn.indexer"
    return [
        matrix("attention/index", f"{name}.wq_b", "attention", index.n_heads * index.size, query_rank),
        matrix("attention/index", f"{name}.wk", "attention", index.size, hidden),
        matrix("attention/index", f"{name}.weights_proj", "attention", index.n_heads, hidden),
        *norm(f"{name}.k_norm", index.size, "layer"),
    ]


@dataclass(frozen=True)
class CompressedShape:
    """Sizes of attention over a raw window and compressed entries."""

    hidden: int
    n_heads: int
    size: int
    query_rank: int
    output_rank: int
    output_groups: int
    window: int
    ratio: int
    """Tokens per compressed entry; 0 for the window alone."""
    index: IndexShape | None


def compressed_attention(shape: CompressedShape) -> Block:
    """Attention whose single key is its value too, over a window and over compressed entries.

        q: h q + q + q H d;   kv: h d + d;   o: H d o_r, then g o_r h;   sinks H
        compressor: 2 h (c d) + ratio c d + d, with c = 2 where an indexer picks entries (overlapping), else 1
        cache: d per raw token of the window, d (+ d_i) per compressed entry

    DeepSeek-AI, "DeepSeek-V4" technical report, 2026: compressed sparse and heavily compressed attention; the
    ``compress_ratios`` of the configuration say which layer is which.
    """
    h, d, heads = shape.hidden, shape.size, shape.n_heads
    width = heads * d
    tensors = [
        vector("attention/query", "self_attn.sinks", "attention", heads),
        matrix("attention/latent_down", "self_attn.wq_a", "attention", shape.query_rank, h),
        *norm("self_attn.q_norm", shape.query_rank),
        matrix("attention/latent_up", "self_attn.wq_b", "attention", width, shape.query_rank, split="heads"),
        matrix("attention/key_value", "self_attn.wkv", "attention", d, h),
        *norm("self_attn.kv_norm", d),
        matrix(
            "attention/output",
            "self_attn.wo_a",
            "attention",
            shape.output_rank,
            width // shape.output_groups,
            copies=shape.output_groups,
            split="heads",
        ),
        matrix("attention/output", "self_attn.wo_b", "attention", h, shape.output_groups * shape.output_rank, split="heads"),
    ]
    attends = [_entry_attend(shape, "sliding", window=shape.window)]
    recurrences: tuple[Recurrence, ...] = ()
    if shape.ratio:
        tensors += _compressor("self_attn.compressor", h, d, shape.ratio, overlapping=shape.index is not None)
        top_k = shape.index.top_k if shape.index else None
        attends.append(_entry_attend(shape, "compressed", stride=shape.ratio, top_k=top_k))
        recurrences = (_compressor_state(shape),)
    if shape.ratio and shape.index:
        tensors += _compressed_indexer(shape, shape.index)
        attends.append(index_attend(shape.index.n_heads, shape.index.size, stride=shape.ratio))
    return Block(kind="compressed attention", tensors=tuple(tensors), attends=tuple(attends), recurrences=recurrences)


def _entry_attend(
    shape: CompressedShape, kind: str, *, window: int | None = None, stride: int = 1, top_k: int | None = None
) -> Attend:
    return Attend.model_validate(
        {
            "kind": kind,
            "n_heads": shape.n_heads,
            "n_kv_heads": 1,
            "key_size": shape.size,
            "value_size": shape.size,
            "cache_elements": shape.size,
            "read_elements": shape.size,
            "window": window,
            "stride": stride,
            "top_k": top_k,
        }
    )


def _compressor(module: str, hidden: int, size: int, ratio: int, *, overlapping: bool) -> list[Tensor]:
    """Value and gate projections, a table of positions within a group, and a norm."""
    width = size * (2 if overlapping else 1)
    return [
        matrix("attention/key_value", f"{module}.wkv", "attention", width, hidden),
        matrix("attention/key_value", f"{module}.wgate", "attention", width, hidden),
        vector("attention/key_value", f"{module}.ape", "attention", ratio * width),
        *norm(f"{module}.norm", size),
    ]


def _compressed_indexer(shape: CompressedShape, index: IndexShape) -> list[Tensor]:
    name = "self_attn.indexer"
    compressor = _compressor(f"{name}.compressor", shape.hidden, index.size, shape.ratio, overlapping=True)
    return [
        *(t.model_copy(update={"operator": "attention/index"}) if t.use == "matmul" else t for t in compressor),
        matrix("attention/index", f"{name}.wq_b", "attention", index.n_heads * index.size, shape.query_rank),
        matrix("attention/index", f"{name}.weights_proj", "attention", index.n_heads, shape.hidden),
    ]


def _compressor_state(shape: CompressedShape) -> Recurrence:
    """Values and gates of the tokens not compressed yet, in 32 bit; two groups of them where groups overlap."""
    overlapping = 2 * shape.ratio * 4 * (shape.size + shape.index.size) if shape.index else 0
    elements = overlapping or shape.ratio * 2 * shape.size
    return Recurrence(kind="compressor", n_heads=1, state_elements=elements, decode_flops=0, prefill_flops=0, state_bits=32)
