"""Words around numbers: what is shared and what is alone, what a plan holds for, sizes and counts in one way each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from roofline.answers.evaluate import evaluate
from roofline.answers.explain import explain
from roofline.catalog.boxes import can_be_linked
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.dashboard.details import operator_frame, shown_frame
from roofline.figures.words import axis_number, count_tick
from roofline.specs.scenario import Scenario

from .runs import html

APP = str(Path(__file__).parents[2] / "app.py")
POWER_OF_TEN = re.compile(r"\de[+-]?\d", re.IGNORECASE)


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture(scope="module")
def default() -> AppTest:
    return opened()


def test_the_page_says_what_holds_under_the_plan_and_what_does_not(default) -> None:
    text = html(default)
    assert "Under this plan the critical batch is about" in text
    assert "expected under this plan" in text
    assert "plan chosen anew for each batch" in text
    assert "The critical batch is another number" in text


def test_the_page_says_when_prompts_share_a_step_and_when_they_take_turns(default) -> None:
    assert "attention groups of this plan is read in the same step" in html(default)
    assert "the limit is a prompt alone" in html(default)
    alone = html(opened(model="llama-3.1-8b", hw="h100-sxm", n="1", batch="8"))
    assert "attention groups" not in alone
    assert "read the prompts that arrive" not in alone
    assert "read the prompts that arrive" in html(opened(model="llama-3.1-8b", hw="h100-sxm", n="1", rate="2", batch=""))


@pytest.mark.parametrize("load", [{"batch": 1}, {"batch": 4096}, {"request_rate": 0.5}])
def test_no_number_of_the_operator_table_needs_a_power_of_ten(load) -> None:
    report = evaluate(Scenario(model="deepseek-v3", hardware="h200-sxm", devices=32, **load))
    frame = operator_frame(report.operators)
    shown = shown_frame(frame)
    assert (shown["FLOP"] * 1e9).tolist() == pytest.approx(frame["FLOP"].tolist(), rel=1e-3)
    for name in ("FLOP", "FLOP per byte", "limit ms", "expected ms"):  # as the browser writes %.3g
        assert not any(value and not 1e-6 <= value < 1e21 for value in shown[name].dropna())


@pytest.mark.parametrize("power", range(16))
@pytest.mark.parametrize("factor", [1, 2, 1.5, 1024 / 1000, 1048576 / 1000000])
def test_ticks_of_counts_have_no_power_of_ten(power, factor) -> None:
    for words in (count_tick(round(factor * 10**power)), axis_number(factor * 10**power)):
        assert not POWER_OF_TEN.search(words)
        assert len(words) <= 11


def test_memory_is_told_in_gib_and_facts_as_printed() -> None:
    device = next(ref for ref in hardware_ids() if load_hardware(ref).is_counted_in_gib and not load_hardware(ref).visible_memory)
    report = evaluate(Scenario(model="llama-3.1-8b", hardware=device, batch=1))
    usable = next(item for item in explain(report)["memory"].inputs if item.name == "usable memory")
    assert usable.value.endswith("GiB")
    assert "GB" in usable.source
    assert "counted in GiB" in usable.source
    assert usable.source in report.sources["memory"]


def test_a_machine_without_links_is_chosen_once() -> None:
    """By the control; a link to several of them says what it says."""
    app = opened(model="llama-3.1-8b", hw="h100-sxm", n="16")
    app.selectbox(key="in_hardware").set_value("apple-m3max").run()
    assert app.number_input(key="in_devices").value == 1
    assert "devices were set to 1" in html(app)
    app.number_input(key="in_devices").set_value(2).run()
    assert "devices were set to 1" not in html(app)
    assert app.number_input(key="in_devices").value == 2
    assert opened(model="llama-3.1-8b", hw="apple-m3max", n="4").number_input(key="in_devices").value == 4


def test_a_machine_with_links_keeps_its_number() -> None:
    app = opened(model="llama-3.1-8b", hw="h100-sxm", n="8")
    app.selectbox(key="in_hardware").set_value("rtx4090").run()
    assert app.number_input(key="in_devices").value == 8
    assert can_be_linked("rtx4090")
    assert not can_be_linked("apple-m3max")


def test_what_does_not_fit_offers_weights_and_batch_in_one_click() -> None:
    app = opened(model="llama-3.3-70b", hw="rtx3090", n="2", batch="128")
    (button,) = [item for item in app.button if "weights and batch" in item.label]
    button.click().run()
    assert app.selectbox(key="in_weights").value == "q4_k_m"
    assert 'class="rf-notice' not in html(app)
