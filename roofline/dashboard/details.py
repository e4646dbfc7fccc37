"""What lies under the answer: cost, memory, time, operators, assumptions and sources. Each is built only when it is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from roofline.answers.report import BatchCurve, OperatorRow, Phase, Report
from roofline.catalog.boxes import load_box
from roofline.catalog.hardware import sources
from roofline.dashboard.bars import BOUND_NAMES, bound_bar, memory_bar, operator_bars
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.detail_rows import context_rows, energy_html, reserved_html, running_html, tiers_html, waiting_html
from roofline.dashboard.state import FIRST_TAB, TAB_KEY
from roofline.dashboard.text import PHASES, Markup, between, esc, gb, heading, table
from roofline.figures.curves import cost_alt, cost_figure
from roofline.figures.theme import Look
from roofline.figures.words import BOUND_WORDS, operator_name, rate_name, sig
from roofline.language import ENGLISH, later, localised, told_in, tr
from roofline.specs.hardware import Accelerator, Fact
from roofline.units import GIGA, duration, memory_size, with_prefix

_DECIMALS = 6
_PHASES: tuple[Phase, ...] = ("decode", "prefill")
_PHASE_WORDS: dict[Phase, str] = {"decode": later("One decode step"), "prefill": later("One prefill step")}
_LINK_WORDS = {
    "scale-up": later("scale-up link, {name}"),
    "scale-out": later("scale-out link, {name}"),
    "host": later("host link, {name}"),
}
_KIND_WORDS = {
    "datasheet": later("datasheet"),
    "measured": later("measured"),
    "derived": later("derived"),
    "estimate": later("estimate"),
    "unverified": later("unverified"),
}
_LABEL_KEY = "tab_label"
"""The session key of the row of tabs, which knows them by their labels."""


@dataclass(frozen=True)
class Shown:
    """What a detail is drawn from."""

    report: Report
    curve: BatchCurve | None
    look: Look


def tabs(shown: Shown) -> None:
    """The row of tabs, kept in the session and the address by their English names; only the open one is built."""
    if st.session_state.get(TAB_KEY) not in _TABS:
        st.session_state[TAB_KEY] = FIRST_TAB
    names = {tr(name): name for name in _TABS}
    st.session_state[_LABEL_KEY] = tr(st.session_state[TAB_KEY])

    def opened() -> None:
        st.session_state[TAB_KEY] = names[st.session_state[_LABEL_KEY]]

    for name, tab in zip(_TABS, st.tabs(list(names), key=_LABEL_KEY, on_change=opened), strict=True):
        if tab.open:
            with tab:
                _TABS[name](shown)


def _cost(shown: Shown) -> None:
    report, cost = shown.report, shown.report.cost
    if cost.usd_per_million_output_tokens is None or shown.curve is None:
        st.html(f'<p class="rf-answer">{esc(tr("No cost: {basis}.", basis=cost.basis))}</p>')
        return
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        key = tr("Solid: expected with its band. Dashed: limit, nothing real is cheaper.")
        st.html(heading(tr("Cost against batch"), key))
        chart(cost_figure(report, shown.curve, shown.look), "cost_chart", cost_alt(report))
        st.html(reserved_html(report))
    band = between(cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high)
    cached = sig(cost.usd_per_million_cached_input_tokens)
    both = sig(cost.usd_per_million_tokens)
    rows = [
        (tr("USD per million output tokens"), sig(cost.usd_per_million_output_tokens), tr("expected {band}", band=band)),
        (tr("the same at the limit"), sig(cost.usd_per_million_output_tokens_at_limit), tr("limit")),
        (tr("USD per million input tokens"), sig(cost.usd_per_million_input_tokens), tr("expected")),
        (tr("USD per million cached input tokens"), cached, tr("expected, read from a cache")),
        (tr("USD per million tokens of both kinds"), both, tr("expected, in the proportion of the load")),
        (tr("USD per hour, all devices"), sig(cost.usd_per_hour), cost.basis),
    ]
    with pair.cell():
        head = (tr("What"), tr("Value"), tr("Basis"))
        prices = heading(tr("Prices")) + table(head, rows, caption=tr("Cost of this scenario"))
        st.html(prices + energy_html(report))


def _memory(shown: Shown) -> None:
    memory, used, there = shown.report.memory, shown.report.plan.devices_used, shown.report.scenario.devices
    rows = [
        (tr("Cache as the engine reserves it, in the bar above"), memory_size(float(memory.kv_cache_bytes_per_device))),
        (tr("Cache as the mathematics needs it"), memory_size(float(memory.kv_cache_least_bytes_per_device))),
        (tr("Cache of one sequence, prompt and output"), memory_size(float(memory.kv_cache_bytes_per_sequence))),
        (tr("Most sequences that fit"), localised(f"{memory.max_batch:,}")),
        (tr("Sequences asked for"), localised(f"{shown.report.batch:,}")),
        *context_rows(shown.report),
        (tr("Devices used of devices there"), tr("{used:,} of {there:,}", used=used, there=there)),
    ]
    title = heading(tr("Memory of one device"), tr("Weights and what every sequence adds, against what programs can use."))
    bars = memory_bar(shown.report, shown.look.palette) + tiers_html(shown.report, shown.look.palette)
    st.html(title + bars + table((tr("What"), tr("Value")), rows, caption=tr("Memory in numbers")))


def _time(shown: Shown) -> None:
    pair = st.grid(2, min_column_width=FIGURE_PX)
    for phase in _PHASES:
        with pair.cell():
            report, palette = shown.report, shown.look.palette
            bars = bound_bar(report, phase, palette) + operator_bars(report, phase, palette)
            use = tr(
                "Expected: {mfu:.0%} of peak arithmetic, {mbu:.0%} of memory bandwidth.",
                mfu=report.mfu[phase],
                mbu=report.mbu[phase],
            )
            use = use if report.memory.fits else f"{tr('As if it fitted.')} {use}"
            # what is out of the ordinary stands under the phase it belongs to
            more = running_html(report) if phase == "decode" else waiting_html(report.waiting)
            st.html(heading(tr(_PHASE_WORDS[phase]), use) + bars + more)


def _operators(shown: Shown) -> None:
    rows = tuple(sorted(shown.report.operators, key=lambda row: (row.phase != "decode", -row.expected_s)))
    frame = operator_frame(rows)
    alt = tr(
        "{n} operators of {model} with their work, traffic, limit and expected time", n=len(rows), model=shown.report.model_name
    )
    st.html(heading(tr("Operators of one step on one device"), tr("Choose a row for its arithmetic.")))
    choice = st.dataframe(
        shown_frame(frame),
        hide_index=True,
        key="operator_table",
        on_select="rerun",
        selection_mode="single-row",
        column_config=_operator_columns(),
        alt=alt,
    )
    picked = choice.selection.rows
    if picked:
        st.html(operator_detail(rows[picked[0]], shown.report))
    st.download_button(tr("Download CSV"), lambda: _operator_csv(rows), "operators.csv", "text/csv", on_click="ignore")


def _operator_columns() -> dict[str, Any]:
    """Labels and formats of the operator table."""
    column, number = st.column_config.Column, st.column_config.NumberColumn
    return {
        "phase": column(tr("phase")),
        "operator": column(tr("operator")),
        "layers": column(tr("layers")),
        "FLOP": number("GFLOP", format="%.3g"),
        "memory bytes": number(tr("memory bytes"), format="bytes"),
        "network bytes": number(tr("network bytes"), format="bytes"),
        "FLOP per byte": number(tr("FLOP per byte"), format="%.3g"),
        "limit ms": number(tr("limit ms"), format="%.3g"),
        "expected ms": number(tr("expected ms"), format="%.3g"),
        "share of step": st.column_config.ProgressColumn(tr("share of step"), format="percent", min_value=0.0, max_value=1.0),
        "bound": column(tr("bound")),
    }


def _operator_csv(rows: tuple[OperatorRow, ...]) -> str:
    """The table as a file, which has no language."""
    with told_in(ENGLISH):
        return operator_frame(rows).to_csv(index=False)


def operator_frame(rows: tuple[OperatorRow, ...]) -> pd.DataFrame:
    """The operator table as it is shown and downloaded."""
    totals = {phase: sum(r.expected_s for r in rows if r.phase == phase) for phase in _PHASES}
    return pd.DataFrame(
        {
            "phase": [tr(PHASES[r.phase]) for r in rows],
            "operator": [operator_name(r.name) for r in rows],
            "layers": [r.count for r in rows],
            "FLOP": [r.flops for r in rows],
            "memory bytes": [r.bytes for r in rows],
            "network bytes": [r.network_bytes for r in rows],
            "FLOP per byte": [r.intensity if r.bytes > 0 else None for r in rows],
            "limit ms": pd.Series([r.limit_s for r in rows]) * 1000,
            "expected ms": pd.Series([r.expected_s for r in rows]) * 1000,
            "share of step": [r.expected_s / totals[r.phase] for r in rows],
            "bound": [tr(BOUND_NAMES[r.bound]) for r in rows],
        }
    )


def shown_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with work in GFLOP and no more than six decimals: beyond, numbers are shown with powers of ten."""
    return frame.assign(FLOP=frame["FLOP"] / GIGA).round(_DECIMALS)


