"""From which batch compute binds: held against one evaluation on each side of the answer."""

from __future__ import annotations

import pytest

from roofline import Scenario, evaluate
from roofline.answers.compute_bound import compute_bound, compute_bound_sentence
from roofline.answers.inverse import Wish, solved

LOADS = [
    Scenario(model="deepseek-v3", hardware="h200-sxm", devices=32),
    Scenario(model="deepseek-v3", hardware="h200-sxm", devices=32, request_rate=3.0, input_tokens=512, output_tokens=256),
    Scenario(model="llama-3.1-8b", hardware="h100-sxm", input_tokens=128, output_tokens=64),
    Scenario(model="llama-3.3-70b", hardware="rtx4090", devices=2, weights="q4_k_m"),
    Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=8, tensor_parallel=2, input_tokens=100, output_tokens=20),
    Scenario(model="llama-3.1-8b", hardware="rtx4090", offload="auto", input_tokens=100, output_tokens=20),
    Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=4, prefill_devices=2, input_tokens=100, output_tokens=20),
]


@pytest.mark.parametrize("load", LOADS)
def test_one_less_is_bound_by_another_and_where_none_is_one_more_does_not_fit(load):
    found = compute_bound(load)
    assert found.scenario is not None
    here = evaluate(found.scenario)
    assert here.memory.fits
    assert here.bound["decode"] == found.bound
    assert here.batch == found.most
    if found.batch is not None:
        assert found.bound == "compute"
        less = found.scenario.model_copy(update={"batch": found.batch - 1})
        assert found.batch == 1 or evaluate(less).bound["decode"] != "compute"
        return
    assert found.bound != "compute"
    more = found.scenario.model_copy(update={"batch": found.most + 1})
    assert not evaluate(more).memory.fits


def test_the_answer_does_not_depend_on_the_batch_that_is_asked():
    """One question, one answer: the critical batch of a scenario moves with the plan that its batch chooses."""
    load = LOADS[0]
    asked = [load.model_copy(update={"batch": batch}) for batch in (128, 1024, 4096)]
    assert len({compute_bound(scenario).batch for scenario in asked}) == 1
    assert len({evaluate(scenario).critical_batch_system for scenario in asked}) > 1


def test_what_does_not_fit_is_no_answer():
    found = solved("compute-bound", Wish(Scenario(model="llama-3.3-70b", hardware="rtx3090")))
    assert (found.value, found.scenario) == (None, None)
    assert "fits" in found.sentence


def test_words_name_the_plan():
    for load in LOADS[:4]:
        assert "plan chosen anew" in compute_bound_sentence(compute_bound(load))
    sentence = evaluate(LOADS[0].model_copy(update={"batch": 128})).sentence
    assert "Under this plan the critical batch is about" in sentence
