"""The Model page without a browser: its numbers, a model of one's own, and what happens to nonsense."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import link
from roofline.adapters.inline import pack
from roofline.answers.anatomy import anatomy
from roofline.answers.evaluate import evaluate
from roofline.catalog.models import model_ids
from roofline.dashboard import model_tables, view
from roofline.dashboard.choices import known, model_words
from roofline.dashboard.model_blocks import layer_strip, model_cards, part_bars, weight_bars
from roofline.dashboard.model_words import kinds, parts, positions_words, stack_sentence
from roofline.dashboard.own_model import packed
from roofline.dashboard.shell import FAULT
from roofline.dashboard.text import count_words
from roofline.dashboard.view import View
from roofline.errors import InputError
from roofline.figures.theme import PALETTES
from roofline.language import told_in

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
HOSTILE = "<img src=x onerror=alert(1)> *a* :red[b] $c$"
SMALL = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
}
# Llama-3.2-1B, as its safetensors index counts it
SMALL_PARAMETERS = 1_235_814_400


def opened(page: str = "model", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return turned(app, page)


def turned(app: AppTest, page: str) -> AppTest:
    """Another page, as the menu's links do it: the harness itself only knows pages that are files."""
    app._page_hash = calc_hash(page)
    return app.run()


def values(app: AppTest) -> list[str]:
    return [re.sub("<[^>]*>", "", shown) for shown in re.findall(r'<p class="rf-value">(.*?)</p>', html(app))]


def button(app: AppTest, label: str):
    return next(b for b in app.button if b.label == label)


def using(config: dict, name: str = "") -> AppTest:
    app = opened()
    app.text_area(key="own_text").set_value(json.dumps(config))
    app.text_input(key="own_name").set_value(name)
    button(app, "Use this model").click()
    return app.run()


@pytest.fixture(scope="module")
def default() -> AppTest:
    return opened()


def test_without_a_paste_the_page_shows_the_scenario_s_model(default) -> None:
    assert not default.exception
    counts = anatomy(link.DEFAULT.model).counts
    assert values(default) == [
        count_words(counts.parameters.total),
        count_words(counts.parameters.active),
        "627 GiB",  # 673 GB
        "70.3 kB",
    ]
    assert stack_sentence(anatomy(link.DEFAULT.model)) in html(default)


def test_the_current_page_is_marked_and_the_others_are_links(default) -> None:
    assert '<span class="rf-here" aria-current="page">Model</span>' in html(default)
    linked = [entry.proto.label for entry in default.get("page_link")]
    assert linked[0] == "Calculator"
    assert "Model" not in linked


def test_figures_and_tables_have_alternatives(default) -> None:
    shown = [*default.get("plotly_chart"), *default.dataframe]
    assert len(default.get("plotly_chart")) == 2
    assert len(shown) == 3
    assert all(len(element.proto.alt) > 15 for element in shown)


def test_a_dense_model_has_no_expert_figure() -> None:
    app = opened(model="llama-3.1-8b")
    assert len(app.get("plotly_chart")) == 1
    assert not [slider for slider in app.select_slider if slider.label == "Tokens in a step"]


@pytest.mark.parametrize("ref", ["llama-3.1-8b", "gemma-3-27b", "qwen3.5-27b", "jamba-v0.1", "kimi-k3", "gpt-oss-120b"])
def test_every_kind_of_stack_opens_by_its_link(ref) -> None:
    app = opened(model=ref)
    assert not app.exception
    assert FAULT not in html(app)
    assert values(app)[0] == count_words(anatomy(ref).counts.parameters.total)


