"""Laws of ways of serving that spare work."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate
from roofline.answers.report import Report
from roofline.specs.speculation import Speculation

MODELS = ("llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b")
scenarios = st.builds(
    Scenario,
    model=st.sampled_from(MODELS),
    hardware=st.sampled_from(("h200-sxm", "mi300x", "a100-sxm-80")),
    devices=st.sampled_from((8, 16)),
    input_tokens=st.integers(1, 60_000),
    output_tokens=st.integers(1, 2_000),
    batch=st.integers(1, 500),
    tensor_parallel=st.just(8),
    pipeline_parallel=st.just(1),
    expert_parallel=st.just(1),
    weights=st.sampled_from((None, "q4_k_m")),
)
shares = st.floats(0.0, 0.999)


@settings(max_examples=60, deadline=None)
@given(scenarios, shares, shares)
def test_more_of_a_prompt_cached_is_never_slower_nor_dearer(scenario: Scenario, first: float, second: float) -> None:
    """But for reading the cache: few tokens wait for weights either way, and read on top what they do not compute."""
    few, many = (evaluate(scenario.model_copy(update={"prefix_hit": hit})) for hit in sorted((first, second)))
    assert many.memory == few.memory
    if not few.memory.fits:
        return
    reading = 1.0 + 4.0 * float(few.memory.kv_cache_bytes_per_sequence) / few.bandwidth_bytes_per_s / float(few.limit.ttft_s)
    for name in ("ttft_s", "tpot_including_ttft_s"):
        assert getattr(many.expected, name) <= getattr(few.expected, name) * reading
        assert getattr(many.limit, name) <= getattr(few.limit, name) * reading
    assert many.expected.requests_per_s >= few.expected.requests_per_s / reading
    assert many.limit.requests_per_s >= few.limit.requests_per_s / reading
    assert many.cost.usd_per_million_tokens <= few.cost.usd_per_million_tokens * reading


@settings(max_examples=60, deadline=None)
@given(scenarios, shares)
def test_cached_computed_and_output_tokens_pay_the_whole_bill(scenario: Scenario, hit: float) -> None:
    report = evaluate(scenario.model_copy(update={"prefix_hit": hit, "usd_per_device_hour": 3600.0}))
    if not report.memory.fits:
        return
    cost, expected = report.cost, report.expected
    computed = max(1.0, scenario.input_tokens * (1.0 - hit))
    cached = cost.usd_per_million_cached_input_tokens or 0.0
    assert cached >= 0.0
    parts = (
        computed * cost.usd_per_million_input_tokens
        + (scenario.input_tokens - computed) * cached
        + scenario.output_tokens * cost.usd_per_million_output_tokens
    )
    seconds = computed / expected.prefill_tokens_per_s + scenario.output_tokens / expected.output_tokens_per_s
    np.testing.assert_allclose(parts / 1e6, scenario.devices * float(seconds), rtol=1e-9)


def faster(quick: Report, slow: Report) -> None:
    """Never slower, as expected or at the limit, for one user or in total."""
    for name in ("expected", "limit"):
        a, b = getattr(quick, name), getattr(slow, name)
        assert a.tpot_s <= b.tpot_s * (1 + 1e-9)
        assert a.output_tokens_per_s >= b.output_tokens_per_s * (1 - 1e-9)
        assert a.requests_per_s >= b.requests_per_s * (1 - 1e-9)


drafts = st.sampled_from(("ngram", "llama-3.2-1b", "gpt-oss-20b"))
n_drafted = st.integers(1, 16)


@settings(max_examples=60, deadline=None)
@given(scenarios, drafts, n_drafted, shares, shares)
def test_a_draft_never_slows_down_by_being_right(scenario: Scenario, draft: str, n: int, first: float, second: float) -> None:
    reports = [drafting(scenario, draft, n, a) for a in (*sorted((first, second)), 1.0)]
    if not all(report.memory.fits for report in reports):
        return
    for worse, better in itertools.pairwise(reports):
        faster(better, worse)


@settings(max_examples=60, deadline=None)
@given(scenarios, drafts, n_drafted)
def test_a_draft_gains_at_most_its_tokens_and_nothing_if_never_right(scenario: Scenario, draft: str, n: int) -> None:
    plain, wrong, right = evaluate(scenario), drafting(scenario, draft, n, 0.0), drafting(scenario, draft, n, 1.0)
    if not wrong.memory.fits:
        return
    faster(plain, wrong)
    for name in ("expected", "limit"):
        assert getattr(plain, name).tpot_s <= getattr(right, name).tpot_s * (n + 1) * (1 + 1e-9)
        assert getattr(right, name).output_tokens_per_s <= getattr(plain, name).output_tokens_per_s * (n + 1) * (1 + 1e-9)
    assert wrong.memory.used_bytes_per_device >= plain.memory.used_bytes_per_device


def drafting(scenario: Scenario, draft: str, n: int, acceptance: float) -> Report:
    spec = Speculation(draft=draft, n_tokens=n, acceptance=acceptance)
    return evaluate(scenario.model_copy(update={"speculative": spec}))


@settings(max_examples=60, deadline=None)
@given(scenarios, shares, shares)
def test_more_forced_tokens_are_never_slower(scenario: Scenario, first: float, second: float) -> None:
    few, many = (evaluate(scenario.model_copy(update={"forced_output": f})) for f in sorted((first, second)))
    if few.memory.fits and many.memory.fits:
        faster(many, few)
