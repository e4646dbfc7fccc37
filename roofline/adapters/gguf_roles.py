"""Tensor names of llama.cpp and what each is: its operator, its module, its part and how it divides.

``TENSOR_NAMES`` of the gguf package lists the names; the operators are those of the cards. A name that is not here is
refused, so that nothing is counted by guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from roofline.adapters.fields import shown
from roofline.adapters.gguf_header import StoredTensor
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.model import Part, Split, Tensor, Use

Place = Literal["attention", "state", "dense", "experts", "norms", "streams"]
"""Which block of a layer a tensor is in."""

SUFFIXES = ("weight", "bias", "scale", "input_scale")
SINGLE_EXPERT = re.compile(r"^(ffn_(?:gate|up|down))\.(\d{1,6})$")
"""Experts stored one by one, as files of before 2024 have them."""


STACKED_PARTS = ("routed_experts", "other")
"""Parts whose matrices may be stacked in one tensor."""


@dataclass(frozen=True)
class Role:
    """What the tensors of one name are."""

    place: Place
    operator: str
    module: str
    part: Part
    split: Split = "replicated"
    use: Use = "matmul"


def _attention(operator: str, module: str, split: Split = "replicated", use: Use = "matmul") -> Role:
    return Role("attention", f"attention/{operator}", f"self_attn.{module}", "attention", split, use)


def _state(operator: str, module: str, use: Use = "matmul") -> Role:
    return Role("state", f"state_space/{operator}", module, "state_space", "heads", use)


def _norm(module: str) -> Role:
    return Role("norms", "norms", module, "norm", use="vector")


def _stream(module: str, use: Use = "matmul") -> Role:
    return Role("streams", "other", module, "other", use=use)


def _feed(operator: str, module: str, part: Part, place: Place) -> Role:
    return Role(place, operator, module, part, "width")


def _feeds(prefix: Literal["mlp", "experts", "shared_experts"], module: str, part: Part, ending: str) -> dict[str, Role]:
    place: Place = "dense" if prefix == "mlp" else "experts"
    return {
        f"ffn_gate{ending}": _feed(f"{prefix}/gate_up", f"{module}.gate_proj", part, place),
        f"ffn_up{ending}": _feed(f"{prefix}/gate_up", f"{module}.up_proj", part, place),
        f"ffn_gate_up{ending}": _feed(f"{prefix}/gate_up", f"{module}.up_proj", part, place),
        f"ffn_down{ending}": _feed(f"{prefix}/down", f"{module}.down_proj", part, place),
    }


ROLES: Mapping[str, Role] = {
    "attn_q": _attention("query", "q_proj", "heads"),
    "attn_k": _attention("key_value", "k_proj", "kv_heads"),
    "attn_v": _attention("key_value", "v_proj", "kv_heads"),
    "attn_qkv": _attention("query", "qkv_proj", "heads"),
    "attn_output": _attention("output", "o_proj", "heads"),
    "attn_gate": _attention("gate", "g_proj", "heads"),
    "attn_sinks": _attention("query", "sinks", use="vector"),
    "attn_q_a": _attention("latent_down", "q_a_proj"),
    "attn_q_b": _attention("latent_up", "q_b_proj", "heads"),
    "attn_kv_a_mqa": _attention("latent_down", "kv_a_proj_with_mqa"),
    "attn_kv_b": _attention("latent_up", "kv_b_proj", "heads"),
    "attn_k_b": _attention("latent_up", "k_b_proj", "heads"),
    "attn_v_b": _attention("latent_up", "v_b_proj", "heads"),
    "indexer.attn_q_b": _attention("index", "indexer.wq_b"),
    "indexer.attn_k": _attention("index", "indexer.wk"),
    "indexer.proj": _attention("index", "indexer.weights_proj"),
    "attn_rot_embd": Role("norms", "other", "self_attn.rotary_emb.inv_freq", "other", use="vector"),
    **_feeds("mlp", "mlp", "dense_mlp", ""),
    **_feeds("experts", "mlp.experts.0", "routed_experts", "_exps"),
    **_feeds("shared_experts", "mlp.shared_experts", "shared_experts", "_shexp"),
    "ffn_gate_inp": Role("experts", "experts/router", "mlp.gate", "router"),
    "exp_probs_b": Role("experts", "experts/router", "mlp.gate.e_score_correction_bias", "router", use="vector"),
    "ffn_gate_inp_shexp": Role("experts", "shared_experts/gate_up", "mlp.shared_expert_gate", "shared_experts"),
    "ffn_latent_down": Role("experts", "experts/latent", "mlp.fc1_latent_proj", "dense_mlp"),
    "ffn_latent_up": Role("experts", "experts/latent", "mlp.fc2_latent_proj", "dense_mlp"),
    "ffn.act": Role("dense", "mlp/gate_up", "mlp.act_fn", "dense_mlp", use="vector"),
    "ssm_in": _state("in", "mixer.in_proj"),
    "ssm_ba": _state("in", "linear_attn.in_proj_ba"),
    "ssm_beta": _state("in", "linear_attn.in_proj_b"),
    "ssm_alpha": _state("in", "linear_attn.in_proj_a"),
    "ssm_conv1d": _state("convolution", "mixer.conv1d", "convolution"),
    "ssm_conv1d_q": _state("convolution", "self_attn.q_conv1d", "convolution"),
    "ssm_conv1d_k": _state("convolution", "self_attn.k_conv1d", "convolution"),
    "ssm_conv1d_v": _state("convolution", "self_attn.v_conv1d", "convolution"),
    "ssm_x": _state("other", "mixer.x_proj"),
    "ssm_dt": _state("other", "mixer.dt_proj"),
    "ssm_f_a": _state("other", "self_attn.f_a_proj"),
    "ssm_f_b": _state("other", "self_attn.f_b_proj"),
    "ssm_g_a": _state("other", "self_attn.g_a_proj"),
    "ssm_g_b": _state("other", "self_attn.g_b_proj"),
    "ssm_a": _state("other", "mixer.A_log", "vector"),
    "ssm_d": _state("other", "mixer.D", "vector"),
    "ssm_out": _state("out", "mixer.out_proj"),
    "shortconv.in_proj": _state("in", "conv.in_proj"),
    "shortconv.conv": _state("convolution", "conv.conv", "convolution"),
    "shortconv.out_proj": _state("out", "conv.out_proj"),
    "attn_norm": _norm("input_layernorm"),
    "attn_norm_2": _norm("input_layernorm_2"),
    "attn_q_norm": _norm("self_attn.q_norm"),
    "attn_k_norm": _norm("self_attn.k_norm"),
    "attn_q_a_norm": _norm("self_attn.q_a_layernorm"),
    "attn_kv_a_norm": _norm("self_attn.kv_a_layernorm"),
    "attn_sub_norm": _norm("self_attn.sub_norm"),
    "attn_output_norm": _norm("post_attention_layernorm"),
    "post_attention_norm": _norm("post_attention_layernorm"),
    "indexer.k_norm": _norm("self_attn.indexer.k_norm"),
    "ffn_norm": _norm("pre_feedforward_layernorm"),
    "ffn_sub_norm": _norm("mlp.sub_norm"),
    "ffn_norm_exps": _norm("mlp.norm"),
    "pre_ffw_norm_2": _norm("pre_feedforward_layernorm_2"),
    "post_ffw_norm": _norm("post_feedforward_layernorm"),
    "post_ffw_norm_1": _norm("post_feedforward_layernorm_1"),
    "post_ffw_norm_2": _norm("post_feedforward_layernorm_2"),
    "layer_output_norm": _norm("layer_output_norm"),
    "post_norm": _norm("post_per_layer_input_norm"),
    "ssm_norm": _norm("mixer.norm"),
    "ssm_dt_norm": _norm("mixer.dt_layernorm"),
    "ssm_b_norm": _norm("mixer.b_layernorm"),
    "ssm_c_norm": _norm("mixer.c_layernorm"),
    "inp_gate": _stream("per_layer_input_gate"),
    "proj": _stream("per_layer_projection"),
    "layer_output_scale": _stream("layer_scalar", "vector"),
    "altup_router": _stream("altup.modality_router"),
    "altup_predict_coef": _stream("altup.prediction_coefs"),
    "altup_correct_coef": _stream("altup.correction_coefs"),
    "altup_correct_scale": _stream("altup.correct_output_scale", "vector"),
    "altup_router_norm": _norm("altup.router_norm"),
    "laurel_l": _stream("laurel.linear_left"),
    "laurel_r": _stream("laurel.linear_right"),
    "laurel_post_norm": _norm("laurel.post_laurel_norm"),
}
"""Tensors of a layer, by name without ``blk.N.`` and without suffix."""

RECURRENT_ROLES: Mapping[str, Role] = {
    "attn_q": _state("in", "self_attn.q_proj"),
    "attn_k": _state("in", "self_attn.k_proj"),
    "attn_v": _state("in", "self_attn.v_proj"),
    "attn_qkv": _state("in", "linear_attn.in_proj_qkv"),
    "attn_gate": _state("in", "linear_attn.in_proj_z"),
    "attn_output": _state("out", "self_attn.o_proj"),
}
"""What attention's names mean in layers whose mixer is a delta rule."""


