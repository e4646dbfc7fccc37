"""Several scenarios side by side: what differs between them, their headline numbers, and how far each is from the first."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from roofline.answers.curves import batch_curve
from roofline.answers.evaluate import evaluate
from roofline.answers.placing import settled
from roofline.answers.report import BatchCurve, Report
from roofline.answers.resolve import resolve
from roofline.catalog.formats import load_format
from roofline.catalog.models import load_model
from roofline.errors import RooflineError
from roofline.language import tr
from roofline.specs.scenario import Scenario, is_mixed

Kind = Literal["rate", "time", "money", "bytes", "count"]
Better = Literal["more", "less", "neither"]
_HALF = 0.65
"""Share of bits that counts as half: groups of 4 bits carry their scales."""
_ALIKE = 0.02
"""Numbers closer than this share of one another are told as alike."""


@dataclass(frozen=True)
class Entry:
    """One scenario with its answer, or why there is none."""

    letter: str
    scenario: Scenario
    report: Report | None
    reason: str
    """Empty where there are numbers."""

    @property
    def answered(self) -> Report | None:
        """The report, where the load is carried."""
        return self.report if self.report is not None and self.report.memory.fits and not self.reason else None


@dataclass(frozen=True)
class Difference:
    """A field that is not the same everywhere."""

    field: str
    values: dict[str, object]
    """Letter -> what was asked; ``None``: left to the program."""


@dataclass(frozen=True)
class Measure:
    """One number with its band, and the limit that nothing real beats."""

    value: float
    low: float | None = None
    high: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Headline:
    """One number of every scenario."""

    name: str
    kind: Kind
    better: Better
    values: dict[str, Measure | None]
    best: tuple[str, ...]
    """Letters of the best, those alike with it among them; none where fewer than two have the number."""


@dataclass(frozen=True)
class Delta:
    """How far one number is from that of the first scenario."""

    letter: str
    name: str
    ratio: float
    """Its value over that of the first."""
    change: float
    """Ratio less one."""
    alike: bool
    bands_overlap: bool


@dataclass(frozen=True)
class Comparison:
    """Two to four scenarios side by side."""

    entries: tuple[Entry, ...]
    differences: tuple[Difference, ...]
    headlines: tuple[Headline, ...]
    deltas: tuple[Delta, ...]


HEADLINES: tuple[tuple[str, Kind, Better], ...] = (
    ("tokens_per_s_per_user", "rate", "more"),
    ("output_tokens_per_s", "rate", "more"),
    ("ttft_s", "time", "less"),
    ("usd_per_million_output_tokens", "money", "less"),
    ("usd_per_hour", "money", "less"),
    ("used_bytes_per_device", "bytes", "neither"),
    ("max_batch", "count", "more"),
)


def compare(scenarios: Mapping[str, Scenario]) -> Comparison:
    """Answer every scenario and set them side by side; the first is what the others are held against.

    Assumptions: a scenario without an answer stays in the comparison with its reason.

    >>> a = Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8)
    >>> found = compare({"a": a, "b": a.model_copy(update={"batch": 16})})
    >>> [difference.field for difference in found.differences], [entry.letter for entry in found.entries]
    (['batch'], ['a', 'b'])
    """
    entries = tuple(_entry(letter, scenario) for letter, scenario in scenarios.items())
    headlines = tuple(_headline(entries, *spec) for spec in HEADLINES)
    return Comparison(entries, differences(scenarios), headlines, _deltas(entries, headlines))


def differences(scenarios: Mapping[str, Scenario]) -> tuple[Difference, ...]:
    """Fields whose value is not the same in every scenario, in the order of a scenario."""
    found = (Difference(name, {k: getattr(s, name) for k, s in scenarios.items()}) for name in Scenario.model_fields)
    return tuple(item for item in found if any(value != next(iter(item.values.values())) for value in item.values.values()))


def variants(scenario: Scenario) -> dict[str, Scenario]:
    """Questions worth holding against a scenario: one thing changed in each; what cannot be is left out.

    >>> list(variants(Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8)))
    ['copy', 'devices', 'bits', 'batch']
    """
    found = {"copy": scenario}
    if not is_mixed(scenario.hardware):
        found["devices"] = scenario.model_copy(update={"devices": 2 * scenario.devices})
    smaller = _half_bits(scenario)
    if smaller is not None:
        found["bits"] = scenario.model_copy(update={"weights": smaller})
    if scenario.batch is not None:
        found["batch"] = scenario.model_copy(update={"batch": 2 * scenario.batch})
    return found


def _half_bits(scenario: Scenario) -> str | None:
    """The first format of the engine's ladder with half the bits; none where there is none, or no engine."""
    bits = load_format(scenario.weights or load_model(scenario.model).stored_format).bits_per_weight
    try:
        ladder = resolve(settled(scenario)[0]).engine.weight_ladder
    except RooflineError:
        return None
    return next((name for name in ladder if load_format(name).bits_per_weight <= _HALF * bits), None)


def curves(found: Comparison) -> dict[str, BatchCurve]:
    """Every answered scenario against the batch, by letter."""
    return {entry.letter: batch_curve(entry.answered) for entry in found.entries if entry.answered is not None}


def _entry(letter: str, scenario: Scenario) -> Entry:
    try:
        report = evaluate(scenario)
    except RooflineError as error:
        return Entry(letter, scenario, None, str(error))
    except Exception:
        logging.getLogger(__name__).exception("a scenario of a comparison could not be answered")
        return Entry(letter, scenario, None, tr("something went wrong on our side"))
    return Entry(letter, scenario, report, "" if report.memory.fits else report.sentence)


def _headline(entries: tuple[Entry, ...], name: str, kind: Kind, better: Better) -> Headline:
    values = {entry.letter: None if entry.answered is None else _measure(entry.answered, name) for entry in entries}
    known = {letter: measure.value for letter, measure in values.items() if measure is not None}
    best: tuple[str, ...] = ()
    if len(known) > 1 and better != "neither":
        top = max(known.values()) if better == "more" else min(known.values())
        best = tuple(letter for letter, value in known.items() if abs(value - top) <= _ALIKE * abs(top))
    return Headline(name, kind, better, values, best if len(best) < len(known) else ())


def _measure(report: Report, name: str) -> Measure | None:
    cost, memory = report.cost, report.memory
    if name == "usd_per_million_output_tokens":
        low, high = cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high
        return _known(cost.usd_per_million_output_tokens, low, high, cost.usd_per_million_output_tokens_at_limit)
    if name == "usd_per_hour":
        return _known(cost.usd_per_hour)
    if name in ("used_bytes_per_device", "max_batch"):
        return _known(float(getattr(memory, name)))
    times = (report.expected, report.expected_low, report.expected_high, report.limit)
    return _known(*(float(getattr(each, name)) for each in times))


def _known(value: float | None, *others: float | None) -> Measure | None:
    return None if value is None or not isfinite(value) else Measure(value, *others)


def _deltas(entries: tuple[Entry, ...], headlines: tuple[Headline, ...]) -> tuple[Delta, ...]:
    first = entries[0].letter
    found = []
    for headline in headlines:
        base = headline.values[first]
        for letter, measure in headline.values.items():
            if letter != first and base is not None and measure is not None and base.value > 0:
                found.append(_delta(letter, headline.name, base, measure))
    return tuple(found)


def _delta(letter: str, name: str, base: Measure, other: Measure) -> Delta:
    ratio = other.value / base.value
    return Delta(letter, name, ratio, ratio - 1.0, abs(ratio - 1.0) <= _ALIKE, _overlap(base, other))


def _overlap(one: Measure, other: Measure) -> bool:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high
