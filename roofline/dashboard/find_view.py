"""What the page Find hardware asks beside the scenario: promise, traffic, hardware and prices to choose from."""

from __future__ import annotations

from functools import cache
from typing import get_args

from roofline.answers.inverse import Wish
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.dashboard.fields import Values
from roofline.dashboard.pairs import number, one_of, pairs_view, several_of, yes_no
from roofline.errors import InputError
from roofline.language import tr
from roofline.specs.hardware import CATEGORIES
from roofline.specs.scenario import Scenario
from roofline.specs.search import AS_STORED, PriceBasis, SearchQuery
from roofline.units import KILO

PACES = ("speed", "tpot", "none")
TRAFFICS = ("rate", "users", "none")
AS_EXPECTED = 0
"""No percentile: the middle of the prediction, nobody waits."""
PERCENTILES = (AS_EXPECTED, 50, 80, 90, 95, 99)
PRICES: tuple[PriceBasis, ...] = get_args(PriceBasis)
MOST = tuple(2**k for k in range(9))
QUESTIONS = ("batch", "context", "devices", "bandwidth", "price", "compute-bound")
MOST_NAMED = 40
"""Devices that a link can name."""
USUAL: Values = {
    "ttft": 2.0,
    "pace": "speed",
    "speed": 30.0,
    "tpot": 33.0,
    "pct": AS_EXPECTED,
    "load": "rate",
    "rate": 10.0,
    "users": 100,
    "hw": [],
    "cats": [],
    "new": False,
    "price": "market",
    "usd": None,
    "formats": [],
    "most": 256,
    "ran": False,
    "ask": "batch",
    "asktpot": 50.0,
    "ctxtpot": None,
    "askttft": None,
    "askin": 0.2,
    "askout": 0.6,
}


@cache
def format_choices() -> tuple[str, ...]:
    """Weight formats, that of the model's own file first."""
    return (AS_STORED, *(name for name in format_ids() if "weights" in load_format(name).roles))


def search_query(values: Values, scenario: Scenario) -> SearchQuery:
    """The search that the switches and the scenario ask for.

    Raises
    ------
    InputError
        A number that was asked for is not there: an empty field is no promise of the least it could hold.
    """
    pace, load = values["pace"], values["load"]
    if pace != "none" and values[pace] is None:
        raise InputError(tr("No speed is given: state one, or choose Any speed."))
    if load != "none" and values[load] is None:
        raise InputError(tr("No traffic is given: state it, or choose One full replica."))
    return SearchQuery(
        model=scenario.model,
        hardware=_chosen(values),
        announced=values["new"],
        input_tokens=scenario.input_tokens,
        output_tokens=scenario.output_tokens,
        ttft_s=values["ttft"],
        tpot_s=milliseconds_s(values["tpot"]) if pace == "tpot" else None,
        tokens_per_s_per_user=values["speed"] if pace == "speed" else None,
        percentile=values["pct"] or None,
        request_rate=values["rate"] if load == "rate" else None,
        concurrency=values["users"] if load == "users" else None,
        weights=tuple(values["formats"]) or None,
        kv_cache=scenario.kv_cache,
        engine=scenario.engine,
        usd_per_device_hour=values["usd"],
        price="market" if values["usd"] is not None else values["price"],
        most_devices=values["most"],
    )


def asked_wish(values: Values, scenario: Scenario) -> Wish:
    """The question turned round; what another question asks for is left out of it."""
    ask = values["ask"]
    if ask == "price":
        return Wish(scenario, None, None, values["askin"], values["askout"])
    tpot = milliseconds_s(values["ctxtpot" if ask == "context" else "asktpot"])
    return Wish(scenario, values["askttft"] if ask in ("context", "devices") else None, tpot)


def milliseconds_s(value: float | None) -> float | None:
    """Milliseconds of a control as seconds."""
    return None if value is None else value / KILO


def _chosen(values: Values) -> tuple[str, ...] | None:
    """Devices by name, or all of the kinds chosen; none for the whole catalogue."""
    if values["hw"]:
        return tuple(values["hw"])
    if not values["cats"]:
        return None
    return tuple(i for i in hardware_ids(announced=values["new"]) if load_hardware(i).category in values["cats"])


def _devices() -> tuple[str, ...]:
    return hardware_ids(announced=True)


def _whole(word: str) -> int | None:
    found = number(1, 1e8, optional=True)(word)
    return None if found is None else int(found)


FIND_VIEW = pairs_view(
    "find",
    USUAL,
    {
        "ttft": number(1e-6, 1e6, optional=True),
        "pace": one_of(PACES),
        "speed": number(1e-6, 1e9, optional=True),
        "tpot": number(1e-6, 1e9, optional=True),
        "pct": one_of(PERCENTILES),
        "load": one_of(TRAFFICS),
        "rate": number(1e-9, 1e9, optional=True),
        "users": _whole,
        "hw": several_of(_devices, MOST_NAMED),
        "cats": several_of(lambda: CATEGORIES, len(CATEGORIES)),
        "new": yes_no,
        "price": one_of(PRICES),
        "usd": number(0, 1e6, optional=True),
        "formats": several_of(format_choices, 20),
        "most": one_of(MOST),
        "ran": yes_no,
        "ask": one_of(QUESTIONS),
        "asktpot": number(1e-6, 1e9, optional=True),
        "ctxtpot": number(1e-6, 1e9, optional=True),
        "askttft": number(1e-6, 1e6, optional=True),
        "askin": number(0, 1e6, optional=True),
        "askout": number(0, 1e6, optional=True),
    },
)
