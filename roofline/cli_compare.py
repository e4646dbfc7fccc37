"""The command `compare`: scenarios of several links, or of one link that compares, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from roofline.answers.compare import Comparison, compare
from roofline.link_compare import many_from_links, query_of
from roofline.units import significant

Answer = Callable[[dict[str, Any], bool, Callable[[dict[str, Any]], str]], None]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")]


def add_compare(app: typer.Typer, answer: Answer) -> None:
    """Add the command to an application."""

    @app.command(name="compare")
    def command(
        links: Annotated[list[str], typer.Argument(help="Two to four links ('?v=1&model=…'), or one that compares (b.hw=…).")],
        as_json: AsJson = False,
    ) -> None:
        """Two to four scenarios side by side: what differs, headline numbers with bands, how far from the first."""
        scenarios, problems = many_from_links(links)
        answer(compared_json(compare(scenarios), query_of(scenarios), problems), as_json, compared_text)


def compared_json(found: Comparison, link: str, problems: tuple[str, ...]) -> dict[str, Any]:
    """A comparison in base units, with its one link."""
    return {
        "link": link,
        "scenarios": {entry.letter: entry.scenario.model_dump(mode="json") for entry in found.entries},
        "reasons": {entry.letter: entry.reason for entry in found.entries if entry.reason},
        "differences": {item.field: {k: _plain(v) for k, v in item.values.items()} for item in found.differences},
        "headlines": {
            item.name: {"best": list(item.best), **{k: None if v is None else asdict(v) for k, v in item.values.items()}}
            for item in found.headlines
        },
        "deltas": [asdict(delta) for delta in found.deltas],
        "problems": list(problems),
    }


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def compared_text(answer: dict[str, Any]) -> str:
    """A comparison as a table for a terminal."""
    letters = list(answer["scenarios"])
    rows = [["", *(letter.upper() for letter in letters)], *_rows(answer, letters)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(letters) + 1)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    reasons = [f"{letter.upper()}: {reason}" for letter, reason in answer["reasons"].items()]
    return "\n".join([*lines, *reasons, *answer["problems"], answer["link"]])


def _rows(answer: dict[str, Any], letters: list[str]) -> Iterator[list[str]]:
    for name, values in answer["differences"].items():
        yield [name, *("auto" if values[letter] is None else str(values[letter]) for letter in letters)]
    for name, values in answer["headlines"].items():
        yield [name, *("n/a" if values[letter] is None else significant(values[letter]["value"]) for letter in letters)]
