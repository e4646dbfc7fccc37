"""A device, an engine and the formats in use, reduced to the numbers a step is timed with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from roofline.catalog.formats import load_format
from roofline.errors import InputError, MissingFactError
from roofline.language import later, tr
from roofline.performance.structure import Structure
from roofline.specs.engine import EngineProfile
from roofline.specs.formats import Dtype, NumberFormat
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
from roofline.specs.scenario import Scenario
from roofline.units import BITS_PER_BYTE, to_base, with_prefix

_SIXTEEN_BIT: tuple[Dtype, ...] = ("bf16", "fp16", "fp32")
_EIGHT_BIT: tuple[Dtype, ...] = ("fp8", "int8")
_WIDER: dict[Dtype, tuple[Dtype, ...]] = {
    "fp4": ("fp8", *_SIXTEEN_BIT),
    "int4": ("int8", *_SIXTEEN_BIT),
    "fp6": ("fp8", *_SIXTEEN_BIT),
    "fp8": _SIXTEEN_BIT,
    "int8": _SIXTEEN_BIT,
    "bf16": ("fp32",),
    "fp16": ("fp32",),
}
"""Rates that hold the operands of another as they are, and may take their products."""
_ROLES = {"weights": later("weights"), "activations": later("activations"), "kv_cache": later("the cache")}
"""What a number format is for, as words."""
_WIDE_BITS = 16.0
ASSUMED_SCALE_OUT_BYTES_PER_S = to_base(100, "Gbit/s")
"""Network between machines where the catalogue has no figure: 100 Gbit/s per device, said in the assumptions."""


@dataclass(frozen=True)
class Rates:
    """Formats as resolved and the peaks they run at."""

    weights_id: str | None
    weights_label: str
    activations: NumberFormat
    kv_cache: NumberFormat
    gemm_dtype: Dtype
    wide_dtype: Dtype
    attention_dtype: Dtype
    gemm_flops_per_s: float
    wide_flops_per_s: float
    attention_flops_per_s: float
    half_flops_per_s: float
    """Where weights are unpacked to 16 bit before they are multiplied."""
    notes: tuple[str, ...]

    @property
    def cache_bytes_per_element(self) -> float:
        """Of the cache format, scales included."""
        return self.kv_cache.bits_per_weight / BITS_PER_BYTE


@dataclass(frozen=True)
class Tier:
    """A link, and how many devices reach each other over it."""

    name: str
    n_devices: float
    bytes_per_s: float
    pair_bytes_per_s: float
    """To one peer: less than the whole in a mesh."""
    adds_in_switch: bool


@dataclass(frozen=True)
class Machine:
    """One device of a system, and its ways out."""

    accelerator: Accelerator
    engine: EngineProfile
    bandwidth_bytes_per_s: float
    usable_bytes: float
    vector_flops_per_s: float
    """FP32 rate outside matrix units, for unpacking; infinite where it is not published."""
    power_w: float
    """Infinite where it is not published."""
    tiers: tuple[Tier, ...]
    """Ways to other devices, nearest first; the last reaches any number."""
    notes: tuple[str, ...]
    segments: tuple[Segment, ...] = ()
    """Parts of the model in series, each on a machine of its own; empty where one kind of device holds all."""


@dataclass(frozen=True)
class Segment:
    """A part of a model on its own machine: in every step the parts follow each other."""

    pool: str
    """Memory it lies in, as people call it."""
    tier: Literal["device", "host", "disk"]
    structure: Structure
    machine: Machine
    formats: Rates
    chain: Structure
    """What of the part must wait for the others: experts that all tokens share and streams read ahead need not."""
    crossings: float = 0.0
    """Times the tokens of a pass are handed over to it, or back."""
    streams_to: Segment | None = None
    """Device that may take a prompt's share of the work instead, with the weights sent to it."""


