"""Exchanges between experts: what they send, how long they wait, and what of them an engine hides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline import Scenario, evaluate
from roofline.answers.report import OperatorRow, Report
from roofline.answers.validation import shipped_validation
from roofline.catalog.measurements import measurements
from roofline.errors import PlanError
from roofline.formulas.exchange import expert_exchange_s, visited_nodes

WIDE = {"model": "deepseek-v3", "hardware": "h100-sxm", "tensor_parallel": 1, "input_tokens": 2048, "output_tokens": 2}


def ask(devices: int, batch_per_device: int, **fields: object) -> Report:
    ways = {"devices": devices, "data_parallel": devices, "expert_parallel": devices, "batch": devices * batch_per_device}
    return evaluate(Scenario.model_validate({**WIDE, **ways, **fields}))


def exchange(report: Report, phase: str = "decode") -> OperatorRow:
    return next(r for r in report.operators if r.phase == phase and r.name == "network/expert_exchange")


def test_one_node_holds_every_expert() -> None:
    assert visited_nodes(n_nodes=1.0, n_active_experts=8, n_groups=8, n_active_groups=4) == pytest.approx(1.0)


def test_without_groups_choices_fall_on_nodes_alike() -> None:
    # two nodes, two experts: both on one of them half of the time
    assert visited_nodes(n_nodes=2.0, n_active_experts=2, n_groups=1, n_active_groups=1) == pytest.approx(1.5)


def test_groups_on_nodes_of_their_own_bound_the_nodes() -> None:
    # DeepSeek-V3 technical report, 2.1.2: each token goes to at most 4 nodes
    many = visited_nodes(n_nodes=8.0, n_active_experts=1e6, n_groups=8, n_active_groups=4)
    assert many == pytest.approx(4.0)


@given(st.integers(1, 64), st.integers(1, 16), st.sampled_from(((1, 1), (8, 4), (4, 2), (8, 8))))
def test_no_token_visits_more_nodes_than_there_are_or_than_it_has_experts(n: int, k: int, groups: tuple[int, int]) -> None:
    found = visited_nodes(n_nodes=float(n), n_active_experts=k, n_groups=groups[0], n_active_groups=groups[1])
    assert 1.0 - 1e-9 <= found <= min(n, k) + 1e-9


def test_nothing_to_send_takes_the_latency() -> None:
    assert expert_exchange_s(payload_bytes=0.0, outside_frac=0.5, link_bytes_per_s=5e10, latency_s=3e-5) == 3e-5


def test_waits_do_not_grow_with_the_nodes() -> None:
    small = [exchange(ask(n, 1, engine="vllm", weights="fp8")) for n in (16, 32, 64, 128)]
    sent = [1 - 8 / n for n in (16, 32, 64, 128)]
    times = np.array([row.expected_s for row in small])
    per_share = np.diff(times) / np.diff(sent)
    assert np.all(per_share > 0)
    np.testing.assert_allclose(per_share, per_share[0], rtol=1e-6)


def test_more_tokens_never_take_less_time_where_kernels_change() -> None:
    times = [exchange(ask(32, tokens, engine="vllm", weights="fp8")).expected_s for tokens in (128, 255, 256, 257, 300, 2048)]
    assert np.all(np.diff(times) >= 0)


def test_an_engine_that_overlaps_takes_the_sooner_of_both() -> None:
    for batch in (1, 2, 16, 128, 256):
        plain, halved, own = (
            float(ask(72, batch, engine="sglang-ep", weights="fp8", two_batch_overlap=t).expected.decode_step_s)
            for t in (False, True, None)
        )
        assert own == pytest.approx(min(plain, halved))


def overlap_gain(devices: int, batch_per_device: int, **fields: object) -> float:
    whole, halved = (
        ask(devices, batch_per_device, engine="sglang-ep", weights="fp8", **fields, two_batch_overlap=t).expected
        for t in (False, True)
    )
    return float(whole.decode_step_s / halved.decode_step_s) - 1.0


def test_two_batch_overlap_gains_what_was_published() -> None:
    # LMSYS, 96 H100 (2025), ablation: +25.5 % at 256 tokens a device, -27 % at 32, nothing to gain from 64 to 128 on
    assert overlap_gain(72, 256) == pytest.approx(0.255, abs=0.08)
    assert overlap_gain(72, 32) == pytest.approx(-0.27, abs=0.12)
    assert -0.30 < overlap_gain(72, 64) < overlap_gain(72, 128) < 0.10


def test_two_batch_overlap_gains_in_prefill() -> None:
    # the same source: 27 to 35 % at 8192 tokens a device
    whole, halved = (
        ask(32, 1, engine="sglang-ep", weights="fp8", input_tokens=8192, two_batch_overlap=t).expected.ttft_s
        for t in (False, True)
    )
    assert float(whole / halved) - 1.0 == pytest.approx(0.31, abs=0.1)


def test_a_production_service_of_eighteen_nodes() -> None:
    # DeepSeek, inference system overview (2025): 14,800 tokens/s a node of 8 H800, experts over 144, mean cache 4,989 tokens;
    # 128 sequences a device (LMSYS, 2025, profile results). Averages over uneven experts: somewhat below what is expected.
    report = ask(144, 128, hardware="h800", engine="deepseek", weights="fp8", input_tokens=4989)
    assert 128 * 8 / float(report.expected.decode_step_s) == pytest.approx(14_800, rel=0.2)


def test_an_engine_that_does_not_overlap_leaves_steps_whole() -> None:
    plain, own = (ask(32, 128, engine="vllm", weights="fp8", two_batch_overlap=t) for t in (False, None))
    assert plain.expected == own.expected


def test_what_an_engine_overlaps_is_told() -> None:
    report = ask(32, 128, engine="sglang-ep", weights="fp8")
    assert any(a.name == "two-batch overlap" and "as SGLang" in a.basis for a in report.assumptions)


def test_copies_fill_devices_that_experts_do_not_divide_over() -> None:
    # 32 of 256 experts are held twice, four to each of 72 devices (LMSYS, 2025): as many as on 64 devices
    some, more = (ask(n, 64, engine="vllm", weights="fp8") for n in (64, 72))
    assert more.memory.weights_bytes_per_device == some.memory.weights_bytes_per_device


def test_no_more_than_one_expert_in_eight_is_copied() -> None:
    with pytest.raises(PlanError, match="do not divide"):
        ask(100, 1)


def test_measured_steps_over_several_nodes_are_met() -> None:
    wide = {m.id for m in measurements() if m.ep.isdigit() and m.n_devices.isdigit() and int(m.ep) > 8 and m.kind != "spec"}
    errors = [r.error for r in shipped_validation().rows if r.id in wide and r.valid and r.error is not None]
    assert len(errors) >= 9
    assert max(abs(error) for error in errors) < 0.35
    assert np.median(np.abs(errors)) < 0.15
