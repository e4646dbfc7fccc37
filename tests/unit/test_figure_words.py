"""Words on figures, of every page, in every language: inside their figure and none over another, on phones too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations
from math import isfinite, log10
from typing import Any

import pytest

from roofline import FleetScenario, Scenario, SearchQuery, evaluate, fleet, search
from roofline.answers.accuracy import points
from roofline.answers.advisor import MachineQuery, machine_advice
from roofline.answers.anatomy import anatomy
from roofline.answers.api import against_api, crossing
from roofline.answers.browse import roofs
from roofline.answers.compare import compare, curves
from roofline.answers.curves import batch_curve
from roofline.answers.experts import mixture
from roofline.answers.field_map import field_map
from roofline.answers.fleet_day import day
from roofline.answers.formula_curve import formula_curve
from roofline.answers.formulary import load_formula
from roofline.answers.owning import multi_year
from roofline.answers.sensitivity import sensitivity
from roofline.answers.stories import STORIES
from roofline.answers.validation import shipped_validation
from roofline.dashboard.story_words import WORDS
from roofline.figures.accuracy_plot import accuracy_figure
from roofline.figures.compare_plot import PLOTS, compare_figure
from roofline.figures.curves import cost_figure, throughput_figure
from roofline.figures.day_plot import day_figure
from roofline.figures.device_roofs import roofs_figure
from roofline.figures.formula_plot import formula_figure
from roofline.figures.labels import Box, text_width
from roofline.figures.machine_plot import machine_figure
from roofline.figures.map_plot import map_figure
from roofline.figures.model_curves import CacheMarks, Filling, cache_figure, experts_figure
from roofline.figures.money_plot import crossing_figure, years_figure
from roofline.figures.pareto_plot import pareto_figure
from roofline.figures.read_curves import reads_figure
from roofline.figures.roofline_plot import roofline_figure
from roofline.figures.story_plot import story_figure
from roofline.figures.theme import Look, Spec
from roofline.figures.tornado import tornado_figure
from roofline.language import LANGUAGES, told_in
from roofline.units import with_prefix

PLACES = [(Look(compact=True), 358.0), (Look(), 436.0), (Look(), 640.0)]
"""Looks and the widths they are drawn in: a phone, the narrowest and a usual column of a desktop."""
BIG = Scenario(model="deepseek-v3", hardware="h100-sxm", devices=16, input_tokens=4096, output_tokens=1024, batch=128)
HOME = Scenario(model="llama-3.1-8b", hardware="rtx4090", weights="q4_k_m", input_tokens=1024, output_tokens=512, batch=1)
MIDDLE = Scenario(model="llama-3.3-70b", hardware="mi300x", devices=4, batch=64, weights="fp8", ownership="on", utilisation=0.5)
LAPTOP = Scenario(model="gemma-3-27b", hardware="apple-m4max", weights="q4_k_m", batch=4)
LOADS = {"big": BIG, "home": HOME, "middle": MIDDLE, "laptop": LAPTOP}
REGIONS = "us:0.3:-6,eu:0.2:1,asia:0.2:8,br:0.1:-3,za:0.1:2,au:0.1:10"

Draw = Callable[[Look], Spec]


@cache
def answered(name: str):
    report = evaluate(LOADS[name])
    return report, batch_curve(report)


def of_answer(figure: Callable[..., Spec], name: str) -> Draw:
    return lambda look: figure(*answered(name), look)


@cache
def several():
    changes = {"b": {"weights": "q4_k_m"}, "c": {"devices": 32}, "d": {"devices": 32, "hardware": "h200-sxm"}}
    found = compare({"a": BIG, **{letter: BIG.model_copy(update=change) for letter, change in changes.items()}})
    return {entry.letter: entry.answered for entry in found.entries if entry.answered is not None}, curves(found)


def experts(look: Look) -> Spec:
    found = mixture(answered("big")[0])
    return experts_figure(found.curve, found.met, look, Filling(found.filling_tokens, found.saturating_tokens))


@cache
def found_by_search():
    return search(SearchQuery(model="llama-3.3-70b", hardware=("h100-sxm", "l40s"), request_rate=5.0, tpot_s=0.03))


@cache
def plane(x: str, y: str):
    return field_map(BIG, x, y, "usd")


@cache
def runs():
    return machine_advice(MachineQuery(machine=HOME)).runs


@cache
def fleet_day():
    replica = Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=1000, output_tokens=200, batch=64)
    return day(fleet(FleetScenario(replica=replica, weekly_users=10**8, regions=REGIONS)))


def _crossing(price: str, look: Look) -> Spec:
    found = against_api(MIDDLE, price)
    return crossing_figure(found, crossing(found), look)


def _formula(name: str, against: str, look: Look) -> Spec:
    formula = load_formula(name)
    return formula_figure(formula_curve(formula, formula.example, against), look)


@cache
def told_chart(number: int, place: Any):
    return STORIES[number].tell(place).chart


def _story(number: int, place: Any, look: Look) -> Spec:
    return story_figure(told_chart(number, place), WORDS[STORIES[number].id].chart, look)


FIGURES: dict[str, Draw] = {
    **{f"roofline {name}": of_answer(roofline_figure, name) for name in LOADS},
    **{f"throughput {name}": of_answer(throughput_figure, name) for name in LOADS},
    **{f"cost {name}": of_answer(cost_figure, name) for name in ("big", "middle")},
    **{f"compare {plot}": lambda look, plot=plot: compare_figure(*several(), plot, look) for plot in PLOTS},
    **{
        f"map {x} {y}": lambda look, x=x, y=y: map_figure(plane(x, y), look)
        for x, y in (("batch", "input_tokens"), ("batch", "devices"), ("weights", "batch"))
    },
    "accuracy": lambda look: accuracy_figure(points(shipped_validation().rows), (), look),
    "machine": lambda look: machine_figure(runs(), 10.0, look),
    "tornado": lambda look: tornado_figure(sensitivity(MIDDLE), look),
    "crossing": partial(_crossing, "10/1/40"),
    "no crossing": partial(_crossing, "0.01/0.01/0.01"),
    "years": lambda look: years_figure(multi_year(MIDDLE), look),
    "day": lambda look: day_figure(fleet_day(), look),
    "search": lambda look: pareto_figure(found_by_search(), look),
    "experts": experts,
    "reads": lambda look: reads_figure(mixture(answered("big")[0]), look),
    "cache": lambda look: cache_figure(anatomy("gemma-3-27b"), CacheMarks(32_768, 5_120, "H100 SXM5 80GB", 85e9), look),
    "devices": lambda look: roofs_figure(roofs(["h100-sxm", "mi300x", "b200-sxm", "rtx4090"], "bf16")[0], look),
    "formula": partial(_formula, "attainable_flops_per_s", "intensity_flops_per_byte"),
    "formula of a whole": partial(_formula, "distinct_experts", "n_tokens"),
    **{
        f"story {told.id} {place}": partial(_story, number, place)
        for number, told in enumerate(STORIES)
        if WORDS[told.id].chart
        for place in (told.places[0], told.start, told.places[-1])
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("look", "width_px"), PLACES, ids=["phone", "narrow", "wide"])
@pytest.mark.parametrize("name", FIGURES)
def test_words_stay_inside_and_apart(name, look, width_px, language) -> None:
    with told_in(language):
        spec = FIGURES[name](look)
    found = list(words(spec, width_px))
    frame = Box(0, 0, width_px, spec["layout"]["height"])
    for text, box in found:
        assert box.inside(frame), f"{text!r} leaves the figure: {box}"
    for (one, here), (other, there) in combinations(found, 2):
        assert not here.meets(there), f"{one!r} over {other!r}: {here} {there}"


@pytest.mark.parametrize("look", [Look(), Look(compact=True)], ids=["wide", "phone"])
@pytest.mark.parametrize("name", LOADS)
def test_every_ceiling_on_the_roofline_has_its_rate(name, look) -> None:
    spec = of_answer(roofline_figure, name)(look)
    lowest = 10 ** spec["layout"]["yaxis"]["range"][0]
    ceilings = [trace["y"][-1] for trace in spec["data"] if trace["name"].startswith("ceiling")]
    said = " | ".join(note["text"] for note in spec["layout"]["annotations"])
    assert ceilings
    for flops_per_s in ceilings:
        assert flops_per_s < lowest or with_prefix(flops_per_s, "FLOP/s") in said


# where Plotly puts an annotation


def words(spec: Spec, width_px: float) -> Iterator[tuple[str, Box]]:
    """Every annotation with its box, in pixels from the top left corner of the figure."""
    for note in spec["layout"].get("annotations", ()):
        lines = [re.sub("<[^>]*>", "", line) for line in note["text"].split("<br>")]
        size = note.get("font", {}).get("size", 13)
        bold = 1.05 if "<b>" in note["text"] else 1.0
        wide, high = max(text_width(line, size) for line in lines) * bold, len(lines) * size * 1.2
        if note.get("textangle"):
            wide, high = high, wide
        x, y = _at(spec, note, "x", width_px), _at(spec, note, "y", width_px)
        if note.get("showarrow"):
            x, y = x + note["ax"], y + note["ay"]
        x, y = x + note.get("xshift", 0), y - note.get("yshift", 0)
        left = x - wide * {"left": 0.0, "center": 0.5, "right": 1.0}[_anchor(note, "x", ("left", "center", "right"))]
        top = y - high * {"top": 0.0, "middle": 0.5, "bottom": 1.0}[_anchor(note, "y", ("bottom", "middle", "top"))]
        yield note["text"], Box(left, top, left + wide, top + high)


def _anchor(note: dict[str, Any], way: str, ends: tuple[str, str, str]) -> str:
    """Named, or for places on paper by the third of it, else the middle."""
    named = note.get(f"{way}anchor", "auto")
    if named != "auto":
        return named
    on_paper = str(note.get(f"{way}ref", way)) == "paper" or "domain" in str(note.get(f"{way}ref", way))
    return ends[0 if note[way] < 1 / 3 else 2 if note[way] > 2 / 3 else 1] if on_paper and not note.get("showarrow") else ends[1]


def _at(spec: Spec, note: dict[str, Any], way: str, width_px: float) -> float:
    layout, ref = spec["layout"], str(note.get(f"{way}ref", way))
    margin = layout["margin"]
    start, size = (margin["l"], width_px - margin["l"] - margin["r"]) if way == "x" else (margin["t"], 0.0)
    if way == "y":
        size = layout["height"] - margin["t"] - margin["b"]
    share = float(note[way])
    if ref != "paper":
        axis = layout[f"{way}axis{ref.removesuffix(' domain')[1:]}"]
        low, high = axis.get("domain", (0.0, 1.0))
        if not ref.endswith("domain"):
            first, last = axis.get("range") or _spread(spec, way, axis)
            share = (share - first) / (last - first)
        share = low + share * (high - low)
    return start + (share if way == "x" else 1.0 - share) * size


def _spread(spec: Spec, way: str, axis: dict[str, Any]) -> tuple[float, float]:
    """About what Plotly chooses where no range is given."""
    values = [v for trace in spec["data"] for v in trace[way] if v is not None and isfinite(v)]
    if axis.get("type") == "log":
        return log10(min(values)), log10(max(values))
    return min(0.0, *values), max(values) * 1.06
