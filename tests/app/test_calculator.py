"""The calculator without a browser: what it shows for a link, for edits and for nonsense."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from roofline import link
from roofline.answers.evaluate import evaluate
from roofline.answers.explain import explain
from roofline.answers.presets import PRESETS
from roofline.dashboard import details, quantities
from roofline.dashboard.cards import explanation_html
from roofline.dashboard.choices import known
from roofline.dashboard.details import operator_detail, picked, source_html
from roofline.dashboard.extras import EXTRAS
from roofline.dashboard.fields import asked, control_values
from roofline.dashboard.text import Markup, table
from roofline.figures.words import sig
from roofline.language import told_in, tr
from roofline.specs.scenario import Scenario

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
DEFAULT = PRESETS[0].scenario


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def values(app: AppTest) -> list[str]:
    return re.findall(r'<p class="rf-value">([^<]*)', html(app))


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


@pytest.fixture(scope="module")
def default() -> AppTest:
    return opened()


def test_the_page_without_a_query_answers_the_default(default) -> None:
    report = evaluate(DEFAULT)
    assert not default.exception
    assert values(default)[:3] == [
        sig(report.expected.tokens_per_s_per_user),
        sig(report.expected.output_tokens_per_s),
        sig(report.cost.usd_per_million_output_tokens),
    ]
    assert "GiB" in values(default)[3]
    assert report.sentence in html(default).replace("&#x27;", "'")


def test_limit_and_band_are_named_on_the_cards(default) -> None:
    report = evaluate(DEFAULT)
    shown = html(default)
    low, high = report.expected_low.tokens_per_s_per_user, report.expected_high.tokens_per_s_per_user
    assert f"expected {sig(low)} to {sig(high)}" in shown
    assert f"limit {sig(report.limit.tokens_per_s_per_user)}" in shown


def test_the_first_screen_has_two_figures_with_alternatives(default) -> None:
    alternatives = [chart.proto.alt for chart in default.get("plotly_chart")]
    assert len(alternatives) == 2
    assert all(len(text) > 40 for text in alternatives)


def test_the_default_page_needs_no_query(default) -> None:
    assert "model" not in address(default)


def test_every_control_says_what_it_is(default) -> None:
    controls = [*default.number_input, *default.selectbox]
    assert all(control.label and control.help for control in controls)
    labels = [control.label for control in default.number_input]
    assert "Price (USD per device and hour)" in labels


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_every_example_opens_by_its_link(preset) -> None:
    app = opened(**link.encode(preset.scenario))
    assert not app.exception
    assert link.decode(address(app)).scenario == preset.scenario
    assert 'class="rf-value"' in html(app) or "Does not fit" in html(app)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_controls_hold_a_scenario_without_loss(preset) -> None:
    assert asked(control_values(preset.scenario), DEFAULT) == (preset.scenario, {})


def test_an_edit_changes_numbers_and_address() -> None:
    app = opened()
    before = values(app)
    app.number_input(key="in_batch").set_value(64).run()
    assert values(app)[:2] != before[:2]
    assert address(app)["batch"] == "64"
    again = opened(**address(app))
    assert values(again) == values(app)


def test_a_damaged_link_is_told_and_the_rest_is_kept() -> None:
    app = opened(v="1", batch="many", n="32", foo="<b>bar</b>")
    assert not app.exception
    assert "Part of the link could not be read" in html(app)
    assert "<b>bar</b>" not in html(app)
    assert app.number_input(key="in_devices").value == 32
    assert address(app) == {"v": "1", "n": "32"} | {k: v for k, v in address(app).items() if k == "tab"}
    app.number_input(key="in_batch").set_value(8).run()
    assert "Part of the link could not be read" not in html(app)


def test_a_link_that_changes_later_is_followed() -> None:
    app = opened(batch="64")
    app.query_params["batch"] = "32"
    app.run()
    assert app.number_input(key="in_batch").value == 32


def test_an_unknown_model_is_told_beside_its_control_and_nothing_is_lost() -> None:
    app = opened(batch="64")
    before = values(app)
    box = app.selectbox(key="in_model")
    box.options.append("llama-9.1-8b")  # a person can type what is not an option; the harness cannot
    box.set_value("llama-9.1-8b").run()
    assert not app.exception
    assert "No model is called &#x27;llama-9.1-8b&#x27;; nearest: " in html(app)
    assert values(app) == before
    assert app.selectbox(key="in_model").value == "deepseek-v3"
    app.selectbox(key="in_model").set_value("llama-3.1-8b").run()
    assert "No model is called" not in html(app)
    assert address(app)["model"] == "llama-3.1-8b"


@pytest.mark.parametrize("path", ["/etc/passwd", "../app.py", "config.json", "C:\\config.json", "~/config.json"])
def test_a_link_cannot_name_a_file_of_the_server(path) -> None:
    app = opened(model=path, hw=path)
    assert not app.exception
    assert html(app).count("could not be read") >= 2
    assert evaluate(DEFAULT).sentence in html(app).replace("&#x27;", "'")


@pytest.mark.parametrize("path", ["/etc/passwd", "../app.py", "config.json", "C:\\config.json", "tests", "a\0b"])
def test_a_person_cannot_name_a_file_of_the_server(path) -> None:
    wanted, problems = known(DEFAULT.model_copy(update={"model": path, "hardware": path}), DEFAULT)
    assert wanted == DEFAULT
    assert set(problems) == {"model", "hardware"}


def test_usual_spellings_are_understood() -> None:
    wanted = DEFAULT.model_copy(update={"model": "meta-llama/Llama-3.1-8B-Instruct", "hardware": "H100"})
    found, problems = known(wanted, DEFAULT)
    assert (found.model, found.hardware, problems) == ("llama-3.1-8b", "h100-sxm", {})


def test_formats_and_engines_are_checked_by_their_role() -> None:
    wanted = DEFAULT.model_copy(update={"weights": "zip", "kv_cache": "q4_k_m", "engine": "abacus" * 20})
    found, problems = known(wanted, DEFAULT)
    assert found == DEFAULT
    assert problems["weights"].startswith("No format for this is called 'zip'")
    assert problems["weights"].endswith("The page still shows the automatic choice.")
    assert set(problems) == {"weights", "kv_cache", "engine"}
    assert "…" in problems["engine"]


def test_a_format_of_a_link_that_nobody_offers_is_told_and_the_rest_is_kept() -> None:
    app = opened(kv="zip", w="q4_k_m")
    assert not app.exception
    assert "kv=zip could not be read" in html(app)
    assert app.selectbox(key="in_weights").value == "q4_k_m"


def test_a_batch_that_does_not_fit_can_be_cut_to_what_does() -> None:
    app = opened(model="llama-3.1-8b", hw="rtx4090", n="1", w="q4_k_m", batch="100000")
    next(b for b in app.button if b.label.startswith("Use batch ")).click().run()
    assert len(values(app)) == 4
    assert int(address(app)["batch"]) > 1


@pytest.mark.parametrize("name", ["tokens_per_s_per_user", "output_tokens_per_s", "usd_per_million_output_tokens", "memory"])
def test_every_headline_number_explains_itself(name) -> None:
    shown = explanation_html(explain(evaluate(DEFAULT))[name])
    assert shown.count("rf-equation") > 2
    assert "<table" in shown


def test_an_operator_is_written_out_when_its_point_is_chosen() -> None:
    report = evaluate(DEFAULT)
    row = report.operators[0]
    assert picked(report.operators, [{"id": f"{row.phase}:{row.name}"}]) == [row]
    assert picked(report.operators, []) == []
    assert "FLOP per byte; the ridge is at" in operator_detail(row, report)


def test_names_are_escaped_in_tables() -> None:
    shown = table(("a", "b"), [("<script>", Markup("<b>ours</b>"))], caption='"quoted"')
    assert "<script>" not in shown
    assert "<b>ours</b>" in shown
    assert 'aria-label="&quot;quoted&quot;"' in shown
    assert source_html("nobody") == "nobody"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("in_devices", 0, "Devices must be at least 1."),
        ("in_batch", -3, "Batch must be at least 1."),
        ("in_input_tokens", 0, "Prompt tokens must be at least 1."),
        ("in_utilisation", 0.0, "Utilisation must be above 0"),
        ("in_usd_per_device_hour", -1.0, "Price must be at least 0."),
    ],
)
def test_an_impossible_number_is_told_and_the_last_answer_stays(name, value, sentence) -> None:
    app = opened()
    before = values(app)
    app.number_input(key=name).set_value(value).run()
    assert not app.exception
    assert sentence in html(app)
    assert values(app) == before
    assert app.number_input(key=name).value == value


def test_what_does_not_fit_is_said_in_words_with_a_way_out() -> None:
    app = opened(n="8", model="deepseek-v3", w="bf16", batch="1")
    assert not app.exception
    assert "Does not fit" in html(app)
    ways = [button for button in app.button if button.label.startswith("Use ")]
    assert ways
    ways[0].click().run()
    assert "Does not fit" not in html(app)


def test_a_plan_that_cannot_be_is_told_and_can_be_undone() -> None:
    app = opened(tp="7")
    assert not app.exception
    assert "No answer for this" in html(app)
    next(b for b in app.button if b.label == "Let the program choose the plan").click().run()
    assert len(values(app)) == 4


@pytest.mark.parametrize("tab", ["Cost", "Memory", "Time by operator", "Operators", "Assumptions and sources"])
def test_every_tab_opens_by_its_link(tab) -> None:
    app = opened(tab=tab)
    assert not app.exception
    assert address(app).get("tab", "Time by operator") == tab


@pytest.mark.parametrize("language", ["ko", "id"])
def test_a_tab_is_linked_by_the_same_name_in_every_language(language) -> None:
    app = opened(tab="Memory", lang=language)
    assert not app.exception
    assert address(app)["tab"] == "Memory"
    with told_in(language):
        assert [tab.label for tab in app.tabs] == [tr(name) for name in details._TABS]
        assert app.session_state["tab_label"] == tr("Memory")


@pytest.mark.parametrize("language", ["ko", "id"])
def test_labels_keep_their_unit_apart_in_every_language(language) -> None:
    found = [value if isinstance(value, tuple) else (value,) for value in vars(quantities).values()]
    numbers = [number for row in found for number in row if isinstance(number, quantities.Quantity)]
    with told_in(language):
        for label in (number.label for number in (*numbers, *EXTRAS)):
            assert tr(label).count(" (") == label.count(" ("), label


def test_a_file_of_operators_has_no_language() -> None:
    rows = evaluate(DEFAULT).operators
    english = details._operator_csv(rows)
    with told_in("id"):
        assert details._operator_csv(rows) == english


def test_the_operator_table_holds_every_operator() -> None:
    app = opened(tab="Operators")
    assert len(app.dataframe[0].value) == len(evaluate(DEFAULT).operators)


def test_unverified_facts_are_marked() -> None:
    from roofline.catalog.hardware import hardware_ids, load_hardware

    loose = next(i for i in hardware_ids() if load_hardware(i).grade == "C")
    app = opened(model="llama-3.1-8b", hw=loose, n="1", batch="1", tab="Assumptions and sources", **{"in": "128", "out": "32"})
    assert not app.exception
    assert "Unverified" in html(app)
    assert "unverified" in html(app)


def test_announced_hardware_is_not_offered(default) -> None:
    from roofline.catalog.hardware import hardware_ids, load_hardware

    shown = set(default.selectbox(key="in_hardware").options)
    hidden = {load_hardware(i).name for i in set(hardware_ids(announced=True)) - set(hardware_ids())}
    assert not shown & hidden


def test_an_example_sets_every_control() -> None:
    app = opened()
    app.selectbox(key="preset").select(PRESETS[3]).run()
    assert link.decode(address(app)).scenario == PRESETS[3].scenario


def test_a_request_rate_takes_the_place_of_the_batch() -> None:
    app = opened()
    app.button_group(key="in_load").set_value("rate").run()
    assert address(app)["rate"] == "1"
    assert "batch" not in address(app)
    app.button_group(key="in_load").set_value("most").run()
    assert address(app)["batch"] == "most"


def test_every_field_of_a_scenario_has_a_control() -> None:
    without = set(Scenario.model_fields) - set(control_values(DEFAULT))
    assert not without, "a link that holds these would lose them on the page"


@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.field)
def test_a_control_left_empty_leaves_the_field_alone(extra) -> None:
    assert extra.shown(DEFAULT) in (None, "", "auto")
    assert extra.read(extra.shown(DEFAULT)) == getattr(DEFAULT, extra.field)


@pytest.mark.parametrize(
    "more",
    [
        {"context_parallel": 2},
        {"expert_skew": 1.5},
        {"two_batch_overlap": True},
        {"two_batch_overlap": False},
        {"batching_window_s": 0.25},
        {"prefix_hit": 0.5, "forced_output": 0.3},
        {"prefill_devices": 2},
        {"prefill_devices": 0},
        {"offload": "layers:4", "host": "2xepyc-9654", "host_memory_gib": 256.0, "disk_gb_per_s": 7.0},
        {"speculative": "mtp:1@0.85"},
        {"adapters": "8x16"},
        {"ownership": "price=25000,life=3", "grid": "deu"},
        {"rental": "spot"},
    ],
)
def test_a_scenario_comes_back_from_its_controls(more) -> None:
    scenario = Scenario.model_validate({**DEFAULT.model_dump(exclude_none=True), **more})
    assert asked(control_values(scenario), DEFAULT) == (scenario, {})


def test_the_wait_before_a_first_token_is_told_at_a_request_rate() -> None:
    app = opened(rate="0.5", window="0.5")
    assert not app.exception
    assert "with its wait" in html(app)
    assert address(app)["window"] == "0.5"
    app.number_input(key="in_batching_window_s").set_value(None).run()
    assert "window" not in address(app)


def test_a_wrong_value_names_the_field_and_what_is_still_used() -> None:
    shown = {**control_values(DEFAULT), "devices": None}
    scenario, problems = asked(shown, Scenario(model="m", hardware="h", devices=3))
    assert scenario.devices == 3
    assert problems == {"devices": "Devices must be a whole number. The page still shows 3."}


@pytest.mark.parametrize(
    "query",
    [
        {"hw": "rtx4090", "n": "1", "w": "q4_k_m", "batch": "1", "off": "layers", "host": "ryzen-9950x"},
        {"hw": "2xrtx3090+1xrtx4090", "n": "3", "w": "q4_k_m", "batch": "1"},
    ],
)
def test_a_link_with_a_host_or_a_mixed_box_keeps_its_answer(query: dict[str, str]) -> None:
    given = {"v": "1", "model": "llama-3.3-70b", "in": "512", "out": "256", **query}
    app = opened(**given)
    assert not app.exception
    assert link.decode(address(app)).scenario == link.decode(given).scenario
    assert evaluate(link.decode(given).scenario).sentence.split(":")[0] in html(app)


def test_a_price_of_ones_own_gives_way_to_owning() -> None:
    scenario, problems = asked({**control_values(DEFAULT), "usd_per_device_hour": 2.0, "ownership": "on"}, DEFAULT)
    assert (scenario.usd_per_device_hour, str(scenario.ownership)) == (None, "on")
    assert "exclude each other" in problems["ownership"]


@pytest.mark.parametrize("name", ["devices", "batch", "input_tokens", "output_tokens"])
def test_a_whole_number_is_taken_as_typed_or_refused_and_never_cut(name: str) -> None:
    """The browser hands a field for whole numbers no more than the digits before any point or exponent."""
    app = opened(batch="8")
    control = app.number_input(key=f"in_{name}")
    assert control.proto.data_type == control.proto.FLOAT
    control.set_value(1000.0).run()
    assert getattr(link.decode(address(app)).scenario, name) == 1000
    app.number_input(key=f"in_{name}").set_value(2.7).run()
    assert "must be a whole number" in html(app)
    assert getattr(link.decode(address(app)).scenario, name) == 1000
    assert not app.exception
