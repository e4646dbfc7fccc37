"""From which batch a decode step is bound by compute, when the plan is chosen anew for each batch.

The critical batch counts the matrices of the weights alone, under one plan. A step also reads the cache, waits for links and
launches kernels, and another batch may want another plan: this answer takes all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from roofline.answers.evaluate import evaluate
from roofline.answers.moves import too_large
from roofline.answers.report import BOUND_NAMES, Bound, Report
from roofline.language import tr
from roofline.specs.scenario import Scenario

MOST_SEQUENCES = 2**20
"""Larger batches are not tried."""


@dataclass(frozen=True)
class ComputeBound:
    """The smallest batch whose decode step is bound by compute, or what stands in its way."""

    batch: int | None
    """None where memory is full before, or no batch that was tried does."""
    most: int
    """The same, or where there is none the largest that was tried: the most that fit, 0 where not even one sequence does."""
    bound: Bound | None
    """Of the decode step at that batch."""
    scenario: Scenario | None
    """Evaluated, it is that step."""


def compute_bound(scenario: Scenario) -> ComputeBound:
    """Powers of two until a step is bound by compute or memory is full, then halving between the last two.

    A load in requests per second is asked for its batch instead. Bounds may change back and forth between batches, as plans do:
    what is found is the first batch of the first power of two, or of the most that fit, at which compute binds.

    Raises
    ------
    RooflineError
        The scenario names something that does not exist or cannot be.
    """

    def at(batch: int) -> Report | None:
        asked = scenario.model_copy(update={"batch": batch, "request_rate": None})
        report = None if too_large(asked) else evaluate(asked)
        return report if report is not None and report.memory.fits else None

    last, batch, report = 0, 1, at(1)
    if report is None:
        return ComputeBound(None, 0, None, None)
    while not _binds(report):
        if batch >= MOST_SEQUENCES:
            return _answer(report, None)
        last, beyond = batch, 2 * batch
        found = at(beyond)
        if found is None:
            beyond = _first(lambda n: at(n) is None, last, beyond) - 1
            if beyond == last or not _binds(report := at(beyond) or report):
                return _answer(report, None)
            found = report
        batch, report = beyond, found
    first = _first(lambda n: _binds(at(n)), last, batch)
    return _answer(at(first) or report, first)


def _binds(report: Report | None) -> bool:
    return report is not None and report.bound["decode"] == "compute"


def _answer(report: Report, batch: int | None) -> ComputeBound:
    return ComputeBound(batch, report.batch, report.bound["decode"], report.scenario)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The number at which something begins to hold, between one where it does not and one where it does.

    >>> _first(lambda n: n * n > 50, 0, 100)
    8
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def compute_bound_sentence(found: ComputeBound) -> str:
    """The answer in words."""
    if found.bound is None:
        return tr("Not even one sequence fits, so that no batch is bound by compute.")
    if found.batch is not None:
        return tr("With the plan chosen anew for each batch, decode is bound by compute from batch {batch:,}.", batch=found.batch)
    bound = tr(BOUND_NAMES[found.bound])
    if found.most >= MOST_SEQUENCES:
        return tr(
            "Up to batch {most:,}, with the plan chosen anew for each batch, decode is never bound by compute: {bound} stays.",
            most=found.most,
            bound=bound,
        )
    return tr(
        "Memory is full at {most:,} sequences before decode is bound by compute, even with the plan chosen anew for each batch: "
        "there its bound is {bound}.",
        most=found.most,
        bound=bound,
    )
