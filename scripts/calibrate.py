"""Fit the constants of the expected step time to public measurements, and write roofline/catalog/data/calibration.toml.

    python scripts/calibrate.py [--rows N] [--no-folds] [--out FILE]

The ledgers of all rows are made once, since they do not depend on the constants; the fit only times them again. Residuals
are logarithms of predicted over measured time under a soft-L1 loss, so that a factor of two slow weighs as one of two fast
and single wild rows do not steer. Every constant is a class mean times a deviation per architecture, engine or link, and
log-normal priors shrink deviations towards one: where there are few rows, the class mean speaks. Nothing depends on chance.

Errors are told for rows whose source was left out of the fit. Needs SciPy (`pip install scipy`).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from calibration_report import write_report
from calibration_rows import CONSTANT_NAMES, Rows, gather
from numpy.typing import NDArray
from scipy.optimize import least_squares

from roofline.answers import resolve
from roofline.catalog import engines
from roofline.catalog.calibration import calibration

Vector = NDArray[np.float64]

SCATTER = 0.1
"""Residual, in logarithms, from which a row counts as wild."""
ROUNDS = 4
"""Priors and fits before the fit that is told."""
MEANS = {
    ("serving", "bandwidth_frac"): (0.80, 0.2),
    ("serving", "cache_factor"): (1.1, 0.15),
    ("serving", "compute_frac"): (0.85, 0.05),
    ("serving", "head_compute_factor"): (0.8, 0.5),
    ("serving", "packed_compute_factor"): (0.7, 0.5),
    ("serving", "compute_frac_8bit"): (0.75, 0.3),
    ("serving", "compute_frac_4bit"): (0.65, 0.3),
    ("serving", "layer_s"): (30e-6, 1.0),
    ("serving", "expert_layer_s"): (20e-6, 1.0),
    ("serving", "exchange_latency_s"): (31e-6, 0.5),
    ("serving", "step_s"): (1e-3, 1.0),
    ("serving", "sequence_s"): (5e-6, 1.0),
    ("llama.cpp", "bandwidth_frac"): (0.75, 0.2),
    ("llama.cpp", "cache_factor"): (0.8, 0.3),
    ("llama.cpp", "compute_frac"): (0.70, 0.3),
    ("llama.cpp", "compute_frac_8bit"): (0.35, 0.5),
    ("llama.cpp", "compute_frac_4bit"): (0.15, 0.5),
    ("llama.cpp", "head_compute_factor"): (0.8, 0.2),
    ("llama.cpp", "layer_s"): (15e-6, 1.0),
    ("llama.cpp", "expert_layer_s"): (10e-6, 1.0),
    ("llama.cpp", "step_s"): (0.3e-3, 1.0),
    ("llama.cpp", "sequence_s"): (4e-6, 1.0),
    ("llama.cpp", "unpack_operations"): (6.0, 1.0),
    ("llama.cpp", "unpack_operations_wide"): (6.0, 1.0),
    ("link", "link_frac"): (0.6, 0.5),
    ("link", "link_latency_s"): (10e-6, 1.0),
}
"""Class and constant -> prior median and standard deviation of its logarithm."""
SPREAD = {
    "bandwidth_frac": 0.2,
    "compute_frac": 0.3,
    "compute_frac_8bit": 0.3,
    "compute_frac_4bit": 0.3,
    "layer_s": 0.7,
    "expert_layer_s": 0.35,
    "exchange_latency_s": 0.7,
    "step_s": 0.7,
    "sequence_s": 0.7,
    "unpack_operations": 0.5,
    "link_frac": 0.3,
    "link_latency_s": 0.7,
}
"""Constants that deviate by group, with the standard deviation of the logarithm of the deviation."""
WELL_KNOWN = {("serving", "compute_frac"): 0.07}
"""Narrower ones: dense 16-bit products reach 0.8 to 0.9 of their measured best wherever they were timed alone."""
BOUNDS = {
    "bandwidth_frac": (0.2, 1.0),
    "cache_factor": (0.3, 1.3),
    "compute_frac": (0.03, 1.1),
    "head_compute_factor": (0.1, 1.0),
    "packed_compute_factor": (0.1, 1.0),
    "compute_frac_8bit": (0.03, 1.1),
    "compute_frac_4bit": (0.03, 1.1),
    "layer_s": (1e-6, 3e-4),
    "expert_layer_s": (1e-7, 3e-4),
    "step_s": (1e-5, 1e-2),
    "sequence_s": (1e-8, 5e-4),
    "unpack_operations": (0.1, 50.0),
    "unpack_operations_wide": (0.1, 50.0),
    "link_frac": (0.03, 1.0),
    "link_latency_s": (5e-7, 1e-4),
    "exchange_latency_s": (2e-5, 3e-4),
}
"""Physical bounds of means times deviations."""


@dataclass(frozen=True)
class Design:
    """Parameters of a fit: which enter which constant of which row."""

    names: tuple[tuple[str, str, str], ...]
    """Class, constant, group; an empty group is the mean."""
    median: Vector
    spread: Vector
    mean_at: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    deviation_at: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Per constant and row the parameter, or -1."""

    def values(self, x: Vector, constant: str) -> Vector:
        """A constant for every row."""
        padded = np.append(x, 0.0)
        logs = padded[self.mean_at[constant]] + padded[self.deviation_at[constant]]
        low, high = BOUNDS[constant]
        return np.clip(np.exp(logs), low, high)


