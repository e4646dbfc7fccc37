"""Single changes of a scenario, each evaluated, ranked by what they add for their money.

A move changes one thing: the batch, the bits of weights or of the cache, the device, how many there are, the engine, the plan or
the prompt. Its gain is in total output: what `evaluate` expects at a batch, the most the system keeps up with at a request rate,
nothing where the load does not fit. Gain per dollar is the gain over what an hour then costs more. Hence the order: gains that
cost nothing, largest first; gains that cost something, most per dollar first; gains whose price is not known; all other moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from roofline.answers.evaluate import carries, evaluate
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.formats import load_format
from roofline.catalog.hardware import hardware_ids, is_own_device, load_hardware
from roofline.errors import RooflineError
from roofline.performance.weights import weight_bytes
from roofline.specs.hardware import Accelerator
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario, is_mixed
from roofline.units import BITS_PER_BYTE, SECONDS_PER_HOUR

Kind = Literal[
    "double_batch",
    "halve_batch",
    "halve_weights",
    "halve_cache",
    "bigger_device",
    "double_devices",
    "halve_devices",
    "engine",
    "free_plan",
    "halve_prompt",
]
"""In the order that moves are shown."""
BIGGER = 1.25
"""A bigger device has this many times the memory or the bandwidth, and no less of anything."""
HALF_BITS = 0.6
"""Formats carry scales: half the bits is up to this share of what they were."""
LEAST_GAIN = 0.005
"""A move is said to help from this share of what there is."""
WAYS = ("tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel", "attention_data_parallel")
_ENGINES = {
    "NVIDIA": ("vllm", "tensorrt-llm", "llama-cpp"),
    "AMD": ("vllm", "llama-cpp"),
    "Intel": ("vllm", "llama-cpp"),
    "Apple": ("llama-cpp", "mlx"),
    "Google": ("jetstream", "vllm"),
}
"""Engines that run on a maker's GPUs and TPUs; CPUs have one profile."""
_NEEDS_MORE = ("double_batch", "halve_devices", "engine")
"""Moves that may ask for more memory than the scenario they start from."""
Change = Mapping[str, Any]
"""Fields of a scenario that a move sets."""


@dataclass(frozen=True)
class Outcome:
    """What a scenario comes to; None where it does not fit or a price is not known."""

    fits: bool
    tokens_per_s_per_user: float | None
    output_tokens_per_s: float | None
    """At a request rate: the most that the system keeps up with."""
    ttft_s: float | None
    usd_per_million_output_tokens: float | None
    usd_per_hour: float | None


NOTHING = Outcome(False, None, None, None, None, None)


@dataclass(frozen=True)
class Move:
    """One change and what it leads to."""

    kind: Kind
    value: str
    """What the changed field becomes."""
    scenario: Scenario
    after: Outcome
    gain_tokens_per_s: float
    """Of total output."""
    gain_for_one_tokens_per_s: float
    """Of one user's speed."""
    usd_per_hour_more: float | None
    """What an hour costs more; None where a price is not known and the devices are others."""

    @property
    def gain_tokens_per_usd(self) -> float | None:
        """Tokens of total output for every dollar more; None where an hour costs no more, or its price is not known."""
        return gain_per_usd(self.gain_tokens_per_s, self.usd_per_hour_more)

    @property
    def same_question(self) -> bool:
        """Whether it leaves what people ask alone."""
        return self.kind != "halve_prompt"


@dataclass(frozen=True)
class Moves:
    """Where a scenario stands, and its moves, most helpful first."""

    now: Outcome
    ranked: tuple[Move, ...]
    best: Move | None
    """The first that gains something and answers the same question."""
    best_for_one: Move | None
    """The same with the speed of one user in the place of total output."""


def moves(report: Report, constants: Mapping[str, float] | None = None) -> Moves:
    """Every legal single change of a scenario, ranked; ``constants`` as they were given to `evaluate`."""
    now = outcome(report)
    tried = (_moved(report, now, kind, change, constants) for kind, change in _changes(report))
    found = _fastest_engine([move for move in tried if move is not None])
    ranked = tuple(sorted(found, key=lambda move: _order(move, move.gain_tokens_per_s)))
    for_one = sorted(found, key=lambda move: _order(move, move.gain_for_one_tokens_per_s))
    total, one = (LEAST_GAIN * (value or 0.0) for value in (now.output_tokens_per_s, now.tokens_per_s_per_user))
    return Moves(
        now,
        ranked,
        next((move for move in ranked if move.gain_tokens_per_s > total and move.same_question), None),
        next((move for move in for_one if move.gain_for_one_tokens_per_s > one and move.same_question), None),
    )


