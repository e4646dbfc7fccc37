"""Laws that every estimate obeys."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.errors import MissingFactError

MODELS = ("llama-3.1-8b", "llama-3.3-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b", "qwen3-30b-a3b", "gemma-2b")
MACHINES = ("h100-sxm", "h200-sxm", "mi300x", "a100-sxm-80", "rtx4090", "epyc-9654", "apple-m2ultra")

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
    report = evaluate(scenario)
    if not finite(report):
        return
    rows = [row for row in report.operators if row.phase == "decode"]
    compute, memory = sum(r.compute_limit_s for r in rows), sum(r.memory_limit_s for r in rows)
    network = sum(r.limit_s for r in rows if r.name.startswith("network/"))
    limit = float(report.limit.decode_step_s)
    assert limit >= max(compute, memory, network) * (1 - 1e-9)
    assert limit <= max(compute + memory, network) * (1 + 1e-9)


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
def test_more_devices_never_slow_a_limit_down(model: str, machine: str, batch: int) -> None:
    limits = []
    for devices in (1, 2, 4, 8, 16, 32, 64):
        report = evaluate(Scenario(model=model, hardware=machine, devices=devices, batch=batch))
        limits.append(float(report.limit.decode_step_s))
    known = [x for x in limits if np.isfinite(x)]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(known)), limits


@settings(max_examples=40, deadline=None)
@given(scenarios, st.floats(1.01, 4.0))
def test_a_faster_device_never_slows_a_limit_down(scenario: Scenario, factor: float) -> None:
    """A device with more bandwidth, or with more FLOP/s, read from a file of the person's own."""
    from roofline.performance.machine import machine
    from roofline.performance.serving import decode_step
    from roofline.performance.sharding import candidates

    found = resolve(scenario)
    shards = candidates(found.structure, found.request)
    slow = decode_step(found.structure, shards, found.formats, found.machine, 8.0, 1000.0).limit_s
    device = found.accelerator
    fact = device.bandwidth.model_copy(update={"value": device.bandwidth.value * factor})
    quick_machine = machine(scenario, device.model_copy(update={"bandwidth": fact}), found.engine)
    assert np.all(decode_step(found.structure, shards, found.formats, quick_machine, 8.0, 1000.0).limit_s <= slow * (1 + 1e-12))


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
