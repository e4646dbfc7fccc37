"""Formulas as a reference made from their own docstrings."""

from __future__ import annotations

import doctest
import json

import pytest
from typer.testing import CliRunner

from roofline.answers.formulary import formulary, load_formula
from roofline.cli import app
from roofline.errors import InputError, UnknownIdError


@pytest.mark.parametrize("name", formulary())
def test_every_formula_is_worked_out_for_its_own_example(name):
    formula = load_formula(name)
    assert set(formula.example) == {parameter.name for parameter in formula.parameters}
    assert formula.value(formula.example) is not None
    assert formula.equation
    assert formula.source.startswith("[1]")
    assert doctest.DocTestParser().get_examples(str(formula.function.__doc__))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("ridge_point_flops_per_byte", {"peak_flops_per_s": 989e12, "bandwidth_bytes_per_s": 3.35e12}, 295.2),
        ("erlang_c_frac", {"n_servers": 2, "offered_load": 1}, 1 / 3),
        ("latent_cache_bytes_per_token", {"n_layers": 61, "latent_rank": 512, "rope_size": 64, "bytes_per_element": 2}, 70272),
    ],
)
def test_published_values(name, values, expected):
    """H100 datasheet; Kleinrock; the cache of DeepSeek-V3, 70 kB a token."""
    assert load_formula(name).value(values) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("mfu_frac", "0 to 1"), ("energy_j_per_token", "J/token"), ("rental_usd_per_token", "USD/token"), ("traffic_s", "s"),
     ("attainable_flops_per_s", "FLOP/s"), ("distinct_experts", "experts")],
)  # fmt: skip
def test_units_are_those_of_the_name(name, unit):
    assert load_formula(name).unit == unit


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"n_servers": 2.0}, "needs offered_load"),
        ({"n_servers": 2.0, "offered_lod": 1.0}, "did you mean offered_load"),
        ({"n_servers": 1e12, "offered_load": 1.0}, "no finite value"),
    ],
)
def test_a_wrong_input_is_told_in_one_sentence(values, sentence):
    with pytest.raises(InputError, match=sentence):
        load_formula("erlang_c_frac").value(values)


def test_an_unknown_formula_names_the_nearest():
    with pytest.raises(UnknownIdError, match="erlang_c_frac"):
        load_formula("erlang_c")


def run(*words: str):
    return CliRunner().invoke(app, ["formula", *words])


def test_the_command_line_gives_value_unit_equation_and_source():
    found = json.loads(run("traffic_s", "traffic_bytes=3.35e12", "bandwidth_bytes_per_s=3.35e12", "--json").stdout)
    assert found["value"] == pytest.approx(1.0)
    assert found["unit"] == "s"
    assert found["equation"].startswith("T")
    assert found["source"].startswith("[1] J. Austin")


def test_the_command_line_takes_the_example_where_nothing_is_given():
    assert "0.333" in run("erlang_c_frac").stdout


@pytest.mark.parametrize("text", ["n_servers", "n_servers=two", "n_servers=__import__('os')", "=3"])
def test_values_are_numbers_and_nothing_else(text):
    found = run("erlang_c_frac", text, "offered_load=1")
    assert found.exit_code == 2
    assert len(found.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("name", sorted(formulary()))
def test_no_formula_takes_an_amount_below_nothing_or_a_share_above_one(name):
    formula = load_formula(name)
    for parameter in formula.parameters:
        assert not parameter.name.endswith(("_offset_h", "_margin_ratio")), "signed: say here what it may be"
        wrong = [-1.0, -1e-9, *([1.0001, 32.0] if parameter.name.endswith("_frac") else [])]
        for value in wrong:
            with pytest.raises(InputError, match=f"{parameter.name} is "):
                formula.value({**formula.example, parameter.name: value})


def test_an_impossible_input_is_one_sentence_and_status_2():
    found = run(
        "kv_cache_bytes_per_token", "n_layers=-32", "n_kv_heads=8", "key_size=128", "value_size=128", "bytes_per_element=2"
    )
    assert (found.exit_code, found.stdout) == (2, "")
    assert "n_layers is -32; it cannot lie below 0." in found.stderr
