"""Public measurements of inference, one value a row, each with its source."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from roofline.errors import InputError
from roofline.language import tr
from roofline.specs.base import Frozen
from roofline.specs.messages import validation_sentence

MAX_FILE_BYTES = 20_000_000
"""Largest file of measurements that is read: thirty times the shipped one."""

REQUIRED = ("id", "hardware_id", "model_id", "kind", "metric", "value")
"""Columns without which a row says nothing."""


FOUND_OUT = ("n_requests", "attention_data_parallel", "doubt")
"""Columns that sources seldom have and the shipped table does."""


class Measurement(Frozen):
    """One published value, as printed, with what was said about the run."""

    id: str = Field(min_length=1, max_length=80)
    hardware_id: str = ""
    model_id: str = ""
    source_name: str = ""
    source_url_or_repo_path: str = ""
    date: str = ""
    kind: str
    model: str = ""
    params_note: str = ""
    weight_format: str = ""
    kv_format: str = ""
    hardware: str = ""
    n_devices: str = ""
    tp: str = ""
    pp: str = ""
    ep: str = ""
    dp: str = ""
    batch_or_concurrency: str = ""
    input_len: str = ""
    output_len: str = ""
    metric: str
    value: float = Field(ge=1e-9, le=1e12)
    engine: str = ""
    notes: str = ""
    n_requests: str = Field(
        default="",
        description="requests in the queue, where the source says; for TensorRT-LLM's throughput tables "
        "docs/source/performance/perf-overview.md of v1.0, by prompt and output tokens",
    )
    attention_data_parallel: str = Field(
        default="",
        description="yes where attention is data parallel in a tensor group, as the row says, or as TensorRT-LLM's v1.0 tables "
        "have it for all mixtures of experts: docs/source/performance/perf-overview.md",
    )
    doubt: str = Field(default="", description="why the row cannot be what it says, and does not count; empty where it does")


class BadRow(Frozen):
    """A row that is not a measurement, and why."""

    id: str
    reason: str


def measurements() -> tuple[Measurement, ...]:
    """The shipped table."""
    return _shipped()[0]


def read_measurements(path: Path) -> tuple[tuple[Measurement, ...], tuple[BadRow, ...]]:
    """A file in the form of the shipped table; rows that are no measurement come back with the reason.

    Raises
    ------
    InputError
        The file cannot be read, or lacks a column that every row needs.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(
                tr(
                    "{name} is larger than {most:,} bytes, too large for a table of measurements.",
                    name=path.name,
                    most=MAX_FILE_BYTES,
                )
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or tr("it is not UTF-8 text")
        raise InputError(tr("{file} cannot be read: {reason}.", file=path.name[-60:], reason=reason)) from error
    return parse_measurements(text, path.name)


@cache
def _shipped() -> tuple[tuple[Measurement, ...], tuple[BadRow, ...]]:
    text = (resources.files("roofline.catalog") / "data" / "measurements.csv").read_text(encoding="utf-8")
    return _table(text, "measurements.csv")


def parse_measurements(text: str, name: str) -> tuple[tuple[Measurement, ...], tuple[BadRow, ...]]:
    """A table as text; ``name`` is what it is called in messages. What is known here of a row it shares is filled in.

    Raises
    ------
    InputError
        It is no CSV table, or lacks a column that every row needs.
    """
    good, bad = _table(text, name)
    known = {_same(row): row for row in measurements()}
    return tuple(_completed(row, known.get(_same(row))) for row in good), bad


def _same(row: Measurement) -> tuple[str, str, float]:
    """What rows of one measurement share in any table."""
    return row.id, row.source_url_or_repo_path, row.value


def _completed(row: Measurement, known: Measurement | None) -> Measurement:
    """A row with what the shipped table alone knows of it, where its own table does not say."""
    if known is None:
        return row
    return row.model_copy(update={name: getattr(known, name) for name in FOUND_OUT if not getattr(row, name)})


def _table(text: str, name: str) -> tuple[tuple[Measurement, ...], tuple[BadRow, ...]]:
    try:
        lines_of_text = text.splitlines(keepends=True)
        head = lines_of_text[0] if lines_of_text else ""
        # a table copied from a spreadsheet has tabs
        reader = csv.DictReader(lines_of_text, delimiter="\t" if "\t" in head and "," not in head else ",")
        columns = [column.strip() for column in reader.fieldnames or ()]
        lines = list(reader)
    except csv.Error as error:
        raise InputError(tr("{name} is not a CSV table: {reason}.", name=name, reason=str(error))) from error
    lacking = [column for column in REQUIRED if column not in columns]
    if lacking:
        raise InputError(
            tr(
                "{name} lacks the column {column!r}; a table of measurements has {columns}.",
                name=name,
                column=lacking[0],
                columns=", ".join(REQUIRED),
            )
        )
    rows = [_row(line, n) for n, line in enumerate(lines, start=2)]
    good = tuple(row for row in rows if isinstance(row, Measurement))
    return good, tuple(row for row in rows if isinstance(row, BadRow))


def _row(line: dict[str, str | None], number: int) -> Measurement | BadRow:
    known = {
        key.strip(): (value or "").strip() for key, value in line.items() if isinstance(key, str) and not isinstance(value, list)
    }
    fields = {key: value for key, value in known.items() if key in Measurement.model_fields}
    try:
        return Measurement.model_validate({**fields, "value": _without_groups(fields["value"])})
    except ValidationError as error:
        return BadRow(id=known.get("id") or tr("line {n}", n=number), reason=validation_sentence(error))


def _without_groups(text: str) -> str:
    """A number without the commas between thousands; any other comma stays, and is refused where numbers are read.

    >>> _without_groups("12,345.6"), _without_groups("1,5")
    ('12345.6', '1,5')
    """
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d*)?", text) else text
