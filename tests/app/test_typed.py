"""What a person types for a model or device: the entry it stands for, or a word of what it may be, wherever an answer stands."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from roofline.answers.evaluate import evaluate
from roofline.dashboard import typed
from roofline.figures.words import sig
from roofline.specs.scenario import Scenario
from tests.app.test_calculator import address, html, opened, values


def type_into(app: AppTest, control: str, text: str) -> AppTest:
    """What a person can type is not an option; the harness cannot without."""
    box = app.selectbox(key=f"in_{control}")
    box.options.append(text)
    return box.set_value(text).run()


def options(app: AppTest, control: str) -> list[str]:
    return list(app.selectbox(key=f"in_{control}").options)


@pytest.mark.parametrize(
    ("control", "text", "entry"),
    [
        ("model", "Qwen3-235B", "qwen3-235b-a22b"),
        ("model", "qwen3 235b", "qwen3-235b-a22b"),
        ("model", "llama 3.3 70b", "llama-3.3-70b"),
        ("hardware", "macbook pro m4 ma", "apple-m4max"),
        ("hardware", "dgx spark", "gb10"),
    ],
)
def test_what_is_typed_becomes_the_entry_it_stands_for(control, text, entry) -> None:
    app = type_into(opened(), control, text)
    assert app.selectbox(key=f"in_{control}").value == entry
    assert "This answer is not for" not in html(app)
    shown = options(app, control)
    assert text not in shown
    assert len(shown) == len(set(shown))


def test_the_numbers_are_those_of_the_entry() -> None:
    app = type_into(opened(hw="h100-sxm", n="8", batch="8"), "model", "llama 3.1 8b")
    asked = Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=8, batch=8)
    assert values(app)[0] == sig(evaluate(asked).expected.tokens_per_s_per_user)


@pytest.mark.parametrize("text", ["4xgeforce 4090 d", "4 x GeForce 4090D"])
def test_a_count_before_a_device_is_taken_too(text) -> None:
    assert typed.read("hardware", text) == {"hardware": "rtx4090d", "devices": 4}
    app = type_into(opened(), "hardware", text)
    assert app.selectbox(key="in_hardware").value == "rtx4090d"
    assert app.number_input(key="in_devices").value == 4


def test_a_link_with_another_spelling_shows_the_entry_once() -> None:
    app = opened(hw="H200")
    assert app.selectbox(key="in_hardware").value == "h200-sxm"
    assert options(app, "hardware").count("H200 SXM5 141GB") == 1


@pytest.mark.parametrize(("text", "word"), [("xyzzy", "No model is called"), ("llama 70b", "may be any of 4")])
def test_what_is_no_entry_is_told_at_the_answer_and_stays_no_option(text, word) -> None:
    app = opened(batch="64")
    before = values(app)
    type_into(app, "model", text)
    assert not app.exception
    assert html(app).count(word) == 2  # beside the control and above the answer
    assert "This answer is not for" in html(app)
    assert values(app) == before
    assert app.selectbox(key="in_model").value == "deepseek-v3"
    assert text not in options(app, "model")
    app.number_input(key="in_batch").set_value(32).run()
    assert "This answer is not for" in html(app)  # until the model is chosen anew
    app.selectbox(key="in_model").set_value("llama-3.1-8b").run()
    assert "This answer is not for" not in html(app)
    assert address(app)["model"] == "llama-3.1-8b"


def test_one_of_several_is_chosen_with_a_click() -> None:
    app = type_into(opened(), "model", "llama 70b")
    choice = app.button_group(key="instead_model")
    assert len(choice.options) == 5  # four, and the one still shown
    choice.set_value("llama-3.1-70b").run()
    assert app.selectbox(key="in_model").value == "llama-3.1-70b"
    assert "This answer is not for" not in html(app)


def test_a_very_long_text_is_refused_shortly() -> None:
    found = typed.Refused("model", "q" * 5000, "deepseek-v3")
    assert len(found.problem) < 200
    assert found.choices == ()
    assert typed.read("model", "q" * 5000) is None


def test_a_box_of_several_kinds_is_taken_as_it_is() -> None:
    assert typed.read("hardware", "2x RTX 3090 + rtx_4090") == {"hardware": "2xrtx3090+1xrtx4090"}
