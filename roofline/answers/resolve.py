"""A scenario with its facts found: model, device, engine, formats, structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from roofline.adapters.inline import is_inline
from roofline.answers.boxes import box_of, box_price, engine_of, placed
from roofline.answers.pricing import DevicePrice
from roofline.catalog.boxes import box_devices, box_id, load_box
from roofline.catalog.engines import load_engine
from roofline.catalog.models import catalogue_model_id, load_model
from roofline.catalog.own_constants import with_constants
from roofline.language import cached
from roofline.performance.machine import Machine, Rates, machine, rates
from roofline.performance.offload import Box
from roofline.performance.served import served_structure
from roofline.performance.sharding import Request, requested
from roofline.performance.structure import Structure
from roofline.specs.engine import EngineProfile
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
from roofline.specs.scenario import Scenario, is_mixed


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
    box: Box | None = None
    """Devices and host, where parts of the model lie on machines that differ."""
    engine_notes: tuple[str, ...] = ()
    """Why the engine is not the usual one."""


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
    boxes = (scenario.hardware,) if scenario.host is None else (scenario.hardware, scenario.host)
    known = named and all(box_id(ref) is not None for ref in boxes)
    find = _resolve if known else _looked_up
    facts = find(
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
    if scenario.ownership is not None or scenario.rental != "on-demand":
        facts = replace(facts, price=box_price(scenario, facts.accelerator))
    return facts if facts.box is None else placed(facts, facts.box, scenario)


@cached(maxsize=1024)
def _resolve(scenario: Scenario) -> Resolved:
    """Kept by language: prices and notes are told in words."""
    return _looked_up(scenario)


def _looked_up(scenario: Scenario) -> Resolved:
    return resolved(scenario, load_model(scenario.model), load_box(scenario.hardware))


def resolved(scenario: Scenario, model: ModelSpec, accelerator: Accelerator) -> Resolved:
    """What a scenario comes to on a model and a device that are already loaded."""
    engine_id, notes = engine_of(scenario, accelerator)
    engine = load_engine(engine_id, accelerator)
    first = box_devices(scenario.hardware)[0][1] if is_mixed(scenario.hardware) else accelerator
    formats = rates(scenario, model, first, engine)
    return Resolved(
        model=model,
        accelerator=accelerator,
        engine=engine,
        structure=served_structure(scenario, model, formats.weights_id),
        formats=formats,
        machine=machine(scenario, accelerator, engine),
        request=requested(scenario, engine),
        price=box_price(scenario, accelerator),
        box=box_of(scenario, model, engine_id),
        engine_notes=notes,
    )
