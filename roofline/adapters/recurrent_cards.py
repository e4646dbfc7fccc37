"""Cards of mixers with a state of constant size: from numbers to a block.

A convolution keeps its last columns but one from token to token. Updates that are elementwise count no FLOPs.
"""

from __future__ import annotations

from dataclasses import dataclass

from roofline.adapters.tensors import convolution, matrix, norm, vector
from roofline.specs.model import Block, Recurrence, Tensor

DELTA_CHUNK = 64
"""Tokens per chunk of the delta-rule kernels (flash-linear-attention)."""
LIGHTNING_CHUNK = 256
"""Tokens per block of lightning attention's reference."""


@dataclass(frozen=True)
class SelectiveShape:
    """Sizes of a Mamba mixer."""

    hidden: int
    width: int
    """Inner width."""
    state: int
    columns: int
    """Of the convolution."""
    heads: int = 1
    groups: int = 1
    step_rank: int = 1
    chunk: int = 256
    convolution_bias: bool = True
    projection_bias: bool = False
    inner_norms: bool = False
    gate_norm: bool = True
    state_bits: int | None = None


def _inner(module: str, n_out: int, n_in: int, gguf: str = "") -> Tensor:
    return matrix("state_space/other", module, "state_space", n_out, n_in, split="heads", gguf=gguf)


def _own(module: str, n: int) -> Tensor:
    return vector("state_space/other", module, "state_space", n, split="heads")


def _entry(module: str, n_out: int, n_in: int, gguf: str = "ssm_in") -> Tensor:
    return matrix("state_space/in", module, "state_space", n_out, n_in, split="heads", gguf=gguf)


def _exit(module: str, n_out: int, n_in: int) -> Tensor:
    return matrix("state_space/out", module, "state_space", n_out, n_in, split="heads", gguf="ssm_out")


def _selective_biases(shape: SelectiveShape, n_in: int, channels: int) -> list[Tensor]:
    tensors = [_own("mixer.conv1d.bias", channels)] if shape.convolution_bias else []
    return [*tensors, _own("mixer.proj.bias", n_in + shape.hidden)] if shape.projection_bias else tensors


def selective_state(shape: SelectiveShape) -> Block:
    """Mamba: a diagonal state per channel, with input-dependent steps.

        in: h 2 e;  conv: e K (+ e);  x: e (dt + 2 N);  dt: dt e + e;  A: e N;  D: e;  out: e h;  state e N

    A. Gu, T. Dao, "Mamba", 2023, section 3. Read-out 2 e N FLOPs per token; the scan itself is elementwise.
    """
    e, n, rank = shape.width, shape.state, shape.step_rank
    tensors = [
        _entry("mixer.in_proj", 2 * e, shape.hidden),
        convolution("mixer.conv1d", e, shape.columns),
        _inner("mixer.x_proj", rank + 2 * n, e, "ssm_x"),
        _inner("mixer.dt_proj", e, rank, "ssm_dt"),
        _own("mixer.dt_proj.bias", e),
        _own("mixer.A_log", e * n),
        _own("mixer.D", e),
        _exit("mixer.out_proj", shape.hidden, e),
        *_selective_biases(shape, 2 * e, e),
    ]
    if shape.inner_norms:
        tensors += norm("mixer.dt_b_c_layernorm", rank + 2 * n)
    recurrence = Recurrence(
        kind="mamba",
        n_heads=e,
        state_elements=e * n,
        convolution_elements=e * (shape.columns - 1),
        decode_flops=2 * e * n,
        prefill_flops=2 * e * n,
        state_bits=shape.state_bits,
    )
    return Block(kind="mamba", tensors=tuple(tensors), recurrences=(recurrence,))


