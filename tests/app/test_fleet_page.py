"""The Fleet page without a browser: examples, every assumption, what cannot be, and the link."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import link
from roofline.answers.fleet import fleet
from roofline.answers.fleet_examples import EXAMPLES
from roofline.catalog.fleet import assumed, fleet_defaults
from roofline.dashboard.fleet_files import fleet_json, steps_csv
from roofline.dashboard.quantities import CALL, DAY, PEOPLE
from roofline.dashboard.shell import FAULT
from roofline.language import told_in

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
SMALL = {"v": "1", "model": "llama-3.1-8b", "hw": "h100-sxm", "n": "1", "batch": "most", "in": "1000", "out": "200"}


def opened(page: str = "fleet", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app._page_hash = calc_hash(page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def devices(app: AppTest) -> int:
    return int(re.findall(r'<p class="rf-value">([^<]*)', html(app))[0].replace(",", ""))


def test_the_page_answers_with_every_step_and_assumption() -> None:
    app = opened(**SMALL)
    assert not app.exception
    assert FAULT not in html(app)
    asked = link.decode_fleet(address(app)).fleet
    report = fleet(asked)
    shown = html(app)
    assert report.sentence in shown
    assert devices(app) == report.devices
    assert all(step.name.replace("&", "&amp;") in shown for step in report.steps)
    assert "ServeGen" in shown
    for quantity in (*PEOPLE, *CALL, *DAY):
        field = app.number_input(key=f"page_{quantity.field}")
        part = getattr(assumed(asked), quantity.field, None)
        assert field.value == (None if part is None else pytest.approx(quantity.shown(part.value)))
    assert len(app.get("plotly_chart")) == 2
    assert all(len(chart.proto.alt) > 40 for chart in app.get("plotly_chart"))


def test_an_assumption_of_ones_own_is_marked_and_travels() -> None:
    app = opened(**SMALL)
    before = devices(app)
    app.number_input(key="page_weekly_users").set_value(70_000_000).run()
    app.number_input(key="page_result_hit").set_value(50.0).run()
    assert (address(app)["f.users"], address(app)["f.result"]) == ("70000000", "0.5")
    assert devices(app) < before / 10
    assert html(app).count("<strong>yours</strong>") >= 2
    assert devices(opened(**address(app))) == devices(app)
    app.number_input(key="page_weekly_users").set_value(int(fleet_defaults()["weekly_users"].value)).run()
    assert "f.users" not in address(app)
    elsewhere = opened("accuracy", **address(app))
    assert address(elsewhere)["f.result"] == "0.5"


def test_the_call_is_the_scenarios_own() -> None:
    app = opened(**SMALL)
    app.number_input(key="page_output_tokens").set_value(400).run()
    app.number_input(key="page_prefix_hit").set_value(36.6).run()
    assert (address(app)["out"], address(app)["hit"]) == ("400", "0.366")
    assert "Mooncake" in html(app)


def test_regions_and_other_hardware_are_read_or_told_and_kept() -> None:
    app = opened(**SMALL)
    app.text_input(key="page_regions").set_value("us:0.5:-6:0.02,asia:0.5:8:0.2").run()
    assert address(app)["f.regions"] == "us:0.5:-6:0.02,asia:0.5:8:0.2"
    assert "asia" in html(app)
    app.text_input(key="page_regions").set_value("us:0.5").run()
    assert "should add up to 1" in html(app)
    assert app.text_input(key="page_regions").value == "us:0.5"
    assert address(app)["f.regions"].startswith("us:0.5:-6")
    app.text_input(key="page_mix").set_value("mine.yaml:0.5").run()
    assert "no hardware called" in html(app).lower()
    app.text_input(key="page_mix").set_value("2xh200-sxm:0.3").run()
    assert address(app)["f.mix"] == "2xh200-sxm:0.3"
    app.text_input(key="page_mix").set_value("").run()
    assert "f.mix" not in address(app)


def test_a_small_model_takes_easy_calls_and_goes_again() -> None:
    app = opened(v="1", batch="most")
    before = devices(app)
    app.selectbox(key="page_small_model").set_value("llama-3.1-8b").run()
    assert address(app)["f.small"] == "llama-3.1-8b"
    app.text_input(key="page_small_hardware").set_value("1xh100-sxm").run()
    app.number_input(key="page_small_share").set_value(50.0).run()
    assert address(app)["f.smallshare"] == "0.5"
    assert devices(app) < before
    app.selectbox(key="page_small_model").set_value("none").run()
    assert not [key for key in address(app) if key.startswith("f.small")]
    assert devices(app) == before


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_an_example_sets_everything(example) -> None:
    app = opened(**SMALL, **{"f.spares": "7"})
    box = app.selectbox(key="fleet_example")
    box.set_value(example).run()
    assert not app.exception
    assert link.decode_fleet(address(app)) == link.DecodedFleet(example.fleet, ())
    assert fleet(example.fleet).sentence in html(app)
    assert example.note.split(".")[0] in html(app)


def test_the_published_day_stands_beside_ours() -> None:
    app = opened(**SMALL)
    app.session_state["published_open"] = True
    assert "87,072" in html(app.run())


def test_a_fixed_batch_is_told_and_can_be_freed() -> None:
    app = opened(v="1")
    assert "The batch of 128 is fixed" in html(app)
    app.button(key="free_batch").click().run()
    assert address(app)["batch"] == "most"
    assert "is fixed" not in html(app)


def test_what_cannot_be_is_said_and_the_fields_stay() -> None:
    app = opened(v="1", n="1")
    assert not app.exception
    assert "12 x H100 SXM5 80GB would do" in html(app)
    assert not app.get("plotly_chart")
    app.number_input(key="page_peak").set_value(2.5).run()
    assert address(app)["f.peak"] == "2.5"
    rate = opened(**{**SMALL, "rate": "3"} | {"batch": ""})
    assert not rate.exception


def test_damaged_values_are_told_on_every_page() -> None:
    for page in ("fleet", "accuracy"):
        app = opened(page, **SMALL, **{"f.peak": "many", "f.colour": "red", "f.users": "5000000"})
        assert "f.peak=many could not be read" in html(app)
        assert "colour" in html(app)
        assert address(app)["f.users"] == "5000000"
        assert "f.peak" not in address(app)


def test_files_hold_what_is_shown() -> None:
    report = fleet(link.decode_fleet(SMALL).fleet)
    frame = pd.read_csv(BytesIO(steps_csv(report)))
    assert list(frame["name"]) == [step.name for step in report.steps]
    found = json.loads(fleet_json(report))
    assert found["devices"] == report.devices
    assert found["asked"]["replica"]["input_tokens"] == 1000


def test_files_are_english_whatever_the_page_is_told_in() -> None:
    asked = link.decode_fleet(SMALL).fleet
    english = fleet_json(fleet(asked)), steps_csv(fleet(asked))
    with told_in("id"):
        report = fleet(asked)
        assert report.sentence != fleet_sentence(english[0])
        assert (fleet_json(report), steps_csv(report)) == english


def fleet_sentence(text: bytes) -> str:
    return str(json.loads(text)["sentence"])


@pytest.mark.parametrize("name", ["weekly_users", "spares"])
def test_a_whole_number_of_a_fleet_is_never_cut(name: str) -> None:
    app = opened()
    for value, kept in ((100.0, "100"), (2.5, "100")):
        app.number_input(key=f"page_{name}").set_value(value).run()
        assert address(app)[{"weekly_users": "f.users", "spares": "f.spares"}[name]] == kept
    assert f"must be a whole number. The page still shows {kept}" in html(app)
