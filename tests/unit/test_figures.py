"""Figures as data: what they hold, where words stand, and that a typo in a property name fails here."""

from __future__ import annotations

from dataclasses import replace
from math import isclose, isfinite, log10

import numpy as np
import plotly.graph_objects as go
import pytest

from roofline.answers.report import (
    BatchCurve,
    Cost,
    Formats,
    Memory,
    OperatorRow,
    Plan,
    Report,
    Share,
    Times,
)
from roofline.figures.batch_axis import bound_runs
from roofline.figures.curves import cost_alt, cost_figure, throughput_alt, throughput_figure
from roofline.figures.labels import Box, Mark, along, around, clusters, place
from roofline.figures.roofline_geometry import ceilings, scene
from roofline.figures.roofline_plot import roofline_alt, roofline_figure
from roofline.figures.theme import PALETTES, Look, as_figure, tint
from roofline.specs.scenario import Scenario

PEAKS = {"fp32": 67e12, "bf16": 1e15, "fp16": 1e15, "fp8": 2e15, "int8": 2e15}
BANDWIDTH = 4e12
LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]
HOSTILE = "<img src=x onerror=alert(1)>"


def times(batch, step_s, fits=True) -> Times:
    known = np.where(fits, 1.0, np.nan)
    return Times(
        ttft_s=0.4 * known,
        prefill_tokens_per_s=4e4 * known,
        tpot_s=step_s * known,
        tpot_including_ttft_s=step_s * 1.1 * known,
        decode_step_s=step_s * known,
        tokens_per_s_per_user=known / step_s,
        output_tokens_per_s=batch / step_s * known,
        requests_per_s=batch / step_s / 1000 * known,
        request_output_tokens_per_s=batch / step_s * 0.7 * known,
    )


def step_s(batch):
    return 9e-3 + batch * 2e-5


def row(phase, name, flops, traffic, network=0.0) -> OperatorRow:
    compute, memory = flops / PEAKS["fp8"], traffic / BANDWIDTH
    limit = max(compute, memory, network / 4e11)
    bound = "network" if network else "compute" if compute > memory else "memory"
    intensity = flops / traffic if traffic else 0.0
    return OperatorRow(
        phase, name, 60, flops, traffic, traffic, 0.0, 0.0, network, intensity, compute, memory, limit, limit * 1.4, bound, bound
    )


OPERATORS = (
    row("prefill", "attention/query", 1.2e13, 4e8),
    row("prefill", "experts/gate_up", 9e13, 2.6e10),
    row("prefill", "experts/down", 4.5e13, 1.3e10),
    row("decode", "attention/query", 3e10, 3e8),
    row("decode", "attention/latent", 2.5e11, 1.3e9),
    row("decode", "experts/gate_up", 2.5e11, 2.4e10),
    row("decode", "experts/down", 1.2e11, 1.2e10),
    row("decode", "output_head", 1.1e10, 1.1e8),
    row("decode", "collective/all_to_all", 0.0, 0.0, network=1e8),
)


@pytest.fixture
def report() -> Report:
    batch = 128
    scenario = Scenario(model="m", hardware="h", devices=16, input_tokens=4096, output_tokens=1024, batch=batch)
    return Report(
        scenario=scenario,
        model_name="A model",
        hardware_name="A device",
        batch=batch,
        context_tokens=4608,
        plan=Plan(8, 1, 2, 16, True, 16, "As asked."),
        formats=Formats("fp8", "fp8", "fp8", "bf16", "fp8", "bf16"),
        memory=Memory(4e10, 6e9, 6e9, 1e9, 3e9, 8.5e10, 3e8, True, 1200, None, None),
        critical_batch_dense=500,
        critical_batch_with_experts=600,
        critical_batch_system=600,
        sustained_requests_per_s=None,
        ridge_flops_per_byte=PEAKS["fp8"] / BANDWIDTH,
        peak_flops_per_s=PEAKS,
        bandwidth_bytes_per_s=BANDWIDTH,
        limit=times(batch, step_s(batch) / 1.5),
        expected=times(batch, step_s(batch)),
        expected_low=times(batch, step_s(batch) * 1.2),
        expected_high=times(batch, step_s(batch) * 0.9),
        bound={"prefill": "compute", "decode": "memory"},
        shares={"decode": (Share("memory", 9e-3),), "prefill": (Share("compute", 0.3),)},
        mfu={"prefill": 0.5, "decode": 0.03},
        mbu={"prefill": 0.1, "decode": 0.6},
        cost=Cost(0.3, None, 1.14, 0.5, 40.0, 2.0, None, 0.94, 1.45, 0.8, 2.5, "your price"),
        operators=OPERATORS,
        sentence="Decode is bound by memory bandwidth.",
        assumptions=(),
    )


