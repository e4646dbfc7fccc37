"""What a machine can run: every model of the catalogue in the formats that are usual with its engine, for one person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from roofline.answers.economics import device_price, usd_per_million
from roofline.answers.evaluate import Brief, brief, workload
from roofline.answers.longest_context import most_context_tokens
from roofline.answers.replicas import NARROW, Narrow, weight_formats
from roofline.answers.report import Bound
from roofline.answers.resolve import Resolved, resolve
from roofline.catalog.boxes import box_devices, has_host_memory
from roofline.catalog.models import model_ids
from roofline.errors import InputError, MissingFactError, PlanError
from roofline.language import tr
from roofline.performance.counts import parameter_counts
from roofline.performance.planning import room_for
from roofline.performance.sharding import candidates
from roofline.specs.advice import MachineQuery
from roofline.specs.scenario import Scenario
from roofline.specs.search import AS_STORED
from roofline.units import significant

_GGUF = (("q8_0", None), ("q6_k", None), ("q5_k_m", None), ("q4_k_m", None), ("q3_k_m", None))
USUAL_FORMATS: Narrow = {**NARROW, "llama.cpp": _GGUF, "cpu": _GGUF}
"""Formats that people use beside the stored one by kind of engine, each with the unit that it asks for."""
_OFFLOADED_FORMATS = ("q8_0", "q4_k_m")
"""Formats tried beside the stored one where host memory helps: what is read from it is slow, so that narrow weights pay."""


@dataclass(frozen=True)
class Run:
    """One model in one format on the machine, for one person."""

    scenario: Scenario
    """Evaluated, it gives these numbers."""
    model_name: str
    n_parameters: int
    n_active_parameters: int
    weights: str
    tokens_per_s: float
    tokens_per_s_low: float
    tokens_per_s_high: float
    prefill_tokens_per_s: float
    ttft_s: float
    bound: Bound
    """Of decode."""
    most_context_tokens: int
    """Prompt and answer that fit for one sequence, whatever the model was trained for; where memories differ, at least."""
    trained_context_tokens: int | None
    used_bytes_per_device: float
    usable_bytes_per_device: float
    electricity_usd_per_million_output_tokens: float | None
    comfortable: bool
    """Whether it keeps the wishes."""


@dataclass(frozen=True)
class MachineAdvice:
    """Everything that fits."""

    query: MachineQuery
    hardware_name: str
    sentence: str
    runs: tuple[Run, ...]
    """The comfortable ones first, the largest before smaller ones, the widest format before narrower ones; then by speed."""
    n_models: int
    """Tried."""
    n_models_fitting: int
    n_models_comfortable: int
    problems: tuple[str, ...]
    """Why models could not be tried at all."""


def machine_advice(query: MachineQuery) -> MachineAdvice:
    """What a machine runs, how fast, and with how much room; each row is what `evaluate` says of its scenario.

    Raises
    ------
    RooflineError
        The machine does not exist or cannot be: one sentence says what would be right.
    """
    devices = box_devices(query.machine.hardware)
    if query.offload and not all(has_host_memory(device) for _, device in devices):
        raise InputError(
            tr("{hardware} has no host memory beside its own: leave offloading out.", hardware=query.machine.hardware)
        )
    problems: dict[str, None] = {}
    found: list[Run] = []
    for model in model_ids():
        try:
            found += _of_model(query, model)
        except (MissingFactError, PlanError) as error:
            problems[str(error)] = None
    runs = tuple(sorted(found, key=_rank))
    names = {run.model_name for run in runs}, {run.model_name for run in runs if run.comfortable}
    advice = MachineAdvice(
        query=query,
        hardware_name=" + ".join(device.name for _, device in devices),
        sentence="",
        runs=runs,
        n_models=len(model_ids()),
        n_models_fitting=len(names[0]),
        n_models_comfortable=len(names[1]),
        problems=tuple(problems),
    )
    return replace(advice, sentence=_sentence(advice))


def _rank(run: Run) -> tuple[bool, float, float]:
    if not run.comfortable:
        return True, -run.tokens_per_s, 0.0
    return False, -run.n_parameters, -run.used_bytes_per_device


def _of_model(query: MachineQuery, model: str) -> Iterator[Run]:
    """Every format of one model that fits, and what fits with the host's help."""
    stored = resolve(query.scenario(model, None))
    formats = query.formats or weight_formats(stored, USUAL_FORMATS)
    for name in dict.fromkeys(None if text == AS_STORED else text for text in formats):
        scenario = query.scenario(model, name)
        found = stored if name is None else resolve(scenario)
        if _fits(scenario, found):
            yield _run(query, brief(scenario, found), found)
        elif query.offload and name in (None, *_OFFLOADED_FORMATS):
            yield from _with_host(query, scenario, found)


