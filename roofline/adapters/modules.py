"""Names of modules as checkpoints spell them, and the patterns that quantisation settings name them by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

from roofline.adapters.fields import shown
from roofline.errors import ConfigurationError
from roofline.language import tr

MAX_PATTERNS = 100_000
MAX_PATTERN_LENGTH = 400
MAX_REPETITIONS = 5
PREFIXES = ("model.layers", "model.language_model.layers", "language_model.model.layers", "backbone.layers", "layers")
TRUNKS = re.compile(r"^(model\.|language_model\.|text_model\.|backbone\.|decoder\.|transformer\.)+")
SYNONYMS = {
    "block_sparse_moe": "mlp",
    "feed_forward": "mlp",
    "ffn": "mlp",
    "attn": "self_attn",
    "attention": "self_attn",
    "w1": "gate_proj",
    "w2": "down_proj",
    "w3": "up_proj",
    "shared_expert": "shared_experts",
    "router": "gate",
}
"""Spellings of other checkpoints to the ones used here."""
SINGLE = "mixer"
"""Name of the only sublayer in classes of one sublayer per layer."""


def canonical(name: str) -> str:
    """A module name without its trunk and in the spelling used here."""
    bare = TRUNKS.sub("", name.removesuffix(".weight"))
    return ".".join(SYNONYMS.get(part, part) for part in bare.split("."))


def spellings(layer: int | None, module: str) -> tuple[str, ...]:
    """Full names a pattern may mean this module of a layer by."""
    if layer is None:
        return (module, f"model.{module}", f"language_model.{module}")
    single = f"{SINGLE}.{module.split('.', 1)[-1]}"
    return tuple(f"{prefix}.{layer}.{name}" for prefix in PREFIXES for name in (module, single))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    source = pattern[3:] if pattern.startswith("re:") else translate(pattern)
    try:
        return re.compile(source)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigurationError(tr("The module pattern {pattern} is not understood.", pattern=shown(pattern))) from error


class ModulePatterns:
    """A list of module names, prefixes, globs and regular expressions."""

    def __init__(self, entries: Iterable[object]) -> None:
        self._names: set[str] = set()
        self._parts: list[str] = []
        self._patterns: list[str] = []
        for entry in list(entries)[:MAX_PATTERNS]:
            if not isinstance(entry, str) or len(entry) > MAX_PATTERN_LENGTH:
                raise ConfigurationError(tr("A list of modules holds {entry}, which is no module name.", entry=shown(entry)))
            self._add(entry)

    def _add(self, entry: str) -> None:
        if entry.startswith("re:") or any(mark in entry for mark in "*?["):
            _reject_slow(entry)
            self._patterns.append(entry)
            return
        name = canonical(entry).strip(".")
        if name.startswith("layers."):
            self._names.add(name)
        elif name:
            self._parts.append(f".{name}.")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is named."""
        return not (self._names or self._parts or self._patterns)

    @property
    def by_layer(self) -> bool:
        """Whether a pattern can tell one layer from another."""
        return bool(self._names) or any(re.search(r"\d", p) for p in self._patterns)

    @property
    def cost(self) -> int:
        """Comparisons that one module needs, at most."""
        return 1 + len(self._parts) + 10 * len(self._patterns)

    def matches(self, layer: int | None, module: str) -> bool:
        """Whether this module of this layer, or something it is part of, is named."""
        full = canonical(module) if layer is None else f"layers.{layer}.{canonical(module)}"
        if any(part in f".{full}." for part in self._parts) or self._is_named(full, module, layer):
            return True
        return any(_pattern_matches(pattern, name) for pattern in self._patterns for name in spellings(layer, module))

    def _is_named(self, full: str, module: str, layer: int | None) -> bool:
        if not self._names:
            return False
        single = f"layers.{layer}.{SINGLE}.{canonical(module).split('.', 1)[-1]}"
        return any(name in self._names for whole in (full, single) for name in _with_parents(whole))


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(2, len(parts) + 1)]


def _pattern_matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern)
    if pattern.startswith("re:"):
        return compiled.match(name) is not None
    return any(compiled.match(part) is not None for part in (name, *_with_parents(name)))


def _reject_slow(pattern: str) -> None:
    """Refuse regular expressions that can take long on a short name: repeated groups, or many repetitions."""
    repetitions = sum(pattern.count(mark) for mark in "*+{")
    if pattern.startswith("re:") and (re.search(r"\)[*+{]", pattern) or repetitions > MAX_REPETITIONS):
        raise ConfigurationError(tr("The module pattern {pattern} repeats too much to be read.", pattern=shown(pattern)))
