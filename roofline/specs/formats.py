"""Number formats: what a weight, an activation or a cached element occupies, and which arithmetic it asks for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from roofline.specs.base import Frozen

Dtype = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp6", "fp4", "int4", "fp16_acc16"]
"""Keys of a machine's peak rates."""


class NumberFormat(Frozen):
    """One way to store numbers, scales included."""

    id: str
    name: str
    bits_per_weight: PositiveFloat = Field(description="exact for a uniform format; nominal for a mix")
    block_weights: PositiveInt | None = Field(default=None, description="weights that share a block or a scale")
    block_bytes: PositiveFloat | None = None
    scale: str = Field(default="", description="what the scale is and how often, in words")
    family: Literal["float", "integer", "microscaling", "gguf", "gguf mix"]
    arithmetic: Dtype = Field(description="rate that matrix products of this format run at, as an activation format")
    roles: tuple[Literal["weights", "activations", "kv_cache"], ...]
    source: str
