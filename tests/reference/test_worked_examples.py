"""Formulas against figures that others have published or that follow by hand from published inputs.

``worked_examples.csv`` has a row for each: arguments and expected value in base units, relative tolerance, source, and a
note where the figure was converted, derived or corrected. No expected value comes from this library.
"""

from __future__ import annotations

import csv
import importlib
from collections import Counter
from pathlib import Path

import pytest

with (Path(__file__).parent / "worked_examples.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_formula_gives_the_published_figure(row):
    module, name = row["formula"].split(".")
    formula = getattr(importlib.import_module(f"roofline.formulas.{module}"), name)
    pairs = (pair.split("=") for pair in row["arguments"].split(";"))
    found = formula(**{key: float(value) for key, value in pairs})
    assert float(found) == pytest.approx(float(row["expected"]), rel=float(row["rtol"]))


def test_rows_are_complete_and_distinct():
    assert max(Counter(row["id"] for row in ROWS).values()) == 1
    for row in ROWS:
        assert "https://" in row["source"], row["id"]
        assert 0 < float(row["rtol"]) <= 0.1, row["id"]


def test_every_module_is_checked_against_somebody_else():
    checked = {row["formula"].split(".")[0] for row in ROWS}
    assert checked >= {
        "bounds", "operators", "attention", "experts", "collectives", "pipeline",
        "memory", "cost", "energy", "speculation", "queueing",
    }  # fmt: skip
