"""Switches of a page as pairs in the address: ``speed:30,price:rental``, only what differs from the usual view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from roofline.dashboard.fields import Values
from roofline.dashboard.page_view import PageView, Read, shown
from roofline.language import tr

Reader = Callable[[str], Any]
"""A word of the address as a value; ValueError or KeyError where it means nothing."""
NONE = "none"


def pairs_view(key: str, usual: Values, readers: Mapping[str, Reader]) -> PageView:
    """The switches of a page, written as pairs."""
    return PageView(key, partial(_read, key, usual, readers), partial(_written, usual))


def one_of(options: Sequence[Any]) -> Reader:
    """One of a few choices."""
    return lambda word: {str(option): option for option in options}[word]


def several_of(options: Callable[[], Sequence[str]], most: int) -> Reader:
    """A list of a few choices, in a word with slashes."""

    def read(word: str) -> list[str]:
        found = list(dict.fromkeys(filter(None, word.split("/"))))
        if len(found) > most or not set(found) <= set(options()):
            raise ValueError(word)
        return found

    return read


def number(low: float, high: float, *, optional: bool = False) -> Reader:
    """A number within bounds, or none."""

    def read(word: str) -> float | None:
        if optional and word == NONE:
            return None
        value = float(word)
        if not (isfinite(value) and low <= value <= high):
            raise ValueError(word)
        return value

    return read


def yes_no(word: str) -> bool:
    """A switch."""
    return {"1": True, "0": False}[word]


def _written(usual: Values, values: Values) -> str:
    return ",".join(f"{name}:{_text(values[name])}" for name in usual if values[name] != usual[name])


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list | tuple):
        return "/".join(value)
    return NONE if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def _read(key: str, usual: Values, readers: Mapping[str, Reader], text: str) -> Read:
    values, problems = dict(usual), []
    for pair in filter(None, text.split(",")):
        name, _, word = pair.partition(":")
        try:
            values[name] = readers[name](word)
        except (KeyError, ValueError):
            problems.append(tr("{key}: '{pair}' means nothing here: left out.", key=key, pair=shown(pair)))
    return Read(values, tuple(problems))
