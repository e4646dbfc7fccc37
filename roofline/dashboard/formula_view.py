"""Which formula is looked at, with which inputs: ``lower_bound_s,work_flops:2e12,against:traffic_bytes`` in the address."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10

from roofline.answers.formulary import Formula, Parameter, formulary, load_formula
from roofline.dashboard.fields import Values
from roofline.dashboard.page_view import PageView, Read, shown
from roofline.errors import UnknownIdError
from roofline.language import tr

USUAL = "attainable_flops_per_s"
NAME, AGAINST = "name", "against"


def input_name(formula: Formula, parameter: Parameter) -> str:
    """The switch of an input."""
    return f"{formula.name}.{parameter.name}"


def inputs(values: Values) -> dict[str, float]:
    """The inputs of the chosen formula."""
    formula = formulary()[values[NAME]]
    return {p.name: float(values[input_name(formula, p)]) for p in formula.parameters}


def start(formula: Formula) -> Values:
    """A formula as its own example has it, against its first input."""
    example = {input_name(formula, p): _example(p) for p in formula.parameters}
    return {NAME: formula.name, AGAINST: formula.parameters[0].name, **example}


def settled(values: Values) -> Values:
    """Another formula starts from its example; an emptied field goes back to it."""
    formula = formulary()[values[NAME]]
    usual = start(formula)
    if values.keys() != usual.keys():
        return usual
    return {name: usual[name] if values[name] is None else values[name] for name in usual}


def written(values: Values) -> str:
    """The chosen formula and what differs from its example; empty for the usual one.

    >>> written(start(load_formula("distinct_experts")))
    'distinct_experts'
    """
    formula = formulary()[values[NAME]]
    usual = start(formula)
    changed = [
        f"{p.name}:{_number(values[name])}" for p in formula.parameters if values[name := input_name(formula, p)] != usual[name]
    ]
    if values[AGAINST] != usual[AGAINST]:
        changed.append(f"{AGAINST}:{values[AGAINST]}")
    return ",".join([formula.name, *changed]) if changed or formula.name != USUAL else ""


def read(text: str) -> Read:
    """The view of an address; each part that is no input, or no number, is told and left at the example.

    >>> read("distinct_experts,n_tokens:64").values["distinct_experts.n_tokens"]
    64.0
    """
    name, *pairs = text.split(",") if text else (USUAL,)
    try:
        formula = load_formula(name)
    except UnknownIdError as error:
        return Read(start(formulary()[USUAL]), (_unknown(shown(name), error.nearest),))
    values, problems = start(formula), []
    for pair in pairs:
        problem = _take(pair, formula, values)
        if problem:
            problems.append(tr("formula: {problem} Left out.", problem=problem))
    return Read(values, tuple(problems))


def _unknown(name: str, nearest: Sequence[str]) -> str:
    if not nearest:
        return tr("No formula is called '{name}': the usual one is shown.", name=name)
    return tr("No formula is called '{name}'; nearest: {names}: the usual one is shown.", name=name, names=", ".join(nearest))


def step(parameter: Parameter) -> float:
    """How far one press moves an input: a tenth of the example's leading digit, a whole one for counts."""
    size = 10.0 ** floor(log10(abs(_example(parameter)) or 1.0))
    return max(1.0, size / 10) if parameter.name.startswith("n_") else size / 10


def _take(pair: str, formula: Formula, values: Values) -> str | None:
    """Put one ``key:value`` of an address into the switches; a sentence where it cannot be."""
    key, _, text = pair.partition(":")
    names = [p.name for p in formula.parameters]
    if key == AGAINST and text in names:
        values[AGAINST] = text
        return None
    if key not in names:
        return tr(
            "'{part}' is no input of {formula}; it takes {names}.",
            part=shown(pair),
            formula=formula.name,
            names=", ".join(names),
        )
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        return tr("{input} is '{text}', which is no number.", input=key, text=shown(text))
    values[f"{formula.name}.{key}"] = number
    return None


def _example(parameter: Parameter) -> float:
    return 1.0 if parameter.example is None else parameter.example


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


FORMULA_VIEW = PageView("formula", read, written, settled)
