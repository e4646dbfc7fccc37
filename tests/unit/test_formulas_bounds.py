"""Limiting cases of the roofline bounds."""

from __future__ import annotations

import pytest

from roofline.formulas import bounds

MACHINE = {"peak_flops_per_s": 1e15, "bandwidth_bytes_per_s": 1e12}


@pytest.mark.parametrize(
    ("work", "traffic", "lower", "upper"),
    [
        (0.0, 1e12, 1.0, 1.0),  # a copy: only traffic
        (1e15, 0.0, 1.0, 1.0),  # operands already on chip: only compute
        (1e15, 1e12, 1.0, 2.0),  # at the ridge point the bounds are furthest apart
        (0.0, 0.0, 0.0, 0.0),  # nothing to do
    ],
)
def test_bounds(work, traffic, lower, upper):
    load = {"work_flops": work, "traffic_bytes": traffic}
    assert bounds.lower_bound_s(**load, **MACHINE) == pytest.approx(lower)
    assert bounds.upper_bound_s(**load, **MACHINE) == pytest.approx(upper)


@pytest.mark.parametrize(
    ("intensity", "rate"),
    [
        (0.0, 0.0),  # no work
        (10.0, 1e13),  # under the slanted roof the rate is in proportion
        (1000.0, 1e15),  # the ridge point belongs to both roofs
        (1e9, 1e15),  # never above the peak
    ],
)
def test_attainable_rate(intensity, rate):
    assert bounds.attainable_flops_per_s(intensity_flops_per_byte=intensity, **MACHINE) == pytest.approx(rate)


def test_ridge_point_and_balance_are_inverse():
    assert bounds.ridge_point_flops_per_byte(**MACHINE) * bounds.balance_bytes_per_flop(**MACHINE) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (2.0, 0.0, 2.0),  # alone: that time
        (1.0, 1.0, 2.0**0.5),  # furthest above the maximum
        (1.0, 1e-6, 1.0),  # the smaller one vanishes
    ],
)
def test_soft_maximum(first, second, expected):
    assert bounds.soft_maximum_s(first_s=first, second_s=second) == pytest.approx(expected)
    assert bounds.soft_maximum_s(first_s=second, second_s=first) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weight_bytes", "tokens"),
    [
        (2.0, 1000.0),  # 16-bit weights: the ridge point itself
        (1.0, 500.0),  # half the bytes to read, half the batch
        (0.0, 0.0),  # nothing to read: compute bound from the first token
    ],
)
def test_critical_batch(weight_bytes, tokens):
    assert bounds.critical_batch_tokens(**MACHINE, weight_bytes_per_parameter=weight_bytes) == pytest.approx(tokens)


def test_critical_batch_of_a_model_that_visits_every_expert_is_dense():
    assert bounds.critical_batch_experts_tokens(critical_batch_tokens=300.0, n_experts=8, n_active_experts=8) == 300.0


def test_utilisation_is_one_at_the_roof():
    time = bounds.compute_s(work_flops=3e15, peak_flops_per_s=1e15)
    assert bounds.mfu_frac(useful_flops=3e15, time_s=time, peak_flops_per_s=1e15) == pytest.approx(1.0)
    time = bounds.traffic_s(traffic_bytes=3e12, bandwidth_bytes_per_s=1e12)
    assert bounds.mbu_frac(traffic_bytes=3e12, time_s=time, bandwidth_bytes_per_s=1e12) == pytest.approx(1.0)
