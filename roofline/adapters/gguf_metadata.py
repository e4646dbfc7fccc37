"""Metadata of a GGUF file as numbers of known meaning, and the little that a file leaves to its architecture.

``general.architecture`` plays the part of a model_type: it says only what its reference does where the file is silent,
which is which layers have a window. Everything else comes from keys and tensors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from roofline.adapters.attention_cards import Reach
from roofline.adapters.fields import MAX_LAYERS, MAX_SIZE, shown
from roofline.adapters.gguf_header import Value
from roofline.errors import ConfigurationError
from roofline.language import later, localised, tr

_SILENT_CHUNKS = later("attention.sliding_window is absent: chunks of {n:,} tokens by the architecture.")
_SILENT_WINDOWS = later("attention.sliding_window is absent: windows of {n:,} tokens by the architecture.")


@dataclass(frozen=True)
class WindowHabit:
    """Which layers of an architecture have a window, where the file gives only its size."""

    period: int
    """One layer in so many is full; 0: none is."""
    full_first: bool = False
    """The full layer opens each period; else it closes it."""
    chunked: bool = False
    size: int | None = None
    """Size where the file is silent; None: no window then."""


WINDOWS: Mapping[str, WindowHabit] = {
    "afmoe": WindowHabit(4),
    "cohere2": WindowHabit(4),
    "exaone-moe": WindowHabit(4),
    "exaone4": WindowHabit(4),
    "gemma2": WindowHabit(2, size=4096),
    "gemma3": WindowHabit(6),
    "gemma3n": WindowHabit(5),
    "gpt-oss": WindowHabit(2),
    "llama4": WindowHabit(4, chunked=True, size=8192),
    "olmo2": WindowHabit(4),
    "phi3": WindowHabit(0),
    "plamo3": WindowHabit(8),
    "smallthinker": WindowHabit(4, full_first=True),
}
"""``set_swa_pattern`` of the loaders in llama.cpp's ``src/models``; phi3 as in its reference attention class."""

KNOWN = frozenset(
    """
    apertus arcee arctic baichuan bailingmoe bailingmoe2 bitnet bloom chatglm codeshell command-r dbrx deci deepseek
    deepseek2 dots1 ernie4_5 ernie4_5-moe exaone falcon falcon-h1 gemma gemma4 glm-dsa glm4 glm4moe gpt2 gptj gptneox
    granite granitehybrid granitemoe grok hunyuan-dense hunyuan-moe internlm2 jais jamba kimi-linear lfm2 lfm2moe llama
    mamba mamba2 mimo2 minicpm minicpm3 minimax-m2 mistral3 mpt nemotron nemotron_h nemotron_h_moe olmo olmoe openelm
    orion phi2 phimoe plamo plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe
    refact seed_oss smollm3 stablelm starcoder starcoder2 step35 xverse
    """.split()  # noqa: SIM905
) | set(WINDOWS)
"""Decoders whose keys and tensors say all that matters here."""

ENCODERS = frozenset(
    """
    bert clip dream eurobert gemma-embedding jina-bert-v2 jina-bert-v3 llada llada-moe llama-embed mmproj modern-bert
    neo-bert nomic-bert nomic-bert-moe rnd1 t5 t5encoder wavtokenizer-dec
    """.split()  # noqa: SIM905
)
"""Architectures that do not generate token by token from what came before."""

STRUCTURAL_WORDS = (
    "attention",
    "expert",
    "moe",
    "ssm",
    "loop",
    "recurrent",
    "compress",
    "shared",
    "pattern",
    "interval",
    "indexer",
)
"""Parts of keys that speak of structure: not to be passed over where their meaning is not known."""

HARMLESS = re.compile(
    r"epsilon|scale|clamp|bias|temperature|norm|gating_func|relative_buckets|softcap|causal|_length(_mla|_swa)?$|_lora_rank$|latent_size"
    r"|full_attention_interval|interleave_moe_layer_step|moe_every_n_layers|expert_shared_count|logit|dt_b_c_rms|^rope\.|head_count|window_pattern"
)
"""Keys that change values, or repeat what the shapes of the tensors say."""