def design(rows: Rows) -> Design:
    """One mean per class and constant, one deviation per group that has rows."""
    names: list[tuple[str, str, str]] = [(kind, constant, "") for kind, constant in MEANS]
    medians = [np.log(m) for m, _ in MEANS.values()]
    spreads = [s for _, s in MEANS.values()]
    index = {name: n for n, name in enumerate(names)}
    means: dict[str, list[int]] = {c: [] for c in CONSTANT_NAMES}
    deviations: dict[str, list[int]] = {c: [] for c in CONSTANT_NAMES}
    for n in range(rows.n):
        for constant in CONSTANT_NAMES:
            kind = "link" if constant.startswith("link") else rows.kinds[n]
            means[constant].append(index.get((kind, constant, ""), -1))
            group = rows.group(n, constant)
            if not group or constant not in SPREAD or (kind, constant, "") not in index:
                deviations[constant].append(-1)
                continue
            key = (kind, constant, group)
            if key not in index:
                index[key] = len(names)
                names.append(key)
                medians.append(0.0)
                spreads.append(WELL_KNOWN.get((kind, constant), SPREAD[constant]))
            deviations[constant].append(index[key])
    return Design(
        names=tuple(names),
        median=np.array(medians),
        spread=np.array(spreads),
        mean_at={c: np.array(v) for c, v in means.items()},
        deviation_at={c: np.array(v) for c, v in deviations.items()},
    )


@dataclass(frozen=True)
class Fit:
    """A solution: parameters and the inverse of their curvature."""

    plan: Design
    x: Vector
    covariance: NDArray[np.float64]

    def constant(self, kind: str, constant: str, group: str = "") -> tuple[float, float]:
        """Value and relative standard error of a mean, or of a mean times a deviation."""
        index = {name: n for n, name in enumerate(self.plan.names)}
        at = [index[kind, constant, ""]]
        if (kind, constant, group) in index and group:
            at.append(index[kind, constant, group])
        low, high = BOUNDS[constant]
        value = float(np.clip(np.exp(self.x[at].sum()), low, high))
        return value, float(np.sqrt(max(0.0, self.covariance[np.ix_(at, at)].sum())))


def solve(rows: Rows, plan: Design, kept: NDArray[np.bool_], start: Vector | None = None) -> Fit:
    """Least squares of the rows kept, and of how far parameters stray from their priors."""
    used = rows.only(kept)
    chosen = Design(
        plan.names,
        plan.median,
        plan.spread,
        {c: v[kept] for c, v in plan.mean_at.items()},
        {c: v[kept] for c, v in plan.deviation_at.items()},
    )

    def residuals(x: Vector) -> Vector:
        misses = np.log(used.times({c: chosen.values(x, c) for c in CONSTANT_NAMES}) / used.measured)
        return np.concatenate([misses / SCATTER, (x - plan.median) / plan.spread])

    found = least_squares(
        residuals,
        plan.median if start is None else start,
        loss="soft_l1",
        method="trf",
        x_scale=plan.spread,
        ftol=1e-5,
        xtol=1e-6,
    )
    return Fit(plan, found.x, np.linalg.pinv(found.jac.T @ found.jac))


def predicted(rows: Rows, fit: Fit) -> Vector:
    """Times of all rows under a fit."""
    return rows.times({c: fit.plan.values(fit.x, c) for c in CONSTANT_NAMES})


def folds(rows: Rows, plan: Design, whole: Fit, groups: list[str]) -> tuple[Vector, list[Fit]]:
    """Each group predicted by a fit without it."""
    left_out = np.empty(rows.n)
    fits = []
    labels = np.array(groups)
    for name in sorted(set(groups)):
        out = labels == name
        fit = solve(rows, plan, ~out, whole.x)
        left_out[out] = predicted(rows, fit)[out]
        fits.append(fit)
    return left_out, fits


def settle() -> None:
    """Let the package read first the priors, then fits: what is queued at an arrival rate depends on the constants a little."""
    for turn in range(ROUNDS):
        rows = gather()
        plan = design(rows)
        whole = solve(rows, plan, np.ones(rows.n, dtype=bool)) if turn else Fit(plan, plan.median, np.diag(plan.spread**2))
        times = predicted(rows, whole)
        write_report(rows, whole, times, times, times, [whole], None)
        for cached in (calibration, engines._calibrated, resolve._resolve):
            cached.cache_clear()


def main() -> None:
    """Fit, cross-validate, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=None, help="every so many-th row only, for a quick look")
    parser.add_argument("--no-folds", action="store_true", help="skip the fits that leave a group out")
    parser.add_argument("--out", type=Path, default=None, help="elsewhere than the package")
    given = parser.parse_args()
    if given.out is None:
        settle()
    rows = gather(given.rows)
    plan = design(rows)
    whole = solve(rows, plan, np.ones(rows.n, dtype=bool))
    fitted = predicted(rows, whole)
    by_source, by_combination, fits = fitted, fitted, [whole]
    if not given.no_folds:
        by_source, fits = folds(rows, plan, whole, rows.sources)
        combinations = [f"{a} {e}" for a, e in zip(rows.architectures, rows.engines, strict=True)]
        by_combination = folds(rows, plan, whole, combinations)[0]
    print(write_report(rows, whole, fitted, by_source, by_combination, fits, given.out))


if __name__ == "__main__":
    main()
