"""The My machine page without a browser: both questions, their filters, their links, and a machine of one's own."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import MachineQuery, PurchaseQuery, Scenario, evaluate, link, machine_advice, purchase_advice
from roofline.catalog.hardware import packed_device
from roofline.dashboard import machine_page
from roofline.dashboard import machine_tables as tables
from roofline.dashboard import machine_words as words
from roofline.dashboard.machine_view import MACHINE_VIEW
from roofline.dashboard.shell import FAULT
from roofline.figures.machine_plot import machine_figure
from roofline.figures.theme import Look
from roofline.language import told_in

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    app._page_hash = calc_hash("machine")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_the_page_lists_what_the_machine_runs() -> None:
    app = opened(hw="rtx4090", n="1")
    assert not app.exception
    assert FAULT not in html(app)
    found = machine_advice(MachineQuery(machine=link.decode({"hw": "rtx4090", "n": "1"}).scenario))
    assert found.sentence in html(app)
    table = app.dataframe[0].value
    assert len(table) == found.n_models_comfortable
    assert table["model"].is_unique
    assert 1 < table["memory"].max() <= 24  # GiB, as in the row written out
    assert all(len(element.proto.alt) > 15 for element in [*app.get("plotly_chart"), *app.dataframe])
    assert "roofline measure" in app.code[0].value


def test_wishes_filter_and_travel_in_the_link() -> None:
    app = opened(hw="rtx4090", n="1")
    app.number_input(key="view_mine_speed").set_value(60.0).run()
    app.selectbox(key="view_mine_context").set_value(32768).run()
    table = app.dataframe[0].value
    assert (table["tokens/s"] >= 60.0).all()
    assert (table["context that fits"] >= 32768).all()
    assert address(app)["mine"] == "speed:60,context:32768"
    app.checkbox(key="view_mine_slow").set_value(True).run()
    assert len(app.dataframe[0].value) > len(table)
    app.checkbox(key="view_mine_slow").set_value(False).run()
    app.number_input(key="view_mine_speed").set_value(1e6).run()
    assert words.NOTHING_SHOWN in html(app)


def test_use_this_sets_the_scenario() -> None:
    app = opened(hw="rtx4090", n="1")
    app.button(key="mine_use").click().run()
    scenario = link.decode(address(app)).scenario
    report = evaluate(scenario)
    assert report.memory.fits
    assert (scenario.batch, report.cost.price_kind) == (1, "power only")
    assert report.model_name == app.dataframe[0].value["model"][0]


def test_one_memory_has_no_host_to_help() -> None:
    assert opened(hw="apple-m4max", n="1").checkbox(key="view_mine_host").disabled
    helped = opened(hw="rtx4090", n="1", mine="host:1")
    assert not helped.exception
    assert set(helped.dataframe[0].value["place"]) & {"some layers on the host", "experts on the host"}


def test_what_to_buy_is_answered_for_the_model() -> None:
    app = opened(model="llama-3.3-70b", mine="ask:buy,speed:30")
    assert not app.exception
    found = purchase_advice(PurchaseQuery(model="llama-3.3-70b", least_tokens_per_s=30.0))
    assert found.sentence in html(app)
    assert len(app.dataframe[0].value) == len(found.best)
    app.button(key="mine_buy_use").click().run()
    assert link.decode(address(app)).scenario.hardware == found.best[0].hardware


def test_a_measured_machine_of_ones_own_is_answered() -> None:
    facts = {
        "name": "mine <b>",
        "vendor": "Own",
        "category": "desktop CPU",
        "year": 2026,
        "grade": "B",
        "memory": {"value": 64, "unit": "GiB", "source": "own", "kind": "measured"},
        "bandwidth": {"value": 60, "unit": "GB/s", "source": "own", "kind": "measured"},
        "peaks": {"fp32": {"value": 1.5, "unit": "TFLOP/s", "source": "own", "kind": "measured"}},
    }
    sources = {"own": {"title": "own measurement", "url": "", "retrieved": "2026-11-30"}}
    ref = packed_device(json.dumps({"sources": sources, "accelerators": {"mine": facts}}), "the file")
    app = opened(hw=ref, n="1")
    assert not app.exception
    assert "mine <b>" not in html(app)
    assert "mine &lt;b&gt;" in html(app)
    assert len(app.dataframe[0].value)


def test_a_damaged_link_is_told() -> None:
    app = opened(mine="speed:quick,context:7,ask:buy")
    assert "mine: &#x27;speed:quick&#x27; means nothing here" in html(app)
    assert MACHINE_VIEW.read("speed:12,context:8192,host:1").problems == ()


@pytest.mark.parametrize("look", [Look(), Look("dark", compact=True)])
def test_the_figure_shows_every_row(look) -> None:
    found = machine_advice(MachineQuery(machine=Scenario(model="any", hardware="rtx3090"), least_tokens_per_s=60.0))
    spec = machine_figure(found.runs, 60.0, look)
    go.Figure(spec)
    assert sum(len(trace["x"]) for trace in spec["data"]) == len(found.runs)
    assert "wished 60.0 tokens/s" in spec["layout"]["annotations"][0]["text"]


def test_files_hold_every_row_with_a_link_that_evaluates() -> None:
    runs = machine_advice(MachineQuery(machine=Scenario(model="any", hardware="rtx3090"), formats=("q4_k_m",)))
    frame = pd.read_csv(StringIO(tables.runs_csv(runs).decode()))
    assert evaluate(link.from_query(frame["link"][0]).scenario).expected.tokens_per_s_per_user == runs.runs[0].tokens_per_s
    assert len(json.loads(tables.runs_bytes(runs))["runs"]) == len(runs.runs)
    offers = purchase_advice(PurchaseQuery(model="llama-3.1-8b", hardware=("rtx3090", "l40s")))
    assert len(pd.read_csv(StringIO(tables.offers_csv(offers).decode()))) == len(offers.offers)
    assert json.loads(tables.offers_bytes(offers))["n_hardware"] == 2


def test_files_are_english_whatever_the_page_is_told_in() -> None:
    query = MachineQuery(machine=Scenario(model="any", hardware="rtx3090"), formats=("q4_k_m",))
    wish = PurchaseQuery(model="llama-3.1-8b", hardware=("rtx3090", "l40s"))
    with told_in("id"):
        assert b"on the devices" in machine_page._file(tables.runs_csv, machine_advice, query)
        assert json.loads(machine_page._file(tables.offers_bytes, purchase_advice, wish))["sentence"].startswith("2 kinds of")