@pytest.mark.parametrize("ref", model_ids())
def test_every_model_of_the_catalogue_can_be_drawn(ref) -> None:
    found, palette = anatomy(ref), PALETTES["light"]
    strip = layer_strip(found, palette)
    assert strip.count("<strong>") == len(kinds(found.layers))
    assert sum(len(kind.positions) for kind in kinds(found.layers)) == found.counts.layers
    assert "rf-value" in model_cards(found, View(), "bf16")
    assert weight_bars(found.weights, palette).count("as stored") == 1
    assert part_bars(found, palette).count('class="rf-row"') == len(parts(found.counts.parameters))


@pytest.mark.parametrize("ref", model_ids())
def test_parts_sum_to_the_model(ref) -> None:
    counts = anatomy(ref).counts.parameters
    assert sum(part.total for part in parts(counts)) == counts.total
    assert sum(part.active for part in parts(counts)) == counts.active


def test_a_pasted_configuration_is_counted_before_it_is_used() -> None:
    app = opened()
    app.text_area(key="own_text").set_value(json.dumps(SMALL)).run()
    assert values(app)[0] == count_words(SMALL_PARAMETERS)
    assert "as pasted" in html(app)
    assert "model" not in address(app)


def test_a_used_configuration_is_in_the_link_the_controls_and_the_calculator() -> None:
    app = using(SMALL, "Mine")
    assert not app.exception
    assert values(app)[:2] == [count_words(SMALL_PARAMETERS)] * 2
    assert app.selectbox(key="in_model").value == address(app)["model"]
    assert "your model: Mine" in app.selectbox(key="in_model").options
    assert app.text_area(key="own_text").value == json.dumps(SMALL)
    scenario = link.decode(address(app)).scenario
    assert scenario == link.DEFAULT.model_copy(update={"model": pack({**SMALL, "name": "Mine"})})
    assert values(opened(**address(app))) == values(app)
    calculated = turned(app, "")
    assert f"{evaluate(scenario).expected.tokens_per_s_per_user:.0f}" == values(calculated)[0]
    assert values(opened("", **address(app))) == values(calculated)


def test_a_catalogue_model_can_be_chosen_again_and_the_own_one_stays_on_offer() -> None:
    app = using(SMALL, "Mine")
    app.selectbox(key="in_model").set_value("llama-3.1-8b").run()
    assert address(app)["model"] == "llama-3.1-8b"
    assert values(app)[0] == "8.03 billion"
    assert "your model: Mine" in app.selectbox(key="in_model").options


def test_an_upload_fills_the_field() -> None:
    app = opened()
    app.file_uploader(key="own_file").set_value(("config.json", json.dumps(SMALL).encode(), "application/json")).run()
    assert app.text_area(key="own_text").value == json.dumps(SMALL)
    assert values(app)[0] == count_words(SMALL_PARAMETERS)
    app.file_uploader(key="own_file").set_value(("config.json", b"\xff\xfe\x00", "application/json")).run()
    assert "The file is not text" in html(app)
    assert app.text_area(key="own_text").value == json.dumps(SMALL)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1', "The text is not JSON"),
        ("[1, 2]", "The text holds a list, not a table of fields."),
        ("{}", ""),
        (json.dumps({**SMALL, "layer_types": ["abacus"] * 16}), "abacus"),
        (json.dumps({**SMALL, "num_hidden_layers": 10**9}), "num_hidden_layers"),
        (json.dumps({**SMALL, "hidden_size": "wide"}), "hidden_size"),
        (json.dumps({**SMALL, "layer_types": [f"{i * 7919 % 9973:x}{i * i:x}" for i in range(3000)]}), "characters in a link"),
        ("[" * 100_000, "The text is not JSON"),
    ],
)
def test_a_wrong_configuration_is_told_in_a_sentence_and_kept(text, sentence) -> None:
    own = packed(text, "")
    assert own.ref is None
    assert own.problem is not None
    assert sentence in own.problem
    app = opened()
    before = values(app)
    app.text_area(key="own_text").set_value(text)
    button(app, "Use this model").click()
    app.run()
    assert not app.exception
    assert 'class="rf-bad" role="alert"' in html(app)
    assert values(app) == before
    assert app.text_area(key="own_text").value == text
    assert "model" not in address(app)


