"""The two leading constants of one's own machine, from its own measurements: share of the bandwidth, share of the peak."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from math import exp, log
from typing import Any

import numpy as np

from roofline.answers.mapping import Case, case
from roofline.answers.resolve import resolve
from roofline.answers.validation import Comparison, Summary, compare, counted, phase_of, predict, summary
from roofline.catalog.engines import WIDTHS
from roofline.catalog.measurements import Measurement
from roofline.errors import InputError
from roofline.language import later, tr

FEWEST_ROWS = 3
"""Rows below which a constant is left as it is: the median of three is not moved far by one bad row."""
BOUNDS = {"bandwidth_frac": (0.05, 1.0), **dict.fromkeys(WIDTHS, (0.01, 1.0))}
"""Shares that are tried: no machine moves or multiplies more than its datasheet says."""
LEAST_PULL = 0.25
"""Part of a row's time, by its logarithm, that must follow a share for the row to bear on it."""
_ROUNDS = 2
"""Each share is fitted under the other: the second round no longer moves them where rows are of one phase."""
_STEPS = 14
_TOO_FEW = {
    "decode": later("{hardware} under {engine} has {n} decode rows whose time follows its bandwidth share; {least} are needed."),
    "prefill": later("{hardware} under {engine} has {n} prefill rows whose time follows its compute share; {least} are needed."),
}
_ONE_IS_TOO_FEW = {
    "decode": later("{hardware} under {engine} has 1 decode row whose time follows its bandwidth share; {least} are needed."),
    "prefill": later("{hardware} under {engine} has 1 prefill row whose time follows its compute share; {least} are needed."),
}


@dataclass(frozen=True)
class FittedShare:
    """One constant before and after."""

    name: str
    phase: str
    n: int
    """Rows that bear on it."""
    shipped: float
    fitted: float
    at_bound: bool
    """The rows ask for more, or less, than a machine can do."""


@dataclass(frozen=True)
class Refit:
    """One machine under one engine: its shares, and the errors of its rows before and after."""

    hardware: str
    engine: str
    shares: tuple[FittedShare, ...]
    before: tuple[Summary, ...]
    after: tuple[Summary, ...]
    """By phase; in the order of ``before``."""
    refused: tuple[str, ...]
    """Why a share was left as it is."""

    @property
    def constants(self) -> dict[str, float]:
        """What ``evaluate`` takes."""
        return {share.name: share.fitted for share in self.shares}


def bounded_share(log_residual: Callable[[float], float], *, low: float, high: float) -> float:
    """Share at which a residual that falls with it is nought, by halving the interval of its logarithm; else the nearer end.

    Parameters
    ----------
    log_residual
        Log of predicted over measured time; a higher share never makes a prediction longer.
    low, high
        Shares to look between [1].

    Examples
    --------
    A time of 0.3 / share against one measured at 0.6 asks for a share of a half.

    >>> round(bounded_share(lambda share: log(0.3 / share / 0.6), low=0.05, high=1.0), 3)
    0.5
    """
    if log_residual(high) >= 0.0:
        return high
    if log_residual(low) <= 0.0:
        return low
    left, right = log(low), log(high)
    for _ in range(_STEPS):
        middle = (left + right) / 2.0
        left, right = (middle, right) if log_residual(exp(middle)) > 0.0 else (left, middle)
    return exp((left + right) / 2.0)


def refit(rows: Sequence[Measurement]) -> tuple[Refit, ...]:
    """Fit the shares of every machine and engine that rows tell of.

    The bandwidth share comes from decode rows, the shares of the peak from prefill rows; each is the one at which the
    median of log(predicted over measured time) is nought. Only rows count whose time follows the share. Launch times,
    link shares and the band stay as shipped.

    Raises
    ------
    InputError
        No machine has rows enough for a constant.
    """
    cases = sorted(_cases(rows), key=_machine)
    found = tuple(_one(*key, list(group)) for key, group in groupby(cases, key=_machine))
    if not any(item.shares for item in found):
        first = next((item.refused[0] for item in found if item.refused), tr("no row can be predicted."))
        raise InputError(tr("Too few rows to fit a constant: {reason}", reason=first))
    return found


