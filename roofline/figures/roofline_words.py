"""The words on a roofline: ceilings, bandwidth, ridge, sides, then operators where they find room."""

from __future__ import annotations

from math import log10
from typing import Any

from roofline.answers.report import Bound
from roofline.figures.labels import Box, Label, Mark, along, around, clusters, place, text_box
from roofline.figures.roofline_geometry import Dot, Scene
from roofline.figures.theme import BOUND_MARKS, Look, safe
from roofline.figures.words import short_operator_name, sig
from roofline.language import later, tr
from roofline.units import with_prefix

Note = dict[str, Any]
Word = tuple[Note, Box]
SIDES: dict[Bound, str] = {"memory": later("memory-bound"), "compute": later("compute-bound")}
"""The two sides of the ridge, to be translated where they are shown."""
_GAP_PX = 12.0
_LEAST_SHARE = 0.002
"""Operators that take less of a step go without a label."""


def all_words(shown: Scene, look: Look) -> list[Note]:
    """All words of the figure in one list."""
    fixed = [*_roof_words(shown, look), *_foot_words(shown, look)]
    notes = [note for note, _ in fixed]
    return notes if look.compact else notes + _operator_words(shown, [box for _, box in fixed], look)


def _operator_words(shown: Scene, taken: list[Box], look: Look) -> list[Note]:
    scale = shown.scale
    obstacles = taken + _lines_px(shown)
    obstacles += [around(*scale.px(d.x, d.y), d.size_px / 2) for d in shown.dots]
    obstacles += [around(*scale.px(s.x, s.y), 4) for s in shown.path]
    by_place: dict[tuple[float, float, str], Dot] = {}
    marks = []
    for dot in (d for d in shown.dots if d.share >= _LEAST_SHARE):
        x, y = scale.px(dot.x, dot.y)
        by_place[x, y, dot.row.phase] = dot
        marks.append(Mark(x, y, dot.size_px / 2, short_operator_name(dot.row.name), dot.row.phase, dot.share))
    frame = Box(2, 2, scale.plot_px[0] - 2, scale.plot_px[1] - 2)
    labels = place(clusters(marks), obstacles, frame, look.font_px, walls=_slope_px(shown))
    return [_operator_note(label, by_place[label.mark.x, label.mark.y, label.mark.group], look) for label in labels]


def _operator_note(label: Label, dot: Dot, look: Look) -> Note:
    font = {"size": look.font_px, "color": look.palette.phases[dot.row.phase]}
    note: Note = {"x": log10(dot.x), "y": log10(dot.y), "text": safe(label.mark.text), "font": font}
    if not label.leader:
        return note | {"showarrow": False, "xshift": round(label.dx, 1), "yshift": round(-label.dy, 1)}
    arrow = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": look.palette.axis}
    ends = {"ax": round(label.dx, 1), "ay": round(label.dy, 1), "standoff": round(label.mark.radius, 1)}
    return note | arrow | ends


def _slope_px(shown: Scene) -> list[Box]:
    """The memory roof: no label belongs on its other side."""
    scale = shown.scale
    return along(scale.px(*shown.roof_start), scale.px(shown.roofs[0].ridge, shown.roofs[0].flops_per_s))


def _lines_px(shown: Scene) -> list[Box]:
    """Ceilings and the ridge as obstacles."""
    scale, ridge = shown.scale, shown.report.ridge_flops_per_byte
    boxes = along(scale.px(ridge, scale.y[0]), scale.px(ridge, shown.peak))
    for roof in shown.roofs:
        if roof.flops_per_s > scale.y[0]:
            boxes += along(scale.px(roof.ridge, roof.flops_per_s), scale.px(scale.x[1], roof.flops_per_s))
    return boxes


def _roof_words(shown: Scene, look: Look) -> list[Word]:
    """Names of the ceilings and of the memory roof, left of the line where they never meet an operator."""
    rows: list[float] = []
    words = []
    for roof in sorted(shown.roofs, key=lambda r: (not r.in_use, -r.flops_per_s)):
        px = shown.scale.px(roof.ridge, roof.flops_per_s)
        text = f"{roof.name} {with_prefix(roof.flops_per_s, 'FLOP/s')}"
        word = _beside(text, (roof.ridge, roof.flops_per_s), px, bold=roof.in_use, look=look)
        if word is None or px[1] > shown.scale.plot_px[1] or any(abs(px[1] - y) < look.tick_px + 4 for y in rows):
            continue
        rows.append(px[1])
        words.append(word)
    bandwidth = _bandwidth_word(shown, rows, look)
    return words if bandwidth is None else [*words, bandwidth]


