"""The catalogues as rows to search: every device and every model with what people choose by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from math import log
from typing import Literal

from roofline.catalog.hardware import facts, hardware_ids, load_hardware, rental_usd_per_h
from roofline.catalog.models import load_model, model_entries
from roofline.formulas.bounds import ridge_point_flops_per_byte
from roofline.performance.counts import model_counts
from roofline.specs.formats import Dtype
from roofline.specs.hardware import CATEGORIES, Accelerator, Category

MOST_ROOFS = 4
"""Devices on one roofline."""
_FRESH = timedelta(days=365)
Experts = Literal["all", "dense", "experts"]


@dataclass(frozen=True)
class DeviceRow:
    """A device by what it is chosen for; ``None`` where no fact is published."""

    id: str
    name: str
    vendor: str
    category: Category
    year: int
    memory_bytes: float
    bandwidth_bytes_per_s: float
    peak_16_bit_flops_per_s: float | None
    peak_8_bit_flops_per_s: float | None
    peak_4_bit_flops_per_s: float | None
    tdp_w: float | None
    usd_per_h: float | None
    """Median of the newest on-demand rental quotes."""
    grade: str
    n_unverified: int
    """Facts that no source confirms."""
    announced: bool
    """Not shipping yet."""
    words: str
    """What a search looks in."""


@dataclass(frozen=True)
class ModelRow:
    """A model by what it is chosen for."""

    id: str
    name: str
    released: str
    n_layers: int
    total_parameters: int
    active_parameters: int
    n_experts: int
    """0 where it is dense."""
    n_active_experts: int
    trained_context: int | None
    cache_bytes_per_token: float
    """In 16 bit, once every window is full."""
    weight_bytes: float
    stored_format: str
    reconstructed: bool
    """Written down from known values, not a published file."""
    words: str


@dataclass(frozen=True)
class Roof:
    """A device's ceilings at one number format."""

    id: str
    name: str
    peak_flops_per_s: float
    bandwidth_bytes_per_s: float
    ridge_flops_per_byte: float


@cache
def device_rows() -> tuple[DeviceRow, ...]:
    """Every device, announced ones too, as people look for them."""
    return tuple(_device_row(device) for device in sorted(map(load_hardware, hardware_ids(announced=True)), key=device_order))


def device_order(device: Accelerator) -> tuple[int, int, str, str]:
    """What serves models in datacentres first, CPUs last; of a kind the newest first, then by vendor and name."""
    return CATEGORIES.index(device.category), -device.year, device.vendor.lower(), device.name.lower()


@cache
def model_rows() -> tuple[ModelRow, ...]:
    """Every model, by name."""
    return tuple(sorted((_model_row(i) for i in model_entries()), key=lambda row: row.name.lower()))


def matching_devices(
    *, text: str = "", vendor: str | None = None, category: str | None = None, year: int | None = None, memory_bytes: float = 0.0
) -> tuple[DeviceRow, ...]:
    """Devices with every word of a text, of a vendor and category, from a year on, with at least so much memory."""
    return tuple(
        row
        for row in device_rows()
        if _found(text, row.words)
        and vendor in (None, row.vendor)
        and category in (None, row.category)
        and row.year >= (year or 0)
        and row.memory_bytes >= memory_bytes
    )


def matching_models(*, text: str = "", experts: Experts = "all", year: int | None = None) -> tuple[ModelRow, ...]:
    """Models with every word of a text, dense or with experts, released from a year on."""
    wanted = {"all": (True, False), "experts": (True,), "dense": (False,)}[experts]
    return tuple(
        row
        for row in model_rows()
        if _found(text, row.words) and (row.n_experts > 0) in wanted and int(row.released[:4] or 0) >= (year or 0)
    )


def nearest_models(active_parameters: float, experts: Experts, n: int) -> tuple[ModelRow, ...]:
    """Models nearest in parameters that a token uses."""
    return tuple(
        sorted(
            matching_models(experts=experts),
            key=lambda row: (abs(log(row.active_parameters / active_parameters)), row.name.lower()),
        )[:n]
    )


def roofs(ids: Sequence[str], dtype: Dtype) -> tuple[tuple[Roof, ...], tuple[str, ...]]:
    """Ceilings of devices at one format, and the names of those that publish no such peak."""
    devices = [load_hardware(i) for i in ids]
    found = tuple(_roof(device, dtype) for device in devices if dtype in device.peaks)
    return found, tuple(device.name for device in devices if dtype not in device.peaks)


def common_dtypes(ids: Iterable[str]) -> tuple[Dtype, ...]:
    """Formats that at least one of the devices publishes a peak for, in the order of the first that has them."""
    return tuple(dict.fromkeys(dtype for i in ids for dtype in load_hardware(i).peaks))


def is_old(day: str, today: date) -> bool:
    """Whether a dated fact is older than a year; an undated one is not said to be.

    >>> is_old("2024-01-31", date(2026, 1, 1)), is_old("2025-06", date(2026, 1, 1)), is_old("", date(2026, 1, 1))
    (True, False, False)
    """
    return bool(day) and day < (today - _FRESH).isoformat()[: len(day)]


def _device_row(device: Accelerator) -> DeviceRow:
    price = rental_usd_per_h(device)
    return DeviceRow(
        id=device.id,
        name=device.name,
        vendor=device.vendor,
        category=device.category,
        year=device.year,
        memory_bytes=device.memory_bytes,
        bandwidth_bytes_per_s=device.bandwidth_bytes_per_s,
        peak_16_bit_flops_per_s=_peak(device, ("bf16", "fp16")),
        peak_8_bit_flops_per_s=_peak(device, ("fp8", "int8")),
        peak_4_bit_flops_per_s=_peak(device, ("fp4", "int4")),
        tdp_w=device.tdp.base if device.tdp else None,
        usd_per_h=price[0] if price else None,
        grade=device.grade,
        n_unverified=sum(fact.kind == "unverified" for _, fact in facts(device)),
        announced=device.announced,
        words=" ".join((device.id, device.name, device.vendor, device.category, device.architecture, *device.aliases)).lower(),
    )


def _peak(device: Accelerator, dtypes: Sequence[Dtype]) -> float | None:
    """The first published peak of a width."""
    return next((device.peaks[dtype].base for dtype in dtypes if dtype in device.peaks), None)


def _model_row(model_id: str) -> ModelRow:
    entry, model = model_entries()[model_id], load_model(model_id)
    counts = model_counts(model)
    return ModelRow(
        id=model_id,
        name=entry.name,
        released=entry.released,
        n_layers=counts.layers,
        total_parameters=counts.parameters.total,
        active_parameters=counts.parameters.active,
        n_experts=counts.experts.total if counts.experts else 0,
        n_active_experts=counts.experts.active if counts.experts else 0,
        trained_context=model.trained_context,
        cache_bytes_per_token=counts.kv_cache.bytes_per_token,
        weight_bytes=counts.weight_bytes,
        stored_format=counts.stored_format,
        reconstructed=entry.kind == "reconstructed",
        words=" ".join((model_id, entry.name, *entry.aliases)).lower(),
    )


def _roof(device: Accelerator, dtype: Dtype) -> Roof:
    peak, bandwidth = device.peak_flops_per_s(dtype), device.bandwidth_bytes_per_s
    ridge = float(ridge_point_flops_per_byte(peak_flops_per_s=peak, bandwidth_bytes_per_s=bandwidth))
    return Roof(device.id, device.name, peak, bandwidth, ridge)


def _found(text: str, words: str) -> bool:
    return all(word in words for word in text.lower().split())
