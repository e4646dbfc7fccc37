"""A question turned round is answered right when its answer evaluates to the wish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roofline import Scenario, SearchQuery, evaluate, load_hardware
from roofline.answers.inverse import (
    _MONEY,
    _SOUGHT,
    Solved,
    Wish,
    break_even_price,
    fewest_devices,
    largest_batch,
    longest_context,
    needed_bandwidth,
    solved,
)
from roofline.answers.longest_context import MOST_CONTEXT_TOKENS
from roofline.errors import InputError, PlanError

CLOSE = 1e-9
few = settings(max_examples=20, deadline=None)
loads = st.builds(
    Scenario,
    model=st.sampled_from(["llama-3.1-8b", "llama-3.3-70b", "gpt-oss-120b"]),
    hardware=st.sampled_from(["h100-sxm", "a100-sxm-80", "rtx4090", "epyc-9654"]),
    devices=st.sampled_from([1, 2, 4, 8]),
    weights=st.sampled_from([None, "int4_g128"]),
    input_tokens=st.integers(16, 30_000),
    output_tokens=st.integers(2, 4_000),
    speculative=st.sampled_from([None, None, "ngram:4@0.5", "llama-3.2-1b:3@0.7"]),
    forced_output=st.sampled_from([0.0, 0.0, 0.4]),
    prefix_hit=st.sampled_from([0.0, 0.0, 0.6]),
)


def answered(found: Solved) -> Scenario:
    assume(found.value is not None)
    assert found.scenario is not None
    return found.scenario


@few
@given(loads, st.floats(0.005, 0.5))
def test_the_largest_batch_keeps_the_tpot_and_one_more_does_not(load: Scenario, tpot_s: float) -> None:
    best = answered(largest_batch(load, tpot_s=tpot_s))
    report = evaluate(best)
    assert report.memory.fits
    assert report.expected.tpot_s <= tpot_s * (1.0 + CLOSE)
    more = evaluate(best.model_copy(update={"batch": best.batch + 1}))
    assert not more.memory.fits or more.expected.tpot_s > tpot_s


@few
@given(loads, st.floats(0.02, 1.0), st.floats(0.5, 100.0))
def test_the_longest_context_keeps_the_promise_and_one_more_token_does_not(load: Scenario, tpot_s: float, ttft_s: float) -> None:
    found = longest_context(load, tpot_s=tpot_s, ttft_s=ttft_s)
    best = answered(found)
    report = evaluate(best)
    assert found.value == best.input_tokens + best.output_tokens
    assert report.memory.fits
    assert report.expected.tpot_s <= tpot_s * (1.0 + CLOSE)
    assert report.expected.ttft_s <= ttft_s * (1.0 + CLOSE)
    assume(found.value < MOST_CONTEXT_TOKENS)
    more = evaluate(best.model_copy(update={"input_tokens": best.input_tokens + 1}))
    assert not more.memory.fits or more.expected.tpot_s > tpot_s or more.expected.ttft_s > ttft_s
    ended = {"memory is full": not more.memory.fits}
    if more.memory.fits:
        ended |= {"TPOT is over": more.expected.tpot_s > tpot_s, "TTFT is over": more.expected.ttft_s > ttft_s}
    assert {words: words in found.sentence for words in ended} == ended


def with_bandwidth(folder: Path, hardware: str, bytes_per_s: float) -> str:
    """A device file that differs from the catalogue in its bandwidth alone."""
    entry = load_hardware(hardware).model_dump(mode="json", exclude={"id"}, exclude_none=True)
    entry["bandwidth"] |= {"value": bytes_per_s / 1e9, "unit": "GB/s"}
    file = folder / f"{hardware}.yaml"
    file.write_text(json.dumps({"accelerators": {hardware: entry}}), encoding="utf-8")
    return str(file)


@settings(max_examples=10, deadline=None)
@given(loads, st.integers(1, 64), st.floats(0.005, 0.5))
def test_a_device_with_the_needed_bandwidth_takes_just_the_tpot(
    tmp_path_factory: pytest.TempPathFactory, load: Scenario, batch: int, tpot_s: float
) -> None:
    found = needed_bandwidth(load.model_copy(update={"batch": batch}), tpot_s=tpot_s)
    at = answered(found)
    assume(evaluate(at).memory.fits)
    file = with_bandwidth(tmp_path_factory.mktemp("device"), at.hardware, found.value)
    assert evaluate(at.model_copy(update={"hardware": file})).expected.tpot_s == pytest.approx(tpot_s, rel=1e-6)


@few
@given(loads, st.floats(0.01, 10.0), st.floats(0.01, 50.0), st.floats(0.01, 1.0))
def test_at_the_break_even_price_a_request_costs_what_the_api_asks(
    load: Scenario, input_usd: float, output_usd: float, utilisation: float
) -> None:
    load = load.model_copy(update={"utilisation": utilisation})
    at = answered(break_even_price(load, input_usd_per_million=input_usd, output_usd_per_million=output_usd))
    asked = (input_usd * load.input_tokens + output_usd * load.output_tokens) / (load.input_tokens + load.output_tokens)
    assert evaluate(at).cost.usd_per_million_tokens == pytest.approx(asked)


@pytest.mark.parametrize("concurrency", [1, 40])
def test_the_fewest_devices_keep_the_promise_and_no_smaller_count_does(concurrency: int) -> None:
    query = SearchQuery(model="llama-3.3-70b", hardware=("h100-sxm",), weights=("fp8",), tpot_s=0.03, concurrency=concurrency)
    found = fewest_devices(query)
    report = evaluate(found.scenario)
    assert report.expected.tpot_s <= 0.03
    replicas = found.value / found.scenario.devices
    assert replicas * report.batch >= concurrency
    fewer = fewest_devices(query.model_copy(update={"most_devices": max(1, int(found.value) - 1)}))
    assert fewer.value is None or fewer.value >= found.value


@pytest.mark.parametrize(
    ("question", "wish", "words"),
    [
        ("batch", {"tpot_s": 1e-6}, "One sequence takes"),
        ("batch", {"tpot_s": 1.0, "devices": 1}, "does not fit on 1 x H100 SXM5 80GB. Does not fit: a device needs"),
        ("context", {"devices": 1}, "Does not fit: a device needs"),
        ("context", {"ttft_s": 1e-6}, "TTFT is then"),
        ("context", {"tpot_s": 1e-6}, "TPOT is then"),
        ("devices", {"tpot_s": 1e-6}, "TPOT too long"),
        ("bandwidth", {"tpot_s": 1e-6}, "No bandwidth is enough"),
        ("price", {"input_usd_per_million": 1.0, "output_usd_per_million": 1.0, "devices": 1}, "does not fit"),
    ],
)
def test_a_wish_that_cannot_be_met_is_answered_with_the_reason(question: str, wish: dict[str, float], words: str) -> None:
    scenario = Scenario(model="llama-3.3-70b", hardware="h100-sxm", devices=wish.pop("devices", 8))
    found = solved(question, Wish(scenario, **wish))
    assert found.value is None
    assert found.scenario is None
    assert words in found.sentence


@pytest.mark.parametrize(
    ("question", "words"),
    [("batch", "needs a TPOT"), ("price", "needs an API's price"), ("colour", "no question called 'colour'")],
)
def test_a_question_says_what_it_needs(question: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        solved(question, Wish(Scenario(model="llama-3.1-8b", hardware="h100-sxm")))


def test_memory_is_said_to_end_a_context_without_promises() -> None:
    found = longest_context(Scenario(model="llama-3.1-8b", hardware="rtx4090"))
    assert "with one more, memory is full" in found.sentence
    assert "trained for" not in found.sentence or found.value > 131_072


@pytest.mark.parametrize(
    "load",
    [
        {"prefix_hit": 0.5},
        {"speculative": "ngram:4@0.5"},
        {"adapters": "8x16"},
        {"tensor_parallel": 4},
        {"expert_skew": 1.5},
        {"offload": "layers:4"},
        {"memory_gib": 40.0},
        {"activations": "fp8"},
    ],
)
def test_what_a_search_has_no_place_for_is_refused_by_its_name(load: dict[str, object]) -> None:
    scenario = Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=4, **load)
    with pytest.raises(InputError, match=next(iter(load)).replace("_", " ")):
        solved("devices", Wish(scenario, tpot_s=0.05))


def test_every_field_of_a_load_reaches_the_search_or_is_refused() -> None:
    """A field that is new to a scenario is refused until a search knows it."""
    taken = SearchQuery.model_fields.keys() | {"batch", "devices"}
    assert set(_SOUGHT) <= taken
    assert set(_SOUGHT) | set(_MONEY) <= Scenario.model_fields.keys()


def test_what_devices_cost_does_not_change_how_many_are_needed_and_is_kept() -> None:
    plain = Scenario(model="llama-3.3-70b", hardware="h100-sxm", request_rate=3.0)
    priced = plain.model_copy(update={"usd_per_device_hour": 7.0, "utilisation": 0.5})
    few, same = (solved("devices", Wish(scenario, tpot_s=0.05)) for scenario in (plain, priced))
    assert few.value == same.value
    assert (same.scenario.usd_per_device_hour, same.scenario.utilisation) == (7.0, 0.5)
    assert few.scenario.usd_per_device_hour is None


def test_a_request_rate_is_what_the_fewest_devices_carry() -> None:
    scenario = Scenario(model="llama-3.3-70b", hardware="h100-sxm", request_rate=40.0)
    found = solved("devices", Wish(scenario, tpot_s=0.05))
    assert found.value > solved("devices", Wish(scenario.model_copy(update={"request_rate": 1.0}), tpot_s=0.05)).value


@pytest.mark.parametrize(
    "way", [{"context_parallel": 2}, {"expert_skew": 2.0}, {"two_batch_overlap": True}, {"speculative": "mtp:1@0.85"}]
)
def test_the_needed_bandwidth_is_that_of_the_load_as_it_is_divided(way: dict[str, object]) -> None:
    """What a device has is what it needs for the time that it takes."""
    load = Scenario(model="deepseek-v3", hardware="h100-sxm", devices=16, batch=64, **way)
    found = needed_bandwidth(load, tpot_s=evaluate(load).expected.tpot_s)
    assert found.value == pytest.approx(load_hardware("h100-sxm").bandwidth.base, rel=1e-6)


def test_the_fewest_devices_are_of_one_kind() -> None:
    with pytest.raises(InputError, match="name one hardware"):
        fewest_devices(SearchQuery(model="llama-3.1-8b", hardware=("h100-sxm", "l40s")))


def test_a_question_about_an_impossible_plan_is_refused() -> None:
    with pytest.raises(PlanError):
        largest_batch(Scenario(model="llama-3.1-8b", hardware="h100-sxm", tensor_parallel=7, devices=8), tpot_s=1.0)
