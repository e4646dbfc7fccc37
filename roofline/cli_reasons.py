"""Commands behind an estimate: `moves` says what would help, `why` where its numbers come from. They take its options."""

from __future__ import annotations

from typing import Any

import typer

from roofline import link as links
from roofline.answers.evaluate import evaluate
from roofline.answers.moves import moves as all_moves
from roofline.answers.moves_words import moves_json, moves_text
from roofline.cli_money import Answer, Found, with_scenario
from roofline.specs.scenario import Scenario


def add_reasons(app: typer.Typer, template: Any, answer: Answer) -> None:  # noqa: ANN401
    """Add the commands to an application, with the scenario options of a command that has them."""
    for command in (moves,):
        app.command()(with_scenario(command, template, answer))


def moves(given: dict[str, Any]) -> Found:
    """Single changes of a scenario, each evaluated: what gains most for its money."""
    found = all_moves(evaluate(Scenario.model_validate(given)))
    answer = moves_json(found)
    for row, move in zip(answer["ranked"], found.ranked, strict=True):
        row["link"] = links.to_query(links.portable(move.scenario))
    return answer, moves_text
