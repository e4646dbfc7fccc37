"""Cards of feed-forwards: dense, mixture of experts, shared and latent experts: from numbers to a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roofline.adapters.tensors import matrix, norm, vector
from roofline.specs.model import Block, Part, Routing, Split, Tensor


@dataclass(frozen=True)
class FeedForwardShape:
    """Sizes of a dense feed-forward."""

    hidden: int
    width: int
    gated: bool = True
    bias: bool = False
    activation_parameters: int = 0
    fused: bool = False
    in_use: bool = True


@dataclass(frozen=True)
class ExpertsShape:
    """Sizes of a mixture of experts."""

    hidden: int
    width: int
    n_experts: int
    n_active: int
    gated: bool = True
    n_groups: int = 1
    n_active_groups: int = 1
    n_zero: int = 0
    """Experts without weights that return their input."""
    latent: int | None = None
    """Width the experts read and write, where it is not that of the layers."""
    latent_norm: bool = False
    expert_bias: bool = False
    router_bias: bool = False
    router_extra: int = 0
    """Other vectors of the router that count as parameters."""
    router: bool = True
    shared_width: int = 0
    shared_gated: bool = True
    shared_gate: bool = False
    """A sigmoid gate of one column on the shared expert."""


@dataclass(frozen=True)
class _Rows:
    """Where the matrices of one feed-forward are reported."""

    operator: Literal["mlp", "experts", "shared_experts"]
    module: str
    part: Part
    split: Split
    gguf: str
    copies: int = 1


def _matrices(rows: _Rows, n_in: int, width: int, n_out: int, *, gated: bool, fused: bool = False) -> list[Tensor]:
    """Gate, up and down of one feed-forward."""
    names = ["gate_proj", "up_proj"] if gated else ["up_proj"]
    tensors = [
        matrix(
            f"{rows.operator}/gate_up",
            f"{rows.module}.{name}",
            rows.part,
            width,
            n_in,
            split=rows.split,
            gguf="ffn_up" if fused else f"ffn_{name[:-5]}{rows.gguf}",
            copies=rows.copies,
        )
        for name in names
    ]
    down = matrix(
        f"{rows.operator}/down",
        f"{rows.module}.down_proj",
        rows.part,
        n_out,
        width,
        split=rows.split,
        gguf=f"ffn_down{rows.gguf}",
        copies=rows.copies,
    )
    return [*tensors, down]


def dense(shape: FeedForwardShape) -> Block:
    """Feed-forward of two matrices, or of three where a gate multiplies the inner activations.

        gated: 3 h f;   ungated: 2 h f;   biases f (+ f) + h

    N. Shazeer, "GLU variants improve transformer", 2020; A. Vaswani et al., "Attention is all you need", 2017, section 3.3.
    """
    rows = _Rows("mlp", "mlp", "dense_mlp", "width", "")
    tensors = _matrices(rows, shape.hidden, shape.width, shape.hidden, gated=shape.gated, fused=shape.fused)
    if shape.bias:
        n_up = shape.width * (2 if shape.gated else 1)
        tensors.append(vector("mlp/gate_up", "mlp.up_proj.bias", "dense_mlp", n_up, split="width"))
        tensors.append(vector("mlp/down", "mlp.down_proj.bias", "dense_mlp", shape.hidden))
    if shape.activation_parameters:
        tensors.append(vector("mlp/gate_up", "mlp.act_fn", "dense_mlp", shape.activation_parameters))
    if not shape.in_use:
        tensors = [t.model_copy(update={"use": "vector"}) for t in tensors]
    kind = "gated feed-forward" if shape.gated else "feed-forward"
    return Block(kind=kind, tensors=tuple(tensors), reduces=shape.in_use)


def experts(shape: ExpertsShape) -> Block:
    """Mixture of experts with optional shared experts, latent width and experts without weights.

        routed: E (3 or 2) h f;   router: E h;   shared: one feed-forward of their joint width;   active: k of E
        latent: experts are l wide in and out, with 2 h l to go there and back

    N. Shazeer et al., "Outrageously large neural networks", 2017; D. Dai et al., "DeepSeekMoE", 2024 (shared experts).
    The router's correction bias is a buffer of the reference classes, so it is counted only where the class makes it a
    parameter.
    """
    h, inner, e = shape.hidden, shape.latent or shape.hidden, shape.n_experts
    rows = _Rows("experts", "mlp.experts.0", "routed_experts", "width", "_exps", e)
    tensors = _router(shape)
    tensors += _matrices(rows, inner, shape.width, inner, gated=shape.gated)
    if shape.expert_bias:
        n_up = shape.width * (2 if shape.gated else 1)
        tensors.append(vector("experts/gate_up", "mlp.experts.0.up_proj.bias", "routed_experts", n_up, split="width", copies=e))
        tensors.append(vector("experts/down", "mlp.experts.0.down_proj.bias", "routed_experts", inner, copies=e))
    if shape.latent:
        tensors.append(matrix("experts/latent", "mlp.fc1_latent_proj", "dense_mlp", shape.latent, h))
        tensors.append(matrix("experts/latent", "mlp.fc2_latent_proj", "dense_mlp", h, shape.latent))
        tensors += norm("mlp.latent_norm", shape.latent) if shape.latent_norm else ()
    if shape.shared_width:
        shared = _Rows("shared_experts", "mlp.shared_experts", "shared_experts", "width", "_shexp")
        tensors += _matrices(shared, h, shape.shared_width, h, gated=shape.shared_gated)
    if shape.shared_width and shape.shared_gate:
        tensors.append(matrix("shared_experts/gate_up", "mlp.shared_expert_gate", "shared_experts", 1, h))
    return Block(kind="mixture of experts", tensors=tuple(tensors), routing=_routing(shape))


def _router(shape: ExpertsShape) -> list[Tensor]:
    scored = shape.n_experts + shape.n_zero
    tensors = [matrix("experts/router", "mlp.gate", "router", scored, shape.hidden, gguf="ffn_gate_inp")]
    extra = (scored if shape.router_bias else 0) + shape.router_extra
    if extra:
        tensors.append(vector("experts/router", "mlp.gate.bias", "router", extra))
    return tensors


def _routing(shape: ExpertsShape) -> Routing:
    return Routing(
        n_experts=shape.n_experts,
        n_active=shape.n_active,
        n_groups=shape.n_groups,
        n_active_groups=shape.n_active_groups,
    )
