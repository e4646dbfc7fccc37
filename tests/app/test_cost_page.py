"""The Cost page without a browser: its numbers, every basis of a price, the API, and what travels in the link."""

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
from roofline.answers.api import against_api
from roofline.answers.costing import cost_sheet
from roofline.answers.evaluate import evaluate
from roofline.dashboard.cost_files import cost_json, prices_csv
from roofline.dashboard.cost_view import CostView, read, written
from roofline.dashboard.shell import FAULT
from roofline.figures.words import sig
from roofline.language import told_in
from roofline.specs.scenario import Scenario

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")
LLAMA = {"v": "1", "model": "llama-3.3-70b", "hw": "h200-sxm", "n": "4", "w": "fp8", "batch": "64"}


def opened(page: str = "cost", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app._page_hash = calc_hash(page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def scenario(app: AppTest) -> Scenario:
    return link.decode(address(app)).scenario


def values(app: AppTest) -> list[str]:
    return re.findall(r'<p class="rf-value">([^<]*)', html(app))


def pressed(app: AppTest, label: str, value: str) -> AppTest:
    group = next(item for item in app.get("button_group") if item.proto.label == label)
    return group.set_value(value).run()


def test_the_page_opens_with_reserved_and_used() -> None:
    app = opened(**LLAMA, util="0.5")
    assert not app.exception
    assert FAULT not in html(app)
    sheet = cost_sheet(evaluate(scenario(app)).cost)
    output = sheet.row("usd_per_million_output_tokens")
    assert values(app)[0] == sig(output.used_usd)
    for words in ("Reserved: busy all the time", "Used: 50% of the time", sig(output.reserved_usd), "One user, a month"):
        assert words in html(app)
    assert len(app.get("plotly_chart")) == 2
    assert all(len(chart.proto.alt) > 40 for chart in app.get("plotly_chart"))


def test_every_basis_of_a_price_is_chosen_on_the_page() -> None:
    app = opened(**LLAMA)
    pressed(app, "Basis of the price", "owned")
    assert scenario(app).ownership is not None
    assert "staff and repair" in html(app)
    app.number_input(key="page_price_usd").set_value(25_000.0).run()
    app.number_input(key="page_residual_frac").set_value(20.0).run()
    found = scenario(app).ownership
    assert (found.price_usd, found.residual_frac, found.life_years) == (25_000.0, 0.2, None)
    pressed(app, "Basis of the price", "power")
    assert scenario(app).ownership.power_only
    assert scenario(app).ownership.price_usd == 25_000.0
    pressed(app, "Basis of the price", "yours")
    assert scenario(app).ownership is None
    app.number_input(key="page_usd_per_device_hour").set_value(2.5).run()
    assert address(app)["usd"] == "2.5"
    pressed(app, "Basis of the price", "rental")
    assert scenario(app).usd_per_device_hour is None
    pressed(app, "Terms of renting", "spot")
    assert address(app)["rent"] == "spot"
    assert "newest spot quotes" in html(app)


def test_what_is_in_force_is_what_is_selected() -> None:
    """Nobody rents out an Apple machine: its price is that of owning it, and the fields for that are there."""
    for hardware, kind in (("apple-m4max", "owned"), ("h200-sxm", "rental")):
        app = opened(v="1", model="llama-3.1-8b", hw=hardware, w="q4_k_m", batch="1")
        cost = evaluate(scenario(app)).cost
        assert cost.price_kind == {"owned": "ownership", "rental": "rental"}[kind]
        basis = next(item for item in app.get("button_group") if item.proto.label == "Basis of the price")
        assert basis.value == kind
        fields = {item.key for item in app.number_input}
        assert ("page_price_usd" in fields) is (kind == "owned")
        assert ("Nobody is known to rent this device out" in html(app)) is (kind == "owned")
    app = opened(v="1", model="llama-3.1-8b", hw="apple-m4max", w="q4_k_m", batch="1")
    app.number_input(key="page_price_usd").set_value(5_000.0).run()
    assert scenario(app).ownership.price_usd == 5_000.0


def test_break_even_and_payback_agree() -> None:
    dear = html(opened(**LLAMA, own="on", cost="api:0.1/0.1/0.1"))
    assert "never, at this price and speed" in dear
    assert "not within its life of 48.0 months" in dear
    assert "not bought" in html(opened(**LLAMA))


def test_small_amounts_are_plain_decimals() -> None:
    small = {"v": "1", "model": "qwen2.5-0.5b", "hw": "apple-m4max", "n": "1", "w": "q4_k_m", "batch": "64", "own": "power"}
    app = opened(**small, **{"in": "16", "out": "16"})
    shown = html(app)
    assert evaluate(scenario(app)).cost.used.usd_per_request < 1e-6
    assert not re.findall(r"\d(?:\.\d+)?e-\d+", re.sub(r"<[^>]*>", " ", shown))
    assert "0.0000" in values(app)[2]


def test_a_quote_becomes_ones_own_price() -> None:
    app = opened(**LLAMA, usd="2")
    box = app.selectbox(key="page_quote")
    box.set_value(box.options[0]).run()
    assert scenario(app).usd_per_device_hour not in (None, 2.0)


def test_utilisation_doubles_what_is_used_and_leaves_what_is_reserved() -> None:
    app = opened(**LLAMA)
    before = cost_sheet(evaluate(scenario(app)).cost).row("usd_per_million_output_tokens")
    app.number_input(key="page_utilisation").set_value(50.0).run()
    assert address(app)["util"] == "0.5"
    assert values(app)[0] == sig(2 * before.used_usd)
    app.number_input(key="page_prefix_hit").set_value(30.0).run()
    assert scenario(app).prefix_hit == 0.3


def test_the_api_the_requests_and_the_years_travel_in_the_link() -> None:
    app = opened(**LLAMA)
    assert "groq/llama-3.3-70b is 0.59 USD" in html(app)
    app.selectbox(key="page_api").set_value("openai/gpt-4o-mini").run()
    app.number_input(key="page_requests").set_value(20.0).run()
    app.selectbox(key="page_years").set_value(6).run()
    assert address(app)["cost"] == "api:openai/gpt-4o-mini,requests:20,years:6"
    other = opened(**address(app))
    assert values(other) == values(app)
    assert "at 20.0 requests a day (yours)" in html(other)
    assert against_api(scenario(app), "openai/gpt-4o-mini").sentence in html(other)
    elsewhere = opened("accuracy", **address(app))
    assert address(elsewhere)["cost"] == address(app)["cost"]


def test_prices_of_ones_own_stand_for_an_api() -> None:
    app = opened(**LLAMA, cost="api:10/1/40")
    assert "cheaper than your API price above" in html(app)
    app.number_input(key="page_api_2").set_value(80.0).run()
    assert address(app)["cost"] == "api:10/1/80"
    never = opened(**LLAMA, cost="api:0.01/0/0.01")
    assert "The lines never cross" in html(never)
    assert "never, at this price and speed" in html(never)


def test_a_grid_changes_the_grams() -> None:
    app = opened(**LLAMA)
    assert "as no grid is chosen" in html(app)
    app.selectbox(key="page_grid").set_value("fra").run()
    assert address(app)["grid"] == "fra"
    assert "France" in html(app)
    assert "as no grid is chosen" not in html(app)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"n": "1"}, "12 x H100 SXM5 80GB would do"),
        ({"model": "llama-3.1-8b", "hw": "tpu-v6e", "own": "on"}, "no purchase price of this device is known"),
        ({"rate": "3"}, "The load is a request rate"),
        ({"model": "llama-3.1-8b", "hw": "rtx3090+rtx4090", "w": "q4_k_m", "batch": "1"}, "No purchase price"),
        ({"tp": "3"}, "This cannot be priced"),
    ],
)
def test_what_cannot_be_is_said_in_words(query, words) -> None:
    app = opened(v="1", **query)
    assert not app.exception
    assert FAULT not in html(app)
    assert words in html(app)


