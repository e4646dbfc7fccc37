"""What is looked for in the catalogue: ``devices,vendor:AMD,against:h100-sxm/mi300x`` in the address."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_args
from urllib.parse import quote, unquote

from roofline.answers.browse import MOST_ROOFS, device_rows, model_rows
from roofline.dashboard.fields import Values
from roofline.dashboard.page_view import PageView, Read, shown
from roofline.language import tr
from roofline.specs.formats import Dtype

KINDS = ("devices", "models")
EXPERTS = ("all", "dense", "experts")
MEMORIES_GB = (0, 8, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 512)
MOST_TEXT = 60
DTYPES: tuple[Dtype, ...] = get_args(Dtype)
USUAL: Values = {
    "kind": "devices",
    "text": "",
    "vendor": None,
    "category": None,
    "year": None,
    "memory": 0,
    "experts": "all",
    "show": None,
    "against": [],
    "dtype": "bf16",
}


@cache
def vendors() -> tuple[str, ...]:
    """Makers of the catalogue."""
    return tuple(sorted({row.vendor for row in device_rows()}, key=str.lower))


@cache
def categories() -> tuple[str, ...]:
    """Kinds of devices."""
    return tuple(dict.fromkeys(row.category for row in device_rows()))


@cache
def years() -> tuple[int, ...]:
    """Years in which something of the catalogue appeared, newest first."""
    devices, models = {row.year for row in device_rows()}, {int(row.released[:4]) for row in model_rows()}
    return tuple(sorted(devices | models, reverse=True))


@cache
def ids(kind: str) -> tuple[str, ...]:
    """Ids of one half of the catalogue, by name."""
    rows = device_rows() if kind == "devices" else model_rows()
    return tuple(row.id for row in rows)


def settled(values: Values) -> Values:
    """What is shown belongs to the half that is open."""
    return values if values["show"] in (None, *ids(values["kind"])) else {**values, "show": None}


def written(values: Values) -> str:
    """What differs from the usual view; empty for the usual one.

    >>> written({**USUAL, "vendor": "AMD", "against": ["h100-sxm", "mi300x"]})
    'vendor:AMD,against:h100-sxm/mi300x'
    """
    return ",".join(f"{name}:{_text(values[name])}" for name in USUAL if values[name] != USUAL[name])


def read(text: str) -> Read:
    """The view of an address; each part that means nothing here is told and left as usual.

    >>> read("kind:models,text:llama%2070b").values["text"], read("year:1").problems
    ('llama 70b', ("catalogue: 'year:1' means nothing here: left out.",))
    """
    values, problems = dict(USUAL), []
    for pair in filter(None, text.split(",")):
        name, _, word = pair.partition(":")
        try:
            values[name] = _READERS[name](unquote(word))
        except (KeyError, ValueError):
            problems.append(tr("catalogue: '{part}' means nothing here: left out.", part=shown(pair)))
    return Read(settled(values), tuple(problems))


def _text(value: Any) -> str:  # noqa: ANN401
    return "/".join(value) if isinstance(value, list) else quote(str(value), safe="")


def _one_of(options: Callable[[], tuple[Any, ...]]) -> Callable[[str], Any]:
    return lambda word: {str(option): option for option in options()}[word]


def _short(word: str) -> str:
    if len(word) > MOST_TEXT or not word.isprintable():
        raise ValueError(word)
    return word


def _devices(word: str) -> list[str]:
    found = list(dict.fromkeys(word.split("/")))
    if len(found) > MOST_ROOFS or not set(found) <= set(ids("devices")):
        raise ValueError(word)
    return found


_READERS: dict[str, Callable[[str], Any]] = {
    "kind": _one_of(lambda: KINDS),
    "text": _short,
    "vendor": _one_of(vendors),
    "category": _one_of(categories),
    "year": _one_of(years),
    "memory": _one_of(lambda: MEMORIES_GB),
    "experts": _one_of(lambda: EXPERTS),
    "show": _one_of(lambda: ids("devices") + ids("models")),
    "against": _devices,
    "dtype": _one_of(lambda: DTYPES),
}
CATALOGUE_VIEW = PageView("catalogue", read, written, settled)
