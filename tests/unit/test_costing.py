"""The price sheet, the horizon of owning, a fleet's day, and the fleets to start from."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from roofline import FleetScenario, Scenario, evaluate, fleet, link
from roofline.answers.costing import cost_sheet, ordered_quotes, requests_per_user_day
from roofline.answers.fleet_day import day
from roofline.answers.fleet_examples import EXAMPLES, published_day
from roofline.answers.owning import multi_year
from roofline.answers.sensitivity import sensitivity
from roofline.catalog import fleet as fleet_catalog
from roofline.catalog import ownership
from roofline.catalog.fleet import fleet_defaults, settled
from roofline.catalog.hardware import load_hardware
from roofline.catalog.ownership import Part, owned
from roofline.errors import InputError
from roofline.specs.ownership import Ownership

LLAMA = Scenario(model="llama-3.3-70b", hardware="h200-sxm", devices=4, batch=64, weights="fp8", prefix_hit=0.25)


def test_parts_of_a_request_add_up_reserved_and_used() -> None:
    half = LLAMA.model_copy(update={"utilisation": 0.5})
    sheet = cost_sheet(evaluate(half).cost)
    by_id = {row.id: row for row in sheet.rows}
    for end in ("reserved_usd", "used_usd"):
        price = {name: getattr(row, end) for name, row in by_id.items()}
        request = (
            price["usd_per_million_input_tokens"] * 3072
            + price["usd_per_million_cached_input_tokens"] * 1024
            + price["usd_per_million_output_tokens"] * 1024
        ) / 1e6
        assert price["usd_per_request"] == pytest.approx(request)
    assert all(row.used_usd == pytest.approx(2 * row.reserved_usd) for row in sheet.rows)
    assert all(row.low_usd <= row.used_usd <= row.high_usd for row in sheet.rows)


def test_a_month_of_a_user() -> None:
    """10 requests a day over a month of 30.4375 days are 304.375 requests."""
    sheet = cost_sheet(evaluate(LLAMA).cost, 10.0)
    request, month = sheet.row("usd_per_request"), sheet.row("usd_per_user_month")
    assert month.used_usd / request.used_usd == pytest.approx(304.375)
    assert sheet.requests_per_day.source == "yours"
    assert requests_per_user_day().value == fleet_defaults()["messages"].value
    with pytest.raises(InputError, match="above 0"):
        requests_per_user_day(0.0)


def test_the_band_holds_at_a_request_rate() -> None:
    """Where requests arrive at a rate, a slow prefill leaves less for the output: every price keeps its own order."""
    cost = evaluate(LLAMA.model_copy(update={"batch": None, "request_rate": 2.0})).cost
    for row in cost_sheet(cost).rows:
        assert row.low_usd <= row.used_usd * (1 + 1e-9)
        assert row.used_usd <= row.high_usd * (1 + 1e-9)


def test_nothing_that_fits_has_no_sheet() -> None:
    assert cost_sheet(evaluate(LLAMA.model_copy(update={"hardware": "rtx4090", "devices": 1})).cost) is None


def test_quotes_are_the_newest_first() -> None:
    quotes = ordered_quotes(load_hardware("h100-sxm").prices, ("on-demand",))
    assert len(quotes) > 5
    assert [quote.date for quote in quotes] == sorted((quote.date for quote in quotes), reverse=True)
    assert all(quote.kind == "rental" for quote in quotes)


def test_renting_over_years_is_at_the_price_asked_for() -> None:
    """Two dollars an hour for four devices over a year of 8,766 hours: 70,128 USD."""
    yours = multi_year(LLAMA.model_copy(update={"usd_per_device_hour": 2.0}), 1)
    assert yours.years[1].rent_usd == pytest.approx(70_128)
    spot, usual = (multi_year(LLAMA.model_copy(update={"rental": terms}), 1) for terms in ("spot", "on-demand"))
    assert spot.years[1].rent_usd < usual.years[1].rent_usd
    assert "spot" in spot.basis


def test_a_mixed_box_has_years_or_says_what_lacks() -> None:
    box = Scenario(model="llama-3.1-8b", hardware="rtx3090+rtx4090", weights="q4_k_m", batch=1, ownership="price=1200")
    assert multi_year(box).years[0].outlay_usd > 0
    assert sensitivity(box).value is not None


def test_a_call_not_stated_is_assumed_everywhere_alike() -> None:
    """Python, the command line and links plan for the same call."""
    bare = FleetScenario(replica=Scenario(model="llama-3.1-8b", hardware="h100-sxm"), weekly_users=10**7)
    call = fleet(bare).asked.replica
    assert (call.input_tokens, call.output_tokens, call.prefix_hit) == (1155, 211, 0.366)
    through_link = link.decode_fleet(link.encode_fleet(bare)).fleet
    assert through_link == settled(bare)
    assert fleet(through_link).devices == fleet(bare).devices
    stated = FleetScenario(replica=Scenario(model="llama-3.1-8b", hardware="h100-sxm", prefix_hit=0), weekly_users=10**7)
    assert settled(link.decode_fleet(link.encode_fleet(stated)).fleet).replica.prefix_hit == 0


def test_a_day_by_hand() -> None:
    """Two regions twelve hours apart with the same people: the world's load is even but for what their hills leave."""
    replica = Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=1000, output_tokens=200, batch=64)
    report = fleet(FleetScenario(replica=replica, weekly_users=10**8, regions="a:0.5:0,b:0.5:12", peak=1.9))
    found = day(report)
    assert set(found.calls_per_s) == {"a", "b"}
    assert np.array_equal(np.roll(found.calls_per_s["a"], 12).round(6), found.calls_per_s["b"].round(6))
    assert found.total_calls_per_s.mean() == pytest.approx(report.calls_per_s)
    assert found.capacity_calls_per_s == pytest.approx(sum(s.replicas / s.capacity.request_s for s in report.sites))
    assert found.mean_idle_frac == pytest.approx(1 - report.calls_per_s / found.capacity_calls_per_s)
    assert found.night_idle_frac == found.idle_frac.max()


