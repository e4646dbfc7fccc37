"""Formulas against figures that others have published or that follow by hand from published inputs.

``worked_examples.csv`` has a row for each: arguments and expected value in base units, relative tolerance, source, and a
note where the figure was converted, derived or corrected. No expected value comes from this library.
"""

from __future__ import annotations

import csv
import importlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from roofline.formulas.bounds import compute_s

with (Path(__file__).parent / "worked_examples.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_formula_gives_the_published_figure(row):
    module, name = row["formula"].split(".")
    formula = getattr(importlib.import_module(f"roofline.formulas.{module}"), name)
    pairs = (pair.split("=") for pair in row["arguments"].split(";"))
    found = formula(**{key: float(value) for key, value in pairs})
    assert float(found) == pytest.approx(float(row["expected"]), rel=float(row["rtol"]))


def test_conversions_in_series_add_their_times():
    # DeepSeek FlashMLA FP8 sparse deep dive, Sept 2025, clock cycles. https://github.com/deepseek-ai/FlashMLA
    values_per_cycle = np.array([64.0, 64.0, 16.0, 256.0])
    assert np.sum(compute_s(work_flops=512.0, peak_flops_per_s=values_per_cycle)) == 50.0


def test_rows_are_complete_and_distinct():
    assert max(Counter(row["id"] for row in ROWS).values()) == 1
    for row in ROWS:
        assert "https://" in row["source"], row["id"]
        coarse = "one digit" in row["note"]
        assert 0 < float(row["rtol"]) <= (0.15 if coarse else 0.1), row["id"]


def test_every_module_is_checked_against_somebody_else():
    checked = {row["formula"].split(".")[0] for row in ROWS}
    assert checked >= {
        "bounds", "operators", "attention", "experts", "collectives", "sharding", "pipeline", "memory", "serving",
        "speculation", "queueing", "fleet", "cost", "capital", "profit", "energy", "training",
    }  # fmt: skip
