"""Every formula has the same form: keyword-only numbers, at most seven, and a docstring in five parts."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import roofline.formulas

MODULES = [info.name for info in pkgutil.iter_modules(roofline.formulas.__path__)]
FORMULAS = {
    f"{module}.{name}": function
    for module in MODULES
    for name, function in inspect.getmembers(importlib.import_module(f"roofline.formulas.{module}"), inspect.isfunction)
    if function.__module__ == f"roofline.formulas.{module}" and not name.startswith("_")
}


def test_package_lists_its_modules():
    listed = re.findall(r"^    (\w+) ", str(roofline.formulas.__doc__), re.MULTILINE)
    assert sorted(listed) == sorted(MODULES)


@pytest.mark.parametrize("key", FORMULAS)
def test_signature(key):
    signature = inspect.signature(FORMULAS[key])
    assert 1 <= len(signature.parameters) <= 7
    assert signature.return_annotation == "Floats"
    for parameter in signature.parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.default is inspect.Parameter.empty
        assert parameter.annotation == "Floats"


@pytest.mark.parametrize("key", FORMULAS)
def test_docstring(key):
    paragraphs = str(inspect.getdoc(FORMULAS[key])).split("\n\n")
    assert len(paragraphs) >= 5, "sentence, equation, assumptions, source, example"
    sentence, equation, assumptions, *_, source, example = paragraphs
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert equation.startswith("    ")
    assert "=" in equation
    assert "[1" in equation
    assert not assumptions.startswith(("[1]", ">>>"))
    assert source.startswith("[1] ")
    assert example.startswith(">>> ")


@pytest.mark.parametrize("key", FORMULAS)
def test_arrays_broadcast_to_the_values_of_their_points(key):
    function = FORMULAS[key]
    names = list(inspect.signature(function).parameters)
    grid = [np.array([0.3, 0.6]) if name.endswith("_frac") else np.array([3.0, 5.0]) + position
            for position, name in enumerate(names)]  # fmt: skip
    first, rest = names[0], names[1:]
    columns = {first: grid[0][:, None], **dict(zip(rest, grid[1:], strict=True))}
    whole = np.broadcast_to(function(**columns), (2, 2) if rest else (2, 1))
    for row in range(2):
        for column in range(2 if rest else 1):
            point = {first: grid[0][row], **{name: values[column] for name, values in zip(rest, grid[1:], strict=True)}}
            assert whole[row, column] == pytest.approx(float(function(**point)), rel=1e-12, nan_ok=True)