def refit_json(found: Sequence[Refit]) -> list[dict[str, Any]]:
    """Refits as plain values."""
    return [{**asdict(item), "constants": item.constants} for item in found]


def _machine(found: Case) -> tuple[str, str]:
    return found.row.hardware_id, found.scenario.engine


def _cases(rows: Sequence[Measurement]) -> list[Case]:
    """Rows that count; the rest is told where rows are compared."""
    return [case(row) for row in rows if compare(row).valid]


def _one(hardware: str, engine: str, cases: list[Case]) -> Refit:
    """One machine under one engine."""
    plain = resolve(cases[0].scenario).engine
    bearing = {"bandwidth_frac": _bearing(cases, "decode", ("bandwidth_frac",))["bandwidth_frac"]}
    bearing |= _bearing(cases, "prefill", tuple(WIDTHS))
    used = {name: group for name, group in bearing.items() if len(group) >= FEWEST_ROWS}
    constants: dict[str, float] = {}
    for _ in range(_ROUNDS):
        for name, group in used.items():
            low, high = BOUNDS[name]
            constants[name] = bounded_share(_residual(group, name, constants), low=low, high=high)
    shares = tuple(
        FittedShare(
            name=name,
            phase="decode" if name == "bandwidth_frac" else "prefill",
            n=len(group),
            shipped=float(getattr(plain, name).value),
            fitted=constants[name],
            at_bound=constants[name] in BOUNDS[name],
        )
        for name, group in used.items()
    )
    return Refit(
        hardware=hardware,
        engine=engine,
        shares=shares,
        before=_summaries([compare(item.row) for item in cases]),
        after=_summaries([compare(item.row, constants) for item in cases]),
        refused=_refused(hardware, engine, bearing),
    )


def _bearing(cases: list[Case], phase: str, names: tuple[str, ...]) -> dict[str, list[Case]]:
    """Rows of a phase, each under the share that its time follows most, if it follows one."""
    found: dict[str, list[Case]] = {name: [] for name in names}
    for item in cases:
        if phase_of(item) != phase:
            continue
        pulls = {name: _pull(item, name) for name in names}
        most = max(pulls, key=lambda name: pulls[name])
        if pulls[most] >= LEAST_PULL:
            found[most].append(item)
    return found


def _pull(item: Case, name: str) -> float:
    """Part of the time that follows a share: how much longer the row takes at half of it, by logarithms."""
    shipped = getattr(resolve(item.scenario).engine, name).value
    return log(_time_s(item, {name: shipped / 2.0}) / _time_s(item, {})) / log(2.0)


def _time_s(item: Case, constants: Mapping[str, float]) -> float:
    found = predict(item, constants)
    return max(float(found.course.expected_s), found.limit_s)


def _measured_s(item: Case) -> float:
    return item.scale / item.row.value if item.is_rate else item.row.value / item.scale


def _residual(group: list[Case], name: str, constants: Mapping[str, float]) -> Callable[[float], float]:
    """Median log residual of rows as a function of one share, the others as they are."""
    measured = np.array([_measured_s(item) for item in group])

    def residual(share: float) -> float:
        times = np.array([_time_s(item, {**constants, name: share}) for item in group])
        return float(np.median(np.log(times / measured)))

    return residual


def _refused(hardware: str, engine: str, bearing: Mapping[str, list[Case]]) -> tuple[str, ...]:
    """A sentence for each phase without a constant."""
    decode = len(bearing["bandwidth_frac"])
    prefill = max(len(bearing[name]) for name in WIDTHS)
    return tuple(
        tr((_ONE_IS_TOO_FEW if n == 1 else _TOO_FEW)[phase], hardware=hardware, engine=engine, n=n, least=FEWEST_ROWS)
        for phase, n in (("decode", decode), ("prefill", prefill))
        if n < FEWEST_ROWS
    )


def _summaries(rows: Sequence[Comparison]) -> tuple[Summary, ...]:
    known = counted(rows)
    groups = {phase: [row for row in known if row.phase == phase] for phase in ("decode", "prefill", "request")}
    return tuple(summary("phase", phase, group) for phase, group in groups.items() if group)
