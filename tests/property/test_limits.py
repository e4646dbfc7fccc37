"""Laws of the limit: one for a load however it is asked for, never slower than what is expected, of what is really read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate, sweep
from roofline.performance.exchange import _copies
from roofline.performance.reach import decoded_pairs, read_tokens
from roofline.specs.model import Attend, Routing

RATES = ("output_tokens_per_s", "tokens_per_s_per_user", "prefill_tokens_per_s", "requests_per_s", "request_output_tokens_per_s")
OPEN = [
    {"model": "llama-3.3-70b", "hardware": "h100-sxm", "devices": 8},
    {"model": "yi-34b", "hardware": "mi300x", "devices": 24},
    {"model": "smollm2-135m", "hardware": "xeon-6972p", "devices": 8},
    {"model": "deepseek-v3", "hardware": "h200-sxm", "devices": 16, "request_rate": 2.0},
    {"model": "qwen3-235b-a22b", "hardware": "mi325x", "devices": 8, "weights": "fp8", "request_rate": 1.0},
    {"model": "gpt-oss-120b", "hardware": "h100-sxm", "devices": 4},
]
SERIES = [
    {"model": "phi-3-mini", "hardware": "2xa10g+2xl4", "batch": 1, "input_tokens": 100_000, "speculative": "llama-3.2-1b:4@0.7"},
    {"model": "llama-3.1-8b", "hardware": "rtx3090+rtx4090", "batch": 8, "speculative": "llama-3.2-1b:4@0.7"},
    {"model": "llama-3.3-70b", "hardware": "rtx4090", "weights": "q4_k_m", "batch": 1, "offload": "layers"},
    {"model": "llama-3.1-8b", "hardware": "rtx3090+rtx4090", "batch": 8},
]


@pytest.mark.parametrize("fields", OPEN, ids=lambda fields: fields["model"])
def test_a_batch_that_is_found_has_the_limit_of_one_that_is_given(fields: dict) -> None:
    found = evaluate(Scenario(**fields))
    given_batch = Scenario(**{**fields, "batch": found.batch, "request_rate": None})
    typed = evaluate(given_batch)
    of_load = () if "request_rate" in fields else RATES[:3]  # at a rate, output is what is asked for
    for name in ("ttft_s", "decode_step_s", *of_load):
        assert getattr(found.limit, name) == pytest.approx(getattr(typed.limit, name), rel=1e-9), name


def test_open_batches_beside_given_ones_change_no_row_of_a_sweep() -> None:
    scenario = Scenario(model="smollm2-135m", hardware="xeon-6972p", devices=8)
    table = sweep(scenario, {"batch": [None, 100]})
    for batch, row in zip((None, 100), table.itertuples(), strict=True):
        report = evaluate(scenario.model_copy(update={"batch": batch}))
        assert row.limit_ttft_s == pytest.approx(float(report.limit.ttft_s), rel=1e-9)
        assert row.limit_output_tokens_per_s == pytest.approx(float(report.limit.output_tokens_per_s), rel=1e-9)


@pytest.mark.parametrize("fields", [*OPEN, *SERIES], ids=lambda fields: f"{fields['model']} {fields['hardware']}")
def test_nothing_expected_beats_the_limit_and_the_band_holds_the_value(fields: dict) -> None:
    report = evaluate(Scenario(**fields))
    assert report.memory.fits
    for name in ("ttft_s", "tpot_s", "decode_step_s"):
        limit, low, value, high = (
            float(getattr(part, name)) for part in (report.limit, report.expected_low, report.expected, report.expected_high)
        )
        assert limit * (1 - 1e-9) <= low <= value * (1 + 1e-9) <= high * (1 + 2e-9), name
    for name in RATES:
        assert float(getattr(report.limit, name)) * (1 + 1e-9) >= float(getattr(report.expected, name)), name


def attend(**reach: int) -> Attend:
    return Attend(n_heads=1, n_kv_heads=1, key_size=1, value_size=1, cache_elements=2, read_elements=2, **reach)


@settings(max_examples=60)
@given(st.integers(1, 500), st.integers(1, 400), st.integers(1, 120), st.sampled_from(["window", "chunk", "top_k"]))
def test_what_is_read_of_a_window_or_chunk_is_the_mean_over_the_steps(prompt: int, output: int, reach: int, kind: str) -> None:
    term = attend(**{kind: reach})
    cached = np.arange(prompt, prompt + output, dtype=float)
    each = (cached - 1) % reach + 1 if kind == "chunk" else np.minimum(cached, reach)
    mean = prompt + output // 2
    assert float(read_tokens(term, mean, output)) == pytest.approx(each.mean(), rel=1e-9)
    seen = cached % reach + 1 if kind == "chunk" else np.minimum(cached + 1, reach)
    if output > 1:
        assert float(decoded_pairs(term, 1.0, mean, output)) == pytest.approx(seen.mean(), rel=1e-9)


@settings(max_examples=60)
@given(st.integers(1, 16), st.integers(1, 5), st.integers(0, 6))
def test_a_token_goes_to_no_more_places_than_it_chose_experts_or_than_there_are(active: int, more: int, doublings: int) -> None:
    routing = Routing(n_experts=64 * more, n_active=active)
    ways = 2.0**doublings
    copies = float(_copies(routing, ways))
    assert 0.0 <= copies <= min(active * (1 - 1 / ways), ways - 1) + 1e-9


@pytest.mark.parametrize(("model", "layers", "stages"), [("deepseek-v3", 61, 16), ("llama-3.3-70b", 80, 6)])
def test_the_widest_stage_keeps_the_cache_of_its_layers(model: str, layers: int, stages: int) -> None:
    report = evaluate(
        Scenario(model=model, hardware="h200-sxm", devices=stages, pipeline_parallel=stages, tensor_parallel=1, batch=stages)
    )
    share = -(-layers // stages) / layers
    held = -(-stages // report.plan.data_parallel)
    assert report.memory.kv_cache_bytes_per_device == pytest.approx(
        held * report.memory.kv_cache_bytes_per_sequence * share, rel=1e-9
    )


def test_a_step_carries_no_more_of_a_prompt_than_the_engine_takes_at_once() -> None:
    from roofline.answers.under_load import under_load

    report = evaluate(Scenario(model="llama-3.1-8b", hardware="rtx4090", weights="q4_k_m", engine="llama-cpp", batch=8))
    found = under_load(report)
    assert found is not None
    assert found.chunk_tokens <= 512  # default micro-batch of llama.cpp


@pytest.mark.parametrize(
    ("weights", "cache", "rate"), [("nvfp4", "fp8", "fp8"), ("bf16", "fp8", "fp8"), ("bf16", "bf16", "bf16")]
)
def test_the_limit_of_attention_is_the_fastest_that_its_cache_allows(weights: str, cache: str, rate: str) -> None:
    """FP8 kernels exist beside weights of any format (FlashAttention-3, FlashInfer); none is expected of an engine."""
    report = evaluate(Scenario(model="llama-3.1-8b", hardware="b200", weights=weights, kv_cache=cache, batch=8))
    assert report.formats.attention_rate == rate
