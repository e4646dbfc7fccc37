"""Compare and Stories without a browser: add, change, swap, remove; a map; a story and its slider; damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline.answers.stories import STORIES
from roofline.dashboard.shell import FAULT
from roofline.dashboard.story_words import NO_STORY, WORDS

from .runs import html

APP = str(Path(__file__).parents[2] / "app.py")
LLAMA = {"v": "1", "model": "llama-3.1-8b", "n": "1", "batch": "16"}
HOSTILE = "<img src=x onerror=alert(1)>"


def opened(page: str, query: dict[str, str] | None = None) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    app._page_hash = calc_hash(page)
    return app.run()


def query(app: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in dict(app.query_params).items()}


def good(app: AppTest) -> None:
    assert not app.exception
    assert FAULT not in html(app)


def figure(app: AppTest, number: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[number].proto.spec)


def test_the_page_opens_with_one_scenario_and_offers_others() -> None:
    app = opened("compare", LLAMA)
    good(app)
    assert "Nothing is compared yet" in html(app)
    assert len(app.get("plotly_chart")) == 2
    assert all(len(chart.proto.alt) > 30 for chart in app.get("plotly_chart"))
    app.button(key="cmp_add_devices").click().run()
    good(app)
    assert query(app)["b.n"] == "2"
    assert "per user" in html(app)
    assert {"A", "B"} <= {trace["name"] for trace in figure(app)["data"]}


def test_a_control_changes_one_scenario_only() -> None:
    app = opened("compare", {**LLAMA, "b.v": "1"})
    assert "is the same as A so far" in html(app)
    app.number_input(key="cmp_batch").set_value(64).run()
    good(app)
    assert query(app) == {**LLAMA, "b.batch": "64"}
    app.selectbox(key="cmp_hardware").set_value("h200-sxm").run()
    assert query(app)["b.hw"] == "h200-sxm"
    app.number_input(key="cmp_devices").set_value(-3).run()
    good(app)
    assert "b.n" not in query(app)
    assert "Devices" in next(block for block in html(app).split("rf-bad") if "must be" in block or "greater" in block)


def test_swap_copy_and_remove_keep_what_was_asked() -> None:
    app = opened("compare", {**LLAMA, "b.batch": "64", "b.hw": "h200-sxm"})
    app.button(key="cmp_swap").click().run()
    good(app)
    assert {name: query(app)[name] for name in ("hw", "batch", "b.hw", "b.batch")} == {
        "hw": "h200-sxm",
        "batch": "64",
        "b.hw": "h100-sxm",
        "b.batch": "16",
    }
    app.button(key="cmp_copy").click().run()
    good(app)
    assert query(app)["c.batch"] == "16"
    app.button(key="cmp_remove").click().run()
    good(app)
    assert not any(name.startswith("c.") for name in query(app))
    assert query(app)["b.hw"] == "h100-sxm"


def test_a_change_of_the_sidebar_reaches_all_and_another_page_keeps_them() -> None:
    app = opened("compare", {**LLAMA, "b.hw": "h200-sxm", "map": "devices,batch,usd", "plot": "cost"})
    app.number_input(key="in_batch").set_value(8).run()
    good(app)
    assert query(app)["batch"] == "8"
    assert "batch 8" in html(app)
    app._page_hash = calc_hash("model")
    app.run()
    good(app)
    assert {name: query(app)[name] for name in ("b.hw", "map", "plot")} == {
        "b.hw": "h200-sxm",
        "map": "devices,batch,usd",
        "plot": "cost",
    }


def test_the_map_follows_its_inputs_and_the_same_twice_changes_places() -> None:
    app = opened("compare", LLAMA)
    app.selectbox(key="cmp_map_value").set_value("usd").run()
    assert query(app)["map"] == "batch,input_tokens,usd"
    app.selectbox(key="cmp_map_x").set_value("input_tokens").run()
    good(app)
    assert query(app)["map"] == "input_tokens,batch,usd"
    assert app.selectbox(key="cmp_map_y").value == "batch"
    assert "USD per million output tokens" in app.get("plotly_chart")[1].proto.alt


def test_what_does_not_fit_is_said_in_words_with_what_would() -> None:
    app = opened("compare", {"v": "1", "model": "llama-3.3-70b", "hw": "rtx4090", "n": "1", "w": "bf16", "batch": "1"})
    good(app)
    assert "would do" in html(app)
    assert "No scenario fits" in html(app)
    assert "None of the" in html(app)


def test_damage_is_told_and_harmless() -> None:
    app = opened("compare", {**LLAMA, "b.hw": HOSTILE, "b.n": "2", "map": HOSTILE, "plot": HOSTILE, "c.model": "z" * 500})
    good(app)
    assert HOSTILE not in html(app)
    assert "B: hw=" in html(app)
    assert len(app.get("plotly_chart")) == 2


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.id)
def test_each_story_stands_alone_and_its_slider_tells_another(story) -> None:
    app = opened("stories", {"story": story.id})
    good(app)
    words = WORDS[story.id]
    assert words.title in html(app)
    before = next(block for block in html(app).split("\n") if "rf-verdict" in block)
    other = next(place for place in story.places if place != story.start)
    app.select_slider(key="story_place").set_value(other).run()
    good(app)
    assert query(app)["story"] == f"{story.id},{other}"
    assert next(block for block in html(app).split("\n") if "rf-verdict" in block) != before
    assert len(app.get("plotly_chart")) == 1
    assert len(app.get("plotly_chart")[0].proto.alt) > 30


def test_the_next_story_and_a_damaged_one() -> None:
    app = opened("stories")
    next(button for button in app.button if button.label.startswith("Next")).click().run()
    assert WORDS[STORIES[1].id].title in html(app)
    for text in ("nothing", "bits,q5", HOSTILE, "x" * 3000):
        app = opened("stories", {"story": text})
        good(app)
        assert NO_STORY in html(app)
        assert HOSTILE not in html(app)