@pytest.fixture
def curve() -> BatchCurve:
    most = 1200
    batch = np.unique(np.append(np.round(2.0 ** np.arange(0, 11.5, 0.25)), most))
    fits = batch <= most
    step = step_s(batch)
    usd = np.where(fits, 11.0 / (batch / step) * 1e3, np.nan)
    flops = batch * 5e9
    return BatchCurve(
        batch=batch,
        max_batch=most,
        limit=times(batch, step / 1.5, fits),
        expected=times(batch, step, fits),
        expected_low=times(batch, step * 1.2, fits),
        expected_high=times(batch, step * 0.9, fits),
        bound=tuple("latency" if b < 8 else "memory" for b in batch),
        usd_per_million_output_tokens=usd,
        usd_per_million_output_tokens_low=usd * 0.9,
        usd_per_million_output_tokens_high=usd * 1.2,
        usd_per_million_output_tokens_at_limit=usd / 1.5,
        intensity_flops_per_byte=flops / (4e10 + batch * 1e7),
        flops_per_s_per_device=flops / step,
    )


def texts(spec) -> list[str]:
    return [note["text"] for note in spec["layout"]["annotations"]]


def named(spec, start) -> list[dict]:
    return [trace for trace in spec["data"] if trace["name"].startswith(start)]


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("maker", [roofline_figure, throughput_figure, cost_figure])
def test_every_property_is_one_that_plotly_knows(maker, look, report, curve) -> None:
    go.Figure(maker(report, curve, look))


def test_the_wrapper_keeps_the_figure_as_it_is(report, curve) -> None:
    spec = roofline_figure(report, curve, Look())
    assert len(as_figure(spec).to_dict()["data"]) == len(spec["data"])


@pytest.mark.parametrize("maker", [roofline_figure, throughput_figure, cost_figure])
def test_the_same_input_gives_the_same_figure(maker, report, curve) -> None:
    assert as_figure(maker(report, curve, Look())).to_json() == as_figure(maker(report, curve, Look())).to_json()


def test_one_ceiling_per_distinct_peak_and_one_in_use(report, curve) -> None:
    spec = roofline_figure(report, curve, Look())
    drawn = named(spec, "ceiling")
    assert len(drawn) == len(set(PEAKS.values())) == 3
    assert [t["line"]["width"] for t in drawn if "dash" not in t["line"]] == [2.5]
    assert [c.name for c in ceilings(report)] == ["FP8", "BF16, FP16", "FP32"]


def test_the_roof_in_use_bends_at_the_ridge(report, curve) -> None:
    roof = named(roofline_figure(report, curve, Look()), "ceiling FP8")[0]
    assert roof["x"][1] == pytest.approx(500)
    assert roof["y"][0] == pytest.approx(roof["x"][0] * BANDWIDTH)
    assert roof["y"][1] == roof["y"][2] == 2e15


def test_a_ceiling_above_the_one_in_use_starts_at_its_corner(report, curve) -> None:
    slower = replace(report, formats=replace(report.formats, gemm_rate="bf16"), ridge_flops_per_byte=PEAKS["bf16"] / BANDWIDTH)
    roof = named(roofline_figure(slower, curve, Look()), "ceiling FP8, INT8")[0]
    assert roof["x"][0] == pytest.approx(250)
    assert roof["line"]["dash"]


