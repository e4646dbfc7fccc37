"""Predictions against public measurements: every row with its limit, expectation, band and error, and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from roofline.answers.mapping import Case, case
from roofline.answers.resolve import Resolved, resolve
from roofline.catalog.measurements import BadRow, Measurement, measurements, read_measurements
from roofline.errors import RooflineError
from roofline.language import cached, later, tr
from roofline.performance.ledger import cache_bytes_per_sequence
from roofline.performance.memory import footprint, weight_bytes_per_device
from roofline.performance.serving import (
    SCHEDULER_SEQUENCES,
    Course,
    concurrency,
    few_requests,
    mean_context_tokens,
    offered_rate,
    prompts_course,
    saturated,
    service,
    static_batch,
)
from roofline.performance.sharding import Shard, candidates
from roofline.performance.steps import Setting

GROUPS = ("kind", "phase", "source", "hardware", "engine")
"""What errors are summed up by."""
NO_TIME = later("its lengths and batch make no work whose time could be predicted")
SLACK = 1e-9
"""A rate counts as above the limit from this share on."""


@dataclass(frozen=True)
class Comparison:
    """One row: all numbers in the row's own unit; ``None`` where it cannot be predicted."""

    id: str
    kind: str
    source: str
    hardware: str
    model: str
    engine: str
    weights: str
    devices: str
    batch: str
    input_length: str
    output_length: str
    """These five as printed in the table."""
    address: str
    """Where the source is."""
    metric: str
    phase: str
    """What the number tells of: decode, prefill, or whole requests; empty where it cannot be predicted."""
    is_rate: bool
    """More is better."""
    measured: float | None
    limit: float | None
    expected: float | None
    low: float | None
    high: float | None
    error: float | None
    """Expected over measured, less one."""
    valid: bool
    """Whether the row counts in summaries."""
    beats_limit: bool
    inside_band: bool
    reason: str
    """Why it could not be predicted, or does not count."""


@dataclass(frozen=True)
class Summary:
    """Errors of a group of rows that count."""

    by: str
    name: str
    n: int
    median_error: float
    p90_error: float
    bias: float
    """Median of expected over measured speed, less one: above nought the prediction is too fast."""
    inside_band: float


@dataclass(frozen=True)
class Validation:
    """Every row, and summaries by kind, phase, source, hardware and engine."""

    rows: tuple[Comparison, ...]
    summaries: tuple[Summary, ...]


@dataclass(frozen=True)
class Prediction:
    """A row's wall times before they become its number."""

    found: Resolved
    case: Case
    course: Course
    limit_s: float
    band: tuple[float, float]


def validate(path: Path | None = None) -> Validation:
    """Compare the shipped measurements, or those of a file in the same form, with predictions."""
    good, bad = (measurements(), ()) if path is None else read_measurements(path)
    return validation([compare(row) for row in good] + [unreadable(row) for row in bad])


@cached(maxsize=None)
def shipped_validation() -> Validation:
    """The shipped measurements against predictions, worked out once a language."""
    return validate()


def validation(rows: Sequence[Comparison]) -> Validation:
    """Rows with their summaries."""
    return Validation(rows=tuple(rows), summaries=_summaries(rows))


def compare(row: Measurement, constants: Mapping[str, float] | None = None) -> Comparison:
    """One row against its prediction, under shares of one's own if given; what cannot be predicted comes with the reason."""
    try:
        with np.errstate(all="ignore"):
            prediction = predict(case(row), constants)
    except (RooflineError, ValueError) as error:
        return without_prediction(row, " ".join(str(error).split()))
    except ArithmeticError:
        return without_prediction(row, tr(NO_TIME))
    found = prediction.case
    expected_s = max(float(prediction.course.expected_s), prediction.limit_s)
    if not (np.isfinite(expected_s) and prediction.limit_s > 0.0 and found.scale > 0.0):
        return without_prediction(row, tr(NO_TIME))
    short, long = (max(expected_s * end, prediction.limit_s) for end in prediction.band)
    limit, expected = found.value(prediction.limit_s), found.value(expected_s)
    low, high = sorted((found.value(short), found.value(long)))
    beaten = row.value > limit * (1.0 + SLACK) if found.is_rate else row.value < limit * (1.0 - SLACK)
    return Comparison(
        **_names(row, found.scenario.engine),
        phase=phase_of(found),
        is_rate=found.is_rate,
        measured=row.value,
        limit=limit,
        expected=expected,
        low=low,
        high=high,
        error=expected / row.value - 1.0,
        valid=not found.doubt,
        beats_limit=beaten,
        inside_band=low <= row.value <= high,
        reason=found.doubt,
    )


