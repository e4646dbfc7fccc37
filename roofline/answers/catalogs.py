"""Catalogues as JSON: what there is to choose from, with facts and sources."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import roofline.formulas
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


def formulas() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public formula with its name."""
    for info in pkgutil.iter_modules(roofline.formulas.__path__):
        module = importlib.import_module(f"roofline.formulas.{info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield name, function


def _formulas() -> Json:
    return {
        name: {
            "module": function.__module__,
            "summary": (inspect.getdoc(function) or "").partition("\n")[0],
            "parameters": list(inspect.signature(function).parameters),
        }
        for name, function in formulas()
    }