def test_nothing_pasted_is_told_too() -> None:
    app = opened()
    button(app, "Use this model").click().run()
    assert "Paste or upload a configuration first." in html(app)


def test_fields_that_are_not_known_do_no_harm() -> None:
    assert packed(json.dumps({**SMALL, "favourite_colour": "blue"}), "").ref is not None


def test_the_name_comes_from_the_person_or_the_file() -> None:
    def name(given: str, **more: str) -> str:
        return model_words(str(packed(json.dumps({**SMALL, **more}), given).ref))

    assert name("a/b") == "your model: a/b"
    assert name(" ", _name_or_path="org/tiny-1b/") == "your model: tiny-1b"
    assert name("") == "your model: llama"


@pytest.mark.parametrize("page", ["", "model"])
def test_a_hostile_name_is_shown_as_text(page) -> None:
    app = opened(page, model=pack({**SMALL, "name": HOSTILE}))
    assert not app.exception
    assert "<img" not in html(app)
    assert "&lt;img src=x onerror=alert(1)&gt;" in html(app)
    for chart in app.get("plotly_chart"):
        assert "<img" not in chart.proto.spec


def test_a_page_switch_keeps_scenario_view_and_tab() -> None:
    app = opened("", batch="64", tab="Memory", chart="65536,fp8,256")
    first = values(app)
    turned(app, "model")
    assert app.select_slider(key="view_context").value == 65536
    app.number_input(key="in_batch").set_value(96).run()
    app.select_slider(key="view_context").set_value(131072).run()
    turned(app, "")
    assert address(app) == {"v": "1", "batch": "96", "tab": "Memory", "chart": "131072,fp8,256"}
    app.number_input(key="in_batch").set_value(64).run()
    assert values(app) == first


def test_the_view_changes_the_cache_and_not_the_scenario() -> None:
    app = opened(model="llama-3.1-8b")
    before = address(app)
    app.select_slider(key="view_context").set_value(1024).run()
    assert "128 MiB at 1,024 tokens" in html(app)  # 131,072 bytes a token
    app.selectbox(key="view_cache").set_value("fp8").run()
    assert values(app)[3] == "65.5 kB"
    assert address(app) == {**before, "chart": "1024,fp8,64"}


@pytest.mark.parametrize("text", [None, "", "zip", "1,2,3", "32768,zip,64", "9" * 50, "32768,auto,64,more"])
def test_a_damaged_view_is_the_usual_one(text) -> None:
    assert view.read(text) == View()
    assert view.read(view.written(View(1024, "fp8", 1))) == View(1024, "fp8", 1)


@pytest.mark.parametrize("table", ["Layers", "Parameters", "Weights", "Cache", "Experts"])
def test_every_figure_has_a_table_and_a_file(table) -> None:
    app = opened()
    app.button_group(key="model_table").set_value(table).run()
    assert not app.exception
    assert len(app.dataframe[0].value) > 1
    assert app.get("download_button")


def test_files_hold_what_the_figures_show() -> None:
    found = anatomy("deepseek-v3")
    assert b"routed experts,653908770816," in model_tables.csv_bytes(model_tables.part_frame, found)
    assert len(model_tables.cache_frame(found)) == len(found.cache.context_tokens)
    assert model_tables.expert_frame(anatomy("llama-3.1-8b")).empty


def test_files_are_the_same_in_every_language() -> None:
    found = anatomy("gemma-3-27b")
    told = model_tables.csv_bytes(model_tables.layer_frame, found)
    assert b"window 1,024" in told
    with told_in("id"):
        assert model_tables.csv_bytes(model_tables.layer_frame, found) == told


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        ((0, 1, 2), "layers 0 to 2"),
        ((0, 1, 5), "layers 0 to 1, 5"),
        ((1, 3, 5, 7, 9), "every other layer from 1"),
        ((2, 5, 8, 11), "every 3rd layer from 2"),
        ((0, 2, 6, 8, 10), "layers 0, 2, 6, 8 …"),
    ],
)
def test_positions_are_said_in_words(positions, words) -> None:
    assert positions_words(positions) == words


