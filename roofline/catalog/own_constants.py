"""Shares of one's own in place of those of an engine profile: what a machine that was measured reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from roofline.errors import InputError
from roofline.language import later, tr
from roofline.specs.engine import Constant, EngineProfile

SHARES = ("bandwidth_frac", "cache_bandwidth_frac", "compute_frac", "compute_frac_8bit", "compute_frac_4bit")
"""Constants that can be replaced: shares of the bandwidth and of the peaks, each above 0 and at most 1."""
BASIS = later("your own, in place of the shipped one")


def with_constants(engine: EngineProfile, constants: Mapping[str, float]) -> EngineProfile:
    """A profile with some shares replaced; the cache's bandwidth follows that of the weights where only that is given.

    >>> from roofline.catalog.engines import load_engine
    >>> from roofline.catalog.hardware import load_hardware
    >>> with_constants(load_engine("vllm", load_hardware("h100-sxm")), {"bandwidth_frac": 0.5}).bandwidth_frac.value
    0.5

    Raises
    ------
    InputError
        A name that is no share, or a value that cannot be one.
    """
    for name, value in constants.items():
        if name not in SHARES:
            raise InputError(tr("no share called {name!r}; there are {names}.", name=name[:60], names=", ".join(SHARES)))
        if not isfinite(value) or not 0.0 < value <= 1.0:
            raise InputError(tr("{name} is {value:g}; a share is above 0 and at most 1.", name=name, value=value))
    update = {name: _own(value) for name, value in constants.items()}
    if "bandwidth_frac" in update and "cache_bandwidth_frac" not in update:
        factor = constants["bandwidth_frac"] / engine.bandwidth_frac.value
        update["cache_bandwidth_frac"] = _own(min(1.0, engine.cache_bandwidth_frac.value * factor))
    return engine.model_copy(update=update)


def _own(value: float) -> Constant:
    return Constant(value=value, low=value, high=value, basis=tr(BASIS))


def read_constants(texts: Iterable[str]) -> dict[str, float]:
    """Shares as typed.

    >>> read_constants(["bandwidth_frac=0.71", "compute_frac = 0.5"])
    {'bandwidth_frac': 0.71, 'compute_frac': 0.5}

    Raises
    ------
    InputError
        A text that is not a name, an equals sign and a number.
    """
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise InputError(tr("{text!r} is no share; write it as bandwidth_frac=0.71.", text=text[:60])) from None
    return found
