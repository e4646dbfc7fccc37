"""The Catalogue page without a browser: filters, facts, comparison, use, link, nonsense."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline.answers.browse import device_rows, model_rows
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.dashboard.catalogue_blocks import device_html, prices_html
from roofline.dashboard.catalogue_tables import device_frame, json_bytes, model_frame
from roofline.dashboard.catalogue_view import CATALOGUE_VIEW, USUAL, read, written
from roofline.dashboard.shell import FAULT

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
HOSTILE = "<img src=x onerror=alert(1)>"
KEY = CATALOGUE_VIEW.widget


def shown(text: str = "", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in {**({"catalogue": text} if text else {}), **query}.items():
        app.query_params[name] = value
    app._page_hash = calc_hash("catalogue")
    return app.run()


def button(app: AppTest, label: str):
    return next(b for b in app.button if b.label == label)


@pytest.fixture(scope="module")
def default() -> AppTest:
    return shown()


def test_the_page_opens_with_every_device_and_the_scenario_s_own(default) -> None:
    assert not default.exception
    assert f"{len(device_rows())} of {len(device_rows())} devices" in html(default)
    assert len(default.dataframe[0].value) == len(hardware_ids(announced=True))
    assert "H100 SXM5 80GB" in html(default)
    assert not default.get("plotly_chart")
    assert default.dataframe[0].proto.alt.startswith(f"{len(device_rows())} devices")
    assert "catalogue" not in address(default)


def test_the_page_opens_within_a_second() -> None:
    shown()
    start = time.perf_counter()
    shown()
    assert time.perf_counter() - start < 1.0


def test_filters_narrow_the_table_and_travel() -> None:
    app = shown()
    app.selectbox(key=KEY("vendor")).set_value("AMD")
    app.text_input(key=KEY("text")).set_value("instinct")
    app.run()
    found = app.dataframe[0].value
    assert set(found["vendor"]) == {"AMD"}
    assert address(app)["catalogue"] == "text:instinct,vendor:AMD"
    again = shown(address(app)["catalogue"])
    assert list(again.dataframe[0].value["id"]) == list(found["id"])
    button(again, "Clear filters").click()
    again.run()
    assert "catalogue" not in address(again)


def test_nothing_left_is_said() -> None:
    app = shown("text:no%20such%20thing")
    assert "No devices like this" in html(app)
    assert not app.dataframe


def test_models_have_their_own_list_and_facts() -> None:
    app = shown("kind:models,show:deepseek-v2")
    assert not app.exception
    assert len(app.dataframe[0].value) == len(model_rows())
    assert "Reconstructed." in html(app)
    assert "6 of 160 a layer" in html(app)


def test_the_other_half_forgets_what_was_shown() -> None:
    app = shown("show:mi300x")
    app.button_group(key=KEY("kind")).set_value("models")
    app.run()
    assert not app.exception
    assert app.selectbox(key=KEY("show")).value is None
    assert address(app)["catalogue"] == "kind:models"


@pytest.mark.parametrize(
    ("text", "label", "field", "value"),
    [
        ("show:mi300x", "Use this device", "hw", "mi300x"),
        ("kind:models,show:gpt-oss-120b", "Use this model", "model", "gpt-oss-120b"),
    ],
)
def test_an_entry_is_put_into_the_scenario(text, label, field, value) -> None:
    app = shown(text)
    button(app, label).click()
    app.run()
    assert address(app)[field] == value
    assert button(app, "In use on every page").disabled


def test_devices_are_compared_on_one_roofline() -> None:
    app = shown("against:h100-sxm/mi300x")
    assert len(app.get("plotly_chart")) == 1
    assert "Instinct MI300X" in app.get("plotly_chart")[0].proto.alt
    assert "<strong>B</strong> Instinct MI300X" in html(app)


def test_a_device_joins_the_comparison_by_a_button() -> None:
    app = shown("show:mi300x")
    button(app, "Add to the comparison").click()
    app.run()
    assert address(app)["catalogue"] == "show:mi300x,against:mi300x"
    assert len(app.get("plotly_chart")) == 1
    assert button(app, "Add to the comparison").disabled


def test_a_peak_that_is_not_published_is_said() -> None:
    app = shown("against:h100-sxm,dtype:fp4")
    assert "No FP4 peak is published for H100 SXM5 80GB" in html(app)
    assert not app.get("plotly_chart")


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        f"text:{'x' * 61}",
        f"vendor:{HOSTILE}",
        "against:h100-sxm/zip",
        "against:" + "/".join(hardware_ids()[:5]),
        "memory:7",
        "show:zip",
        "kind:zip",
        "x" * 900,
    ],
)
def test_a_damaged_link_is_told_and_the_scenario_stays(text) -> None:
    app = shown(text, batch="64")
    assert not app.exception
    assert FAULT not in html(app)
    assert "Part of the link could not be read" in html(app)
    assert HOSTILE not in html(app)
    assert address(app)["batch"] == "64"


def test_a_hostile_search_is_kept_as_text() -> None:
    app = shown("text:" + "%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E")
    assert app.text_input(key=KEY("text")).value == HOSTILE
    assert HOSTILE not in html(app)


def test_views_survive_the_address() -> None:
    values = {
        **USUAL,
        "kind": "models",
        "text": "a,b:c/d%",
        "year": 2024,
        "memory": 80,
        "experts": "dense",
        "show": "llama-3.1-8b",
        "against": ["h100-sxm", "mi300x"],
        "dtype": "fp8",
    }
    assert read(written(values)).values == values
    assert read("memory:0").problems == ()


@pytest.mark.parametrize("ref", hardware_ids(announced=True))
def test_every_device_can_be_read_up(ref) -> None:
    device = load_hardware(ref)
    words = device_html(device)
    assert f"Evidence {device.grade}" in words
    assert words.count('scope="row"') >= 2 + len(device.peaks)


def test_weak_facts_and_old_prices_are_marked() -> None:
    from datetime import date

    weak = next(row for row in device_rows() if row.grade == "C" and row.n_unverified)
    assert '<span class="rf-mark">unverified</span>' in device_html(load_hardware(weak.id))
    prices = prices_html(load_hardware("h100-sxm").prices, date(2036, 1, 1))
    assert prices.count("over a year old") == sum(bool(p.date) for p in load_hardware("h100-sxm").prices)
    assert prices.count("undated") >= sum(not p.date for p in load_hardware("h100-sxm").prices)


def test_files_hold_every_fact_with_its_source() -> None:
    found = json.loads(json_bytes("devices", ["h100-sxm"]))["hardware"]["h100-sxm"]
    assert found["sources"]["bandwidth"]["source"]
    assert json.loads(json_bytes("models", ["deepseek-v3"]))["models"]["deepseek-v3"]["source"]
    assert list(device_frame(device_rows())["id"]) == [row.id for row in device_rows()]
    assert "dense" in set(model_frame(model_rows())["experts"])
