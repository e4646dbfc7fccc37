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

from roofline.answers.bisection import Array, largest_whole
from roofline.answers.compute_bound import compute_bound, compute_bound_sentence
from roofline.answers.curves import shard_of
from roofline.answers.evaluate import evaluate, workload
from roofline.answers.longest_context import MOST_CONTEXT_TOKENS, longest_prompts
from roofline.answers.replicas import planned
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.search import search
from roofline.answers.search_result import Deployment
from roofline.errors import InputError, UnknownIdError
from roofline.formulas.cost import blended_usd_per_token
from roofline.language import tr
from roofline.performance.machine import Machine
from roofline.performance.planning import room_for
from roofline.performance.serving import mean_context_tokens, service
from roofline.performance.sharding import Shard, candidates
from roofline.performance.steps import Setting
from roofline.specs.scenario import Scenario
from roofline.specs.search import AS_STORED, SearchQuery
from roofline.units import Floats, duration, significant, with_prefix

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
        """The same as a search among one kind of device, the batch in flight.

        Raises
        ------
        InputError
            Something is set that a search chooses itself or has no place for; it is named.
        """
        asked = self.scenario
        other = [n for n, f in Scenario.model_fields.items() if n not in (*_SOUGHT, *_MONEY) and getattr(asked, n) != f.default]
        if other:
            names = ", ".join(name.replace("_", " ") for name in other)
            raise InputError(tr("The fewest devices are not sought with these set: {names}. Clear them.", names=names))
        return SearchQuery(
            model=asked.model,
            hardware=(asked.hardware,),
            input_tokens=asked.input_tokens,
            output_tokens=asked.output_tokens,
            ttft_s=self.ttft_s,
            tpot_s=self.tpot_s,
            request_rate=asked.request_rate,
            concurrency=asked.batch,
            weights=(asked.weights or AS_STORED,),
            kv_cache=asked.kv_cache,
            engine=asked.engine,
        )

    def devices(self) -> Solved:
        """The fewest devices; what they cost is asked as before."""
        found = fewest_devices(self.query())
        if found.scenario is None:
            return found
        money = {name: getattr(self.scenario, name) for name in _MONEY}
        return replace(found, scenario=found.scenario.model_copy(update=money))


_SOUGHT = (
    *("model", "hardware", "devices", "input_tokens", "output_tokens", "batch", "request_rate"),
    *("weights", "kv_cache", "engine"),
)
"""Fields of a load that a search takes over, or seeks."""
_MONEY = ("usd_per_device_hour", "rental", "ownership", "grid", "utilisation")
"""Fields that say what devices cost, not how many are needed."""


