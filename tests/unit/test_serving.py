"""Ways of serving, from limiting cases that can be told by hand."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario
from roofline.answers.resolve import resolve
from roofline.performance.serving import (
    concurrency,
    few_requests,
    mixed_step,
    offered_rate,
    pipeline_fill_frac,
    prompts_course,
    saturated,
    static_batch,
)
from roofline.performance.sharding import candidates
from roofline.performance.steps import Setting


def setting(model: str = "llama-3.1-8b", hardware: str = "h100-sxm", **fields: object) -> Setting:
    base = {"model": model, "hardware": hardware, "engine": "tensorrt-llm", "weights": "fp8"}
    found = resolve(Scenario.model_validate({**base, **fields}))
    return Setting(found.structure, candidates(found.structure, found.request).scalar(), found.formats, found.machine)


def test_a_static_batch_is_its_prompts_and_then_its_tokens() -> None:
    s = setting()
    course = static_batch(s, 8.0, 500.0, 100.0)
    prompts, tokens = prompts_course(s, 8.0, 500.0), s.decode(8.0, 550.0)
    assert course.expected_s == pytest.approx(prompts.expected_s + 100.0 * tokens.expected_s)
    assert course.limit_s <= course.expected_s


def test_one_prompt_is_what_an_estimate_calls_time_to_first_token() -> None:
    from roofline import evaluate

    report = evaluate(
        Scenario(model="llama-3.1-8b", hardware="h100-sxm", engine="tensorrt-llm", weights="fp8", batch=1, input_tokens=1024)
    )
    assert prompts_course(setting(), 1.0, 1024.0).expected_s == pytest.approx(float(report.expected.ttft_s))


def test_a_mixed_step_with_hardly_a_prompt_is_a_plain_one() -> None:
    s = setting()
    plain, mixed = s.decode(32.0, 900.0), mixed_step(s, 32.0, 900.0, 1e-6, 500.0)
    assert mixed.expected_s == pytest.approx(plain.expected_s, rel=1e-6)


def test_a_mixed_step_costs_no_more_than_its_parts_apart() -> None:
    s = setting()
    plain, prompts = s.decode(32.0, 900.0), prompts_course(s, 2.0, 500.0)
    mixed = mixed_step(s, 32.0, 900.0, 1000.0, 500.0)
    assert max(plain.expected_s, prompts.expected_s) < mixed.expected_s < plain.expected_s + prompts.expected_s


def test_a_full_server_reads_every_prompt_once() -> None:
    s = setting()
    (n_mixed, _), (n_plain, _) = saturated(s, 64.0, 1000.0, 200.0).parts
    # 64 prompts of 1,000 tokens; a step takes max(1000, 1000 x 64 / 200) of them
    assert n_mixed == pytest.approx(64.0)
    assert n_plain == pytest.approx(200.0 - 64.0)


def test_more_prompt_than_output_leaves_no_plain_steps() -> None:
    (n_mixed, _), (n_plain, _) = saturated(setting(), 512.0, 20_000.0, 10.0).parts
    assert n_plain == 0.0
    assert n_mixed > 10.0


def test_a_long_queue_is_whole_turnovers_and_a_short_one_has_a_partial() -> None:
    s = setting()
    turnover = float(saturated(s, 16.0, 500.0, 100.0).expected_s)
    assert few_requests(s, 1600.0, 16.0, 500.0, 100.0).expected_s == pytest.approx(100.0 * turnover)
    assert few_requests(s, 32.0, 16.0, 500.0, 100.0).expected_s == pytest.approx(2.0 * turnover)
    assert turnover < float(few_requests(s, 24.0, 16.0, 500.0, 100.0).expected_s) < 2.0 * turnover


def test_clients_without_room_wait() -> None:
    s = setting()
    assert concurrency(s, 500.0, 16.0, 500.0, 100.0).expected_s == saturated(s, 16.0, 500.0, 100.0).expected_s
    assert concurrency(s, 4.0, 16.0, 500.0, 100.0).expected_s == saturated(s, 4.0, 500.0, 100.0).expected_s


def test_arrivals_so_rare_that_each_is_alone() -> None:
    s = setting()
    assert offered_rate(s, 1e-4, 256.0, 500.0, 100.0).expected_s == pytest.approx(
        float(s.decode(1.0, 550.0).expected_s), rel=1e-3
    )


def test_arrivals_beyond_what_is_served_fill_the_server() -> None:
    s = setting()
    full = float(saturated(s, 64.0, 500.0, 100.0).expected_s) / 100.0
    assert offered_rate(s, 1e6, 64.0, 500.0, 100.0).expected_s == pytest.approx(full)


def test_time_between_tokens_grows_with_arrivals() -> None:
    s = setting()
    times = [float(offered_rate(s, rate, 1024.0, 500.0, 100.0).expected_s) for rate in (0.1, 1.0, 5.0, 20.0, 40.0, 80.0)]
    assert np.all(np.diff(times) >= -1e-12)


def test_a_finite_burst_piles_up_less_than_an_endless_one() -> None:
    s = setting()
    endless = offered_rate(s, 1e3, 1024.0, 500.0, 100.0)
    assert offered_rate(s, 1e3, 1024.0, 500.0, 100.0, n_requests=200.0).expected_s < endless.expected_s


def test_chunks_fill_a_pipeline() -> None:
    assert float(pipeline_fill_frac(1.0, 8.0)) == 1.0
    # endless chunks: four fifths of each stage's time is hidden
    assert float(pipeline_fill_frac(1e9, 4.0)) == pytest.approx(0.2 + 0.8 / 4.0)


def test_the_last_stage_runs_the_head_once_for_every_micro_batch() -> None:
    s = setting("llama-3.1-70b", devices=4, pipeline_parallel=4, tensor_parallel=1, data_parallel=1)
    matrices = next(row for row in s.decode(64.0, 1000.0).rows if row.ops.kind == "matrix")
    repeats = dict(zip(matrices.ops.names, np.ravel(matrices.repeats), strict=True))
    assert repeats["output_head"] == 4.0
    assert repeats["mlp/down"] == 1.0