def test_damaged_values_are_told_and_the_rest_kept() -> None:
    app = opened(**LLAMA, cost="api:nobody/none,years:99,colour:red,requests:5")
    shown = html(app)
    for words in ("cost=api:nobody/none could not be read", "years must be a whole number", "only api, requests and years"):
        assert words in shown
    assert address(app)["cost"] == "requests:5"
    assert read("requests:lots")[1] == (
        "cost=requests:lots could not be read: requests of a user a day must be a number. Left at its default.",
    )
    view = CostView("0.5/0.1/2", 3.0, 4)
    assert read(written(view)) == (view, ())


def test_files_hold_what_is_shown() -> None:
    report = evaluate(link.decode(LLAMA).scenario)
    sheet = cost_sheet(report.cost)
    frame = pd.read_csv(BytesIO(prices_csv(sheet)))
    assert list(frame["used_usd"]) == pytest.approx([row.used_usd for row in sheet.rows])
    found = json.loads(cost_json(report))
    assert found["cost"]["used"]["usd_per_million_output_tokens"] == report.cost.usd_per_million_output_tokens
    assert found["sensitivity"]["swings"]


def test_files_are_english_whatever_the_page_is_told_in() -> None:
    scenario = link.decode({**LLAMA, "own": "on"}).scenario
    english = cost_json(evaluate(scenario))
    with told_in("id"):
        report = evaluate(scenario)
        assert cost_json(report) == english
