"""Moves, explanations and answers to questions turned round as text for a terminal, from their JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def moves_text(answer: Json) -> str:
    """Moves as lines for a terminal, from their JSON values."""
    width = max((len(row["label"]) for row in answer["ranked"]), default=0)
    lines = [f"{row['label'].ljust(width)}  {', '.join(' '.join(part) for part in row['effects'])}" for row in answer["ranked"]]
    return "\n".join([answer["sentence"], "", *lines])


def why_text(answer: Json, depth: int) -> str:
    """Explanations as an indented outline, then how to measure."""
    lines = [line for found in answer["explanations"].values() for line in [*_outline(found, depth, ""), ""]]
    measure = answer["measure"]
    expected = [f"  {item['name']}: {item['expected']} expected" for item in measure["compared"]]
    return "\n".join(
        [*lines, "Measure it:", *(f"  {c}" for c in measure["commands"]), *expected, *(f"- {n}" for n in measure["notes"])]
    )


def _outline(found: Json, depth: int, indent: str) -> Iterator[str]:
    yield f"{indent}{found['title']}: {found['value']}"
    yield f"{indent}  {found['equation']}"
    yield f"{indent}  {found['substituted']}"
    yield from (f"{indent}  {item['name']} = {item['value']} ({item['source']})" for item in found["inputs"])
    yield f"{indent}  [{found['citation']}]"
    if depth > 0:
        for part in found["parts"]:
            yield from _outline(part, depth - 1, f"{indent}    ")


def solved_text(answer: Json) -> str:
    """An inverse answer in a line, with its link."""
    return "\n".join([answer["sentence"], *([answer["link"]] if answer["link"] else [])])