def test_the_most_frequent_kind_is_all_other_layers() -> None:
    assert positions_words((0, 2, 6, 8, 10), most=True) == "all other layers"


def test_a_tall_stack_is_drawn_in_runs() -> None:
    tall = anatomy(pack({**SMALL, "num_hidden_layers": 2000}))
    strip = layer_strip(tall, PALETTES["light"])
    assert strip.count("flex-grow:2000") == 1
    assert len(strip) < 3000


def test_a_damaged_model_keeps_the_last_one_and_is_told() -> None:
    wanted, problems = known(link.DEFAULT.model_copy(update={"model": "config:AAAA"}), link.DEFAULT)
    assert wanted == link.DEFAULT
    assert problems["model"].startswith("The configuration in this link is damaged")
    assert model_words("config:AAAA") == "your model, damaged"


@pytest.mark.parametrize("page", ["", "model"])
@pytest.mark.parametrize(
    "place",
    [
        "shell.evaluate",
        "model_page.anatomy",
        "calculator.batch_curve",
        "shell.known",
        "sidebar.load_box",
        "state.link.decode",
    ],
)
def test_a_fault_of_ours_is_told_in_our_words(page, place, monkeypatch, caplog) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(f"roofline.dashboard.{place}", broken)
    app = opened(page, batch="64")
    assert not app.exception
    assert "secret detail" not in html(app)
    elsewhere = {"": {"model_page.anatomy"}, "model": {"calculator.batch_curve", "shell.evaluate"}}[page]
    hidden = place in {*elsewhere, "state.link.decode"}
    assert (FAULT in html(app)) is not hidden
    if FAULT in html(app):
        assert 'href="?' in html(app)
        assert "batch=64" in html(app)


def test_a_model_that_cannot_be_laid_open_is_told(monkeypatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise InputError("no such thing.")

    monkeypatch.setattr("roofline.dashboard.model_page.anatomy", refused)
    assert "<h2>This model cannot be laid open</h2>No such thing." in html(opened())


def test_a_model_without_a_cache_has_words_in_place_of_the_figure(monkeypatch) -> None:
    found = anatomy("llama-3.1-8b")
    none = np.zeros_like(found.cache.least_bytes)
    bare = replace(found, cache=replace(found.cache, least_bytes=none, reserved_bytes={}))
    monkeypatch.setattr("roofline.dashboard.model_page.anatomy", lambda *_, **__: bare)
    app = opened()
    assert "keeps neither cache nor state" in html(app)
    assert not app.get("plotly_chart")


def test_weights_that_would_fit_are_one_click_away() -> None:
    app = opened("", model="llama-3.3-70b", n="1", batch="4")
    assert "Does not fit" in html(app)
    button(app, "Use FP8 weights").click()
    app.run()
    assert address(app)["w"] == "fp8"
    assert "Does not fit" not in html(app)


def test_inputs_survive_a_fault(monkeypatch) -> None:
    app = opened("", batch="64")
    before = values(app)
    with monkeypatch.context() as broken:
        broken.setattr("roofline.dashboard.shell.evaluate", lambda _: 1 / 0)
        app.number_input(key="in_devices").set_value(32).run()
        assert FAULT in html(app)
        assert address(app)["n"] == "32"
    app.number_input(key="in_devices").set_value(16).run()
    assert values(app) == before


def test_the_memory_tab_shows_both_caches() -> None:
    app = opened("", model="gemma-3-27b", n="1", batch="4", tab="Memory")
    assert "Cache as the mathematics needs it" in html(app)
    assert "Cache as the engine reserves it" in html(app)
