"""Users into calls: how many, when, and of which model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.catalog.fleet import Assumed
from roofline.formulas.fleet import demand_tokens_per_s
from roofline.specs.fleet import Region
from roofline.units import HOURS_PER_DAY

PEAK_LOCAL_H = 20.0
"""Local hour of the daily peak: the evening. It only matters between regions."""
_ROUNDS = 60
_SHARPEST = 700.0


@dataclass(frozen=True)
class Demand:
    """Calls a second, means over a day."""

    messages_per_s: float
    calls_per_message: float
    model_calls_per_s: float
    """After results found in a cache."""
    main_calls_per_s: float
    small_calls_per_s: float


def demand(found: Assumed) -> Demand:
    """Mean load of everybody together."""
    messages = demand_tokens_per_s(
        n_users=found.weekly_users.value, messages_per_day=found.messages.value, n_tokens_per_message=1.0
    )
    calls = 1.0 + found.agent_share.value * (found.agent_calls.value - 1.0)
    served = float(messages) * calls * (1.0 - found.result_hit.value)
    return Demand(
        messages_per_s=float(messages),
        calls_per_message=calls,
        model_calls_per_s=served,
        main_calls_per_s=served * (1.0 - found.small_share.value),
        small_calls_per_s=served * found.small_share.value,
    )


def daily_shape(peak: float, region: Region | None = None) -> NDArray[np.float64]:
    """Load of every hour (UTC) over the mean of a day: one smooth hill whose top is the peak asked for.

        r(t) = exp(k cos(2 pi (t - t0) / 24)) / mean,  k such that max r = peak

    The hill of the von Mises distribution: flat at peak 1, never negative however high the peak.
    """
    offset = 0.0 if region is None else region.utc_offset_h
    cosine = np.cos(2.0 * np.pi * (np.arange(HOURS_PER_DAY) + offset - PEAK_LOCAL_H) / HOURS_PER_DAY)
    low, high = 0.0, _SHARPEST
    for _ in range(_ROUNDS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _crest(middle) < peak else (low, middle)
    hill = np.exp(low * (cosine - 1.0))
    shape: NDArray[np.float64] = hill / hill.mean()
    return shape


def _crest(sharpness: float) -> float:
    """Top of the hill over its mean, at whole hours from it."""
    hours = np.cos(2.0 * np.pi * np.arange(HOURS_PER_DAY) / HOURS_PER_DAY)
    return 1.0 / float(np.exp(sharpness * (hours - 1.0)).mean())
