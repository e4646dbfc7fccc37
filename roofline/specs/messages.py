"""A validation failure in one plain sentence: what was wrong, and what would be right."""

from __future__ import annotations

from pydantic import ValidationError

from roofline.language import later, localised, tr

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
    "missing": later("a value"),
    "extra_forbidden": later("nothing by that name"),
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


def validation_sentence(error: ValidationError) -> str:
    """The first problem of a validation, as a sentence."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or tr("the input")
    kind, context = first["type"], first.get("ctx", {})
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
