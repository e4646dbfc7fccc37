"""Laws of advice: what is said to fit fits, every number is that of `evaluate`, and one token more would not fit."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import MachineQuery, PurchaseQuery, Scenario, evaluate, machine_advice, purchase_advice
from roofline.answers.longest_context import MOST_CONTEXT_TOKENS

CLOSE = 1e-9
MACHINES = [("rtx4090", 1), ("rtx3090", 2), ("apple-m4max", 1), ("h100-sxm", 8), ("epyc-9654", 1), ("l40s", 4)]
SAMPLED = 25


def asked(hardware: str, devices: int, **load: object) -> Scenario:
    return Scenario(model="any", hardware=hardware, devices=devices, **load)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from(MACHINES), st.integers(1, 20_000), st.integers(1, 4_000), st.randoms(use_true_random=False))
def test_what_is_listed_fits_and_runs_as_evaluate_says(
    machine: tuple[str, int], prompt: int, output: int, dice: random.Random
) -> None:
    found = machine_advice(MachineQuery(machine=asked(*machine, input_tokens=prompt, output_tokens=output)))
    for run in dice.sample(found.runs, min(SAMPLED, len(found.runs))):
        report = evaluate(run.scenario)
        assert report.memory.fits
        assert report.expected.tokens_per_s_per_user == run.tokens_per_s
        assert report.expected_low.tokens_per_s_per_user == run.tokens_per_s_low
        assert report.expected_high.tokens_per_s_per_user == run.tokens_per_s_high
        assert report.expected.prefill_tokens_per_s == run.prefill_tokens_per_s
        assert report.expected.ttft_s == run.ttft_s
        assert report.bound["decode"] == run.bound
        assert report.memory.used_bytes_per_device == run.used_bytes_per_device
        assert report.cost.usd_per_million_output_tokens == pytest.approx(
            run.electricity_usd_per_million_output_tokens, rel=CLOSE
        )


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(MACHINES), st.integers(1, 2_000), st.randoms(use_true_random=False))
def test_the_most_context_fits_and_one_token_more_does_not(machine: tuple[str, int], output: int, dice: random.Random) -> None:
    found = machine_advice(MachineQuery(machine=asked(*machine, input_tokens=16, output_tokens=output)))
    for run in dice.sample(found.runs, min(SAMPLED, len(found.runs))):
        longest = run.scenario.model_copy(update={"input_tokens": run.most_context_tokens - output})
        assert evaluate(longest).memory.fits
        if run.most_context_tokens < MOST_CONTEXT_TOKENS:
            more = longest.model_copy(update={"input_tokens": longest.input_tokens + 1})
            assert not evaluate(more).memory.fits


def test_nothing_that_fits_is_left_out() -> None:
    """Brute force: every model in one format on one device, asked one by one."""
    from roofline.catalog.models import model_ids
    from roofline.errors import RooflineError

    machine = asked("rtx4090", 1)
    found = machine_advice(MachineQuery(machine=machine, formats=("q4_k_m",)))
    fitting = set()
    for model in model_ids():
        try:
            report = evaluate(Scenario(model=model, hardware="rtx4090", weights="q4_k_m", batch=1))
        except RooflineError:
            continue
        if report.memory.fits:
            fitting.add(model)
    assert {run.scenario.model for run in found.runs} == fitting
    assert found.n_models_fitting == len(fitting)


def test_the_hosts_help_fits_too_and_adds_models() -> None:
    machine = asked("rtx4090", 1, host="ryzen-9950x")
    alone, helped = (machine_advice(MachineQuery(machine=machine, offload=offload)) for offload in (False, True))
    assert helped.n_models_fitting > alone.n_models_fitting
    assert [run for run in helped.runs if run.scenario.offload == "none"] == list(alone.runs)
    for run in [run for run in helped.runs if run.scenario.offload != "none"][::6]:
        report = evaluate(run.scenario)
        assert report.memory.fits
        assert report.expected.tokens_per_s_per_user == run.tokens_per_s
        longest = run.scenario.model_copy(update={"input_tokens": run.most_context_tokens - machine.output_tokens})
        assert evaluate(longest).memory.fits


@settings(max_examples=4, deadline=None)
@given(
    st.sampled_from(["llama-3.3-70b", "gpt-oss-120b", "qwen3-30b-a3b", "deepseek-v3"]),
    st.integers(16, 20_000),
    st.floats(1.0, 100.0),
    st.randoms(use_true_random=False),
)
def test_every_offer_fits_and_runs_as_evaluate_says(model: str, prompt: int, speed: float, dice: random.Random) -> None:
    found = purchase_advice(PurchaseQuery(model=model, input_tokens=prompt, least_tokens_per_s=speed))
    for offer in dice.sample(found.offers, min(SAMPLED, len(found.offers))):
        report = evaluate(offer.scenario)
        assert report.memory.fits
        assert offer.scenario.devices == offer.devices <= 8
        assert report.expected.tokens_per_s_per_user == pytest.approx(offer.tokens_per_s, rel=CLOSE)
        assert report.expected_low.tokens_per_s_per_user == pytest.approx(offer.tokens_per_s_low, rel=CLOSE)
        assert report.expected_high.tokens_per_s_per_user == pytest.approx(offer.tokens_per_s_high, rel=CLOSE)
        assert report.expected.ttft_s == pytest.approx(offer.ttft_s, rel=CLOSE)
        assert report.cost.usd_per_hour == (None if offer.usd_per_h is None else pytest.approx(offer.usd_per_h))
        assert offer.reaches == (offer.tokens_per_s >= speed)


@settings(max_examples=6, deadline=None)
@given(st.floats(1.0, 60.0), st.floats(1.0, 4.0))
def test_a_faster_wish_never_costs_less(speed: float, factor: float) -> None:
    once, faster = (
        purchase_advice(PurchaseQuery(model="llama-3.3-70b", least_tokens_per_s=wish, hardware=("rtx3090", "l40s", "rtx5090")))
        for wish in (speed, speed * factor)
    )
    if faster.best:
        assert once.best[0].outlay_usd <= faster.best[0].outlay_usd
    assert {offer.hardware for offer in faster.best} <= {offer.hardware for offer in once.best}
