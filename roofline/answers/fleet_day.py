"""A fleet over a day: what is asked of it every hour, what it carries, and what stands idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.fleet_report import FleetReport


@dataclass(frozen=True)
class Day:
    """Calls a second at every hour, UTC; all pools together."""

    hours: NDArray[np.float64]
    calls_per_s: dict[str, NDArray[np.float64]]
    """Region -> what its people ask for."""
    total_calls_per_s: NDArray[np.float64]
    capacity_calls_per_s: float
    """Of all replicas, busy all the time."""
    idle_frac: NDArray[np.float64]
    """Of capacity."""
    busiest_hour: int
    quietest_hour: int

    @property
    def night_idle_frac(self) -> float:
        """In the quietest hour."""
        return float(self.idle_frac[self.quietest_hour])

    @property
    def mean_idle_frac(self) -> float:
        """Over the day."""
        return float(self.idle_frac.mean())


def day(report: FleetReport) -> Day | None:
    """Demand and capacity of a fleet over 24 hours; None where there is no fleet."""
    if not report.sites:
        return None
    by_region: dict[str, NDArray[np.float64]] = {}
    for site in report.sites:
        by_region[site.region] = by_region.get(site.region, np.zeros_like(site.calls_per_s)) + site.calls_per_s
    total = np.sum([*by_region.values()], axis=0)
    capacity = sum(site.replicas / site.capacity.request_s for site in report.sites)
    return Day(
        hours=np.arange(total.size, dtype=np.float64),
        calls_per_s=by_region,
        total_calls_per_s=total,
        capacity_calls_per_s=capacity,
        idle_frac=1.0 - np.minimum(1.0, total / capacity),
        busiest_hour=int(total.argmax()),
        quietest_hour=int(total.argmin()),
    )