def test_operators_are_diamonds_and_circles_sized_by_share(report, curve) -> None:
    spec = roofline_figure(report, curve, Look())
    prefill, decode = named(spec, "prefill")[0], named(spec, "decode")[0]
    assert (prefill["marker"]["symbol"], decode["marker"]["symbol"]) == ("diamond", "circle")
    assert len(prefill["x"]) == 3
    assert len(decode["x"]) == 5  # the collective has no arithmetic: table only
    assert decode["ids"][int(np.argmax(decode["marker"]["size"]))] == "decode:experts/gate_up"


def test_no_operator_stands_above_the_roof(report, curve) -> None:
    for dot in scene(report, curve, Look()).dots:
        assert dot.y <= min(2e15, dot.x * BANDWIDTH)


def test_the_path_holds_every_batch_that_fits(report, curve) -> None:
    spec = roofline_figure(report, curve, Look())
    path = named(spec, "path of the batch")[0]
    assert len(path["x"]) == int(np.sum(np.asarray(curve.batch) <= curve.max_batch))
    assert "batch 1,024" in named(spec, "batches")[0]["text"][-1]
    assert "batch 128" in named(spec, "chosen batch")[0]["text"][0]


def test_annotations_stand_on_log_axes(report, curve) -> None:
    spec = roofline_figure(report, curve, Look())
    low, high = spec["layout"]["xaxis"]["range"]
    assert all(low <= note["x"] <= high for note in spec["layout"]["annotations"])
    ridge = next(note for note in spec["layout"]["annotations"] if note["text"].startswith("ridge"))
    assert isclose(ridge["x"], log10(500))


def test_a_phone_has_no_operator_labels_and_no_zoom(report, curve) -> None:
    spec = roofline_figure(report, curve, Look(compact=True))
    assert not any("experts" in text for text in texts(spec))
    assert spec["layout"]["xaxis"]["fixedrange"]
    assert spec["layout"]["dragmode"] is False


def test_names_from_files_are_escaped(report, curve) -> None:
    hostile = replace(report, operators=(replace(OPERATORS[0], name=HOSTILE), *OPERATORS[1:]))
    shown = as_figure(roofline_figure(hostile, curve, Look())).to_json()
    assert "<img" not in shown
    assert "&lt;img" in shown.replace("\\u003c", "<").replace("\\u0026", "&")


@pytest.mark.parametrize("n", [1, 5, 40])
def test_labels_meet_neither_each_other_nor_obstacles(n) -> None:
    generator = np.random.default_rng(n)
    spots = generator.uniform((20, 20), (420, 380), (n, 2))
    marks = [Mark(x, y, 6, f"operator {i}", "decode", float(i)) for i, (x, y) in enumerate(spots)]
    obstacles = [around(m.x, m.y, m.radius) for m in marks] + along((0, 390), (430, 10))
    frame = Box(0, 0, 430, 394)
    labels = place(clusters(marks), obstacles, frame, 13)
    assert labels
    for i, label in enumerate(labels):
        assert label.box.inside(frame)
        assert not any(label.box.meets(o) for o in obstacles)
        assert not any(label.box.meets(other.box) for other in labels[i + 1 :])


def test_what_finds_no_room_has_no_label() -> None:
    assert place([Mark(50, 50, 5, "name", "decode", 1)], [Box(0, 0, 100, 100)], Box(0, 0, 100, 100), 13) == []


def test_a_crowd_takes_the_name_of_its_heaviest() -> None:
    crowd = [Mark(10, 10, 5, "small", "decode", 1), Mark(12, 12, 5, "large", "decode", 2)]
    other = [Mark(11, 11, 5, "prefill", "prefill", 1)]
    assert [m.text for m in clusters(crowd + other)] == ["large +1", "prefill"]


def test_two_panels_share_the_batch_axis(report, curve) -> None:
    spec = throughput_figure(report, curve, Look())
    assert {trace["yaxis"] for trace in spec["data"]} == {"y", "y2"}
    assert all("xaxis" not in trace for trace in spec["data"])
    top, bottom = spec["layout"]["yaxis"]["domain"], spec["layout"]["yaxis2"]["domain"]
    assert bottom[1] < top[0]


