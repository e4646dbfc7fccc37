"""One device with one weight format: every plan of a replica and every batch of a ladder, as arrays.

A replica is the smallest system that runs a plan. It is full when requests arrive as fast as its batch leaves:

    r = B / (G t + B T / g),    TPOT = t / (1 - r T / g)

B is the batch, t the step, G the output, T the time of a prompt in one of g attention groups: decode gets what prefill
leaves of every second, and n replicas serve n times the rate at n times the cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array
from roofline.answers.busy import busy_decode, busy_prefill
from roofline.answers.economics import device_price
from roofline.answers.pricing import DevicePrice
from roofline.answers.resolve import Resolved
from roofline.answers.speeds import band_end_s, decode_share
from roofline.answers.waiting import late_wait_s
from roofline.catalog.formats import load_format
from roofline.formulas.cost import rental_usd_per_token
from roofline.language import tr
from roofline.performance.memory import footprint
from roofline.performance.serving import Service, service
from roofline.performance.sharding import Shard, replica_plans
from roofline.performance.weights import weight_bytes
from roofline.specs.scenario import Scenario
from roofline.specs.search import AS_STORED, SearchQuery
from roofline.units import PER_MILLION, SECONDS_PER_HOUR, Floats, rounded_down

Narrow = Mapping[str, tuple[tuple[str, str | None], ...]]
"""Kind of engine -> formats, each with the unit that it asks for."""
NARROW: Narrow = {}
"""Nothing in the place of what engines say of themselves."""
_ANY_UNIT = ("bf16", "fp16")
"""Arithmetic of formats that are unpacked on any device."""
_NARROWER_FRAC = 0.97
"""A format counts as narrower where the weights take less than this share of the stored bytes."""


@dataclass(frozen=True)
class Points:
    """Full replicas: plans by rows, batches by columns; fields of a plan alone have one column."""

    devices: Array
    batch: Array
    step_s: Array
    request_rate: Array
    tpot_s: Array
    promised_ttft_s: Array
    """The time that a promise is held against: expected, or at the slow end of its band, with the wait where it counts."""
    promised_tpot_s: Array
    decode_load_frac: Floats
    """Where electricity is paid for: what power follows in decode."""
    load_frac: Floats
    """The same over prefill and decode."""


@dataclass(frozen=True)
class Option:
    """A device and a weight format to choose, with the plans that hold at least one sequence."""

    scenario: Scenario
    found: Resolved
    shard: Shard
    """Plans as a column."""
    max_batch: Array
    price: DevicePrice
    """Of an hour of one device."""

    @property
    def usd_per_h(self) -> float | None:
        """Of one device, at rated power where it is owned: before anything is timed."""
        return self.price.usd_per_h

    def plans(self, index: NDArray[np.int64]) -> Shard:
        """Some of the plans."""
        return self.shard.over(lambda values: np.asarray(values)[index])

    def scenario_at(self, plan: int, request_rate: float) -> Scenario:
        """One replica under a plan and a rate, of few digits: what `evaluate` is asked to get the same numbers."""
        scenario = planned(self.scenario, self.found, self.shard, plan)
        devices = int(np.asarray(self.shard.devices_used)[plan, 0])
        return scenario.model_copy(update={"devices": devices, "request_rate": rounded_down(request_rate)})


def planned(scenario: Scenario, found: Resolved, shards: Shard, index: int) -> Scenario:
    """A scenario with one of many plans."""
    shard = shards.over(lambda values: float(np.asarray(values).reshape(-1)[index]))
    return scenario.model_copy(
        update={
            "tensor_parallel": int(shard.tensor),
            "pipeline_parallel": int(shard.pipeline),
            "data_parallel": int(shard.data),
            "expert_parallel": None if found.structure.routing is None else int(shard.expert),
            "attention_data_parallel": bool(shard.attention_data),
        }
    )


def weight_formats(found: Resolved, usual: Narrow = NARROW, *, whole: bool = False) -> tuple[str | None, ...]:
    """As stored, and the narrower formats that are usual with this engine and that the device has units for.

    Those that a search tries, or the ``whole`` ladder of the engine; ``usual`` puts others in their place.
    """
    stored, engine = weight_bytes(found.model, None), found.engine
    own = tuple((name, _unit(name)) for name in (engine.weight_ladder if whole else engine.searched_weights))
    narrow = (name for name, dtype in usual.get(engine.kind, own) if dtype is None or dtype in found.accelerator.peaks)
    return (None, *(name for name in narrow if weight_bytes(found.model, name) < _NARROWER_FRAC * stored))


def _unit(name: str) -> str | None:
    """Units that a device must have for products in a format; none where it is unpacked."""
    asked = load_format(name).arithmetic
    return None if asked in _ANY_UNIT else asked


def named_formats(query: SearchQuery) -> tuple[str | None, ...]:
    """The formats a person listed."""
    return tuple(dict.fromkeys(None if name == AS_STORED else name for name in query.weights or ()))


def option(query: SearchQuery, scenario: Scenario, found: Resolved) -> Option | None:
    """The plans of a device and format that hold one sequence; None where none does."""
    every = replica_plans(found.structure, query.most_devices, found.engine.splits_tensors)
    prompt, whole = float(query.input_tokens), float(query.input_tokens + query.output_tokens)
    room = footprint(found.structure, whole, prompt, every, found.formats, found.machine)
    most = np.broadcast_to(np.asarray(room.max_batch), np.shape(every.tensor))
    holds = np.flatnonzero(most >= 1.0)
    if not holds.size:
        return None
    shard = every.over(lambda values: np.asarray(values)[holds, None])
    return Option(scenario, found, shard, most[holds, None], offered_price(query, scenario, found))


def offered_price(query: SearchQuery, scenario: Scenario, found: Resolved) -> DevicePrice:
    """The price of an hour of a device on the basis that is asked for."""
    price = device_price(scenario, found.price)
    if query.price == "rental" and price.kind != "rental":
        return DevicePrice(None, tr("nobody is known to rent out {device}", device=found.accelerator.id), "unknown")
    return price


def ladder(max_batch: Array) -> Array:
    """Batches tried of each plan: powers of two, and the most that fit, repeated where the ladder goes on for others."""
    rungs = 2.0 ** np.arange(np.ceil(np.log2(np.max(max_batch))) + 1.0)
    return np.minimum(rungs, max_batch)


def points(query: SearchQuery, found: Resolved, shard: Shard, batch: Array) -> Points:
    """Times and rates of full replicas under every plan and batch."""
    prompt, output = float(query.input_tokens), float(query.output_tokens)
    times = service(found.structure, shard, found.formats, found.machine, batch, prompt, output)
    groups, step = np.asarray(shard.groups), np.asarray(times.decode.expected_s)
    prompt_s = np.asarray(times.expected_prompt_s)
    rate = batch / (output * step + batch * prompt_s / groups)
    tpot = step / decode_share(rate, prompt_s, groups)
    ttft = np.asarray(times.expected_ttft_s)
    held_ttft, held_tpot = (ttft, tpot) if not query.holds_band else _slow_end(times, found, rate, groups)
    if query.waits_at is not None:
        held_ttft = held_ttft + np.asarray(late_wait_s(prompt_s, groups, step, rate, percentile_frac=query.waits_at))
    reading = rate * prompt_s / groups
    return Points(
        np.asarray(shard.devices_used),
        batch,
        step,
        rate,
        np.asarray(tpot),
        np.asarray(held_ttft),
        np.asarray(held_tpot),
        *load_fracs(times, found, shard, batch, reading),
    )


def load_fracs(times: Service, found: Resolved, shard: Shard, batch: Array, prefill_share: Array) -> tuple[Floats, Floats]:
    """Loads that power follows, in decode and over all the time; of devices whose electricity nobody pays apart, none."""
    if not found.price.load_usd_per_h:
        return 0.0, 0.0
    decode = busy_decode(times, found, shard, batch, shard.devices_used).load_frac
    prefill = busy_prefill(times, found, shard, shard.devices_used).load_frac
    return decode, prefill_share * prefill + (1.0 - prefill_share) * decode


def _slow_end(times: Service, found: Resolved, rate: Array, groups: Array) -> tuple[Array, Array]:
    """TTFT and TPOT at the slow end of the prediction band."""
    prefill, decode = found.engine.prefill_time_band[1], found.engine.decode_time_band[1]
    prompt_s = band_end_s(times.expected_prompt_s, times.limit_prompt_s, prefill)
    step_s = band_end_s(times.decode.expected_s, times.decode.limit_s, decode)
    ttft = np.asarray(band_end_s(times.expected_ttft_s, times.limit_ttft_s, prefill))
    return ttft, np.asarray(step_s / decode_share(rate, prompt_s, groups))


def meets(query: SearchQuery, at: Points) -> NDArray[np.bool_]:
    """Where a promise is kept."""
    return (at.promised_ttft_s <= query.promised_ttft_s) & (at.promised_tpot_s <= query.promised_tpot_s)


def capacity(query: SearchQuery, at: Points) -> Array:
    """What one replica carries of the traffic: sequences in flight where those are given, else requests a second."""
    return at.batch if query.concurrency is not None else at.request_rate


def n_replicas(query: SearchQuery, carried: Array) -> Array:
    """Replicas that carry the traffic; one where no traffic is given."""
    traffic = query.concurrency if query.concurrency is not None else query.request_rate
    if traffic is None:
        return np.ones_like(carried)
    return np.maximum(1.0, np.ceil(traffic / carried))


def bill_usd(query: SearchQuery, devices: Array, carried: Array, usd_per_device_h: Floats) -> Array:
    """What is compared: USD an hour for the whole traffic; without traffic, USD per million tokens of a full replica."""
    per_hour: Array = n_replicas(query, carried) * devices * usd_per_device_h
    if query.has_traffic:
        return per_hour
    tokens = float(query.input_tokens + query.output_tokens)
    return per_hour / (carried * SECONDS_PER_HOUR * tokens) * PER_MILLION


def output_usd_per_million(at: Points, price: DevicePrice) -> Array:
    """Price of a million output tokens of a full replica: the device time of decode."""
    hour = price.at_load(at.decode_load_frac)
    return PER_MILLION * np.asarray(
        rental_usd_per_token(n_devices=at.devices, price_usd_per_h=hour, tokens_per_s=at.batch / at.step_s, utilisation_frac=1.0)
    )
