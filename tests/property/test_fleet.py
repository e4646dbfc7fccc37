"""Laws of fleets: more people never need fewer machines, shares add up, and links hold the whole question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import FleetScenario, Scenario, fleet, link
from roofline.answers.fleet_demand import daily_shape
from roofline.catalog.fleet import fleet_defaults, settled
from roofline.specs.fleet import Region

REPLICA = Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=1155, output_tokens=211)
THREE = "us:0.4:-6:0.04,eu:0.35:1:0.03,asia:0.25:8:0.06"

questions = st.builds(
    FleetScenario,
    replica=st.just(REPLICA),
    weekly_users=st.integers(1, 10**10),
    messages=st.none() | st.floats(0.01, 100),
    agent_share=st.none() | st.floats(0, 1),
    result_hit=st.none() | st.floats(0, 0.9),
    peak=st.none() | st.floats(1, 10),
    burst=st.none() | st.floats(1, 4),
    busy=st.none() | st.floats(0.1, 1),
    spares=st.none() | st.integers(0, 5),
    speed=st.none() | st.floats(1, 60),
    regions=st.just(THREE) | st.just("one:1"),
    mix=st.just("") | st.just("2xh200-sxm:0.3"),
)


@settings(max_examples=25, deadline=None)
@given(questions, st.floats(1.0, 50.0))
def test_more_users_never_need_fewer_devices(asked: FleetScenario, more: float) -> None:
    first = fleet(asked)
    second = fleet(asked.model_copy(update={"weekly_users": int(asked.weekly_users * more)}))
    assert second.devices >= first.devices
    assert second.usd_per_month >= first.usd_per_month
    assert second.provisioned_power_w >= first.provisioned_power_w


@settings(max_examples=15, deadline=None)
@given(questions)
def test_parts_of_a_fleet_add_up(asked: FleetScenario) -> None:
    report = fleet(asked)
    assert report.devices == sum(site.devices for site in report.sites) == sum(report.devices_by_hardware.values())
    calls = sum(site.calls_per_s.mean() for site in report.sites)
    assert calls == pytest.approx(report.calls_per_s)
    assert report.devices_if_pooled <= report.devices
    assert report.usd_per_user_month * asked.weekly_users == pytest.approx(report.usd_per_month)
    assert report.mean_power_w <= report.provisioned_power_w
    assert report.idle_device_hours_per_day <= 24 * report.devices
    for site in report.sites:
        assert 0 <= site.busy_frac <= 1
        assert site.ttft_seen_after_failures_s >= site.ttft_seen_s
        assert site.replicas * site.capacity.batch * site.capacity.request_s > 0
    assert all(swing.low <= swing.value <= swing.high for swing in report.swings)


@given(st.floats(1.0, 20.0), st.sampled_from([-8.0, -3.5, 0.0, 1.0, 9.0]))
def test_a_day_has_its_peak_and_its_mean(peak: float, offset: float) -> None:
    shape = daily_shape(peak, Region(name="x", share=1, utc_offset_h=offset))
    assert shape.mean() == pytest.approx(1.0)
    assert np.all(shape >= 0)
    if offset == int(offset):
        assert shape.max() == pytest.approx(peak, rel=1e-6)
        assert (int(np.argmax(shape)) + offset) % 24 == 20 or peak < 1.001


@settings(max_examples=60, deadline=None)
@given(questions)
def test_a_link_holds_the_whole_fleet(asked: FleetScenario) -> None:
    decoded = link.decode_fleet(link.encode_fleet(asked))
    assert decoded.fleet == settled(asked)
    assert not decoded.problems


@given(st.dictionaries(st.sampled_from(["f.users", "f.mix", "f.regions", "f.small", "f.peak", "f.x", "n"]), st.text(max_size=30)))
def test_any_link_to_a_fleet_is_read_or_told(query: dict[str, str]) -> None:
    decoded = link.decode_fleet(query)
    assert isinstance(decoded.fleet, FleetScenario)
    assert all(problem.endswith(".") for problem in decoded.problems)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(["peak", "burst", "busy", "messages", "speed"]))
def test_every_swing_is_the_fleet_asked_again(name: str) -> None:
    asked = FleetScenario(replica=REPLICA, weekly_users=50_000_000, regions=THREE)
    swing = {s.name.replace(" ", "_"): s for s in fleet(asked).swings}[name]
    assert swing.source == fleet_defaults()[name].source
    for end, found in ((swing.low, swing.at_low), (swing.high, swing.at_high)):
        assert fleet(asked.model_copy(update={name: end})).devices == found
