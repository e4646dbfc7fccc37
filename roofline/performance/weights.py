"""Stored size of weights: bits per parameter of every tensor in a number format, and the bytes of a whole model."""

from __future__ import annotations

from functools import lru_cache

from roofline.adapters.quantization import QUANTIZED_OPERATORS
from roofline.catalog.formats import load_format
from roofline.performance.gguf import gguf_bits
from roofline.specs.formats import NumberFormat
from roofline.specs.model import LayerGroup, ModelSpec, Tensor
from roofline.units import BITS_PER_BYTE

WIDE_BITS = 16.0
"""What narrow formats leave alone is kept in 16 bit."""

NARROW_OPERATORS = (*QUANTIZED_OPERATORS, "experts/latent")
"""Operators whose matrices a narrow format applies to; embeddings, head, norms, routers and convolutions stay wide."""

FLOAT_BLOCK = 128
BLOCK_SCALE_BYTES = {"fp8_block128": 4, "fp8_block128_ue8m0": 1}
"""Bytes of the scale of a block of 128 x 128; blocks at an edge have a whole one."""

MATRIX_SCALE_BITS = {"nvfp4": 32.0}
"""Bits of one more scale per matrix."""

EXL_HEAD_BITS = 6.0
"""ExLlama's converter keeps the output head at six bits unless told otherwise."""


def tensor_bits(model: ModelSpec, group: LayerGroup | None, tensor: Tensor, weights: str | None) -> float:
    """Mean stored bits per parameter of a tensor over the layers of its group, scales included.

    ``weights`` is the format of the file one would make; None, or the format the published file has, is that file's own.
    What a format leaves wide stays wide: checkpoint schemes keep embeddings, head, norms, routers, biases and
    convolutions in 16 bit; llama.cpp's mixes have a rule per role.
    """
    if tensor.part == "vision_audio":
        return max(WIDE_BITS, _wide_bits(weights or tensor.stored_as))
    chosen = model.stored_format if weights is None else load_format(weights).id
    if weights is None or chosen == model.stored_format:
        return WIDE_BITS if tensor.stored_as is None else _matrix_bits(load_format(tensor.stored_as), tensor)
    number_format = load_format(chosen)
    if number_format.family in ("gguf", "gguf mix"):
        return gguf_bits(model, group.layers if group is not None else (), tensor, chosen)
    if number_format.family == "float" and number_format.bits_per_weight >= WIDE_BITS:
        return number_format.bits_per_weight
    if is_narrow(tensor, number_format):
        return _matrix_bits(number_format, tensor)
    if chosen.startswith("exl2") and tensor.operator == "output_head" and tensor.part == "output_head":
        return max(EXL_HEAD_BITS, number_format.bits_per_weight) if tensor.use == "matmul" else WIDE_BITS
    return WIDE_BITS


def is_narrow(tensor: Tensor, number_format: NumberFormat) -> bool:
    """Whether a narrow format applies to a tensor; MLX narrows the tables too."""
    if number_format.id.startswith("mlx") and tensor.operator in ("output_head", "embedding"):
        return tensor.use in ("matmul", "lookup")
    return tensor.use == "matmul" and tensor.n_out > 1 and tensor.operator in NARROW_OPERATORS


def _wide_bits(weights: str | None) -> float:
    """Bits of a plain wide format, else 16."""
    if weights is None:
        return WIDE_BITS
    bits = load_format(weights).bits_per_weight
    return bits if load_format(weights).family == "float" else WIDE_BITS


def _matrix_bits(number_format: NumberFormat, tensor: Tensor) -> float:
    """Bits per weight of a matrix, with whole scales for blocks at its edges."""
    scale = BLOCK_SCALE_BYTES.get(number_format.id)
    if scale is not None:
        blocks = -(-tensor.n_out // FLOAT_BLOCK) * -(-tensor.n_in // FLOAT_BLOCK)
        return BITS_PER_BYTE * (1.0 + scale * blocks / (tensor.n_out * tensor.n_in))
    return number_format.bits_per_weight + MATRIX_SCALE_BITS.get(number_format.id, 0.0) / (tensor.n_out * tensor.n_in)


@lru_cache(maxsize=4096)
def weight_bytes(model: ModelSpec, weights: str | None) -> float:
    """Bytes of all weights of a model, towers included, draft modules not."""
    bits = sum(t.n_parameters * tensor_bits(model, None, t, weights) for t in model.ends)
    for group in model.groups:
        layer = sum(t.n_parameters * tensor_bits(model, group, t, weights) for b in group.blocks for t in b.tensors)
        bits += group.n_layers * layer
    return bits / BITS_PER_BYTE
