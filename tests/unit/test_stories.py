"""Stories: every place of every slider is answered, and what is said follows it."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from roofline import link
from roofline.answers.evaluate import evaluate
from roofline.answers.presets import PRESETS
from roofline.answers.stories import HOME_MODELS, MANY, STORIES, read_story
from roofline.dashboard.story_words import WORDS
from roofline.figures.story_plot import story_alt, story_figure
from roofline.figures.theme import Look

LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]


def story(name: str):
    return next(story for story in STORIES if story.id == name)


@pytest.mark.parametrize("told", STORIES, ids=lambda story: story.id)
def test_every_place_is_told_in_words_of_its_own(told) -> None:
    words, said = WORDS[told.id], set()
    for place in told.places:
        found = told.tell(place)
        text = f"{words.claim(found)} {words.verdict(found)}"
        assert "nan" not in text
        assert "n/a" not in text
        assert "None" not in text
        said.add(words.verdict(found))
        assert words.place(place)
        assert link.decode(link.encode(found.scenario)).problems == ()
    assert len(said) == len(told.places)
    assert told.start in told.places


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("told", [story for story in STORIES if WORDS[story.id].chart], ids=lambda story: story.id)
def test_every_property_is_one_that_plotly_knows(told, look) -> None:
    found, words = told.tell(told.start), WORDS[told.id].chart
    spec = story_figure(found.chart, words, look)
    go.Figure(spec)
    json.dumps(spec, allow_nan=False)
    assert len(story_alt(found.chart, words)) > 30


def test_a_large_sparse_model_is_cheap_for_many_and_dear_for_one() -> None:
    few, many = story("scale").tell(1), story("scale").tell(128)
    assert few.numbers["usd_there"] > few.numbers["usd_home"]
    assert many.numbers["usd_there"] < many.numbers["usd_home"]
    # its makers: 671 billion parameters, 37 of them active
    assert many.numbers["total"] == pytest.approx(671e9, rel=0.01)
    assert many.numbers["active"] == pytest.approx(37e9, rel=0.02)
    assert many.numbers["usd_there"] == pytest.approx(evaluate(PRESETS[0].scenario).cost.usd_per_million_output_tokens)


def test_a_batch_gains_less_than_its_size_and_takes_some_speed() -> None:
    for batch in (2, 8, 32):
        numbers = story("batching").tell(batch).numbers
        assert 1 < numbers["gain"] <= batch
        assert numbers["gain"] == pytest.approx(batch * numbers["kept"])


def test_reading_is_bound_by_compute_and_writing_by_memory() -> None:
    names = story("phases").tell(1).names
    assert (names["prefill_bound"], names["decode_bound"]) == ("compute", "memory")


def test_memory_decides_what_runs_at_home() -> None:
    def held(place: str) -> set[str]:
        chart = story("home").tell(place).chart
        return {model for model, speed in zip(HOME_MODELS, chart.series["speed"], strict=True) if speed == speed}

    # in about 4 bits 70 billion parameters take 42 GB, 120 billion 63 GB, 671 billion 400 GB
    assert held("rtx3090") == {"llama-3.1-8b", "gpt-oss-20b", "qwen3-30b-a3b", "qwen3-32b"}
    assert held("2xrtx3090") == held("rtx3090") | {"llama-3.3-70b"}
    assert held("apple-m4max") == held("2xrtx3090") | {"gpt-oss-120b"}
    assert held("apple-m3ultra") == set(HOME_MODELS)
    # the card's datasheet: 24 GB at 936 GB/s
    numbers = story("home").tell("2xrtx3090").numbers
    assert numbers["bandwidth"] == pytest.approx(2 * 936e9, rel=0.01)


def test_one_token_wakes_as_many_experts_as_it_visits() -> None:
    numbers = story("experts").tell(1).numbers
    assert numbers["touched"] == pytest.approx(8)
    assert numbers["each"] == pytest.approx(1)
    many = story("experts").tell(4096).numbers
    assert many["touched"] == pytest.approx(256)
    assert many["each"] == pytest.approx(4096 * 8 / 256, rel=1e-3)


def test_context_costs_and_bits_pay() -> None:
    usd = story("context").tell(1024).chart.series["usd"]
    assert list(usd) == sorted(usd)
    chart = story("bits").tell("q4_k_m").chart
    assert list(chart.series["one"]) == sorted(chart.series["one"])
    numbers = story("bits").tell("q8_0").numbers
    # 8.5 bits instead of 16 are at most 1.9 times as fast
    assert 1 < numbers["faster_many"] < numbers["faster_one"] < 16 / 8.5


def test_more_devices_never_reach_the_line_without_waiting() -> None:
    chart = story("network").tell(8).chart
    assert all(real <= ideal for real, ideal in zip(chart.series["user"], chart.series["ideal"], strict=True))


def test_the_words_name_the_number_of_many() -> None:
    assert WORDS["bits"].chart.series["many"].startswith(f"{MANY} ")


def test_what_is_no_story_is_none() -> None:
    for text in ("", "bits,q5", "nothing,1", "batching,1e9", "x" * 5000):
        assert read_story(text) is None
    assert read_story("bits,q8_0") == (story("bits"), "q8_0")
