"""The question turned round: what batch, devices, context, bandwidth or price meets a wish, and where compute binds.

Each answer carries the scenario that evaluates to the wish. Times rise with batch and context and fall with bandwidth, so that
bisection finds the turning point; a cost is proportional to the price, so that the price is a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.answers.bisection import Array, largest_kept
from roofline.answers.compute_bound import compute_bound, compute_bound_sentence
from roofline.answers.evaluate import evaluate, workload
from roofline.answers.found import Deployment
from roofline.answers.replicas import planned
from roofline.answers.report import Plan
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.search import search
from roofline.errors import InputError, UnknownIdError
from roofline.formulas.cost import blended_usd_per_token
from roofline.language import tr
from roofline.performance.planning import room_for
from roofline.performance.serving import mean_context_tokens, service
from roofline.performance.sharding import Shard, candidates
from roofline.performance.steps import Setting
from roofline.specs.scenario import Scenario
from roofline.specs.search import AS_STORED, SearchQuery
from roofline.units import duration, significant, with_prefix

MOST_CONTEXT_TOKENS = 10_000_000
_FASTEST_BYTES_PER_S = 1e18
_BISECTIONS = 100


@dataclass(frozen=True)
class Solved:
    """An answer in base units; ``None`` where nothing meets the wish, and the sentence says why."""

    question: str
    value: float | None
    unit: str
    sentence: str
    scenario: Scenario | None
    """Evaluated, it meets the wish; for a bandwidth, on a device that has it."""


@dataclass(frozen=True)
class Wish:
    """A load and what is wanted of it; what a question does not need is left open."""

    scenario: Scenario
    ttft_s: float | None = None
    tpot_s: float | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None

    def need(self, name: str, option: str) -> float:
        """A wish that the question cannot do without."""
        value: float | None = getattr(self, name)
        if value is None or not value > 0.0:
            raise InputError(tr("This question needs {option}, above zero.", option=option))
        return value

    def query(self) -> SearchQuery:
        """The same as a search among one kind of device, the batch in flight."""
        asked = self.scenario
        return SearchQuery(
            model=asked.model,
            hardware=(asked.hardware,),
            input_tokens=asked.input_tokens,
            output_tokens=asked.output_tokens,
            ttft_s=self.ttft_s,
            tpot_s=self.tpot_s,
            concurrency=asked.batch,
            weights=(asked.weights or AS_STORED,),
            kv_cache=asked.kv_cache,
            engine=asked.engine,
        )


def solved(question: str, wish: Wish) -> Solved:
    """The answer to an inverse question by its name."""
    at = wish.scenario
    questions: dict[str, Callable[[], Solved]] = {
        "batch": lambda: largest_batch(at, tpot_s=wish.need("tpot_s", tr("a TPOT"))),
        "context": lambda: longest_context(at, tpot_s=wish.tpot_s or math.inf, ttft_s=wish.ttft_s or math.inf),
        "devices": lambda: fewest_devices(wish.query()),
        "bandwidth": lambda: needed_bandwidth(at, tpot_s=wish.need("tpot_s", tr("a TPOT"))),
        "price": lambda: break_even_price(
            at,
            input_usd_per_million=wish.need("input_usd_per_million", tr("an API's price of a million input tokens")),
            output_usd_per_million=wish.need("output_usd_per_million", tr("an API's price of a million output tokens")),
        ),
        "compute-bound": lambda: compute_bound_batch(at),
    }
    if question not in questions:
        raise UnknownIdError("questions", question, questions)
    return questions[question]()


def largest_batch(scenario: Scenario, *, tpot_s: float) -> Solved:
    """Most sequences that decode at once within a TPOT and fit, over all legal plans of these devices."""
    found = resolve(scenario)
    shards, most = _plans(scenario, found)
    context = mean_context_tokens(float(scenario.input_tokens), float(scenario.output_tokens))

    def step_s(batch: Array) -> Array:
        return np.asarray(Setting(found.structure, shards, found.formats, found.machine).decode(batch, context).expected_s)

    batches = _largest_whole(lambda batch: step_s(batch) <= tpot_s, most)
    best = int(np.argmax(batches))
    if batches[best] < 1.0:
        holds = np.flatnonzero(most >= 1.0)
        if not holds.size:
            why = tr(
                "{model} does not fit on {devices} x {hardware}.",
                model=scenario.model,
                devices=scenario.devices,
                hardware=scenario.hardware,
            )
            return _unsolved("batch", "sequences", why)
        least = duration(float(np.min(step_s(np.ones_like(most))[holds])))
        why = tr("One sequence takes {least} a token; {wanted} is wanted.", least=least, wanted=duration(tpot_s))
        return _unsolved("batch", "sequences", why)
    batch = int(batches[best])
    held = tr("memory is full") if batch == most[best] else tr("one more would be slower")
    return Solved(
        question="batch",
        value=float(batch),
        unit="sequences",
        sentence=tr(
            "{batch:,} sequences decode within {wanted} a token; {held}.", batch=batch, wanted=duration(tpot_s), held=held
        ),
        scenario=planned(scenario, found, shards, best).model_copy(update={"batch": batch, "request_rate": None}),
    )


def longest_context(scenario: Scenario, *, tpot_s: float = math.inf, ttft_s: float = math.inf) -> Solved:
    """Longest prompt plus output that fits at the scenario's batch, one by default, and keeps TPOT and TTFT, over all plans."""
    found = resolve(scenario)
    shards, _ = _plans(scenario, found)
    batch, output = float(scenario.batch or 1), float(scenario.output_tokens)

    def keeps(prompt: Array) -> NDArray[np.bool_]:
        load = replace(workload([scenario]), prompt_tokens=prompt)
        room = room_for(found.structure, shards, found.formats, found.machine, load)
        times = service(found.structure, shards, found.formats, found.machine, batch, prompt, output)
        in_time = (np.asarray(times.decode.expected_s) <= tpot_s) & (np.asarray(times.expected_ttft_s) <= ttft_s)
        return in_time & (np.asarray(room.max_batch) >= batch)

    prompts = _largest_whole(keeps, np.full(np.shape(shards.tensor), float(MOST_CONTEXT_TOKENS)))
    best = int(np.argmax(prompts))
    if prompts[best] < 1.0:
        why = tr(
            "No prompt of {model} on {devices} x {hardware} at batch {batch:,.0f} fits and keeps the promise.",
            model=scenario.model,
            devices=scenario.devices,
            hardware=scenario.hardware,
            batch=batch,
        )
        return _unsolved("context", "tokens", why)
    prompt = int(prompts[best])
    return Solved(
        question="context",
        value=float(prompt + scenario.output_tokens),
        unit="tokens",
        sentence=tr(
            "{tokens:,} tokens, {prompt:,} of them prompt; one more would not do.",
            tokens=prompt + scenario.output_tokens,
            prompt=prompt,
        ),
        scenario=planned(scenario, found, shards, best).model_copy(
            update={"batch": int(batch), "request_rate": None, "input_tokens": prompt}
        ),
    )