def test_limit_and_expected_are_named_in_each_panel(report, curve) -> None:
    words = texts(throughput_figure(report, curve, Look()))
    assert words.count("limit") == words.count("<b>expected</b>") == 2
    assert "over 1,200: memory full" in words


def test_the_ring_marks_the_chosen_batch(report, curve) -> None:
    spec = throughput_figure(report, curve, Look())
    rings = named(spec, "chosen batch")
    assert [r["x"] for r in rings] == [[128], [128]]
    assert rings[0]["y"][0] == pytest.approx(float(report.expected.output_tokens_per_s))
    assert f"<b>{float(report.expected.tokens_per_s_per_user):.1f}</b>" in texts(spec)


def test_lines_end_where_memory_is_full(report, curve) -> None:
    expected = named(throughput_figure(report, curve, Look()), "expected")[0]
    assert max(expected["x"]) == curve.max_batch
    assert all(isfinite(y) for y in expected["y"])


def test_the_strip_names_each_bound_once(curve) -> None:
    assert [(b, round(start), round(end)) for b, start, end in bound_runs(curve)] == [
        ("latency", 1, 8),
        ("memory", 8, 1200),
    ]


def test_the_critical_batch_is_marked_when_on_the_axis(report, curve) -> None:
    assert "critical 600" in texts(throughput_figure(report, curve, Look()))
    beyond = replace(report, critical_batch_system=1e5)
    assert not any(t.startswith("critical") for t in texts(throughput_figure(beyond, curve, Look())))


def test_a_load_that_does_not_fit_has_no_ring(report, curve) -> None:
    nothing = times(128, step_s(128), fits=False)
    lost = replace(report, expected=nothing, limit=nothing)
    assert named(throughput_figure(lost, curve, Look()), "chosen batch") == []


def test_cost_is_drawn_on_log_axes_with_its_limit(report, curve) -> None:
    spec = cost_figure(report, curve, Look())
    assert spec["layout"]["yaxis"]["type"] == spec["layout"]["xaxis"]["type"] == "log"
    assert [t["name"] for t in spec["data"]] == ["band", "limit", "expected", "chosen batch"]


def test_a_machine_that_holds_one_sequence_still_has_a_figure(report, curve) -> None:
    one = replace(report, batch=1, scenario=report.scenario.model_copy(update={"batch": 1}))
    tiny = replace(
        curve,
        max_batch=1,
        expected=times(np.asarray(curve.batch), step_s(np.asarray(curve.batch)), np.asarray(curve.batch) <= 1),
    )
    spec = throughput_figure(one, tiny, Look())
    go.Figure(spec)
    assert "<b>expected</b>" not in texts(spec)


def test_a_figure_without_a_path_is_drawn_all_the_same(report, curve) -> None:
    spec = roofline_figure(report, replace(curve, max_batch=0), Look())
    assert named(spec, "path of the batch") == named(spec, "chosen batch") == []


def test_a_late_choice_has_its_number_on_the_left(report, curve) -> None:
    late = replace(report, batch=1024)
    spec = throughput_figure(late, curve, Look())
    number = next(n for n in spec["layout"]["annotations"] if n["text"].startswith("<b>") and n["text"][3].isdigit())
    assert number["xanchor"] == "right"


def test_alternatives_say_the_answer(report, curve) -> None:
    assert "bound by memory bandwidth" in roofline_alt(report)
    assert "at most 1,200 sequences fit" in throughput_alt(report, curve)
    assert "1.14 USD per million output tokens (0.940 to 1.45)" in cost_alt(report)


def test_text_colours_are_readable_on_their_page() -> None:
    for palette in PALETTES.values():
        for colour in (palette.text, palette.muted, palette.primary, palette.bad, palette.good):
            assert _contrast(colour, palette.page) >= 4.5
        for colour in (*palette.bounds.values(), *palette.phases.values()):
            assert _contrast(colour, palette.page) >= 3


def test_a_tint_keeps_the_colour() -> None:
    assert tint("#0878B8", 0.17) == "rgba(8,120,184,0.17)"


def _contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
