"""Laws that every estimate obeys."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.evaluate import workload
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.errors import MissingFactError
from roofline.performance.machine import machine, rates
from roofline.performance.planning import choose
from roofline.specs.hardware import Accelerator
from roofline.specs.lora import Adapters
from roofline.specs.speculation import Speculation

MODELS = ("llama-3.1-8b", "llama-3.3-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b", "qwen3-30b-a3b", "gemma-2b")
MACHINES = ("h100-sxm", "h200-sxm", "mi300x", "a100-sxm-80", "rtx4090", "epyc-9654", "apple-m2ultra")


def drafted(draft: str, n_tokens: int, acceptance: float) -> Speculation:
    return Speculation(draft=draft, n_tokens=n_tokens, acceptance=acceptance)


scenarios = st.builds(
    Scenario,
    model=st.sampled_from(MODELS),
    hardware=st.sampled_from(MACHINES),
    devices=st.sampled_from((1, 2, 4, 8, 16, 24)),
    input_tokens=st.integers(1, 60_000),
    output_tokens=st.integers(1, 4_000),
    batch=st.none() | st.integers(1, 3_000),
    weights=st.sampled_from((None, "bf16", "fp8", "q4_k_m")),
    kv_cache=st.sampled_from((None, "fp8")),
    utilisation=st.floats(0.05, 1.0),
    prefix_hit=st.just(0.0) | st.floats(0.0, 0.99),
    speculative=st.none()
    | st.builds(drafted, st.sampled_from(("ngram", "llama-3.2-1b")), st.integers(1, 8), st.floats(0.0, 1.0)),
    forced_output=st.just(0.0) | st.floats(0.0, 0.9),
    adapters=st.none() | st.builds(Adapters, count=st.integers(1, 100), rank=st.sampled_from((8, 64))),
)


def finite(report: Report) -> bool:
    return bool(np.isfinite(report.expected.decode_step_s))


@settings(max_examples=150, deadline=None)
@given(scenarios)
def test_nothing_expected_beats_the_limit(scenario: Scenario) -> None:
    report = evaluate(scenario)
    if not finite(report):
        assert not report.memory.fits
        assert report.reasons
        return
    for low, mean, limit in (
        (report.expected_low.decode_step_s, report.expected.decode_step_s, report.limit.decode_step_s),
        (report.expected_low.ttft_s, report.expected.ttft_s, report.limit.ttft_s),
    ):
        assert limit <= low <= mean
    for high, mean, limit in (
        (report.expected_high.output_tokens_per_s, report.expected.output_tokens_per_s, report.limit.output_tokens_per_s),
        (
            report.expected_high.request_output_tokens_per_s,
            report.expected.request_output_tokens_per_s,
            report.limit.request_output_tokens_per_s,
        ),
    ):
        assert limit * (1 + 1e-12) >= high >= mean


@settings(max_examples=100, deadline=None)
@given(scenarios)
def test_the_limit_lies_between_the_longer_and_the_sum(scenario: Scenario) -> None:
    """Of the plan; where the plan is open, the limit is the best of all plans and no longer than that. Drafts run one by one."""
    report = evaluate(scenario.model_copy(update={"speculative": None}))
    if not finite(report):
        return
    rows = [row for row in report.operators if row.phase == "decode"]
    compute, memory = sum(r.compute_limit_s for r in rows), sum(r.memory_limit_s for r in rows)
    network = sum(r.limit_s for r in rows if r.name.startswith("network/"))
    limit = float(report.limit.decode_step_s)
    assert limit <= max(compute + memory, network) * (1 + 1e-9)
    if scenario.devices == 1:
        assert limit >= max(compute, memory, network) * (1 - 1e-9)


@settings(max_examples=100, deadline=None)
@given(scenarios)
def test_memory_parts_sum_to_what_is_shown(scenario: Scenario) -> None:
    memory = evaluate(scenario).memory
    parts = (
        memory.weights_bytes_per_device,
        memory.kv_cache_bytes_per_device,
        memory.activation_bytes_per_device,
        memory.overhead_bytes_per_device,
    )
    assert memory.used_bytes_per_device == pytest.approx(sum(parts), rel=1e-12)
    if memory.fits:
        assert memory.used_bytes_per_device <= memory.usable_bytes_per_device * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(scenarios, st.integers(1, 200))
def test_more_batch_never_lowers_throughput_until_memory_is_full(scenario: Scenario, batch: int) -> None:
    small, large = (scenario.model_copy(update={"batch": b, "data_parallel": 1}) for b in (batch, 2 * batch))
    first, second = evaluate(small), evaluate(large)
    if finite(first) and finite(second) and first.plan == second.plan:
        assert second.limit.output_tokens_per_s >= first.limit.output_tokens_per_s * (1 - 1e-9)
        assert second.expected.output_tokens_per_s >= first.expected.output_tokens_per_s * (1 - 1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("machine", ["h100-sxm", "rtx3090", "mi300x"])
@pytest.mark.parametrize("batch", [1, 64])
def test_more_devices_never_slow_a_limit_or_an_expectation_down(model: str, machine: str, batch: int) -> None:
    table = [
        evaluate(Scenario(model=model, hardware=machine, devices=n, batch=batch, output_tokens=256))
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 17, 24, 32, 41, 64)
    ]
    fitting = [report for report in table if finite(report)]
    for fewer, more in itertools.pairwise(fitting):
        for name in ("decode_step_s", "ttft_s"):
            assert getattr(more.limit, name) <= getattr(fewer.limit, name) * (1 + 1e-9), (name, more.plan)
        assert more.expected.requests_per_s >= fewer.expected.requests_per_s * (1 - 1e-6), more.plan


@settings(max_examples=40, deadline=None)
@given(scenarios, st.floats(1.01, 4.0))
def test_a_faster_device_never_slows_a_limit_down(scenario: Scenario, factor: float) -> None:
    """A device with more bandwidth, or with more FLOP/s, read from a file of the person's own."""
    found = resolve(scenario)
    device = found.accelerator
    load = workload([scenario.model_copy(update={"batch": scenario.batch or 4})])
    before = choose(found.structure, found.request, found.formats, found.machine, load)
    quick = machine(scenario, quicker(device, factor), found.engine)
    swift = rates(scenario, found.model, quicker(device, factor), found.engine)
    after = choose(found.structure, found.request, swift, quick, load)
    if before.best is None or after.best is None or not before.fits[0]:
        return
    for name in ("step_s", "ttft_s", "system_prompt_s", "request_s"):
        assert getattr(after.best, name)[0] <= getattr(before.best, name)[0] * (1 + 1e-12)


