"""A formula against one input: the curve as data and as a figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from roofline.answers.formula_curve import formula_curve
from roofline.answers.formulary import formulary, load_formula
from roofline.errors import InputError
from roofline.figures.formula_plot import formula_alt, formula_figure
from roofline.figures.theme import Look

LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]


def curve(name: str, against: str, **values: float):
    formula = load_formula(name)
    return formula_curve(formula, {**formula.example, **values}, against)


def test_the_curve_runs_from_a_tenth_to_ten_times_and_holds_the_value_itself() -> None:
    found = curve("lower_bound_s", "work_flops")
    assert found.inputs[0] == pytest.approx(4e11)
    assert found.inputs[-1] == pytest.approx(4e13)
    # memory bound below 1e12 FLOP (1 GB at 1 TB/s), proportional above: the roofline's own shape
    assert found.results[0] == pytest.approx(1e-3)
    assert found.results[list(found.inputs).index(4e12)] == pytest.approx(4e-3)
    assert found.results[-1] == pytest.approx(4e-2)


def test_counts_stay_whole_and_shares_stay_below_one() -> None:
    assert all(value == round(value) for value in curve("distinct_experts", "n_tokens").inputs)
    assert curve("fewest_servers", "wait_frac").inputs.max() == 1.0


@pytest.mark.parametrize(("value", "told"), [(0.0, "above zero"), (-1.0, "below 0")])
def test_a_curve_needs_a_value_above_zero(value, told) -> None:
    with pytest.raises(InputError, match=told):
        curve("lower_bound_s", "work_flops", work_flops=value)


def test_an_unknown_input_is_told() -> None:
    with pytest.raises(InputError, match="takes work_flops"):
        curve("lower_bound_s", "work")


@pytest.mark.parametrize("name", formulary())
def test_every_formula_can_be_drawn_against_every_input(name) -> None:
    for parameter in load_formula(name).parameters:
        if load_formula(name).example[parameter.name] > 0:
            found = curve(name, parameter.name)
            assert np.isfinite(found.results[list(found.inputs).index(found.at)])
            figure = go.Figure(formula_figure(found, Look()))
            assert figure.data[1].y[0] == pytest.approx(load_formula(name).value(load_formula(name).example))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_looks_differ_and_all_are_known_to_plotly(look) -> None:
    go.Figure(formula_figure(curve("erlang_c_frac", "offered_load"), look))
    go.Figure(formula_figure(curve("attainable_flops_per_s", "intensity_flops_per_byte"), look))


def test_a_stretch_without_a_value_is_a_gap() -> None:
    # M/M/1 above its capacity waits for ever
    found = curve("mmc_wait_s", "arrivals_per_s", n_servers=1, arrivals_per_s=0.5, service_s=1.0)
    line = formula_figure(found, Look())["data"][0]
    assert line["y"][-1] is None
    assert line["text"][-1].endswith("no value")
    assert line["y"][line["x"].index(0.5)] == pytest.approx(1.0)


def test_nothing_to_draw_is_said() -> None:
    found = curve("mmc_wait_s", "service_s", n_servers=1, arrivals_per_s=1e6, service_s=1.0)
    assert "no finite value" in formula_alt(found)
    go.Figure(formula_figure(found, Look()))


def test_the_alternative_says_ends_and_choice() -> None:
    words = formula_alt(curve("lower_bound_s", "work_flops"))
    assert "1.00 ms at work 400 GFLOP" in words
    assert "4.00 ms at the chosen work 4.00 TFLOP" in words


def test_results_that_spread_far_stand_on_a_log_axis() -> None:
    wide = formula_figure(curve("lower_bound_s", "work_flops"), Look())["layout"]["yaxis"]
    narrow = formula_figure(curve("fewest_servers", "wait_frac"), Look())["layout"]["yaxis"]
    assert (wide.get("type"), narrow.get("type")) == ("log", None)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fewest_servers", {"offered_load": 1e9}),
        ("erlang_c_frac", {"n_servers": 1e9}),
        ("availability_frac", {"n_spare": 1e9}),
        ("lower_bound_s", {"peak_flops_per_s": 0.0}),
        ("lower_bound_s", {"work_flops": float("inf")}),
    ],
)
def test_what_would_run_for_ever_or_divides_by_zero_is_refused(name, values) -> None:
    formula = load_formula(name)
    with pytest.raises(InputError, match="finite"):
        formula.value({**formula.example, **values})
