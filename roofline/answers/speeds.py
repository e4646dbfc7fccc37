"""Step times into the nine numbers of a load: limit, expectation, and the ends of its band."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from roofline.answers.report import Bound, Share, Times
from roofline.performance.ledger import over_rows
from roofline.performance.planning import BestLimits
from roofline.performance.serving import Service
from roofline.performance.sharding import Shard
from roofline.performance.timing import StepTime
from roofline.specs.engine import EngineProfile
from roofline.units import Floats

Fits = bool | NDArray[np.bool_]
"""Whether a load fits, for one or for many."""


_LEAST_SHARE = 1e-3
"""Of a second that decode keeps at the slow end of a band, however much prefill wants."""


@dataclass(frozen=True)
class Speeds:
    """Limit, expectation and band, NaN where the load does not fit."""

    limit: Times
    expected: Times
    low: Times
    high: Times


@dataclass(frozen=True)
class _Durations:
    ttft_s: Floats
    prompt_s: Floats
    step_s: Floats
    request_s: Floats


def speeds(
    result: Service,
    shard: Shard,
    engine: EngineProfile,
    batch: Floats,
    output_tokens: Floats,
    fits: Fits,
    request_rate: Floats = np.nan,
    best: BestLimits | None = None,
) -> Speeds:
    """All numbers of a load, at a batch or, where one is given, at a request rate.

    The limit is that of the plan, or the best over all plans where those are given.
    """
    limit = _Durations(result.limit_ttft_s, result.limit_prompt_s, result.decode.limit_s, result.limit_request_s)
    if best is not None:
        limit = _Durations(
            _known(best.ttft_s, limit.ttft_s),
            _known(best.system_prompt_s * shard.groups, limit.prompt_s),
            _known(best.step_s, limit.step_s),
            _known(best.request_s, limit.request_s),
        )
    expected = _Durations(result.expected_ttft_s, result.expected_prompt_s, result.decode.expected_s, result.expected_request_s)
    short, long = _scaled(limit, expected, engine, 0), _scaled(limit, expected, engine, 1)
    case = _Case(shard, batch, result.computed_tokens, output_tokens, result.tokens_per_step, fits, request_rate)
    at_limit, mean, quick, slow = _times(limit, case, False), _times(expected, case), _times(short, case), _times(long, case)
    return Speeds(limit=at_limit, expected=mean, low=_ends(quick, slow), high=_ends(slow, quick))


def _known(best: Floats, own: Floats) -> Floats:
    """The best over plans, or the plan's own where no plan fits."""
    return np.where(np.isfinite(best), best, own)


def _scaled(limit: _Durations, expected: _Durations, engine: EngineProfile, end: int) -> _Durations:
    """Expected times at one end of the band, never below the limit."""
    prefill, decode, whole = engine.prefill_time_band[end], engine.decode_time_band[end], engine.request_time_band[end]
    return _Durations(
        band_end_s(expected.ttft_s, limit.ttft_s, prefill),
        band_end_s(expected.prompt_s, limit.prompt_s, prefill),
        band_end_s(expected.step_s, limit.step_s, decode),
        band_end_s(expected.request_s, limit.request_s, whole),
    )


def band_end_s(expected_s: Floats, limit_s: Floats, factor: float) -> Floats:
    """An expected time at one end of its band, never below the limit."""
    return np.maximum(expected_s * factor, limit_s)


def decode_share(request_rate: Floats, prompt_s: Floats, groups: Floats) -> Floats:
    """Share of every second that prefill leaves to decode when requests arrive at a rate."""
    return np.maximum(1.0 - request_rate * prompt_s / groups, _LEAST_SHARE)


@dataclass(frozen=True)
class _Case:
    """What durations become rates for."""

    shard: Shard
    batch: Floats
    computed_tokens: Floats
    output_tokens: Floats
    tokens_per_step: float
    fits: Fits
    request_rate: Floats


