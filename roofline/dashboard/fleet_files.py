"""The Fleet page's numbers as files, in English whatever the page is told in."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd

from roofline.answers.fleet import fleet
from roofline.answers.fleet_report import FleetReport
from roofline.answers.serialise import plain
from roofline.language import ENGLISH, told_in


def steps_csv(found: FleetReport) -> bytes:
    """Every step from users to money."""
    rows = [{**asdict(step), "inputs": "; ".join(step.inputs)} for step in _english(found).steps]
    return pd.DataFrame(rows).to_csv(index=False).encode()


def fleet_json(found: FleetReport) -> bytes:
    """The whole answer."""
    return json.dumps(plain(asdict(_english(found))), indent=2).encode()


def _english(found: FleetReport) -> FleetReport:
    with told_in(ENGLISH):
        return fleet(found.asked)