def fewest_devices(query: SearchQuery) -> Solved:
    """Fewest devices of one kind that keep a promise for a traffic: the cheapest deployment where all cost the same."""
    if query.hardware is None or len(query.hardware) != 1:
        raise InputError(tr("The fewest devices are sought of one kind: name one hardware."))
    if query.request_rate is None and query.concurrency is None:
        query = query.model_copy(update={"concurrency": 1})
    found = search(query.model_copy(update={"usd_per_device_hour": 1.0, "top": 1}))
    if not found.winners:
        return _unsolved("devices", "devices", f"{found.losers[0].reason.removesuffix('.')}.")
    best = found.winners[0]
    return Solved(
        question="devices",
        value=float(best.devices),
        unit="devices",
        sentence=_few(best),
        scenario=best.scenario.model_copy(update={"usd_per_device_hour": None}),
    )


def _few(best: Deployment) -> str:
    """A deployment in one sentence."""
    if best.replicas == 1:
        return tr(
            "{devices:,} x {hardware} (weights {weights}).",
            devices=best.devices,
            hardware=best.hardware_name,
            weights=best.weights,
        )
    return tr(
        "{devices:,} x {hardware} (weights {weights}), {replicas} replicas of {each}.",
        devices=best.devices,
        hardware=best.hardware_name,
        weights=best.weights,
        replicas=best.replicas,
        each=best.devices_per_replica,
    )


