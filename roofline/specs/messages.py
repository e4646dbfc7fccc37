"""A validation failure in one plain sentence: what was wrong, and what would be right."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from pydantic import ValidationError

from roofline.language import later, localised, tr
from roofline.specs.base import printable

_WANTED: dict[str, str] = {
    "int_parsing": later("a whole number"),
    "int_type": later("a whole number"),
    "int_from_float": later("a whole number"),
    "int_parsing_size": later("a whole number of sensible size"),
    "float_parsing": later("a number"),
    "float_type": later("a number"),
    "finite_number": later("a finite number"),
    "bool_parsing": later("yes or no (1 or 0)"),
    "bool_type": later("yes or no (1 or 0)"),
    "string_type": later("text"),
}
_BOUNDS: dict[str, tuple[str, str]] = {
    "greater_than_equal": ("ge", later("{name} must be at least {bound}.")),
    "greater_than": ("gt", later("{name} must be above {bound}.")),
    "less_than": ("lt", later("{name} must be below {bound}.")),
    "less_than_equal": ("le", later("{name} must be at most {bound}.")),
    "string_too_long": ("max_length", later("{name} must have at most {bound} characters.")),
}
"""Where the bound is told, and the sentence."""


def _bound(value: float) -> str:
    """A bound as people write it."""
    return localised(f"{value:,.0f}" if float(value).is_integer() else f"{value:g}")


def _choices(expected: str) -> str:
    """What Pydantic joins as ``'a', 'b' or 'c'``."""
    choices, _, last = expected.rpartition(" or ")
    return tr("{choices} or {last}", choices=choices, last=last) if choices else last


def _no_field(name: str, fields: Collection[str]) -> str:
    near = get_close_matches(name, fields, n=1)
    if near:
        return tr("{name} is not a field known here; nearest: {near}.", name=printable(name), near=near[0])
    return tr("{name} is not a field known here.", name=printable(name))


def validation_sentence(error: ValidationError, fields: Collection[str] = ()) -> str:
    """The first problem of a validation, as a sentence; of the fields there are, the nearest to one there is not.

    What is missing comes last: it may be there under a name that is not known.
    """
    first = min(error.errors(), key=lambda problem: problem["type"] == "missing")
    name = ".".join(str(part) for part in first["loc"]) or tr("the input")
    kind, context = first["type"], first.get("ctx", {})
    if kind == "missing":
        return tr("{name} is missing.", name=name)
    if kind == "extra_forbidden":
        return _no_field(name, fields)
    if kind in _WANTED:
        return tr("{name} must be {wanted}.", name=name, wanted=tr(_WANTED[kind]))
    if kind in _BOUNDS:
        limit, message = _BOUNDS[kind]
        return tr(message, name=name, bound=_bound(context[limit]))
    if kind == "string_too_short":
        return tr("{name} must not be empty.", name=name)
    if kind == "literal_error":
        return tr("{name}: Input should be {choices}.", name=name, choices=_choices(context["expected"]))
    message = first["msg"].removeprefix("Value error, ")
    return f"{name}: {message}." if first["loc"] else f"{message[0].upper()}{message[1:]}."
