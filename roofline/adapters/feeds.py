"""From fields to the feed-forward and the norms of a layer."""

from __future__ import annotations

from roofline.adapters.families import Habits
from roofline.adapters.feedforward_cards import ExpertsShape, FeedForwardShape, dense, experts
from roofline.adapters.fields import MAX_SIZE, Fields
from roofline.adapters.mixers import switched
from roofline.adapters.shared_blocks import channel_mixing
from roofline.adapters.stack import has_experts
from roofline.adapters.tensors import matrix, norm_block, vector
from roofline.adapters.traits import Traits
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.model import Block

PAIR_NORMS = ("input_layernorm", "post_attention_layernorm")
MORE_NORMS = ("pre_feedforward_layernorm", "post_feedforward_layernorm")
EXPERT_NORMS = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")


def feed_forward_blocks(fields: Fields, habits: Habits, traits: Traits) -> tuple[Block, ...]:
    """The feed-forward of a layer; a dense one beside experts where a layer has both."""
    kind = traits.feed_forward
    if kind == "none":
        return ()
    if kind == "matrix":
        hidden = fields.size("hidden_size")
        return (Block(kind="matrix", tensors=(matrix("mlp/down", "mlp", "dense_mlp", hidden, hidden, split="width"),)),)
    if habits.channel_mixing:
        return (channel_mixing(fields, habits),)
    if habits.double_layers:
        block = dense_block(fields, habits, traits)
        return (block, block, expert_block(fields, habits))
    if kind == "experts":
        return (expert_block(fields, habits),)
    block = dense_block(fields, habits, traits)
    return (block, expert_block(fields, habits, beside_dense=True)) if kind == "both" else (block,)


