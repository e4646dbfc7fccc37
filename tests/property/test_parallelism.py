"""Laws of what a scenario asks of its plan."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link
from roofline.answers.report import Report

loads = st.fixed_dictionaries(
    {
        "model": st.sampled_from(("deepseek-v3", "mixtral-8x7b", "gpt-oss-20b", "qwen3-30b-a3b")),
        "hardware": st.sampled_from(("h100-sxm", "h200-sxm", "mi300x", "a100-sxm-80")),
        "devices": st.sampled_from((8, 16, 32)),
        "input_tokens": st.integers(1, 30_000),
        "output_tokens": st.integers(1, 2_000),
        "batch": st.none() | st.integers(1, 2_000),
    }
)


def holds(report: Report) -> None:
    """The limit is never beaten, nor is anything negative."""
    if not report.memory.fits:
        assert report.reasons
        return
    limit, expected = report.limit, report.expected
    assert 0.0 < limit.decode_step_s <= report.expected_low.decode_step_s <= expected.decode_step_s
    assert 0.0 < limit.ttft_s <= report.expected_low.ttft_s <= expected.ttft_s
    for name in ("output_tokens_per_s", "request_output_tokens_per_s", "requests_per_s"):
        assert getattr(limit, name) * (1 + 1e-9) >= getattr(report.expected_high, name) >= getattr(expected, name)


@settings(max_examples=60, deadline=None)
@given(loads, st.floats(1.0, 40.0), st.floats(1.0, 4.0))
def test_more_skew_is_never_faster_and_leaves_the_limit(load: dict[str, object], skew: float, growth: float) -> None:
    fixed = {"tensor_parallel": 1, "data_parallel": load["devices"], "expert_parallel": 8}
    even, some, more = (evaluate(Scenario(**load, **fixed, expert_skew=s)) for s in (1.0, skew, skew * growth))
    for report in (even, some, more):
        holds(report)
    if even.memory.fits:
        for name in ("decode_step_s", "ttft_s"):
            assert getattr(even.expected, name) <= getattr(some.expected, name) * (1 + 1e-12)
            assert getattr(some.expected, name) <= getattr(more.expected, name) * (1 + 1e-12)
            np.testing.assert_allclose(getattr(even.limit, name), getattr(more.limit, name), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(loads)
def test_asking_for_nothing_changes_nothing(load: dict[str, object]) -> None:
    plain = evaluate(Scenario(**load))
    nothing = Scenario(**load, context_parallel=1, expert_skew=1.0, two_batch_overlap=False, prefill_devices=None)
    asked = evaluate(nothing)
    for name in ("limit", "expected", "expected_low", "expected_high"):
        np.testing.assert_equal(vars(getattr(asked, name)), vars(getattr(plain, name)))
    assert asked.plan == plain.plan
    assert asked.memory == plain.memory


@settings(max_examples=60, deadline=None)
@given(loads)
def test_two_halves_leave_the_limit(load: dict[str, object]) -> None:
    plain, halved = (evaluate(Scenario(**load, tensor_parallel=8, two_batch_overlap=t)) for t in (False, True))
    holds(halved)
    if plain.memory.fits and load["batch"] is not None:
        np.testing.assert_allclose(float(halved.limit.decode_step_s), float(plain.limit.decode_step_s), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(loads, st.sampled_from((1, 2, 3, 4, 8)), st.booleans())
def test_shared_positions_never_beat_the_limit(load: dict[str, object], ways: int, halves: bool) -> None:
    report = evaluate(Scenario(**load, context_parallel=ways, two_batch_overlap=halves))
    holds(report)
    assert report.plan.context_parallel == ways
    assert report.plan.devices_used <= report.scenario.devices
    assert report.memory.used_bytes_per_device <= report.memory.usable_bytes_per_device or not report.memory.fits


@settings(max_examples=40, deadline=None)
@given(loads, st.sampled_from((1, 2, 4)))
def test_more_devices_never_slow_the_limit_of_shared_positions(load: dict[str, object], ways: int) -> None:
    scenario = Scenario(**{**load, "batch": 16}, context_parallel=ways)
    fewer, more = (evaluate(scenario.model_copy(update={"devices": n * scenario.devices})) for n in (1, 2))
    if fewer.memory.fits:
        for name in ("decode_step_s", "ttft_s"):
            assert getattr(more.limit, name) <= getattr(fewer.limit, name) * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(loads, st.sampled_from((0, 2, 3, 6)), st.sampled_from((1, 2)), st.booleans())
def test_pools_apart_never_beat_their_limit(load: dict[str, object], split: int, ways: int, halves: bool) -> None:
    report = evaluate(Scenario(**load, prefill_devices=split, context_parallel=ways, two_batch_overlap=halves))
    holds(report)
    assert report.prefill_plan is not None
    assert report.prefill_plan.devices_used + report.plan.devices_used <= report.scenario.devices


@settings(max_examples=20, deadline=None)
@given(loads)
def test_the_best_split_serves_no_fewer_than_any_other(load: dict[str, object]) -> None:
    scenario = Scenario(**{**load, "devices": 8})
    best = evaluate(scenario.model_copy(update={"prefill_devices": 0}))
    for split in range(1, 8):
        other = evaluate(scenario.model_copy(update={"prefill_devices": split}))
        if other.memory.fits:
            assert best.expected.requests_per_s >= other.expected.requests_per_s * (1 - 1e-6)


@settings(max_examples=60, deadline=None)
@given(loads, st.floats(1.0, 40.0), st.none() | st.booleans(), st.integers(1, 8))
def test_a_link_holds_what_is_asked(load: dict[str, object], skew: float, halves: bool | None, ways: int) -> None:
    scenario = Scenario(**load, expert_skew=skew, two_batch_overlap=halves, context_parallel=ways)
    assert link.from_query(link.to_query(scenario)).scenario == scenario
