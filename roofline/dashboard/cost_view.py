"""What the Cost page asks beyond the scenario: an API to compare with, a user's requests, a horizon. Part of the address."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.answers.api import Against
from roofline.answers.costing import requests_per_user_day
from roofline.answers.owning import MOST_YEARS
from roofline.catalog.apis import load_api
from roofline.errors import InputError, RooflineError
from roofline.language import tr
from roofline.specs.base import printable

_MOST_TEXT = 40
OWN_API_START = "0.5/0.1/2"
"""Where prices of one's own start from: input/cached/output."""


@dataclass(frozen=True)
class CostView:
    """``None`` means: the default, which names itself on the page."""

    api: str | None = None
    """Id of a public price, or ``input/cached/output``."""
    requests_per_day: float | None = None
    """Of one user."""
    years: int | None = None


def written(view: CostView) -> str | None:
    """The view as one short text for the address; none for the usual one.

    >>> written(CostView()), written(CostView(api="groq/llama-3.3-70b", years=6))
    (None, 'api:groq/llama-3.3-70b,years:6')
    """
    parts = {
        "api": view.api,
        "requests": None if view.requests_per_day is None else f"{view.requests_per_day:.12g}",
        "years": view.years,
    }
    return ",".join(f"{name}:{value}" for name, value in parts.items() if value is not None) or None


def read(text: str | None) -> tuple[CostView, tuple[str, ...]]:
    """The view of an address, and a sentence for each part that could not be read.

    >>> read("api:0.5/0.1/2,requests:20")[0]
    CostView(api='0.5/0.1/2', requests_per_day=20.0, years=None)
    >>> read("years:99")[1]
    ('cost=years:99 could not be read: years must be a whole number from 1 to 50. Left at its default.',)
    """
    found, problems = CostView(), []
    for part in filter(None, (text or "").split(",")):
        name, _, value = part.partition(":")
        try:
            found = _with(found, name, value)
        except RooflineError as error:
            given = printable(part, _MOST_TEXT)
            problems.append(tr("cost={given} could not be read: {error} Left at its default.", given=given, error=error))
    return found, tuple(problems)


def _with(view: CostView, name: str, value: str) -> CostView:
    if name == "api":
        load_api(value)
        return CostView(value, view.requests_per_day, view.years)
    if name == "requests":
        try:
            given = float(value)
        except ValueError:
            raise InputError(tr("requests of a user a day must be a number.")) from None
        requests_per_user_day(given)
        return CostView(view.api, given, view.years)
    if name == "years":
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_YEARS):
            raise InputError(tr("years must be a whole number from 1 to {most}.", most=MOST_YEARS))
        return CostView(view.api, view.requests_per_day, int(value))
    raise InputError(tr("only api, requests and years are known."))


def api_parts(found: Against) -> tuple[float, float, float]:
    """Input, cached input and output, USD per million tokens."""
    return found.api.input_usd_per_million, found.api.cached_usd_per_million, found.api.output_usd_per_million


def api_with(found: Against, place: int, usd: float) -> str:
    """Prices of one's own with another one at a place."""
    parts = list(api_parts(found))
    parts[place] = usd
    return "/".join(f"{part:.12g}" for part in parts)
