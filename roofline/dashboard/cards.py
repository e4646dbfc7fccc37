"""The four headline numbers, each with its band, its limit and what binds, and why each is what it is."""

from __future__ import annotations

import streamlit as st

from roofline.answers.bench_commands import Measuring, measuring
from roofline.answers.explain import explain
from roofline.answers.report import Bound, Explanation, Report
from roofline.dashboard.text import between, esc, table
from roofline.figures.theme import BOUND_MARKS, Palette
from roofline.figures.words import sig
from roofline.language import later, tr
from roofline.units import Floats, memory_size

BOUND_SHORT: dict[Bound, str] = {
    "compute": later("compute-bound"),
    "memory": later("memory-bound"),
    "network": later("network-bound"),
    "host": later("host-bound"),
    "latency": later("latency-bound"),
}
_WHY = {
    "tokens_per_s_per_user": later("Why this speed?"),
    "output_tokens_per_s": later("Why this total?"),
    "usd_per_million_output_tokens": later("Why this cost?"),
    "memory": later("Why this memory?"),
}


def cards_html(report: Report, palette: Palette) -> str:
    """All four cards as one block."""
    expected, limit, low, high = report.expected, report.limit, report.expected_low, report.expected_high
    bound = _bound_word(report.bound["decode"], palette)
    cost = report.cost
    cards = [
        _card(
            tr("Tokens/s per user"),
            sig(expected.tokens_per_s_per_user),
            between(low.tokens_per_s_per_user, high.tokens_per_s_per_user),
            _foot(limit.tokens_per_s_per_user, bound),
        ),
        _card(
            tr("Tokens/s in total"),
            sig(expected.output_tokens_per_s),
            between(low.output_tokens_per_s, high.output_tokens_per_s),
            _foot(limit.output_tokens_per_s, bound),
        ),
        _card(
            tr("USD per million output tokens"),
            sig(cost.usd_per_million_output_tokens),
            between(cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high),
            _foot(cost.usd_per_million_output_tokens_at_limit, _price_word(report)),
        ),
        _memory_card(report, palette),
    ]
    return f'<div class="rf-cards">{"".join(cards)}</div>'


def _card(label: str, value: str, band: str, foot: str) -> str:
    return (
        f'<section class="rf-card"><h2>{esc(label)}</h2><p class="rf-value">{esc(value)}</p>'
        f'<p class="rf-band">{esc(tr("expected {band}", band=band))}</p><p class="rf-band">{foot}</p></section>'
    )


def _foot(limit: Floats | None, word: str) -> str:
    """Limit, and a word that is markup of our own."""
    return f"{esc(tr('limit {limit}', limit=sig(limit)))} · {word}"


def _memory_card(report: Report, palette: Palette) -> str:
    memory = report.memory
    used, there = float(memory.used_bytes_per_device), float(memory.usable_bytes_per_device)
    share = used / there
    colour = palette.parts[0] if memory.fits else palette.bad
    word = tr("does not fit")
    if memory.fits:
        word = tr("{share:.0%} used · at most {most:,} sequences", share=share, most=memory.max_batch)
    value = tr("{used} <small>of {there}</small>", used=esc(memory_size(used)), there=esc(memory_size(there)))
    return (
        f'<section class="rf-card"><h2>{esc(tr("Memory per device"))}</h2><p class="rf-value">{value}</p>'
        f'<div class="rf-fill" aria-hidden="true"><span style="width:{min(1.0, share):.1%};background:{colour}"></span></div>'
        f'<p class="rf-band">{esc(word)}</p></section>'
    )


def _bound_word(bound: Bound, palette: Palette) -> str:
    mark = f'<span aria-hidden="true" style="color:{palette.bounds[bound]}">{BOUND_MARKS[bound]}</span>'
    return f"{mark} {esc(tr(BOUND_SHORT[bound]))}"


def _price_word(report: Report) -> str:
    price = report.cost.usd_per_device_hour
    return esc(tr("no price known") if price is None else tr("{price} USD/device-h", price=sig(price)))


def why_row(report: Report) -> None:
    """One popover per card; its content is made only while it is open."""
    with st.container(key="why"):
        for name, label in _WHY.items():
            popover = st.popover(tr(label), type="tertiary", key=f"why_{name}", on_change="rerun")
            if popover.open:
                with popover:
                    st.html(
                        f'<div class="rf-why">{explanation_html(explain(report)[name])}{measuring_html(measuring(report))}</div>'
                    )


def explanation_html(found: Explanation) -> str:
    """A plain sentence; formula, your values, inputs with sources; then each thing it rests on, to be opened in turn."""
    return f'<h3 class="rf-h">{esc(found.title)}</h3><p class="rf-answer">{esc(found.plain)}</p>{_grounds_html(found)}'


def _grounds_html(found: Explanation) -> str:
    rows = [(item.name, item.value, item.source) for item in found.inputs]
    head = (tr("Input"), tr("Value"), tr("Source"))
    inputs = table(head, rows, caption=tr("Inputs: {title}", title=found.title)) if rows else ""
    source = esc(found.citation)
    if found.url.startswith("https://"):
        source = f'<a href="{esc(found.url)}" target="_blank" rel="noopener noreferrer">{source}</a>'
    parts = "".join(
        f"<details><summary>{esc(part.title)}: {esc(part.value)}</summary>{_grounds_html(part)}</details>" for part in found.parts
    )
    return (
        f'<p class="rf-equation">{esc(found.equation)}</p><p class="rf-key">{esc(tr("with your values"))}</p>'
        f'<p class="rf-equation">{esc(found.substituted)}</p>{inputs}<p class="rf-key">{source}</p>'
        f'{f"""<div class="rf-below">{parts}</div>""" if parts else ""}'
    )


def measuring_html(found: Measuring) -> str:
    """The commands that would measure it, what should come out, and what to mind."""
    commands = "\n".join(found.commands)
    rows = [(item.name, item.expected) for item in found.compared]
    notes = "".join(f"<li>{esc(note)}</li>" for note in found.notes)
    return (
        f'<details><summary>{esc(tr("Measure it yourself"))}</summary><p class="rf-equation">{esc(commands)}</p>'
        f"{table((tr('The tool says'), tr('Expected')), rows, caption=tr('Expected of the measurement'))}"
        f'<ul class="rf-list">{notes}</ul></details>'
    )