def quicker(device: Accelerator, factor: float) -> Accelerator:
    """More bandwidth and more FLOP/s."""
    bandwidth = device.bandwidth.model_copy(update={"value": device.bandwidth.value * factor})
    peaks = {key: fact.model_copy(update={"value": fact.value * factor}) for key, fact in device.peaks.items()}
    return device.model_copy(update={"bandwidth": bandwidth, "peaks": peaks})


@settings(max_examples=200, deadline=None)
@given(scenarios)
def test_a_link_holds_the_whole_scenario(scenario: Scenario) -> None:
    decoded = link.decode(link.encode(scenario))
    assert decoded.scenario == scenario
    assert not decoded.problems
    assert link.from_query(link.to_query(scenario)).scenario == scenario


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=40), max_size=8))
def test_any_link_is_read_or_told(query: dict[str, str]) -> None:
    decoded = link.decode(query)
    assert isinstance(decoded.scenario, Scenario)
    assert all(problem.endswith(".") for problem in decoded.problems)


@settings(max_examples=25, deadline=None)
@given(scenarios, st.lists(st.integers(1, 500), min_size=1, max_size=4), st.lists(st.integers(1, 9_000), min_size=1, max_size=3))
def test_a_sweep_is_the_loop_over_its_points(scenario: Scenario, batches: list[int], prompts: list[int]) -> None:
    table = sweep(scenario, {"batch": batches, "input_tokens": prompts})
    assert len(table) == len(batches) * len(prompts)
    for row in table.to_dict(orient="records"):
        report = evaluate(scenario.model_copy(update={"batch": int(row["batch"]), "input_tokens": int(row["input_tokens"])}))
        assert bool(row["fits"]) == report.memory.fits
        assert row["tensor_parallel_used"] == report.plan.tensor_parallel
        np.testing.assert_allclose(row["expected_output_tokens_per_s"], float(report.expected.output_tokens_per_s), rtol=1e-12)
        np.testing.assert_allclose(row["limit_ttft_s"], float(report.limit.ttft_s), rtol=1e-12)


@pytest.mark.parametrize("device", hardware_ids())
def test_every_device_answers_or_names_the_missing_fact(device: str) -> None:
    if not {"bf16", "fp16", "fp32"} & set(load_hardware(device).peaks):
        with pytest.raises(MissingFactError, match="no published"):
            evaluate(Scenario(model="qwen2.5-0.5b", hardware=device, batch=1))
        return
    report = evaluate(Scenario(model="qwen2.5-0.5b", hardware=device, batch=1))
    assert report.memory.fits is (report.memory.max_batch >= 1)
    if report.memory.fits:
        assert report.limit.decode_step_s > 0
