"""Against an API: dated prices, lines that cross or never do, and the commands that ask."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from roofline import Scenario
from roofline.answers.api import against_api, crossing
from roofline.answers.owning import multi_year
from roofline.answers.sensitivity import sensitivity
from roofline.catalog.apis import api_prices, apis_of, load_api
from roofline.catalog.models import catalogue_model_id
from roofline.cli import app
from roofline.errors import InputError, MissingFactError

LLAMA = Scenario(model="llama-3.3-70b", hardware="h200-sxm", devices=4, batch=128, weights="fp8")
RUNNER = CliRunner()


def ask(*args: str) -> dict:
    result = RUNNER.invoke(app, [*args, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_prices_have_dates_and_sources_and_models_that_exist() -> None:
    for price in api_prices().values():
        assert price.date.startswith("20")
        assert price.source
        assert not price.model or catalogue_model_id(price.model) == price.model
        assert price.cached_usd_per_million <= price.input_usd_per_million <= price.output_usd_per_million
    assert {price.id for price in apis_of("llama-3.1-8b")} == {
        "groq/llama-3.1-8b",
        "cerebras/llama-3.1-8b",
        "fireworks/llama-3.1-8b",
    }


def test_the_blend_is_yours_to_set() -> None:
    """DeepSeek's own mix: 608 G input of which 342 G cached, 168 G output at R1 prices is 562,027 USD for 776 G tokens."""
    mix = LLAMA.model_copy(update={"input_tokens": 6080, "output_tokens": 1680, "batch": 16, "prefix_hit": 342 / 608})
    found = against_api(mix, "deepseek/r1-2025-02")
    assert found.api_usd_per_million_tokens == pytest.approx(562_027 / 776_000, rel=2e-4)


def test_the_cheapest_host_of_the_model_is_taken() -> None:
    assert against_api(LLAMA).api.id == "groq/llama-3.3-70b"
    with pytest.raises(InputError, match="no public API price"):
        against_api(LLAMA.model_copy(update={"model": "llama-3-70b"}))


def test_lines_meet_where_they_are_said_to() -> None:
    found = against_api(LLAMA)
    lines = crossing(found)
    below = lines.tokens_per_day < found.break_even_tokens_per_day
    one = lines.tokens_per_day < found.own_tokens_per_day
    assert np.all((lines.api_usd_per_month < lines.own_usd_per_month)[below])
    assert np.all((lines.api_usd_per_month > lines.own_usd_per_month)[~below & one])


def test_lines_that_never_cross_say_so() -> None:
    found = against_api(Scenario(model="llama-3.3-70b", hardware="a100-sxm-80", devices=4, batch=1))
    assert not found.crosses
    assert "never cross" in found.sentence
    lines = crossing(found)
    assert np.all(lines.api_usd_per_month < lines.own_usd_per_month)


def test_payback_needs_something_bought() -> None:
    assert against_api(LLAMA).payback_months is None
    owned = against_api(LLAMA.model_copy(update={"ownership": Scenario(model="x", hardware="x", ownership="on").ownership}))
    assert 0 < owned.payback_months < 120
    assert against_api(Scenario(model="llama-3.3-70b", hardware="h200-sxm", batch=1, ownership="on")).payback_months is None


def test_a_load_that_does_not_fit_is_answered() -> None:
    found = against_api(Scenario(model="llama-3.3-70b", hardware="rtx4090", ownership="on"))
    assert (found.crosses, found.own_reserved_usd_per_million_tokens) == (False, None)
    assert "Does not fit" in found.sentence
    assert sensitivity(Scenario(model="llama-3.3-70b", hardware="rtx4090")).swings == ()


@pytest.mark.parametrize("text", ["1/2", "a/b/c", "1/2/-3", "nan/1/1", "openai/gpt-9"])
def test_prices_that_are_none_are_told(text: str) -> None:
    with pytest.raises(InputError):
        load_api(text)


def test_years_need_a_price() -> None:
    with pytest.raises(MissingFactError, match="price=25000"):
        multi_year(Scenario(model="llama-3.1-8b", hardware="tpu-v6e"))
    with pytest.raises(InputError, match="between 1 and 50"):
        multi_year(LLAMA, 99)


def test_replaced_machines_are_bought_again() -> None:
    """Life two years, five years of horizon: bought in years 0, 2 and 4, sold for half of its loss after one more."""
    scenario = Scenario(
        model="llama-3.1-8b", hardware="h100-sxm", ownership="price=1000,overhead=0,life=2,residual=0.2,capital=0"
    )
    outlays = [year.outlay_usd for year in multi_year(scenario, 5).years]
    assert outlays == pytest.approx([1000, 0, 800, 0, 800, -600])


def test_commands_answer() -> None:
    base = ("--model", "llama-3.3-70b", "--hardware", "4xh200-sxm", "--batch", "128", "--ownership", "on")
    found = ask("cost", *base, "--requests-per-user", "100", "--years", "6", "--utilisation", "0.5")
    month = found["usd_per_user_month"]  # idle hours draw less power than busy ones
    assert 1.9 * month["reserved"] < month["used"] < 2 * month["reserved"]
    assert len(found["multi_year"]["years"]) == 7
    assert found["sensitivity"]["swings"][0]["source"]
    assert "own=on" in found["link"]
    even = ask("breakeven", *base, "--api", "openai/gpt-4o-mini", "--prefix-hit", "0.3")
    assert even["api"]["source"]
    assert len(even["lines"]["tokens_per_day"]) == len(even["lines"]["api_usd_per_month"])
    for command in ("cost", "breakeven"):
        assert RUNNER.invoke(app, [command, *base]).exit_code == 0


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("breakeven", "--api", "nobody"), "no api"),
        (("breakeven", "--prefix-hit", "2"), "below 1"),
        (("breakeven", "--request-rate", "1"), "utilisation"),
        (("cost", "--requests-per-user", "-1"), "above 0"),
        (("cost", "--years", "0"), "between 1 and 50"),
        (("cost", "--grid", "Atlantis"), "no grid"),
        (("estimate", "--ownership", "cheap"), "is no part"),
    ],
)
def test_bad_questions_get_one_sentence(args: tuple[str, ...], word: str) -> None:
    result = RUNNER.invoke(app, [args[0], "--model", "llama-3.3-70b", "--hardware", "4xh200-sxm", *args[1:]])
    assert result.exit_code == 2
    assert word in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
