"""Scenarios with a host or with several kinds of devices: which engine runs them, and where the parts of the model lie."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roofline.answers.pricing import DevicePrice, chosen_price
from roofline.catalog.boxes import box_devices, has_host_memory, host_cpu
from roofline.catalog.engines import base_engine, engine_profiles, load_engine
from roofline.errors import InputError, PlanError
from roofline.language import later, tr
from roofline.performance.machine import machine, rates
from roofline.performance.offload import Box, Demand, Seat, host_seat, segments
from roofline.performance.serving import mean_context_tokens
from roofline.performance.sharding import Request
from roofline.specs.engine import EngineProfile
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
from roofline.specs.offload import Offload, OffloadKind, parsed_offload
from roofline.specs.scenario import Scenario, is_mixed
from roofline.units import significant, to_base

if TYPE_CHECKING:
    from roofline.answers.resolve import Resolved

MOST_SEATS = 64
"""Devices in series: beyond a box or two nobody chains them."""
SERIES = Request(1, None, None, None, None, None, splits_tensors=False)
"""The plan of machines in series: whole layers in turn."""
_KEPT: dict[OffloadKind, str] = {
    "layers": later("keeps whole layers on devices"),
    "experts": later("keeps experts on devices"),
    "cache": later("keeps the cache on devices"),
}
"""What an engine does that cannot offload so."""
WIDTHS = ("tensor_parallel", "expert_parallel", "data_parallel", "attention_data_parallel")


def is_boxed(scenario: Scenario) -> bool:
    """Whether parts of the model lie on machines that differ."""
    return parsed_offload(scenario.offload).kind not in ("none", "auto") or is_mixed(scenario.hardware) or spills(scenario)


def spills(scenario: Scenario) -> bool:
    """Whether a disk may hold what memory cannot."""
    return scenario.disk_gb_per_s is not None


def engine_of(scenario: Scenario, device: Accelerator) -> tuple[str, tuple[str, ...]]:
    """The engine profile that runs the scenario, with a note where it is not the usual one.

    Raises
    ------
    InputError
        The engine asked for cannot do it.
    """
    base = base_engine(scenario.engine, device)
    kind = parsed_offload(scenario.offload).kind
    lacks = _lacks(base, kind, is_mixed(scenario.hardware))
    if not lacks:
        return scenario.engine, ()
    able = next(p for p in engine_profiles() if not _lacks(p, kind, is_mixed(scenario.hardware)))
    if scenario.engine != "auto":
        raise InputError(
            tr(
                "{engine} {lacks}: choose the engine {able}, or leave the engine open.",
                engine=base.name,
                lacks=lacks,
                able=able.id,
            )
        )
    return able.id, (tr("{engine} {lacks}: {able} is taken instead.", engine=base.name, lacks=lacks, able=able.name),)


def _lacks(profile: EngineProfile, kind: OffloadKind, mixed: bool) -> str:
    """What an engine cannot do of what is asked, in words; empty where it can."""
    if mixed and profile.kind != "llama.cpp" and not profile.is_ideal:
        return tr("does not divide a model over devices of different kinds")
    if kind in _KEPT and kind not in profile.offloads:
        return tr(_KEPT[kind])
    return ""


def box_of(scenario: Scenario, model: ModelSpec, engine: str) -> Box | None:
    """Devices and host of a scenario; ``None`` where one kind of device holds all.

    Raises
    ------
    RooflineError
        No link to a host, no such CPU, a plan that devices in series cannot follow.
    """
    if not is_boxed(scenario):
        return None
    _refuse_widths(scenario)
    devices, offload = box_devices(scenario.hardware), parsed_offload(scenario.offload)
    devices = devices if is_mixed(scenario.hardware) else ((scenario.devices, devices[0][1]),)
    if sum(count for count, _ in devices) > MOST_SEATS:
        raise InputError(tr("offloading and mixed devices are answered for at most {most} devices in one box.", most=MOST_SEATS))
    offload = Offload("none") if offload.kind == "auto" else offload
    host = None
    if offload.kind != "none":
        host = _host(scenario, model, tuple(device for _, device in devices), engine)
    elif spills(scenario) and any(has_host_memory(device) for _, device in devices):
        raise InputError(
            tr("a disk serves weights that host memory should hold: choose what to offload, such as --offload layers.")
        )
    disk = None if scenario.disk_gb_per_s is None else to_base(scenario.disk_gb_per_s, "GB/s")
    return Box(_seats(scenario, model, devices, engine), host, offload, disk)


def _refuse_widths(scenario: Scenario) -> None:
    asked = [name for name in WIDTHS if (getattr(scenario, name) or 1) > 1 or getattr(scenario, name) is True]
    if asked or scenario.pipeline_parallel not in (None, scenario.devices):
        raise PlanError(
            tr("offloaded layers and mixed devices work in series, whole layers in turn: leave the parallel ways open.")
        )
    if scenario.context_parallel > 1 or scenario.prefill_devices is not None or scenario.two_batch_overlap:
        raise PlanError(
            tr(
                "offloaded layers and mixed devices work in series: leave context parallelism, prefill devices and two-batch "
                "overlap out."
            )
        )


def _seats(scenario: Scenario, model: ModelSpec, devices: tuple[tuple[int, Accelerator], ...], engine: str) -> tuple[Seat, ...]:
    found = []
    for count, device in devices:
        profile = load_engine(engine, device)
        alone = scenario.model_copy(update={"devices": 1})
        one, formats = machine(alone, device, profile), rates(scenario, model, device, profile)
        names = [device.name] if count == 1 else [tr("{device}, number {n}", device=device.name, n=n + 1) for n in range(count)]
        found += [Seat(name, one, formats) for name in names]
    return tuple(found)


def _host(scenario: Scenario, model: ModelSpec, devices: tuple[Accelerator, ...], engine: str) -> Seat:
    for device in devices:
        if not has_host_memory(device):
            raise InputError(
                tr(
                    "{device} has no host memory beside its own in the catalogue: all of the model must fit on it.",
                    device=device.id,
                )
            )
    sockets, cpu = host_cpu(scenario.host, devices[0])
    profile = load_engine(load_engine(engine, devices[0]).host_engine, cpu)
    formats = rates(scenario.model_copy(update={"activations": None}), model, cpu, profile)
    memory = None if scenario.host_memory_gib is None else to_base(scenario.host_memory_gib, "GiB")
    return host_seat(cpu, sockets, profile, formats, memory)


def placed(found: Resolved, box: Box, scenario: Scenario) -> Resolved:
    """The same facts with every part of the model in its place for the load of a scenario."""
    prompt, output = float(scenario.input_tokens), float(scenario.output_tokens)
    demand = Demand(scenario.batch, prompt + output, prompt, float(mean_context_tokens(prompt, output)))
    parts = segments(found.structure, box, demand)
    engines = [part.machine.engine for part in parts]
    bands = {
        name: (min(getattr(e, name)[0] for e in engines), max(getattr(e, name)[1] for e in engines))
        for name in ("decode_time_band", "prefill_time_band", "request_time_band")
    }
    update: dict[str, object] = {**bands, "is_calibrated": found.engine.is_calibrated and box.host is None}
    return replace(
        found, machine=replace(found.machine, segments=parts), engine=found.engine.model_copy(update=update), request=SERIES
    )


def box_price(scenario: Scenario, accelerator: Accelerator, load_frac: float | None = None) -> DevicePrice:
    """Of one device, on the market or owned, at a mean load where one is known.

    Of a mixed box the mean, so that its devices add up.
    """
    if not is_mixed(scenario.hardware):
        return chosen_price(scenario, accelerator, load_frac)
    prices = [(n, device, chosen_price(scenario, device, load_frac)) for n, device in box_devices(scenario.hardware)]
    devices, total, load = sum(count for count, _, _ in prices), 0.0, 0.0
    for count, _, price in prices:
        if price.usd_per_h is None:
            return price
        total, load = total + count * price.usd_per_h, load + count * price.load_usd_per_h
    basis = "; ".join(
        tr(
            "{n} x {device} at {usd} USD/h ({basis})",
            n=count,
            device=device.id,
            usd=significant(price.usd_per_h or 0.0),
            basis=price.basis,
        )
        for count, device, price in prices
    )
    said = tr("mean of the box: {basis}", basis=basis)
    return DevicePrice(total / devices, said, load_usd_per_h=load / devices)
