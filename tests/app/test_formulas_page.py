"""The Formulas page without a browser: choice, inputs, link, and what happens to nonsense."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import link
from roofline.answers.formulary import formulary, load_formula
from roofline.dashboard import formula_view
from roofline.dashboard.formula_view import FORMULA_VIEW, read, start, step, written
from roofline.dashboard.formulas_page import TOPICS, command
from roofline.dashboard.shell import FAULT

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
HOSTILE = "<img src=x onerror=alert(1)>"


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app._page_hash = calc_hash("formulas")
    return app.run()


def result(app: AppTest) -> str:
    return re.findall(r'<p class="rf-value">(.*?)</p>', html(app))[-1]


def number(app: AppTest, name: str):
    return app.number_input(key=FORMULA_VIEW.widget(name))


@pytest.fixture(scope="module")
def default() -> AppTest:
    return opened()


def test_the_usual_formula_opens_with_its_example(default) -> None:
    assert not default.exception
    # 2 FLOP/byte at 1 TB/s
    assert result(default) == "2.00 TFLOP/s"
    assert "formula" not in address(default)
    assert len(default.get("plotly_chart")) == 1
    assert "at the chosen intensity" in default.get("plotly_chart")[0].proto.alt


def test_a_changed_input_changes_result_command_and_link() -> None:
    app = opened(formula="lower_bound_s")
    number(app, "lower_bound_s.work_flops").set_value(2e13)
    app.run()
    # 2e13 FLOP at 1 PFLOP/s
    assert result(app) == "20.0 ms"
    assert address(app)["formula"] == "lower_bound_s,work_flops:20000000000000"
    assert "work_flops=20000000000000" in app.code[0].value
    again = opened(**address(app))
    assert result(again) == "20.0 ms"


def test_another_formula_starts_from_its_example() -> None:
    app = opened(formula="lower_bound_s,work_flops:2e13,against:traffic_bytes")
    app.selectbox(key=FORMULA_VIEW.widget("name")).set_value("distinct_experts")
    app.run()
    assert result(app) == "163 experts"
    assert address(app)["formula"] == "distinct_experts"


def test_a_topic_narrows_the_list_and_keeps_the_choice(default) -> None:
    app = opened(formula="distinct_experts")
    app.selectbox(key="formula_topic").set_value("queueing")
    app.run()
    names = app.selectbox(key=FORMULA_VIEW.widget("name"))
    assert names.value == "distinct_experts"
    assert len(names.options) == 1 + sum(f.topic == "queueing" for f in formulary().values())


def test_every_topic_has_a_word() -> None:
    assert {formula.topic for formula in formulary().values()} == set(TOPICS)


def test_inputs_without_a_value_are_told_and_kept() -> None:
    app = opened(formula="lower_bound_s,peak_flops_per_s:0")
    assert "No value for this" in html(app)
    assert number(app, "lower_bound_s.peak_flops_per_s").value == 0
    assert not app.exception


def test_a_curve_against_nought_is_refused_in_words() -> None:
    app = opened(formula="lower_bound_s,work_flops:0")
    assert "needs a value above zero" in html(app)
    assert not app.get("plotly_chart")


def test_the_example_comes_back_by_a_button() -> None:
    app = opened(formula="lower_bound_s,work_flops:1,against:traffic_bytes")
    next(b for b in app.button if b.label == "Back to the example").click()
    app.run()
    assert address(app)["formula"] == "lower_bound_s"


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "lower_bound_s," + HOSTILE, "lower_bound_s,work_flops:nan", "lower_bound_s,work_flops:1e999", ",,,", "x" * 2000],
)
def test_a_damaged_link_is_told_and_the_scenario_stays(text) -> None:
    app = opened(formula=text, batch="64")
    shown = html(app)
    assert not app.exception
    assert FAULT not in shown
    assert "Part of the link could not be read" in shown
    assert HOSTILE not in shown
    assert address(app)["batch"] == "64"


def test_problems_go_with_the_next_edit() -> None:
    app = opened(formula="lower_bound_s,zip:1")
    assert "&#x27;zip:1&#x27; is no input of lower_bound_s" in html(app)
    number(app, "lower_bound_s.work_flops").set_value(1e12)
    app.run()
    assert "could not be read" not in html(app)


@pytest.mark.parametrize("name", formulary())
def test_a_view_survives_the_address(name) -> None:
    formula = load_formula(name)
    values = {**start(formula), "against": formula.parameters[-1].name}
    values[formula_view.input_name(formula, formula.parameters[0])] = 0.1 + 0.2
    found = read(written(values))
    assert found.values == values
    assert not found.problems
    assert all(step(parameter) > 0 for parameter in formula.parameters)


def test_the_command_is_what_the_command_line_takes(capsys) -> None:
    from roofline.cli import app as cli

    words = command(load_formula("lower_bound_s"), load_formula("lower_bound_s").example).split()
    with pytest.raises(SystemExit) as ended:
        cli(words[1:])
    assert ended.value.code == 0
    assert "0.00400 s" in capsys.readouterr().out


def test_sources_are_linked() -> None:
    assert 'href="https://doi.org/10.1145/1498765.1498785"' in html(opened(formula="lower_bound_s"))
    assert "<code>upper_bound_s</code>" in html(opened(formula="lower_bound_s"))


def test_links_leave_the_key_alone() -> None:
    assert link.decode({"formula": "lower_bound_s"}).problems == ()
