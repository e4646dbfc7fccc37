"""Engine profiles: class constants from data, with what was fitted for a device's architecture put in their place."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np

from roofline.catalog.calibration import Calibration, Fitted, calibration
from roofline.errors import UnknownIdError
from roofline.language import cached, localised, tr
from roofline.specs.engine import Constant, EngineProfile
from roofline.specs.hardware import Accelerator

UNMEASURED_CEILING = 0.75
"""Best matrix product over the peak where nobody measured it: the middle of twelve parts that were."""
STREAM_FRAC = 0.87
"""Measured sequential reading over the nominal bandwidth of a CPU: STREAM reaches 0.82 to 0.92."""
PRODUCT_FRAC = 0.85
"""Products of an engine over the best matrix product measured on the same machine."""
WIDTHS = {"compute_frac": "16bit", "compute_frac_8bit": "8bit", "compute_frac_4bit": "4bit"}
_LINK_NAMES = (("NVLink", "NVLink"), ("NVSwitch", "NVLink"), ("Infinity", "xGMI"), ("xGMI", "xGMI"), ("ICI", "ICI"))


@cache
def _profiles() -> dict[str, EngineProfile]:
    text = (resources.files("roofline.catalog") / "data" / "engines.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    whole: dict[str, dict[str, object]] = {}
    for key, entry in tables.items():  # a base comes before its variants
        whole[key] = {**whole.get(entry.pop("base", key), {}), **entry}
    return {key: EngineProfile.model_validate({"id": key, **entry}) for key, entry in whole.items()}


@cache
def _base_ids() -> tuple[str, ...]:
    text = (resources.files("roofline.catalog") / "data" / "engines.toml").read_text(encoding="utf-8")
    return tuple(key for key, entry in tomllib.loads(text).items() if "base" not in entry)


def engine_ids() -> tuple[str, ...]:
    """Every engine profile."""
    return tuple(_profiles())


def engine_profiles() -> tuple[EngineProfile, ...]:
    """Every profile, whole, before what was fitted per device."""
    return tuple(_profiles().values())


def base_profiles() -> tuple[EngineProfile, ...]:
    """The profiles that others are variants of, before what was fitted per device."""
    return tuple(_profiles()[key] for key in _base_ids())


def base_engine(ref: str, accelerator: Accelerator) -> EngineProfile:
    """The profile of this id before calibration; for ``auto`` the one that is usual on such a device."""
    profiles = _profiles()
    if ref == "auto":
        by_architecture = (p for p in profiles.values() if accelerator.architecture in p.default_for)
        return next(by_architecture, next(p for p in profiles.values() if accelerator.category in p.categories))
    if ref not in profiles:
        raise UnknownIdError("engines", ref, ("auto", *profiles))
    return profiles[ref]


def load_engine(ref: str, accelerator: Accelerator) -> EngineProfile:
    """The profile of this id with the constants fitted for the device's architecture and link."""
    base = base_engine(ref, accelerator)
    if base.is_ideal or base.kind == "dataflow":
        return base
    if base.kind == "cpu":
        return _of_measured(base, accelerator)
    return _calibrated(base.id, accelerator.id, accelerator.architecture, link_kind(accelerator))


def _of_measured(profile: EngineProfile, accelerator: Accelerator) -> EngineProfile:
    """Shares of facts that were measured on the machine: what software reaches there counts already."""
    update: dict[str, object] = {}
    if accelerator.bandwidth.kind == "measured":
        for name in ("bandwidth_frac", "cache_bandwidth_frac"):
            share: Constant = getattr(profile, name)
            basis = tr(
                "{basis}; over the {share:.2f} that a measured reading is of the nominal bandwidth",
                basis=share.basis,
                share=STREAM_FRAC,
            )
            low, value, high = (min(1.0, x / STREAM_FRAC) for x in (share.low, share.value, share.high))
            update[name] = Constant(value=value, low=low, high=high, basis=basis)
    if accelerator.peaks and all(fact.kind == "measured" for fact in accelerator.peaks.values()):
        basis = tr("mature engines reach 0.82 to 0.89 of the best measured matrix product on devices where both are known")
        reached = Constant(value=PRODUCT_FRAC, low=0.4, high=1.0, basis=basis)
        update |= dict.fromkeys(WIDTHS, reached)
    return profile.model_copy(update=update)


def link_kind(accelerator: Accelerator) -> str:
    """Kind of the nearest link, as constants are fitted by: NVLink, xGMI, ICI, Ethernet or PCIe."""
    link = accelerator.link("scale-up") or accelerator.link("host")
    name = link.name if link is not None else "PCIe"
    for part, kind in _LINK_NAMES:
        if part in name:
            return kind
    return "Ethernet" if any(word in name for word in ("RoCE", "Ethernet", "QSFP", "RDMA")) else "PCIe"


def ceiling_frac(fit: Calibration, device: str, width: str) -> float:
    """Best measured matrix product of a device over its peak; a guess where none was measured."""
    return fit.ceilings.get(device, {}).get(width, UNMEASURED_CEILING)