def outcome(report: Report) -> Outcome:
    """The numbers that moves are held against."""
    scenario, sustained, times = report.scenario, report.sustained_requests_per_s, report.expected
    capacity = None if sustained is None else sustained * scenario.output_tokens or None
    if not report.memory.fits:
        return Outcome(False, None, capacity, None, None, report.cost.usd_per_hour)
    return Outcome(
        fits=True,
        tokens_per_s_per_user=float(times.tokens_per_s_per_user),
        output_tokens_per_s=float(times.output_tokens_per_s) if capacity is None else capacity,
        ttft_s=float(times.ttft_s),
        usd_per_million_output_tokens=report.cost.usd_per_million_output_tokens,
        usd_per_hour=report.cost.usd_per_hour,
    )


def _moved(report: Report, now: Outcome, kind: Kind, change: Change, constants: Mapping[str, float] | None) -> Move | None:
    """A change that is tried; None where it cannot be."""
    scenario = report.scenario.model_copy(update=dict(change))
    may_need_more = kind in _NEEDS_MORE or not now.fits
    try:
        after = NOTHING if may_need_more and too_large(scenario) else outcome(evaluate(scenario, constants))
    except RooflineError:
        return None
    return Move(
        kind=kind,
        value=str(next(iter(change.values()))),
        scenario=scenario,
        after=after,
        gain_tokens_per_s=(after.output_tokens_per_s or 0.0) - (now.output_tokens_per_s or 0.0),
        gain_for_one_tokens_per_s=(after.tokens_per_s_per_user or 0.0) - (now.tokens_per_s_per_user or 0.0),
        usd_per_hour_more=_usd_more(kind, now.usd_per_hour, after.usd_per_hour),
    )


def too_large(scenario: Scenario) -> bool:
    """Whether a load does not fit, at once: an evaluation would also look for what does."""
    plain = scenario.offload != "auto" and scenario.prefill_devices is None and scenario.request_rate is None
    return plain and not carries(scenario)


def _usd_more(kind: Kind, now: float | None, after: float | None) -> float | None:
    if now is not None and after is not None:
        return after - now
    return None if kind in ("bigger_device", "double_devices", "halve_devices") else 0.0


def gain_per_usd(gain_tokens_per_s: float, usd_per_hour_more: float | None) -> float | None:
    """Tokens gained for every dollar more; None where an hour costs no more.

    >>> gain_per_usd(100.0, 2.0), gain_per_usd(100.0, 0.0)
    (180000.0, None)
    """
    if usd_per_hour_more is None or usd_per_hour_more <= 0:
        return None
    return gain_tokens_per_s * SECONDS_PER_HOUR / usd_per_hour_more


def _order(move: Move, gain_tokens_per_s: float) -> tuple[int, float]:
    """Free gains, paid gains, gains of unknown price, the rest by the price of a token."""
    if gain_tokens_per_s <= 0:
        price = move.after.usd_per_million_output_tokens
        return (4, 0.0) if price is None else (3, price)
    paid = gain_per_usd(gain_tokens_per_s, move.usd_per_hour_more)
    if paid is not None:
        return 1, -paid
    return (2 if move.usd_per_hour_more is None else 0), -gain_tokens_per_s


def _fastest_engine(found: list[Move]) -> list[Move]:
    """Of other engines only the one with the highest output."""
    engines = [move for move in found if move.kind == "engine"]
    kept = max(engines, key=lambda move: move.gain_tokens_per_s, default=None)
    return [move for move in found if move.kind != "engine" or move is kept]


def _changes(report: Report) -> Iterator[tuple[Kind, Change]]:
    """Every change to try."""
    for kind, find in _FINDERS.items():
        for change in find(report):
            yield kind, change


def _double_batch(report: Report) -> Iterator[Change]:
    if report.scenario.batch is not None:
        yield {"batch": 2 * report.scenario.batch}


