"""One exception tree.

    RooflineError
    ├── InputError            a value is out of bounds or malformed
    │   ├── UnknownIdError    no such model, device, format or engine; names the nearest
    │   ├── MissingFactError  the fact asked for is not known; names what is
    │   ├── ConfigurationError  a model file says something that is not understood
    │   ├── PlanError         a parallel plan that the model or the machine cannot follow
    │   └── LinkError         a link that cannot be read at all
    ├── StoppedError          a long run was cut short; what is done is kept
    └── CatalogError          a catalogue file that breaks its own rules

Every message is one sentence that says what is wrong and what would be right.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from roofline.language import later, tr

_KINDS = {
    "models": later("model"),
    "hardware": later("hardware"),
    "engines": later("engine"),
    "formats": later("format"),
    "hosts": later("host"),
    "apis": later("api"),
    "grids": later("grid"),
    "formulas": later("formula"),
    "questions": later("question"),
    "catalogue": later("catalogue"),
}
"""One of each kind of id, as a word."""


class RooflineError(Exception):
    """Anything this library raises on purpose; catch it to show its message to a person."""


class InputError(RooflineError):
    """A value given from outside is out of bounds or malformed."""


class UnknownIdError(InputError):
    """No entry has this id; the nearest ids are named, and what else may help."""

    def __init__(self, kind: str, given: str, known: Iterable[str], advice: str = "") -> None:
        ids = list(known)
        self.nearest = nearest_ids(given, ids)
        shown = given if len(given) <= 60 else f"{given[:57]}..."
        hint = tr("nearest: {ids}", ids=", ".join(self.nearest))
        if not self.nearest and len(ids) <= 20:
            hint = tr("there are {ids}", ids=", ".join(ids))
        elif not self.nearest:
            hint = tr("list them with 'roofline catalog {kind}'", kind=kind)
        one = tr(_KINDS.get(kind, kind.removesuffix("s")))
        hints = hint + (advice and f"; {advice}")
        super().__init__(tr("no {kind} called {given!r}; {hint}.", kind=one, given=shown, hint=hints))


class MissingFactError(InputError):
    """The fact asked for has no entry; what is there is named. It is never scaled from a neighbour."""


class ConfigurationError(InputError):
    """A model file holds, or lacks, something that matters and is not understood."""


class PlanError(InputError):
    """A parallel plan that the model or the machine cannot follow."""


class LinkError(InputError):
    """A link or scenario file that cannot be read at all."""


class StoppedError(RooflineError):
    """A long run was cut short: what is done is kept, and the same call goes on from there."""


class CatalogError(RooflineError):
    """A catalogue file breaks its own rules."""


def nearest_ids(given: str, known: Iterable[str], n: int = 4) -> tuple[str, ...]:
    """Ids that look like the one given, best first.

    >>> nearest_ids("a40x", ["a40", "h100-sxm"])
    ('a40',)
    """
    wanted = "-".join(given[:200].lower().split())
    ids = list(known)
    inside = sorted((i for i in ids if wanted and (wanted in i or i in wanted)), key=lambda i: (abs(len(i) - len(wanted)), i))
    close = difflib.get_close_matches(wanted, ids, n=n, cutoff=0.5)
    return tuple(dict.fromkeys([*inside[:n], *close]))[:n]
