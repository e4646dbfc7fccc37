"""The Fleet page's numbers as files."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd

from roofline.answers.fleet_report import FleetReport
from roofline.answers.serialise import plain


def steps_csv(found: FleetReport) -> bytes:
    """Every step from users to money."""
    rows = [{**asdict(step), "inputs": "; ".join(step.inputs)} for step in found.steps]
    return pd.DataFrame(rows).to_csv(index=False).encode()


def fleet_json(found: FleetReport) -> bytes:
    """The whole answer."""
    return json.dumps(plain(asdict(found)), indent=2).encode()
