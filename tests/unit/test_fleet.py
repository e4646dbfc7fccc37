"""Fleets: the chain from users to devices by hand, routing, mixes, regions, spares, and what cannot be."""

from __future__ import annotations

import json
import re
import time
from math import ceil

import pytest
from typer.testing import CliRunner

from roofline import FleetScenario, Scenario, fleet, link
from roofline.cli import app
from roofline.errors import InputError

REPLICA = Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=1000, output_tokens=200, prefix_hit=0, batch=64)
RUNNER = CliRunner()


def ask(**given: object) -> FleetScenario:
    return FleetScenario(**{"replica": REPLICA, "weekly_users": 10_000_000, **given})


def test_the_chain_by_hand() -> None:
    """10 million users, 2 messages a day, every fifth a task of six calls, a tenth cached: 416.7 calls/s on average."""
    report = fleet(ask(messages=2, agent_share=0.2, agent_calls=6, result_hit=0.1, peak=2, burst=1.5, busy=0.75, spares=2))
    assert report.calls_per_s == pytest.approx(1e7 * 2 / 86400 * 2 * 0.9)
    (site,) = report.sites
    assert site.peak_calls_per_s == pytest.approx(report.calls_per_s * 3)
    assert site.replicas == ceil(site.peak_calls_per_s * site.capacity.request_s / 0.75) + 2
    assert report.output_tokens_per_s == pytest.approx(report.calls_per_s * 200)
    by_name = {step.name: step for step in report.steps}
    assert by_name["calls per message"].value == pytest.approx(2.0)
    assert by_name["devices"].value == report.devices == site.replicas
    assert all(step.source and step.formula for step in report.steps)


def test_a_replica_carries_what_an_estimate_says() -> None:
    """Without cached prompts, calls a second of a full replica are the requests a second of a saturated server."""
    from roofline import evaluate

    (site,) = fleet(ask()).sites
    assert 1 / site.capacity.request_s == pytest.approx(float(evaluate(REPLICA).expected.requests_per_s), rel=1e-9)


def test_the_batch_gives_everybody_the_speed() -> None:
    free = REPLICA.model_copy(update={"batch": None})
    slow, quick = (fleet(ask(replica=free, speed=speed)).sites[0].capacity for speed in (20, 60))
    assert slow.batch > quick.batch
    assert quick.tokens_per_s_per_user >= 60
    assert slow.request_s < quick.request_s
    never = fleet(ask(replica=free, speed=5000))
    assert never.sites[0].capacity.batch == 1
    assert any("even one" in reason for reason in never.reasons)


def test_assumptions_name_their_source_or_are_yours() -> None:
    lines = fleet(ask(peak=1.5)).assumptions
    assert lines["peak"].endswith("(yours)")
    assert "ServeGen" not in lines["peak"]
    assert "ChatGPT" in lines["messages"]
    assert all("(" in line for line in lines.values())


def test_caches_and_routing_save_devices() -> None:
    base = fleet(ask())
    assert fleet(ask(replica=REPLICA.model_copy(update={"prefix_hit": 0.9}))).devices < base.devices
    assert fleet(ask(result_hit=0.5)).devices < base.devices
    large = ask(replica=REPLICA.model_copy(update={"model": "llama-3.3-70b", "devices": 4, "batch": None}))
    routed = large.model_copy(update={"small_model": "llama-3.1-8b", "small_hardware": "h100-sxm", "small_share": 0.5})
    found = fleet(routed)
    assert {site.pool for site in found.sites} == {
        f"{model} on {n} x H100 SXM5 80GB" for model, n in (("Llama-3.3-70B-Instruct", 4), ("Llama-3.1-8B", 1))
    }
    assert found.devices < fleet(large).devices


def test_mixed_hardware_shares_the_calls() -> None:
    report = fleet(ask(mix="2xh200-sxm:0.25"))
    calls = {site.capacity.scenario.hardware: site.calls_per_s.mean() for site in report.sites}
    assert calls["h200-sxm"] / report.calls_per_s == pytest.approx(0.25)
    assert set(report.devices_by_hardware) == {"h100-sxm", "h200-sxm"}
    assert "2 x" in report.sites[1].pool


def test_regions_peak_at_their_own_hour_and_have_their_own_way() -> None:
    report = fleet(ask(weekly_users=300_000_000, regions="us:0.5:-6:0.02,asia:0.5:8:0.2"))
    us, asia = report.sites
    assert (us.calls_per_s.argmax() - asia.calls_per_s.argmax()) % 24 == 14
    assert asia.ttft_seen_s - us.ttft_seen_s == pytest.approx(0.18, abs=0.01)
    assert report.devices_if_pooled < report.devices


def test_prefill_and_decode_may_have_devices_of_their_own() -> None:
    apart = REPLICA.model_copy(update={"devices": 4, "prefill_devices": 1, "batch": None})
    report = fleet(ask(replica=apart))
    assert report.devices == report.replicas * 4
    assert report.sites[0].capacity.tokens_per_s_per_user >= 20


def test_racks_hold_whole_systems() -> None:
    """Four DGX H100 of 10.2 kW fill a rack of 40.8 kW: 32 devices."""
    (site,) = fleet(ask()).sites
    assert site.capacity.devices_per_rack == 32
    assert site.racks == ceil(site.devices / 32)
    (wide,) = fleet(ask(rack_kw=15)).sites
    assert wide.capacity.devices_per_rack == 8