@cached(maxsize=1024)
def _calibrated(ref: str, device: str, architecture: str, link: str) -> EngineProfile:
    base, fit = _profiles()[ref], calibration()
    means = fit.classes[base.kind]
    own = fit.architectures.get(architecture, {}).get(base.kind, {})
    software = fit.engines.get(ref, {})
    # a later table wins: class mean, then architecture, then engine, then link
    links = fit.links.get(f"{link}, {ref}") or fit.links.get(link) or fit.links["mean"]
    found: dict[str, Fitted] = {**fit.links["mean"], **means, **own, **software, **links}
    is_known = base.is_measured and bool(own) and (bool(software) or base.id == "serving" or base.kind == "llama.cpp")
    bands = (fit.known if is_known else fit.unknown)[base.kind]
    update: dict[str, object] = {name: _constant(base, name, found, own, fit, device) for name in found if name in _FITTED}
    update |= {
        "cache_bandwidth_frac": _cache_constant(found),
        "decode_time_band": bands.decode,
        "prefill_time_band": bands.prefill,
        "request_time_band": bands.request,
        "band_basis": _band_basis(is_known),
        "calibrated": _sentences(base, architecture, own, software, fit),
        "is_calibrated": is_known,
    }
    return base.model_copy(update=update)


_FITTED = (
    "bandwidth_frac",
    *WIDTHS,
    "head_compute_factor",
    "packed_compute_factor",
    "layer_s",
    "expert_layer_s",
    "step_s",
    "sequence_s",
    "link_frac",
    "link_latency_s",
    "exchange_latency_s",
    "unpack_operations",
    "unpack_operations_wide",
)


def _constant(
    base: EngineProfile, name: str, found: Mapping[str, Fitted], own: Mapping[str, Fitted], fit: Calibration, device: str
) -> Constant:
    """A fitted constant with its basis; matrix shares are of the best product of the device."""
    fitted = found[name]
    scale, text = 1.0, ""
    if name in WIDTHS:
        scale = ceiling_frac(fit, device, WIDTHS[name])
        known = WIDTHS[name] in fit.ceilings.get(device, {})
        text = tr(
            "{share:.2f} of the best matrix product, {peak:.2f} of the peak ({how})",
            share=fitted.value,
            peak=scale,
            how=tr("measured") if known else tr("assumed"),
        )
        text += "; "
    text += tr(
        "fitted on {rows} measurements of {where}, standard error {error:.0%}",
        rows=fitted.rows,
        where=tr("this architecture") if name in own else tr("{kind} engines", kind=base.kind),
        error=fitted.error,
    )
    most = 1.0 / scale if name in WIDTHS else np.inf
    low, value, high = (
        min(most, x) * scale for x in (min(fitted.low, fitted.value), fitted.value, max(fitted.high, fitted.value))
    )
    return Constant(value=value, low=low, high=high, basis=text)


def _cache_constant(found: Mapping[str, Fitted]) -> Constant:
    """Cache reading, relative to weight reading; never above the bandwidth itself."""
    share, factor = found["bandwidth_frac"], found["cache_factor"]
    value = min(1.0, share.value * factor.value)
    text = tr(
        "{factor:.2f} times the share of weights, fitted on {rows} measurements, error {error:.0%}",
        factor=factor.value,
        rows=factor.rows,
        error=factor.error,
    )
    low, high = min(value, share.low * factor.low), min(1.0, max(value, share.high * factor.high))
    return Constant(value=value, low=low, high=high, basis=text)


def _band_basis(is_known: bool) -> str:
    if is_known:
        return tr(
            "10th to 90th percentile of measured over predicted time where the source, or the device, was left out of the fit"
        )
    return tr("no measurement of this architecture under such an engine: percentiles where both were left out of the fit")


def _sentences(
    base: EngineProfile, architecture: str, own: Mapping[str, Fitted], software: Mapping[str, Fitted], fit: Calibration
) -> tuple[str, ...]:
    """What is known and what falls back."""
    lines = []
    if not own:
        lines.append(
            tr(
                "No measurement of {architecture} under a {kind} engine: class means, with a wider band.",
                architecture=architecture or tr("this architecture"),
                kind=base.kind,
            )
        )
    if not base.is_measured:
        lines.append(
            tr(
                "Constants of {engine} are borrowed from the class of {kind} engines, with a wider band.",
                engine=base.name,
                kind=base.kind,
            )
        )
    elif not software and base.id != "serving" and base.kind == "serving":
        lines.append(tr("No measurement of {engine}: launch times are class means, with a wider band.", engine=base.name))
    parts = [localised(f"{e.left_out_median:.0%} / {e.left_out_p90:.0%}") for e in fit.errors.values()]
    errors = ", ".join(f"{name} {part}" for name, part in zip(fit.errors, parts, strict=True))
    lines.append(tr("Error with the source left out of the fit, median / 90th percentile: {errors}.", errors=errors))
    return tuple(lines)