def dual_state(shape: SelectiveShape) -> Block:
    """Mamba-2: one scalar decay per head, a state of head size by N.

        in: h (2 e + 2 G N + H);  conv over c = e + 2 G N channels: c K (+ c);  A, D, dt: 3 H;  norm e;  out: e h
        state H P N;  4 H P N FLOPs per token one at a time, H (2 Q (N + P) + 4 P N) in chunks of Q

    T. Dao, A. Gu, "Transformers are SSMs", 2024, sections 6 and 7.
    """
    e, n, heads = shape.width, shape.state, shape.heads
    channels = e + 2 * shape.groups * n
    wide = channels + e + heads
    tensors = [
        _entry("mixer.in_proj", wide, shape.hidden),
        convolution("mixer.conv1d", channels, shape.columns),
        _own("mixer.A_log_D_dt_bias", 3 * heads),
        _exit("mixer.out_proj", shape.hidden, e),
        *_selective_biases(shape, wide, channels),
    ]
    if shape.gate_norm:
        tensors += norm("mixer.norm", e)
    recurrence = Recurrence(
        kind="mamba-2",
        n_heads=heads,
        state_elements=e * n,
        convolution_elements=channels * (shape.columns - 1),
        decode_flops=4 * e * n,
        prefill_flops=2 * shape.chunk * (heads * n + e) + 4 * e * n,
        state_bits=shape.state_bits,
    )
    return Block(kind="mamba-2", tensors=tuple(tensors), recurrences=(recurrence,))


@dataclass(frozen=True)
class DeltaShape:
    """Sizes of a gated delta mixer."""

    hidden: int
    key_heads: int
    value_heads: int
    key_size: int
    value_size: int
    columns: int
    state_bits: int | None = None
    full_decay_gate: bool = False
    full_output_gate: bool = False


def _delta_recurrence(shape: DeltaShape, kind: str, channels: int) -> Recurrence:
    """One state of key by value size per value head; a read, an erasure and a write per token."""
    update = 6 * shape.key_size * shape.value_size
    within = 2 * DELTA_CHUNK * (2 * shape.key_size + shape.value_size)
    return Recurrence(
        kind=kind,
        n_heads=shape.value_heads,
        state_elements=shape.value_heads * shape.key_size * shape.value_size,
        convolution_elements=channels * (shape.columns - 1),
        decode_flops=shape.value_heads * update,
        prefill_flops=shape.value_heads * (within + update),
        state_bits=shape.state_bits,
    )


def gated_delta_net(shape: DeltaShape) -> Block:
    """Gated delta net: linear attention whose state is corrected, not only added to.

        qkvz: h (2 K_d + 2 V_d);  beta, alpha: h 2 H_v;  conv (2 K_d + V_d) K, no bias;  A, dt: 2 H_v;  norm d_v;  out V_d h
        state H_v d_k d_v;  6 d_k d_v FLOPs per head and token, plus 2 C (2 d_k + d_v) within chunks of C

    S. Yang, J. Kautz, A. Hatamizadeh, "Gated delta networks", 2024, section 3.
    """
    keys, values = shape.key_heads * shape.key_size, shape.value_heads * shape.value_size
    channels = 2 * keys + values
    tensors = (
        _entry("linear_attn.in_proj_qkvz", channels + values, shape.hidden),
        _entry("linear_attn.in_proj_ba", 2 * shape.value_heads, shape.hidden, "ssm_ba"),
        convolution("linear_attn.conv1d", channels, shape.columns),
        _own("linear_attn.A_log_dt_bias", 2 * shape.value_heads),
        *norm("linear_attn.norm", shape.value_size),
        _exit("linear_attn.out_proj", shape.hidden, values),
    )
    recurrences = (_delta_recurrence(shape, "gated delta net", channels),)
    return Block(kind="gated delta net", tensors=tensors, recurrences=recurrences)


def delta_attention(shape: DeltaShape) -> Block:
    """Kimi delta attention: a decay per channel, made by a low-rank gate.

        q, k, v, o: 4 h P;  conv 3 P K;  decay and output gates h d + d P each (or h P);  beta h H;  dt P;  A H;  norm d

    Kimi Team, "Kimi Linear", 2025, section 3.
    """
    wide, d = shape.value_heads * shape.value_size, shape.value_size
    module = "self_attn"
    tensors = (
        _entry(f"{module}.qkv_proj", 3 * wide, shape.hidden),
        convolution(f"{module}.qkv_conv1d", 3 * wide, shape.columns),
        *_delta_gate(f"{module}.f", wide, d, shape.hidden, full=shape.full_decay_gate),
        *_delta_gate(f"{module}.g", wide, d, shape.hidden, full=shape.full_output_gate),
        _entry(f"{module}.b_proj", shape.value_heads, shape.hidden, ""),
        _own(f"{module}.dt_bias", wide),
        _own(f"{module}.A_log", shape.value_heads),
        *norm(f"{module}.o_norm", d),
        _exit(f"{module}.o_proj", shape.hidden, wide),
    )
    recurrences = (_delta_recurrence(shape, "kimi delta attention", 3 * wide),)
    return Block(kind="kimi delta attention", tensors=tensors, recurrences=recurrences)


