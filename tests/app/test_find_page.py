"""The Find hardware page without a browser: its question, its answer, its link, and what is wrong with either."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import SearchQuery, evaluate, link, search
from roofline.answers.inverse import solved
from roofline.dashboard import find_tables as tables
from roofline.dashboard import find_words as words
from roofline.dashboard.find_view import FIND_VIEW, USUAL, asked_wish, search_query
from roofline.dashboard.shell import FAULT
from roofline.errors import InputError
from roofline.figures.pareto_plot import pareto_alt, pareto_figure
from roofline.figures.theme import Look

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
SMALL = "hw:h100-sxm/l40s,most:16"
MODEL = {"model": "llama-3.3-70b"}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    app._page_hash = calc_hash("find")
    for name, value in {**MODEL, **query}.items():
        app.query_params[name] = value
    return app.run()


def test_nothing_runs_until_it_is_asked_for() -> None:
    app = opened()
    assert not app.exception
    assert FAULT not in html(app)
    assert words.NOT_RUN in html(app)
    assert not app.get("plotly_chart")
    assert '<span class="rf-here" aria-current="page">Find hardware</span>' in html(app)


def test_a_search_answers_and_travels_in_the_link() -> None:
    app = opened(find=SMALL)
    app.button(key="find_search").click().run()
    assert not app.exception
    assert "Cheapest: " in html(app)
    assert address(app)["find"] == f"{SMALL},ran:1"
    again = opened(find=address(app)["find"])
    assert "Cheapest: " in html(again)
    assert all(len(element.proto.alt) > 15 for element in [*again.get("plotly_chart"), *again.dataframe])
    best = again.dataframe[0].value.iloc[0]
    query = search_query({**USUAL, "hw": ["h100-sxm", "l40s"], "most": 16}, link.decode(MODEL).scenario)
    assert best["USD per hour"] == search(query).winners[0].usd_per_hour
    assert best["paid by"] in ("rented", "owned")
    assert "Cheapest by USD per hour, for 10.0 requests/s" in html(again)
    assert "at which the promise still holds" in html(again)


def test_the_heading_says_what_the_cheapest_are_the_cheapest_in() -> None:
    asked = {"model": "llama-3.1-8b", "hardware": ("l40s",)}
    assert "USD per million tokens" in words.winners_title(SearchQuery(**asked))
    assert "300 requests in flight" in words.winners_title(SearchQuery(**asked, concurrency=300))


def test_a_changed_question_keeps_the_old_answer_and_says_so() -> None:
    app = opened(find=f"{SMALL},ran:1")
    before = app.dataframe[0].value
    app.number_input(key="view_find_speed").set_value(20.0).run()
    assert words.CHANGED in html(app)
    assert app.dataframe[0].value.equals(before)
    app.button(key="find_search").click().run()
    assert words.CHANGED not in html(app)


def test_use_this_sets_the_scenario_of_every_page() -> None:
    app = opened(find=f"{SMALL},ran:1")
    app.button(key="find_use").click().run()
    assert not app.exception
    scenario = link.decode(address(app)).scenario
    assert scenario.model == "llama-3.3-70b"
    assert scenario.hardware in ("h100-sxm", "l40s")
    assert scenario.request_rate is not None
    assert evaluate(scenario).memory.fits


def test_a_promise_out_of_reach_names_the_nearest_point() -> None:
    app = opened(find=f"{SMALL},speed:5000,ran:1")
    assert "Nothing keeps the promise. Nearest:" in html(app)
    assert "The nearest point" in html(app)
    assert "Misses the TPOT" in html(app)


def test_a_damaged_link_is_told_and_the_rest_kept() -> None:
    app = opened(find=f"{SMALL},speed:fast,bogus:1,<b>:2")
    assert not app.exception
    assert "find: &#x27;speed:fast&#x27; means nothing here" in html(app)
    assert "<b>:2" not in html(app)
    assert app.multiselect(key="view_find_hw").value == ["h100-sxm", "l40s"]


def test_a_question_turned_round_is_solved() -> None:
    app = opened(hw="h100-sxm", n="8", find="ask:batch,asktpot:30")
    app.button(key="find_solve").click().run()
    assert "sequences decode within 30.0 ms a token" in html(app)
    app.number_input(key="view_find_asktpot").set_value(40.0).run()
    assert "sequences decode within" not in html(app)
    app.selectbox(key="view_find_ask").set_value("price").run()
    app.button(key="find_solve").click().run()
    assert "Self-hosting pays below" in html(app)


def test_the_longest_context_needs_no_promise_and_says_what_ends_it() -> None:
    app = opened(hw="h100-sxm", n="8", find="ask:context")
    assert app.number_input(key="view_find_ctxtpot").value is None
    app.button(key="find_solve").click().run()
    assert "with one more, memory is full" in html(app)
    app.number_input(key="view_find_ctxtpot").set_value(30.0).run()
    app.button(key="find_solve").click().run()
    assert "with one more, TPOT is over 30.0 ms" in html(app)
    app.number_input(key="view_find_ctxtpot").set_value(0.001).run()
    app.button(key="find_solve").click().run()
    assert "TPOT is then" in html(app)


@pytest.mark.parametrize("ask", ["batch", "bandwidth"])
def test_an_empty_field_is_no_promise_of_the_least_it_could_hold(ask: str) -> None:
    app = opened(hw="h100-sxm", n="8", find=f"ask:{ask}")
    for field in ("speed", "rate", "asktpot"):
        box = app.number_input(key=f"view_find_{field}")
        assert box.proto.default is not None
        box.set_value(None)
    app.run()
    assert not app.exception
    assert "No speed is given" in html(app)
    assert not [button for button in app.button if button.key == "find_search"]
    assert "asktpot:none" in address(app)["find"]
    app.button(key="find_solve").click().run()
    assert "This question needs a TPOT" in html(app)
    found = FIND_VIEW.read(f"ask:{ask},asktpot:none")
    with pytest.raises(InputError, match="needs a TPOT"):
        solved(ask, asked_wish(found.values, link.decode({**MODEL, "hw": "h100-sxm"}).scenario))


@pytest.mark.parametrize(
    "text",
    ["", "pace:tpot,tpot:20,ttft:none,pct:95", "load:users,users:300,price:owned,cats:TPU/Apple", "usd:2,new:1,formats:fp8"],
)
def test_a_view_survives_its_address(text: str) -> None:
    found = FIND_VIEW.read(text)
    assert not found.problems
    assert FIND_VIEW.read(FIND_VIEW.written(found.values)) == found
    search_query(found.values, link.DEFAULT)


@pytest.fixture(scope="module")
def found():
    return search(
        SearchQuery(model="llama-3.3-70b", hardware=("h100-sxm", "l40s", "cerebras-cs3"), request_rate=5.0, tpot_s=0.03)
    )


@pytest.mark.parametrize("look", [Look(), Look("dark", compact=True)])
def test_the_figure_holds_every_point(found, look) -> None:
    spec = pareto_figure(found, look)
    go.Figure(spec)
    marks = {trace["name"]: len(trace["x"]) for trace in spec["data"] if trace["mode"] == "markers"}
    assert sum(marks.values()) == len(found.cost_frontier) + len(found.winners)
    assert marks["frontier, keeps the promise"] == sum(p.meets for p in found.cost_frontier)
    assert "promised 33.3 tokens/s" in spec["layout"]["annotations"][0]["text"]
    assert f"{len(found.cost_frontier)} points that nothing beats" in pareto_alt(found)


def test_files_hold_every_row_with_a_link_that_evaluates(found) -> None:
    frame = pd.read_csv(StringIO(tables.winners_csv(found).decode()))
    assert len(frame) == len(found.winners)
    assert evaluate(link.from_query(frame["link"][0]).scenario).expected.tpot_s == found.winners[0].tpot_s
    assert len(pd.read_csv(StringIO(tables.losers_csv(found).decode()))) == len(found.losers)
    assert len(pd.read_csv(StringIO(tables.frontier_csv(found).decode()))) == len(found.cost_frontier)
    assert len(json.loads(tables.search_bytes(found))["winners"]) == len(found.winners)
