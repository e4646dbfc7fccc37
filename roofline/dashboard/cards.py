"""The four headline numbers, each with its band, its limit and what binds, and why each is what it is."""

from __future__ import annotations

import streamlit as st

from roofline.answers.explain import explain
from roofline.answers.measuring import Measuring, measuring
from roofline.answers.report import Bound, Explanation, Report
from roofline.dashboard.text import between, esc, table
from roofline.figures.theme import BOUND_MARKS, Palette
from roofline.figures.words import sig
from roofline.units import memory_size

BOUND_SHORT: dict[Bound, str] = {
    "compute": "compute-bound",
    "memory": "memory-bound",
    "network": "network-bound",
    "host": "host-bound",
    "latency": "latency-bound",
}
_WHY = {
    "tokens_per_s_per_user": "Why this speed?",
    "output_tokens_per_s": "Why this total?",
    "usd_per_million_output_tokens": "Why this cost?",
    "memory": "Why this memory?",
}


def cards_html(report: Report, palette: Palette) -> str:
    """All four cards as one block."""
    expected, limit, low, high = report.expected, report.limit, report.expected_low, report.expected_high
    bound = _bound_word(report.bound["decode"], palette)
    cost = report.cost
    cards = [
        _card(
            "Tokens/s per user",
            sig(expected.tokens_per_s_per_user),
            between(low.tokens_per_s_per_user, high.tokens_per_s_per_user),
            f"limit {sig(limit.tokens_per_s_per_user)} · {bound}",
        ),
        _card(
            "Tokens/s in total",
            sig(expected.output_tokens_per_s),
            between(low.output_tokens_per_s, high.output_tokens_per_s),
            f"limit {sig(limit.output_tokens_per_s)} · {bound}",
        ),
        _card(
            "USD per million output tokens",
            sig(cost.usd_per_million_output_tokens),
            between(cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high),
            f"limit {sig(cost.usd_per_million_output_tokens_at_limit)} · {_price_word(report)}",
        ),
        _memory_card(report, palette),
    ]
    return f'<div class="rf-cards">{"".join(cards)}</div>'


def _card(label: str, value: str, band: str, foot: str) -> str:
    return (
        f'<section class="rf-card"><h2>{esc(label)}</h2><p class="rf-value">{esc(value)}</p>'
        f'<p class="rf-band">expected {esc(band)}</p><p class="rf-band">{foot}</p></section>'
    )


def _memory_card(report: Report, palette: Palette) -> str:
    memory = report.memory
    used, there = float(memory.used_bytes_per_device), float(memory.usable_bytes_per_device)
    share = used / there
    colour = palette.parts[0] if memory.fits else palette.bad
    word = f"{share:.0%} used · at most {memory.max_batch:,} sequences" if memory.fits else "does not fit"
    return (
        '<section class="rf-card"><h2>Memory per device</h2>'
        f'<p class="rf-value">{esc(memory_size(used))} <small>of {esc(memory_size(there))}</small></p>'
        f'<div class="rf-fill" aria-hidden="true"><span style="width:{min(1.0, share):.1%};background:{colour}"></span></div>'
        f'<p class="rf-band">{esc(word)}</p></section>'
    )


def _bound_word(bound: Bound, palette: Palette) -> str:
    mark = f'<span aria-hidden="true" style="color:{palette.bounds[bound]}">{BOUND_MARKS[bound]}</span>'
    return f"{mark} {BOUND_SHORT[bound]}"


def _price_word(report: Report) -> str:
    price = report.cost.usd_per_device_hour
    return "no price known" if price is None else f"{esc(sig(price))} USD/device-h"


def why_row(report: Report) -> None:
    """One popover per card; its content is made only while it is open."""
    with st.container(key="why"):
        for name, label in _WHY.items():
            popover = st.popover(label, type="tertiary", key=f"why_{name}", on_change="rerun")
            if popover.open:
                with popover:
                    st.html(
                        f'<div class="rf-why">{explanation_html(explain(report)[name])}{measuring_html(measuring(report))}</div>'
                    )


def explanation_html(found: Explanation) -> str:
    """Formula, your values, inputs with sources; then each thing it rests on, to be opened in turn."""
    return f'<h3 class="rf-h">{esc(found.title)}</h3>{_grounds_html(found)}'


def _grounds_html(found: Explanation) -> str:
    rows = [(item.name, item.value, item.source) for item in found.inputs]
    inputs = table(("Input", "Value", "Source"), rows, caption=f"Inputs: {found.title}") if rows else ""
    source = esc(found.citation)
    if found.url.startswith("https://"):
        source = f'<a href="{esc(found.url)}" target="_blank" rel="noopener noreferrer">{source}</a>'
    parts = "".join(
        f"<details><summary>{esc(part.title)}: {esc(part.value)}</summary>{_grounds_html(part)}</details>" for part in found.parts
    )
    return (
        f'<p class="rf-equation">{esc(found.equation)}</p><p class="rf-key">with your values</p>'
        f'<p class="rf-equation">{esc(found.substituted)}</p>{inputs}<p class="rf-key">{source}</p>'
        f'{f"""<div class="rf-below">{parts}</div>""" if parts else ""}'
    )


def measuring_html(found: Measuring) -> str:
    """The commands that would measure it, what should come out, and what to mind."""
    commands = "\n".join(found.commands)
    rows = [(item.name, item.expected) for item in found.compared]
    notes = "".join(f"<li>{esc(note)}</li>" for note in found.notes)
    return (
        f'<details><summary>Measure it yourself</summary><p class="rf-equation">{esc(commands)}</p>'
        f"{table(('The tool says', 'Expected'), rows, caption='Expected of the measurement')}"
        f'<ul class="rf-list">{notes}</ul></details>'
    )
