"""Prompts beside running sequences, from limiting cases."""

from __future__ import annotations

import itertools
import json

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate
from roofline.answers.resolve import resolve
from roofline.answers.serialise import report_json
from roofline.answers.under_load import under_load
from roofline.cli import app
from roofline.performance.interference import Interference
from roofline.performance.serving import mixed_step, saturated
from roofline.performance.sharding import candidates
from roofline.performance.steps import Setting


def asked(**fields: object) -> Scenario:
    base = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "batch": 32, "input_tokens": 1000, "output_tokens": 500}
    return Scenario.model_validate({**base, **fields})


def loaded(scenario: Scenario) -> Interference:
    found = under_load(evaluate(scenario))
    assert found is not None
    return found


def setting(scenario: Scenario) -> Setting:
    found = resolve(scenario)
    return Setting(found.structure, candidates(found.structure, found.request).scalar(), found.formats, found.machine)


def test_a_full_server_carries_one_prompt_for_each_that_ends() -> None:
    found = loaded(asked())
    # 32 prompts of 1,000 tokens in 500 steps, one at a time
    assert found.chunk_tokens == 1000
    assert found.chunk_steps_frac == pytest.approx(32 / 500)
    turnover = saturated(setting(asked()), 32.0, 1000.0, 500.0)
    assert found.tpot_s == pytest.approx(float(turnover.expected_s) / 500)


def test_users_wait_for_prompts() -> None:
    report = evaluate(asked())
    found = loaded(asked())
    assert report.expected.tpot_s < found.tpot_s < found.chunk_step_s
    assert found.chunk_step_s < float(report.expected.tpot_s) + float(report.expected.ttft_s)


def test_prompts_of_one_token_are_hardly_felt() -> None:
    scenario = asked(input_tokens=1, output_tokens=2000)
    assert loaded(scenario).tpot_s == pytest.approx(float(evaluate(scenario).expected.tpot_s), rel=1e-3)


def test_with_more_prompt_than_output_every_step_carries_a_chunk() -> None:
    found = loaded(asked(input_tokens=30_000, output_tokens=4, batch=8))
    assert found.chunk_steps_frac == 1.0
    assert found.chunk_tokens == 8192
    assert found.tpot_s == found.chunk_step_s


def test_rare_arrivals_are_not_felt_and_frequent_ones_are() -> None:
    rare = asked(batch=None, request_rate=1e-3)
    assert loaded(rare).tpot_s == pytest.approx(float(evaluate(rare).expected.decode_step_s), rel=1e-3)
    found = [loaded(asked(batch=None, request_rate=rate)) for rate in (0.1, 1.0, 5.0, 10.0)]
    for name in ("tpot_s", "chunk_steps_frac"):
        assert all(getattr(a, name) < getattr(b, name) for a, b in itertools.pairwise(found))
    # as many chunks as requests: q T
    assert found[2].chunk_steps_frac == pytest.approx(5.0 * found[2].tpot_s)


def test_a_prefix_cache_and_a_draft_shorten_the_wait() -> None:
    plain = loaded(asked())
    assert loaded(asked(prefix_hit=0.8)).chunk_tokens == pytest.approx(200)
    assert loaded(asked(prefix_hit=0.8)).tpot_s < plain.tpot_s
    assert loaded(asked(speculative="ngram:2@0.7")).tpot_s < plain.tpot_s


def test_a_mixed_step_of_several_tokens_with_hardly_a_prompt_is_a_plain_one() -> None:
    s = setting(asked(speculative="ngram:3@0.5", forced_output=0.3, adapters="8x16", prefix_hit=0.5))
    plain, mixed = s.decode(32.0, 900.0), mixed_step(s, 32.0, 900.0, 1e-6, 500.0)
    assert mixed.expected_s == pytest.approx(plain.expected_s, rel=1e-6)


def test_the_wait_is_told_where_the_load_fits() -> None:
    assert report_json(evaluate(asked(batch=100_000)))["under_load"] is None
    args = ["estimate", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "8"]
    assert set(json.loads(CliRunner().invoke(app, [*args, "--json"]).stdout)["under_load"]) == {
        "chunk_tokens", "chunk_step_s", "chunk_steps_frac", "tpot_s"
    }  # fmt: skip
    assert "under load" in CliRunner().invoke(app, args).stdout
