"""Prefill and decode on devices of their own: two pools, each with its own plan, the cache of a prompt sent between them.

The system serves as many requests as the slower pool, or the links between them, lets through. Of the prefill plans that keep
up with decode the one with the shortest time to first token is taken; where none keeps up, the one that reads most prompts.

Y. Zhong et al., "DistServe: disaggregating prefill and decoding", OSDI 2024. arXiv:2401.09670
P. Patel et al., "Splitwise: efficient generative LLM inference using phase splitting", ISCA 2024. arXiv:2311.18677
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from roofline.answers.report import Times
from roofline.answers.resolve import Resolved
from roofline.answers.speeds import Speeds, speeds
from roofline.errors import PlanError
from roofline.language import tr
from roofline.performance.ledger import cache_bytes_per_sequence
from roofline.performance.memory import footprint
from roofline.performance.planning import BestLimits, Choice, Workload, choose
from roofline.performance.reduction import link_bytes_per_s
from roofline.performance.serving import Service, service
from roofline.performance.sharding import Shard, candidates, fewest_for_ways
from roofline.specs.scenario import Scenario
from roofline.units import Floats

_WHOLE = Shard(1.0, 1.0, 1.0, 1.0, 0.0)


@dataclass(frozen=True)
class PrefillPool:
    """Devices that only read prompts."""

    n_devices: int
    shard: Shard
    service: Service
    best: BestLimits
    fits: bool
    n_candidates: int


@dataclass(frozen=True)
class Pools:
    """Both pools, and what they make together."""

    prefill: PrefillPool
    n_decode: int
    decode: Choice
    shard: Shard
    batch: float
    service: Service
    """Prefill of the one pool, decode of the other."""
    speeds: Speeds
    prefill_requests_per_s: float
    """What prefill and the links could take, as expected."""
    decode_requests_per_s: float
    is_chosen: bool
    """Whether the split was left open."""


def pools(scenario: Scenario, found: Resolved, load: Workload) -> Pools:
    """The split asked for, or the one that serves most requests.

    Raises
    ------
    PlanError
        The split leaves one of the pools without devices.
    """
    asked, n = scenario.prefill_devices or 0, scenario.devices
    least, most = found.request.context, n - fewest_for_ways(found.request)
    if least > most:
        raise PlanError(
            tr(
                "prefill and decode apart need {prefill} + {decode} devices or more for these ways; there are {n}.",
                prefill=least,
                decode=n - most,
                n=n,
            )
        )
    if asked and not least <= asked <= most:
        raise PlanError(
            tr(
                "{asked} of {n} devices cannot prefill under this plan: give {least} to {most}, or 0 for the best split.",
                asked=asked,
                n=n,
                least=least,
                most=most,
            )
        )
    if asked:
        return _split(scenario, found, load, asked)
    return replace(_best_split(scenario, found, load, (least, most)), is_chosen=True)


def _best_split(scenario: Scenario, found: Resolved, load: Workload, ends: tuple[int, int]) -> Pools:
    """By bisection: prefill gains and decode loses with every device that changes sides, so that the best is where they meet.

    Devices that decode has no use for prefill as well.
    """
    low, high = ends
    while low < high:
        middle = (low + high) // 2
        tried = _split(scenario, found, load, middle)
        if tried.prefill_requests_per_s >= (scenario.request_rate or tried.decode_requests_per_s):
            high = middle
        else:
            low = middle + 1
    met = _split(scenario, found, load, low)
    spare = met.n_decode - int(met.shard.devices_used)
    near = [met, *(_split(scenario, found, load, k) for k in {low - 1, low + spare} if ends[0] <= k <= ends[1])]
    return max(near, key=_worth)


def _worth(split: Pools) -> tuple[float, float]:
    """Requests served, and between equals how soon the first token comes."""
    times = split.speeds.expected
    return np.nan_to_num(float(times.requests_per_s), nan=-1.0), -np.nan_to_num(float(times.ttft_s), nan=np.inf)


def _split(scenario: Scenario, found: Resolved, load: Workload, n_prefill: int) -> Pools:
    lengths = float(scenario.input_tokens), float(scenario.output_tokens)
    n_decode = scenario.devices - n_prefill
    request = replace(found.request, devices=n_decode)
    choice = choose(found.structure, request, found.formats, found.machine, load, alone=True)
    shard, wanted, fits = choice.shard.scalar(), float(choice.batch[0]), bool(choice.fits[0])
    batch = max(1.0, wanted) if np.isfinite(wanted) else 1.0
    result = service(found.structure, shard, found.formats, found.machine, batch, *lengths)
    best = choice.best.scalar() if choice.best is not None and fits else None
    decode = speeds(result, shard, found.engine, batch, lengths[1], fits, best=best)
    decode_rate = float(decode.expected.output_tokens_per_s) / lengths[1] if fits else 0.0
    pool = _prefill_pool(found, n_prefill, lengths[0], scenario.request_rate or decode_rate)
    prefill = _sent(pool, shard, n_decode, found, scenario)
    prefill_rate = float(prefill.expected.prefill_tokens_per_s) / float(result.computed_tokens) if pool.fits else 0.0
    keeps_up = scenario.request_rate is None or prefill_rate >= scenario.request_rate
    return Pools(
        prefill=pool,
        n_decode=n_decode,
        decode=choice,
        shard=shard,
        batch=batch,
        service=replace(result, prefill=pool.service.prefill),
        speeds=together(prefill, decode, scenario, result.computed_tokens, fits and pool.fits and keeps_up),
        prefill_requests_per_s=prefill_rate,
        decode_requests_per_s=decode_rate,
        is_chosen=False,
    )


def _prefill_pool(found: Resolved, n_devices: int, prompt_tokens: float, rate: float) -> PrefillPool:
    """Plan of the pool that reads prompts: ways are its own, whatever is asked of decode."""
    request = replace(found.request, devices=n_devices, tensor=None, pipeline=None, data=None, expert=None, attention_data=None)
    shards = candidates(found.structure, request)
    n = np.size(np.asarray(shards.tensor))
    room = footprint(found.structure, prompt_tokens, prompt_tokens, shards, found.formats, found.machine)
    feasible = np.broadcast_to(np.asarray(room.max_batch) >= 1.0, (n,))
    times = service(found.structure, shards, found.formats, found.machine, 1.0, prompt_tokens, 1.0)
    groups = np.asarray(shards.groups)
    prompts = np.where(feasible, groups / times.expected_prompt_s, 0.0)
    first = np.where(feasible & (prompts >= rate), times.expected_ttft_s, np.inf)
    index = int(np.argmin(first)) if np.any(np.isfinite(first)) else int(np.argmax(prompts))
    shard = shards.over(lambda values: float(np.broadcast_to(np.asarray(values), (n,))[index]))
    return PrefillPool(
        n_devices=n_devices,
        shard=shard,
        service=service(found.structure, shard, found.formats, found.machine, 1.0, prompt_tokens, 1.0),
        best=BestLimits(
            ttft_s=np.min(np.where(feasible, times.limit_ttft_s, np.inf)),
            system_prompt_s=np.min(np.where(feasible, times.limit_prompt_s / groups, np.inf)),
            step_s=np.inf,
            request_s=np.inf,
        ),
        fits=bool(np.any(feasible)),
        n_candidates=n,
    )


def _sent(pool: PrefillPool, decode: Shard, n_decode: int, found: Resolved, scenario: Scenario) -> Speeds:
    """Prefill with its cache handed over by the devices that hold it: while it is made in the limit, else when it is whole."""
    prompt, engine = float(scenario.input_tokens), found.engine
    computed = float(pool.service.computed_tokens)
    alone = speeds(pool.service, pool.shard, engine, 1.0, 1.0, pool.fits, best=pool.best)
    per_element = found.formats.cache_bytes_per_element
    cache = float(cache_bytes_per_sequence(found.structure, prompt, _WHOLE, per_element))
    rate = float(link_bytes_per_s(scenario.devices, found.machine))
    share = engine.link_frac.value
    most = min(pool.n_devices, n_decode)
    ends = min(_holders(pool.shard), _holders(decode))
    used = min(float(pool.shard.devices_used), float(decode.devices_used))
    after = cache / (ends * rate * share) + engine.link_latency_s.value

    def handed(times: Times) -> Times:
        capped = np.minimum(times.prefill_tokens_per_s, used * rate * share / cache * computed)
        return replace(times, ttft_s=times.ttft_s + after, prefill_tokens_per_s=capped)

    limit = replace(
        alone.limit,
        ttft_s=np.maximum(alone.limit.ttft_s, cache / (most * rate)),
        prefill_tokens_per_s=np.minimum(alone.limit.prefill_tokens_per_s, most * rate / cache * computed),
    )
    return Speeds(limit, handed(alone.expected), handed(alone.low), handed(alone.high))


def _holders(shard: Shard) -> float:
    """Devices that hold the cache of one sequence between them."""
    return float(shard.attention_tensor * shard.pipeline * shard.context)


def together(prefill: Speeds, decode: Speeds, scenario: Scenario, computed_tokens: Floats, fits: bool) -> Speeds:
    """Every number of two pools: first tokens of the one, the rest of the other, requests of the slower."""

    def both(first: Times, rest: Times) -> Times:
        output, rate = float(scenario.output_tokens), scenario.request_rate
        known = 1.0 if fits else np.nan
        ttft, tpot = first.ttft_s * known, rest.tpot_s * known
        requests: Floats = np.minimum(first.prefill_tokens_per_s / computed_tokens, rest.output_tokens_per_s / output) * known
        made: Floats = rest.output_tokens_per_s * known
        if rate is not None:
            requests, made = rate * known, rate * output * known
        return Times(
            ttft_s=ttft,
            prefill_tokens_per_s=first.prefill_tokens_per_s * known,
            tpot_s=tpot,
            tpot_including_ttft_s=(ttft + (output - 1.0) * tpot) / output,
            decode_step_s=rest.decode_step_s * known,
            tokens_per_s_per_user=rest.tokens_per_s_per_user * known,
            output_tokens_per_s=made,
            requests_per_s=requests,
            request_output_tokens_per_s=requests * output,
        )

    return Speeds(
        both(prefill.limit, decode.limit),
        both(prefill.expected, decode.expected),
        both(prefill.low, decode.low),
        both(prefill.high, decode.high),
    )
