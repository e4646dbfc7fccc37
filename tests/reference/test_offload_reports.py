"""Public reports of models that are partly in host memory: decode of one stream against what is expected."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from roofline import Scenario, evaluate
from roofline.answers.report import Report
from roofline.catalog.engines import load_engine
from roofline.catalog.hardware import load_hardware

HERE = Path(__file__).parent
ROWS = list(csv.DictReader((HERE / "offload_reports.csv").read_text(encoding="utf-8").splitlines()))
FITTING = [row for row in ROWS if row["miss"] != "refused"]


def report_of(row: dict[str, str]) -> Report:
    def place(ref: str) -> str:
        return str(HERE / "devices" / ref) if ref.endswith(".yaml") else ref

    fields = {name: row[name] for name in ("model", "weights", "engine", "offload", "input_tokens", "output_tokens")}
    return evaluate(Scenario(**fields, hardware=place(row["hardware"]), host=place(row["host"]), batch=1))


def ratio_and_band(row: dict[str, str]) -> tuple[float, float, float]:
    """Measured over expected rate, and the ends of the band over the expectation; the limit holds or this fails."""
    report = report_of(row)
    expected, measured = float(report.expected.tokens_per_s_per_user), float(row["measured_tokens_per_s"])
    assert measured <= float(report.limit.tokens_per_s_per_user), row["id"]
    low, high = float(report.expected_low.tokens_per_s_per_user), float(report.expected_high.tokens_per_s_per_user)
    return measured / expected, low / expected, high / expected


@pytest.mark.parametrize("row", FITTING, ids=[row["id"] for row in FITTING])
def test_a_report_lies_in_the_band(row: dict[str, str]) -> None:
    ratio, low, high = ratio_and_band(row)
    assert low <= ratio <= high, f"measured over expected {ratio:.2f}, band {low:.2f} to {high:.2f}"
    assert ratio < 1.5


def test_what_ran_and_is_refused_lies_within_what_is_assumed_for_buffers() -> None:
    for row in ROWS:
        if row["miss"] == "refused":
            memory, buffers = report_of(row).memory, load_engine(row["engine"], load_hardware("rtx4090")).memory_overhead_bytes
            over = float(memory.used_bytes_per_device) - float(memory.usable_bytes_per_device)
            assert 0.0 < over < buffers.value - buffers.low


def test_reports_are_met_within_a_tenth_in_the_median() -> None:
    misses = [abs(np.log(ratio_and_band(row)[0])) for row in FITTING]
    assert np.median(misses) < np.log(1.1)
