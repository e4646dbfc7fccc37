"""Class habits and class defaults by model_type, read from data.

A model_type says only what its class does where the file is silent: biases, norms, gating, tying, and defaults of fields.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib import resources
from typing import Literal


@dataclass(frozen=True)
class Habits:
    """What a class does without a field saying so."""

    tied: bool = False
    gated: bool = True
    norm: Literal["rms", "layer", "weight", "none"] = "rms"
    """``layer`` has weight and bias; ``weight`` is a layer norm without bias; ``none`` has no weights."""
    norms: int = 2
    """Per layer of a mixer and a feed-forward."""
    parallel: bool = False
    parallel_switch: str = ""
    """Field that says whether mixer and feed-forward run side by side."""
    parallel_norms: int = 0
    """Norms per layer when they do; 0: as otherwise."""
    bias_qkv: bool | str = False
    """A bias always, never, or as the named field says; so too below."""
    bias_o: bool | str = False
    bias_mlp: bool | str = False
    bias_head: bool | str = False
    expert_bias: bool = False
    router_bias: bool = False
    correction_parameter: bool = False
    """The router's correction bias is counted as a parameter."""
    qk_norm: Literal["none", "head", "head_layer", "full"] = "none"
    """Norm of queries and keys: over a head, the same with bias, or over all heads."""
    qk_norm_switch: str = ""
    query_gate: bool = False
    attention_gate: Literal["none", "heads", "width"] = "none"
    sinks: bool = False
    pattern: tuple[str, ...] = ()
    """Layer kinds in a cycle, where no field lists them."""
    linear: str = ""
    """What a layer is that is not attention."""
    all_linear: bool = False
    both_mixers: bool = False
    sublayers: Literal["pair", "single"] = "pair"
    """``single``: a layer is one mixer or one feed-forward with one norm."""
    window_switch: bool = False
    """The window holds only if ``use_sliding_window`` is true."""
    full_gates: bool = False
    split_projections: bool = False
    state_norms: bool = False
    state_bias: str = "mamba_proj_bias"
    """Field that says whether the projections of a Mamba mixer have biases."""
    gate_norm_switch: str = ""
    shared_gate: bool = False
    n_shared: int = 0
    """Shared experts where no field counts them."""
    expert_norm: bool = False
    sub_norms: bool = False
    activation_parameters: int = 0
    ffn_multiple: int = 0
    ffn_divisor: int = 1
    learned_positions: bool = False
    position_offset: int = 0
    window_extra: int = 0
    """Tokens a window sees beyond the number stated."""
    embedding_norm: bool = False
    fused_qkv: bool = False
    double_layers: bool = False
    """A layer is two mixers, two dense feed-forwards and one set of experts."""
    channel_mixing: bool = False
    encoder: bool = False
    """An encoder stands before the decoder."""
    bias_every_layer: bool = False
    tower: str = ""
    """Kind of the vision tower where the file has a vision configuration."""


@dataclass(frozen=True)
class Family:
    """A model_type with its habits and the defaults of its configuration class."""

    name: str
    known: bool
    habits: Habits
    defaults: Mapping[str, object] = field(default_factory=dict)


_HABITS = {f.name for f in fields(Habits)}


@cache
def _tables() -> dict[str, dict[str, object]]:
    text = (resources.files("roofline.adapters") / "data" / "families.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def family_names() -> tuple[str, ...]:
    """Every model_type whose habits are known."""
    return tuple(_tables())


@lru_cache(maxsize=1024)
def family(model_type: str) -> Family:
    """Habits of a model_type; of a plain gated decoder where it is unknown."""
    tables = _tables()
    name = model_type.lower()
    if name not in tables:
        return Family(model_type, False, Habits())
    given = _inherited(name)
    habits = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items() if key in _HABITS}
    defaults = tables[name].get("defaults", {})
    return Family(model_type, True, Habits(**habits), defaults if isinstance(defaults, Mapping) else {})  # type: ignore[arg-type]


def _inherited(name: str) -> dict[str, object]:
    table = _tables()[name]
    parent = table.get("like")
    return {**(_inherited(parent) if isinstance(parent, str) else {}), **table}
