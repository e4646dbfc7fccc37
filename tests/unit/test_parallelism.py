"""What is asked of a plan beyond its ways, from first principles."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate
from roofline.answers.report import OperatorRow, Report
from roofline.errors import InputError, PlanError
from roofline.formulas.imbalance import even_routing_load_ratio, greatest_load_ratio, largest_normal_ratio
from roofline.formulas.overlap import two_batches_s

SPREAD = {"tensor_parallel": 1, "data_parallel": 16, "expert_parallel": 16}


def ask(**fields: object) -> Report:
    base = {"model": "deepseek-v3", "hardware": "h200-sxm", "devices": 16, "batch": 4096, "input_tokens": 1000}
    return evaluate(Scenario.model_validate({**base, **fields}))


def row(report: Report, name: str, phase: str = "decode") -> OperatorRow:
    return next(r for r in report.operators if r.phase == phase and r.name == name)


def test_the_largest_of_normal_draws() -> None:
    # exact means of the largest of n: 0 at one, 1 / sqrt(pi) at two, 1.4236 at eight, 2.5076 at a hundred (Harter 1961)
    exact = np.array([0.0, 1.0 / np.sqrt(np.pi), 1.4236, 2.5076])
    assert largest_normal_ratio(n_draws=np.array([1.0, 2.0, 8.0, 100.0])) == pytest.approx(exact, abs=0.2)
    assert largest_normal_ratio(n_draws=np.array([100.0])) == pytest.approx(2.5076, rel=0.02)


def test_even_routing_is_uneven_in_small_batches_only() -> None:
    drawn = np.random.default_rng(0).multinomial(16_384, np.full(64, 1 / 64), size=2000)
    mean = float(np.mean(np.max(drawn, axis=1))) / (16_384 / 64)
    assert even_routing_load_ratio(n_visits=16_384.0, n_ranks=64.0) == pytest.approx(mean, rel=0.01)
    assert even_routing_load_ratio(n_visits=1e15, n_ranks=64.0) == pytest.approx(1.0, abs=1e-5)
    assert even_routing_load_ratio(n_visits=1.0, n_ranks=8.0) <= 8.0
    assert even_routing_load_ratio(n_visits=100.0, n_ranks=1.0) == 1.0


def test_no_skew_is_greater_than_all_tokens_on_one_device() -> None:
    # 8 of 256: a device of 16 may get all eight visits of a token only if it holds eight experts, which it does
    assert greatest_load_ratio(n_ranks=16, n_experts=256, n_active_experts=8) == 16
    assert greatest_load_ratio(n_ranks=128, n_experts=256, n_active_experts=8) == 32
    worst, beyond = ask(**SPREAD, expert_skew=16.0), ask(**SPREAD, expert_skew=500.0)
    assert worst.expected == beyond.expected


def test_compute_bound_experts_take_as_much_longer_as_the_skew() -> None:
    even, skewed = (row(ask(**SPREAD, input_tokens=16_384, expert_skew=s), "experts/down", "prefill") for s in (1.0, 1.5))
    assert skewed.expected_s == pytest.approx(1.5 * even.expected_s, rel=0.05)
    assert skewed.limit_s == even.limit_s


def test_the_fullest_device_reads_no_more_than_all_its_experts() -> None:
    even, skewed = (row(ask(**SPREAD, batch=16_384, output_tokens=8, expert_skew=s), "experts/down") for s in (1.0, 1.05))
    # nearly all 16 experts of a device are touched either way
    assert skewed.expected_s < 1.06 * even.expected_s


def test_a_tensor_group_that_cuts_every_expert_has_no_skew() -> None:
    even, skewed = (ask(devices=8, tensor_parallel=8, expert_parallel=1, batch=32, expert_skew=s) for s in (1.0, 3.0))
    assert even.expected == skewed.expected


def test_the_skew_is_told() -> None:
    assert any(a.name == "expert skew" and "1.5 times" in a.value for a in ask(**SPREAD, expert_skew=1.5).assumptions)
    assert not any(a.name == "expert skew" for a in ask().assumptions)


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"expert_skew": 0.9}, InputError, "expert_skew"),
        ({"model": "llama-3.1-8b", "expert_skew": 2.0}, PlanError, "no experts"),
        ({"context_parallel": 0}, InputError, "context_parallel must be at least 1"),
        ({"context_parallel": 17}, PlanError, "needs 17 devices"),
        ({"context_parallel": 4, "tensor_parallel": 8}, PlanError, "needs 32 devices"),
        ({"context_parallel": 2, "engine": "llama-cpp"}, PlanError, "whole layers"),
        ({"context_parallel": 2, "model": "qwen3-next-80b-a3b"}, PlanError, "state runs along the sequence"),
    ],
)
def test_bad_values_say_what_would_be_right(fields: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(**fields)


def test_halves_whose_exchange_is_longer_take_twice_the_exchange() -> None:
    # DeepSeek, Insights into DeepSeek-V3, 2.3.2: 120.96 us of exchange for each of two halves and 61 layers, 14.76 ms a token
    step_s = two_batches_s(half_compute_s=61 * 100e-6, half_exchange_s=61 * 120.96e-6)
    assert step_s == pytest.approx(14.76e-3, rel=1e-3)


def test_halves_read_the_weights_twice_and_leave_the_limit() -> None:
    plain, halved = (ask(model="llama-3.1-8b", devices=1, batch=2, two_batch_overlap=t) for t in (None, True))
    assert row(halved, "mlp/down").expected_s == pytest.approx(2.0 * row(plain, "mlp/down").expected_s, rel=0.05)
    assert halved.limit == plain.limit
    assert any("nothing to hide on one device" in reason for reason in halved.reasons)


def test_halves_hide_exchanges_of_a_long_prefill() -> None:
    plain, halved = (ask(**SPREAD, batch=256, input_tokens=8192, two_batch_overlap=t) for t in (None, True))
    talk = sum(r.expected_s for r in plain.operators if r.phase == "prefill" and r.name.startswith("network/"))
    assert halved.expected.ttft_s < plain.expected.ttft_s
    assert halved.expected.ttft_s >= plain.expected.ttft_s - talk
    assert any(a.name == "two-batch overlap" for a in halved.assumptions)


def test_one_sequence_cannot_be_halved() -> None:
    plain, halved = (ask(**SPREAD, batch=16, two_batch_overlap=t) for t in (None, True))
    assert halved.expected.decode_step_s == pytest.approx(plain.expected.decode_step_s)


def test_shares_of_an_overlapped_step_sum_to_it() -> None:
    report = ask(**SPREAD, two_batch_overlap=True)
    assert sum(share.seconds for share in report.shares["decode"]) == pytest.approx(float(report.expected.decode_step_s))
    assert all(share.seconds >= 0.0 for share in report.shares["prefill"])


def shared(ways: int, **fields: object) -> Report:
    whole = {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1, "context_parallel": ways, "devices": 8}
    return ask(**{"model": "llama-3.1-8b", "batch": 1, "input_tokens": 131_072, "output_tokens": 2, **whole, **fields})


def test_devices_that_share_positions_share_prompt_and_cache() -> None:
    one, four = shared(1), shared(4)
    assert four.plan.devices_used == four.plan.context_parallel == 4
    assert four.memory.weights_bytes_per_device == one.memory.weights_bytes_per_device
    assert four.memory.kv_cache_least_bytes_per_device == pytest.approx(one.memory.kv_cache_least_bytes_per_device / 4)
    for name in ("attention/full", "mlp/down"):
        assert row(four, name, "prefill").flops == pytest.approx(row(one, name, "prefill").flops / 4)
    assert row(four, "attention/full").cache_bytes == pytest.approx(row(one, "attention/full").cache_bytes / 4, rel=1e-4)
    # one token cannot be divided: all weights are read on all of them
    assert row(four, "mlp/down").weight_bytes == row(one, "mlp/down").weight_bytes
    assert row(shared(4, batch=8), "mlp/down").flops == pytest.approx(2 * row(one, "mlp/down").flops)


def test_keys_go_round_in_prefill_and_queries_in_decode() -> None:
    report = shared(4)
    # 32 layers x 2 x 8 heads x 128 x 2 bytes a token
    keys = row(report, "network/context_exchange", "prefill")
    assert keys.network_bytes == pytest.approx(3 / 4 * 131_072 * 32 * 2 * 8 * 128 * 2)
    # one query of 32 heads x 128 out, as much back with the logarithm of a sum each
    queries = row(report, "network/context_exchange")
    assert queries.network_bytes == pytest.approx(3 / 4 * 32 * 32 * (128 + 128 + 1) * 2)


@pytest.mark.parametrize(("tokens", "published_s", "tolerance"), [(1_000_000, 77.0, 0.2), (131_072, 3.8, 0.5)])
def test_a_million_tokens_on_sixteen_nodes(tokens: int, published_s: float, tolerance: float) -> None:
    # A. Yang et al., "Context Parallelism for Scalable Million-Token Inference", 2025, abstract: Llama 3 405B on 128 H100
    report = ask(
        model="llama-3.1-405b",
        hardware="h100-sxm",
        weights="fp8",
        devices=128,
        batch=1,
        tensor_parallel=8,
        context_parallel=16,
        pipeline_parallel=1,
        input_tokens=tokens,
        output_tokens=1,
    )
    assert report.limit.ttft_s < published_s
    assert report.expected.ttft_s == pytest.approx(published_s, rel=tolerance)


def test_experts_are_spread_over_devices_that_share_positions() -> None:
    report = ask(devices=16, batch=512, tensor_parallel=1, context_parallel=16, data_parallel=1, expert_parallel=16)
    touched = 256 * (1 - (1 - 8 / 256) ** 512)
    assert row(report, "experts/down").weight_bytes == pytest.approx(58 * touched * 7168 * 2048 / 16, rel=2e-3)
