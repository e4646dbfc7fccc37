"""From which batch compute binds, beside the figures that hold the plan: two dozen evaluations that no headline waits for."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from roofline.answers.compute_bound import ComputeBound, compute_bound, compute_bound_sentence
from roofline.answers.report import Report
from roofline.dashboard.quick_moves import MOST_DEVICES
from roofline.dashboard.text import esc
from roofline.language import later, tr
from roofline.specs.scenario import Scenario

ASK = later("From which batch does compute bind?")
ASK_HELP = later("Takes a few seconds for a system as large as this.")
TERMS = later(
    "The critical batch is another number: there the matrices of the weights alone take as long to multiply as to read, "
    "under this plan. A step also reads the cache and waits for links and kernels."
)


def draw(report: Report, key: str) -> None:
    """The answer and what it is not; of very large systems only when asked for."""
    if report.scenario.devices > MOST_DEVICES and not st.button(tr(ASK), help=tr(ASK_HELP), key=f"compute_bound_{key}"):
        return
    plain = report.scenario.model_copy(update={"batch": None, "request_rate": None})
    st.html(f'<p class="rf-note">{esc(compute_bound_sentence(_found(plain)))} {esc(tr(TERMS))}</p>')


@lru_cache(maxsize=256)
def _found(scenario: Scenario) -> ComputeBound:
    return compute_bound(scenario)
