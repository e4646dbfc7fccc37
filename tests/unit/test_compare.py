"""Scenarios side by side: the link, the numbers, the words and the figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from typer.testing import CliRunner

from roofline import link
from roofline.answers.compare import Comparison, compare, curves, differences, variants
from roofline.answers.evaluate import evaluate
from roofline.answers.field_map import AXES, VALUES, FieldMap, field_map, iso_costs
from roofline.answers.presets import PRESETS
from roofline.cli import app
from roofline.dashboard.compare_words import answer_html, comparison_table, csv_rows, curve_rows, map_sentence, memory_html
from roofline.errors import InputError, LinkError
from roofline.figures.compare_plot import PLOTS, compare_alt, compare_figure
from roofline.figures.map_plot import map_alt, map_figure
from roofline.figures.theme import LIGHT, Look
from roofline.link_compare import decode_others, encode_others, many_from_links, query_of
from roofline.specs.scenario import Scenario

A = Scenario(model="llama-3.3-70b", hardware="h200-sxm", weights="fp8", batch=32, input_tokens=2048, output_tokens=512)
LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]
OTHERS = {
    "hardware": {"hardware": "h100-sxm", "devices": 2},
    "rate": {"batch": None, "request_rate": 3.5},
    "most": {"batch": None},
    "owned": {"ownership": "on"},
    "plan": {"devices": 4, "tensor_parallel": 2, "data_parallel": 2},
    "draft": {"speculative": "ngram:4@0.5", "prefix_hit": 0.25},
    "model": {"model": "deepseek-v3", "hardware": "h100-sxm", "devices": 16, "weights": None},
    "mixed": {"hardware": "2xrtx3090+rtx4090", "devices": 3, "weights": "q4_k_m"},
}


def varied(base: Scenario = A, **changed: object) -> Scenario:
    return Scenario.model_validate({**{name: getattr(base, name) for name in Scenario.model_fields}, **changed})


@pytest.fixture(scope="module")
def four() -> Comparison:
    # 70 billion parameters in 16 bits take 140 GB: one RTX 4090 has 24
    d = varied(hardware="rtx4090", weights="bf16", batch=1)
    return compare({"a": A, "b": varied(hardware="h100-sxm", devices=2), "c": varied(batch=64), "d": d})


# the link


@pytest.mark.parametrize("base", [A, PRESETS[0].scenario, varied(batch=None, request_rate=2.0), varied(usd_per_device_hour=2.0)])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_compared_comes_back_from_its_link(base, name) -> None:
    own = dict(OTHERS[name])
    if own.get("batch", 0) is None or "request_rate" in own:
        own = {"request_rate": None, **own}
    if "ownership" in own:
        own["usd_per_device_hour"] = None
    other = varied(base, **own)
    found = decode_others(encode_others(base, {"b": other, "d": base}), base)
    assert found.problems == ()
    assert found.scenarios == {"b": other, "d": base}


def test_only_differences_are_written_and_the_first_release_reads_the_rest() -> None:
    written = encode_others(A, {"b": varied(hardware="h100-sxm", devices=2)})
    assert written == {"b.hw": "h100-sxm", "b.n": "2"}
    query = {**link.encode(A), **written, "plot": "cost", "map": "batch,devices,usd", "story": "bits"}
    assert link.decode(query) == link.Decoded(A, ())


def test_a_usual_comparison_of_four_stays_short() -> None:
    others = {"b": varied(hardware="h100-sxm", devices=2), "c": varied(weights="q4_k_m"), "d": varied(hardware="mi300x")}
    assert len(query_of({"a": A, **others})) < 400


def test_what_changes_with_the_first_is_only_what_the_others_share_with_it() -> None:
    written = encode_others(A, {"b": varied(hardware="h100-sxm")})
    moved = decode_others(written, varied(batch=8)).scenarios["b"]
    assert (moved.hardware, moved.batch) == ("h100-sxm", 8)


def test_a_batch_of_its_own_takes_the_place_of_the_rate_of_the_first() -> None:
    found = decode_others({"b.batch": "4"}, varied(batch=None, request_rate=2.0)).scenarios["b"]
    assert (found.batch, found.request_rate) == (4, None)
    found = decode_others({"b.own": "on"}, varied(usd_per_device_hour=2.0)).scenarios["b"]
    assert found.usd_per_device_hour is None
    assert found.ownership is not None


def test_damage_is_told_with_its_letter_and_spoils_nothing_else() -> None:
    found = decode_others({"b.hw": "<b>no</b>", "b.n": "4", "c.x": "1", "c.batch": "64"}, A)
    assert found.scenarios == {"b": varied(devices=4), "c": varied(batch=64)}
    assert [problem[:2] for problem in found.problems] == ["B:", "C:"]
    assert "as in A" in found.problems[0]
    assert decode_others({"b.hw": "x" * 5000}, A).scenarios == {}


def test_a_comparison_opens_no_file() -> None:
    found = decode_others({"b.model": "../../etc/passwd", "b.hw": "/etc/hosts.yaml"}, A)
    assert found.scenarios["b"] == A
    assert len(found.problems) == 2


# the numbers


def test_twice_the_price_is_twice_the_cost_and_no_faster() -> None:
    found = compare({"a": varied(usd_per_device_hour=2.0), "b": varied(usd_per_device_hour=4.0)})
    deltas = {delta.name: delta for delta in found.deltas}
    assert deltas["usd_per_million_output_tokens"].ratio == pytest.approx(2.0)
    assert deltas["usd_per_hour"].ratio == pytest.approx(2.0)
    assert deltas["tokens_per_s_per_user"].alike
    best = {headline.name: headline.best for headline in found.headlines}
    assert best["usd_per_million_output_tokens"] == ("a",)
    assert best["tokens_per_s_per_user"] == ()


def test_copies_of_a_system_deliver_in_proportion_and_cost_the_same() -> None:
    one = varied(tensor_parallel=1, pipeline_parallel=1, data_parallel=1)
    two = varied(one, devices=2, batch=64, data_parallel=2)
    deltas = {delta.name: delta for delta in compare({"a": one, "b": two}).deltas}
    assert deltas["output_tokens_per_s"].ratio == pytest.approx(2.0, rel=1e-3)
    assert deltas["usd_per_million_output_tokens"].alike
    assert deltas["tokens_per_s_per_user"].alike


def test_the_numbers_are_those_of_each_scenario_alone(four) -> None:
    alone = evaluate(varied(batch=64))
    held = next(item for item in four.headlines if item.name == "output_tokens_per_s").values["c"]
    assert held is not None
    assert (held.value, held.limit) == (float(alone.expected.output_tokens_per_s), float(alone.limit.output_tokens_per_s))
    assert held.low <= held.value <= held.high <= held.limit * 1.5


def test_what_does_not_fit_stays_with_its_reason(four) -> None:
    d = four.entries[-1]
    assert d.answered is None
    assert d.reason.startswith("Does not fit")
    assert all(item.values["d"] is None for item in four.headlines)
    assert set(curves(four)) == {"a", "b", "c"}


def test_what_has_no_answer_stays_with_its_reason() -> None:
    broken = varied(devices=4, tensor_parallel=3)
    found = compare({"a": A, "b": broken})
    assert found.entries[1].report is None
    assert found.entries[1].reason
    assert "B: " in answer_html(found)


def test_differences_come_in_the_order_of_a_scenario() -> None:
    found = differences({"a": A, "b": varied(batch=8), "c": varied(hardware="h100-sxm")})
    assert [item.field for item in found] == ["hardware", "batch"]
    assert found[1].values == {"a": 32, "b": 8, "c": 32}
    assert differences({"a": A, "b": A}) == ()


def test_half_the_bits_are_half_the_bits() -> None:
    assert variants(varied(weights="bf16"))["bits"].weights == "fp8"
    assert variants(varied(weights="fp8"))["bits"].weights == "int4_g128"
    assert "bits" not in variants(varied(weights="q4_k_m"))
    assert variants(A)["devices"].devices == 2


# the words


def test_sentences_say_who_is_faster_and_cheaper() -> None:
    found = compare({"a": varied(usd_per_device_hour=2.0), "b": varied(usd_per_device_hour=1.0)})
    said = answer_html(found)
    assert "B is as fast per user as A." in said
    assert "An output token of B costs 50% less." in said
    assert "is the same as A so far" in answer_html(compare({"a": A, "b": A}))


def test_the_table_has_every_scenario_and_escapes_names(four) -> None:
    said = comparison_table(four)
    assert said.count("does not fit") == len(four.headlines)
    assert "H100 SXM5 80GB" in said
    hostile = compare({"a": A, "b": A.model_copy(update={"engine": "<script>"})})
    assert "<script>" not in comparison_table(hostile) + answer_html(hostile)
    assert "24.0 GiB" in memory_html(four, LIGHT)
    assert {row["scenario"] for row in csv_rows(four)} == {"A", "B", "C"}
    rows = [row for row in curve_rows(curves(four)) if (row["scenario"], row["batch"]) == ("C", 64)]
    assert [row["output_tokens_per_s"] for row in rows] == [
        pytest.approx(float(four.entries[2].answered.expected.output_tokens_per_s))
    ]


# the map


@pytest.mark.parametrize("value", VALUES)
def test_the_map_agrees_with_the_scenario_itself(value) -> None:
    found, alone = field_map(A, "batch", "input_tokens", value), evaluate(A)
    assert found.chosen is not None
    column, row = found.chosen
    assert (found.x_values[column], found.y_values[row]) == (32, 2048)
    expected = {
        "user": alone.expected.tokens_per_s_per_user,
        "total": alone.expected.output_tokens_per_s,
        "usd": alone.cost.usd_per_million_output_tokens,
        "ttft": alone.expected.ttft_s,
    }
    assert found.z[row, column] == pytest.approx(float(expected[value]))


def test_every_pair_of_inputs_makes_a_map() -> None:
    names = list(AXES)
    for x, y in zip(names, [*names[1:], names[0]], strict=True):
        found = field_map(A, x, y, "usd")
        assert found.z.shape == (len(found.y_values), len(found.x_values))
        assert found.chosen is not None
        assert np.array_equal(np.isnan(found.z), ~found.fits)


def test_cost_falls_with_use_in_proportion() -> None:
    found = field_map(A, "utilisation", "batch", "usd")
    used = np.array(found.x_values, dtype=float)
    assert np.allclose(found.z[0] * used, found.z[0, -1])


def test_a_full_machine_is_grey_and_says_so() -> None:
    found = field_map(varied(hardware="rtx4090", weights="bf16"), "batch", "input_tokens", "user")
    assert found.best is None
    assert found.fitting[0] == 0
    assert "None of the" in map_sentence(found)
    assert "none of" in map_alt(found)
    go.Figure(map_figure(found, Look()))


def test_a_line_of_equal_cost_is_named_where_it_crosses() -> None:
    base = field_map(A, "batch", "devices", "usd")
    plane = replace(base, usd=np.array([[8.0, 4.0, 2.0], [16.0, 8.0, 4.0]]))
    marks = {mark.usd: mark.places[0] for mark in iso_costs(plane)}
    assert set(marks) == {3.0, 10.0}
    assert marks[3.0] == pytest.approx((1.5, 0.0))
    assert marks[10.0] == pytest.approx((0.75, 1.0))


@pytest.mark.parametrize(("x", "y"), [("batch", "batch"), ("batch", "colour"), ("engine", "batch")])
def test_a_map_needs_two_inputs_it_knows(x, y) -> None:
    with pytest.raises(InputError):
        field_map(A, x, y, "user")


def test_a_rate_and_the_most_that_fit_make_a_map_too() -> None:
    for scenario in (varied(batch=None, request_rate=1.0), varied(batch=None)):
        assert field_map(scenario, "batch", "input_tokens", "user").fitting[0] > 0


# the figures


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_every_property_is_one_that_plotly_knows(four, look) -> None:
    reports = {entry.letter: entry.answered for entry in four.entries if entry.answered is not None}
    for plot in PLOTS:
        spec = compare_figure(reports, curves(four), plot, look)
        go.Figure(spec)
        json.dumps(spec, allow_nan=False)
        assert "C at batch 64" in compare_alt(reports, plot)
    for x, y, value in (("batch", "input_tokens", "user"), ("weights", "devices", "ttft")):
        spec = map_figure(field_map(A, x, y, value), look)
        go.Figure(spec)
        json.dumps(spec, allow_nan=False)


def test_each_scenario_has_its_own_colour_dash_and_mark(four) -> None:
    reports = {entry.letter: entry.answered for entry in four.entries if entry.answered is not None}
    spec = compare_figure(reports, curves(four), "total", Look())
    lines = [trace["line"] for trace in spec["data"] if trace["name"] in "ABC"]
    assert len({line["color"] for line in lines}) == len({line["dash"] for line in lines}) == 3
    rings = {trace["name"]: trace for trace in spec["data"] if trace["name"].endswith("chosen")}
    assert rings["C chosen"]["x"] == [64.0]
    assert rings["C chosen"]["y"][0] == pytest.approx(float(reports["c"].expected.output_tokens_per_s))


def test_the_chosen_point_of_a_map_is_ringed() -> None:
    found: FieldMap = field_map(A, "batch", "input_tokens", "user")
    ring = next(trace for trace in map_figure(found, Look())["data"] if trace["name"] == "this scenario")
    assert (ring["x"], ring["y"]) == ([found.chosen[0]], [found.chosen[1]])


# the command


def run(*arguments: str):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_command_takes_links_or_one_link() -> None:
    several = run("?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=8", "?v=1&model=llama-3.1-8b&hw=h100-sxm&n=2&batch=8", "--json")
    one = run("http://localhost:8501/compare?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=8&b.n=2", "--json")
    assert several.exit_code == one.exit_code == 0
    answer = json.loads(one.stdout)
    assert json.loads(several.stdout) == answer
    assert answer["differences"] == {"devices": {"a": 1, "b": 2}}
    assert many_from_links([answer["link"]])[0]["b"].devices == 2
    text = run("?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=8&b.n=2")
    assert text.exit_code == 0
    assert "devices" in text.stdout


def test_one_scenario_or_five_are_refused_in_a_sentence() -> None:
    for links in (["?v=1&batch=8"], ["?v=1&batch=8"] * 5):
        with pytest.raises(LinkError, match="two to 4"):
            many_from_links(links)
    assert run("?v=1&batch=8").exit_code == 2
