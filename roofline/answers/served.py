"""Assumptions behind ways of serving that spare work, in plain words."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.specs.scenario import Scenario


def serving_assumptions(scenario: Scenario) -> list[Assumption]:
    """What was assumed where a scenario spares work; nothing where it does not."""
    found: list[Assumption] = []
    if scenario.prefix_hit:
        found.append(
            Assumption(
                "prefix cache",
                f"{scenario.prefix_hit:.1%} of prompt tokens are cached",
                "prefill computes the rest on top of them and prefill rates count computed tokens only; every sequence keeps and "
                "reads a whole cache of its own, though shared prefixes could be held once; storage between requests is free",
            )
        )
    return found
