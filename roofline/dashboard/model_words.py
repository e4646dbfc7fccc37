"""A model in words and short lists: its parts, its kinds of layers, where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from roofline.answers.anatomy import Anatomy, Layer
from roofline.dashboard.text import count_words
from roofline.language import later, tr
from roofline.performance.counts import ParameterCounts

_MOST_RANGES = 3
_LISTED_POSITIONS = 4
_PARTS = {
    "embedding": later("input table"),
    "attention": later("attention"),
    "state_space": later("recurrence"),
    "dense_mlp": later("feed-forward"),
    "routed_experts": later("routed experts"),
    "shared_experts": later("shared experts"),
    "router": later("router"),
    "norm": later("norms"),
    "output_head": later("output head"),
    "other": later("other"),
}

_ORDINALS = {0: later("{n}th"), 1: later("{n}st"), 2: later("{n}nd"), 3: later("{n}rd")}


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
        PartCount(tr(words), total, total - idle if name == "routed_experts" else total)
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
        words = ", ".join(f"{first}" if first == last else tr("{low} to {high}", low=first, high=last) for first, last in runs)
        return tr("layer {n}", n=words) if len(positions) == 1 else tr("layers {positions}", positions=words)
    steps = {after - before for before, after in pairwise(positions)}
    if len(steps) == 1:
        step, start = steps.pop(), positions[0]
        if step == 2:
            return tr("every other layer from {start}", start=start)
        return tr("every {nth} layer from {start}", nth=_ordinal(step), start=start)
    if most:
        return tr("all other layers")
    shown = ", ".join(str(p) for p in positions[:_LISTED_POSITIONS])
    return tr("layers {positions} …", positions=shown)


def _ordinal(number: int) -> str:
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return tr(_ORDINALS.get(last, _ORDINALS[0]), n=number)


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
    if total == active:
        return tr("{total} parameters each", total=total)
    return tr("{total} parameters each, {active} active", total=total, active=active)


def _spread(counts: Sequence[int]) -> str:
    low, high = count_words(min(counts)), count_words(max(counts))
    return low if low == high else tr("{low} to {high}", low=low, high=high)


def stack_sentence(found: Anatomy) -> str:
    """The stack in one sentence."""
    all_kinds, n = kinds(found.layers), found.counts.layers
    if len(all_kinds) == 1:
        (kind,) = all_kinds
        return tr("{n:,} layers, all with {mixer} and {feed}.", n=n, mixer=kind.mixer, feed=kind.feed_forward)
    lines = [
        tr("{n:,} with {mixer} and {feed}", n=len(kind.positions), mixer=kind.mixer, feed=kind.feed_forward) for kind in all_kinds
    ]
    return tr("{n:,} layers: {kinds}.", n=n, kinds="; ".join(lines))
