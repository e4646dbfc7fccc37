"""The Compare page's sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from roofline.answers.compare import Comparison, Delta, Entry, Headline, Measure
from roofline.answers.field_map import FieldMap
from roofline.answers.report import BatchCurve, Report
from roofline.dashboard.bars import memory_bar, memory_span_bytes
from roofline.dashboard.choices import engine_words, format_words, hardware_words, model_words
from roofline.dashboard.fields import AUTO, FORMATS, LABELS
from roofline.dashboard.text import Markup, count_of, esc, table
from roofline.figures.compare_plot import LETTERS, Plot
from roofline.figures.theme import SERIES_MARKS, Palette
from roofline.figures.words import sig
from roofline.language import later, localised, tr
from roofline.specs.scenario import Scenario
from roofline.units import duration, memory_size

_TIMES = 1.5
"""From this ratio on, people say how many times."""
HEADLINE_WORDS = {
    "tokens_per_s_per_user": later("Tokens/s per user"),
    "output_tokens_per_s": later("Tokens/s in total"),
    "ttft_s": later("Time to first token"),
    "usd_per_million_output_tokens": later("USD per million output tokens"),
    "usd_per_hour": later("USD per hour, all devices"),
    "used_bytes_per_device": later("Memory used per device"),
    "max_batch": later("Most sequences at once"),
}
PLOT_WORDS: dict[Plot, str] = {
    "total": later("Total against batch"),
    "user": later("Per user against batch"),
    "cost": later("Speed against cost"),
}
VARIANT_WORDS = {
    "copy": later("A copy of A"),
    "devices": later("Twice the devices"),
    "bits": later("Half the bits"),
    "batch": later("Twice the batch"),
}
FIELD_WORDS: dict[str, str] = {
    **LABELS,
    "weights": later("Weights"),
    "activations": later("Activations"),
    "kv_cache": later("Cache (keys and values)"),
    "engine": later("Engine"),
    "attention_data_parallel": later("Attention in data parallel"),
}
_SENTENCES: dict[str, dict[str, str]] = {
    "tokens_per_s_per_user": {
        "alike": later("{b} is as fast per user as {a}."),
        "times": later("{b} is {ratio} times as fast per user as {a}."),
        "more": later("{b} is {percent} faster per user than {a}."),
        "less": later("{b} is {percent} slower per user than {a}."),
    },
    "output_tokens_per_s": {
        "alike": later("In total {b} delivers as much as {a}."),
        "times": later("In total {b} delivers {ratio} times as much as {a}."),
        "more": later("In total {b} delivers {percent} more than {a}."),
        "less": later("In total {b} delivers {percent} less than {a}."),
    },
    "usd_per_million_output_tokens": {
        "alike": later("An output token of {b} costs the same."),
        "times": later("An output token of {b} costs {ratio} times as much."),
        "more": later("An output token of {b} costs {percent} more."),
        "less": later("An output token of {b} costs {percent} less."),
    },
}
_PLACES = {
    "batch": later("{value} at once"),
    "input_tokens": later("a prompt of {value} tokens"),
    "output_tokens": later("an output of {value} tokens"),
    "devices": later("{value} devices"),
    "weights": later("weights in {value}"),
    "prefix_hit": later("{value} of the prompt in a cache"),
    "utilisation": later("{value} utilisation"),
}
_VALUES = {
    "user": later("{value} tokens/s per user"),
    "total": later("{value} tokens/s in total"),
    "usd": later("{value} USD per million output tokens"),
    "ttft": later("the first token after {value}"),
}
_TABLE_WORDS = {
    "alike": later("as A"),
    "times": later("{ratio} × A"),
    "more": later("{percent} more"),
    "less": later("{percent} less"),
}
NO_OTHERS = later("Nothing is compared yet. The scenario of the sidebar is A: add B and change something in it.")
SWAP_HELP = later("Anything that has no control here: swap with A, change it in the sidebar, and swap back.")
MAP_KEY = later("Stronger colour: better. Grey: does not fit. Broken lines: the same USD per million output tokens.")


def scenario_words(scenario: Scenario, report: Report | None) -> str:
    """A scenario in a line."""
    return tr(
        "{model} on {devices}, {load}",
        model=model_words(scenario.model),
        devices=count_of(scenario, hardware_words(scenario.hardware)),
        load=_load(scenario, report),
    )


def _load(scenario: Scenario, report: Report | None) -> str:
    if scenario.request_rate is not None:
        return tr("{rate:,.6g} requests/s", rate=scenario.request_rate)
    return tr("batch {batch}", batch=_batch(scenario, report))


def _batch(scenario: Scenario, report: Report | None) -> str:
    if scenario.batch is not None:
        return localised(f"{scenario.batch:,}")
    return tr("the most that fit") if report is None else tr("{batch:,}, the most that fit", batch=report.batch)


def legend_html(found: Comparison, palette: Palette) -> str:
    """Every scenario with its colour and mark."""
    return f'<ul class="rf-legend">{"".join(_legend_line(entry, found, palette) for entry in found.entries)}</ul>'


def _legend_line(entry: Entry, found: Comparison, palette: Palette) -> str:
    words = ", ".join((scenario_words(entry.scenario, entry.report), *_also_differs(entry, found)))
    return f"<li>{_mark(entry.letter, palette)} <strong>{entry.letter.upper()}</strong> {esc(words)}</li>"


def _also_differs(entry: Entry, found: Comparison) -> Iterator[str]:
    """What is not the same everywhere and not in the scenario's words yet."""
    for item in found.differences:
        if item.field not in _IN_WORDS:
            label = tr(FIELD_WORDS.get(item.field, item.field))
            yield f"{label[:1].lower()}{label[1:]}: {value_words(item.field, item.values[entry.letter])}"


