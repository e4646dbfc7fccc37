"""Two to four scenarios in one link: A as ever, B to D by their differences from A.

?v=1&model=llama-3.3-70b&hw=h200-sxm&n=1&b.hw=h100-sxm&b.n=2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from roofline.errors import LinkError
from roofline.language import tr
from roofline.link import COMPARED, MAX_CHARACTERS, VERSION, decode, encode, pairs
from roofline.specs.scenario import Scenario

FIRST = "a"


@dataclass(frozen=True)
class DecodedMany:
    """Scenarios of one link by their letters, A not among them."""

    scenarios: dict[str, Scenario]
    problems: tuple[str, ...]


def encode_others(first: Scenario, others: Mapping[str, Scenario]) -> dict[str, str]:
    """Query parameters of the scenarios compared with A: of each its differences, or the version alone where there are none.

    >>> a = Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8)
    >>> encode_others(a, {"b": a.model_copy(update={"batch": 16}), "c": a})
    {'b.batch': '16', 'c.v': '1'}
    """
    found: dict[str, str] = {}
    for letter in COMPARED:
        if letter in others:
            changed = {key: text for key, text in encode(others[letter], first).items() if key != "v"}
            found |= {f"{letter}.{key}": text for key, text in (changed or {"v": VERSION}).items()}
    return found


def decode_others(query: Mapping[str, str], first: Scenario) -> DecodedMany:
    """The scenarios compared with A, and what of them could not be read; a link that is too long holds none."""
    if sum(len(key) + len(text) + 2 for key, text in query.items()) > MAX_CHARACTERS:
        return DecodedMany({}, ())
    found: dict[str, Scenario] = {}
    problems: list[str] = []
    for letter in COMPARED:
        own = {key.removeprefix(f"{letter}."): text for key, text in query.items() if key.startswith(f"{letter}.")}
        if own:
            decoded = decode(own, first)
            found[letter] = decoded.scenario
            problems += [f"{letter.upper()}: {problem}" for problem in decoded.problems]
    return DecodedMany(found, tuple(problems))


def many_from_links(links: Sequence[str]) -> tuple[dict[str, Scenario], tuple[str, ...]]:
    """Scenarios by letter: of one link that compares, or of several links in their order; and what could not be read.

    Raises
    ------
    LinkError
        One text is no link, or they hold fewer than two scenarios or more than four.
    """
    found: list[Scenario] = []
    problems: list[str] = []
    for text in links:
        query = pairs(text)
        decoded = decode(query)
        others = decode_others(query, decoded.scenario)
        found += [decoded.scenario, *others.scenarios.values()]
        problems += [*decoded.problems, *others.problems]
    letters = (FIRST, *COMPARED)
    if not 2 <= len(found) <= len(letters):
        raise LinkError(
            tr("A comparison takes two to {most} scenarios, and these links hold {n}.", most=len(letters), n=len(found))
        )
    return dict(zip(letters, found, strict=False)), tuple(problems)


def query_of(scenarios: Mapping[str, Scenario]) -> str:
    """The one link to a comparison, with its question mark."""
    first = scenarios[FIRST]
    others = {letter: scenario for letter, scenario in scenarios.items() if letter != FIRST}
    return "?" + urlencode({**(encode(first) or {"v": VERSION}), **encode_others(first, others)}, safe="/:,@")
