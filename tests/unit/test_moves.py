"""Moves: each is what an evaluation says, only legal ones are there, and the best is the best."""

from __future__ import annotations

import json
import time

import pytest
from typer.testing import CliRunner

from roofline.answers.evaluate import evaluate
from roofline.answers.moves import BIGGER, bigger_device, moves
from roofline.answers.moves_words import change, effects, label, moves_json, sentence
from roofline.answers.presets import PRESETS
from roofline.catalog.hardware import load_hardware
from roofline.cli import app
from roofline.errors import RooflineError
from roofline.specs.scenario import Scenario

LLAMA = Scenario(model="llama-3.3-70b", hardware="h200-sxm", weights="fp8", batch=32, input_tokens=2048, output_tokens=512)
SMALL = tuple(p.scenario for p in PRESETS if p.scenario.devices <= 20 and p.scenario.request_rate is None)


def by_kind(scenario: Scenario) -> dict:
    return {move.kind: move for move in moves(evaluate(scenario)).ranked}


@pytest.mark.parametrize("scenario", SMALL, ids=lambda s: f"{s.model}-{s.hardware}")
def test_every_move_is_what_an_evaluation_says(scenario) -> None:
    for move in moves(evaluate(scenario)).ranked:
        report = evaluate(move.scenario)
        assert move.after.fits == report.memory.fits
        if move.after.fits:
            assert move.after.output_tokens_per_s == pytest.approx(report.expected.output_tokens_per_s)
            assert move.after.usd_per_million_output_tokens == report.cost.usd_per_million_output_tokens


@pytest.mark.parametrize("scenario", SMALL, ids=lambda s: f"{s.model}-{s.hardware}")
def test_the_best_is_the_best_by_evaluation(scenario) -> None:
    """Checked against evaluations of its own: no free gain is larger, and a paid one only wins where none is free."""
    report = evaluate(scenario)
    found = moves(report)

    def gain(move) -> float:
        return float(evaluate(move.scenario).expected.output_tokens_per_s) - float(report.expected.output_tokens_per_s)

    def more_usd(move) -> float:
        return (evaluate(move.scenario).cost.usd_per_hour or 0.0) - (report.cost.usd_per_hour or 0.0)

    others = [m for m in found.ranked if m.after.fits and m.same_question and gain(m) > 0]
    free = [m for m in others if more_usd(m) <= 0]
    if free:
        assert gain(found.best) == max(gain(m) for m in free)
    else:
        assert gain(found.best) / more_usd(found.best) == max(gain(m) / more_usd(m) for m in others)


def test_a_move_changes_one_thing() -> None:
    for move in moves(evaluate(LLAMA)).ranked:
        changed = {name for name in Scenario.model_fields if getattr(move.scenario, name) != getattr(LLAMA, name)}
        assert len(changed) == 1, move.kind


def test_what_does_not_fit_says_so() -> None:
    tight = LLAMA.model_copy(update={"batch": evaluate(LLAMA).memory.max_batch})
    move = by_kind(tight)["double_batch"]
    assert not move.after.fits
    assert effects(move, moves(evaluate(tight)).now) == (("does not fit", ""),)


def test_a_load_that_does_not_fit_is_helped_by_what_makes_it_fit() -> None:
    """70 billion weights of two bytes are 141 GB: more than 80, less than 4 x 80."""
    large = Scenario(model="llama-3.3-70b", hardware="h100-sxm", devices=1, batch=4)
    found = moves(evaluate(large))
    assert not found.now.fits
    assert found.best is not None
    assert found.best.kind == "halve_weights" or found.best.after.fits
    assert "Then it fits" in sentence(found)


def test_illegal_changes_are_left_out() -> None:
    assert "double_batch" not in by_kind(LLAMA.model_copy(update={"batch": None}))
    assert "halve_batch" not in by_kind(LLAMA.model_copy(update={"batch": 1}))
    assert "halve_devices" not in by_kind(LLAMA)
    # a tensor group of eight by hand needs eight devices
    by_hand = by_kind(LLAMA.model_copy(update={"devices": 8, "tensor_parallel": 8}))
    assert "free_plan" in by_hand
    assert "halve_devices" not in by_hand
    with pytest.raises(RooflineError):
        evaluate(LLAMA.model_copy(update={"devices": 4, "tensor_parallel": 8}))


def test_a_mixed_box_keeps_its_devices() -> None:
    box = Scenario(model="llama-3.3-70b", hardware="rtx3090+rtx4090", weights="q4_k_m", batch=1)
    assert not {"bigger_device", "double_devices", "halve_devices"} & set(by_kind(box))


@pytest.mark.parametrize("ref", ["h100-sxm", "rtx4090", "mi300x", "apple-m4max", "a100-sxm-40"])
def test_a_bigger_device_is_no_smaller_in_anything(ref) -> None:
    small, big = load_hardware(ref), load_hardware(bigger_device(ref))
    memory, bandwidth = big.memory_bytes / small.memory_bytes, big.bandwidth_bytes_per_s / small.bandwidth_bytes_per_s
    assert big.vendor == small.vendor
    assert min(memory, bandwidth) >= 1.0
    assert max(memory, bandwidth) >= BIGGER


def test_at_a_request_rate_output_is_what_the_system_keeps_up_with() -> None:
    rated = Scenario(model="llama-3.1-8b", hardware="h100-sxm", request_rate=2.0, input_tokens=1024, output_tokens=256)
    report, found = evaluate(rated), by_kind(rated)
    more = found["double_devices"].after
    assert more.output_tokens_per_s > report.sustained_requests_per_s * 256
    assert "double_batch" not in found


def test_a_price_of_ones_own_does_not_move_to_another_device() -> None:
    move = by_kind(LLAMA.model_copy(update={"usd_per_device_hour": 1.0}))["bigger_device"]
    assert move.scenario.usd_per_device_hour is None


def test_a_change_without_a_price_counts_as_free_on_the_same_devices() -> None:
    unpriced = Scenario(model="llama-3.1-8b", hardware="gaudi2", batch=8)
    found = moves(evaluate(unpriced))
    assert found.now.usd_per_hour is None or found.best is not None
    assert all(move.gain_tokens_per_usd is None for move in found.ranked if move.usd_per_hour_more in (None, 0.0))


def test_words_of_a_change() -> None:
    assert change(1.0, 0.5) == "−50%"
    assert label(by_kind(LLAMA)["double_batch"]) == "Double the batch to 64"


def test_moves_as_json_and_on_the_command_line() -> None:
    found = moves_json(moves(evaluate(LLAMA)))
    json.dumps(found, allow_nan=False)
    args = ["moves", "--model", "llama-3.3-70b", "--hardware", "h200-sxm", "--weights", "fp8", "--batch", "8"]
    shown = CliRunner().invoke(app, [*args, "--json"])
    answer = json.loads(shown.stdout)
    assert answer["best"] == "double_batch"
    assert answer["ranked"][0]["link"].startswith("?v=1")
    assert "The one change that helps most" in CliRunner().invoke(app, args).stdout


def test_all_moves_are_quick() -> None:
    report = evaluate(SMALL[0])
    moves(report)

    def once() -> float:
        start = time.process_time()
        moves(report)
        return time.process_time() - start

    assert min(once() for _ in range(5)) < 0.05 * 3
