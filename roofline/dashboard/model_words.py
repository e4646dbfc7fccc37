"""A model in words and short lists: its parts, its kinds of layers, where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from roofline.answers.anatomy import Anatomy, Layer
from roofline.dashboard.text import count_words
from roofline.performance.counts import ParameterCounts

_MOST_RANGES = 3
_LISTED_POSITIONS = 4
_PARTS = {
    "embedding": "input table",
    "attention": "attention",
    "state_space": "recurrence",
    "dense_mlp": "feed-forward",
    "routed_experts": "routed experts",
    "shared_experts": "shared experts",
    "router": "router",
    "norm": "norms",
    "output_head": "output head",
    "other": "other",
}


@dataclass(frozen=True)
class PartCount:
    """Parameters of one part."""

    name: str
    total: int
    active: int
    """What one token visits."""


@dataclass(frozen=True)
class Kind:
    """Layers with the same mixer and feed-forward."""

    mixer: str
    feed_forward: str
    positions: tuple[int, ...]
    layers: tuple[Layer, ...]

    @property
    def name(self) -> str:
        """Both in words."""
        return f"{self.mixer} + {self.feed_forward}"


def parts(counts: ParameterCounts) -> tuple[PartCount, ...]:
    """Parts that there are, largest first; a token skips routed experts only."""
    idle = counts.total - counts.active
    found = [
        PartCount(words, total, total - idle if name == "routed_experts" else total)
        for name, words in _PARTS.items()
        if (total := getattr(counts, name)) > 0
    ]
    return tuple(sorted(found, key=lambda part: -part.total))


def kinds(layers: Sequence[Layer]) -> tuple[Kind, ...]:
    """Kinds of layers, the most frequent first."""
    grouped: dict[tuple[str, str], list[Layer]] = {}
    for layer in layers:
        grouped.setdefault((layer.mixer, layer.feed_forward), []).append(layer)
    found = [
        Kind(mixer, feed, tuple(sorted(p for layer in same for p in layer.positions)), tuple(same))
        for (mixer, feed), same in grouped.items()
    ]
    return tuple(sorted(found, key=lambda kind: (-len(kind.positions), kind.positions[:1])))


def positions_words(positions: Sequence[int], *, most: bool = False) -> str:
    """Where layers stand, counted from 0; the most frequent kind is everywhere else when it follows no rule.

    >>> positions_words((0, 1, 2)), positions_words((5, 11, 17, 23, 29)), positions_words((7,))
    ('layers 0 to 2', 'every 6th layer from 5', 'layer 7')
    """
    runs = _runs(positions)
    if len(runs) <= _MOST_RANGES:
        words = [f"{first}" if first == last else f"{first} to {last}" for first, last in runs]
        return f"{'layer' if len(positions) == 1 else 'layers'} {', '.join(words)}"
    steps = {after - before for before, after in pairwise(positions)}
    if len(steps) == 1:
        step = steps.pop()
        return f"every {'other' if step == 2 else _ordinal(step)} layer from {positions[0]}"
    if most:
        return "all other layers"
    shown = ", ".join(str(p) for p in positions[:_LISTED_POSITIONS])
    return f"layers {shown} …"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
    return f"{number}{ending}"


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs


def per_layer_words(kind: Kind) -> str:
    """Parameters of one layer of a kind, and what of them a token visits."""
    total = _spread([layer.parameters for layer in kind.layers])
    active = _spread([layer.active_parameters for layer in kind.layers])
    return f"{total} parameters each" if total == active else f"{total} parameters each, {active} active"


def _spread(counts: Sequence[int]) -> str:
    low, high = count_words(min(counts)), count_words(max(counts))
    return low if low == high else f"{low} to {high}"


def stack_sentence(found: Anatomy) -> str:
    """The stack in one sentence."""
    all_kinds = kinds(found.layers)
    if len(all_kinds) == 1:
        return f"{found.counts.layers:,} layers, all {_with(all_kinds[0])}."
    lines = [f"{len(kind.positions):,} {_with(kind)}" for kind in all_kinds]
    return f"{found.counts.layers:,} layers: {'; '.join(lines)}."


def _with(kind: Kind) -> str:
    return f"with {kind.mixer} and {kind.feed_forward}"