_IN_WORDS = ("model", "hardware", "devices", "batch", "request_rate")


def _mark(letter: str, palette: Palette) -> str:
    at = LETTERS.index(letter)
    return f'<span aria-hidden="true" style="color:{palette.kinds[at]}">{SERIES_MARKS[at]}</span>'


def answer_html(found: Comparison) -> str:
    """Who is faster and cheaper, in whole sentences; or why there are no numbers."""
    first, *others = found.entries
    lines = [_no_numbers(first)] if first.answered is None else []
    for entry in others:
        lines.append(_no_numbers(entry) if entry.answered is None else _sentences(entry, first, found))
    return "".join(f'<p class="rf-answer">{esc(line)}</p>' for line in lines if line)


def _no_numbers(entry: Entry) -> str:
    return f"{entry.letter.upper()}: {entry.reason[:1].upper()}{entry.reason[1:]}"


def _sentences(entry: Entry, first: Entry, found: Comparison) -> str:
    if entry.scenario == first.scenario:
        b, a = entry.letter.upper(), first.letter.upper()
        return tr("{b} is the same as {a} so far: change something in it.", b=b, a=a)
    own = {delta.name: delta for delta in found.deltas if delta.letter == entry.letter}
    return " ".join(delta_sentence(own[name], first.letter) for name in _SENTENCES if name in own)


def delta_sentence(delta: Delta, first: str) -> str:
    """One difference as a sentence.

    >>> delta_sentence(Delta("b", "tokens_per_s_per_user", 1.8, 0.8, False, False), "a")
    'B is 1.80 times as fast per user as A.'
    >>> delta_sentence(Delta("b", "usd_per_million_output_tokens", 0.7, -0.3, False, True), "a")
    'An output token of B costs 30% less.'
    """
    return tr(
        _SENTENCES[delta.name][_how(delta)],
        a=first.upper(),
        b=delta.letter.upper(),
        ratio=sig(delta.ratio),
        percent=localised(f"{abs(delta.change):.0%}"),
    )


def _how(delta: Delta) -> str:
    if delta.alike:
        return "alike"
    if delta.ratio >= _TIMES:
        return "times"
    return "more" if delta.ratio > 1 else "less"


def comparison_table(found: Comparison) -> str:
    """What is not the same everywhere, as asked for; then headline numbers with bands, and how far each is from A."""
    differing = [
        (tr(FIELD_WORDS.get(item.field, item.field)), *(value_words(item.field, value) for value in item.values.values()))
        for item in found.differences
    ]
    numbers = [(tr(HEADLINE_WORDS[item.name]), *_cells(item, found)) for item in found.headlines]
    rows = table(("", *_heads(found)), [*differing, *numbers], caption=tr("What differs, and the headline numbers"))
    return f'<div class="rf-compare">{rows}</div>'


def value_words(field: str, value: object) -> str:
    """A field's value as people say it.

    >>> value_words("batch", None), value_words("devices", 16), value_words("utilisation", 0.5)
    ('the most that fit', '16', '50%')
    """
    named = {"model": model_words, "hardware": hardware_words, "engine": engine_words}
    named |= {role: partial(format_words, role=role) for role in FORMATS}
    if field in named:
        return named[field](AUTO if value is None else str(value))
    if value is None:
        return tr("the most that fit") if field == "batch" else tr("auto")
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if field in ("utilisation", "prefix_hit", "forced_output"):
        return localised(f"{value:.0%}")
    return localised(f"{value:,}") if isinstance(value, int | float) else str(value)


