"""A configuration inside a reference, so that a model of the person's own travels in a link.

``config:`` + base64url(deflate(JSON)), limited in size packed and unpacked. It is text: nothing in it is run.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from roofline.errors import InputError

PREFIX = "config:"
MAX_PACKED_CHARACTERS = 3000
MAX_UNPACKED_BYTES = 200_000

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
    return ref.startswith(PREFIX)


def pack(config: dict[str, Any]) -> str:
    """A configuration as a reference.

    Raises
    ------
    InputError
        It is too large to travel in a link.
    """
    text = json.dumps(_lean(config), separators=(",", ":"), sort_keys=True)
    packed = PREFIX + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    if len(packed) > MAX_PACKED_CHARACTERS:
        raise InputError(
            f"this configuration needs {len(packed):,} characters in a link and {MAX_PACKED_CHARACTERS:,} are allowed; "
            "leave out per-layer lists or module names of its quantization_config."
        )
    return packed


def unpack(ref: str) -> dict[str, Any]:
    """The configuration of a reference.

    Raises
    ------
    InputError
        It is damaged, too large, or no configuration.
    """
    if len(ref) > MAX_PACKED_CHARACTERS:
        raise InputError(f"a configuration in a link has at most {MAX_PACKED_CHARACTERS:,} characters.")
    body = ref.removeprefix(PREFIX)
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        inflater = zlib.decompressobj()
        text = inflater.decompress(raw, MAX_UNPACKED_BYTES)
        if inflater.unconsumed_tail or not inflater.eof:
            raise InputError(f"the configuration in this link is cut short or larger than {MAX_UNPACKED_BYTES:,} bytes.")
        config = json.loads(text)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        raise InputError("the configuration in this link is damaged: paste the config.json again.") from None
    if not isinstance(config, dict):
        raise InputError("the configuration in this link is no table of fields: paste the config.json again.")
    return config


def _lean(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without fields that say nothing of structure, nested ones too."""
    kept = {k: v for k, v in config.items() if k not in _NOISE and not k.endswith("_token_id")}
    return {k: _lean(v) if isinstance(v, dict) else v for k, v in kept.items()}
