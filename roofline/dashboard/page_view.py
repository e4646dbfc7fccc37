"""What the switches of one page show, and how they travel in the address as one short text beside the scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from roofline.dashboard.fields import Values
from roofline.language import tr
from roofline.specs.base import printable

PREFIX = "view_"
"""Keys of view switches in the session."""
_MOST_CHARACTERS = 800


@dataclass(frozen=True)
class Read:
    """A text of an address as switches, with a sentence for each part that could not be read."""

    values: Values
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageView:
    """The switches of one page."""

    key: str
    """Its key in the address."""
    read: Callable[[str], Read]
    """Text of an address -> switches; the empty text is the usual view."""
    written: Callable[[Values], str]
    """Switches -> text; empty for the usual view."""
    settled: Callable[[Values], Values] = dict
    """Switches that go together, after one of them changed."""

    def widget(self, name: str) -> str:
        """The session key of a switch."""
        return f"{PREFIX}{self.key}_{name}"

    def take(self, text: str) -> tuple[str, ...]:
        """Let the switches show what an address says; what of it could not be read."""
        if len(text) > _MOST_CHARACTERS:
            self.put(self.read("").values)
            return (tr("{key} is longer than {most:,} characters: left out.", key=self.key, most=_MOST_CHARACTERS),)
        found = self.read(text)
        self.put(found.values)
        return found.problems

    def now(self) -> Values:
        """The switches; those that are not drawn keep their value."""
        kept: Values = st.session_state.get(self._kept) or self.read("").values
        values = self.settled({name: st.session_state.get(self.widget(name), value) for name, value in kept.items()})
        self.put(values)
        return values

    def put(self, values: Values) -> None:
        """Let the switches show values. Not after they are drawn."""
        st.session_state[self._kept] = values
        for name, value in values.items():
            st.session_state[self.widget(name)] = value

    def change(self, **values: Any) -> None:  # noqa: ANN401
        """Let some switches show new values. Callbacks only."""
        self.put({**self.now(), **values})

    def text(self) -> str:
        """The switches as a text of the address."""
        return self.written(self.now())

    @property
    def _kept(self) -> str:
        return f"_{PREFIX}{self.key}"


def shown(text: str) -> str:
    """A part of an address, short and printable enough to be repeated."""
    return printable(text, 40)