def machine(scenario: Scenario, accelerator: Accelerator, engine: EngineProfile) -> Machine:
    """The numbers of a device as the scenario fits it out."""
    usable = accelerator.usable_memory_bytes
    if scenario.memory_gib is not None:
        if not accelerator.configurable_memory:
            raise InputError(
                tr(
                    "{device} has fixed memory ({amount:g} {unit}); memory can be chosen for CPUs and Apple devices only.",
                    device=accelerator.id,
                    amount=accelerator.memory.value,
                    unit=accelerator.memory.unit,
                )
            )
        usable = to_base(scenario.memory_gib, "GiB") * accelerator.wired_frac
    tiers, notes = _tiers(accelerator, scenario.devices)
    return Machine(
        accelerator=accelerator,
        engine=engine,
        bandwidth_bytes_per_s=accelerator.bandwidth_bytes_per_s,
        usable_bytes=usable,
        vector_flops_per_s=accelerator.peaks["fp32"].base if "fp32" in accelerator.peaks else math.inf,
        power_w=accelerator.tdp.base if accelerator.tdp else math.inf,
        tiers=tiers,
        notes=notes,
    )


def _tiers(accelerator: Accelerator, devices: int) -> tuple[tuple[Tier, ...], tuple[str, ...]]:
    """Links from the nearest to the farthest, each only where it reaches further than the one before."""
    tiers: list[Tier] = []
    reach = 1.0
    for kind in ("scale-up", "host", "scale-out"):
        link = accelerator.link(kind)
        if link is None or (link.n_devices <= reach and kind != "scale-out"):
            continue
        rate = link.bandwidth.base
        reach = math.inf if kind == "scale-out" else float(link.n_devices)
        pair = link.pair.base if link.pair else rate
        name = tr("{link}, {rate} per direction", link=link.name, rate=with_prefix(rate, "B/s"))
        tiers.append(Tier(name, reach, rate, pair, link.in_switch_reduction))
    if reach == math.inf:
        return tuple(tiers), ()
    assumed = ASSUMED_SCALE_OUT_BYTES_PER_S
    note = tr(
        "No network figure for {device}: 100 Gbit/s per device assumed beyond {reach:g} device(s).",
        device=accelerator.id,
        reach=reach,
    )
    tiers.append(Tier(tr("network, assumed"), math.inf, assumed, assumed, False))
    return tuple(tiers), (note,) if devices > reach else ()


def sixteen_bit_dtype(accelerator: Accelerator) -> Dtype:
    """The fastest arithmetic of a device that holds 16-bit operands, be it 32-bit arithmetic."""
    found = _fastest(_SIXTEEN_BIT, accelerator)
    if found is not None:
        return found
    raise MissingFactError(
        tr(
            "{device} has no published 16- or 32-bit peak; it has {peaks}.",
            device=accelerator.id,
            peaks=_peaks(accelerator),
        )
    )


def _fastest(dtypes: Iterable[Dtype], accelerator: Accelerator) -> Dtype | None:
    """Of those a device has; the first of equals."""
    return max((d for d in dtypes if d in accelerator.peaks), key=accelerator.peak_flops_per_s, default=None)


def _peaks(accelerator: Accelerator) -> str:
    return ", ".join(sorted(accelerator.peaks)) or tr("none")


