"""Number formats, read from data: exact bits per weight, and which arithmetic they ask for."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from roofline.errors import UnknownIdError
from roofline.specs.formats import NumberFormat

_SPEC_FIELDS = tuple(name for name in NumberFormat.model_fields if name != "roles")


@cache
def _formats() -> dict[str, NumberFormat]:
    return {row["id"]: _format(row) for row in _rows()}


@cache
def _aliases() -> dict[str, str]:
    return {alias: row["id"] for row in _rows() for alias in row["aliases"].split()}


@cache
def _rows() -> tuple[dict[str, str], ...]:
    text = (resources.files("roofline.catalog") / "data" / "formats.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _format(row: dict[str, str]) -> NumberFormat:
    given = {name: row[name] for name in _SPEC_FIELDS if row[name]}
    return NumberFormat.model_validate({**given, "roles": tuple(row["roles"].split())})


def format_ids() -> tuple[str, ...]:
    """Every number format."""
    return tuple(_formats())


@cache
def load_format(ref: str) -> NumberFormat:
    """Find the number format of this id or usual name, in any case.

    >>> load_format("Q8_0").bits_per_weight, load_format("F16").id
    (8.5, 'fp16')

    Raises
    ------
    UnknownIdError
        No format has this id; the nearest are named.
    """
    wanted = ref.strip().lower().replace("-", "_")
    found = _formats().get(_aliases().get(wanted, wanted))
    if found is None:
        raise UnknownIdError("formats", ref, format_ids())
    return found