def solved(question: str, wish: Wish) -> Solved:
    """The answer to an inverse question by its name."""
    at = wish.scenario
    questions: dict[str, Callable[[], Solved]] = {
        "batch": lambda: largest_batch(at, tpot_s=wish.need("tpot_s", tr("a TPOT"))),
        "context": lambda: longest_context(at, tpot_s=wish.tpot_s or math.inf, ttft_s=wish.ttft_s or math.inf),
        "devices": wish.devices,
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
    shards = candidates(found.structure, found.request)
    room = room_for(found.structure, shards, found.formats, found.machine, workload([scenario]))
    most = np.broadcast_to(np.asarray(room.max_batch), np.shape(shards.tensor))
    context = mean_context_tokens(float(scenario.input_tokens), float(scenario.output_tokens))

    def times_s(batch: Array) -> Array:
        return _tpot_s(found, shards, batch, context, float(scenario.output_tokens))

    batches = largest_whole(lambda batch: times_s(batch) <= tpot_s, most)
    best = int(np.argmax(batches))
    if batches[best] < 1.0:
        holds = np.flatnonzero(most >= 1.0)
        if not holds.size:
            return _unsolved("batch", "sequences", _without_room(scenario, 1))
        least = duration(float(np.min(times_s(np.ones_like(most))[holds])))
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
    shards = candidates(found.structure, found.request)
    batch, output = scenario.batch or 1, scenario.output_tokens

    def times_s(prompt: Array) -> tuple[Array, Array]:
        at = service(found.structure, shards, found.formats, found.machine, float(batch), prompt, float(output))
        return np.asarray(at.decode.expected_s) / at.tokens_per_step, np.asarray(at.expected_ttft_s)

    def in_time(prompt: Array) -> NDArray[np.bool_]:
        tpot, ttft = times_s(prompt)
        return (tpot <= tpot_s) & (ttft <= ttft_s)

    most = longest_prompts(found, shards, output, float(batch))
    prompts = largest_whole(in_time, most)
    best = int(np.argmax(prompts))
    if prompts[best] < 1.0:
        short = scenario.model_copy(update={"input_tokens": 1, "request_rate": None})
        holds = most >= 1.0
        if not np.any(holds):
            return _unsolved("context", "tokens", _without_room(short, batch))
        tpot, ttft = (np.broadcast_to(values, most.shape)[holds] for values in times_s(np.ones_like(most)))
        return _unsolved("context", "tokens", _too_slow(tpot, tpot_s, ttft, ttft_s))
    prompt = int(prompts[best])
    tpot_then, ttft_then = (np.broadcast_to(values, most.shape)[best] for values in times_s(prompts + 1.0))
    if prompt < most[best]:
        end = _slow_words(float(tpot_then), tpot_s, float(ttft_then), ttft_s)
    else:
        end = tr("memory is full") if prompt + output < MOST_CONTEXT_TOKENS else tr("no longer one is looked for")
    return Solved(
        question="context",
        value=float(prompt + output),
        unit="tokens",
        sentence=_context_sentence(prompt, output, end, found.model.trained_context),
        scenario=planned(scenario, found, shards, best).model_copy(
            update={"batch": batch, "request_rate": None, "input_tokens": prompt}
        ),
    )


def _context_sentence(prompt: int, output: int, end: str, trained: int | None) -> str:
    text = tr(
        "{tokens:,} tokens, {prompt:,} of them prompt: with one more, {end}.", tokens=prompt + output, prompt=prompt, end=end
    )
    if trained is None or prompt + output <= trained:
        return text
    return f"{text} {tr('The model was trained for {n:,}.', n=trained)}"


def _slow_words(tpot_s: float, most_tpot_s: float, ttft_s: float, most_ttft_s: float) -> str:
    """Which time is over what is wanted."""
    token = tr("TPOT is over {wanted}", wanted=duration(most_tpot_s))
    first = tr("TTFT is over {wanted}", wanted=duration(most_ttft_s))
    if tpot_s > most_tpot_s and ttft_s > most_ttft_s:
        return tr("{one} and {other}", one=token, other=first)
    return token if tpot_s > most_tpot_s else first


def _too_slow(tpot_s: Array, most_tpot_s: float, ttft_s: Array, most_ttft_s: float) -> str:
    """Why no prompt keeps a promise: what the shortest takes under the best of the plans that hold it."""
    tpot, ttft = float(np.min(tpot_s)), float(np.min(ttft_s))
    if tpot > most_tpot_s:
        return tr(
            "A prompt of one token fits, but TPOT is then {least}; {wanted} is wanted.",
            least=duration(tpot),
            wanted=duration(most_tpot_s),
        )
    if ttft > most_ttft_s:
        return tr(
            "A prompt of one token fits, but TTFT is then {least}; {wanted} is wanted.",
            least=duration(ttft),
            wanted=duration(most_ttft_s),
        )
    with_ttft = float(np.min(tpot_s[ttft_s <= most_ttft_s]))
    return tr(
        "A prompt of one token fits, but no plan keeps both: with TTFT within {ttft}, TPOT is {least}; {wanted} is wanted.",
        ttft=duration(most_ttft_s),
        least=duration(with_ttft),
        wanted=duration(most_tpot_s),
    )


def _without_room(scenario: Scenario, batch: int) -> str:
    """How much memory is missing for so many sequences, and what would do."""
    report = evaluate(scenario.model_copy(update={"batch": batch, "request_rate": None}))
    return tr(
        "{model} does not fit on {devices} x {hardware}. {why}",
        model=report.model_name,
        devices=scenario.devices,
        hardware=report.hardware_name,
        why=report.sentence,
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
    shard = shard_of(report.plan, scenario)

    def time_s(bandwidth: float) -> float:
        machine = replace(found.machine, bandwidth_bytes_per_s=bandwidth)
        return float(_tpot_s(found, shard, float(report.batch), report.context_tokens, float(scenario.output_tokens), machine))

    rest = time_s(_FASTEST_BYTES_PER_S)
    if rest >= tpot_s:
        why = tr(
            "No bandwidth is enough: all else takes {rest}, and {wanted} is wanted.", rest=duration(rest), wanted=duration(tpot_s)
        )
        return _unsolved("bandwidth", "B/s", why)
    low, high = 1.0, _FASTEST_BYTES_PER_S
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if time_s(middle) > tpot_s else (low, middle)
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


def _tpot_s(
    found: Resolved, shards: Shard, batch: Array | float, context: Floats, n_steps: float, machine: Machine | None = None
) -> Array:
    """Expected time of an output token: a step over the tokens that it yields to each sequence."""
    setting = Setting(found.structure, shards, found.formats, machine or found.machine)
    step = setting.decode(batch, context, n_steps)
    return np.asarray(step.expected_s) / found.structure.shortcuts.tokens_per_step


def _unsolved(question: str, unit: str, why: str) -> Solved:
    return Solved(question, None, unit, why, None)
