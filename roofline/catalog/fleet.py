"""What a fleet is assumed to be asked: a person's figures, completed by defaults that name their source."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

from roofline.catalog.ownership import Part
from roofline.language import later, tr
from roofline.specs.fleet import FleetScenario

CALL = ("input_tokens", "output_tokens", "prefix_hit")
"""What is assumed of a call: fields of the replica."""
NAMES: dict[str, str] = {
    "weekly_users": later("weekly users"),
    "messages": later("messages"),
    "agent_share": later("agent share"),
    "agent_calls": later("agent calls"),
    "result_hit": later("result hit"),
    "small_share": later("small share"),
    "prefix_hit": later("prefix hit"),
    "input_tokens": later("input tokens"),
    "output_tokens": later("output tokens"),
    "peak": later("peak"),
    "burst": later("burst"),
    "busy": later("busy"),
    "spares": later("spares"),
    "speed": later("speed"),
    "rack_kw": later("rack kw"),
}
"""Assumptions -> messages."""
_UNITS = (
    later("kW per rack"),
    later("messages per weekly user and day"),
    later("model calls per agent task"),
    later("peak hour over mean"),
    later("peak ten minutes over peak hour"),
    later("replicas per region and pool"),
    later("share of a replica's time at the worst"),
    later("share of calls"),
    later("share of messages"),
    later("share of prompt tokens"),
    later("tokens"),
    later("tokens/s for each user"),
    later("users"),
)
"""Units of ``fleet.csv`` as messages."""


@dataclass(frozen=True)
class Assumed:
    """Every assumption of a fleet, settled."""

    weekly_users: Part
    messages: Part
    agent_share: Part
    agent_calls: Part
    result_hit: Part
    small_share: Part
    prefix_hit: Part
    input_tokens: Part
    output_tokens: Part
    peak: Part
    burst: Part
    busy: Part
    spares: Part
    speed: Part
    rack_kw: Part


@cache
def fleet_defaults() -> dict[str, Part]:
    """The default of every assumption."""
    text = (resources.files("roofline.catalog") / "data" / "fleet.csv").read_text(encoding="utf-8")
    return {
        row["name"]: Part(float(row["value"]), float(row["low"]), float(row["high"]), row["unit"], row["source"])
        for row in csv.DictReader(text.splitlines())
    }


def settled(asked: FleetScenario) -> FleetScenario:
    """The question with the call it plans for: what the replica does not state of prompt, output and cache is assumed.

    >>> from roofline.specs.scenario import Scenario
    >>> given = Scenario(model="llama-3.1-8b", hardware="h100-sxm", output_tokens=500)
    >>> call = settled(FleetScenario(replica=given)).replica
    >>> call.input_tokens, call.output_tokens, call.prefix_hit
    (1155, 500, 0.366)
    """
    silent = [name for name in CALL if name not in asked.replica.model_fields_set]
    return asked.model_copy(update={"replica": asked.replica.model_copy(update={name: _of_a_call(name) for name in silent})})


def _of_a_call(name: str) -> float:
    default = fleet_defaults()[name].value
    return int(default) if name.endswith("_tokens") else default


def assumed(asked: FleetScenario) -> Assumed:
    """A person's figures, the rest by default.

    What a call is like is the replica's own; a small model that is not there has no share.
    """
    return Assumed(**{item.name: _part(asked, item.name) for item in fields(Assumed)})


def _part(asked: FleetScenario, name: str) -> Part:
    default = fleet_defaults()[name]
    if name == "small_share" and asked.small_model is None:
        return Part(0.0, 0.0, 0.0, default.unit, tr("no small model"))
    given = getattr(asked.replica if name in CALL else asked, name)
    return default if given is None or given == default.value else Part.own(float(given), default.unit)
