"""Measurements of one's own as pasted text: read, bounded in size, compared with predictions."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from io import StringIO

from roofline.answers.validation import Comparison, Validation, compare, unreadable, validation, without_prediction
from roofline.catalog.hardware import catalogue_hardware_id, hardware_ids
from roofline.catalog.measurements import REQUIRED, Measurement, measurements, parse_measurements
from roofline.catalog.models import catalogue_model_id, model_ids
from roofline.errors import InputError, UnknownIdError
from roofline.language import tr

MOST_CHARACTERS = 200_000
MOST_ROWS = 500
NEEDED = (*REQUIRED, "weight_format", "engine", "batch_or_concurrency", "input_len", "output_len")
"""Columns a row cannot be predicted without; the rest of the shipped table's columns may be left out."""
METRICS = ("tok/s per user", "tok/s total output", "prefill tok/s", "TTFT ms", "TPOT ms", "E2E latency s")
"""What a value can be."""
_TEMPLATE_COLUMNS = (*NEEDED[:6], "weight_format", "engine", "n_devices", "batch_or_concurrency", "input_len", "output_len")


@dataclass(frozen=True)
class OwnRows:
    """What a table holds."""

    measurements: tuple[Measurement, ...]
    """Rows that could be read and name what the catalogues know."""
    validation: Validation
    problems: tuple[Comparison, ...]
    """Rows without a prediction, each with its reason."""


def own_rows(text: str) -> OwnRows:
    """Read a table and compare it. Models and devices are ids of the catalogues: a table opens no file.

    Raises
    ------
    InputError
        The text is no such table, or is too large.
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(tr("The table has {n:,} characters; at most {most:,} are read.", n=len(text), most=MOST_CHARACTERS))
    good, bad = parse_measurements(text.strip(), tr("The table"))
    if len(good) + len(bad) > MOST_ROWS:
        raise InputError(
            tr(
                "The table has {n:,} rows; at most {most:,} are read here, the rest by command.",
                n=len(good) + len(bad),
                most=MOST_ROWS,
            )
        )
    if not good and not bad:
        raise InputError(tr("The table has a head and no rows."))
    reasons = {n: _unknown(row) for n, row in enumerate(good)}
    rows = [without_prediction(row, reason) if (reason := reasons[n]) else compare(row) for n, row in enumerate(good)]
    rows += [unreadable(row) for row in bad]
    known = tuple(row for n, row in enumerate(good) if not reasons[n])
    return OwnRows(known, validation(rows), tuple(row for row in rows if row.expected is None))


@cache
def template() -> str:
    """A table to fill in: two shipped rows of one machine, decode and prefill, in the columns that matter."""
    rows = [row for row in measurements() if row.hardware_id == "gb10" and row.input_len.isdigit()]
    examples = [next(row for row in rows if row.kind == kind) for kind in ("decode_single", "prefill")]
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_TEMPLATE_COLUMNS)
    for row in examples:
        writer.writerow([getattr(row, name) for name in _TEMPLATE_COLUMNS])
    return out.getvalue()


def _unknown(row: Measurement) -> str:
    """Why a row names nothing the catalogues know; empty where it does."""
    if row.hardware_id and catalogue_hardware_id(row.hardware_id) is None:
        return str(UnknownIdError("hardware", row.hardware_id, hardware_ids()))
    if row.model_id and catalogue_model_id(row.model_id) is None:
        return str(UnknownIdError("models", row.model_id, model_ids()))
    return ""
