"""What llama.cpp's quantiser makes of each tensor: the type of a mix, by role, layer and row length.

Rules of ``llama_tensor_get_type`` in llama.cpp's ``src/llama-quant.cpp``, restated by role. They depend on the structure
only: the share of query heads per cache head, the number of experts, the position of the layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from roofline.catalog.formats import load_format
from roofline.specs.model import ModelSpec, Tensor

FULL_BITS = 32.0
"""Norms, biases, routers and convolutions stay in 32 bit."""

BASE: Mapping[str, str] = {
    "q2_k_s": "q2_k",
    "q3_k_s": "q3_k",
    "q3_k_m": "q3_k",
    "q3_k_l": "q3_k",
    "q4_k_s": "q4_k",
    "q4_k_m": "q4_k",
    "q5_k_s": "q5_k",
    "q5_k_m": "q5_k",
    "iq3_xs": "iq3_s",
    "iq3_m": "iq3_s",
    "iq2_s": "iq2_xs",
    "iq2_m": "iq2_s",
}
"""Type of most matrices, where it is not the mix's own name."""

EXPERTS_ONLY = "mxfp4_moe"
"""Mix that narrows routed experts to MXFP4 and keeps everything else in Q8_0."""

LOWEST = ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m")
"""Mixes below three bits by codebook."""

FALLBACK: Mapping[str, str] = {
    "q2_k": "q4_0",
    "q3_k": "q4_0",
    "tq1_0": "q4_0",
    "tq2_0": "q4_0",
    "q4_k": "q5_0",
    "q5_k": "q5_1",
    "q6_k": "q8_0",
}
"""Type for rows that do not divide into blocks; codebook types fall to IQ4_NL."""

INPUT_TABLE: Mapping[str, str] = {
    "iq1_s": "q2_k",
    "iq1_m": "q2_k",
    "iq2_xxs": "q2_k",
    "iq2_xs": "q2_k",
    "iq2_s": "iq3_s",
    "iq2_m": "iq3_s",
    "iq3_xxs": "iq3_s",
    "tq1_0": "q4_k",
    "tq2_0": "q4_k",
}
"""Type of an input table that is not the output head too."""

OUTPUT_OF_EIGHT = ("q2_k", "q3_k_s", "q3_k_m", "q4_k_s", "q4_k_m", "iq3_xs", "iq3_xxs", "iq3_s", "iq3_m", "iq4_nl", "iq4_xs")
"""Mixes whose attention output is raised to Q5_K in models of eight experts."""

OUTPUT = {"q2_k": "q3_k", "iq3_xxs": "iq3_s", "q3_k_m": "q4_k", "q3_k_l": "q5_k", "iq3_m": "q4_k"}
"""Type of the attention output in other models."""

FUSED = {"q3_k_m": "q4_k", "q3_k_l": "q4_k", "iq3_m": "q4_k", "q4_k_m": "q5_k", "q5_k_m": "q6_k"}
"""Type of a fused query, key and value matrix."""

MANY_SHARING_HEADS = 4
EIGHT_EXPERTS = 8
LARGE_LAYERS, LARGE_SHARING = 80, 8
"""Shape that the quantiser takes for the 70-billion size, whose value matrices it raises."""


@dataclass(frozen=True)
class Stack:
    """What the rules ask of a model."""

    n_layers: int
    sharing: int
    """Query heads per cache head."""
    n_experts: int
    value_order: Mapping[int, int]
    """Layers with a value matrix, by their order among those."""

    @property
    def is_large(self) -> bool:
        """Whether the shape is that of a 70-billion model."""
        return self.n_layers == LARGE_LAYERS and self.sharing == LARGE_SHARING


