"""Where labels go: greedy placement in pixels, so that no label covers a line, a mark or another label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from unicodedata import east_asian_width

CHARACTER_FRAC = 0.54
"""Mean width of a character over the type size."""
_DIRECTIONS = (
    *((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)),
    *((1, 0.4), (1, -0.4), (-1, 0.4), (-1, -0.4), (0.4, 1), (0.4, -1), (-0.4, 1), (-0.4, -1)),
)
"""Right and down, as shares of the reach; the eight main ones first."""
_LEADERS_PX = (24.0, 40.0, 60.0, 84.0, 112.0)


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels from the top left corner of the plot."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two share any area."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom

    def inside(self, other: Box) -> bool:
        """Whether all of this lies within the other."""
        return self.left >= other.left and self.right <= other.right and self.top >= other.top and self.bottom <= other.bottom


@dataclass(frozen=True)
class Mark:
    """A point that wants a label."""

    x: float
    y: float
    radius: float
    text: str
    group: str
    weight: float


@dataclass(frozen=True)
class Label:
    """A label that found room: offset of its centre from its point, and whether a line leads there."""

    mark: Mark
    dx: float
    dy: float
    leader: bool
    box: Box


def text_width(text: str, size_px: float) -> float:
    """Its width in pixels; Chinese, Japanese and Korean characters are as wide as high."""
    wide = 0 if text.isascii() else sum(east_asian_width(character) in "WF" for character in text)
    return ((len(text) - wide) * CHARACTER_FRAC + wide) * size_px


def in_lines(text: str, most_px: float, size_px: float) -> str:
    """A text broken at blanks into lines of a width, where blanks allow it.

    >>> in_lines("predicted faster than measured", 120, 12), in_lines("word", 10, 12)
    ('predicted faster<br>than measured', 'word')
    """
    first, *rest = text.split(" ")
    lines = [first]
    for word in rest:
        longer = f"{lines[-1]} {word}"
        if text_width(longer, size_px) <= most_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return "<br>".join(lines)


def text_box(x: float, y: float, text: str, size_px: float) -> Box:
    """The box of a text centred at a point."""
    half_width, half_height = text_width(text, size_px) / 2 + 2, size_px * 0.65
    return Box(x - half_width, y - half_height, x + half_width, y + half_height)


def around(x: float, y: float, radius: float) -> Box:
    """The box of a round mark."""
    return Box(x - radius, y - radius, x + radius, y + radius)


def along(start: tuple[float, float], end: tuple[float, float], step_px: float = 6.0) -> list[Box]:
    """Small boxes that cover a line."""
    n = max(1, int(hypot(end[0] - start[0], end[1] - start[1]) / step_px))
    points = [(start[0] + (end[0] - start[0]) * i / n, start[1] + (end[1] - start[1]) * i / n) for i in range(n + 1)]
    return [around(x, y, 3.0) for x, y in points]


def clusters(marks: Iterable[Mark], reach_px: float = 30.0) -> list[Mark]:
    """One mark for each crowd of a group, named after its heaviest member and how many stand with it."""
    left = sorted(marks, key=lambda m: (-m.weight, m.text))
    found = []
    while left:
        head, *rest = left
        near = [m for m in rest if m.group == head.group and hypot(m.x - head.x, m.y - head.y) <= reach_px]
        left = [m for m in rest if m not in near]
        text = f"{head.text} +{len(near)}" if near else head.text
        found.append(Mark(head.x, head.y, head.radius, text, head.group, head.weight))
    return found


def place(marks: Sequence[Mark], obstacles: Sequence[Box], frame: Box, size_px: float, walls: Sequence[Box] = ()) -> list[Label]:
    """Label what finds room, heaviest first: beside the mark in eight directions, then further out with a line.

    Words keep clear of everything; a line may cross lines and marks, but neither words nor walls.
    """
    taken = [*obstacles, *walls]
    words = list(walls)
    labels = []
    for mark in sorted(marks, key=lambda m: (-m.weight, m.text)):
        label = _first_free(mark, taken, words, frame, size_px)
        if label is not None:
            labels.append(label)
            words.append(label.box)
            taken += [label.box, *_leader(label)]
    return labels


def _first_free(mark: Mark, taken: Sequence[Box], words: Sequence[Box], frame: Box, size_px: float) -> Label | None:
    for distance in (0.0, *_LEADERS_PX):
        for dx, dy in _offsets(mark, distance, size_px):
            box = text_box(mark.x + dx, mark.y + dy, mark.text, size_px)
            label = Label(mark, dx, dy, distance > 0, box)
            if box.inside(frame) and not _any_meet([box], taken) and not _any_meet(_leader(label), words):
                return label
    return None


def _any_meet(boxes: Sequence[Box], others: Sequence[Box]) -> bool:
    return any(box.meets(other) for box in boxes for other in others)


def _leader(label: Label) -> list[Box]:
    """Boxes along the line from a mark to its label, short of the label itself."""
    if not label.leader:
        return []
    mark = label.mark
    boxes = along((mark.x, mark.y), (mark.x + label.dx, mark.y + label.dy))
    return [box for box in boxes if not box.meets(label.box)]


def _offsets(mark: Mark, distance: float, size_px: float) -> list[tuple[float, float]]:
    """Centres of the text, so that its near edge clears the mark by a few pixels plus the distance."""
    half_width = text_width(mark.text, size_px) / 2 + 2
    reach = mark.radius + 4 + distance
    offsets = []
    for right, down in _DIRECTIONS:
        lean = 0.7 if abs(right) == abs(down) else 1.0
        across = right * (reach * lean + half_width)
        offsets.append((across, down * (reach * lean + size_px * 0.65)))
    return offsets
