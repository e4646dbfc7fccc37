"""Questions worth a story: each has one slider, a chart, and the numbers that its claim and verdict are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

from roofline.answers.anatomy import ExpertCurve, anatomy
from roofline.answers.curves import batch_curve
from roofline.answers.evaluate import evaluate
from roofline.answers.fleet import fleet
from roofline.answers.fleet_report import FleetReport
from roofline.answers.presets import PRESETS
from roofline.answers.report import BatchCurve, Report
from roofline.answers.sweep import sweep
from roofline.catalog.fleet import CALL, fleet_defaults
from roofline.catalog.models import load_model
from roofline.errors import InputError
from roofline.language import cached, tr
from roofline.performance.counts import model_counts
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario, counted

Place = int | str
"""A position of a slider: a number, or an id."""
_USD, _USER, _TOTAL = (
    "expected_usd_per_million_output_tokens",
    "expected_tokens_per_s_per_user",
    "expected_output_tokens_per_s",
)


@dataclass(frozen=True)
class Chart:
    """Lines over the slider's places, or bars over names; NaN where there is no number."""

    x: tuple[Place, ...]
    series: dict[str, tuple[float, ...]]
    at: int | None
    """The slider's place among ``x``."""


@dataclass(frozen=True)
class Told:
    """A story at one place of its slider."""

    scenario: Scenario
    """What the Calculator answers."""
    numbers: dict[str, float]
    names: dict[str, str] = field(default_factory=dict)
    chart: Chart | None = None
    report: Report | None = None
    curve: BatchCurve | None = None
    experts: ExpertCurve | None = None
    fleet: FleetReport | None = None


@dataclass(frozen=True)
class Story:
    """A question with one slider."""

    id: str
    places: tuple[Place, ...]
    start: Place
    tell: Callable[[Place], Told]


def _preset(name: str) -> Scenario:
    return next(preset.scenario for preset in PRESETS if preset.id == name)


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(2**power for power in range(first, last + 1))


def _with(scenario: Scenario, **changed: object) -> Scenario:
    return scenario.model_copy(update=changed)


@lru_cache(maxsize=32)
def _swept(scenario: Scenario, name: str, values: tuple[Place, ...]) -> pd.DataFrame:
    """A sweep over one input; a copy is never written to."""
    return sweep(scenario, {name: values})


def _cells(table: pd.DataFrame, name: str) -> tuple[float, ...]:
    return tuple(float(value) for value in table[name].where(table["fits"]))


def _price(report: Report) -> float:
    found = report.cost.usd_per_million_output_tokens
    return float("nan") if found is None else found


SCALE_PLACES = _powers(0, 10)


def _scale(place: Place) -> Told:
    """A large sparse model in a data centre and at home."""
    there, home = _preset("deepseek-16-h100"), _preset("deepseek-epyc")
    usd = _cells(_swept(there, "batch", SCALE_PLACES), _USD)
    alone = evaluate(home)
    at = SCALE_PLACES.index(int(place))
    counts = model_counts(load_model(there.model))
    cheaper = [batch for batch, value in zip(SCALE_PLACES, usd, strict=True) if value < _price(alone)]
    report = evaluate(_with(there, batch=int(place)))
    return Told(
        scenario=report.scenario,
        numbers={
            "batch": float(place),
            "devices": float(there.devices),
            "usd_there": usd[at],
            "usd_home": _price(alone),
            "ratio": max(usd[at], _price(alone)) / min(usd[at], _price(alone)),
            "from_batch": float(min(cheaper, default=0)),
            "total": float(counts.parameters.total),
            "active": float(counts.parameters.active),
            "user_there": float(report.expected.tokens_per_s_per_user),
            "user_home": float(alone.expected.tokens_per_s_per_user),
        },
        names={"model": report.model_name, "there": report.hardware_name, "home": alone.hardware_name},
        chart=Chart(SCALE_PLACES, {"there": usd, "home": tuple(_price(alone) for _ in usd)}, at),
    )


BATCH_PLACES = _powers(0, 7)


def _batching(place: Place) -> Told:
    """What a batch gives to all and takes from each."""
    alone = evaluate(_with(_preset("llama-70b-h200"), batch=1))
    report = evaluate(_with(alone.scenario, batch=int(place)))
    total, user = float(report.expected.output_tokens_per_s), float(report.expected.tokens_per_s_per_user)
    return Told(
        scenario=report.scenario,
        numbers={
            "batch": float(place),
            "max_batch": float(report.memory.max_batch),
            "fits": float(report.memory.fits),
            "total": total,
            "total_alone": float(alone.expected.output_tokens_per_s),
            "gain": total / float(alone.expected.output_tokens_per_s),
            "kept": user / float(alone.expected.tokens_per_s_per_user),
            "usd": _price(report),
            "usd_alone": _price(alone),
            "critical": report.critical_batch_system,
        },
        names={"model": report.model_name, "hardware": report.hardware_name},
        report=report,
        curve=batch_curve(report),
    )