def _fits(scenario: Scenario, found: Resolved) -> bool:
    """Whether some plan holds one sequence."""
    room = room_for(
        found.structure, candidates(found.structure, found.request), found.formats, found.machine, workload([scenario])
    )
    return bool(np.any(np.asarray(room.max_batch) >= 1.0))


def _with_host(query: MachineQuery, scenario: Scenario, found: Resolved) -> Iterator[Run]:
    """The faster of leaving experts or layers to the host, where one of them fits."""
    kinds = ("layers",) if found.structure.routing is None else ("experts", "layers")
    tried: list[tuple[Brief, Resolved]] = []
    for kind in kinds:
        divided = scenario.model_copy(update={"offload": kind})
        try:
            placed = resolve(divided)
        except InputError:  # no engine of this device leaves that to a host
            continue
        if _fits(divided, placed):
            tried.append((brief(divided, placed), placed))
    if tried:
        yield _run(query, *max(tried, key=lambda pair: float(pair[0].speeds.expected.tokens_per_s_per_user)))


def _run(query: MachineQuery, at: Brief, found: Resolved) -> Run:
    scenario, expected = at.scenario, at.speeds.expected
    speed, most = float(expected.tokens_per_s_per_user), most_context_tokens(scenario, found)
    counts = parameter_counts(found.model)
    usd = usd_per_million(scenario, device_price(scenario, found.price), expected.output_tokens_per_s, at.decode_load_frac)
    return Run(
        scenario=scenario,
        model_name=found.model.name,
        n_parameters=counts.total,
        n_active_parameters=counts.active,
        weights=found.formats.weights_label,
        tokens_per_s=speed,
        tokens_per_s_low=float(at.speeds.low.tokens_per_s_per_user),
        tokens_per_s_high=float(at.speeds.high.tokens_per_s_per_user),
        prefill_tokens_per_s=float(expected.prefill_tokens_per_s),
        ttft_s=float(expected.ttft_s),
        bound=at.bound,
        most_context_tokens=most,
        trained_context_tokens=found.model.trained_context,
        used_bytes_per_device=float(at.memory.used_bytes_per_device),
        usable_bytes_per_device=float(at.memory.usable_bytes_per_device),
        electricity_usd_per_million_output_tokens=None if usd is None else float(usd),
        comfortable=speed >= query.least_tokens_per_s and most >= query.least_context_tokens,
    )


def _sentence(found: MachineAdvice) -> str:
    """What the machine is good for."""
    machine, of = f"{found.query.machine.devices} x {found.hardware_name}", found.n_models
    if not found.runs:
        return tr(
            "None of {of} models fits on {machine}: a smaller prompt, or memory of a host, may help.", of=of, machine=machine
        )
    best = found.runs[0]
    told = {"n": found.n_models_fitting, "of": of, "machine": machine}
    told |= {"model": best.model_name, "speed": significant(best.tokens_per_s)}
    if not best.comfortable:
        return tr(
            "{n} of {of} models fit on {machine}, none as wished; the fastest is {model} at {speed} tokens/s.",
            **told,
        )
    return tr(
        "{n} of {of} models fit on {machine}, {kept} of them at {wish:g} tokens/s or more. The largest of these is {model} "
        "(weights {weights}): {speed} tokens/s.",
        kept=found.n_models_comfortable,
        wish=found.query.least_tokens_per_s,
        weights=best.weights,
        **told,
    )
