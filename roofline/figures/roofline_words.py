"""The words on a roofline: sides and ridge, ceilings and bandwidth, then operators where they find room."""

from __future__ import annotations

from math import log10

from roofline.answers.report import Bound
from roofline.figures.labels import Box, Label, Mark, clusters, place, text_box
from roofline.figures.roofline_geometry import Dot, Scene
from roofline.figures.roofline_roofs import Note, Word, lines_px, marks_px, roof_words, slope_px
from roofline.figures.theme import BOUND_MARKS, Look, safe
from roofline.figures.words import short_operator_name, sig
from roofline.language import later, tr

SIDES: dict[Bound, str] = {"memory": later("memory-bound"), "compute": later("compute-bound")}
"""The two sides of the ridge, to be translated where they are shown."""
_LEAST_SHARE = 0.002
"""Operators that take less of a step go without a label."""


def all_words(shown: Scene, look: Look) -> list[Note]:
    """All words of the figure in one list."""
    feet = _foot_words(shown, look)
    fixed = [*feet, *roof_words(shown, [box for _, box in feet], look)]
    notes = [note for note, _ in fixed]
    return notes if look.compact else notes + _operator_words(shown, [box for _, box in fixed], look)


def _operator_words(shown: Scene, taken: list[Box], look: Look) -> list[Note]:
    scale = shown.scale
    obstacles = taken + lines_px(shown) + marks_px(shown)
    by_place: dict[tuple[float, float, str], Dot] = {}
    marks = []
    for dot in (d for d in shown.dots if d.share >= _LEAST_SHARE):
        x, y = scale.px(dot.x, dot.y)
        by_place[x, y, dot.row.phase] = dot
        marks.append(Mark(x, y, dot.size_px / 2, short_operator_name(dot.row.name), dot.row.phase, dot.share))
    frame = Box(2, 2, scale.plot_px[0] - 2, scale.plot_px[1] - 2)
    labels = place(clusters(marks), obstacles, frame, look.font_px, walls=slope_px(shown))
    return [_operator_note(label, by_place[label.mark.x, label.mark.y, label.mark.group], look) for label in labels]


def _operator_note(label: Label, dot: Dot, look: Look) -> Note:
    font = {"size": look.font_px, "color": look.palette.phases[dot.row.phase]}
    note: Note = {"x": log10(dot.x), "y": log10(dot.y), "text": safe(label.mark.text), "font": font}
    if not label.leader:
        return note | {"showarrow": False, "xshift": round(label.dx, 1), "yshift": round(-label.dy, 1)}
    arrow = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": look.palette.axis}
    ends = {"ax": round(label.dx, 1), "ay": round(label.dy, 1), "standoff": round(label.mark.radius, 1)}
    return note | arrow | ends


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
