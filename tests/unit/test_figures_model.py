"""The Model page's figures as data."""

from __future__ import annotations

from dataclasses import replace
from math import log10

import numpy as np
import plotly.graph_objects as go
import pytest

from roofline.answers.anatomy import Anatomy, anatomy
from roofline.answers.curves import batch_curve
from roofline.answers.evaluate import evaluate
from roofline.figures.curves import throughput_figure
from roofline.figures.model_curves import (
    CacheMarks,
    cache_alt,
    cache_figure,
    cache_key,
    experts_alt,
    experts_figure,
)
from roofline.figures.theme import Look
from roofline.specs.scenario import Scenario

LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]
MARKS = CacheMarks(32_768, 5_120, "a <b>device</b>", 85e9)


@pytest.fixture(scope="module")
def sliding() -> Anatomy:
    return anatomy("gemma-3-27b")


@pytest.fixture(scope="module")
def experts() -> Anatomy:
    return anatomy("deepseek-v3")


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("ref", ["llama-3.1-8b", "deepseek-v3", "gemma-3-27b", "jamba-v0.1", "qwen3.5-27b"])
def test_every_property_is_one_that_plotly_knows(look, ref) -> None:
    found = anatomy(ref)
    go.Figure(cache_figure(found, MARKS, look))
    if found.experts is not None:
        go.Figure(experts_figure(found.experts, 64, look))


def test_the_least_cache_is_drawn_and_the_choice_stands_on_it(sliding) -> None:
    spec = cache_figure(sliding, MARKS, Look())
    least = next(t for t in spec["data"] if t["name"] == "least needed")
    ring = next(t for t in spec["data"] if t["name"] == "chosen")
    assert least["y"] == list(sliding.cache.least_bytes)
    assert ring["y"][0] == pytest.approx(least["y"][least["x"].index(32_768.0)])


def test_engines_that_reserve_the_same_are_one_line(sliding) -> None:
    spec = cache_figure(sliding, MARKS, Look())
    drawn = [t["name"] for t in spec["data"] if t["name"].startswith("reserved")]
    assert drawn == ["reserved by llama-cpp, cpu"]
    assert cache_key(sliding).endswith("dashed: set aside by llama-cpp and cpu.")


def test_engines_that_reserve_what_is_needed_are_named_and_not_drawn(sliding) -> None:
    cache = replace(sliding.cache, reserved_bytes=dict.fromkeys(("a", "b", "c"), sliding.cache.least_bytes))
    even = replace(sliding, cache=cache)
    assert [t["name"] for t in cache_figure(even, MARKS, Look())["data"]] == ["least needed", "chosen"]
    assert "about what a, b and c set aside" in cache_key(even)
    assert "engines reserve about that" in cache_alt(even, MARKS)


def test_the_scenario_and_the_device_are_marked(sliding) -> None:
    words = [note["text"] for note in cache_figure(sliding, MARKS, Look())["layout"]["annotations"]]
    assert "this scenario: 5,120" in words
    assert "memory of one a &lt;b&gt;device&lt;/b&gt;" in words


def test_a_device_far_above_the_curve_is_left_out(sliding) -> None:
    spec = cache_figure(sliding, replace(MARKS, device_bytes=1e15), Look())
    assert not any("memory of one" in note["text"] for note in spec["layout"]["annotations"])
    assert 10 ** spec["layout"]["yaxis"]["range"][1] < 1e12


def test_a_context_beyond_the_curve_widens_the_axis(sliding) -> None:
    spec = cache_figure(sliding, replace(MARKS, context_tokens=1_048_576), Look())
    assert spec["layout"]["xaxis"]["range"][1] > log10(1_048_576)


def test_experts_are_drawn_up_to_all_of_them(experts) -> None:
    assert experts.experts is not None
    spec = experts_figure(experts.experts, 64, Look())
    touched = next(t for t in spec["data"] if t["name"] == "experts touched")
    assert touched["y"][0] == pytest.approx(8)
    assert touched["y"][-1] == pytest.approx(256)
    assert [t["x"] for t in spec["data"] if t["name"] == "chosen"] == [[64.0], [64.0]]
    # 256 (1 - (1 - 8/256)^64), and 64 * 8 tokens spread over them
    assert "<b>222</b>" in [note["text"] for note in spec["layout"]["annotations"]]
    assert "touch 222 of them; each touched one works for 2.30 tokens" in experts_alt(experts.experts, 64)


def test_figures_hold_plain_lists(sliding) -> None:
    for trace in cache_figure(sliding, MARKS, Look())["data"]:
        assert not any(isinstance(value, np.ndarray) for value in trace.values())


def test_a_limit_far_above_the_expectation_makes_the_axis_logarithmic() -> None:
    far = evaluate(Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=8, batch=8))
    near = evaluate(Scenario(model="llama-3.1-8b", hardware="rtx3090", devices=1, batch=1))
    for report, kind in ((far, "log"), (near, "linear")):
        layout = throughput_figure(report, batch_curve(report), Look())["layout"]
        assert layout["yaxis"].get("type", "linear") == kind
        assert layout["yaxis2"].get("type", "linear") == kind
        for look in LOOKS:
            go.Figure(throughput_figure(report, batch_curve(report), look))
