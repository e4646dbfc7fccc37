"""One number over two inputs at once: the plane a heat map shows, what of it fits, and where cost is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from roofline.answers.evaluate import evaluate
from roofline.answers.placing import settled
from roofline.answers.resolve import resolve
from roofline.answers.sweep import sweep
from roofline.catalog.models import load_model
from roofline.errors import InputError
from roofline.language import tr
from roofline.specs.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 13
_ANY_CONTEXT_TOKENS = 131_072
_WIDE = "bf16"
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
VALUES: dict[str, str] = {
    "user": "expected_tokens_per_s_per_user",
    "total": "expected_output_tokens_per_s",
    "usd": "expected_usd_per_million_output_tokens",
    "ttft": "expected_ttft_s",
}
"""What a map may show -> column of a sweep."""


@dataclass(frozen=True)
class FieldMap:
    """A number over two inputs: rows are y, columns are x; NaN where nothing fits."""

    x: str
    y: str
    value: str
    x_values: tuple[float | str, ...]
    y_values: tuple[float | str, ...]
    z: NDArray[np.float64]
    usd: NDArray[np.float64]
    """USD per million output tokens, for lines of the same cost."""
    fits: NDArray[np.bool_]
    reasons: tuple[tuple[str, ...], ...]
    chosen: tuple[int, int] | None
    """Column and row of the scenario itself; none where it is not on the plane."""
    best: tuple[int, int] | None
    """Column and row of the best number; none where nothing fits."""
    table: pd.DataFrame
    """All numbers of every point."""

    @property
    def fitting(self) -> tuple[int, int]:
        """Points that fit, and points in all."""
        return int(np.sum(self.fits)), int(self.fits.size)


def field_map(scenario: Scenario, x: str, y: str, value: str) -> FieldMap:
    """One number of a scenario over two of its inputs, from one sweep.

    Raises
    ------
    RooflineError
        The same input twice, an unknown one, or a scenario that cannot be swept.
    """
    if x == y:
        raise InputError(tr("A map needs two different inputs: choose another for one of its axes."))
    if x not in AXES or y not in AXES or value not in VALUES:
        raise InputError(tr("A map has the inputs {axes} and shows {values}.", axes=", ".join(AXES), values=", ".join(VALUES)))
    point = _point(scenario, x, y)
    x_values, y_values = AXES[x](point), AXES[y](point)
    table = sweep(point, {y: y_values, x: x_values})
    shape = (len(y_values), len(x_values))
    fits = table["fits"].to_numpy(dtype=bool).reshape(shape)
    z = np.where(fits, _column(table, VALUES[value], shape), np.nan)
    return FieldMap(
        x=x,
        y=y,
        value=value,
        x_values=x_values,
        y_values=y_values,
        z=z,
        usd=np.where(fits, _column(table, VALUES["usd"], shape), np.nan),
        fits=fits,
        reasons=tuple(tuple(str(cell) for cell in row) for row in table["reason"].to_numpy(dtype=object).reshape(shape)),
        chosen=_chosen(point, x, y, x_values, y_values),
        best=_best(z, value),
        table=table,
    )


def _point(scenario: Scenario, x: str, y: str) -> Scenario:
    """The scenario with a batch where the load is a request rate, and with plans chosen where devices vary."""
    changed: dict[str, object] = {}
    if scenario.request_rate is not None:
        changed |= {"request_rate": None, "batch": evaluate(scenario).batch}
    elif scenario.batch is None and "batch" in (x, y):
        changed["batch"] = max(1, evaluate(scenario).batch)
    if "weights" in (x, y) and scenario.weights is None:
        changed["weights"] = load_model(scenario.model).stored_format
    if "devices" in (x, y):
        changed |= dict.fromkeys(("tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel"))
    return scenario.model_copy(update=changed)


def _column(table: pd.DataFrame, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    if name not in table:
        return np.full(shape, np.nan)
    return table[name].to_numpy(dtype=np.float64).reshape(shape)


def _chosen(
    point: Scenario, x: str, y: str, x_values: tuple[float | str, ...], y_values: tuple[float | str, ...]
) -> tuple[int, int] | None:
    here = getattr(point, x), getattr(point, y)
    return (x_values.index(here[0]), y_values.index(here[1])) if here[0] in x_values and here[1] in y_values else None


def _best(z: NDArray[np.float64], value: str) -> tuple[int, int] | None:
    if not np.any(np.isfinite(z)):
        return None
    at = int(np.nanargmax(z) if value in ("user", "total") else np.nanargmin(z))
    row, column = np.unravel_index(at, z.shape)
    return int(column), int(row)


def _doublings(point: Scenario, *, field: str, most: float) -> tuple[float | str, ...]:
    """The chosen value, halves of it and doubles of it, up to a largest one."""
    chosen = getattr(point, field) or 1
    values = [chosen]
    while len(values) < _MOST_VALUES and values[0] % 2 == 0 and values[0] > 1:
        values.insert(0, values[0] // 2)
    while values[-1] * 2 <= max(most, chosen):
        values.append(values[-1] * 2)
    start = max(0, min(values.index(chosen) - _MOST_VALUES // 2, len(values) - _MOST_VALUES))
    return tuple(values[start : start + _MOST_VALUES])


def _contexts(point: Scenario) -> tuple[float | str, ...]:
    return _doublings(point, field="input_tokens", most=float(load_model(point.model).trained_context or _ANY_CONTEXT_TOKENS))


def _formats(point: Scenario) -> tuple[float | str, ...]:
    ladder = (_WIDE, *resolve(settled(point)[0]).engine.weight_ladder)
    return ladder if point.weights in ladder else (str(point.weights), *ladder)


AXES: dict[str, Callable[[Scenario], tuple[float | str, ...]]] = {
    "batch": partial(_doublings, field="batch", most=4096),
    "input_tokens": _contexts,
    "output_tokens": partial(_doublings, field="output_tokens", most=16_384),
    "devices": partial(_doublings, field="devices", most=256),
    "weights": _formats,
    "prefix_hit": lambda point: tuple(sorted({0.0, *_SHARES[:-1], point.prefix_hit})),
    "utilisation": lambda point: tuple(sorted({*_SHARES, point.utilisation})),
}
"""Inputs a map may have -> their values around a scenario."""


def read_map(text: str | None) -> tuple[str, str, str] | None:
    """Inputs and number of a map as a link writes them; none for what is no map.

    >>> read_map("batch,input_tokens,usd"), read_map("batch,batch,usd"), read_map(None)
    (('batch', 'input_tokens', 'usd'), None, None)
    """
    match (text or "").split(","):
        case [x, y, value] if x in AXES and y in AXES and x != y and value in VALUES:
            return x, y, value
        case _:
            return None


@dataclass(frozen=True)
class IsoCost:
    """A round cost, and the places on the plane where its line may be told: between columns and rows, both from nought."""

    usd: float
    places: tuple[tuple[float, float], ...]
    """Columns and rows, from the middle of the line outwards."""


def iso_costs(found: FieldMap) -> tuple[IsoCost, ...]:
    """Round costs, 1-3-10 a decade, whose lines cross the part of the plane that fits."""
    known = found.usd[np.isfinite(found.usd) & (found.usd > 0)]
    if not known.size:
        return ()
    low, high = float(known.min()), float(known.max())
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    levels = [round(step * 10.0**power, 12) for power in decades for step in (1.0, 3.0)]
    crossings = ((level, _crossings(found.usd, level)) for level in levels if low < level < high)
    return tuple(IsoCost(level, _from_the_middle(points)) for level, points in crossings if points)


def _from_the_middle(points: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    middle = len(points) // 2
    order = sorted(range(len(points)), key=lambda i: (abs(i - middle), i))
    return tuple(points[i] for i in order)


def _crossings(usd: NDArray[np.float64], level: float) -> list[tuple[float, float]]:
    """Places between two neighbours of a row, else of a column, where a cost is reached; in the order of rows."""
    along = _along_rows(usd, level)
    return along or [(column, row) for row, column in _along_rows(usd.T, level)]


def _along_rows(usd: NDArray[np.float64], level: float) -> list[tuple[float, float]]:
    below, above = usd[:, :-1], usd[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (level - below) / (above - below)
    rows, columns = np.nonzero((share >= 0) & (share <= 1))
    return [(float(c + share[r, c]), float(r)) for r, c in zip(rows, columns, strict=True)]