def _delta_gate(name: str, wide: int, rank: int, hidden: int, *, full: bool) -> tuple[Tensor, ...]:
    if full:
        return (_entry(f"{name}_proj", wide, hidden, "attn_gate"),)
    return (_inner(f"{name}_a_proj", rank, hidden), _inner(f"{name}_b_proj", wide, rank))


def lightning_attention(hidden: int, heads: int, size: int) -> Block:
    """Lightning attention: linear attention with a fixed decay per head.

        qkv: h 3 e;  out: e h;  gate: h e;  norm e;  state H d d;  4 H d d FLOPs per token, plus 4 C d H within blocks of C

    Z. Qin et al., "Lightning Attention-2", 2024; MiniMax, "MiniMax-01", 2025, section 2. Decay tables are no parameters.
    """
    wide = heads * size
    tensors = (
        _entry("self_attn.qkv_proj", 3 * wide, hidden),
        _entry("self_attn.output_gate", wide, hidden, "attn_gate"),
        *norm("self_attn.norm", wide),
        _exit("self_attn.out_proj", hidden, wide),
    )
    recurrence = Recurrence(
        kind="lightning attention",
        n_heads=heads,
        state_elements=wide * size,
        decode_flops=4 * wide * size,
        prefill_flops=4 * LIGHTNING_CHUNK * wide + 4 * wide * size,
    )
    return Block(kind="lightning attention", tensors=tensors, recurrences=(recurrence,))


def short_convolution(hidden: int, columns: int, *, bias: bool) -> Block:
    """Gated short convolution: three projections in, a depthwise convolution, one out.

        in: h 3 h;  conv: h K;  out: h h;  state: h (K - 1)

    ``conv`` layers of the LFM2 class: Liquid AI, "LFM2 technical report", 2025.
    """
    tensors = [
        _entry("conv.in_proj", 3 * hidden, hidden, "shortconv.in_proj"),
        convolution("conv.conv", hidden, columns),
        _exit("conv.out_proj", hidden, hidden),
    ]
    if bias:
        tensors.append(_own("conv.bias", 5 * hidden))
    recurrence = Recurrence(
        kind="short convolution",
        n_heads=hidden,
        state_elements=0,
        convolution_elements=hidden * (columns - 1),
        decode_flops=0,
        prefill_flops=0,
    )
    return Block(kind="short convolution", tensors=tuple(tensors), recurrences=(recurrence,))


def gated_recurrence(hidden: int, width: int, heads: int, columns: int) -> Block:
    """Real-gated linear recurrent unit: a vector state with block-diagonal gates.

        x, y, out: 3 h w (+ biases);  conv w K + w;  two gates H (w / H)^2 + w;  decay w;  state w

    S. De et al., "Griffin", 2024, section 2.4; biases as in the reference class.
    """
    block = width // heads
    gates = matrix(
        "state_space/other", "recurrent_block.rg_lru.gates", "state_space", block, block, copies=2 * heads, split="heads"
    )
    tensors = (
        _entry("recurrent_block.linear_xy", 2 * width, hidden),
        convolution("recurrent_block.conv_1d", width, columns),
        gates,
        _own("recurrent_block.bias", 2 * width + hidden + width + 2 * width + width),
        _exit("recurrent_block.linear_out", hidden, width),
    )
    recurrence = Recurrence(
        kind="gated linear recurrence",
        n_heads=heads,
        state_elements=width,
        convolution_elements=width * (columns - 1),
        decode_flops=0,
        prefill_flops=0,
        state_bits=32,
    )
    return Block(kind="gated linear recurrence", tensors=tensors, recurrences=(recurrence,))


def receptance_mixer(hidden: int, width: int) -> Block:
    """RWKV time mixing: key, value, receptance and output matrices, five state vectors.

    B. Peng et al., "RWKV", 2023, section 3: mixes 3 h, decay and first 2 a.
    """
    tensors = (
        _entry("attention.key_value_receptance", 3 * width, hidden),
        _own("attention.time_mix", 3 * hidden + 2 * width),
        _exit("attention.output", hidden, width),
    )
    recurrence = Recurrence(kind="rwkv", n_heads=1, state_elements=5 * hidden, decode_flops=0, prefill_flops=0, state_bits=32)
    return Block(kind="rwkv", tensors=tensors, recurrences=(recurrence,))
