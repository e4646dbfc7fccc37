"""Waiting before the first token."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate
from roofline.formulas.queueing import md1_wait_s, mmc_wait_quantile_s, mmc_wait_s
from roofline.formulas.waiting import collected_wait_s, wait_percentile_s


def simulated_waits(gaps: np.ndarray, service: np.ndarray) -> np.ndarray:
    """Lindley's recursion: W_(n+1) = max(0, W_n + S_n - A_(n+1)), written with running sums."""
    steps = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    return steps - np.minimum.accumulate(steps)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_percentile_is_exact_for_exponential_service(load, share):
    random = np.random.default_rng(7)
    n = 2_000_000
    waits = simulated_waits(random.exponential(1.0 / load, n), random.exponential(1.0, n))
    mean = mmc_wait_s(n_servers=1, arrivals_per_s=load, service_s=1.0)
    found = wait_percentile_s(mean_wait_s=mean, load_frac=load, percentile_frac=share)
    assert float(found) == pytest.approx(np.quantile(waits, share), rel=0.05, abs=0.02)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
@pytest.mark.parametrize("share", [0.9, 0.99])
def test_percentile_is_near_for_constant_service(load, share):
    """Constant service has a shorter tail at low load: there the formula is up to 30 % too long."""
    random = np.random.default_rng(11)
    n = 2_000_000
    waits = simulated_waits(random.exponential(1.0 / load, n), np.ones(n))
    mean = md1_wait_s(arrivals_per_s=load, service_s=1.0)
    found = wait_percentile_s(mean_wait_s=mean, load_frac=load, percentile_frac=share)
    assert float(found) == pytest.approx(np.quantile(waits, share), rel=0.3, abs=0.05)


def test_nobody_waits_below_the_share_that_finds_an_idle_server():
    assert float(wait_percentile_s(mean_wait_s=0.1, load_frac=0.4, percentile_frac=0.5)) == 0.0
    assert float(wait_percentile_s(mean_wait_s=0.0, load_frac=0.0, percentile_frac=0.99)) == 0.0


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.99])
def test_percentile_agrees_with_the_exact_one_of_a_single_exponential_server(share):
    mean = mmc_wait_s(n_servers=1, arrivals_per_s=0.6, service_s=1.0)
    exact = mmc_wait_quantile_s(n_servers=1, arrivals_per_s=0.6, service_s=1.0, quantile_frac=share)
    assert float(wait_percentile_s(mean_wait_s=mean, load_frac=0.6, percentile_frac=share)) == pytest.approx(float(exact))


def test_nobody_else_is_collected_where_arrivals_are_rare():
    assert collected_wait_s(window_s=0.2, arrivals_per_s=0.0, service_s=1.0) == 0.0


def load(rate: float, **more: float) -> Scenario:
    return Scenario.model_validate({"model": "llama-3.3-70b", "hardware": "8xh100-sxm", "request_rate": rate, **more})


def test_waiting_is_service_plus_wait_and_grows_with_the_rate():
    waits = []
    for rate in (0.01, 0.5, 1.0, 1.5):
        found = evaluate(load(rate)).waiting
        assert found is not None
        assert found.ttft_mean_s == pytest.approx(found.service_s + found.mean_wait_s, rel=1e-12)
        assert found.ttft_p50_s <= found.ttft_p90_s <= found.ttft_p99_s
        waits.append(found.mean_wait_s)
    assert waits == sorted(waits)


def test_an_empty_server_lets_an_arrival_wait_for_half_a_step_at_most():
    report = evaluate(load(1e-6))
    assert report.waiting is not None
    assert report.waiting.mean_wait_s == pytest.approx(report.expected.decode_step_s / 2.0, rel=1e-4)


def test_a_window_adds_half_of_itself_to_the_mean():
    without, collected = evaluate(load(0.001)).waiting, evaluate(load(0.001, batching_window_s=0.2)).waiting
    assert without is not None
    assert collected is not None
    assert collected.mean_wait_s - without.mean_wait_s == pytest.approx(0.1, rel=1e-3)


def test_no_rate_no_waiting():
    assert evaluate(Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=4)).waiting is None
