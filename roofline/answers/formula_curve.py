"""A formula against one of its inputs, from a tenth to ten times its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.formulary import SHARE, Formula, Parameter
from roofline.errors import InputError
from roofline.language import tr

_POINTS = 81
_REACH = 10.0


@dataclass(frozen=True)
class FormulaCurve:
    """Results along one input, the others held; NaN where the formula has no finite value."""

    formula: Formula
    parameter: Parameter
    at: float
    """The input's own value, one of the points."""
    inputs: NDArray[np.float64]
    results: NDArray[np.float64]


def formula_curve(formula: Formula, values: Mapping[str, float], name: str) -> FormulaCurve:
    """The result against one input, evenly on a logarithmic axis; counts stay whole, shares stay below one.

    Raises
    ------
    InputError
        The formula has no such input, or it is not above zero.
    """
    parameter = next((p for p in formula.parameters if p.name == name), None)
    if parameter is None:
        takes = ", ".join(p.name for p in formula.parameters)
        raise InputError(tr("{formula} has no input {given!r}; it takes {names}.", formula=formula.name, given=name, names=takes))
    formula.check(values)
    at = float(values[name])
    if at <= 0:
        raise InputError(
            tr("{input} is {at:g}: a curve from a tenth to ten times it needs a value above zero.", input=name, at=at)
        )
    with np.errstate(all="ignore"):
        inputs = _inputs(parameter, at)
        held = {key: np.float64(value) for key, value in values.items() if key != name}
        results = np.broadcast_to(np.asarray(formula.function(**held, **{name: inputs}), dtype=np.float64), inputs.shape)
    return FormulaCurve(formula, parameter, at, inputs, np.where(np.isfinite(results), results, np.nan))


def _inputs(parameter: Parameter, at: float) -> NDArray[np.float64]:
    points = at * np.geomspace(1.0 / _REACH, _REACH, _POINTS)
    if parameter.name.startswith("n_") and at == round(at):
        points = np.maximum(np.round(points), 1.0)
    if parameter.unit == SHARE and at <= 1.0:
        points = np.minimum(points, 1.0)
    return np.unique(np.append(points[np.isfinite(points)], at))