@lru_cache(maxsize=256)
def stack_of(model: ModelSpec) -> Stack:
    """Numbers of a model that the rules depend on."""
    attends = [a for g in model.groups for b in g.blocks for a in b.attends if a.kind != "index"]
    sharing = max((a.n_heads // a.n_kv_heads for a in attends if a.absorbed_key_size is None), default=1)
    with_value = sorted(
        layer for g in model.groups if any(t.gguf == "attn_v" for b in g.blocks for t in b.tensors) for layer in g.layers
    )
    n_experts = max((r.n_experts for r in model.routings), default=1)
    return Stack(model.n_layers, sharing, n_experts, {layer: order for order, layer in enumerate(with_value)})


def more_bits(order: int, n: int) -> bool:
    """Whether a layer is of those given more bits: the first and last eighth, and every third between."""
    return order < n // 8 or order >= 7 * n // 8 or (order - n // 8) % 3 == 2


def gguf_bits(model: ModelSpec, layers: tuple[int, ...], tensor: Tensor, mix: str) -> float:
    """Mean bits per weight of a tensor over the layers that have it."""
    if is_full(tensor):
        return FULL_BITS
    if mix == EXPERTS_ONLY:
        return _bits("mxfp4" if tensor.part == "routed_experts" else "q8_0", tensor.n_in)
    if not layers:
        return _bits(_end_type(model, tensor, mix), tensor.n_in)
    stack = stack_of(model)
    return sum(_bits(_layer_type(stack, layer, tensor, mix), tensor.n_in) for layer in layers) / len(layers)


def is_full(tensor: Tensor) -> bool:
    """Tensors the quantiser leaves alone."""
    if tensor.use == "lookup":
        return tensor.gguf == "position_embd"
    return tensor.use != "matmul" or tensor.operator in ("experts/router", "other") or tensor.n_out == 1


def _bits(name: str, row: int) -> float:
    """Bits of a type, or of what it falls back to where rows do not divide into its blocks."""
    chosen = load_format(name)
    if chosen.block_weights and row % chosen.block_weights:
        chosen = load_format(FALLBACK.get(name, "iq4_nl"))
    if chosen.block_weights and row % chosen.block_weights:
        chosen = load_format("fp16")
    return chosen.bits_per_weight


def base_type(mix: str) -> str:
    """Type of most matrices of a mix."""
    return BASE.get(mix, mix)


def _end_type(model: ModelSpec, tensor: Tensor, mix: str) -> str:
    """Type of the input table or the output head."""
    base = base_type(mix)
    if tensor.operator != "output_head":
        return INPUT_TABLE.get(mix, base)
    block = load_format(base).block_weights or 1
    if base == "q8_0" or tensor.n_in % block:
        return "q8_0"
    return "q5_k" if mix in LOWEST or mix == "iq3_xxs" else "q6_k"


def _layer_type(stack: Stack, layer: int, tensor: Tensor, mix: str) -> str:
    """Type of a matrix of one layer."""
    role = tensor.gguf
    if mix in LOWEST:
        return _lowest_type(stack, layer, role, mix)
    if role == "attn_v":
        return _value_type(stack, stack.value_order.get(layer, 0), mix)
    if role.startswith("ffn_down"):
        return _down_type(stack, layer, mix)
    if role == "attn_output":
        raised = stack.n_experts == EIGHT_EXPERTS
        return "q5_k" if raised and mix in OUTPUT_OF_EIGHT else base_type(mix) if raised else OUTPUT.get(mix, base_type(mix))
    if role == "attn_qkv":
        return FUSED.get(mix, base_type(mix))
    return _other_type(stack, layer, role, mix)


def _other_type(stack: Stack, layer: int, role: str, mix: str) -> str:
    """Type of query, key, gate and up matrices."""
    if role == "attn_k" and stack.n_experts == EIGHT_EXPERTS:
        return "q8_0"
    if role in ("attn_q", "attn_k"):
        return {"iq3_xs": "iq3_xxs", "iq3_xxs": "iq2_s"}.get(mix, base_type(mix))
    n = stack.n_layers
    if role.startswith(("ffn_gate", "ffn_up")) and mix == "iq3_xs" and n // 8 <= layer < 7 * n // 8:
        return "iq3_xxs"
    return base_type(mix)


def _lowest_type(stack: Stack, layer: int, role: str, mix: str) -> str:
    """Type in the mixes below three bits."""
    above = "iq3_s" if mix in ("iq2_s", "iq2_m") else "q2_k"
    if role == "attn_v":
        return "q4_k" if stack.sharing >= MANY_SHARING_HEADS or stack.n_experts >= MANY_SHARING_HEADS else above
    if role == "attn_k" and stack.n_experts == EIGHT_EXPERTS:
        return "q4_k"
    if role.startswith("ffn_down") and layer < stack.n_layers // 8:
        return above
    if role == "attn_output":
        if stack.n_experts == EIGHT_EXPERTS:
            return "q5_k"
        return {"iq1_s": "iq2_xxs", "iq1_m": "iq2_xxs", "iq2_s": "iq3_s", "iq2_m": "iq3_s"}.get(mix, base_type(mix))
    return base_type(mix)


def _value_type(stack: Stack, order: int, mix: str) -> str:
    """Type of a value matrix: small where heads share it, so it is raised."""
    if stack.n_experts == EIGHT_EXPERTS:
        return "q8_0"
    found = _value_by_mix(stack, order, mix)
    return "q5_k" if stack.is_large and found in ("q3_k", "q4_k") else found


def _value_by_mix(stack: Stack, order: int, mix: str) -> str:
    shared = stack.sharing >= MANY_SHARING_HEADS
    if mix == "q2_k":
        return "q4_k" if shared else "q3_k"
    if mix in ("iq3_m", "q3_k_m", "q3_k_l"):
        return "q5_k" if mix == "q3_k_l" or (mix == "q3_k_m" and order < 2) else "q4_k"
    if shared and mix in ("q2_k_s", "iq3_xxs", "iq3_xs", "iq3_s"):
        return "q4_k"
    if shared and mix in ("iq4_nl", "iq4_xs"):
        return "q5_k"
    if mix in ("q4_k_m", "q5_k_m") and more_bits(order, len(stack.value_order)):
        return "q6_k"
    return "q5_k" if mix == "q4_k_s" and order < MANY_SHARING_HEADS else base_type(mix)


def _down_type(stack: Stack, layer: int, mix: str) -> str:
    """Type of a down matrix: raised in the layers that matter most."""
    n = stack.n_layers
    early, more = layer < n // 8, more_bits(layer, n)
    chosen = {
        "q2_k": "q3_k",
        "q2_k_s": "q4_k" if early else "q2_k",
        "q3_k_m": "q5_k" if layer < n // 16 else "q4_k",
        "q3_k_l": "q5_k",
        "iq3_m": "q4_k" if early or (stack.n_experts == EIGHT_EXPERTS and more) else "iq3_s",
        "q4_k_m": "q6_k" if more else "q4_k",
        "q5_k_m": "q6_k" if more else "q5_k",
        "q4_k_s": "q5_k" if early else "q4_k",
        "iq4_nl": "q5_k" if early else "iq4_nl",
        "iq4_xs": "q5_k" if early else "iq4_xs",
    }
    return chosen.get(mix, base_type(mix))
