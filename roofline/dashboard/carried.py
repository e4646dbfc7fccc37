"""What pages ask beyond the scenario, as the address carries it: a fleet, and the view of costs. No other page changes it."""

from __future__ import annotations

from collections.abc import Mapping

from roofline import link
from roofline.dashboard import cost_view
from roofline.specs.fleet import FleetScenario

COST_KEY = "cost"


def read(query: Mapping[str, str], told: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The part of an address that is carried along, cleaned, and what in it could not be read beyond what was told.

    >>> read({"f.users": "1000", "f.peak": "many"}, ())[0]
    {'f.users': '1000'}
    """
    kept: dict[str, str] = {}
    problems: list[str] = []
    if any(key.startswith(link.FLEET_PREFIX) for key in query):
        decoded = link.decode_fleet(query)
        kept |= fleet_part(decoded.fleet)
        problems += [problem for problem in decoded.problems if problem not in told]
    seen, more = cost_view.read(query.get(COST_KEY))
    return {**kept, **cost_part(seen)}, (*problems, *more)


def fleet_part(asked: FleetScenario) -> dict[str, str]:
    """What a fleet adds to the address of its replica."""
    return {key: value for key, value in link.encode_fleet(asked).items() if key.startswith(link.FLEET_PREFIX)}


def cost_part(seen: cost_view.CostView) -> dict[str, str]:
    """What the view of costs adds to the address."""
    text = cost_view.written(seen)
    return {} if text is None else {COST_KEY: text}
