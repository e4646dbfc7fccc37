"""Frontiers kept while options are gone through: only what is on them is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array
from roofline.answers.frontier import beyond, undominated
from roofline.answers.replicas import Option, Points, output_usd_per_million
from roofline.answers.search_result import FrontierPoint

Merit = Literal["usd", "per_device"]
"""What speed per user is held against: cost of a million output tokens, or output tokens a second and device."""


@dataclass(frozen=True)
class Edge:
    """Full replicas as columns of equal length."""

    option: NDArray[np.int64]
    plan: NDArray[np.int64]
    batch: Array
    request_rate: Array
    speed: Array
    usd: Array
    """Infinite without a price."""
    per_device: Array
    meets: NDArray[np.bool_]

    def at(self, index: NDArray[np.int64]) -> Edge:
        """Some of the rows."""
        return Edge(*(getattr(self, f.name)[index] for f in fields(Edge)))

    def merit(self, name: Merit) -> Array:
        """Higher is better."""
        return -self.usd if name == "usd" else self.per_device


def no_edge() -> Edge:
    """A frontier before anything was seen."""
    none, whole = np.empty(0), np.empty(0, dtype=np.int64)
    return Edge(whole, whole, none, none, none, none, none, np.empty(0, dtype=np.bool_))


def sheet(n_option: int, option: Option, at: Points, keeps: NDArray[np.bool_], output_tokens: int) -> Edge:
    """Every point of an option, whole rows of plans one after another."""
    shape = keeps.shape
    usd = np.full(shape, np.inf) if option.usd_per_h is None else output_usd_per_million(at, option.price)
    plans = np.broadcast_to(np.arange(shape[0])[:, None], shape)
    columns = (at.batch, at.request_rate, 1.0 / at.tpot_s, usd, at.request_rate * output_tokens / at.devices, keeps)
    flat = (np.broadcast_to(column, shape).reshape(-1) for column in columns)
    return Edge(np.full(keeps.size, n_option), plans.reshape(-1), *flat)


def extended(edge: Edge, merit: Merit, points: Edge) -> Edge:
    """A frontier with more points to choose from."""
    new = points.at(beyond(points.speed, points.merit(merit), edge.speed, edge.merit(merit)))
    if not new.speed.size:
        return edge
    both = Edge(*(np.concatenate((getattr(edge, f.name), getattr(new, f.name))) for f in fields(Edge)))
    return both.at(undominated(both.speed, both.merit(merit)))


def frontier_points(edge: Edge, options: Sequence[Option]) -> tuple[FrontierPoint, ...]:
    """The rows of a frontier as results, fastest first."""
    found = []
    for n in range(edge.speed.size):
        option = options[int(edge.option[n])]
        scenario = option.scenario_at(int(edge.plan[n]), float(edge.request_rate[n]))
        found.append(
            FrontierPoint(
                scenario=scenario,
                hardware_name=option.found.accelerator.name,
                weights=option.found.formats.weights_label,
                devices=scenario.devices,
                batch=int(edge.batch[n]),
                tokens_per_s_per_user=float(edge.speed[n]),
                usd_per_million_output_tokens=float(edge.usd[n]) if np.isfinite(edge.usd[n]) else None,
                output_tokens_per_s_per_device=float(edge.per_device[n]),
                meets=bool(edge.meets[n]),
            )
        )
    return tuple(found)
