"""What is typed for a model or device: the one entry of the catalogue it stands for, or why it is none and which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roofline.catalog.hardware import hardware_names
from roofline.catalog.models import model_names
from roofline.catalog.names import Names
from roofline.dashboard.choices import FINDERS, hardware_words, model_words, refusal
from roofline.dashboard.fields import Values
from roofline.errors import RooflineError, UnknownIdError
from roofline.language import tr
from roofline.specs.base import printable
from roofline.specs.scenario import is_mixed, total

WORDS: Mapping[str, Callable[[str], str]] = {"model": model_words, "hardware": hardware_words}
"""Control -> how its entries are told."""
_NAMES: Mapping[str, Callable[[], Names]] = {"model": model_names, "hardware": hardware_names}
_MOST_CHOICES = 15
_MOST_TYPED = 60
"""Characters of the longest part of a name that is looked for."""


@dataclass(frozen=True)
class Refused:
    """A text that is no entry, beside a control that still shows another."""

    control: str
    typed: str
    kept: str
    """What the control shows instead."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Entries that it may stand for, by name."""
        found = sorted(meant(self.control, self.typed), key=lambda entry: WORDS[self.control](entry).lower())
        if found:
            return tuple(found[:_MOST_CHOICES])
        error = _error(self.control, self.typed)
        return error.nearest if isinstance(error, UnknownIdError) else ()

    @property
    def problem(self) -> str:
        """Why it is none, in one sentence."""
        n = len(meant(self.control, self.typed))
        if n > 1:
            given = printable(self.typed, _MOST_TYPED)
            return tr("'{given}' may be any of {n} in the catalogue: choose one, or type more of its name.", given=given, n=n)
        kind, _ = FINDERS[self.control]
        return refusal(kind, self.typed, _error(self.control, self.typed))

    @property
    def still(self) -> str:
        """What the page answers for meanwhile."""
        return tr("The page still shows {shown}.", shown=WORDS[self.control](self.kept))


def read(control: str, typed: str) -> Values | None:
    """What controls hold for a text: its entry, and a count where it states one; ``None`` where it is no one entry."""
    count, wanted = (None, typed) if control == "model" or is_mixed(typed) else total(typed)
    _, find = FINDERS[control]
    try:
        entry = find(wanted)
    except RooflineError:
        found = meant(control, wanted)
        if len(found) != 1:
            return None
        entry = found[0]
    return {control: entry} if count is None else {control: entry, "devices": count}


def meant(control: str, typed: str) -> tuple[str, ...]:
    """Entries that a part of a name may stand for."""
    return _NAMES[control]().meant(typed) if len(typed) <= _MOST_TYPED else ()


def _error(control: str, typed: str) -> RooflineError:
    _, find = FINDERS[control]
    try:
        find(typed)
    except RooflineError as error:
        return error
    return UnknownIdError(control, typed, ())