def _times(d: _Durations, case: _Case, takes_turns: bool = True) -> Times:
    """Rates from durations; at a request rate, what arrives is what leaves, and prefill takes its share of every second."""
    shard, batch, outputs = case.shard, case.batch, case.output_tokens
    known = np.where(case.fits, 1.0, np.nan)
    ttft, step, wall = d.ttft_s * known, d.step_s * known, d.request_s * known
    rated = np.isfinite(case.request_rate)
    rate = np.where(rated, case.request_rate, 0.0)
    left = decode_share(rate, d.prompt_s, shard.groups) if takes_turns else 1.0
    tpot = step / left / case.tokens_per_step
    return Times(
        ttft_s=ttft,
        prefill_tokens_per_s=case.computed_tokens * shard.groups / d.prompt_s * known,
        tpot_s=tpot,
        tpot_including_ttft_s=(ttft + (outputs - 1.0) * tpot) / outputs,
        decode_step_s=step,
        tokens_per_s_per_user=1.0 / tpot,
        output_tokens_per_s=np.where(rated, rate * outputs * known, batch * case.tokens_per_step / step),
        requests_per_s=np.where(rated, rate * known, batch / wall),
        request_output_tokens_per_s=np.where(rated, rate * outputs * known, batch * outputs / wall),
    )


def _ends(times: Times, rates: Times) -> Times:
    """Times of one end with the rates of the other: the low (or high) end of every number."""
    return Times(
        ttft_s=times.ttft_s,
        prefill_tokens_per_s=rates.prefill_tokens_per_s,
        tpot_s=times.tpot_s,
        tpot_including_ttft_s=times.tpot_including_ttft_s,
        decode_step_s=times.decode_step_s,
        tokens_per_s_per_user=rates.tokens_per_s_per_user,
        output_tokens_per_s=rates.output_tokens_per_s,
        requests_per_s=rates.requests_per_s,
        request_output_tokens_per_s=rates.request_output_tokens_per_s,
    )


def shares(step: StepTime) -> dict[Bound, Floats]:
    """Expected time of a step by what takes it: a row belongs to the larger of its two times.

    Of machines in series, a part in host memory counts as the host's, and the hand-over between parts as network.
    """
    if step.parts:
        return _shares_of_parts(step)
    compute: Floats = 0.0
    memory: Floats = 0.0
    for row in step.rows:
        arithmetic = np.multiply(row.compute_s > row.memory_s, row.busy_s)
        compute = compute + over_rows(arithmetic)
        memory = memory + over_rows(row.busy_s - arithmetic)
    network: Floats = 0.0
    for item in step.network:
        network = network + item.transfer_s
    waiting = step.expected_s - compute - memory - network - step.host_s
    return {"compute": compute, "memory": memory, "network": network, "latency": waiting, "host": step.host_s}


def _shares_of_parts(step: StepTime) -> dict[Bound, Floats]:
    total: dict[Bound, Floats] = dict.fromkeys(get_args(Bound), 0.0)
    for part in step.parts:
        for bound, seconds in shares(part).items():
            name: Bound = "host" if part.on_host else bound
            total[name] = total[name] + seconds
    total["network"] = total["network"] + np.maximum(step.expected_s - sum(total.values(), 0.0), 0.0)
    return total


def ranked(step: StepTime) -> tuple[Share, ...]:
    """Shares of one scalar step, longest first."""
    found = [Share(bound, float(seconds)) for bound, seconds in shares(step).items()]
    return tuple(sorted(found, key=lambda share: -share.seconds))


def bounds(step: StepTime, shape: tuple[int, ...]) -> NDArray[np.object_]:
    """The longest share of each step of an array."""
    return np.array(get_args(Bound), dtype=object)[np.broadcast_to(bound_codes(step), shape)]


def bound_codes(step: StepTime) -> NDArray[np.int8]:
    """The longest share of each step of an array, as its place among the names of a `Bound`; of equals, the first share."""
    longest: Floats = -np.inf
    code: NDArray[np.int8] = np.array(0, dtype=np.int8)
    for bound, seconds in shares(step).items():
        over = np.greater(seconds, longest)
        code = np.where(over, np.int8(get_args(Bound).index(bound)), code)
        longest = np.maximum(longest, seconds)
    return code


def scalar_times(times: Times) -> Times:
    """The same numbers as plain floats."""
    return Times(*(float(getattr(times, field.name)) for field in fields(Times)))
