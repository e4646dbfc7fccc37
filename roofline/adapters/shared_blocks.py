"""Cards of layers that are more than one mixer and one feed-forward: shared blocks, channel mixing."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.adapters.families import Habits
from roofline.adapters.fields import Fields
from roofline.adapters.tensors import matrix, norm, vector
from roofline.specs.model import Attend, Block, Recurrence, Tensor


@dataclass(frozen=True)
class SharedShape:
    """Sizes of a transformer block that several layers share."""

    hidden: int
    wide: int
    """Width the attention reads: the hidden state beside the embedding."""
    n_heads: int
    n_kv_heads: int
    size: int
    width: int
    """Of the feed-forward."""
    adapter_rank: int = 0
    attention_adapters: bool = False


def shared_block(shape: SharedShape, *, repeated: bool) -> Block:
    """One use of a transformer block whose weights are shared between layers.

        once: q, k, v: a H d each; o: H d h; feed-forward 3 h f; norms a + h
        per use: an h h matrix; adapters R h + 2 R f; a cache of its own

    A later use runs the same weights again: its FLOPs are stated as work per token, its weights are not counted twice.

    P. Glorioso et al., "Zamba", 2024, section 2; "The Zamba2 suite", 2024 (adapters).
    """
    weights = _shared_weights(shape)
    tensors = [*_per_use(shape), *(() if repeated else weights)]
    if not repeated:
        tensors += [
            *norm("shared_transformer.input_layernorm", shape.wide),
            *norm("shared_transformer.pre_ff_layernorm", shape.hidden),
        ]
    work = 2 * sum(t.n_parameters for t in weights)
    again = Recurrence(
        kind="shared block, run again", n_heads=shape.n_heads, state_elements=0, decode_flops=work, prefill_flops=work
    )
    attend = Attend(
        n_heads=shape.n_heads,
        n_kv_heads=shape.n_kv_heads,
        key_size=shape.size,
        value_size=shape.size,
        cache_elements=2 * shape.n_kv_heads * shape.size,
        read_elements=2 * shape.n_kv_heads * shape.size,
    )
    return Block(
        kind="shared transformer block", tensors=tuple(tensors), attends=(attend,), recurrences=(again,) if repeated else ()
    )


def _shared_weights(shape: SharedShape) -> list[Tensor]:
    module = "shared_transformer"
    queries, keys = shape.n_heads * shape.size, shape.n_kv_heads * shape.size
    rows = (
        ("attention/query", "q_proj", queries),
        ("attention/key_value", "k_proj", keys),
        ("attention/key_value", "v_proj", keys),
    )
    attention = [
        matrix(
            operator,
            f"{module}.self_attn.{name}",
            "attention",
            n_out,
            shape.wide,
            split="heads" if operator == "attention/query" else "kv_heads",
            gguf=f"attn_{name[0]}",
        )
        for operator, name, n_out in rows
    ]
    output = matrix(
        "attention/output", f"{module}.self_attn.o_proj", "attention", shape.hidden, queries, split="heads", gguf="attn_output"
    )
    up = matrix("mlp/gate_up", f"{module}.gate_up_proj", "dense_mlp", 2 * shape.width, shape.hidden, split="width", gguf="ffn_up")
    down = matrix("mlp/down", f"{module}.down_proj", "dense_mlp", shape.hidden, shape.width, split="width", gguf="ffn_down")
    return [*attention, output, up, down]


def _per_use(shape: SharedShape) -> list[Tensor]:
    tensors = [matrix("other", "linear", "other", shape.hidden, shape.hidden)]
    if shape.adapter_rank:
        rank = shape.adapter_rank
        tensors.append(matrix("mlp/gate_up", "adapter.0", "dense_mlp", rank, shape.hidden))
        tensors.append(matrix("mlp/gate_up", "adapter.1", "dense_mlp", 2 * shape.width, rank))
        if shape.attention_adapters:
            tensors.append(matrix("attention/query", "adapter_qkv.0", "attention", rank, shape.wide, copies=3))
            tensors.append(matrix("attention/query", "adapter_qkv.1", "attention", shape.n_heads * shape.size, rank, copies=3))
    return tensors


def shared_from_fields(fields: Fields, *, repeated: bool) -> Block:
    """The shared block of a file's numbers."""
    hidden = fields.size("hidden_size")
    wide = fields.size("attention_hidden_size", fallback=2 * hidden)
    n_heads = fields.size("n_heads")
    shape = SharedShape(
        hidden=hidden,
        wide=wide,
        n_heads=n_heads,
        n_kv_heads=fields.size("num_key_value_heads", fallback=n_heads),
        size=fields.size("attention_head_dim", fallback=wide // n_heads or None),
        width=fields.size("ffn_size", fallback=4 * hidden),
        adapter_rank=fields.count("adapter_rank"),
        attention_adapters=fields.flag("use_shared_attention_adapter"),
    )
    return shared_block(shape, repeated=repeated)


def channel_mixing(fields: Fields, habits: Habits) -> Block:
    """RWKV channel mixing: a squared feed-forward behind a receptance gate.

        key: h f;  value: f h;  receptance: h h;  mixes 2 h

    B. Peng et al., "RWKV", 2023, section 3.
    """
    hidden = fields.size("hidden_size")
    width = fields.size("ffn_size", fallback=habits.ffn_multiple * hidden or None)
    tensors = (
        matrix("mlp/gate_up", "feed_forward.key", "dense_mlp", width, hidden, split="width", gguf="ffn_up"),
        matrix("mlp/gate_up", "feed_forward.receptance", "dense_mlp", hidden, hidden, split="width"),
        matrix("mlp/down", "feed_forward.value", "dense_mlp", hidden, width, split="width", gguf="ffn_down"),
        vector("mlp/gate_up", "feed_forward.time_mix", "dense_mlp", 2 * hidden),
    )
    return Block(kind="channel mixing", tensors=tensors)
