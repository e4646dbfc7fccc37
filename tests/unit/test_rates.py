"""The rate products run at: the fastest of a device that holds their operands, by its published peaks alone."""

from __future__ import annotations

from itertools import product

import pytest

from roofline import Scenario, evaluate
from roofline.answers.resolve import resolve
from roofline.catalog.hardware import hardware_ids, load_hardware

HOLDS_16_BIT = ("bf16", "fp16", "fp32")
DEVICES = [ref for ref in hardware_ids() if any(d in load_hardware(ref).peaks for d in HOLDS_16_BIT)]


def fastest(ref: str, *dtypes: str) -> float:
    peaks = load_hardware(ref).peaks
    return max(peak.base for dtype, peak in peaks.items() if dtype in dtypes)


@pytest.mark.parametrize("ref", DEVICES)
def test_16_bit_weights_run_at_the_fastest_rate_that_holds_them(ref: str) -> None:
    found = resolve(Scenario(model="llama-3.2-1b", hardware=ref, weights="bf16", batch=1)).formats
    assert found.gemm_flops_per_s == found.wide_flops_per_s == fastest(ref, *HOLDS_16_BIT)


@pytest.mark.parametrize("ref", DEVICES)
def test_no_default_is_slower_than_wider_arithmetic(ref: str) -> None:
    for weights, engine in product(["bf16", "fp8", "q8_0", "q4_k_m", "int4_g128"], ["auto", "llama-cpp", "vllm"]):
        found = resolve(Scenario(model="llama-3.2-1b", hardware=ref, weights=weights, engine=engine, batch=1)).formats
        assert found.gemm_flops_per_s >= fastest(ref, *HOLDS_16_BIT)


@pytest.mark.parametrize(
    ("activations", "able"), [("fp16", ("fp16", "fp32")), ("int8", ("int8", *HOLDS_16_BIT)), ("fp8", ("fp8", *HOLDS_16_BIT))]
)
@pytest.mark.parametrize("ref", ["p40", "b300-sxm", "h100-sxm"])
def test_operands_given_run_on_wider_units_where_those_are_faster_and_it_is_said(
    ref: str, activations: str, able: tuple[str, ...]
) -> None:
    found = resolve(Scenario(model="llama-3.2-1b", hardware=ref, weights="q8_0", activations=activations, batch=1)).formats
    assert found.gemm_flops_per_s == fastest(ref, *able)
    assert (found.gemm_dtype != activations) == any(f"products of {activations} run at" in note for note in found.notes)


def test_one_sequence_is_bound_by_reading_weights_on_a_card_slow_at_fp16() -> None:
    """Tesla P40: 8.03e9 weights less the input table's 0.53e9, at 8.5 bits, over 347.1 GB/s."""
    for engine in ("auto", "vllm", "llama-cpp"):
        report = evaluate(
            Scenario(
                model="llama-3.1-8b", hardware="p40", weights="q8_0", batch=1, input_tokens=512, output_tokens=128, engine=engine
            )
        )
        assert report.limit.tpot_s == pytest.approx((8.03e9 - 0.525e9) * 8.5 / 8 / 347.1e9, rel=0.02)
