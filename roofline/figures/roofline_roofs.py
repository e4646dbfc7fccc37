"""The names of the roofs: left of the memory roof where they never meet an operator, else along their own line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import Any

from roofline.figures.labels import Box, along, around, text_width
from roofline.figures.roofline_geometry import Ceiling, Scene
from roofline.figures.theme import Look, safe
from roofline.language import tr
from roofline.units import with_prefix

Note = dict[str, Any]
Word = tuple[Note, Box]
_GAP_PX = 12.0
_STEP_PX = 12.0
"""Between places that are tried along a line."""
_OFF_PX = 3.0
"""Between a line and the word on it."""
_EDGE_PX = 4.0
_BOLD = 1.08
"""How much wider bold words are."""


def slope_px(shown: Scene) -> list[Box]:
    """The memory roof: no label belongs on its other side."""
    scale = shown.scale
    return along(scale.px(*shown.roof_start), scale.px(shown.roofs[0].ridge, shown.roofs[0].flops_per_s))


def lines_px(shown: Scene) -> list[Box]:
    """Ceilings and the ridge as obstacles."""
    scale, ridge = shown.scale, shown.report.ridge_flops_per_byte
    boxes = along(scale.px(ridge, scale.y[0]), scale.px(ridge, shown.peak))
    return [*boxes, *(box for roof in shown.roofs for box in _flat_px(roof, shown))]


def marks_px(shown: Scene) -> list[Box]:
    """Operators and the path of the batch as obstacles."""
    px = shown.scale.px
    return [around(*px(d.x, d.y), d.size_px / 2) for d in shown.dots] + [around(*px(s.x, s.y), 4) for s in shown.path]


def roof_words(shown: Scene, taken: Sequence[Box], look: Look) -> list[Word]:
    """The ceiling in use and the bandwidth first, then the others, highest first; each where it has room."""
    in_use = next(roof for roof in shown.roofs if roof.in_use)
    places = [_roof_places(in_use, shown, look), _bandwidth_places(shown, look)]
    places += [_roof_places(r, shown, look) for r in shown.roofs if not r.in_use and r.flops_per_s > shown.scale.y[0]]
    words: list[Word] = []
    for wanted in places:
        words += _with_room(wanted, [*taken, *(box for _, box in words)], shown)
    return words


def _with_room(places: Iterator[Word], taken: Sequence[Box], shown: Scene) -> list[Word]:
    """The first place that lies in the plot and meets nothing; failing that, the first that covers marks only."""
    frame = Box(0, 0, *shown.scale.plot_px)
    lines, marks = [*taken, *lines_px(shown), *slope_px(shown)], marks_px(shown)
    inside = [word for word in places if word[1].inside(frame) and not any(word[1].meets(line) for line in lines)]
    return [word for word in inside if not any(word[1].meets(mark) for mark in marks)][:1] or inside[:1]


def _roof_places(roof: Ceiling, shown: Scene, look: Look) -> Iterator[Word]:
    """All names of a ceiling with its rate; where they find no room the shortest of them, or the rate alone."""
    rate = with_prefix(roof.flops_per_s, "FLOP/s")
    shortest = min(roof.name.split(", "), key=len)
    for text in dict.fromkeys((f"{roof.name} {rate}", f"{shortest} {rate}", rate)):
        yield from _along(text, roof, shown, look)


def _along(text: str, roof: Ceiling, shown: Scene, look: Look) -> Iterator[Word]:
    """Beside the corner of a ceiling, then along it from its right end, above and below."""
    corner = shown.scale.px(roof.ridge, roof.flops_per_s)
    yield _word(text, shown, (corner[0], corner[1] - 2), _GAP_PX, bold=roof.in_use, look=look)
    half = look.tick_px * 0.65 + _OFF_PX
    right = shown.scale.plot_px[0]
    while right > corner[0]:
        for y in (corner[1] - half, corner[1] + half):
            yield _word(text, shown, (right, y), _EDGE_PX, bold=roof.in_use, look=look)
        right -= _STEP_PX


def _bandwidth_places(shown: Scene, look: Look) -> Iterator[Word]:
    """Left of the memory roof, from below."""
    bandwidth = shown.report.bandwidth_bytes_per_s
    text = tr("Memory {rate}", rate=with_prefix(bandwidth, "B/s"))
    for percent in range(25, 90, 3):
        y = shown.scale.height(percent / 100)
        px = shown.scale.px(y / bandwidth, y)
        yield _word(text, shown, (px[0], px[1] - 2), _GAP_PX, bold=True, look=look)


def _word(text: str, shown: Scene, at_px: tuple[float, float], gap_px: float, *, bold: bool, look: Look) -> Word:
    """A word that ends a gap to the left of a place in the plot, however wide that is drawn."""
    size, scale = look.tick_px, shown.scale
    width = text_width(text, size) * (_BOLD if bold else 1.0)
    across, up = at_px[0] / scale.plot_px[0], 1 - at_px[1] / scale.plot_px[1]
    end = at_px[0] - gap_px
    note = {
        "x": log10(scale.x[0]) + across * log10(scale.x[1] / scale.x[0]),
        "y": log10(scale.height(up)),
        "text": f"<b>{safe(text)}</b>" if bold else safe(text),
        "showarrow": False,
        "xanchor": "right",
        "xshift": -gap_px,
        "font": {"size": size, "color": look.palette.text if bold else look.palette.muted},
    }
    return note, Box(end - width, at_px[1] - size * 0.65, end, at_px[1] + size * 0.65)


def _flat_px(roof: Ceiling, shown: Scene) -> list[Box]:
    """A ceiling from its corner to the right."""
    scale = shown.scale
    if roof.flops_per_s <= scale.y[0]:
        return []
    return along(scale.px(roof.ridge, roof.flops_per_s), scale.px(scale.x[1], roof.flops_per_s))
