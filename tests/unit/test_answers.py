"""Answers: sweeps in the order asked, curves through the report, explanations that add up, formats that fall back aloud."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate, sweep
from roofline.answers.anatomy import anatomy, own_model
from roofline.answers.curves import batch_curve
from roofline.answers.explain import explain
from roofline.answers.presets import PRESETS
from roofline.answers.resolve import resolve
from roofline.answers.serialise import plain, report_json
from roofline.catalog.models import model_ids
from roofline.errors import InputError, MissingFactError, UnknownIdError
from roofline.texts import estimate_text

ONE = Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8, input_tokens=1000, output_tokens=200)


def test_sweep_rows_follow_the_axes_as_given() -> None:
    table = sweep(ONE, {"batch": [1, 2], "hardware": ["h100-sxm", "rtx4090"], "input_tokens": [100, 200]})
    assert list(table.columns[:3]) == ["batch", "hardware", "input_tokens"]
    assert table["batch"].tolist() == [1] * 4 + [2] * 4
    assert table["hardware"].tolist() == (["h100-sxm"] * 2 + ["rtx4090"] * 2) * 2
    assert table["input_tokens"].tolist() == [100, 200] * 4
    assert table["batch"].dtype == np.int64


def test_sweep_without_a_load_axis_has_a_row_per_machine() -> None:
    table = sweep(ONE, {"hardware": ["h100-sxm", "h200-sxm", "rtx4090"]})
    assert table["fits"].tolist() == [True, True, True]


def test_a_load_that_does_not_fit_is_a_row_of_its_own_kind() -> None:
    table = sweep(ONE, {"batch": [1, 100_000]})
    assert table["fits"].tolist() == [True, False]
    assert np.isnan(table["expected_decode_step_s"].iloc[1])


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"colour": [1]}, "not a field"),
        ({"batch": []}, "no values"),
        ({"batch": [0]}, "at least 1"),
        ({"utilisation": [float("nan")]}, "finite"),
        ({"batch": [1], "request_rate": [1.0]}, "not both"),
        ({"batch": range(1, 10_001), "input_tokens": range(1, 10_001)}, "at most"),
    ],
)
def test_bad_axes_are_told(axes: dict[str, list[object]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sweep(ONE, axes)


def test_a_sweep_over_request_rates() -> None:
    base = ONE.model_copy(update={"batch": None, "hardware": "h200-sxm"})
    table = sweep(base, {"request_rate": [1.0, 2.0, 4.0]})
    assert table["batch_used"].is_monotonic_increasing
    assert (table["expected_requests_per_s"] >= table["request_rate"] * (1 - 1e-6)).all()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.id)
def test_the_curve_runs_through_the_report(preset) -> None:
    report = evaluate(preset.scenario)
    curve = batch_curve(report)
    at = int(np.flatnonzero(curve.batch == report.batch)[0])
    if preset.scenario.request_rate is None:
        np.testing.assert_allclose(curve.expected.output_tokens_per_s[at], report.expected.output_tokens_per_s, rtol=1e-9)
    np.testing.assert_allclose(curve.limit.decode_step_s[at], float(report.limit.decode_step_s), rtol=1e-9)
    assert np.isnan(curve.expected.decode_step_s[curve.batch > report.memory.max_batch]).all()
    assert curve.bound[at] == report.bound["decode"]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.id)
def test_every_headline_explains_itself(preset) -> None:
    report = evaluate(preset.scenario)
    found = explain(report)
    assert set(found) == {"tokens_per_s_per_user", "output_tokens_per_s", "usd_per_million_output_tokens", "memory"}
    for explanation in found.values():
        assert explanation.equation
        assert explanation.substituted
        assert explanation.citation
        assert all(item.source for item in explanation.inputs)
    parts = sum(share.seconds for share in report.shares["decode"])
    assert parts == pytest.approx(float(report.expected.decode_step_s), rel=1e-9)


@pytest.mark.parametrize("name", model_ids())
def test_every_model_is_laid_open(name: str) -> None:
    found = anatomy(name)
    layers = sorted(position for layer in found.layers for position in layer.positions)
    assert layers == list(range(found.model.n_layers))
    assert not own_model(name)
    assert (np.diff(found.cache.least_bytes) >= 0).all()
    for reserved in found.cache.reserved_bytes.values():
        assert (reserved >= found.cache.least_bytes * (1 - 1e-12)).all()
    assert [size.bytes for size in found.weights] == sorted((size.bytes for size in found.weights), reverse=True)
    assert sum(size.stored for size in found.weights) == 1
    if found.experts is not None:
        assert found.experts.distinct[0] == pytest.approx(found.experts.active)
        assert found.experts.distinct[-1] <= found.experts.total


def ask(**fields: object):
    return evaluate(Scenario.model_validate({**ONE.model_dump(), **fields}))


def test_a_missing_unit_falls_to_the_next_wider_one_and_says_so() -> None:
    report = ask(hardware="a100-sxm-80", weights="fp8", activations="fp8")
    assert report.formats.gemm_rate == "bf16"
    assert any("no fp8 unit" in reason for reason in report.reasons)


def test_weights_wider_than_activations_run_wide_and_say_so() -> None:
    report = ask(weights="bf16", activations="fp8")
    assert report.formats.gemm_rate == "bf16"
    assert any("wider than activations" in reason for reason in report.reasons)


def test_fp8_weights_use_fp8_units_where_there_are_some() -> None:
    assert ask(weights="fp8").formats.gemm_rate == "fp8"
    assert ask(weights="fp8", hardware="a100-sxm-80").formats.gemm_rate == "bf16"
    assert ask(weights="q4_k_m").formats.gemm_rate == "bf16"
    assert ask(weights="fp16", hardware="v100-sxm2-32", activations=None).formats.gemm_rate == "fp16"


def test_a_cache_in_eight_bits_lets_attention_run_at_that_rate() -> None:
    assert ask(weights="fp8", kv_cache="fp8").formats.attention_rate == "fp8"
    assert ask(weights="fp8", kv_cache="bf16").formats.attention_rate == "bf16"


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"weights": "magic"}, UnknownIdError, "no format"),
        ({"activations": "q4_k_m"}, InputError, "not a format for activations"),
        ({"kv_cache": "q4_k_m"}, InputError, "not a format for the cache"),
        ({"hardware": "v100-sxm2-32", "activations": "bf16"}, MissingFactError, "no published bf16"),
        ({"engine": "magic"}, UnknownIdError, "serving"),
    ],
)
def test_impossible_formats_are_told(fields: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(**fields)


def test_memory_can_be_chosen_where_it_is_the_buyers() -> None:
    small, large = (ask(hardware="epyc-9654", memory_gib=size, batch=None) for size in (64, 768))
    assert large.memory.max_batch > small.memory.max_batch
    assert small.memory.usable_bytes_per_device == 64 * 2**30


def test_json_holds_no_nan() -> None:
    report = ask(hardware="rtx4090", batch=10_000)
    answer = report_json(report)
    assert answer["limit"]["decode_step_s"] is None
    assert answer["expected"]["tpot_s"] == {"value": None, "low": None, "high": None}
    assert plain({"a": float("inf"), "b": (np.float64(1.0),)}) == {"a": None, "b": [1.0]}


def test_a_long_context_is_answered_with_a_note() -> None:
    report = ask(input_tokens=1_000_000)
    assert any("trained for" in reason for reason in report.reasons)


def test_cost_is_device_time_times_price() -> None:
    report = ask(usd_per_device_hour=2.0, utilisation=0.5, devices=2)
    rate = float(report.expected.output_tokens_per_s)
    assert report.cost.usd_per_million_output_tokens == pytest.approx(2 * 2.0 / (3600 * rate * 0.5) * 1e6)
    rate = float(report.expected.prefill_tokens_per_s)
    assert report.cost.usd_per_million_input_tokens == pytest.approx(2 * 2.0 / (3600 * rate * 0.5) * 1e6)
    assert report.cost.basis == "your price"


def test_at_a_request_rate_what_arrives_leaves_and_the_whole_bill_is_split() -> None:
    report = ask(batch=None, request_rate=4.0, hardware="h200-sxm", usd_per_device_hour=3.6)
    assert report.expected.requests_per_s == 4.0
    assert report.expected.output_tokens_per_s == pytest.approx(4.0 * 200)
    # an hour costs 3.6 USD and serves 4 x 3600 requests of 1000 + 200 tokens
    spent = 1000 * report.cost.usd_per_million_input_tokens + 200 * report.cost.usd_per_million_output_tokens
    assert spent / 1e6 == pytest.approx(3.6 / (4.0 * 3600))
    assert report.expected.tpot_s > report.expected.decode_step_s
    assert report.sustained_requests_per_s > 4.0


def test_a_rate_beyond_reach_names_what_is_possible() -> None:
    report = ask(batch=None, request_rate=500.0)
    assert not report.memory.fits
    assert "Cannot keep up: 500 requests/s" in report.sentence
    assert 0 < report.sustained_requests_per_s < 500
    assert report.memory.min_devices is not None
    more = ask(batch=None, request_rate=500.0, devices=report.memory.min_devices)
    assert more.memory.fits


def test_a_load_that_does_not_fit_names_remedies_that_work() -> None:
    report = ask(model="llama-3.3-70b", hardware="h200-sxm", batch=128)
    assert not report.memory.fits
    assert ask(model="llama-3.3-70b", hardware="h200-sxm", batch=128, devices=report.memory.min_devices).memory.fits
    assert ask(model="llama-3.3-70b", hardware="h200-sxm", batch=128, weights=report.memory.fitting_weights).memory.fits
    assert report.memory.fitting_weights in report.sentence


def test_python_gets_one_sentence_too() -> None:
    with pytest.raises(InputError, match="batch must be at least 1"):
        Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=-1)
    with pytest.raises(InputError, match="is not a field known here"):
        Scenario(model="llama-3.1-8b", hardware="h100-sxm", bach=1)


def test_a_plan_that_cannot_be_is_a_row_of_a_sweep() -> None:
    table = sweep(ONE, {"tensor_parallel": [1, 2, 3], "devices": [1, 2], "batch": [1, 100_000]})
    assert len(table) == 12
    reasons = dict(
        zip(zip(table["tensor_parallel"], table["devices"], table["batch"], strict=True), table["reason"], strict=True)
    )
    assert reasons[1, 1, 1] == ""
    assert reasons[1, 1, 100_000] == "does not fit"
    assert "needs 2 devices" in reasons[2, 1, 1]
    assert "legal" in reasons[3, 2, 1]


def test_requests_without_effect_are_told() -> None:
    report = ask(model="deepseek-v2-lite", hardware="h200-sxm", devices=4, tensor_parallel=1, attention_data_parallel=True)
    assert any("no effect" in reason for reason in report.reasons)
    report = ask(model="deepseek-v3", hardware="h200-sxm", devices=8, tensor_parallel=8, expert_parallel=4)
    assert any("changes nothing" in reason for reason in report.reasons)


@pytest.mark.parametrize("device", ["a100-sxm-80", "h100-sxm", "h200-sxm"])
def test_fewer_bits_decode_one_stream_sooner_where_memory_binds(device):
    """Frantar et al., "MARLIN", 2024: kernels for 4-bit weights come close to the ideal gain up to 16 to 32 tokens."""
    at = {w: evaluate(Scenario(model="llama-3.1-8b", hardware=device, weights=w, batch=1)) for w in ("bf16", "int4_g128")}
    gain = at["bf16"].expected.tpot_s / at["int4_g128"].expected.tpot_s
    ideal = at["bf16"].limit.tpot_s / at["int4_g128"].limit.tpot_s
    assert 1.3 < gain <= ideal


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"hardware": "rtx4090"}, "model is missing."),
        ({"model": "gpt2", "hardwear": "rtx4090"}, "hardwear is not a field known here; nearest: hardware."),
        ({"model": "gpt2", "hardware": "rtx4090", "qqqq": 1}, "qqqq is not a field known here."),
        ({"model": "gpt2", "hardware": "rtx4090", "batch": "many"}, "batch must be a whole number."),
    ],
)
def test_a_field_that_is_missing_or_unknown_is_told_as_such(given: dict[str, object], sentence: str) -> None:
    for make in (lambda: Scenario(**given), lambda: Scenario.model_validate(given)):
        with pytest.raises(InputError, match=f"^{sentence}$"):
            make()


@pytest.mark.parametrize("box", ["4xgroq-lp30+4xtpu-8t", "groq-lp30+rtx4090", "rtx4090+tpu-8t", "rtx4090+maia200"])
def test_a_box_names_the_device_whose_arithmetic_is_not_known(box: str) -> None:
    lacking = next(ref for ref in ("groq-lp30", "tpu-8t", "maia200") if ref in box)
    with pytest.raises(InputError, match=f"^{lacking} has no published 16- or 32-bit peak"):
        evaluate(Scenario(model="llama-3.1-8b", hardware=box))


def test_one_sequence_is_spoken_of_as_one_and_an_unknown_price_has_no_unit() -> None:
    report = evaluate(Scenario(model="llama-3.1-8b", hardware="rtx5090dv2", request_rate=0.01))
    assert "One sequence decodes at a time" in report.sentence
    text = estimate_text({"link": None, **report_json(report)})
    assert "n/a/h" not in text
    assert "price of a device          n/a: no price is known" in text
    assert "1 sequences" not in text


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"model": "llama-3.1-8b", "hardware": "h100-sxm"}, ("head_compute_factor", "attention_compute_frac", "page_tokens")),
        (
            {"model": "deepseek-v3", "hardware": "h100-sxm", "devices": 16},
            ("expert_layer_s", "expert_half_tokens", "exchange_latency_s", "exchange_frac", "hop_s"),
        ),
    ],
    ids=["dense", "experts"],
)
def test_every_constant_that_times_rest_on_is_among_the_assumptions(fields: dict, names: tuple[str, ...]) -> None:
    scenario = Scenario(**fields)
    engine, listed = resolve(scenario).engine, evaluate(scenario).assumptions
    for name in names:
        constant = getattr(engine, name)
        assert any(row.basis == constant.basis and row.value.endswith(")") for row in listed), name