def rates(scenario: Scenario, model: ModelSpec, accelerator: Accelerator, engine: EngineProfile | None = None) -> Rates:
    """Resolve the three formats and the peak each part of the arithmetic runs at, in an engine's way where one is given."""
    notes: list[str] = []
    stored = load_format(scenario.weights or model.stored_format)
    weights = _checked(stored, "weights")
    if scenario.activations is None:
        activations = _default_activations(weights, accelerator, engine)
    else:
        activations = _checked(load_format(scenario.activations), "activations")
    wide = sixteen_bit_dtype(accelerator)
    cache = _checked(load_format(scenario.kv_cache or _fastest(("bf16", "fp16"), accelerator) or "bf16"), "kv_cache")
    gemm = _rate_dtype(activations, accelerator, notes)
    if weights.bits_per_weight >= activations.bits_per_weight * 1.5 and gemm != wide:
        gemm = wide
        notes.append(
            tr(
                "Weights in {weights} are wider than activations in {activations}: products run at the {rate} rate.",
                weights=weights.id,
                activations=activations.id,
                rate=wide,
            )
        )
    if gemm in _SIXTEEN_BIT:
        wide = gemm
    # with a cache of eight bits kernels may multiply in eight bits too, whatever the matrices run in
    attention = _fastest((wide, *_EIGHT_BIT), accelerator) or wide if cache.bits_per_weight < _WIDE_BITS else wide
    half: Dtype = "fp16_acc16" if engine is not None and engine.half_sums and "fp16_acc16" in accelerator.peaks else wide
    if weights.id == "fp16" and gemm == wide:
        gemm = wide = half
    return Rates(
        weights_id=stored.id if scenario.weights else None,
        weights_label=stored.id if scenario.weights else tr("as stored ({format})", format=stored.id),
        activations=activations,
        kv_cache=cache,
        gemm_dtype=gemm,
        wide_dtype=wide,
        attention_dtype=attention,
        gemm_flops_per_s=accelerator.peak_flops_per_s(gemm),
        wide_flops_per_s=accelerator.peak_flops_per_s(wide),
        attention_flops_per_s=accelerator.peak_flops_per_s(attention),
        half_flops_per_s=accelerator.peak_flops_per_s(half),
        notes=tuple(notes),
    )


def _checked(number_format: NumberFormat, role: str) -> NumberFormat:
    if role not in number_format.roles:
        raise InputError(
            tr(
                "{format} is not a format for {role}; it is one for {roles}.",
                format=number_format.id,
                role=tr(_ROLES[role]),
                roles=", ".join(number_format.roles),
            )
        )
    return number_format


def _default_activations(weights: NumberFormat, accelerator: Accelerator, engine: EngineProfile | None) -> NumberFormat:
    """FP8 weights run on FP8 units, NVFP4 on FP4 ones and GGUF blocks on INT8 ones, where there are any; else in 16 bit."""
    blocks = weights.family in ("gguf", "gguf mix") and weights.bits_per_weight < _WIDE_BITS
    if blocks and engine is not None and engine.kind == "llama.cpp" and "int8" in accelerator.peaks:
        return load_format("int8")
    if weights.arithmetic in ("fp8", "fp4") and "activations" in weights.roles and weights.arithmetic in accelerator.peaks:
        return load_format("fp8" if weights.arithmetic == "fp8" else weights.id)
    return load_format(sixteen_bit_dtype(accelerator))


def _rate_dtype(activations: NumberFormat, accelerator: Accelerator, notes: list[str]) -> Dtype:
    """The fastest rate that holds these activations; where it is not their own, it says so."""
    wanted = activations.arithmetic
    may_be_wider = wanted in accelerator.peaks or wanted not in _SIXTEEN_BIT
    rate = _fastest((wanted, *_WIDER.get(wanted, ())), accelerator) if may_be_wider else None
    if rate is None:
        raise MissingFactError(
            tr(
                "{device} has no published {rate} peak; it has {peaks}.",
                device=accelerator.id,
                rate=wanted,
                peaks=_peaks(accelerator),
            )
        )
    if rate != wanted:
        notes.append(_other_rate(activations, rate, accelerator))
    return rate


def _other_rate(activations: NumberFormat, rate: Dtype, accelerator: Accelerator) -> str:
    wanted = activations.arithmetic
    if wanted in accelerator.peaks:
        return tr(
            "{device} is faster at {rate} than at {wanted}: products of {activations} run at the {rate} rate.",
            device=accelerator.id,
            wanted=wanted,
            activations=activations.id,
            rate=rate,
        )
    return tr(
        "{device} has no {wanted} unit: products of {activations} run at the {rate} rate.",
        device=accelerator.id,
        wanted=wanted,
        activations=activations.id,
        rate=rate,
    )
