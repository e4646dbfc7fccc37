"""What a search finds: deployments, the frontier, and why the others lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roofline.answers.pricing import PriceKind
from roofline.answers.report import Bound, Phase, Plan
from roofline.specs.scenario import Scenario
from roofline.specs.search import SearchQuery

Cause = Literal["facts", "memory", "ttft", "tpot", "both", "price", "dearer"]
"""Why a device is not among the winners: a fact is missing, nothing fits, a promise is broken, no price, others cost less."""


@dataclass(frozen=True)
class Deployment:
    """Replicas of one plan that carry the traffic; without traffic, one that is full."""

    scenario: Scenario
    """One replica with its share of the traffic: evaluated, it gives these numbers."""
    hardware_name: str
    weights: str
    plan: Plan
    replicas: int
    devices_per_replica: int
    devices: int
    batch: int
    """Sequences decoding at once in one replica."""
    requests_per_s: float
    """In all."""
    most_requests_per_s: float
    """In all, with every replica as full as the promise and the memory allow."""
    utilisation_frac: float
    """Requests a second over the most."""
    usd_per_hour: float | None
    usd_per_device_hour: float | None
    price_kind: PriceKind
    """Whether it is rented, owned or yours."""
    price_basis: str
    usd_per_million_input_tokens: float | None
    usd_per_million_output_tokens: float | None
    usd_per_million_tokens: float | None
    ttft_s: float
    ttft_high_s: float
    held_ttft_s: float
    """What the promise is held against: expected or at the slow end of its band, with the wait where it counts."""
    tpot_s: float
    tpot_high_s: float
    held_tpot_s: float
    tokens_per_s_per_user: float
    output_tokens_per_s: float
    """In all."""
    output_tokens_per_s_per_device: float
    bound: dict[Phase, Bound]


@dataclass(frozen=True)
class FrontierPoint:
    """A full replica that no other beats in speed per user without losing in the other merit."""

    scenario: Scenario
    hardware_name: str
    weights: str
    devices: int
    batch: int
    tokens_per_s_per_user: float
    usd_per_million_output_tokens: float | None
    output_tokens_per_s_per_device: float
    meets: bool


@dataclass(frozen=True)
class Loser:
    """A device that is not among the winners, and why."""

    hardware: str
    hardware_name: str
    cause: Cause
    reason: str
    best_ttft_s: float | None
    best_tpot_s: float | None


@dataclass(frozen=True)
class Search:
    """Everything a search answers."""

    query: SearchQuery
    sentence: str
    notes: tuple[str, ...]
    """What the answer rests on."""
    winners: tuple[Deployment, ...]
    """Cheapest for the traffic first: the best of each device and weight format."""
    cost_frontier: tuple[FrontierPoint, ...]
    """Speed per user against cost of output, fastest first."""
    throughput_frontier: tuple[FrontierPoint, ...]
    """Speed per user against output rate per device, fastest first."""
    losers: tuple[Loser, ...]
    nearest: Deployment | None
    """Where nothing meets the promise: what comes closest to it."""
    n_hardware: int
    n_options: int
    """Devices times weight formats."""
    n_plans: int
    """Plans that fit, summed over options."""
    n_points: int
    """Plans times batches of the ladder."""
    seconds: float
