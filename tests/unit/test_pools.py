"""Prefill and decode on devices of their own, from first principles."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.curves import batch_curve
from roofline.answers.explain import explain
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.errors import InputError, PlanError


def ask(**fields: object) -> Report:
    base = {
        "model": "llama-3.1-70b",
        "hardware": "h100-sxm",
        "devices": 16,
        "batch": 128,
        "input_tokens": 2048,
        "output_tokens": 512,
    }
    return evaluate(Scenario.model_validate({**base, **fields}))


def test_each_pool_has_its_plan_and_decode_its_memory() -> None:
    report = ask(prefill_devices=4)
    assert report.prefill_plan is not None
    assert report.prefill_devices == 4
    assert report.prefill_plan.devices_used <= 4
    assert report.plan.devices_used <= 12
    alone = ask(
        devices=report.plan.devices_used,
        tensor_parallel=report.plan.tensor_parallel,
        pipeline_parallel=report.plan.pipeline_parallel,
    )
    assert report.memory.weights_bytes_per_device == alone.memory.weights_bytes_per_device
    assert ask().prefill_plan is None


def test_the_slower_pool_sets_the_rate() -> None:
    for split in (2, 4, 8, 12):
        report = ask(prefill_devices=split)
        times = report.expected
        decode, prefill = times.output_tokens_per_s / 512, times.prefill_tokens_per_s / 2048
        assert times.requests_per_s == pytest.approx(min(decode, prefill))
        slower = "prefill" if prefill < decode else "decode"
        assert any(f"devices that {slower} set the pace" in reason for reason in report.reasons)
        # no prefill ever waits between two tokens
        assert times.tpot_s == times.decode_step_s


def test_the_best_split_is_where_both_rates_meet() -> None:
    # How to Scale Your Model, part 8: P / G = T_prefill B / (t_step G); whole devices and plans leave some of it over
    best = ask(prefill_devices=0)
    rates = [float(np.nan_to_num(ask(prefill_devices=k).expected.requests_per_s)) for k in range(1, 16)]
    assert best.expected.requests_per_s == pytest.approx(max(rates))
    assert "serves most requests" in best.prefill_plan.why
    assert ask(prefill_devices="auto") == best


def test_the_cache_is_sent_after_prefill_and_within_it_in_the_limit() -> None:
    apart = ask(model="llama-3.1-8b", devices=2, prefill_devices=1, batch=4)
    alone = ask(model="llama-3.1-8b", devices=1, batch=4)
    found = resolve(apart.scenario)
    # 32 layers x 2 x 8 heads x 128 x 2 bytes a token, from one H100 to another at 450 GB/s
    sent_s = 2048 * 32 * 2 * 8 * 128 * 2 / (450e9 * found.engine.link_frac.value) + found.engine.link_latency_s.value
    assert apart.expected.ttft_s == pytest.approx(float(alone.expected.ttft_s) + sent_s)
    assert apart.limit.ttft_s == pytest.approx(float(alone.limit.ttft_s))


def test_money_pays_for_both_pools_busy_or_not() -> None:
    report = ask(prefill_devices=8, usd_per_device_hour=2.0)
    rate = float(report.expected.requests_per_s)
    assert report.cost.usd_per_hour == pytest.approx(32.0)
    assert report.cost.usd_per_million_input_tokens == pytest.approx(8 * 2.0 / 3600 / rate / 2048 * 1e6)
    assert report.cost.usd_per_million_output_tokens == pytest.approx(8 * 2.0 / 3600 / rate / 512 * 1e6)
    made = explain(report)["usd_per_million_output_tokens"]
    assert made.substituted.startswith("8 x 2.00 USD/h")
    spent = report.cost.usd_per_million_tokens * (2048 + 512) / 1e6
    assert spent == pytest.approx(32.0 / 3600 / rate)


def test_a_request_rate_takes_as_few_prefill_devices_as_keep_up() -> None:
    report = ask(batch=None, request_rate=4.0, prefill_devices="auto")
    assert report.memory.fits
    assert report.expected.requests_per_s == 4.0
    assert report.expected.prefill_tokens_per_s >= 4.0 * 2048
    # Little's law without prefill in the way: sequences at once = rate x output x step
    assert report.batch == pytest.approx(4.0 * 512 * float(report.expected.decode_step_s), abs=1.0)
    beyond = ask(batch=None, request_rate=400.0, prefill_devices="auto")
    assert not beyond.memory.fits
    assert "Cannot keep up" in beyond.sentence


def test_a_pool_that_holds_no_prompt_is_told() -> None:
    report = ask(prefill_devices=1)
    assert not report.memory.fits
    assert "prefill devices do not hold" in report.sentence
    assert np.isnan(report.expected.ttft_s)


def test_curves_hold_the_report() -> None:
    report = ask(prefill_devices=4)
    curve = batch_curve(report)
    at = int(np.flatnonzero(curve.batch == report.batch)[0])
    for label in ("limit", "expected", "expected_low", "expected_high"):
        for name in ("ttft_s", "decode_step_s", "requests_per_s", "output_tokens_per_s"):
            found = np.broadcast_to(getattr(getattr(curve, label), name), curve.batch.shape)[at]
            assert found == pytest.approx(getattr(getattr(report, label), name)), (label, name)


def test_links_say_shared_best_or_a_number() -> None:
    for value, written in ((None, None), (0, "0"), (3, "3")):
        scenario = Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=8, prefill_devices=value)
        assert link.encode(scenario).get("pd") == written
        assert link.decode(link.encode(scenario)).scenario == scenario
    assert link.from_query("?v=1&pd=auto").scenario.prefill_devices == 0
    assert link.from_query("?v=1&pd=shared").scenario.prefill_devices is None


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"devices": 1, "prefill_devices": 1}, PlanError, "devices or more for these ways; there are 1"),
        ({"prefill_devices": 16}, PlanError, "give 1 to 15"),
        ({"prefill_devices": 10, "tensor_parallel": 8}, PlanError, "give 1 to 8"),
        ({"prefill_devices": -1}, InputError, "at least 0"),
        ({"prefill_devices": "some"}, InputError, "whole number"),
    ],
)
def test_bad_splits_say_what_would_be_right(fields: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(**fields)


def test_a_sweep_shares_its_devices() -> None:
    with pytest.raises(InputError, match="leave prefill_devices out"):
        sweep(Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=8, prefill_devices=2), {"batch": [1, 2]})


@pytest.mark.parametrize("load", [{"batch": 64}, {"batch": None, "request_rate": 4.0}])
def test_the_band_of_a_users_speed_is_in_order(load: dict) -> None:
    report = evaluate(Scenario(model="deepseek-v3", hardware="h100-sxm", devices=32, prefill_devices=16, **load))
    low, mean, high = (t.tokens_per_s_per_user for t in (report.expected_low, report.expected, report.expected_high))
    assert low < mean < high
    assert mean == pytest.approx(1 / report.expected.tpot_s)


@pytest.mark.parametrize(
    ("devices", "prefill", "holder"), [(40, 1, "decode"), (3, 2, "prefill"), (2, 1, "neither")], ids=["prefill", "decode", "both"]
)
def test_a_pool_that_does_not_hold_its_part_leaves_no_rate_and_no_sequence(devices: int, prefill: int, holder: str) -> None:
    report = ask(devices=devices, prefill_devices=prefill)
    assert (report.memory.fits, report.memory.max_batch) == (False, 0)
    assert all(np.isnan(getattr(report.expected, name)) for name in ("requests_per_s", "tpot_s", "ttft_s", "output_tokens_per_s"))
    assert report.prefill_plan is not None
    told = (report.plan.why, report.prefill_plan.why, *report.reasons, report.sentence)
    assert not any("requests/s" in text for text in told)
    assert any("do not hold" in text for text in report.reasons) == (holder != "prefill")
