"""Public prices of model APIs, each with date and source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

from roofline.catalog.models import catalogue_model_id
from roofline.errors import InputError, UnknownIdError
from roofline.language import cached, tr


@dataclass(frozen=True)
class ApiPrice:
    """What an API charges, USD per million tokens."""

    id: str
    model: str
    """Catalogue id of the model served; empty where it is not open."""
    input_usd_per_million: float
    cached_usd_per_million: float
    """As input where no price of cached input is published."""
    output_usd_per_million: float
    date: str
    source: str
    note: str

    @property
    def name(self) -> str:
        """Its id; prices of one's own are called so."""
        return self.id if self.date else tr("your API price")


@cached(maxsize=None)
def api_prices() -> dict[str, ApiPrice]:
    """Every price by its id, ``provider/model``."""
    text = (resources.files("roofline.catalog") / "data" / "api_prices.csv").read_text(encoding="utf-8")
    return {row["id"]: _price(row) for row in csv.DictReader(text.splitlines())}


def _price(row: dict[str, str]) -> ApiPrice:
    from_cache = row["cached_usd_per_million"]
    unknown = "" if from_cache else tr("no price of cached input is published: charged as input")
    return ApiPrice(
        id=row["id"],
        model=row["model"],
        input_usd_per_million=float(row["input_usd_per_million"]),
        cached_usd_per_million=float(from_cache or row["input_usd_per_million"]),
        output_usd_per_million=float(row["output_usd_per_million"]),
        date=row["date"],
        source=row["source"],
        note="; ".join(part for part in (row["note"], unknown) if part),
    )


def load_api(ref: str) -> ApiPrice:
    """The price of this id, or three prices of one's own as ``input/cached/output``.

    >>> load_api("OpenAI/gpt-4o-mini").output_usd_per_million, load_api("0.5/0.1/2").cached_usd_per_million
    (0.6, 0.1)

    Raises
    ------
    UnknownIdError
        No price has this id; the nearest are named.
    """
    found = api_prices().get(ref.strip().lower())
    if found is not None:
        return found
    try:
        given = tuple(float(part) for part in ref.split("/"))
    except ValueError:
        raise UnknownIdError("apis", ref, api_prices()) from None
    if len(given) != 3 or not all(0 <= price < 1e9 for price in given):
        raise InputError(tr("a price of your own is input/cached/output in USD per million tokens, such as 0.5/0.1/2."))
    return ApiPrice("yours", "", *given, date="", source="yours", note="")


def apis_of(model: str) -> tuple[ApiPrice, ...]:
    """Prices of a model of the catalogue."""
    key = catalogue_model_id(model)
    return tuple(price for price in api_prices().values() if key and price.model == key)