def _halve_batch(report: Report) -> Iterator[Change]:
    if report.scenario.request_rate is None and report.batch > 1:
        yield {"batch": report.batch // 2}


def _halve_weights(report: Report) -> Iterator[Change]:
    """To half the bits; where the load does not fit, to the widest format in which it does."""
    if report.memory.fitting_weights is not None:
        yield {"weights": report.memory.fitting_weights}
        return
    found = resolve(report.scenario.model_copy(update={"offload": report.offload}))
    now = BITS_PER_BYTE * weight_bytes(found.model, found.formats.weights_id) / found.structure.n_parameters
    narrower = (name for name in found.engine.weight_ladder if load_format(name).bits_per_weight <= HALF_BITS * now)
    yield from ({"weights": name} for name in list(narrower)[:1])


def _halve_cache(report: Report) -> Iterator[Change]:
    engine = resolve(report.scenario.model_copy(update={"offload": report.offload})).engine
    now = load_format(report.formats.kv_cache).bits_per_weight
    narrower = (name for name in engine.cache_ladder if load_format(name).bits_per_weight <= HALF_BITS * now)
    yield from ({"kv_cache": name} for name in list(narrower)[:1])


def _bigger_device(report: Report) -> Iterator[Change]:
    """A price of one's own belongs to the device it was given for: the other one's is the market's."""
    scenario = report.scenario
    owned = scenario.ownership not in (None, Ownership(), Ownership(power_only=True))
    bigger = None if owned else bigger_device(scenario.hardware)
    if bigger is not None:
        memory_gib = scenario.memory_gib if load_hardware(bigger).configurable_memory else None
        yield {"hardware": bigger, "usd_per_device_hour": None, "memory_gib": memory_gib}


def bigger_device(hardware: str) -> str | None:
    """The next bigger device of the same maker and kind that has a price, no older: the least memory times bandwidth.

    >>> bigger_device("h100-sxm"), bigger_device("rtx4090"), bigger_device("rtx3090+rtx4090")
    ('h200-sxm', 'rtx5090', None)
    """
    if is_mixed(hardware) or is_own_device(hardware):
        return None
    device = load_hardware(hardware)
    others = (load_hardware(ref) for ref in hardware_ids())
    bigger = [other for other in others if _is_bigger(other, device)]
    return min(bigger, key=lambda d: d.memory_bytes * d.bandwidth_bytes_per_s).id if bigger else None


def _is_bigger(other: Accelerator, device: Accelerator) -> bool:
    same_kind = (other.vendor, other.category) == (device.vendor, device.category)
    if not same_kind or not other.prices or other.year < device.year:
        return False
    memory, bandwidth = other.memory_bytes / device.memory_bytes, other.bandwidth_bytes_per_s / device.bandwidth_bytes_per_s
    return max(memory, bandwidth) >= BIGGER and min(memory, bandwidth, _wide_peak(other) / _wide_peak(device)) >= 1.0


def _wide_peak(device: Accelerator) -> float:
    """Dense 16-bit peak, the best published one where there is none."""
    wide = [fact.base for dtype, fact in device.peaks.items() if dtype in ("bf16", "fp16")]
    return max(wide or [fact.base for fact in device.peaks.values()] or [1.0])


def _double_devices(report: Report) -> Iterator[Change]:
    if not is_mixed(report.scenario.hardware):
        yield {"devices": 2 * report.scenario.devices}


def _halve_devices(report: Report) -> Iterator[Change]:
    devices = report.scenario.devices
    if not is_mixed(report.scenario.hardware) and devices % 2 == 0:
        yield {"devices": devices // 2}


def _engine(report: Report) -> Iterator[Change]:
    found = resolve(report.scenario.model_copy(update={"offload": report.offload}))
    if "CPU" in found.accelerator.category:
        return
    for ref in _ENGINES.get(found.accelerator.vendor, ()):
        if ref != found.engine.id:
            yield {"engine": ref}


def _free_plan(report: Report) -> Iterator[Change]:
    if any(getattr(report.scenario, name) is not None for name in WAYS):
        yield dict.fromkeys(WAYS)


def _halve_prompt(report: Report) -> Iterator[Change]:
    if report.scenario.input_tokens > 1:
        yield {"input_tokens": report.scenario.input_tokens // 2}


_FINDERS: dict[Kind, Callable[[Report], Iterator[Change]]] = {
    "double_batch": _double_batch,
    "halve_batch": _halve_batch,
    "halve_weights": _halve_weights,
    "halve_cache": _halve_cache,
    "bigger_device": _bigger_device,
    "double_devices": _double_devices,
    "halve_devices": _halve_devices,
    "engine": _engine,
    "free_plan": _free_plan,
    "halve_prompt": _halve_prompt,
}
