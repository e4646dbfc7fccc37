"""The command `link`: a link into what it holds, or a scenario file into a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from roofline import link as links
from roofline.link_compare import decode_others, encode_others
from roofline.scenario_file import read_scenario

Answer = Callable[[dict[str, Any], bool, Callable[[dict[str, Any]], str]], None]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")]
FILES = (".yaml", ".yml", ".json")


def add_link(app: typer.Typer, answer: Answer) -> None:
    """Add the command to an application."""

    @app.command(name="link")
    def command(
        scenario: Annotated[str, typer.Argument(help="A link ('?v=1&model=…'), or a YAML file of a scenario.")],
        as_json: AsJson = False,
    ) -> None:
        """A link into what it holds (a scenario, those compared with it, a fleet), or a scenario file into a link."""
        if scenario.lower().endswith(FILES) and "?" not in scenario:
            query: Mapping[str, str] = links.encode(links.holdable(read_scenario(Path(scenario))))
        else:
            query = links.pairs(scenario)
        answer(held(query), as_json, lambda found: "\n".join([found["link"], *found["problems"]]))


def held(query: Mapping[str, str]) -> dict[str, Any]:
    """What a link holds, what of it could not be read, and the link written anew."""
    decoded = links.decode(query)
    others = decode_others(query, decoded.scenario)
    written = links.encode(decoded.scenario) or {"v": links.VERSION}
    answer: dict[str, Any] = {"scenario": decoded.scenario.model_dump(mode="json")}
    problems = [*decoded.problems, *others.problems]
    if others.scenarios:
        answer["compared"] = {letter: other.model_dump(mode="json") for letter, other in others.scenarios.items()}
        written |= encode_others(decoded.scenario, others.scenarios)
    if any(key.startswith(links.FLEET_PREFIX) for key in query):
        fleet = links.decode_fleet(query)
        answer["fleet"] = fleet.fleet.model_dump(mode="json")
        problems += [problem for problem in fleet.problems if problem not in problems]
        written |= links.encode_fleet(fleet.fleet)
    return {"link": "?" + urlencode(written, safe="/:,@"), **answer, "problems": problems}
