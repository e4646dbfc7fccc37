"""The formulas as a reference: each one read from its own signature and docstring, and worked out for given values."""

from __future__ import annotations

import ast
import difflib
import doctest
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import roofline.formulas
from roofline.errors import InputError, UnknownIdError
from roofline.language import later, tr

SHARE = later("0 to 1")
"""What stands for a unit where a number is a share."""
_UNITS = {
    "flops": "FLOP", "flop": "FLOP", "bytes": "byte", "byte": "byte", "bits": "bit", "s": "s", "h": "h", "years": "year",
    "w": "W", "j": "J", "kwh": "kWh", "usd": "USD", "g": "g", "frac": SHARE,
}  # fmt: skip
_SIGNED = ("_offset_h", "_margin_ratio")
"""Ends of names of what may lie below zero; all else is an amount. See docs/nomenclature.md."""
_COUNTED = {"tokens", "experts", "sequences"}
_EACH = {"token", "expert", "sequence", "parameter", "weight", "element", "layer", "step"}


@dataclass(frozen=True)
class Parameter:
    """One input of a formula."""

    name: str
    unit: str
    """Empty for a pure number."""
    example: float | None
    """Its value in the formula's own example."""

    def check(self, value: float) -> None:
        """Refuse what its name rules out: an amount below zero, a share above one.

        Raises
        ------
        InputError
            The value cannot be.
        """
        if self.unit == SHARE and not 0.0 <= value <= 1.0:
            raise InputError(tr("{input} is {value:g}; a share lies between 0 and 1.", input=self.name, value=value))
        if value < 0.0 and not self.name.endswith(_SIGNED):
            raise InputError(tr("{input} is {value:g}; it cannot lie below 0.", input=self.name, value=value))


@dataclass(frozen=True)
class Formula:
    """One formula, as its docstring states it."""

    name: str
    topic: str
    """Module it belongs to."""
    summary: str
    equation: str
    assumptions: str
    source: str
    unit: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]

    @property
    def example(self) -> dict[str, float]:
        """Inputs of the formula's own example."""
        return {p.name: p.example for p in self.parameters if p.example is not None}

    def value(self, values: Mapping[str, float]) -> float:
        """The result for one number per parameter.

        Raises
        ------
        InputError
            A parameter is missing, unknown or impossible, or the formula has no finite value there.
        """
        self.check(values)
        with np.errstate(all="ignore"):
            found = float(np.asarray(self.function(**{name: np.float64(value) for name, value in values.items()})))
        if not math.isfinite(found):
            raise InputError(tr("{formula} has no finite value for these inputs.", formula=self.name))
        return found

    def check(self, values: Mapping[str, float]) -> None:
        """Refuse inputs that are missing, unknown or impossible.

        Raises
        ------
        InputError
            Inputs are not one possible number per parameter.
        """
        names = [parameter.name for parameter in self.parameters]
        for given in values:
            if given not in names:
                raise InputError(_no_input(self.name, given, names))
        missing = [name for name in names if name not in values]
        if missing:
            raise InputError(tr("{formula} needs {names} as well.", formula=self.name, names=", ".join(missing)))
        if not all(math.isfinite(values[name]) for name in names):
            raise InputError(tr("{formula} takes finite numbers.", formula=self.name))
        for parameter in self.parameters:
            parameter.check(values[parameter.name])


def _no_input(formula: str, given: str, names: Sequence[str]) -> str:
    """A sentence on an input that there is not."""
    near, takes = difflib.get_close_matches(given, names, n=1), ", ".join(names)
    if not near:
        return tr("{formula} has no input {given!r}; it takes {names}.", formula=formula, given=given, names=takes)
    return tr(
        "{formula} has no input {given!r}; did you mean {near}; it takes {names}.",
        formula=formula,
        given=given,
        near=near[0],
        names=takes,
    )


@cache
def formulary() -> dict[str, Formula]:
    """Every public formula by name."""
    found = {}
    for info in pkgutil.iter_modules(roofline.formulas.__path__):
        module = importlib.import_module(f"roofline.formulas.{info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                found[name] = _read(info.name, name, function)
    return found


def load_formula(name: str) -> Formula:
    """A formula by name.

    Raises
    ------
    UnknownIdError
        There is none of that name.
    """
    if name not in formulary():
        raise UnknownIdError("formulas", name, formulary())
    return formulary()[name]


def _read(topic: str, name: str, function: Callable[..., Any]) -> Formula:
    """The five parts of a formula's docstring: sentence, equation, assumptions, source, example."""
    summary, equation, *middle, source, example = (inspect.getdoc(function) or "").split("\n\n")
    values = _example_values(example)
    return Formula(
        name=name,
        topic=topic,
        summary=summary,
        equation=inspect.cleandoc(re.sub(r"  +(?=\[\d)", "   ", equation)),
        assumptions=" ".join(" ".join(middle).split()),
        source=" ".join(source.split()),
        unit=unit_of(name),
        parameters=tuple(Parameter(p, unit_of(p), values.get(p)) for p in inspect.signature(function).parameters),
        function=function,
    )


def _example_values(example: str) -> dict[str, float]:
    """Numbers that an example hands over by name, the first of each name; the text is read, never run."""
    code = "".join(part.source for part in doctest.DocTestParser().get_examples(example))
    found: dict[str, float] = {}
    for name, node in sorted(_named(ast.parse(code)), key=lambda pair: (pair[1].lineno, pair[1].col_offset)):
        number = _number(node)
        if number is not None:
            found.setdefault(name, number)
    return found


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Values with names: keywords of calls, entries of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((word.arg, word.value) for word in node.keywords if word.arg is not None)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from ((str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant))


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) else None


def unit_of(name: str) -> str:
    """The unit that a name claims with its suffix; empty for counts and ratios.

    >>> unit_of("bandwidth_bytes_per_s"), unit_of("price_usd_per_h"), unit_of("n_layers"), unit_of("kv_cache_bytes_per_token")
    ('byte/s', 'USD/h', '', 'byte/token')
    """
    if name.startswith("n_"):
        return ""
    above, *below = (part.split("_")[-1] for part in name.split("_per_"))
    top = _UNITS.get(above, above if above in _COUNTED else "")
    bottom = [_UNITS.get(word, word if word in _EACH else "") for word in below]
    return "/".join([top or "1", *filter(None, bottom)]) if any(bottom) else top


def unit_words(unit: str) -> str:
    """A unit as the chosen language has it: units are the same everywhere, but for a share."""
    return tr(SHARE) if unit == SHARE else unit


def plain_name(name: str) -> str:
    """A formula or an input in words, without the unit that its name ends in.

    >>> plain_name("bandwidth_bytes_per_s"), plain_name("n_experts"), plain_name("bytes_per_element"), plain_name("up_frac")
    ('bandwidth', 'experts', 'bytes per element', 'up')
    """
    words = name.removeprefix("n_").split("_")
    if not name.startswith("n_") and unit_of(name):
        head = words[: words.index("per")] if "per" in words else words
        words = head[:-1] if len(head) > 1 and head[-1] in _UNITS else words
    return " ".join(words)
