"""Boxes with several kinds of devices: one card for the whole, made of the cards of the parts."""

from __future__ import annotations

from roofline.catalog.hardware import catalogue_hardware_id, hardware_ids, is_own_device, load_hardware
from roofline.errors import InputError, UnknownIdError
from roofline.language import tr
from roofline.specs.hardware import Accelerator, Fact
from roofline.specs.scenario import hardware_parts

USUAL_HOSTS = {
    "datacentre GPU": "2xxeon-8480",
    "accelerator": "2xxeon-8480",
    "TPU": "2xxeon-8480",
    "workstation GPU": "tr-7995wx",
    "consumer GPU": "ryzen-9950x",
}
"""The host assumed where none is named, by category of device: common parts of the catalogue."""


def box_devices(hardware: str) -> tuple[tuple[int, Accelerator], ...]:
    """Every kind of device of a box with its count."""
    return tuple((count, load_hardware(ref)) for count, ref in hardware_parts(hardware))


def load_box(hardware: str) -> Accelerator:
    """One card for a box: its only device, or the first with the name and the mean power of all.

    Raises
    ------
    InputError
        A part of a mixed box that is no device beside a host: a CPU.
    """
    devices = box_devices(hardware)
    first = devices[0][1]
    if len(devices) == 1:
        return first
    for _, device in devices:
        if device.category in ("server CPU", "desktop CPU"):
            raise InputError(
                tr("{device} is a CPU: name it as the host (--host {device}), not among the devices.", device=device.id)
            )
    n_devices = sum(count for count, _ in devices)
    watts = [count * device.tdp.base for count, device in devices if device.tdp is not None]
    power = None
    if len(watts) == len(devices):
        power = Fact(value=sum(watts) / n_devices, unit="W", source="derived", kind="derived", note="mean over the box")
    grade = max(device.grade for _, device in devices)
    ref = "+".join(f"{count}x{device.id}" for count, device in devices)
    update = {"id": ref, "name": box_name(devices), "tdp": power, "grade": grade}
    return first.model_copy(update={**update, "prices": (), "aliases": ()})


def box_id(hardware: str) -> str | None:
    """The reference in catalogue ids, or holding devices itself; ``None`` where a part is neither."""
    parts = [(count, ref if is_own_device(ref) else catalogue_hardware_id(ref)) for count, ref in hardware_parts(hardware)]
    if any(ref is None for _, ref in parts):
        return None
    return "+".join(f"{count}x{ref}" if len(parts) > 1 or count > 1 else str(ref) for count, ref in parts)


def has_host_memory(device: Accelerator) -> bool:
    """Whether a host with memory of its own is behind a link; CPUs, Apple and other unified memory have one for all."""
    return device.link("host") is not None and "unified" not in device.memory_type


def can_be_linked(hardware: str) -> bool:
    """Whether facts name any link of these devices; without one, as of Apple machines and CPUs, several are separate machines."""
    return any(device.links for _, device in box_devices(hardware))


def box_name(devices: tuple[tuple[int, Accelerator], ...]) -> str:
    """The devices of a box, as people say it."""
    return " + ".join(f"{count} x {device.name}" if count > 1 else device.name for count, device in devices)


def host_cpu(ref: str | None, device: Accelerator) -> tuple[int, Accelerator]:
    """Sockets and CPU of a host as named, or the usual one for such a device.

    Raises
    ------
    InputError
        The host is no CPU, or no host is usual for such a device.
    """
    named = ref or USUAL_HOSTS.get(device.category)
    if named is None:
        raise InputError(tr("{device} has no usual host: name a CPU with --host, such as epyc-9654.", device=device.id))
    ((sockets, cpu_id), *rest) = hardware_parts(named)
    cpu = load_hardware(cpu_id)
    if rest or cpu.category not in ("server CPU", "desktop CPU"):
        cpus = ", ".join(i for i in hardware_ids() if load_hardware(i).category in ("server CPU", "desktop CPU"))
        raise UnknownIdError("hosts", named, cpus.split(", "))
    return sockets, cpu
