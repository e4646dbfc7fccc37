"""Commands behind an estimate: `moves` says what would help, `why` where its numbers come from. They take its options."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from roofline import link as links
from roofline.answers.bench_commands import measuring
from roofline.answers.evaluate import evaluate
from roofline.answers.explain import explain
from roofline.answers.moves import moves as all_moves
from roofline.answers.moves_words import moves_json
from roofline.cli_money import Answer, Found, with_scenario
from roofline.specs.scenario import Scenario
from roofline.texts_reasons import moves_text, why_text


def add_reasons(app: typer.Typer, template: Any, answer: Answer) -> None:  # noqa: ANN401
    """Add the commands to an application, with the scenario options of a command that has them."""
    for command in (moves, why):
        app.command()(with_scenario(command, template, answer))


def moves(given: dict[str, Any]) -> Found:
    """Single changes of a scenario, each evaluated: what gains most for its money."""
    found = all_moves(evaluate(Scenario.model_validate(given)))
    answer = moves_json(found)
    for row, move in zip(answer["ranked"], found.ranked, strict=True):
        row["link"] = links.to_query(links.portable(move.scenario))
    return answer, moves_text


def why(
    given: dict[str, Any],
    depth: Annotated[int, typer.Option(min=0, max=9, help="How far down the text goes; JSON holds all of it.")] = 2,
) -> Found:
    """Where the headline numbers come from, down to shapes and facts, and the commands that would measure them."""
    report = evaluate(Scenario.model_validate(given))
    answer = {
        "explanations": {name: asdict(found) for name, found in explain(report).items()},
        "measure": asdict(measuring(report)),
    }
    return answer, lambda found: why_text(found, depth)
