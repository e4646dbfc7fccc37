"""Quick moves, the preview of a speed, starting over, saved questions, the report and the rarer rows, without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from roofline import link
from roofline.answers.bench_commands import measuring
from roofline.answers.evaluate import evaluate
from roofline.answers.inverse import longest_context
from roofline.answers.moves import moves
from roofline.answers.presets import PRESETS
from roofline.answers.report import MemoryTier
from roofline.dashboard import quick_moves_words
from roofline.dashboard.cards import measuring_html
from roofline.dashboard.detail_rows import (
    _tier_row,
    context_rows,
    energy_html,
    reserved_html,
    running_html,
    tiers_html,
    waiting_html,
)
from roofline.dashboard.feels_like import preview_data
from roofline.dashboard.printed import report_html
from roofline.dashboard.quick_moves import QUICK, moves_data
from roofline.dashboard.saved import saved_data
from roofline.figures.theme import LIGHT
from roofline.specs.scenario import Scenario

from .runs import html

APP = str(Path(__file__).parents[2] / "app.py")
LLAMA = Scenario(model="llama-3.3-70b", hardware="h200-sxm", weights="fp8", batch=32, input_tokens=2048, output_tokens=512)
RATED = Scenario(
    model="deepseek-v3",
    hardware="h100-sxm",
    devices=32,
    request_rate=4.0,
    prefill_devices=16,
    speculative="mtp:1@0.85",
    prefix_hit=0.5,
    utilisation=0.4,
    ownership="on",
    grid="deu",
)
OFFLOADED = Scenario(model="llama-3.3-70b", hardware="rtx4090", weights="q4_k_m", batch=1, offload="layers")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_the_quick_moves_are_there_with_their_effects() -> None:
    found = moves(evaluate(LLAMA))
    data = moves_data(found)
    json.dumps(data)
    assert [row["kind"] for row in data["quick"]] == list(QUICK)
    assert data["quick"][0]["helps"] == quick_moves_words.HELPS_MOST
    assert "in\N{NO-BREAK SPACE}total\N{NO-BREAK SPACE}+" in data["quick"][0]["effects"]
    assert len(data["quick"]) + len(data["more"]) == len(found.ranked)


def test_the_best_move_is_always_in_sight() -> None:
    for scenario in (LLAMA, RATED, OFFLOADED, *(preset.scenario for preset in PRESETS[:6])):
        found = moves(evaluate(scenario))
        data = moves_data(found)
        assert found.best is not None, scenario
        assert found.best.kind in [row["kind"] for row in data["quick"]]
        assert len(data["quick"]) <= len(QUICK)


def test_the_page_draws_moves_and_keeps_their_scenarios() -> None:
    app = opened(**link.encode(LLAMA))
    assert not app.exception
    assert app.session_state["_moves"]["double_batch"].batch == 64


def test_moves_of_a_very_large_system_wait_to_be_asked() -> None:
    app = opened(**link.encode(Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=1024, batch=4096)))
    assert "_moves" not in app.session_state
    next(b for b in app.button if b.label == quick_moves_words.ASK).click().run()
    assert app.session_state["_moves"]


def test_the_schedule_of_the_preview_is_what_is_expected() -> None:
    report = evaluate(LLAMA)
    data = preview_data(report)
    assert data["first_s"] == float(report.expected.ttft_s)
    assert data["per_step"] / data["step_s"] == pytest.approx(float(report.expected.tokens_per_s_per_user))
    assert all("{first}" not in text and "{rate}" not in text for text in data["words"].values())
    rated = evaluate(RATED)
    assert preview_data(rated)["first_s"] == float(rated.waiting.ttft_mean_s)
    drafted = preview_data(rated)
    assert drafted["per_step"] == pytest.approx(1.85)  # one token, and one drafted that is accepted 85 times in 100
    assert preview_data(evaluate(LLAMA.model_copy(update={"batch": 100_000}))) is None


def test_start_over_sets_everything_back() -> None:
    app = opened(**link.encode(LLAMA))
    next(b for b in app.button if b.label == "Start over").click().run()
    assert app.selectbox(key="in_model").value == link.DEFAULT.model
    assert not app.exception


def test_a_saved_link_that_is_none_is_told() -> None:
    def page() -> None:
        import streamlit as st

        from roofline.dashboard import state

        state.read_link()
        st.button("open", on_click=state.open_link, args=("nonsense",))
        st.button("partly", on_click=state.open_link, args=("?v=1&batch=many&n=2",))
        asked = state.current()
        st.text(" ".join(asked.link_problems))
        st.text(asked.scenario.devices)

    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert "is not a link" in app.text[0].value
    app.button[1].click().run()
    assert "batch=many" in app.text[0].value
    assert app.text[1].value == "2"


def test_saved_questions_are_bounded() -> None:
    data = saved_data()
    assert data["most"]["link"] == link.MAX_CHARACTERS
    assert link.from_query(data["default_link"]).scenario == link.DEFAULT


@pytest.mark.parametrize("scenario", [LLAMA, RATED, OFFLOADED, LLAMA.model_copy(update={"batch": 100_000})])
def test_the_report_holds_everything_and_loads_nothing(scenario) -> None:
    report = evaluate(scenario)
    text = report_html(report, "https://example.org/?v=1")
    assert report.model_name in text
    assert "https://example.org/?v=1&amp;" in text
    assert all(item.name in text for item in report.assumptions)
    assert not re.search(r"<script|<img|<svg|src=|@import|url\(", text)


def test_the_report_escapes_and_links_nothing_odd() -> None:
    text = report_html(evaluate(LLAMA), "javascript:alert(1)//")
    assert 'href="javascript' not in text


def test_prices_reserved_and_used() -> None:
    """At 40 percent use every token costs two and a half times as much, but for the power that idle hours spare."""
    report = evaluate(RATED)
    shown = reserved_html(report)
    assert "busy 40% of the time" in shown
    used, reserved = report.cost.used.usd_per_request, report.cost.reserved.usd_per_request
    assert 2.4 * reserved < used < 2.5 * reserved
    assert "cached input" in shown
    assert "CO2e" in energy_html(report)
    assert "Capital" in energy_html(report)


def test_waiting_pools_and_tokens_per_step_are_told() -> None:
    report = evaluate(RATED)
    assert "99 in 100 within" in waiting_html(report.waiting)
    running = running_html(report)
    assert "16 devices only prefill" in running
    assert "1.85 on average" in running
    assert waiting_html(None) == ""
    assert running_html(evaluate(LLAMA)) == ""


def test_tiers_of_memory_have_bars() -> None:
    report = evaluate(OFFLOADED)
    shown = tiers_html(report, LIGHT)
    assert all(tier.name in shown for tier in report.memory.tiers)
    assert "layers" in running_html(report)
    assert tiers_html(evaluate(LLAMA), LIGHT) == ""
    assert "on disk" in _tier_row(MemoryTier("disk", "disk", 2e9, None, 2e9, 0.0), LIGHT)
    assert "and has" in _tier_row(MemoryTier("host", "host", 4e9, 2e9, 4e9, 0.0), LIGHT)


def test_every_tab_opens_for_a_rich_answer() -> None:
    for tab in ("Time by operator", "Memory", "Cost"):
        app = opened(**link.encode(RATED), tab=tab)
        assert not app.exception
        assert "went wrong" not in html(app)


@pytest.mark.parametrize("scenario", [LLAMA, LLAMA.model_copy(update={"batch": 3, "input_tokens": 100_000}), RATED])
def test_the_longest_context_of_the_memory_tab_is_that_of_the_question_turned_round(scenario) -> None:
    report = evaluate(scenario)
    rows = list(context_rows(report))
    if scenario.prefill_devices is not None:
        assert rows == []
        return
    found = longest_context(scenario.model_copy(update={"batch": report.batch, "request_rate": None}))
    assert rows[0][1].startswith(f"{found.value:,.0f} tokens")


def test_no_context_fits_where_weights_alone_do_not() -> None:
    report = evaluate(Scenario(model="llama-3.3-70b", hardware="h100-sxm", batch=1))
    assert [text for _, text in context_rows(report)] == ["none"]


def test_the_commands_are_shown_and_escaped() -> None:
    shown = measuring_html(measuring(evaluate(LLAMA)))
    assert "vllm bench serve" in shown
    assert "Mean TPOT" in shown


def test_a_run_that_broke_off_while_reading_the_link_reads_it_again(monkeypatch) -> None:
    monkeypatch.setattr("roofline.dashboard.carried.read", lambda *_: 1 / 0)
    app = opened(v="1", model="llama-3.1-8b", hw="h100-sxm", n="1", batch="8", colour="red")
    monkeypatch.undo()
    app.run()
    shown = "\n".join(block.proto.body for block in app.get("html"))
    assert "Llama-3.1-8B" in shown
    assert "colour" in shown, "what was wrong with the link is told"
