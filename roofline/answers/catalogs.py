"""Catalogues as JSON: what there is to choose from, with facts and sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from roofline.answers.formulary import Formula, formulary
from roofline.answers.serialise import Json, hardware_json
from roofline.catalog.apis import api_prices
from roofline.catalog.engines import engine_profiles
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.grids import grids
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.catalog.models import model_entries
from roofline.errors import UnknownIdError


def catalog_json(kind: str | None = None, *, announced: bool = False) -> Json:
    """``{kind: {id: {…}}}`` of one catalogue, or of all.

    Raises
    ------
    UnknownIdError
        There is no such catalogue.
    """
    makers: dict[str, Callable[[], Json]] = {
        "hardware": lambda: _hardware(announced),
        "models": _models,
        "formats": lambda: {i: load_format(i).model_dump(mode="json") for i in format_ids()},
        "engines": lambda: {p.id: p.model_dump(mode="json") for p in engine_profiles()},
        "prices": lambda: {i: entry["prices"] for i, entry in _hardware(announced).items() if entry["prices"]},
        "apis": lambda: {i: asdict(price) for i, price in api_prices().items()},
        "grids": lambda: {i: asdict(grid) for i, grid in grids().items()},
        "formulas": _formulas,
    }
    if kind is not None and kind not in makers:
        raise UnknownIdError("catalogue", kind, makers)
    return {name: make() for name, make in makers.items() if kind in (None, name)}


def _hardware(announced: bool) -> Json:
    return {i: hardware_json(load_hardware(i)) for i in hardware_ids(announced=announced)}


def _models() -> Json:
    return {name: asdict(entry) for name, entry in model_entries().items()}


def _formulas() -> Json:
    return {name: formula_json(formula) for name, formula in formulary().items()}


def formula_json(formula: Formula) -> Json:
    """A formula as its docstring states it."""
    return {
        "module": f"roofline.formulas.{formula.topic}",
        "summary": formula.summary,
        "equation": formula.equation,
        "assumptions": formula.assumptions,
        "source": formula.source,
        "unit": formula.unit,
        "parameters": [parameter.name for parameter in formula.parameters],
        "units": {parameter.name: parameter.unit for parameter in formula.parameters},
        "example": {parameter.name: parameter.example for parameter in formula.parameters},
    }