def needed_bandwidth(scenario: Scenario, *, tpot_s: float) -> Solved:
    """Memory bandwidth at which this load, its plan and everything else as they are, is expected to take just this TPOT."""
    found, report = resolve(scenario), evaluate(scenario.model_copy(update={"request_rate": None}))
    shard, context = _shard(report.plan), report.context_tokens

    def step_s(bandwidth: float) -> float:
        machine = replace(found.machine, bandwidth_bytes_per_s=bandwidth)
        return float(Setting(found.structure, shard, found.formats, machine).decode(float(report.batch), context).expected_s)

    rest = step_s(_FASTEST_BYTES_PER_S)
    if rest >= tpot_s:
        why = tr(
            "No bandwidth is enough: all else takes {rest}, and {wanted} is wanted.", rest=duration(rest), wanted=duration(tpot_s)
        )
        return _unsolved("bandwidth", "B/s", why)
    low, high = 1.0, _FASTEST_BYTES_PER_S
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if step_s(middle) > tpot_s else (low, middle)
    ratio = significant(high / found.machine.bandwidth_bytes_per_s)
    return Solved(
        question="bandwidth",
        value=high,
        unit="B/s",
        sentence=tr(
            "{bandwidth} per device, {ratio} times what {device} has.",
            bandwidth=with_prefix(high, "B/s"),
            ratio=ratio,
            device=found.accelerator.name,
        ),
        scenario=planned(scenario, found, shard, 0).model_copy(update={"batch": report.batch, "request_rate": None}),
    )


def break_even_price(scenario: Scenario, *, input_usd_per_million: float, output_usd_per_million: float) -> Solved:
    """Price of a device hour at which a request costs as much here as at an API: below it, self-hosting pays."""
    report = evaluate(scenario.model_copy(update={"usd_per_device_hour": 1.0}))
    at_one_usd = report.cost.usd_per_million_tokens
    if at_one_usd is None:
        return _unsolved("price", "USD/h", tr("The load does not fit, so that no price pays."))
    asked = float(
        blended_usd_per_token(
            input_usd_per_token=input_usd_per_million,
            output_usd_per_token=output_usd_per_million,
            n_input_tokens=scenario.input_tokens,
            n_output_tokens=scenario.output_tokens,
        )
    )
    price = asked / at_one_usd
    return Solved(
        question="price",
        value=price,
        unit="USD/h",
        sentence=tr(
            "Self-hosting pays below {price} USD per device hour, all {devices:,} devices busy at {share:.0%} with batches of "
            "{batch:,}.",
            price=significant(price),
            devices=scenario.devices,
            share=scenario.utilisation,
            batch=report.batch,
        ),
        scenario=scenario.model_copy(update={"usd_per_device_hour": price}),
    )


def compute_bound_batch(scenario: Scenario) -> Solved:
    """The smallest batch at which the decode step is bound by compute, its plan chosen anew for each batch."""
    found = compute_bound(scenario)
    sentence = compute_bound_sentence(found)
    if found.batch is None:
        return _unsolved("compute-bound", "sequences", sentence)
    return Solved("compute-bound", float(found.batch), "sequences", sentence, found.scenario)


def _largest_whole(keeps: Callable[[Array], NDArray[np.bool_]], most: Array) -> Array:
    """The largest whole number up to ``most`` that keeps a condition, for every plan; 0 where 1 does not."""
    return largest_kept(lambda n: keeps(np.maximum(n, 1.0)), np.zeros_like(most), np.floor(most) + 1.0)


def _plans(scenario: Scenario, found: Resolved) -> tuple[Shard, Array]:
    """Every legal plan, and the batch each has room for."""
    shards = candidates(found.structure, found.request)
    room = room_for(found.structure, shards, found.formats, found.machine, workload([scenario]))
    return shards, np.broadcast_to(np.asarray(room.max_batch), np.shape(shards.tensor))


def _shard(plan: Plan) -> Shard:
    return Shard(
        tensor=float(plan.tensor_parallel),
        pipeline=float(plan.pipeline_parallel),
        data=float(plan.data_parallel),
        expert=float(plan.expert_parallel),
        attention_data=float(plan.attention_data_parallel),
    )


def _unsolved(question: str, unit: str, why: str) -> Solved:
    return Solved(question, None, unit, why, None)
