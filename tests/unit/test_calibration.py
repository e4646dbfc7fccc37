"""The shipped fit is sound, reaches the estimates, and comes out of its script."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from roofline import Scenario, evaluate
from roofline.answers.resolve import resolve
from roofline.catalog.calibration import Calibration, calibration
from roofline.catalog.engines import engine_ids, load_engine
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.specs.engine import Constant

SCRIPT = Path(__file__).parents[2] / "scripts" / "calibrate.py"
SHARES = ("bandwidth_frac", "cache_bandwidth_frac", "compute_frac", "compute_frac_8bit", "compute_frac_4bit", "link_frac")


@pytest.mark.parametrize("engine", ["auto", *engine_ids()])
def test_no_constant_lets_a_device_beat_itself(engine: str) -> None:
    for device in hardware_ids(announced=True):
        profile = load_engine(engine, load_hardware(device))
        for name in SHARES:
            share: Constant = getattr(profile, name)
            assert 0.0 < share.low <= share.value <= share.high <= 1.0, (device, name)
        for low, high in (profile.decode_time_band, profile.prefill_time_band, profile.request_time_band):
            assert low <= 1.0 <= high


def test_constants_lie_within_their_ranges() -> None:
    fit = calibration()
    tables = [*fit.classes.values(), *fit.engines.values(), *fit.links.values()]
    tables += [table for kinds in fit.architectures.values() for table in kinds.values()]
    for table in tables:
        for name, constant in table.items():
            assert constant.low <= constant.value <= constant.high, name


def test_errors_with_the_source_left_out() -> None:
    errors = calibration().errors
    assert set(errors) == {"decode_single", "decode_batch", "prefill", "offline_throughput", "server"}
    for kind, bar in {
        "decode_single": 0.11,
        "decode_batch": 0.11,
        "prefill": 0.16,
        "offline_throughput": 0.10,
        "server": 0.12,
    }.items():
        assert errors[kind].left_out_median < bar, kind
        assert 0.7 <= errors[kind].coverage <= 0.95


def test_an_estimate_says_what_its_constants_rest_on() -> None:
    report = evaluate(Scenario(model="llama-3.1-8b", hardware="h100-sxm", engine="tensorrt-llm", batch=1))
    share = next(a for a in report.assumptions if a.name == "share of memory bandwidth")
    assert "fitted on" in share.basis
    assert "standard error" in share.basis
    assert any("left out of the fit" in a.basis for a in report.assumptions if a.name == "calibration")
    assert not any("class means" in reason for reason in report.reasons)


def test_an_unmeasured_architecture_falls_back_and_says_so() -> None:
    report = evaluate(Scenario(model="llama-3.1-8b", hardware="trainium2", batch=1))
    assert any("class means" in reason for reason in report.reasons)
    known = resolve(Scenario(model="llama-3.1-8b", hardware="h100-sxm", engine="serving")).engine
    unknown = resolve(Scenario(model="llama-3.1-8b", hardware="trainium2", engine="serving")).engine
    width = unknown.decode_time_band[1] / unknown.decode_time_band[0]
    assert width >= known.decode_time_band[1] / known.decode_time_band[0]
    assert unknown.bandwidth_frac.value == pytest.approx(calibration().classes["serving"]["bandwidth_frac"].value)


def test_the_usual_engine_of_a_device() -> None:
    usual = {"h100-sxm": "vllm", "gaudi3": "gaudi", "tpu-v5e": "jetstream", "rtx4090": "llama-cpp", "epyc-9654": "cpu"}
    assert {device: load_engine("auto", load_hardware(device)).id for device in usual} == usual


def test_the_script_gives_the_same_file_twice(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    texts = []
    for name in ("a.toml", "b.toml"):
        out = tmp_path / name
        command = [sys.executable, str(SCRIPT), "--rows", "25", "--no-folds", "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    few = Calibration.model_validate(tomllib.loads(texts[0]))
    assert few.n_rows < calibration().n_rows
    for kind, table in few.classes.items():
        for name, constant in table.items():
            # few rows leave the means near the prior, and the prior near the shipped fit
            assert 0.05 < constant.value / calibration().classes[kind][name].value < 20.0, name


def test_shares_of_a_measured_machine_are_of_what_was_measured():
    """What software loses is in a measured figure already: the share of it is larger than that of a nominal one."""
    cpu = load_hardware("epyc-9654")
    peaks = {dtype: fact.model_copy(update={"kind": "measured"}) for dtype, fact in cpu.peaks.items()}
    bandwidth = cpu.bandwidth.model_copy(update={"kind": "measured"})
    nominal, found = load_engine("cpu", cpu), load_engine("cpu", cpu.model_copy(update={"peaks": peaks, "bandwidth": bandwidth}))
    for name in ("bandwidth_frac", "cache_bandwidth_frac", "compute_frac", "compute_frac_8bit", "compute_frac_4bit"):
        before, after = getattr(nominal, name), getattr(found, name)
        assert before.value < after.value <= 1.0
        assert after.low <= after.value <= after.high
    assert load_engine("cpu", cpu) == nominal