def _phases(place: Place) -> Told:
    """Reading a prompt and writing an answer on the same machine."""
    report = evaluate(_with(_preset("llama-70b-h200"), batch=int(place)))
    read, written = float(report.expected.prefill_tokens_per_s), float(report.expected.output_tokens_per_s)
    return Told(
        scenario=report.scenario,
        numbers={
            "batch": float(place),
            "max_batch": float(report.memory.max_batch),
            "fits": float(report.memory.fits),
            "prefill": read,
            "decode": written,
            "ratio": read / written,
            "mfu_prefill": report.mfu["prefill"],
            "mfu_decode": report.mfu["decode"],
            "mbu_decode": report.mbu["decode"],
            "critical": report.critical_batch_system,
        },
        names={
            "model": report.model_name,
            "hardware": report.hardware_name,
            "prefill_bound": report.bound["prefill"],
            "decode_bound": report.bound["decode"],
        },
        report=report,
        curve=batch_curve(report),
    )


HOME_MACHINES = ("rtx3090", "2xrtx3090", "rtx5090", "apple-m4max", "apple-m3ultra", "epyc-9654")
HOME_MODELS = ("llama-3.1-8b", "gpt-oss-20b", "qwen3-30b-a3b", "qwen3-32b", "llama-3.3-70b", "gpt-oss-120b", "deepseek-v3")
_FOUR_BITS = "q4_k_m"


def _home(place: Place) -> Told:
    """What a machine at home runs, in about 4 bits, for one person."""
    count, hardware = counted(str(place))
    reports = [evaluate(_four_bits(model, hardware, count or 1)) for model in HOME_MODELS]
    speed = tuple(float(r.expected.tokens_per_s_per_user) if r.memory.fits else float("nan") for r in reports)
    sizes = [float(model_counts(load_model(model)).parameters.total) for model in HOME_MODELS]
    held = [at for at, value in enumerate(speed) if np.isfinite(value)]
    fastest, largest = max(held, key=lambda at: speed[at]), max(held, key=lambda at: sizes[at])
    memory = reports[0].memory
    return Told(
        scenario=reports[largest].scenario,
        numbers={
            "held": float(len(held)),
            "of": float(len(HOME_MODELS)),
            "fastest": speed[fastest],
            "largest": speed[largest],
            "usable_bytes": float(memory.usable_bytes_per_device) * (count or 1),
            "bandwidth": reports[0].bandwidth_bytes_per_s * (count or 1),
        },
        names={
            "hardware": reports[0].hardware_name,
            "fastest": reports[fastest].model_name,
            "largest": reports[largest].model_name,
            "bound": reports[largest].bound["decode"],
        },
        chart=Chart(tuple(report.model_name for report in reports), {"speed": speed}, None),
    )


def _four_bits(model: str, hardware: str, devices: int) -> Scenario:
    """A model as people run it at home: in 4 bits, or as published where that is no more."""
    stored = load_model(model).stored_format
    weights = None if stored == "mxfp4" else _FOUR_BITS
    load = {"batch": 1, "input_tokens": 1024, "output_tokens": 512}
    return Scenario(model=model, hardware=hardware, devices=devices, weights=weights, **load)


EXPERT_PLACES = _powers(0, 12)


def _experts(place: Place) -> Told:
    """How many experts a step wakes, and what each has to do."""
    scenario = _with(_preset("deepseek-16-h100"), batch=int(place))
    report, curve = evaluate(scenario), anatomy(scenario.model).experts
    if curve is None:
        raise InputError(tr("{model} has no experts.", model=scenario.model))
    touched, each = (float(np.interp(float(place), curve.tokens, v)) for v in (curve.distinct, curve.tokens_per_touched))
    return Told(
        scenario=scenario,
        numbers={
            "batch": float(place),
            "experts": float(curve.total),
            "active": float(curve.active),
            "touched": touched,
            "touched_share": touched / curve.total,
            "each": each,
            "dense": report.critical_batch_dense,
            "critical": report.critical_batch_with_experts,
        },
        names={"model": report.model_name, "hardware": report.hardware_name},
        experts=curve,
    )


CONTEXT_PLACES = _powers(10, 17)


def _context(place: Place) -> Told:
    """A longer prompt leaves room for fewer at once, and more to read for each."""
    base = _with(_preset("llama-70b-h200"), batch=None)
    usd = _cells(_swept(base, "input_tokens", CONTEXT_PLACES), _USD)
    report, short = (evaluate(_with(base, input_tokens=int(tokens))) for tokens in (place, CONTEXT_PLACES[0]))
    at = CONTEXT_PLACES.index(int(place))
    return Told(
        scenario=report.scenario,
        numbers={
            "tokens": float(place),
            "usd": usd[at],
            "short": float(CONTEXT_PLACES[0]),
            "ratio": usd[at] / usd[0],
            "fit": float(report.memory.max_batch),
            "fit_short": float(short.memory.max_batch),
            "cache_bytes": float(report.memory.kv_cache_bytes_per_sequence),
            "ttft_s": float(report.expected.ttft_s),
        },
        names={"model": report.model_name, "hardware": report.hardware_name},
        chart=Chart(CONTEXT_PLACES, {"usd": usd}, at),
    )


