"""Figures of money and fleets as data: what they show, in words and marks, on every kind of answer."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline import FleetScenario, Scenario, fleet
from roofline.answers.api import against_api, crossing
from roofline.answers.fleet_day import day
from roofline.answers.owning import multi_year
from roofline.answers.sensitivity import Sensitivity, Swing, sensitivity
from roofline.figures.day_plot import day_alt, day_figure
from roofline.figures.money_plot import crossing_alt, crossing_figure, years_alt, years_figure
from roofline.figures.theme import Look
from roofline.figures.tornado import MOST_BARS, tornado_alt, tornado_figure

LLAMA = Scenario(model="llama-3.3-70b", hardware="h200-sxm", devices=4, batch=64, weights="fp8", ownership="on", utilisation=0.5)
REPLICA = Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=1000, output_tokens=200, batch=64)
LOOKS = [Look("light"), Look("dark", compact=True)]
HOSTILE = "<b>x</b>"


def valid(spec: dict) -> dict:
    """The same figure, and it is one."""
    go.Figure(spec)
    assert json.loads(json.dumps(spec)) == spec
    return spec


@pytest.mark.parametrize("look", LOOKS)
def test_a_tornado_goes_from_the_answer_to_both_ends(look) -> None:
    found = sensitivity(LLAMA)
    low, high = valid(tornado_figure(found, look))["data"]
    shown = found.swings[:MOST_BARS]
    for trace, end in ((low, "at_low"), (high, "at_high")):
        reached = [base + length for base, length in zip(trace["base"], trace["x"], strict=True)]
        assert reached == pytest.approx([getattr(swing, end) for swing in shown])
    assert len(low["y"]) == len(shown) <= MOST_BARS
    assert tornado_alt(found).startswith(f"{shown[0].name[:1].upper()}{shown[0].name[1:]} moves")


def test_a_tornado_leaves_room_and_escapes_names() -> None:
    swing = Swing(HOSTILE, 2.0, 1.0, 3.0, HOSTILE, 5.0, 15.0, HOSTILE)
    spec = valid(tornado_figure(Sensitivity("answer", "USD", 10.0, (swing,)), LOOKS[0]))
    left, right = spec["layout"]["xaxis"]["range"]
    assert left < 5.0 < 15.0 < right
    assert HOSTILE not in json.dumps(spec)
    assert "Nothing" in tornado_alt(Sensitivity("answer", "USD", 10.0, ()))
    valid(tornado_figure(Sensitivity("answer", "USD", None, ()), LOOKS[0]))


ends = st.sampled_from([0.0, 1e-12, -1e-13, 0.02, 0.021, 2.0, -0.02, -2.0])


@given(st.lists(st.tuples(ends, ends), min_size=1, max_size=MOST_BARS), st.sampled_from(LOOKS))
def test_no_two_words_of_a_tornado_stand_at_one_place(moved: list[tuple[float, float]], look: Look) -> None:
    """At an end where the answer stays, rounding apart, there is no word; of two ends on one side the further has both values."""
    swings = tuple(Swing(f"n{n}", 1.0, 0.0, 1.1, "ratio", 10.0 + a, 10.0 + b, "s") for n, (a, b) in enumerate(moved))
    low, high = tornado_figure(Sensitivity("answer", "USD", 10.0, swings), look)["data"]
    for (a, b), below, above in zip(moved, low["text"], high["text"], strict=True):
        sides = [value > 0 for value, words in ((a, below), (b, above)) if words]
        assert len(set(sides)) == len(sides)
        assert len(sides) == len({value > 0 for value in (a, b) if abs(value) > 1e-9})
        if abs(a) > 1e-9 and abs(b) > 1e-9 and (a > 0) == (b > 0):
            assert [word for word in (below, above) if word] == ["0 to 1.10"]


@pytest.mark.parametrize("look", LOOKS)
def test_lines_that_cross_are_marked_where_they_do(look) -> None:
    found = against_api(LLAMA, "10/1/40")
    assert found.crosses
    spec = valid(crossing_figure(found, crossing(found), look))
    ring = next(trace for trace in spec["data"] if trace["name"] == "break-even")
    assert ring["x"] == [found.break_even_tokens_per_day]
    assert ring["y"][0] == pytest.approx(found.own_usd_per_hour * 730.5, rel=1e-2)
    assert found.sentence in crossing_alt(found)


def test_lines_that_never_cross_have_no_mark_and_say_so() -> None:
    found = against_api(LLAMA, "0.01/0.01/0.01")
    spec = valid(crossing_figure(found, crossing(found), LOOKS[0]))
    assert {trace["name"] for trace in spec["data"]} == {"the API", "your own"}
    assert "never cross" in crossing_alt(found)


@pytest.mark.parametrize("look", LOOKS)
def test_years_end_at_the_sums(look) -> None:
    found = multi_year(LLAMA)
    own, rent = valid(years_figure(found, look))["data"]
    assert own["y"][-1] == found.years[-1].own_cumulative_usd
    assert rent["y"][-1] == found.years[-1].rent_cumulative_usd
    assert own["marker"]["symbol"] != rent["marker"]["symbol"]
    assert "renting" in years_alt(found)
    alone = multi_year(LLAMA.model_copy(update={"hardware": "apple-m4max", "devices": 1}))
    assert all(row.rent_usd is None for row in alone.years)
    assert len(valid(years_figure(alone, look))["data"]) == 1


@pytest.mark.parametrize("look", LOOKS)
def test_a_day_stacks_its_regions_under_the_capacity(look) -> None:
    regions = "us:0.3:-6,eu:0.2:1,asia:0.2:8,br:0.1:-3,za:0.1:2,au:0.1:10"
    found = day(fleet(FleetScenario(replica=REPLICA, weekly_users=10**8, regions=regions)))
    *areas, line = valid(day_figure(found, look))["data"]
    assert len(areas) == 4
    assert areas[-1]["name"] == "others"
    stacked = [sum(values) for values in zip(*(area["y"] for area in areas), strict=True)]
    assert stacked[:24] == pytest.approx(found.total_calls_per_s.tolist())
    assert set(line["y"]) == {found.capacity_calls_per_s}
    assert f"{found.night_idle_frac:.0%} stands idle" in day_alt(found)
