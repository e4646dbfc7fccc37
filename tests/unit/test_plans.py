"""Parallel plans from first principles: what a device holds, what a step sends, what is legal."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.errors import PlanError


def ask(**fields: object) -> Report:
    base = {
        "model": "llama-3.1-70b",
        "hardware": "h100-sxm",
        "devices": 8,
        "weights": "bf16",
        "batch": 16,
        "input_tokens": 2000,
        "output_tokens": 256,
    }
    return evaluate(Scenario.model_validate({**base, **fields}))


def test_tensor_parallel_divides_weights_and_cache() -> None:
    one = ask(devices=8, tensor_parallel=1, pipeline_parallel=8)
    eight = ask(tensor_parallel=8)
    # 70.55e9 parameters in bf16; norms stay whole on every rank
    assert eight.memory.weights_bytes_per_device == pytest.approx(2 * 70.5537e9 / 8, rel=1e-3)
    # eight cache heads over eight ranks: 80 layers x 2 x 1 x 128 x 2 bytes a token
    assert eight.memory.kv_cache_bytes_per_sequence == pytest.approx(80 * 2 * 128 * 2 * 2256)
    assert one.memory.kv_cache_bytes_per_sequence == pytest.approx(8 * eight.memory.kv_cache_bytes_per_sequence)


def test_cache_heads_are_copied_when_ranks_outnumber_them() -> None:
    eight = ask(tensor_parallel=8)
    sixteen = ask(tensor_parallel=16, devices=16)
    assert sixteen.memory.kv_cache_bytes_per_sequence == eight.memory.kv_cache_bytes_per_sequence


def test_a_latent_cache_is_whole_on_every_rank_unless_attention_is_data_parallel() -> None:
    # tenstorrent/tt-xla issue 5861: 18 to 24 sequences of 32k under TP 8, 150 to 190 with data-parallel attention; another
    # engine reserves more or less beside them, so 5 % either way
    load = {
        "model": "deepseek-r1",
        "hardware": "h200-sxm",
        "weights": "fp8",
        "batch": None,
        "input_tokens": 32000,
        "output_tokens": 768,
    }
    whole = ask(**load, tensor_parallel=8)
    apart = ask(**load, tensor_parallel=8, attention_data_parallel=True)
    assert 18 * 0.95 <= whole.memory.max_batch <= 24 * 1.05
    assert 150 * 0.95 <= apart.memory.max_batch <= 190 * 1.05
    assert whole.memory.kv_cache_bytes_per_sequence == apart.memory.kv_cache_bytes_per_sequence == 61 * 576 * 2 * 32768


def test_two_all_reduces_a_layer_and_one_for_parallel_blocks() -> None:
    # payload: 16 tokens x 8192 x 2 bytes; an in-switch reduction sends it once
    report = ask(tensor_parallel=8)
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "network/all_reduce")
    assert row.count == 160
    assert row.network_bytes == pytest.approx(160 * 16 * 8192 * 2)
    parallel = ask(model="c4ai-command-r-v01", tensor_parallel=8)
    row = next(r for r in parallel.operators if r.phase == "decode" and r.name == "network/all_reduce")
    assert row.count == 40


def test_a_ring_sends_twice_its_share_where_no_switch_adds() -> None:
    report = ask(model="llama-3.1-8b", hardware="rtx4090", devices=4, tensor_parallel=4, engine="serving")
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "network/all_reduce")
    assert row.network_bytes == pytest.approx(64 * 2 * (3 / 4) * 16 * 4096 * 2)


def test_pipeline_serves_micro_batches() -> None:
    report = ask(tensor_parallel=1, pipeline_parallel=8, batch=64)
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "mlp/down")
    # 64 sequences over 8 stages: 8 tokens a micro-batch, through all 80 layers in one step
    assert row.flops == pytest.approx(80 * 2 * 8 * 28672 * 8192)


def test_experts_are_touched_as_often_as_tokens_reach_them() -> None:
    report = ask(model="deepseek-v3", hardware="h200-sxm", devices=8, tensor_parallel=8, weights="fp8", batch=32)
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "experts/down")
    # tile-ai/TileOPs pull 2127: 163.3 of 256 experts at 32 tokens; a device holds an eighth of each
    assert row.weight_bytes == pytest.approx(58 * 163.3 * 7168 * 2048 / 8, rel=2e-3)
    assert row.flops == pytest.approx(58 * 2 * 32 * 8 * 7168 * 2048 / 8)


def test_expert_parallel_spreads_experts_over_replicas() -> None:
    report = ask(
        model="deepseek-v3",
        hardware="h200-sxm",
        devices=16,
        weights="fp8",
        tensor_parallel=1,
        data_parallel=16,
        expert_parallel=16,
        batch=512,
    )
    touched = 256 * (1 - (1 - 8 / 256) ** 512)
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "experts/down")
    assert row.weight_bytes == pytest.approx(58 * touched * 7168 * 2048 / 16, rel=2e-3)
    assert any(r.name == "network/expert_exchange" for r in report.operators)


def test_idle_devices_are_told_and_paid() -> None:
    report = ask(devices=7, tensor_parallel=4, batch=4)
    assert report.plan.devices_used == 4
    assert any("3 of 7 devices stay idle" in reason for reason in report.reasons)
    assert report.cost.usd_per_hour == pytest.approx(7 * report.cost.usd_per_device_hour)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tensor_parallel": 5}, "legal: 1, 2, 4, 8"),
        ({"tensor_parallel": 16}, "needs 16 devices"),
        ({"pipeline_parallel": 81, "devices": 128}, "80 layers"),
        ({"model": "mixtral-8x7b", "expert_parallel": 5}, "do not divide"),
        ({"expert_parallel": 2}, "no experts"),
        ({"engine": "llama-cpp", "tensor_parallel": 2}, "whole layers"),
        ({"data_parallel": 9}, "needs 9 devices"),
    ],
)
def test_impossible_plans_say_what_would_be_possible(fields: dict[str, object], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        ask(**fields)


def test_a_request_rate_finds_its_batch() -> None:
    report = ask(batch=None, request_rate=2.0, tensor_parallel=8)
    assert report.memory.fits
    assert float(report.expected.requests_per_s) >= 2.0 * (1 - 1e-6)
    # Little's law: sequences in decode = rate x time they decode, prefill taking its share of every second
    prompt_s = 2000 / float(report.expected.prefill_tokens_per_s)
    step = float(report.expected.decode_step_s) / (1 - 2.0 * prompt_s)
    assert report.batch == pytest.approx(2.0 * 256 * step, abs=1.5)


def test_a_rate_beyond_reach_is_told() -> None:
    report = ask(batch=None, request_rate=5000.0, tensor_parallel=8)
    assert not report.memory.fits
    assert np.isnan(report.expected.decode_step_s)
    assert report.reasons


def test_links_are_taken_from_the_nearest_that_reaches() -> None:
    found = resolve(Scenario(model="llama-3.1-8b", hardware="rtx3090", devices=16))
    # a bridge for two, PCIe 4.0 x16 inside the box, an assumed network beyond it
    assert [(t.n_devices, t.bytes_per_s) for t in found.machine.tiers] == [(2, 56.25e9), (16, 31.5e9), (np.inf, 12.5e9)]
    assert not found.machine.notes
    assert "100 Gbit/s" in resolve(Scenario(model="llama-3.1-8b", hardware="rtx3090", devices=17)).machine.notes[0]


def test_one_pair_of_a_mesh_has_one_link() -> None:
    # MI300X: 64 GB/s to one peer, 448 to all seven
    two, eight = (
        next(r for r in ask(hardware="mi300x", devices=n, tensor_parallel=n).operators if r.name == "network/all_reduce")
        for n in (2, 8)
    )
    assert two.network_bytes / two.limit_s == pytest.approx(64e9)
    assert eight.network_bytes / eight.limit_s == pytest.approx(448e9)
