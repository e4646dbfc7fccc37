"""Electricity by country, state and cloud region: carbon intensity and price, each with date and source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from roofline.errors import UnknownIdError

WORLD = "world"
"""The grid taken where none is chosen."""


@dataclass(frozen=True)
class Quoted:
    """A number with the date and source it was quoted with."""

    value: float
    date: str
    source: str


@dataclass(frozen=True)
class Grid:
    """Electricity of a place; None where not known."""

    id: str
    name: str
    kind: str
    carbon_g_per_kwh: Quoted | None
    industrial_usd_per_kwh: Quoted | None
    household_usd_per_kwh: Quoted | None


@cache
def grids() -> dict[str, Grid]:
    """Every grid by its id."""
    text = (resources.files("roofline.catalog") / "data" / "grids.csv").read_text(encoding="utf-8")
    return {row["id"]: _grid(row) for row in csv.DictReader(text.splitlines())}


def _grid(row: dict[str, str]) -> Grid:
    def quoted(value: str, kind: str) -> Quoted | None:
        return Quoted(float(row[value]), row[f"{kind}_date"], row[f"{kind}_source"]) if row[value] else None

    return Grid(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        carbon_g_per_kwh=quoted("g_co2e_per_kwh", "carbon"),
        industrial_usd_per_kwh=quoted("industrial_usd_per_kwh", "industrial"),
        household_usd_per_kwh=quoted("household_usd_per_kwh", "household"),
    )


@cache
def _names() -> dict[str, str]:
    named = {_spelled(grid.name): grid.id for grid in grids().values()}
    return named | {_spelled(key): key for key in grids()}


def _spelled(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-")


def load_grid(ref: str | None) -> Grid:
    """The grid of this id or country name; the world's average where none is named.

    >>> load_grid("DEU").name, load_grid("united states").id, load_grid(None).id
    ('Germany', 'usa', 'world')

    Raises
    ------
    UnknownIdError
        No grid has this id or name; the nearest are named.
    """
    wanted = _spelled(ref or WORLD)
    found = _names().get(wanted)
    if found is None:
        raise UnknownIdError("grids", ref or WORLD, _names())
    return grids()[found]