def phase_of(found: Case) -> str:
    """What a row's number tells of: decode steps, prefill, or whole requests."""
    if found.way == "prompt":
        return "prefill"
    return "decode" if found.way in ("step", "rate") or found.row.metric == "TPOT ms" else "request"


def predict(found: Case, constants: Mapping[str, float] | None = None) -> Prediction:
    """The course of steps a row stands for, and its limit; ``constants`` take the place of the engine's shares."""
    facts = resolve(found.scenario, constants)
    shard = candidates(facts.structure, facts.request).scalar()
    setting = Setting(facts.structure, shard, facts.formats, facts.machine)
    course, limit = _WAYS[found.way](found, facts, setting)
    engine = facts.engine
    band = engine.request_time_band
    if found.way == "prompt":
        band = engine.prefill_time_band
    elif found.way in ("step", "rate"):
        band = engine.decode_time_band
    return Prediction(facts, found, course, limit, band)


def _step(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    context = mean_context_tokens(found.prompt_tokens, found.output_tokens)
    course = Course(((1.0, setting.decode(found.batch, context, found.output_tokens)),))
    return course, float(course.limit_s)


def _prompt(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    course = prompts_course(setting, max(found.batch, 1.0), found.prompt_tokens, found.cached_tokens)
    return course, float(course.parts[0][1].limit_s / setting.shard.pipeline)


def _static(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    course = static_batch(setting, found.batch, found.prompt_tokens, found.output_tokens)
    return course, _least_request_s(found, setting, found.batch)


def _saturated(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    """Per sequence: as many as fit, or as the queue holds."""
    queue = found.n_requests or float("inf")
    batch = min(_room(found, setting), queue)
    lengths = (found.prompt_tokens, found.output_tokens)
    if np.isfinite(queue):
        course = few_requests(setting, queue, batch, *lengths).times(1.0 / queue)
    else:
        course = saturated(setting, batch, *lengths).times(1.0 / batch)
    most = min(_most(found, setting), queue)
    return course, _least_request_s(found, setting, most) / most


def _concurrency(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    """A turnover per sequence, or per token of one where the row tells the time between tokens."""
    room = _room(found, setting)
    course = concurrency(setting, found.batch, room, found.prompt_tokens, found.output_tokens)
    if found.row.metric == "TPOT ms":
        context = mean_context_tokens(found.prompt_tokens, found.output_tokens)
        step = setting.decode(found.batch, context, found.output_tokens)
        shorter = setting.decode(min(found.batch, room), context, found.output_tokens)
        return course.times(1.0 / found.output_tokens), float(min(step.limit_s, shorter.limit_s))
    batch, most = min(found.batch, room), min(found.batch, _most(found, setting))
    return course.times(1.0 / batch), _least_request_s(found, setting, most) / most


def _rate(found: Case, facts: Resolved, setting: Setting) -> tuple[Course, float]:
    """The time between tokens; or, for rates, time per sequence of a full server or of arrivals, whichever is longer."""
    room = _room(found, setting)
    lengths = (found.prompt_tokens, found.output_tokens)
    if found.row.metric == "TPOT ms":
        alone = setting.decode(1.0, found.prompt_tokens)
        if not np.isfinite(found.batch):
            return saturated(setting, room, *lengths).times(1.0 / found.output_tokens), float(alone.limit_s)
        return offered_rate(setting, found.batch, room, *lengths, found.n_requests or np.inf), float(alone.limit_s)
    queue = found.n_requests or np.inf
    batch, most = min(room, queue), min(_most(found, setting), queue)
    full = saturated(setting, batch, *lengths).times(1.0 / batch)
    limit = _least_request_s(found, setting, most) / most
    if not np.isfinite(found.batch):
        return full, limit
    share = max(1.0, 1.0 / found.batch / float(full.expected_s))
    # the clock runs until the last request is done: its own time is spread over all
    last = offered_rate(setting, found.batch, room, *lengths, queue).times(found.output_tokens / queue)
    return full.times(share).then(last), max(limit, 1.0 / found.batch)


_WAYS: dict[str, Callable[[Case, Resolved, Setting], tuple[Course, float]]] = {
    "step": _step,
    "prompt": _prompt,
    "static": _static,
    "saturated": _saturated,
    "concurrency": _concurrency,
    "rate": _rate,
}


def _room(found: Case, setting: Setting) -> float:
    """Sequences that fit, as an engine reserves memory, within what its scheduler runs at once."""
    tokens = found.prompt_tokens + found.output_tokens
    room = footprint(setting.structure, tokens, found.prompt_tokens, setting.shard, setting.formats, setting.machine)
    cap = SCHEDULER_SEQUENCES * float(setting.shard.groups)
    return max(1.0, min(float(room.max_batch), cap))


def _most(found: Case, setting: Setting) -> float:
    """Sequences whose mean cache would fill all memory beside the weights: more cannot run at once on average."""
    context = mean_context_tokens(found.prompt_tokens, found.output_tokens)
    shard: Shard = setting.shard
    per_element = setting.formats.cache_bytes_per_element
    each = cache_bytes_per_sequence(setting.structure, context, shard, per_element) / shard.pipeline
    free = setting.machine.usable_bytes - weight_bytes_per_device(setting.structure, shard)
    return float(max(1.0, free / each * shard.groups))


def _least_request_s(found: Case, setting: Setting, batch: float) -> float:
    """Least wall time in which a batch is prefilled and decoded."""
    s = setting
    result = service(s.structure, s.shard, s.formats, s.machine, batch, found.prompt_tokens, found.output_tokens)
    return float(result.limit_request_s)


def _names(row: Measurement, engine: str) -> dict[str, str]:
    return {
        "id": row.id,
        "kind": row.kind,
        "source": row.source_name,
        "hardware": row.hardware_id,
        "model": row.model_id,
        "engine": engine,
        "weights": row.weight_format,
        "devices": row.n_devices,
        "batch": row.batch_or_concurrency,
        "input_length": row.input_len,
        "output_length": row.output_len,
        "address": row.source_url_or_repo_path,
        "metric": row.metric,
    }


def without_prediction(row: Measurement, reason: str) -> Comparison:
    """A row that cannot be predicted."""
    return Comparison(
        **_names(row, row.engine),
        phase="",
        is_rate=False,
        measured=row.value,
        limit=None,
        expected=None,
        low=None,
        high=None,
        error=None,
        valid=False,
        beats_limit=False,
        inside_band=False,
        reason=reason,
    )


def unreadable(row: BadRow) -> Comparison:
    """A row that is no measurement."""
    empty = Measurement.model_construct(id=row.id, kind="", hardware_id="", model_id="", metric="", value=float("nan"))
    return without_prediction(empty, row.reason)


def speed_ratio(row: Comparison) -> float:
    """Expected over measured speed of a row that counts: above one the prediction is too fast."""
    ratio = 1.0 + (row.error or 0.0)
    return ratio if row.is_rate else 1.0 / ratio


def counted(rows: Sequence[Comparison]) -> list[Comparison]:
    """The rows that errors are summed up over."""
    return [row for row in rows if row.valid and row.error is not None]


def summary(by: str, name: str, group: Sequence[Comparison]) -> Summary:
    """Errors of rows that count."""
    errors = np.abs([row.error or 0.0 for row in group])
    return Summary(
        by=by,
        name=name,
        n=len(group),
        median_error=float(np.median(errors)),
        p90_error=float(np.quantile(errors, 0.9)),
        bias=float(np.median([speed_ratio(row) for row in group])) - 1.0,
        inside_band=float(np.mean([row.inside_band for row in group])),
    )


def _summaries(rows: Sequence[Comparison]) -> tuple[Summary, ...]:
    known = counted(rows)
    return tuple(
        summary(by, name, [row for row in known if getattr(row, by) == name])
        for by in GROUPS
        for name in sorted({str(getattr(row, by)) for row in known})
    )
