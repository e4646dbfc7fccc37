"""Laws of a search: it agrees with brute force, keeps its promise, and never gets dearer when more is allowed."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate
from roofline.answers.frontier import beyond, undominated
from roofline.answers.search import search
from roofline.errors import PlanError
from roofline.specs.ownership import Ownership
from roofline.specs.search import SearchQuery

merits = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40)
CLOSE = 1e-9
LONG = {"input_tokens": 60_000, "output_tokens": 2_000}
"""So long that no more than a few dozen sequences fit: every batch can be tried."""


@dataclass(frozen=True)
class Tried:
    """One full replica by brute force."""

    scenario: Scenario
    ttft_s: float
    tpot_s: float
    requests_per_s: float
    usd_per_million_output_tokens: float | None
    usd_per_device_hour: float | None


def full_replica(scenario: Scenario) -> Tried:
    """A batch that leaves as fast as it comes: prefill and decode share every second."""
    report = evaluate(scenario)
    step, batch, output = report.expected.decode_step_s, report.batch, scenario.output_tokens
    prefill_s = scenario.input_tokens / report.expected.prefill_tokens_per_s
    rate = 1.0 / (output * step / batch + prefill_s)
    cost = report.cost
    tpot = step / (1.0 - rate * prefill_s)
    return Tried(scenario, report.expected.ttft_s, tpot, rate, cost.usd_per_million_output_tokens, cost.usd_per_device_hour)


def with_wait(found: Tried) -> Tried:
    """The same at the slow end of the band, TTFT with the wait of the slowest in ten: what `evaluate` tells at that rate."""
    report = evaluate(found.scenario.model_copy(update={"batch": None, "request_rate": found.requests_per_s * (1.0 - CLOSE)}))
    wait_s = report.waiting.ttft_p90_s - report.waiting.service_s
    return replace(found, ttft_s=report.expected_high.ttft_s + wait_s, tpot_s=report.expected_high.tpot_s)


def plans(model: str, hardware: str, weights: str | None, most: int, has_experts: bool) -> list[Scenario]:
    """Every way to cut one replica of up to ``most`` devices that is accepted.

    Attention by sequence instead of by head is a plan where cache heads would have to be copied: here for latents alone.
    """
    found = []
    ways = range(1, most + 1)
    for t, p, e, shared in itertools.product(ways, ways, ways if has_experts else [1], [False, True] if has_experts else [False]):
        n = max(t, e) * p
        spread = e == 1 or (e % t == 0 and e & (e - 1) == 0)
        if n > most or not spread or (shared and t == 1):
            continue
        scenario = Scenario(
            model=model, hardware=hardware, weights=weights, devices=n, tensor_parallel=t, pipeline_parallel=p,
            data_parallel=max(1, e // t), expert_parallel=e if has_experts else None, attention_data_parallel=shared, **LONG,
        )  # fmt: skip
        try:
            evaluate(scenario)
        except PlanError:
            continue
        found.append(scenario)
    return found


def every_batch(scenario: Scenario, ladder: bool) -> list[Tried]:
    report = evaluate(scenario)
    if not report.memory.fits:
        return []
    most = report.memory.max_batch
    batches = [min(2**k, most) for k in range(most.bit_length() + 1)] if ladder else range(1, most + 1)
    return [full_replica(scenario.model_copy(update={"batch": b})) for b in sorted(set(batches))]


@pytest.fixture(scope="module", params=[("llama-3.1-8b", False), ("deepseek-v2-lite", True)], ids=lambda p: p[0])
def space(request: pytest.FixtureRequest) -> tuple[str, list[Scenario]]:
    """A model and its replicas of up to four devices on three kinds of hardware."""
    model, has_experts = request.param
    formats = ["bf16", "int4_g128"] if model == "llama-3.1-8b" else [None]
    hardware = ("l40s", "h100-sxm", "rtx4090")
    return model, [s for h in hardware for w in formats for s in plans(model, h, w, 4, has_experts)]


def asked(model: str, **wishes: object) -> SearchQuery:
    weights = ("bf16", "int4_g128") if model == "llama-3.1-8b" else ("stored",)
    hardware = ("l40s", "h100-sxm", "rtx4090")
    return SearchQuery(model=model, hardware=hardware, weights=weights, most_devices=4, **LONG, **wishes)


@pytest.mark.parametrize(
    "wishes",
    [
        {"ttft_s": 10.0, "tpot_s": 0.05, "request_rate": 3.0},
        {"ttft_s": 6.0, "tpot_s": 0.03, "concurrency": 70},
        {"tpot_s": 0.2, "request_rate": 0.05},
        {"ttft_s": 30.0, "tpot_s": 0.06, "request_rate": 3.0, "percentile": 90.0},
    ],
)
def test_brute_force_agrees(space: tuple[str, list[Scenario]], wishes: dict[str, float]) -> None:
    model, scenarios = space
    best: dict[tuple[str, str | None], float] = {}
    tried = (item for scenario in scenarios for item in every_batch(scenario, ladder=False))
    for item in map(with_wait, tried) if "percentile" in wishes else tried:
        if item.ttft_s > wishes.get("ttft_s", math.inf) or item.tpot_s > wishes["tpot_s"]:
            continue
        carried = item.scenario.batch if "concurrency" in wishes else item.requests_per_s
        replicas = math.ceil(wishes.get("request_rate", wishes.get("concurrency")) / carried)
        usd = replicas * item.scenario.devices * item.usd_per_device_hour
        key = (item.scenario.hardware, item.scenario.weights)
        best[key] = min(best.get(key, math.inf), usd)
    found = search(asked(model, **wishes))
    assert {(w.scenario.hardware, w.scenario.weights): w.usd_per_hour for w in found.winners} == pytest.approx(best, rel=CLOSE)
    assert [w.usd_per_hour for w in found.winners] == sorted(w.usd_per_hour for w in found.winners)


@pytest.mark.parametrize(
    "wishes", [{"tpot_s": 0.05}, {"ttft_s": 10.0, "tpot_s": 0.05, "request_rate": 3.0}], ids=["full", "rate"]
)
def test_brute_force_agrees_where_electricity_is_paid(space: tuple[str, list[Scenario]], wishes: dict[str, float]) -> None:
    """Owned devices are compared as `evaluate` prices them: with the power of the load that each replica has."""
    model, scenarios = space
    best: dict[tuple[str, str | None], float] = {}
    hourly = functools.cache(lambda share: evaluate(share).cost.usd_per_hour)
    owned = (scenario.model_copy(update={"ownership": Ownership()}) for scenario in scenarios)
    for item in (item for scenario in owned for item in every_batch(scenario, ladder=False)):
        if item.ttft_s > wishes.get("ttft_s", math.inf) or item.tpot_s > wishes["tpot_s"]:
            continue
        rate = wishes.get("request_rate", item.requests_per_s)
        replicas = math.ceil(rate / item.requests_per_s)
        usd = replicas * item.scenario.devices * item.usd_per_device_hour
        if replicas > 1 or "request_rate" in wishes:
            share = item.scenario.model_copy(update={"batch": None, "request_rate": rate / replicas})
            usd = replicas * hourly(share)
        if "request_rate" not in wishes:
            usd /= rate * 3600 * (LONG["input_tokens"] + LONG["output_tokens"]) / 1e6
        key = (item.scenario.hardware, item.scenario.weights)
        best[key] = min(best.get(key, math.inf), usd)
    found = search(asked(model, **wishes, price="owned")).winners
    usd = [w.usd_per_hour if "request_rate" in wishes else w.usd_per_million_tokens for w in found]
    assert dict(zip([(w.scenario.hardware, w.scenario.weights) for w in found], usd, strict=True)) == pytest.approx(
        best,
        rel=2e-5,  # six digits of a rate
    )
    assert usd == sorted(usd)


def test_frontiers_are_those_of_brute_force(space: tuple[str, list[Scenario]]) -> None:
    model, scenarios = space
    tried = [item for scenario in scenarios for item in every_batch(scenario, ladder=True)]
    found = search(asked(model, tpot_s=0.05))
    speed = np.array([1.0 / t.tpot_s for t in tried])
    cost = np.array([t.usd_per_million_output_tokens for t in tried])
    rate = np.array([t.requests_per_s * LONG["output_tokens"] / t.scenario.devices for t in tried])
    expected = {(round(float(speed[n]), 6), round(float(cost[n]), 6)) for n in not_beaten(speed, -cost)}
    assert {
        (round(p.tokens_per_s_per_user, 6), round(p.usd_per_million_output_tokens, 6)) for p in found.cost_frontier
    } == expected
    expected = {(round(float(speed[n]), 6), round(float(rate[n]), 6)) for n in not_beaten(speed, rate)}
    shown = {(round(p.tokens_per_s_per_user, 6), round(p.output_tokens_per_s_per_device, 6)) for p in found.throughput_frontier}
    assert shown == expected


def not_beaten(first: np.ndarray, second: np.ndarray) -> list[int]:
    """Every point for itself: none is at least as good in both and better in one; of equals, the first."""
    kept = []
    for n in range(first.size):
        better = (first >= first[n]) & (second >= second[n]) & ((first > first[n]) | (second > second[n]))
        same = (first == first[n]) & (second == second[n])
        if not better.any() and np.flatnonzero(same)[0] == n:
            kept.append(n)
    return kept


@given(merits)
def test_undominated_is_brute_force(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array([float(p[k]) for p in pairs]) for k in (0, 1))
    assert sorted(undominated(first, second).tolist()) == not_beaten(first, second)


@given(merits, merits)
def test_a_frontier_lets_in_what_it_does_not_cover(pairs: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    first, second = (np.array([float(p[k]) for p in pairs]) for k in (0, 1))
    front = undominated(first, second)
    a, b = (np.array([float(p[k]) for p in more]) for k in (0, 1))
    inside = set(beyond(a, b, first[front], second[front]).tolist())
    covered = {n for n in range(a.size) if np.any((first >= a[n]) & (second >= b[n]))}
    assert inside == set(range(a.size)) - covered


hardware = ("h100-sxm", "h200-sxm", "mi300x", "rtx4090", "a100-sxm-80", "l40s")
queries = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["llama-3.3-70b", "gpt-oss-120b", "deepseek-v3"]),
        "ttft_s": st.floats(0.2, 20.0),
        "tpot_s": st.floats(0.01, 0.2),
        "input_tokens": st.integers(16, 20_000),
        "output_tokens": st.integers(2, 4_000),
    }
)
traffic = st.one_of(
    st.builds(lambda r: {"request_rate": r}, st.floats(0.01, 500.0)),
    st.builds(lambda n: {"concurrency": n}, st.integers(1, 5000)),
)
chosen = st.lists(st.sampled_from(hardware), min_size=1, max_size=3, unique=True)


def cheapest(query: SearchQuery) -> float:
    found = search(query)
    return found.winners[0].usd_per_hour if found.winners else math.inf


@settings(max_examples=12, deadline=None)
@given(queries, traffic, chosen, st.sampled_from([None, 95.0]))
def test_winners_keep_the_promise_and_carry_the_traffic(
    wishes: dict[str, object], load: dict[str, float], ids: list[str], percentile: float | None
) -> None:
    query = SearchQuery(**wishes, **load, hardware=tuple(ids), percentile=percentile, most_devices=32)
    for item in search(query).winners:
        report = evaluate(item.scenario)
        times = report.expected_high if percentile else report.expected
        assert report.memory.fits
        assert times.ttft_s <= query.ttft_s * (1.0 + CLOSE)
        assert times.tpot_s <= query.tpot_s * (1.0 + CLOSE)
        assert item.utilisation_frac <= 1.0 + CLOSE
        if query.request_rate is not None:
            assert item.requests_per_s == pytest.approx(query.request_rate)
            assert item.replicas * item.scenario.request_rate == pytest.approx(query.request_rate, rel=1e-3)
        else:
            assert item.replicas * item.batch >= query.concurrency
        assert item.usd_per_hour == pytest.approx(item.replicas * report.cost.usd_per_hour)


@settings(max_examples=8, deadline=None)
@given(queries, traffic, chosen, st.floats(1.0, 5.0), st.floats(1.0, 5.0))
def test_relaxing_a_promise_never_costs_more(
    wishes: dict[str, float], load: dict[str, float], ids: list[str], slower_start: float, slower: float
) -> None:
    query = SearchQuery(**wishes, **load, hardware=tuple(ids), most_devices=32, top=1)
    relaxed = query.model_copy(update={"ttft_s": query.ttft_s * slower_start, "tpot_s": query.tpot_s * slower})
    assert cheapest(relaxed) <= cheapest(query) * (1.0 + CLOSE)


@settings(max_examples=8, deadline=None)
@given(queries, traffic, chosen, st.sampled_from(hardware))
def test_more_hardware_never_costs_more(wishes: dict[str, float], load: dict[str, float], ids: list[str], another: str) -> None:
    query = SearchQuery(**wishes, **load, hardware=tuple(ids), most_devices=32, top=1)
    assert cheapest(query.model_copy(update={"hardware": (*ids, another)})) <= cheapest(query) * (1.0 + CLOSE)
