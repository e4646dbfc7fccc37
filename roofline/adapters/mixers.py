"""From fields to the mixer of a layer: which card, with which numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from roofline.adapters import recurrent_cards as recurrent
from roofline.adapters.attention_cards import AttentionExtras, HeadShape, Reach, Span, attention
from roofline.adapters.families import Habits
from roofline.adapters.fields import Fields
from roofline.adapters.latent_cards import (
    CompressedShape,
    IndexShape,
    LatentShape,
    compressed_attention,
    latent_attention,
)
from roofline.adapters.shared_blocks import shared_from_fields
from roofline.adapters.tensors import matrix
from roofline.adapters.traits import Traits
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.model import Block

STATE_BITS = {"float32": 32, "float16": 16, "bfloat16": 16, "fp32": 32, "bf16": 16, "fp16": 16}

PICKING_RATIO = 4
"""Layers that compress by this much pick among the entries; stronger compression leaves few enough to read all."""


def switched(fields: Fields, habit: bool | str) -> bool:
    """A habit that holds always, never, or as a field says."""
    return fields.flag(habit) if isinstance(habit, str) else habit


def mixer_blocks(fields: Fields, habits: Habits, traits: Traits) -> tuple[Block, ...]:
    """The mixer of a layer; two where attention and a recurrence run side by side."""
    if traits.mixer == "none":
        return ()
    if traits.mixer == "matrix":
        hidden = fields.size("hidden_size")
        tensor = matrix("attention/output", "self_attn", "attention", hidden, hidden, split="heads")
        return (Block(kind="matrix", tensors=(tensor,)),)
    if traits.mixer == "linear":
        return (linear_block(fields, habits),)
    if traits.mixer == "hybrid":
        return (linear_block(fields, habits), shared_from_fields(fields, repeated=traits.repeated))
    attend = attention_block(fields, habits, traits)
    return (linear_block(fields, habits), attend) if habits.both_mixers else (attend,)


def attention_block(fields: Fields, habits: Habits, traits: Traits) -> Block:
    """Softmax attention in the form its fields ask for."""
    if fields.optional("output_rank") and fields.optional("o_groups"):
        return _compressed(fields, traits)
    if fields.optional("latent_rank"):
        return _latent(fields, habits, traits)
    return _per_head(fields, habits, traits)


def _compressed(fields: Fields, traits: Traits) -> Block:
    index = None
    heads = fields.optional("index_n_heads")
    if traits.ratio and heads and traits.ratio <= PICKING_RATIO:
        index = IndexShape(heads, fields.size("index_head_dim"), fields.size("index_topk"))
    n_heads, groups, size = fields.size("n_heads"), fields.size("o_groups"), fields.size("key_size")
    if n_heads * size % groups:
        raise ConfigurationError(
            tr("'o_groups' must divide the {n:,} outputs of the heads, not {groups}.", n=n_heads * size, groups=groups)
        )
    return compressed_attention(
        CompressedShape(
            hidden=fields.size("hidden_size"),
            n_heads=n_heads,
            size=size,
            query_rank=fields.size("query_rank"),
            output_rank=fields.size("output_rank"),
            output_groups=groups,
            window=fields.size("window"),
            ratio=traits.ratio,
            index=index,
        )
    )


def _latent(fields: Fields, habits: Habits, traits: Traits) -> Block:
    hidden, n_heads = fields.size("hidden_size"), fields.size("n_heads")
    shape = LatentShape(
        hidden=hidden,
        n_heads=n_heads,
        query_rank=fields.optional("query_rank"),
        latent_rank=fields.size("latent_rank"),
        nope_size=fields.size("nope_size"),
        rope_size=fields.size("rope_size"),
        value_size=fields.size("value_size", fallback=hidden // n_heads or None),
        bias=switched(fields, habits.bias_qkv),
        gate="width" if fields.flag("mla_use_output_gate") else habits.attention_gate,
    )
    top_k = fields.optional("index_topk")
    if top_k is None:
        return latent_attention(shape)
    heads, size = fields.size("index_n_heads"), fields.size("index_head_dim")
    return latent_attention(shape, IndexShape(heads, size, top_k, owned=traits.indexed))


def head_shape(fields: Fields, traits: Traits) -> HeadShape:
    """Heads and their sizes, which may differ between full and windowed layers."""
    hidden, n_heads = fields.size("hidden_size"), fields.size("n_heads")
    windowed = traits.mixer == "sliding"
    n_kv_heads = _kv_heads(fields, traits, n_heads)
    size = fields.size("key_size", fallback=hidden // n_heads or None)
    value = fields.size("value_size", fallback=size)
    if windowed:
        n_heads, n_kv_heads = _windowed_heads(fields, n_heads, n_kv_heads)
        size, value = fields.optional("swa_head_dim") or size, fields.optional("swa_v_head_dim") or value
    elif fields.optional("global_head_dim"):
        size = value = fields.size("global_head_dim")
        if fields.flag("attention_k_eq_v"):
            n_kv_heads = fields.optional("num_global_key_value_heads") or n_kv_heads
    if n_kv_heads > n_heads or n_heads % n_kv_heads:
        raise ConfigurationError(
            tr("{n:,} query heads cannot share {of:,} key-value heads: they must be a multiple.", n=n_heads, of=n_kv_heads)
        )
    return HeadShape(hidden, n_heads, n_kv_heads, size, value)


def _kv_heads(fields: Fields, traits: Traits, n_heads: int) -> int:
    """Cache heads; one where a switch says multi-query."""
    if traits.n_kv_heads:
        return traits.n_kv_heads
    if fields.raw("multi_query_attention") is not None:
        return fields.size("multi_query_group_num", n_heads) if fields.flag("multi_query_attention") else n_heads
    if not fields.flag("new_decoder_architecture"):
        if fields.flag("multi_query"):
            return 1
        if fields.raw("multi_query") is False:
            return n_heads
    return fields.size("n_kv_heads", fallback=n_heads)


def _windowed_heads(fields: Fields, n_heads: int, n_kv_heads: int) -> tuple[int, int]:
    other = fields.inner("attention_other_setting")
    own = fields.optional("swa_num_attention_heads") or fields.optional("num_sliding_attention_heads")
    own_kv = fields.optional("swa_num_key_value_heads")
    if other is not None:
        own = own or other.optional("num_attention_heads")
        own_kv = own_kv or other.optional("n_kv_heads")
    return own or n_heads, own_kv or n_kv_heads


def _per_head(fields: Fields, habits: Habits, traits: Traits) -> Block:
    shape = head_shape(fields, traits)
    windowed = traits.mixer == "sliding"
    qk_norm = habits.qk_norm if not habits.qk_norm_switch or fields.flag(habits.qk_norm_switch) else "none"
    sinks = habits.sinks or fields.flag("add_swa_attention_sink_bias" if windowed else "add_full_attention_sink_bias")
    extras = AttentionExtras(
        bias_qkv=switched(fields, habits.bias_qkv),
        bias_o=switched(fields, habits.bias_o),
        qk_norm="head" if traits.mixer == "cross" else qk_norm,
        query_gate=habits.query_gate or fields.flag("attn_output_gate"),
        gate="heads" if fields.flag("use_head_wise_attn_gate") else habits.attention_gate,
        n_sinks=shape.n_heads if sinks else 0,
        fused=habits.fused_qkv,
        has_value=not (fields.flag("attention_k_eq_v") and not windowed),
        reads_other_cache=traits.shares_cache,
        in_use=traits.mixer != "cross",
    )
    reach = _reach(fields, habits, traits)
    if traits.indexed and reach.top_k is None:
        index = _block_index(fields)
        if index is not None:
            extras = replace(extras, index_heads=index.n_heads, index_size=index.size)
            reach = Reach("sparse", top_k=index.top_k)
    return attention(shape, extras, reach)


def _block_index(fields: Fields) -> IndexShape | None:
    """The index of block-sparse attention: a query reads the picked blocks whole."""
    inner = fields.inner("sparse_attention_config")
    if inner is not None:
        heads, size = inner.size("sparse_num_index_heads"), inner.size("sparse_index_dim")
        return IndexShape(heads, size, inner.size("sparse_topk_blocks") * inner.size("sparse_block_size"))
    heads_or_none, blocks = fields.optional("index_n_heads"), fields.optional("index_topk_blocks")
    if heads_or_none is None or blocks is None:
        return None
    return IndexShape(heads_or_none, fields.size("index_head_dim"), blocks * fields.size("index_block_size"))


def _reach(fields: Fields, habits: Habits, traits: Traits) -> Reach:
    if traits.mixer == "sliding":
        window = fields.optional("window")
        if window is not None:
            return Reach("sliding", window=window + (habits.window_extra if fields.stated("sliding_window_size") else 0))
    if traits.mixer == "chunked":
        chunk = fields.optional("attention_chunk_size")
        if chunk is not None:
            return Reach("chunked", chunk=chunk)
    span: Span = "cross" if traits.mixer == "cross" else "full"
    return Reach(span)


def linear_block(fields: Fields, habits: Habits) -> Block:
    """The recurrent mixer that the class has."""
    makers: dict[str, Callable[[Fields, Habits], Block]] = {
        "mamba": _mamba,
        "gated delta net": _delta_net,
        "kda": _delta_attention,
        "lightning": _lightning,
        "conv": _short_convolution,
        "rglru": _gated_recurrence,
        "rwkv": _receptance,
    }
    name = habits.linear or _linear_by_fields(fields)
    return makers[name](fields, habits)


def _linear_by_fields(fields: Fields) -> str:
    """Kind of a recurrent mixer in a class that is not known."""
    if fields.stated("linear_num_value_heads"):
        return "gated delta net"
    if fields.table("linear_attn_config") is not None:
        return "kda"
    if fields.stated("state_size"):
        return "mamba"
    raise ConfigurationError(tr("The layer list names recurrent layers, but no field says of which kind."))


def _state_bits(fields: Fields) -> int | None:
    word = fields.text("mamba_ssm_cache_dtype") or fields.text("mamba_ssm_dtype")
    return STATE_BITS.get(word.removeprefix("torch."))


def _mamba(fields: Fields, habits: Habits) -> Block:
    hidden = fields.size("hidden_size")
    expansion = fields.number("expand", 0.0) or fields.number("mamba_expand", 2.0)
    width = fields.optional("mamba_d_ssm") or int(expansion * hidden)
    groups = fields.optional("state_groups")
    biased = any(fields.flag(name) for name in ("mamba_conv_bias", "use_conv_bias", "conv_bias"))
    shape = recurrent.SelectiveShape(
        hidden=hidden,
        width=max(width, 1),
        state=fields.size("state_size"),
        columns=fields.size("convolution_size", 4),
        convolution_bias=biased,
        projection_bias=fields.flag(habits.state_bias),
        inner_norms=habits.state_norms,
        state_bits=_state_bits(fields),
    )
    if groups is None:
        rank = fields.size("step_rank", fallback=-(-hidden // 16))
        return recurrent.selective_state(replace(shape, step_rank=rank))
    heads = fields.size("state_heads")
    head_size = fields.size("state_head_size", fallback=max(1, shape.width // heads))
    if habits.all_linear:
        head_size = fields.size("head_dim", fallback=head_size)
    return recurrent.dual_state(
        replace(
            shape,
            width=heads * head_size,
            heads=heads,
            groups=groups,
            chunk=fields.size("state_chunk", 256),
            gate_norm=not habits.gate_norm_switch or fields.flag(habits.gate_norm_switch),
        )
    )


def _delta_net(fields: Fields, habits: Habits) -> Block:
    return recurrent.gated_delta_net(
        recurrent.DeltaShape(
            hidden=fields.size("hidden_size"),
            key_heads=fields.size("linear_num_key_heads"),
            value_heads=fields.size("linear_num_value_heads"),
            key_size=fields.size("linear_key_head_dim"),
            value_size=fields.size("linear_value_head_dim"),
            columns=fields.size("linear_conv_kernel_dim", 4),
            state_bits=_state_bits(fields),
        )
    )


def _delta_attention(fields: Fields, habits: Habits) -> Block:
    inner = fields.inner("linear_attn_config")
    own = inner if inner is not None else fields
    n_heads = own.size("num_heads" if inner else "linear_num_heads", fields.size("n_heads"))
    size = own.size("head_dim" if inner else "linear_head_dim", 128)
    return recurrent.delta_attention(
        recurrent.DeltaShape(
            hidden=fields.size("hidden_size"),
            key_heads=n_heads,
            value_heads=n_heads,
            key_size=size,
            value_size=size,
            columns=own.size("short_conv_kernel_size" if inner else "linear_conv_kernel_dim", 4),
            state_bits=32,
            full_decay_gate=habits.full_gates,
            full_output_gate=habits.full_gates or own.flag("use_full_rank_gate"),
        )
    )


def _lightning(fields: Fields, habits: Habits) -> Block:
    hidden, n_heads = fields.size("hidden_size"), fields.size("n_heads")
    size = fields.size("key_size", fallback=hidden // n_heads or None)
    return recurrent.lightning_attention(hidden, n_heads, size)


def _short_convolution(fields: Fields, habits: Habits) -> Block:
    return recurrent.short_convolution(fields.size("hidden_size"), fields.size("conv_L_cache", 3), bias=fields.flag("conv_bias"))


def _gated_recurrence(fields: Fields, habits: Habits) -> Block:
    hidden, n_heads = fields.size("hidden_size"), fields.size("n_heads")
    width = fields.size("lru_width", fallback=hidden)
    if width % n_heads:
        raise ConfigurationError(tr("'lru_width' must be a multiple of the {heads} heads, not {n}.", heads=n_heads, n=width))
    return recurrent.gated_recurrence(hidden, width, n_heads, fields.size("conv1d_width", 4))


def _receptance(fields: Fields, habits: Habits) -> Block:
    hidden = fields.size("hidden_size")
    return recurrent.receptance_mixer(hidden, fields.size("attention_hidden_size", fallback=hidden))