def picked(rows: tuple[OperatorRow, ...], points: Sequence[Mapping[str, object]]) -> list[OperatorRow]:
    """The operators whose points were chosen in the roofline."""
    ids = {point.get("id") for point in points}
    return [row for row in rows if f"{row.phase}:{row.name}" in ids]


def operator_detail(row: OperatorRow, report: Report) -> str:
    """One operator's arithmetic, written out."""
    rate, bandwidth = row.rate or report.formats.gemm_rate, report.bandwidth_bytes_per_s
    peak = report.peak_flops_per_s[rate]
    lines = [
        tr("work      {flop} over {n:g} layers", flop=with_prefix(row.flops, "FLOP"), n=row.count),
        tr(
            "traffic   {weights} weights + {cache} cache = {whole}",
            weights=gb(row.weight_bytes),
            cache=gb(row.cache_bytes),
            whole=gb(row.bytes),
        ),
        tr(
            "intensity {intensity} FLOP per byte; the ridge is at {ridge}",
            intensity=sig(row.intensity),
            ridge=sig(report.ridge_flops_per_byte),
        ),
        tr(
            "compute   {time} at the peak of its format ({rate}: {peak})",
            time=duration(row.compute_limit_s),
            rate=rate,
            peak=with_prefix(peak, "FLOP/s"),
        ),
        tr("memory    {time} at {bandwidth}", time=duration(row.memory_limit_s), bandwidth=with_prefix(bandwidth, "B/s")),
        tr(
            "limit     {time}, bound by {bound}; expected {expected}",
            time=duration(row.limit_s),
            bound=tr(BOUND_WORDS[row.bound]),
            expected=duration(row.expected_s),
        ),
    ]
    title = f"{operator_name(row.name)}, {tr(PHASES[row.phase])}"
    text = esc("\n".join(lines))
    return f'<h3 class="rf-h">{esc(title)}</h3><p class="rf-equation">{text}</p>'