BITS_PLACES = ("bf16", "q8_0", "q6_k", "q4_k_m", "q3_k_m")
MANY = 32


def _bits(place: Place) -> Told:
    """The same model in fewer bits, for one and for many."""
    base = _with(_preset("llama-8b-4090"), weights=str(place))
    one, many = (_cells(_swept(_with(base, batch=batch, weights=None), "weights", BITS_PLACES), _USER) for batch in (1, MANY))
    at = BITS_PLACES.index(str(place))
    report, wide = evaluate(base), evaluate(_with(base, weights=BITS_PLACES[0]))
    here, there = float(report.memory.weights_bytes_per_device), float(wide.memory.weights_bytes_per_device)
    return Told(
        scenario=base,
        numbers={
            "bytes": here,
            "bytes_wide": there,
            "faster_one": one[at] / one[0],
            "faster_many": many[at] / many[0],
            "many": float(MANY),
            "one": one[at],
        },
        names={"model": report.model_name, "hardware": report.hardware_name, "format": str(place), "wide": BITS_PLACES[0]},
        chart=Chart(BITS_PLACES, {"one": one, "many": many}, at),
    )


NETWORK_PLACES = _powers(0, 5)


def _network(place: Place) -> Told:
    """More devices on the same layers: less to read for each, more waiting for one another."""
    base = _with(_preset("llama-70b-h200"), batch=8, input_tokens=2048)
    reports = [evaluate(_with(base, devices=ways, tensor_parallel=ways)) for ways in NETWORK_PLACES]
    user = tuple(float(report.expected.tokens_per_s_per_user) for report in reports)
    at = NETWORK_PLACES.index(int(place))
    shares = {share.bound: share.seconds for share in reports[at].shares["decode"]}
    return Told(
        scenario=reports[at].scenario,
        numbers={
            "ways": float(place),
            "speedup": user[at] / user[0],
            "waiting": (shares.get("latency", 0.0) + shares.get("network", 0.0)) / sum(shares.values()),
            "reading": shares.get("memory", 0.0) / sum(shares.values()),
            "best": float(NETWORK_PLACES[int(np.argmax(user))]),
            "usd_ratio": _price(reports[at]) / _price(reports[0]),
        },
        names={"model": reports[at].model_name, "hardware": reports[at].hardware_name},
        chart=Chart(NETWORK_PLACES, {"user": user, "ideal": tuple(user[0] * ways for ways in NETWORK_PLACES)}, at),
    )


USERS_PLACES = (100_000, 1_000_000, 10_000_000, 100_000_000, 700_000_000, 2_000_000_000)


@cached(maxsize=16)
def _planned(users: int) -> FleetReport:
    call = {name: fleet_defaults()[name].value for name in CALL}
    replica = Scenario.model_validate({**call, "model": "deepseek-v3", "hardware": "h200-sxm", "devices": 16})
    return fleet(FleetScenario(replica=replica, weekly_users=users))


def _millions(place: Place) -> Told:
    """From people a week to machines, power and money."""
    plans = [_planned(users) for users in USERS_PLACES]
    at = USERS_PLACES.index(int(place))
    plan = plans[at]
    devices = tuple(float("nan") if each.devices is None else float(each.devices) for each in plans)
    return Told(
        scenario=plan.sites[0].capacity.scenario,
        numbers={
            "users": float(place),
            "devices": devices[at],
            "users_per_device": float(place) / devices[at],
            "users_first": float(USERS_PLACES[0]),
            "users_per_device_first": float(USERS_PLACES[0]) / devices[0],
        },
        names={"sentence": plan.sentence},
        chart=Chart(USERS_PLACES, {"devices": devices}, at),
        fleet=plan,
    )


STORIES: tuple[Story, ...] = (
    Story("scale", SCALE_PLACES, 128, _scale),
    Story("batching", BATCH_PLACES, 32, _batching),
    Story("phases", BATCH_PLACES, 8, _phases),
    Story("home", HOME_MACHINES, "rtx3090", _home),
    Story("experts", EXPERT_PLACES, 16, _experts),
    Story("context", CONTEXT_PLACES, 32_768, _context),
    Story("bits", BITS_PLACES, "q4_k_m", _bits),
    Story("network", NETWORK_PLACES, 8, _network),
    Story("millions", USERS_PLACES, 700_000_000, _millions),
)


def read_story(text: str | None) -> tuple[Story, Place] | None:
    """The story of a link and its place; none for what is no story.

    >>> found = read_story("batching,64")
    >>> found[0].id, found[1], read_story("batching,65"), read_story(None)
    ('batching', 64, None, None)
    """
    name, _, shown = (text or "").partition(",")
    story = next((story for story in STORIES if story.id == name), None)
    if story is None:
        return None
    if not shown:
        return story, story.start
    place = next((place for place in story.places if str(place) == shown), None)
    return None if place is None else (story, place)