class Metadata:
    """Keys of a file, read with bounds, and a record of what was read and assumed."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values
        name = values.get("general.architecture")
        if not isinstance(name, str) or not name or len(name) > 100:
            raise ConfigurationError(tr("The file does not say 'general.architecture', which its tensors depend on."))
        self.architecture = name
        self.assumptions: dict[str, str] = {}
        self._read: set[str] = set()
        causal = values.get(f"{name}.attention.causal")
        if name in ENCODERS or causal is False:
            raise ConfigurationError(
                tr("The architecture {architecture} is no decoder that generates token by token.", architecture=shown(name))
            )

    def raw(self, key: str) -> Value | None:
        """The value of a key of this architecture."""
        self._read.add(key)
        return self._values.get(f"{self.architecture}.{key}")

    def general(self, key: str) -> Value | None:
        """The value of a key outside the architecture's own."""
        return self._values.get(key)

    def optional(self, key: str, layer: int | None = None, largest: int = MAX_SIZE) -> int | None:
        """A positive whole number, of one layer where the file lists layers; None for zero and absence."""
        value = self.raw(key)
        if value is None:
            return None
        if isinstance(value, tuple):
            value = self._of_layer(key, value, layer)
        if isinstance(value, float) and isfinite(value) and value == int(value):
            value = int(value)
        if not isinstance(value, int):
            raise ConfigurationError(
                tr("{name!r} must be a whole number, not {value}.", name=f"{self.architecture}.{key}", value=shown(value))
            )
        if not 0 <= value <= largest:
            raise ConfigurationError(
                tr(
                    "{name!r} must lie between 0 and {most:,}, not {value}.",
                    name=f"{self.architecture}.{key}",
                    most=largest,
                    value=localised(f"{value:,}"),
                )
            )
        return int(value) or None

    def size(self, key: str, layer: int | None = None, fallback: int | None = None, largest: int = MAX_SIZE) -> int:
        """A positive whole number that must be known."""
        found = self.optional(key, layer, largest) or fallback
        if found is None:
            raise ConfigurationError(
                tr("The file does not say {name!r}, which its counts depend on.", name=f"{self.architecture}.{key}")
            )
        return found

    def _of_layer(self, key: str, values: tuple[int | float, ...], layer: int | None) -> int | float:
        if layer is None:
            if len(set(values)) != 1:
                raise ConfigurationError(
                    tr("{name!r} must be one number, not a list of {n:,}.", name=f"{self.architecture}.{key}", n=len(values))
                )
            return values[0]
        if layer >= len(values):
            raise ConfigurationError(
                tr(
                    "{name!r} lists {n:,} values; layer {layer:,} has none.",
                    name=f"{self.architecture}.{key}",
                    n=len(values),
                    layer=layer,
                )
            )
        return values[layer]

    def n_blocks(self) -> int:
        """Layers in the file, draft layers included."""
        return self.size("block_count", largest=MAX_LAYERS)

    def reach(self, layer: int) -> Reach:
        """Which earlier positions this layer's queries see.

        A period p: layer i is windowed if ``i mod p < p - 1``, or ``i mod p > 0`` where the full layer comes first; a list
        says it layer by layer. ``llama_hparams::set_swa_pattern`` of llama.cpp.
        """
        habit = WINDOWS.get(self.architecture)
        size = self._window(habit)
        if size is None or not self._windowed(layer, habit):
            return Reach()
        if habit is not None and habit.chunked:
            return Reach("chunked", chunk=size)
        return Reach("sliding", window=size)

    def _window(self, habit: WindowHabit | None) -> int | None:
        if habit is not None and habit.size is not None and self.raw("attention.sliding_window") is None:
            self.assume("window", tr(_SILENT_CHUNKS if habit.chunked else _SILENT_WINDOWS, n=habit.size))
            return habit.size
        size = self.optional("attention.sliding_window", largest=2**32 - 1)
        return habit.size if size and habit and habit.chunked else size

    def _windowed(self, layer: int, habit: WindowHabit | None) -> bool:
        pattern = self.raw("attention.sliding_window_pattern")
        if isinstance(pattern, tuple):
            return bool(self._of_layer("attention.sliding_window_pattern", pattern, layer))
        period = habit.period if habit is not None else None
        if pattern is not None:
            period = self.optional("attention.sliding_window_pattern") or 0
        if period is None:
            raise ConfigurationError(
                tr(
                    "The architecture {architecture} has a sliding window, but nothing says which layers have it.",
                    architecture=shown(self.architecture),
                )
            )
        if period == 0:
            return True
        position = layer % period
        return position > 0 if habit is not None and habit.full_first else position < period - 1

    def assume(self, key: str, sentence: str) -> None:
        """Record a reading of something the file does not say."""
        self.assumptions.setdefault(key, sentence)

    def check_unread(self) -> None:
        """Refuse keys about structure that nothing asked for; tell of an architecture that is not known."""
        prefix = f"{self.architecture}."
        for name, value in self._values.items():
            key = name.removeprefix(prefix)
            if key == name or key in self._read or not value or HARMLESS.search(key):
                continue
            if any(word in key for word in STRUCTURAL_WORDS):
                raise ConfigurationError(
                    tr("The key {key} is not understood, and it may change what the model does.", key=shown(name))
                )
        if self.architecture not in KNOWN:
            self.assume(
                "architecture",
                tr(
                    "architecture {architecture} is not known: read from its tensors alone.",
                    architecture=shown(self.architecture),
                ),
            )