def split_name(name: str) -> tuple[str, str]:
    """A tensor's name into role and suffix; experts stored one by one get the role of all together."""
    head, _, tail = name.rpartition(".")
    role, suffix = (head, tail) if head and tail in SUFFIXES else (name, "")
    single = SINGLE_EXPERT.match(role)
    return (f"{single[1]}_exps" if single else role), suffix


def as_tensor(stored: StoredTensor, role: Role, gguf: str, suffix: str) -> Tensor:
    """One row of the table as a tensor of the model: a matrix, a convolution, or a vector of whatever shape."""
    if role.use == "vector" or suffix in ("bias", "scale", "input_scale"):
        return _vector(stored, role, "" if role.use == "vector" else suffix)
    n_in, n_out, copies = (*stored.shape, 1, 1)[:3]
    if role.use == "convolution":
        n_out, copies = stored.n_parameters // n_in, 1
    elif n_in * n_out * copies != stored.n_parameters or (copies > 1 and role.part not in STACKED_PARTS):
        raise ConfigurationError(
            tr(
                "The tensor {tensor} has the shape {shape}, which is not understood.",
                tensor=shown(stored.name),
                shape=shown(stored.shape),
            )
        )
    return Tensor(
        operator=role.operator,
        module=role.module,
        gguf=gguf,
        part=role.part,
        n_out=n_out,
        n_in=n_in,
        n_copies=copies,
        use=role.use,
        split=role.split,
        stored_as=stored.stored_as,
    )


def _vector(stored: StoredTensor, role: Role, suffix: str) -> Tensor:
    """Elementwise numbers; those of routed experts are so many per expert."""
    copies = stored.shape[-1] if role.part == "routed_experts" else 1
    return Tensor(
        operator=role.operator,
        module=f"{role.module}.{suffix}" if suffix else role.module,
        part=role.part,
        n_out=stored.n_parameters // copies,
        n_copies=copies,
        use="vector",
        split=role.split,
        stored_as=stored.stored_as,
    )


def reshaped(stored: StoredTensor, n_in: int) -> StoredTensor:
    """The same numbers as rows of another length."""
    if stored.n_parameters % n_in:
        raise ConfigurationError(
            tr(
                "The tensor {tensor} has the shape {shape}: no rows of {n:,}.",
                tensor=shown(stored.name),
                shape=shown(stored.shape),
                n=n_in,
            )
        )
    return replace(stored, shape=(n_in, stored.n_parameters // n_in))
