"""A validation failure in one plain sentence: what was wrong, and what would be right."""

from __future__ import annotations

from pydantic import ValidationError

_WANTED: dict[str, str] = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of sensible size",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "yes or no (1 or 0)",
    "bool_type": "yes or no (1 or 0)",
    "string_type": "text",
    "missing": "a value",
    "extra_forbidden": "nothing by that name",
}


def _bound(value: float) -> str:
    """A bound as people write it."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def validation_sentence(error: ValidationError) -> str:
    """The first problem of a validation, as a sentence."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "the input"
    kind, context = first["type"], first.get("ctx", {})
    if kind in _WANTED:
        return f"{name} must be {_WANTED[kind]}."
    if kind == "greater_than_equal":
        return f"{name} must be at least {_bound(context['ge'])}."
    if kind == "greater_than":
        return f"{name} must be above {_bound(context['gt'])}."
    if kind == "less_than":
        return f"{name} must be below {_bound(context['lt'])}."
    if kind == "less_than_equal":
        return f"{name} must be at most {_bound(context['le'])}."
    if kind == "string_too_long":
        return f"{name} must have at most {context['max_length']:,} characters."
    if kind == "string_too_short":
        return f"{name} must not be empty."
    message = first["msg"].removeprefix("Value error, ")
    return f"{name}: {message}." if first["loc"] else f"{message[0].upper()}{message[1:]}."