def test_a_power_budget_carries_so_many_users() -> None:
    report = fleet(ask(weekly_users=100_000_000))
    half = fleet(ask(weekly_users=100_000_000, power_budget_w=report.provisioned_power_w / 2))
    assert half.users_within_power == pytest.approx(5e7, rel=1e-6)
    assert "more than the" in half.sentence
    assert report.provisioned_power_w == pytest.approx(report.devices * 1275 * 1.3)


def test_a_fleet_that_cannot_be_says_why() -> None:
    report = fleet(ask(replica=Scenario(model="llama-3.3-70b", hardware="rtx4090")))
    assert (report.fits, report.devices, report.usd_per_month) == (False, None, None)
    assert "Does not fit" in report.sentence
    assert report.swings == ()
    unknown = fleet(ask(replica=REPLICA.model_copy(update={"hardware": "tpu-v6e"})))
    assert unknown.provisioned_power_w is None
    assert any("no power" in reason for reason in unknown.reasons)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"weekly_users": 0}, "at least 1"),
        ({"busy": 0}, "at least 1e-06"),
        ({"peak": 0.5}, "at least 1"),
        ({"regions": "us:0.5:-6"}, "add up to 0.5"),
        ({"regions": "us"}, "of the form"),
        ({"regions": ""}, "regions"),
        ({"mix": "8xmi300x"}, "of the form"),
        ({"mix": "8xmi300x:0.7,8xh200-sxm:0.7"}, "more than 1"),
        ({"small_share": 0.3}, "small model's name"),
        ({"replica": REPLICA.model_copy(update={"batch": None, "request_rate": 3.0})}, "request rate"),
        ({"people": 3}, "people is not a field known here"),
    ],
)
def test_bad_fleets_get_one_sentence(given: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        ask(**given)


def test_links_carry_a_fleet_and_open_no_file() -> None:
    asked = ask(regions="us:0.5:-6:0.02,asia:0.5:8:0.2", mix="2xh200-sxm:0.25", small_model="llama-3.2-1b", small_share=0.1)
    query = link.encode_fleet(asked)
    assert query["f.users"] == "10000000"
    assert link.decode_fleet(dict(reversed(query.items()))) == link.DecodedFleet(asked, ())
    assert link.decode(query).problems == ()
    for key, text in (("f.small", "/etc/passwd"), ("f.mix", "mine.yaml:0.5"), ("f.users", "many"), ("f.colour", "red")):
        decoded = link.decode_fleet({**query, key: text})
        assert any(problem.startswith((key, f"'{key}'")) for problem in decoded.problems)
        assert decoded.fleet.replica == asked.replica


def test_the_command_answers() -> None:
    base = ["fleet", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--weekly-users", "5000000", "--spares", "2"]
    result = RUNNER.invoke(app, [*base, "--json"])
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["asked"]["replica"]["input_tokens"], answer["asked"]["replica"]["prefix_hit"]) == (1155, 0.366)
    assert answer["devices"] > 0
    assert "f.users=5000000" in answer["link"]
    assert link.from_query(answer["link"]).problems == ()
    assert RUNNER.invoke(app, base).stdout.count("\n") > 15
    bad = RUNNER.invoke(app, [*base, "--regions", "moon:2"])
    assert bad.exit_code == 2
    assert len(bad.stderr.strip().splitlines()) == 1


def test_a_fleet_is_planned_quickly() -> None:
    replica = Scenario(model="deepseek-v3", hardware="h200-sxm", devices=16, input_tokens=1155, output_tokens=211)

    def once(users: int) -> float:
        start = time.perf_counter()
        fleet(FleetScenario(replica=replica, weekly_users=users))
        return time.perf_counter() - start

    assert min(once(users) for users in (10**6, 10**8, 10**9)) < 1.0


@pytest.mark.parametrize("users", [10**power for power in range(5, 11)])
def test_large_numbers_are_told_one_way(users: int) -> None:
    """1.06 billion, not 1,060 million: a named power of a thousand stands after less than a thousand of it."""
    answer = fleet(FleetScenario(weekly_users=users, replica=Scenario(model="gpt-oss-120b", hardware="h100-sxm", batch=8)))
    assert not re.findall(r"\d,\d{3} (?:thousand|million|billion)", answer.sentence)


@pytest.mark.parametrize("rack_kw", [0.001, 10.0])
def test_a_rack_of_ones_own_that_feeds_no_system_holds_none(rack_kw: float) -> None:
    """A DGX H100 takes 10.2 kW."""
    found = fleet(ask(rack_kw=rack_kw))
    assert found.racks is None
    assert all(site.racks is None for site in found.sites)
    assert any("10.2 kW" in reason and "no racks" in reason for reason in found.reasons)
    assert not any("no racks" in reason for reason in fleet(ask(rack_kw=10.3)).reasons)


def test_power_that_feeds_no_replica_carries_nobody() -> None:
    report = fleet(ask())
    one = report.provisioned_power_w / report.replicas
    for budget, feeds in ((1.0, False), (0.99 * one, False), (1.01 * one, True)):
        found = fleet(ask(power_budget_w=budget))
        assert (found.users_within_power is not None) == feeds
        assert any("No users within" in reason for reason in found.reasons) != feeds
        assert ("there are for" in found.sentence) == feeds
