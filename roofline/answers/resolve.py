"""A scenario with its facts found: model, device, engine, formats, structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from roofline.adapters.inline import is_inline
from roofline.answers.pricing import DevicePrice, chosen_price, market_price
from roofline.catalog.engines import load_engine
from roofline.catalog.hardware import catalogue_hardware_id, load_hardware
from roofline.catalog.models import catalogue_model_id, load_model
from roofline.catalog.own_constants import with_constants
from roofline.performance.machine import Machine, Rates, machine, rates
from roofline.performance.served import served_structure
from roofline.performance.sharding import Request, requested
from roofline.performance.structure import Structure
from roofline.specs.engine import EngineProfile
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
from roofline.specs.scenario import Scenario


@dataclass(frozen=True)
class Resolved:
    """Everything that does not depend on the load."""

    model: ModelSpec
    accelerator: Accelerator
    engine: EngineProfile
    structure: Structure
    formats: Rates
    machine: Machine
    request: Request
    price: DevicePrice
    """Of one device: on the market, or owned."""


def resolve(scenario: Scenario, constants: Mapping[str, float] | None = None) -> Resolved:
    """Find what a scenario names; ``constants`` are shares of one's own in place of the engine's.

    Raises
    ------
    RooflineError
        An unknown id, a format a device cannot run, memory that cannot be chosen, a share that is none.
    """
    found = _found(scenario)
    if not constants:
        return found
    engine = with_constants(found.engine, constants)
    return replace(found, engine=engine, machine=replace(found.machine, engine=engine))


def _found(scenario: Scenario) -> Resolved:
    named = is_inline(scenario.model) or catalogue_model_id(scenario.model) is not None
    known = named and catalogue_hardware_id(scenario.hardware) is not None
    find = _resolve if known else _resolve.__wrapped__
    found = find(
        scenario.model_copy(
            update={
                "input_tokens": 1,
                "output_tokens": 1,
                "batch": None,
                "request_rate": None,
                "batching_window_s": 0.0,
                "usd_per_device_hour": None,
                "utilisation": 1.0,
                "rental": "on-demand",
                "ownership": None,
                "grid": None,
            }
        )
    )
    price = chosen_price(scenario, found.accelerator, found.price)
    return found if price is found.price else replace(found, price=price)


@lru_cache(maxsize=1024)
def _resolve(scenario: Scenario) -> Resolved:
    model, accelerator = load_model(scenario.model), load_hardware(scenario.hardware)
    engine = load_engine(scenario.engine, accelerator)
    formats = rates(scenario, model, accelerator, engine)
    return Resolved(
        model=model,
        accelerator=accelerator,
        engine=engine,
        structure=served_structure(scenario, model, formats.weights_id),
        formats=formats,
        machine=machine(scenario, accelerator, engine),
        request=requested(scenario, engine),
        price=market_price(accelerator),
    )
