"""A fit as the file the package reads: constants with errors and ranges, bands, residuals and left-out errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from calibration_rows import Rows, measured_ceilings

if TYPE_CHECKING:
    from calibrate import Fit, Vector

OUT = Path(__file__).parents[1] / "roofline" / "catalog" / "data" / "calibration.toml"
FEWEST_FOR_A_BAND = 8
"""Rows below which a percentile is not taken."""
FEWEST_FOR_RESIDUALS = 3
_HEAD = """# Written by scripts/calibrate.py from measurements.csv; change the measurements or the script, not this file.
# Fitted constants: value, standard error as a share of it, range over fits that leave one source out, rows that bear on it.
# Matrix shares are of the best product of a device (ceilings, where measured) and not of its peak.
"""


def write_report(
    rows: Rows, whole: Fit, fitted: Vector, by_source: Vector, by_combination: Vector, fits: list[Fit], out: Path | None
) -> str:
    """Write the file; comes back with how well it went."""
    lines = [_HEAD, f"n_rows = {rows.n}", f"n_constants = {len(whole.plan.names)}", ""]
    lines += _constants(rows, whole, fits)
    lines += _ceilings()
    known = {kind: _bands(rows, kind, by_source) for kind in ("serving", "llama.cpp")}
    unknown = {kind: _union(bands, _bands(rows, kind, by_combination)) for kind, bands in known.items()}
    for title, table in (("known", known), ("unknown", unknown)):
        for kind, bands in table.items():
            lines += ["", f'[{title}."{kind}"]', *(f"{p} = [{low:.3g}, {high:.3g}]" for p, (low, high) in bands.items())]
    errors = _errors(rows, fitted, by_source, known)
    lines += errors + _residuals(rows, fitted)
    (out or OUT).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "\n".join(errors)


def _constants(rows: Rows, whole: Fit, fits: list[Fit]) -> list[str]:
    lines = []
    tables: dict[str, list[tuple[str, str, str]]] = {}
    for kind, constant, group in whole.plan.names:
        tables.setdefault(_table(rows, kind, constant, group), []).append((kind, constant, group))
    for title in sorted(tables):
        lines += ["", f"[{title}]"]
        for kind, constant, group in tables[title]:
            value, error = whole.constant(kind, constant, group)
            others = [fit.constant(kind, constant, group)[0] for fit in fits]
            n = _bearing(rows, kind, constant, group)
            low, high = min([value, *others]), max([value, *others])
            lines.append(
                f"{constant} = {{value = {value:.6g}, error = {error:.3g}, low = {low:.6g}, high = {high:.6g}, rows = {n}}}"
            )
    return lines


def _table(rows: Rows, kind: str, constant: str, group: str) -> str:
    if kind == "link":
        return f'links."{group or "mean"}"'
    if not group:
        return f'classes."{kind}"'
    if group in rows.engines and group not in rows.architectures:
        return f'engines."{group}"'
    return f'architectures."{group}"."{kind}"'


def _bearing(rows: Rows, kind: str, constant: str, group: str) -> int:
    """Rows in which a constant plays a part."""
    part = {"compute_frac": 0, "compute_frac_8bit": 1, "compute_frac_4bit": 2}
    used = np.ones(rows.n, dtype=bool)
    if constant in part:
        used = np.zeros(rows.n, dtype=bool)
        used[rows.row_of[rows.width == part[constant]]] = True
    if constant == "head_compute_factor":
        used = np.isin(np.arange(rows.n), rows.row_of[rows.is_head])
    if constant == "packed_compute_factor":
        packed = rows.is_on_half
        used = np.isin(np.arange(rows.n), rows.row_of[packed])
    if constant in rows.linear:
        used = rows.linear[constant] > 0
    same = [(kind in ("link", k)) and (not group or rows.group(n, constant) == group) for n, k in enumerate(rows.kinds)]
    return int(np.sum(used & np.array(same)))


def _ceilings() -> list[str]:
    lines = []
    for device, widths in measured_ceilings().items():
        lines += ["", f'[ceilings."{device}"]', *(f'"{width}" = {value:.3f}' for width, value in widths.items())]
    return lines


def _bands(rows: Rows, kind: str, left_out: Vector) -> dict[str, tuple[float, float]]:
    """Percentiles of measured over predicted time of left-out rows, by phase."""
    ratio = rows.measured / left_out
    same = np.array(rows.kinds) == kind
    found = {}
    for phase in ("decode", "prefill", "request"):
        here = same & (np.array(rows.phases) == phase)
        here = here if np.sum(here) >= FEWEST_FOR_A_BAND else same
        low, high = np.quantile(ratio[here], [0.1, 0.9])
        found[phase] = (min(float(low), 1.0), max(float(high), 1.0))
    return found


def _union(first: dict[str, tuple[float, float]], second: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    return {p: (min(first[p][0], second[p][0]), max(first[p][1], second[p][1])) for p in first}


def _errors(rows: Rows, fitted: Vector, by_source: Vector, known: dict[str, dict[str, tuple[float, float]]]) -> list[str]:
    """Absolute relative errors of the number a row tells, whether a time or a rate."""
    lines = []
    ratio = rows.measured / by_source
    bands = [known[kind][phase] for kind, phase in zip(rows.kinds, rows.phases, strict=True)]
    inside = np.array([low <= r <= high for (low, high), r in zip(bands, ratio, strict=True)])
    kinds = np.array(rows.row_kinds)
    for kind in sorted(set(rows.row_kinds)):
        here = kinds == kind
        own, left = (np.abs(rows.relative_error(times))[here] for times in (fitted, by_source))
        lines += [
            "",
            f"[errors.{kind}]",
            f"rows = {int(np.sum(here))}",
            f"median = {np.median(own):.4f}",
            f"p90 = {np.quantile(own, 0.9):.4f}",
            f"left_out_median = {np.median(left):.4f}",
            f"left_out_p90 = {np.quantile(left, 0.9):.4f}",
            f"coverage = {np.mean(inside[here]):.3f}",
        ]
    return lines


def _residuals(rows: Rows, fitted: Vector) -> list[str]:
    lines = []
    ratio = rows.measured / fitted
    keys = list(zip(rows.architectures, rows.engines, rows.row_kinds, strict=True))
    for key in sorted(set(keys)):
        here = np.array([k == key for k in keys])
        if np.sum(here) < FEWEST_FOR_RESIDUALS:
            continue
        p10, p50, p90 = np.quantile(ratio[here], [0.1, 0.5, 0.9])
        lines += ["", "[[residuals]]", f'architecture = "{key[0]}"', f'engine = "{key[1]}"', f'kind = "{key[2]}"']
        lines += [f"rows = {int(np.sum(here))}", f"p10 = {p10:.3f}", f"p50 = {p50:.3f}", f"p90 = {p90:.3f}"]
    return lines
