"""The Cost page's numbers as files, in English whatever the page is told in."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd

from roofline.answers.costing import CostSheet
from roofline.answers.evaluate import evaluate
from roofline.answers.report import Report
from roofline.answers.sensitivity import sensitivity
from roofline.answers.serialise import plain
from roofline.language import ENGLISH, told_in


def prices_csv(sheet: CostSheet) -> bytes:
    """Every price, reserved and used, USD."""
    return pd.DataFrame([asdict(row) for row in sheet.rows]).to_csv(index=False).encode()


def cost_json(report: Report) -> bytes:
    """Scenario, cost and what moves it."""
    with told_in(ENGLISH):
        found = {
            "scenario": report.scenario.model_dump(mode="json"),
            "cost": asdict(evaluate(report.scenario).cost),
            "sensitivity": asdict(sensitivity(report.scenario)),
        }
    return json.dumps(plain(found), indent=2).encode()