def _heads(found: Comparison) -> tuple[str, ...]:
    return tuple(f"{SERIES_MARKS[LETTERS.index(entry.letter)]} {entry.letter.upper()}" for entry in found.entries)


def _cells(item: Headline, found: Comparison) -> tuple[object, ...]:
    deltas = {delta.letter: delta for delta in found.deltas if delta.name == item.name}
    absent = {entry.letter: _absent(entry) for entry in found.entries}
    return tuple(
        absent[letter] if measure is None else _cell(item, letter, measure, deltas.get(letter))
        for letter, measure in item.values.items()
    )


def _absent(entry: Entry) -> str:
    """Why a number is missing."""
    if entry.report is None:
        return tr("no answer")
    return tr("not known") if entry.answered is not None else tr("does not fit")


def _cell(item: Headline, letter: str, measure: Measure, delta: Delta | None) -> object:
    best = f" {esc(tr('best'))}" if letter in item.best else ""
    value = f"<strong>{esc(_number(item, measure.value))}</strong>{best}"
    notes = [] if delta is None else [_delta_words(delta)]
    if measure.low is not None and measure.high is not None:
        notes.insert(0, tr("{low} to {high}", low=_number(item, measure.low), high=_number(item, measure.high)))
    return Markup(f"{value}<br><small>{esc(' · '.join(notes))}</small>" if notes else value)


def _delta_words(delta: Delta) -> str:
    words = tr(_TABLE_WORDS[_how(delta)], ratio=sig(delta.ratio), percent=localised(f"{abs(delta.change):.0%}"))
    return tr("{difference}, bands overlap", difference=words) if delta.bands_overlap else words


def _number(item: Headline, value: float) -> str:
    if item.kind == "time":
        return duration(value)
    if item.kind == "bytes":
        return memory_size(value)
    return localised(f"{value:,.0f}") if item.kind == "count" else sig(value)


def memory_html(found: Comparison, palette: Palette) -> str:
    """One device's memory of every scenario, all on one scale."""
    reports = {entry.letter: entry.report for entry in found.entries if entry.report is not None}
    longest = max((memory_span_bytes(report) for report in reports.values()), default=1.0)
    return "".join(
        f'<p class="rf-key">{_mark(letter, palette)} <strong>{letter.upper()}</strong> {esc(report.hardware_name)}</p>'
        f"{memory_bar(report, palette, longest)}"
        for letter, report in reports.items()
    )


def map_sentence(found: FieldMap) -> str:
    """What of the plane fits, and where the number is best."""
    fit, of = found.fitting
    if found.best is None:
        return tr("None of the {of} points fits: take more devices, fewer bits or a shorter prompt.", of=of)
    column, row = found.best
    x, y = _place_words(found.x, found.x_values[column]), _place_words(found.y, found.y_values[row])
    best = _value_words(found.value, float(found.z[row, column]))
    return tr("{n} of {of} points fit. Best: {best}, with {x} and {y}.", n=fit, of=of, best=best, x=x, y=y)


def _place_words(field: str, value: float | str) -> str:
    return tr(_PLACES[field], value=value_words(field, value))


def _value_words(name: str, value: float) -> str:
    return tr(_VALUES[name], value=duration(value) if name == "ttft" else sig(value))


def csv_rows(found: Comparison) -> list[dict[str, object]]:
    """Headline numbers, one row for each scenario and number."""
    return [
        {"scenario": letter.upper(), "number": item.name, "expected": m.value, "low": m.low, "high": m.high, "limit": m.limit}
        for item in found.headlines
        for letter, m in item.values.items()
        if m is not None
    ]


def curve_rows(drawn: Mapping[str, BatchCurve]) -> list[dict[str, object]]:
    """The curves as drawn, one row for each scenario and batch that fits."""
    return [
        {
            "scenario": letter.upper(),
            "batch": int(batch),
            "output_tokens_per_s": float(total),
            "tokens_per_s_per_user": float(user),
            "usd_per_million_output_tokens": None if usd is None else float(usd),
        }
        for letter, curve in drawn.items()
        for batch, total, user, usd in _points(curve)
        if batch <= curve.max_batch
    ]


def _points(curve: BatchCurve) -> Iterator[tuple[Any, ...]]:
    usd = curve.usd_per_million_output_tokens
    prices = repeat(None) if usd is None else np.atleast_1d(usd)
    times = curve.expected
    rates = np.atleast_1d(times.output_tokens_per_s), np.atleast_1d(times.tokens_per_s_per_user)
    return zip(np.atleast_1d(curve.batch), *rates, prices, strict=False)