def _basis(shown: Shown) -> None:
    report = shown.report
    device = load_box(report.scenario.hardware)
    assumed = [(a.name, a.value, a.basis) for a in report.assumptions]
    key = tr("Not facts: constants between the limit and what is expected, each with its range and basis.")
    parts = [
        heading(tr("Facts of {device}", device=device.name), tr("As printed in the source; peaks are dense.")),
        facts_html(device),
        heading(tr("Facts used")),
        table((tr("Fact"), tr("Value and source")), list(report.sources.items()), caption=tr("Facts used, with sources")),
        heading(tr("Assumptions"), key),
        table((tr("Assumption"), tr("Value"), tr("Basis")), assumed, caption=tr("Assumptions")),
        heading(tr("Notes on this answer")),
        f'<ul class="rf-legend" style="display:block">{"".join(f"<li>{esc(r)}</li>" for r in report.reasons)}</ul>',
    ]
    st.html("".join(parts))


def device_facts(device: Accelerator) -> dict[str, Fact]:
    """The facts a roofline rests on, by name."""
    facts: dict[str, Fact | None] = {
        tr("memory"): device.memory,
        tr("memory that programs see"): device.visible_memory,
        tr("memory bandwidth"): device.bandwidth,
        **{tr("{rate} peak", rate=rate_name(dtype)): fact for dtype, fact in device.peaks.items()},
        **{tr(_LINK_WORDS[link.kind], name=link.name): link.bandwidth for link in device.links},
        tr("power"): device.tdp,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def facts_html(device: Accelerator) -> str:
    """The facts of a device as a table, each with its source; those that nobody confirms are marked."""
    rows = [_fact_row(name, fact) for name, fact in device_facts(device).items()]
    head = (tr("Fact"), tr("Value"), tr("Source"), tr("Kind"), tr("Note"))
    return table(head, rows, caption=tr("Facts of the device"))


def _fact_row(name: str, fact: Fact) -> tuple[object, ...]:
    kind = tr(_KIND_WORDS[fact.kind])
    shown = Markup(f'<span class="rf-mark">{esc(kind)}</span>') if fact.kind == "unverified" else kind
    return name, f"{localised(f'{fact.value:g}')} {fact.unit}", source_html(fact.source), shown, fact.note


def source_html(source_id: str) -> Markup:
    """A source by its title, linked where it has an address."""
    source = sources().get(source_id)
    if source is None:
        return Markup(esc(source_id))
    title = f"{esc(source.title)}, {esc(source.retrieved)}"
    if not source.url.startswith("https://"):
        return Markup(title)
    return Markup(f'<a href="{esc(source.url)}" target="_blank" rel="noopener noreferrer">{title}</a>')


def unverified_words(report: Report) -> str:
    """A line under the cards when the answer rests on facts nobody has confirmed; empty otherwise."""
    device = load_box(report.scenario.hardware)
    loose = [name for name, fact in device_facts(device).items() if fact.kind == "unverified"]
    if not loose and device.grade != "C":
        return ""
    if not loose:
        return tr("No vendor document confirms all facts of {device}. Take the numbers as a sketch.", device=device.name)
    return tr(
        "No vendor document confirms all facts of {device}: {facts}. Take the numbers as a sketch.",
        device=device.name,
        facts=", ".join(loose),
    )


_TABS: dict[str, Callable[[Shown], None]] = {
    FIRST_TAB: _time,
    later("Memory"): _memory,
    later("Cost"): _cost,
    later("Operators"): _operators,
    later("Assumptions and sources"): _basis,
}