def dense_width(fields: Fields, habits: Habits, traits: Traits) -> int:
    """Width of a dense feed-forward, with the roundings that some classes apply."""
    if traits.width:
        return traits.width
    for name in ("intermediate_size_mlp", "dense_intermediate_size"):
        stated = fields.optional(name)
        if stated:
            return stated
    hidden = fields.size("hidden_size")
    multiple = fields.optional("expansion_ratio") or habits.ffn_multiple
    always = None if has_experts(fields) else fields.optional("shared_intermediate_size")
    stated = fields.optional("ffn_size") if fields.stated("ffn_size") or not multiple else None
    width = always or stated or (multiple * hidden or fields.size("ffn_size"))
    if fields.flag("block_auto_adjust_ff_dim"):
        return _adjusted(fields, width)
    return max(width // habits.ffn_divisor, 1)


def _adjusted(fields: Fields, width: int) -> int:
    """Two thirds of the width, times a multiplier, rounded up to a multiple: the LFM2 class."""
    multiple = fields.size("block_multiple_of", 256)
    scaled = int(fields.number("block_ffn_dim_multiplier", 1.0) * int(2 * width / 3))
    adjusted = -(-scaled // multiple) * multiple
    if not 0 < adjusted <= MAX_SIZE:
        raise ConfigurationError(
            tr("'block_ffn_dim_multiplier' gives a feed-forward {width:,} wide, which cannot be.", width=adjusted)
        )
    return adjusted


def dense_block(fields: Fields, habits: Habits, traits: Traits) -> Block:
    """A dense feed-forward."""
    return dense(
        FeedForwardShape(
            hidden=fields.size("hidden_size"),
            width=dense_width(fields, habits, traits),
            gated=habits.gated or fields.text("feed_forward_proj").startswith("gated"),
            bias=switched(fields, habits.bias_mlp),
            activation_parameters=habits.activation_parameters,
            fused=habits.fused_qkv and habits.gated,
            in_use=traits.mixer != "cross",
        )
    )


def expert_block(fields: Fields, habits: Habits, *, beside_dense: bool = False) -> Block:
    """A mixture of experts with what it shares."""
    n_experts, n_active = fields.size("n_experts"), fields.size("n_active")
    if n_active > n_experts:
        raise ConfigurationError(tr("A token cannot visit {n:,} of {of:,} experts.", n=n_active, of=n_experts))
    n_zero = fields.count("zero_expert_num")
    if n_zero:
        n_active = _mean_real(fields, n_active, n_experts, n_zero)
    width = fields.optional("expert_size") or fields.size("ffn_size")
    extra = n_experts if habits.correction_parameter else 0
    hidden = fields.size("hidden_size")
    latent = fields.optional("moe_latent_size") or fields.optional("routed_expert_hidden_size")
    return experts(
        ExpertsShape(
            hidden=hidden,
            width=width,
            n_experts=n_experts,
            n_active=n_active,
            gated=habits.gated,
            n_groups=fields.count("n_groups", 1),
            n_active_groups=fields.count("n_active_groups", 1),
            n_zero=n_zero,
            latent=latent,
            latent_norm=fields.flag("latent_moe_use_norm"),
            expert_bias=habits.expert_bias,
            router_bias=habits.router_bias,
            router_extra=extra + (hidden + n_experts if beside_dense else 0),
            shared_width=0 if beside_dense else _shared_width(fields, habits, width),
            shared_gated=habits.gated,
            shared_gate=habits.shared_gate,
        )
    )


def _mean_real(fields: Fields, n_active: int, n_experts: int, n_zero: int) -> int:
    """Experts with weights that a token visits on average, where some return their input."""
    mean = max(1, round(n_active * n_experts / (n_experts + n_zero)))
    fields.assume(
        "zero_expert_num",
        tr("A token visits {mean} of {n} chosen experts on average: the rest have no weights.", mean=mean, n=n_active),
    )
    return mean


def _shared_width(fields: Fields, habits: Habits, width: int) -> int:
    """Joint width of the shared experts."""
    count = fields.optional("n_shared")
    stated = fields.optional("shared_size")
    if stated is not None:
        return stated * (count or 1)
    return (count or habits.n_shared) * width


def layer_norms(fields: Fields, habits: Habits, traits: Traits) -> Block:
    """Norms of a layer, and the other vectors that go with them."""
    hidden = fields.size("hidden_size")
    sizes = dict.fromkeys(_norm_modules(fields, habits, traits), hidden)
    if habits.sub_norms:
        sizes |= {"self_attn.attn_sub_norm": hidden, "mlp.ffn_sub_norm": dense_width(fields, habits, traits)}
    block = norm_block(sizes, habits.norm)
    more = [vector("norms", "cross_attn_gates", "other", 2)] if traits.mixer == "cross" else []
    if fields.optional("attn_res_block_size"):
        more += [vector("norms", "attn_res_norms", "norm", 2 * hidden), vector("norms", "attn_res_scores", "other", 2 * hidden)]
    return block.model_copy(update={"tensors": (*block.tensors, *more)})


def _norm_modules(fields: Fields, habits: Habits, traits: Traits) -> tuple[str, ...]:
    if habits.sublayers == "single":
        return ("norm",)
    if fields.raw("block_configs") is not None:
        present = (traits.mixer != "none", traits.feed_forward != "none")
        return tuple(module for module, has in zip(PAIR_NORMS, present, strict=True) if has)
    names = (*PAIR_NORMS, *MORE_NORMS)[: _norm_count(fields, habits)]
    if traits.feed_forward == "both":
        return (*names, *EXPERT_NORMS)
    return (*names, "mlp.norm") if habits.expert_norm and traits.feed_forward == "experts" else names


def _norm_count(fields: Fields, habits: Habits) -> int:
    """Norms per layer; a parallel block may share one."""
    if fields.flag("new_decoder_architecture"):
        return fields.count("num_ln_in_parallel_attn", habits.norms)
    if is_parallel(fields, habits):
        return habits.parallel_norms or habits.norms
    return habits.norms


def is_parallel(fields: Fields, habits: Habits) -> bool:
    """Whether mixer and feed-forward read the same input."""
    return fields.flag(habits.parallel_switch) if habits.parallel_switch else habits.parallel
