"""Ways of serving that spare work, from limiting cases that can be told by hand."""

from __future__ import annotations

import itertools
import json

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.serialise import report_json
from roofline.cli import app
from roofline.dashboard.fields import asked as asked_by_controls
from roofline.dashboard.fields import control_values


def asked(**fields: object) -> Scenario:
    return Scenario.model_validate({"model": "llama-3.1-8b", "hardware": "h100-sxm", "batch": 8, **fields})


def test_every_field_of_a_scenario_travels_in_a_link() -> None:
    assert set(link._FIELDS.values()) == set(Scenario.model_fields)


def test_a_prefill_on_top_of_a_cache_computes_the_rest() -> None:
    whole, half = evaluate(asked(input_tokens=8192)), evaluate(asked(input_tokens=8192, prefix_hit=0.5))
    of_4096 = evaluate(asked(input_tokens=4096))

    def flops(report, name: str) -> float:
        return next(row.flops for row in report.operators if (row.phase, row.name) == ("prefill", name))

    assert flops(half, "mlp/down") == pytest.approx(flops(whole, "mlp/down") / 2.0)
    # the queries of the second half visit all keys but those the first half visits
    assert flops(half, "attention/full") == pytest.approx(flops(whole, "attention/full") - flops(of_4096, "attention/full"))
    assert half.memory == whole.memory
    assert half.expected.tpot_s == whole.expected.tpot_s
    assert half.expected.ttft_s < whole.expected.ttft_s
    assert half.expected.requests_per_s > whole.expected.requests_per_s


def test_a_prompt_that_is_all_cached_still_computes_its_last_token() -> None:
    report = evaluate(asked(input_tokens=1000, prefix_hit=0.9999))
    assert next(r.flops for r in report.operators if r.name == "output_head") > 0
    assert report.expected.prefill_tokens_per_s == pytest.approx(1.0 / float(report.expected.ttft_s))
    one = evaluate(asked(input_tokens=1, prefix_hit=0.9))
    assert one.cost == evaluate(asked(input_tokens=1)).cost


@pytest.mark.parametrize("load", [{"batch": 32}, {"batch": None, "request_rate": 2.0}])
@pytest.mark.parametrize("hit", [0.0, 0.3, 0.9])
def test_the_parts_of_a_request_add_up_to_its_bill(load: dict[str, object], hit: float) -> None:
    s = asked(input_tokens=6000, output_tokens=500, prefix_hit=hit, utilisation=0.5, usd_per_device_hour=3.6, devices=2, **load)
    report = evaluate(s)
    cost, expected, computed = report.cost, report.expected, 6000 * (1 - hit)
    parts = computed * cost.usd_per_million_input_tokens + 500 * cost.usd_per_million_output_tokens
    if hit:
        parts += 6000 * hit * cost.usd_per_million_cached_input_tokens
    # two devices at 0.001 USD/s, half of the time sold
    seconds = (
        1.0 / s.request_rate if s.request_rate else computed / expected.prefill_tokens_per_s + 500 / expected.output_tokens_per_s
    )
    assert parts / 1e6 == pytest.approx(0.002 * seconds / 0.5, rel=1e-9)
    assert cost.usd_per_million_tokens * 6500 == pytest.approx(parts, rel=1e-9)


def test_a_cached_token_costs_a_fraction_of_a_computed_one() -> None:
    short, long = (evaluate(asked(input_tokens=n, prefix_hit=0.5, batch=1)).cost for n in (1000, 100_000))
    for cost in (short, long):
        assert 0.0 <= cost.usd_per_million_cached_input_tokens < cost.usd_per_million_input_tokens
    assert short.usd_per_million_cached_input_tokens < 0.1 * short.usd_per_million_input_tokens
    assert long.usd_per_million_cached_input_tokens > short.usd_per_million_cached_input_tokens


def test_cached_shares_are_told_and_bounded() -> None:
    report = evaluate(asked(prefix_hit=0.25))
    assert any(a.name == "prefix cache" and "25.0%" in a.value for a in report.assumptions)
    assert report_json(report)["scenario"]["prefix_hit"] == 0.25
    for text in ("1", "-0.1", "nan"):
        decoded = link.decode({"hit": text})
        assert decoded.scenario == link.DEFAULT
        assert len(decoded.problems) == 1
    result = CliRunner().invoke(app, ["estimate", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--prefix-hit", "1"])
    assert (result.exit_code, "below 1" in result.stderr) == (2, True)


def test_the_command_line_takes_cached_shares() -> None:
    args = ["--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "4", "--json"]
    told = json.loads(CliRunner().invoke(app, ["estimate", *args, "--prefix-hit", "0.5"]).stdout)
    assert told["cost"]["usd_per_million_cached_input_tokens"] > 0
    assert "hit=0.5" in told["link"]
    rows = json.loads(CliRunner().invoke(app, ["sweep", *args, "--prefix-hit", "0,0.5,0.9"]).stdout)
    assert [row["prefix_hit"] for row in rows] == [0.0, 0.5, 0.9]
    assert all(a["expected_ttft_s"] > b["expected_ttft_s"] for a, b in itertools.pairwise(rows))


def test_a_sweep_over_cached_shares_is_the_loop_over_them() -> None:
    table = sweep(asked(), {"prefix_hit": [0.0, 0.4, 0.8], "batch": [4, 16]})
    for row in table.to_dict(orient="records"):
        report = evaluate(asked(prefix_hit=row["prefix_hit"], batch=row["batch"]))
        assert row["expected_requests_per_s"] == pytest.approx(float(report.expected.requests_per_s), rel=1e-12)


def test_a_link_keeps_on_the_page_what_no_control_shows() -> None:
    scenario = asked(prefix_hit=0.5, speculative="ngram:3@0.6", forced_output=0.2, adapters="4x8")
    assert asked_by_controls(control_values(scenario), link.DEFAULT) == (scenario, {})