def test_a_fleet_that_cannot_be_has_no_day() -> None:
    assert day(fleet(FleetScenario(replica=Scenario(model="llama-3.3-70b", hardware="rtx4090")))) is None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_examples_answer_and_travel_in_a_link(example) -> None:
    report = fleet(example.fleet)
    assert report.fits, report.sentence
    assert link.decode_fleet(link.encode_fleet(example.fleet)) == link.DecodedFleet(example.fleet, ())


def test_the_published_day_of_deepseek() -> None:
    """DeepSeek-V3/R1 inference system overview: 226.75 nodes, 87,072 USD a day, 562,027 USD of revenue, 545 %."""
    by_name = {row.name: row for row in published_day()}
    for name, value in (("nodes of eight H800", 226.75), ("cost", 87_072.0), ("profit over cost", 5.45)):
        assert by_name[name].published == value
        assert by_name[name].computed == pytest.approx(value, rel=1e-3)
    assert by_name["cost"].computed == 87_072.0
    call = next(example for example in EXAMPLES if example.id == "deepseek-2025-02").fleet
    daily_output = call.weekly_users * call.messages * call.replica.output_tokens
    assert daily_output == pytest.approx(168e9, rel=1e-3)
    assert call.weekly_users * call.messages * call.replica.input_tokens == pytest.approx(608e9, rel=1e-3)


def test_units_of_assumptions_are_messages() -> None:
    assert {part.unit for part in fleet_defaults().values()} <= set(fleet_catalog._UNITS)
    for device in ("h100-sxm", "rtx4090", "apple-m4max"):
        found = owned(Ownership(), load_hardware(device))
        parts = [getattr(found, item.name) for item in fields(found)]
        assert {part.unit for part in parts if isinstance(part, Part)} - {"USD", "W", "USD/kWh"} <= set(ownership._UNITS)