def _beside(text: str, at: tuple[float, float], px: tuple[float, float], *, bold: bool, look: Look) -> Word | None:
    """A word left of the memory roof, its right end near the line; none where the axis would cut it."""
    size = look.tick_px
    box = text_box(0, px[1], text, size)
    left = px[0] - _GAP_PX - (box.right - box.left) * (1.08 if bold else 1.0)
    if left < 0:
        return None
    note = {
        "x": log10(at[0]),
        "y": log10(at[1]),
        "text": f"<b>{safe(text)}</b>" if bold else safe(text),
        "showarrow": False,
        "xanchor": "right",
        "xshift": -_GAP_PX,
        "yshift": 2,
        "font": {"size": size, "color": look.palette.text if bold else look.palette.muted},
    }
    return note, Box(left, box.top - 2, px[0] - _GAP_PX, box.bottom)


def _bandwidth_word(shown: Scene, rows: list[float], look: Look) -> Word | None:
    """The memory roof's name, on the lowest free row where it fits left of the line."""
    bandwidth = shown.report.bandwidth_bytes_per_s
    text = tr("Memory {rate}", rate=with_prefix(bandwidth, "B/s"))
    for percent in range(25, 90, 3):
        y = shown.scale.height(percent / 100)
        px = shown.scale.px(y / bandwidth, y)
        word = _beside(text, (y / bandwidth, y), px, bold=True, look=look)
        if word is not None and all(abs(px[1] - other) > look.tick_px + 5 for other in rows):
            return word
    return None


def _foot_words(shown: Scene, look: Look) -> list[Word]:
    """The two sides in the corners and the ridge at its foot."""
    size, muted, text = look.tick_px, look.palette.muted, look.palette.text
    width_px = shown.scale.plot_px[0]
    ridge = shown.report.ridge_flops_per_byte
    ridge_px = shown.scale.px(ridge, shown.scale.y[0])[0]
    word_px = max(_width(f"■ {tr(side)}", size) for side in SIDES.values())
    number = tr("ridge {intensity}", intensity=sig(ridge))
    words = [_foot_word(_side("memory", look), shown, shown.scale.x[0], ("left", 6.0), (6.0, word_px), text, look)]
    if width_px - ridge_px > word_px + 12:
        place_px = (width_px - 6 - word_px, word_px)
        words.append(_foot_word(_side("compute", look), shown, shown.scale.x[1], ("right", -6.0), place_px, text, look))
    if ridge_px > word_px + _width(number, size) + 20:
        place_px = (ridge_px - 6 - _width(number, size), _width(number, size))
        words.append(_foot_word(number, shown, ridge, ("right", -6.0), place_px, muted, look))
    return words


def _width(text: str, size_px: float) -> float:
    box = text_box(0, 0, text, size_px)
    return box.right - box.left


def _side(bound: Bound, look: Look) -> str:
    mark = f"<span style='color:{look.palette.bounds[bound]}'>{BOUND_MARKS[bound]}</span>"
    return f"{mark} <b>{tr(SIDES[bound])}</b>"


def _foot_word(
    text: str,
    shown: Scene,
    x: float,
    anchor: tuple[str, float],
    place_px: tuple[float, float],
    colour: str,
    look: Look,
) -> Word:
    bottom = shown.scale.plot_px[1]
    note = {
        "x": log10(x),
        "y": log10(shown.scale.y[0]),
        "text": text,
        "showarrow": False,
        "xanchor": anchor[0],
        "xshift": anchor[1],
        "yanchor": "bottom",
        "yshift": 4,
        "font": {"size": look.tick_px, "color": colour},
    }
    return note, Box(place_px[0], bottom - 6 - look.tick_px * 1.3, place_px[0] + place_px[1], bottom - 2)
