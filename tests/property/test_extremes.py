"""Extreme but legal questions: no NaN or infinity without a word, no warning, and the same laws as anywhere else."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import FleetScenario, Scenario, SearchQuery, evaluate, fleet, search, sweep
from roofline.adapters.inline import pack
from roofline.answers.serialise import plain, report_json, search_json
from roofline.errors import RooflineError

BELOW_ONE = math.nextafter(1.0, 0.0)
ONE_LAYER = pack({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 100})
MODELS = ("llama-3.1-8b", "deepseek-v3", "mamba2-2.7b", "gemma-3-27b", "jamba-v0.1", "gpt2", "deepseek-v3.2", ONE_LAYER)
MACHINES = ("h100-sxm", "rtx4090", "epyc-9654", "tpu-v5e", "apple-m4max", "cerebras-cs3", "groq-lpu1")
LOADS = {
    "devices": (1, 2, 4096, 100_000, 1_000_000),
    "input_tokens": (1, 4096, 10_000_000),
    "output_tokens": (1, 2, 10_000_000),
    "utilisation": (1.0, 1e-6),
    "prefix_hit": (0.0, BELOW_ONE),
    "forced_output": (0.0, BELOW_ONE),
    "expert_skew": (1.0, 10_000.0),
    "usd_per_device_hour": (None, 0.0, 1e6),
    "weights": (None, "fp32", "q2_k"),
    "speculative": (None, "ngram:1@1", "ngram:4@0"),
    "adapters": (None, "1000x512"),
    "offload": ("none", "auto"),
    "disk_gb_per_s": (None, 1e-6),
    "prefill_devices": (None, "auto"),
    "tensor_parallel": (None, 8),
}
ARRIVALS = ({}, {"batch": 1}, {"batch": 1_000_000}, {"batch": 100_000_000}, {"request_rate": 1e-9}, {"request_rate": 1e9})

loads = st.builds(
    lambda arrival, **rest: {**arrival, **rest},
    arrival=st.sampled_from(ARRIVALS),
    model=st.sampled_from(MODELS),
    hardware=st.sampled_from(MACHINES),
    **{name: st.sampled_from(values) for name, values in LOADS.items()},
)
moderate = st.fixed_dictionaries(
    {
        "model": st.sampled_from(MODELS),
        "hardware": st.sampled_from(MACHINES),
        "devices": st.sampled_from((1, 8, 100_000)),
        "output_tokens": st.sampled_from((1, 1024, 10_000_000)),
    }
)


def endless(value: object, path: str = "") -> Iterator[str]:
    """Where a nested result has a NaN or an infinity."""
    if isinstance(value, float | np.ndarray) and not np.all(np.isfinite(value)):
        yield path
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from endless(item, f"{path}.{key}")


@settings(max_examples=300)
@given(loads)
def test_an_estimate_is_finite_or_says_why_not(load: dict) -> None:
    try:
        report = evaluate(Scenario.model_validate(load))
    except RooflineError:
        return
    json.dumps(report_json(report), allow_nan=False)
    found = list(endless(report))
    assert not (report.memory.fits and found), found
    assert report.memory.fits or report.reasons


def test_a_disk_that_nothing_lies_on_is_no_fault() -> None:
    load = {"model": "qwen3-next-80b-a3b", "hardware": "cerebras-cs3", "devices": 64, "input_tokens": 10**6, "output_tokens": 2}
    assert "bound by" in evaluate(Scenario(**load, disk_gb_per_s=1e-6)).sentence


@settings(max_examples=60)
@given(moderate)
def test_the_rate_that_a_system_sustains_is_carried(load: dict) -> None:
    asked = Scenario.model_validate(load)
    try:
        full = evaluate(asked)
    except RooflineError:
        return
    rate = float(full.expected.requests_per_s)
    if full.memory.fits and 1e-9 <= rate <= 1e9:
        assert evaluate(asked.model_copy(update={"request_rate": rate})).memory.fits


AXES = {"batch": [1, 1_000_000, 100_000_000], "input_tokens": [1, 1_000_000, 10_000_000]}


@settings(max_examples=40)
@given(moderate, st.permutations(AXES["batch"]), st.permutations(AXES["input_tokens"]), st.booleans())
def test_a_sweep_of_extremes_is_the_loop_in_any_order(load: dict, batches: list[int], prompts: list[int], turned: bool) -> None:
    asked = Scenario.model_validate(load)
    axes = {"batch": batches, "input_tokens": prompts}
    try:
        table = sweep(asked, dict(reversed(axes.items())) if turned else axes)
    except RooflineError:
        return
    assert len(table) == 9
    for row in table.to_dict(orient="records"):
        report = evaluate(asked.model_copy(update={name: row[name] for name in AXES}))
        assert row["fits"] == report.memory.fits
        assert bool(row["reason"]) != row["fits"]
        for name in ("limit_tpot_s", "expected_tpot_s", "high_ttft_s", "expected_output_tokens_per_s"):
            label, _, field = name.partition("_")
            times = report.limit if label == "limit" else report.expected_high if label == "high" else report.expected
            np.testing.assert_allclose(row[name], float(getattr(times, field)), rtol=1e-9)
            assert np.isfinite(row[name]) == row["fits"]


@settings(max_examples=40)
@given(moderate)
def test_longer_prompts_and_larger_batches_never_take_less(load: dict) -> None:
    try:
        table = sweep(Scenario.model_validate(load), AXES)
    except RooflineError:
        return
    for axis, other, name in (("batch", "input_tokens", "decode_step_s"), ("input_tokens", "batch", "ttft_s")):
        for _, rows in table[table.fits].groupby(other):
            assert np.all(np.diff(rows.sort_values(axis)[f"limit_{name}"]) >= 0)


fleets = st.fixed_dictionaries(
    {"replica": moderate.map(Scenario.model_validate)},
    optional={
        "weekly_users": st.sampled_from((1, 10**11)),
        "messages": st.sampled_from((1e-6, 1e5)),
        "result_hit": st.sampled_from((0.0, BELOW_ONE)),
        "peak": st.sampled_from((1.0, math.nextafter(24.0, 0.0))),
        "burst": st.sampled_from((1.0, 100.0)),
        "busy": st.sampled_from((1e-6, 1.0)),
        "spares": st.sampled_from((0, 10_000)),
        "speed": st.sampled_from((1e-6, 1e6)),
        "rack_kw": st.sampled_from((1e-3, 1e5)),
        "power_budget_w": st.sampled_from((1e-3, 1e13)),
        "regions": st.sampled_from(("a:1:14:10", "a:1e-9:0,b:0.999999999:-12")),
    },
)


@settings(max_examples=60)
@given(fleets)
def test_a_fleet_is_finite_or_says_why_not(asked: dict) -> None:
    try:
        report = fleet(FleetScenario(**asked))
    except RooflineError:
        return
    json.dumps(plain(dataclasses.asdict(report)), allow_nan=False)
    assert report.reasons or not list(endless(report))


@settings(max_examples=25)
@given(
    st.sampled_from(MODELS[:-1]),
    st.sampled_from(MACHINES),
    st.sampled_from((1, 4096, 10_000_000)),
    st.sampled_from((1, 10_000_000)),
    st.sampled_from(({}, {"request_rate": 1e-9}, {"request_rate": 1e9}, {"concurrency": 1}, {"concurrency": 100_000_000})),
    st.sampled_from(({}, {"ttft_s": 1e-9}, {"tpot_s": 1e9}, {"tokens_per_s_per_user": 1e-9, "percentile": 99.999})),
)
def test_what_a_search_names_is_finite(model: str, machine: str, prompt: int, output: int, traffic: dict, promise: dict) -> None:
    query = SearchQuery(model=model, hardware=(machine,), input_tokens=prompt, output_tokens=output, **traffic, **promise)
    try:
        found = search(query)
    except RooflineError:
        return
    json.dumps(search_json(found, lambda scenario: None), allow_nan=False)
    named = (found.winners, found.nearest, found.cost_frontier, found.throughput_frontier)
    assert not list(endless(named))
    assert found.winners or found.losers


@pytest.mark.parametrize("rate", [0.0, 1e-300, 5e-324, 1e10])
def test_rates_beyond_sense_are_refused(rate: float) -> None:
    with pytest.raises(RooflineError, match="request_rate must be at"):
        Scenario(model="gpt2", hardware="h100-sxm", request_rate=rate)
