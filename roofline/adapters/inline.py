"""A configuration inside a reference, so that a model of the person's own travels in a link."""

from __future__ import annotations

from typing import Any

from roofline.adapters.envelope import Envelope
from roofline.language import later

CONFIGURATION = Envelope(
    prefix="config:",
    noun=later("configuration"),
    advice=later("leave out per-layer lists or module names of its quantization_config"),
    remedy=later("paste the config.json again"),
    most_characters=2400,
    most_bytes=200_000,
)

_NOISE = frozenset(
    {
        "_name_or_path",
        "transformers_version",
        "auto_map",
        "use_cache",
        "initializer_range",
        "pretraining_tp",
        "attention_dropout",
        "hidden_dropout",
        "resid_pdrop",
        "embd_pdrop",
        "attn_pdrop",
        "rms_norm_eps",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "router_aux_loss_coef",
        "output_router_logits",
        "output_hidden_states",
        "output_attentions",
        "return_dict",
        "rope_theta",
        "rope_scaling",
        "rope_parameters",
        "task_specific_params",
        "id2label",
        "label2id",
    }
)
"""Fields without a say in structure, left out to keep links short."""


def is_inline(ref: str) -> bool:
    """Whether a reference holds a configuration itself."""
    return CONFIGURATION.holds(ref)


def pack(config: dict[str, Any]) -> str:
    """A configuration as a reference; refused where it is too large to travel in a link."""
    return CONFIGURATION.pack(_lean(config))


def unpack(ref: str) -> dict[str, Any]:
    """The configuration of a reference; refused where it is damaged, too large, or none."""
    return CONFIGURATION.unpack(ref)


def _lean(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without fields that say nothing of structure, nested ones too."""
    kept = {k: v for k, v in config.items() if k not in _NOISE and not k.endswith("_token_id")}
    return {k: _lean(v) if isinstance(v, dict) else v for k, v in kept.items()}
