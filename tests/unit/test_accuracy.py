"""Trust in numbers: what the page says of the table, a table of one's own, and constants fitted to it."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from typer.testing import CliRunner

from roofline.answers.accuracy import furthest, left_out, points, trust
from roofline.answers.evaluate import evaluate
from roofline.answers.own_rows import MOST_CHARACTERS, MOST_ROWS, NEEDED, own_rows, template
from roofline.answers.refit import FEWEST_ROWS, bounded_share, refit
from roofline.answers.validation import compare, counted, shipped_validation, speed_ratio
from roofline.catalog.calibration import calibration
from roofline.catalog.engines import load_engine
from roofline.catalog.hardware import load_hardware
from roofline.catalog.own_constants import with_constants
from roofline.cli import app
from roofline.errors import InputError
from roofline.figures.accuracy_plot import KIND_WORDS, accuracy_alt, accuracy_figure
from roofline.figures.theme import Look
from roofline.specs.scenario import Scenario

HEAD = "id,hardware_id,model_id,kind,metric,value,weight_format,engine,batch_or_concurrency,input_len,output_len"
DECODE = "own-{n},rtx3090,llama-3.1-8b,decode_single,tok/s per user,{value},f16,llama-cpp,1,{n}00,128"
PREFILL = "own-{n},rtx3090,llama-3.1-8b,prefill,prefill tok/s,{value},f16,llama-cpp,1,{n}000,0"


def rows_at(shares: dict[str, float], line: str, counts: range) -> list[str]:
    """A machine that reaches other shares than the shipped: what it would measure, as lines of a table."""
    found = []
    for n in counts:
        row = own_rows("\n".join([HEAD, line.format(n=n, value=1)])).measurements[0]
        found.append(line.format(n=n, value=compare(row, shares).expected))
    return found


def table(*lines: str) -> str:
    return "\n".join([HEAD, *lines]) + "\n"


def test_the_headline_is_what_the_rows_say() -> None:
    found = shipped_validation()
    whole = trust(found, calibration())
    ratios = np.array([r.expected / r.measured for r in found.rows if r.valid])
    errors = np.abs(ratios - 1)
    assert whole.n == len(errors)
    assert calibration().n_rows == sum(r.valid and "+" not in r.hardware for r in found.rows), "constants of hosts are not fitted"
    assert np.mean(errors <= whole.median_error) == pytest.approx(0.5, abs=0.002)
    assert np.mean(errors <= whole.p90_error) == pytest.approx(0.9, abs=0.002)
    assert whole.inside_band == pytest.approx(np.mean([r.low <= r.measured <= r.high for r in found.rows if r.valid]))
    assert whole.beats_limit == ()
    assert len(whole.exceptions) == 9


def test_left_out_figures_are_those_of_the_fit() -> None:
    whole, errors = trust(shipped_validation(), calibration()), calibration().errors
    assert whole.left_out_median == (min(e.left_out_median for e in errors.values()), errors["prefill"].left_out_median)
    assert min(e.coverage for e in errors.values()) < whole.left_out_inside < max(e.coverage for e in errors.values())


def test_every_row_is_counted_or_has_a_reason() -> None:
    found = shipped_validation()
    assert sum(item.n for item in left_out(found.rows)) + len(points(found.rows)) == len(found.rows) == 1449
    assert all(item.reason for item in left_out(found.rows))


def test_the_furthest_rows_come_first_whichever_way_they_are_off() -> None:
    rows = counted(shipped_validation().rows)
    factors = [abs(log(speed_ratio(row))) for row in furthest(rows, 20)]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] == max(abs(log(speed_ratio(row))) for row in rows)
    assert {speed_ratio(row) > 1 for row in furthest(rows, 20)} == {True, False}


def test_a_long_time_and_a_low_rate_are_both_slow() -> None:
    rate = {"id": "r", "metric": "tok/s per user", "value": 1.0}
    time = {"id": "t", "metric": "TPOT ms", "value": 1000.0}
    base = own_rows(table(DECODE.format(n=1, value=1))).measurements[0]
    slow = [compare(base.model_copy(update=fields)) for fields in (rate, time)]
    assert speed_ratio(slow[0]) == pytest.approx(speed_ratio(slow[1]))
    assert speed_ratio(slow[0]) > 1


def test_a_share_is_found_by_halving() -> None:
    assert bounded_share(lambda x: log(0.25 / x), low=0.05, high=1.0) == pytest.approx(0.25, rel=1e-3)
    assert bounded_share(lambda x: log(2.0 / x), low=0.05, high=1.0) == 1.0
    assert bounded_share(lambda x: log(0.01 / x), low=0.05, high=1.0) == 0.05


def test_a_refit_finds_the_shares_of_a_machine_that_has_others() -> None:
    """Rows made with known shares: the fit must give them back, whatever the shipped ones are."""
    truth = {"bandwidth_frac": 0.55, "compute_frac": 0.3}
    lines = [*rows_at(truth, DECODE, range(1, 6)), *rows_at(truth, PREFILL, range(1, 6))]
    found = refit(own_rows(table(*lines)).measurements)
    assert len(found) == 1
    assert found[0].constants == {name: pytest.approx(value, rel=2e-3) for name, value in truth.items()}
    assert all(
        after.median_error < 0.005 < before.median_error for before, after in zip(found[0].before, found[0].after, strict=True)
    )
    assert found[0].refused == ()


def test_one_bad_row_does_not_move_a_refit() -> None:
    truth = {"bandwidth_frac": 0.55}
    lines = rows_at(truth, DECODE, range(1, 6))
    lines[2] = DECODE.format(n=3, value=1)
    found = refit(own_rows(table(*lines)).measurements)[0]
    assert found.constants["bandwidth_frac"] == pytest.approx(0.55, rel=0.02)
    assert "prefill" in found.refused[0]


def test_a_refit_stays_within_what_a_machine_can_do() -> None:
    lines = [DECODE.format(n=n, value=1000) for n in range(1, 5)]
    share = refit(own_rows(table(*lines)).measurements)[0].shares[0]
    assert (share.fitted, share.at_bound) == (1.0, True)


def test_too_few_rows_are_refused_in_one_sentence() -> None:
    lines = [DECODE.format(n=n, value=40) for n in range(1, FEWEST_ROWS)]
    with pytest.raises(InputError, match=r"Too few rows to fit a constant: rtx3090 under llama-cpp has 2 decode rows"):
        refit(own_rows(table(*lines)).measurements)
    with pytest.raises(InputError, match="no row can be predicted"):
        refit(())


def test_shares_of_ones_own_change_an_answer_and_nothing_else() -> None:
    scenario = Scenario(model="llama-3.1-8b", hardware="rtx3090", weights="f16", batch=1)
    plain, slow = evaluate(scenario), evaluate(scenario, {"bandwidth_frac": 0.4})
    assert slow.expected.tokens_per_s_per_user < plain.expected.tokens_per_s_per_user
    assert slow.limit == plain.limit
    assert evaluate(scenario) == plain


@pytest.mark.parametrize(
    ("constants", "words"),
    [({"layer_s": 0.1}, "no share called"), ({"bandwidth_frac": 1.2}, "at most 1"), ({"compute_frac": float("nan")}, "above 0")],
)
def test_what_is_no_share_is_told(constants, words) -> None:
    with pytest.raises(InputError, match=words):
        with_constants(load_engine("vllm", load_hardware("h100-sxm")), constants)


def test_the_template_can_be_pasted_back() -> None:
    found = own_rows(template())
    assert set(NEEDED) <= set(template().splitlines()[0].split(","))
    assert len(counted(found.validation.rows)) == 2
    assert found.problems == ()
    assert (
        own_rows("\n".join(line.replace(",", "\t") for line in table(DECODE.format(n=1, value=40)).splitlines())).problems == ()
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2", "lacks the column"),
        ("nonsense", "lacks the column"),
        (HEAD, "no rows"),
        ("x" * (MOST_CHARACTERS + 1), "at most"),
        (table(*(DECODE.format(n=1, value=1) for _ in range(MOST_ROWS + 1))), "at most 500"),
        (HEAD + '\n"' + "x" * 150_000, "field larger"),
    ],
)
def test_a_text_that_is_no_table_is_told(text, words) -> None:
    with pytest.raises(InputError, match=words):
        own_rows(text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (DECODE.replace("rtx3090", "rtx3091"), "no hardware called"),
        (DECODE.replace("llama-3.1-8b", "/etc/passwd"), "no model called"),
        (DECODE.replace("{value}", "fast"), "value must be a number"),
        (DECODE.replace("{value}", '"1,5"'), "value must be a number"),
        (DECODE.replace("decode_single", "decode"), "it can be decode_single"),
        (DECODE.replace(",1,{n}00,128", ",1," + "9" * 400 + ",128"), "not a number of tokens"),
        (PREFILL.replace("{n}000", "0"), "no work whose time"),
    ],
)
def test_a_row_that_cannot_be_compared_has_its_reason(line, words) -> None:
    found = own_rows(table(line.format(n=1, value=40), DECODE.format(n=2, value=40)))
    assert [row.id for row in found.problems] == ["own-1"]
    assert words in found.problems[0].reason
    assert len(counted(found.validation.rows)) == 1


def test_the_command_refits_and_takes_what_was_fitted(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(table(*rows_at({"bandwidth_frac": 0.5}, DECODE, range(1, 5))), encoding="utf-8")
    run = CliRunner().invoke
    answer = json.loads(run(app, ["validate", "--csv", str(path), "--refit", "--json"]).stdout)
    share = answer["refit"][0]["constants"]["bandwidth_frac"]
    assert share == pytest.approx(0.5, rel=2e-3)
    assert answer["refit"][0]["shares"][0]["n"] == 4
    assert "bandwidth_frac" in run(app, ["validate", "--csv", str(path), "--refit"]).stdout
    question = ["estimate", "--model", "llama-3.1-8b", "--hardware", "rtx3090", "--weights", "f16", "--batch", "1", "--json"]
    own = json.loads(run(app, [*question, "--constant", f"bandwidth_frac={share}"]).stdout)
    plain = json.loads(run(app, question).stdout)
    assert own["expected"]["tpot_s"]["value"] > plain["expected"]["tpot_s"]["value"]
    assert any("Shares of your own" in reason for reason in own["reasons"])


def test_a_refit_without_rows_of_ones_own_is_refused() -> None:
    result = CliRunner().invoke(app, ["validate", "--refit"])
    assert isinstance(result.exception, InputError) or result.exit_code == 2


def test_the_figure_shows_every_row_over_the_diagonal() -> None:
    public = points(shipped_validation().rows)
    own = points(own_rows(table(DECODE.format(n=1, value=40))).validation.rows)
    for look in (Look("light"), Look("dark", compact=True)):
        spec = accuracy_figure(public, own, look)
        go.Figure(spec)
        marks = [trace for trace in spec["data"] if trace["mode"] == "markers"]
        assert sum(len(trace["x"]) for trace in marks) == len(public) + 1
        assert {trace["name"] for trace in marks} == {*KIND_WORDS.values(), "yours"}
        assert [trace["name"] for trace in marks if trace["showlegend"]].count("prefill") == 1
        diagonals = [trace for trace in spec["data"] if trace["name"] == "expected as measured"]
        assert len(diagonals) == 2
        assert all(trace["x"] == trace["y"] for trace in diagonals)
        for trace in marks:
            low, high = (10**end for end in spec["layout"][trace["xaxis"].replace("x", "xaxis")]["range"])
            assert all(low < value < high for value in (*trace["x"], *trace["y"]))
    assert f"{len(public):,} public" in accuracy_alt(public, own, "")


def test_times_are_drawn_in_seconds_and_names_are_escaped() -> None:
    fields = {"id": "<b>x</b>", "kind": "decode_single", "metric": "TPOT ms", "value": 25.0}
    base = own_rows(table(DECODE.format(n=1, value=1))).measurements[0]
    own = points([compare(base.model_copy(update=fields))])
    trace = accuracy_figure((), own, Look())["data"][-1]
    assert trace["x"] == [0.025]
    assert "<b>x</b>" not in trace["text"][0]
    assert "&lt;b&gt;x" in trace["text"][0]
