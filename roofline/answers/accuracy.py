"""How far to trust a number: errors over all measurements that count, the rows furthest off, and the rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.answers.validation import Comparison, Validation, counted, speed_ratio, summary
from roofline.catalog.calibration import Calibration
from roofline.units import MILLI

Span = tuple[float, float]


@dataclass(frozen=True)
class Trust:
    """The few figures that say how far to trust a prediction."""

    n_rows: int
    n: int
    """Rows that count."""
    n_sources: int
    median_error: float
    p90_error: float
    inside_band: float
    """Of the rows that count, by constants that were fitted on them too."""
    left_out_median: Span
    left_out_p90: Span
    """Least and most of the kinds, each row predicted by a fit without its source."""
    left_out_inside: float
    beats_limit: tuple[Comparison, ...]
    """Rows that are better than the limit, and count."""
    exceptions: tuple[Comparison, ...]
    """The same among rows that do not count."""


@dataclass(frozen=True)
class Point:
    """A row in base units: tokens per second, or seconds."""

    row: Comparison
    measured: float
    expected: float
    limit: float


@dataclass(frozen=True)
class Reason:
    """Rows that are left out for one reason."""

    reason: str
    n: int
    kinds: tuple[str, ...]


def trust(found: Validation, fit: Calibration) -> Trust:
    """Errors over all rows that count, and what the fit says of sources it had not seen."""
    known = counted(found.rows)
    whole = summary("all", "all", known)
    kinds = tuple(fit.errors.values())
    weights = [kind.rows for kind in kinds]
    beaten = [row for row in found.rows if row.beats_limit]
    return Trust(
        n_rows=len(found.rows),
        n=whole.n,
        n_sources=len({row.source for row in known}),
        median_error=whole.median_error,
        p90_error=whole.p90_error,
        inside_band=whole.inside_band,
        left_out_median=_span([kind.left_out_median for kind in kinds]),
        left_out_p90=_span([kind.left_out_p90 for kind in kinds]),
        left_out_inside=float(np.average([kind.coverage for kind in kinds], weights=weights)),
        beats_limit=tuple(row for row in beaten if row.valid),
        exceptions=tuple(row for row in beaten if not row.valid),
    )


def points(rows: Sequence[Comparison]) -> tuple[Point, ...]:
    """Rows that count as points of a figure."""
    found = []
    for row in counted(rows):
        if row.measured is None or row.expected is None or row.limit is None:
            continue
        unit = MILLI if row.metric.endswith(" ms") else 1.0
        found.append(Point(row, row.measured * unit, row.expected * unit, row.limit * unit))
    return tuple(found)


def furthest(rows: Sequence[Comparison], n: int) -> tuple[Comparison, ...]:
    """The rows that count and are furthest off, by the factor between expected and measured, worst first."""
    return tuple(sorted(counted(rows), key=lambda row: (-factor_off(row), row.id))[:n])


def factor_off(row: Comparison) -> float:
    """How many times expected and measured speed differ, whichever is the higher."""
    ratio = speed_ratio(row)
    return max(ratio, 1.0 / ratio)


def left_out(rows: Sequence[Comparison]) -> tuple[Reason, ...]:
    """Why rows do not count, the most frequent first."""
    groups: dict[str, list[Comparison]] = {}
    for row in rows:
        if not row.valid:
            groups.setdefault(row.reason, []).append(row)
    found = [Reason(reason, len(group), tuple(sorted({row.kind for row in group}))) for reason, group in groups.items()]
    return tuple(sorted(found, key=lambda item: (-item.n, item.reason)))


def _span(values: Sequence[float]) -> Span:
    return min(values), max(values)
