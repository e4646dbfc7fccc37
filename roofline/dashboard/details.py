"""What lies under the answer: cost, memory, time, operators, assumptions and sources. Each is built only when it is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from roofline.answers.report import BatchCurve, OperatorRow, Phase, Report
from roofline.catalog.boxes import load_box
from roofline.catalog.hardware import sources
from roofline.dashboard.bars import bound_bar, memory_bar, operator_bars
from roofline.dashboard.state import FIRST_TAB, TAB_KEY
from roofline.dashboard.text import Markup, between, esc, gb, heading, table
from roofline.figures.curves import cost_alt, cost_figure
from roofline.figures.theme import Look, as_figure
from roofline.figures.words import BOUND_WORDS, operator_name, rate_name, sig
from roofline.specs.hardware import Accelerator, Fact
from roofline.units import duration, memory_size, with_prefix

FIGURE_PX = 440
"""Narrowest column a figure is drawn in while two stand side by side."""
PLOTLY_CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["zoomIn2d", "zoomOut2d", "autoScale2d", "select2d", "lasso2d"],
    "toImageButtonOptions": {"format": "svg", "scale": 2},
}
_PHASES: tuple[Phase, ...] = ("decode", "prefill")
_PHASE_WORDS: dict[Phase, str] = {"decode": "One decode step", "prefill": "One prefill step"}


@dataclass(frozen=True)
class Shown:
    """What a detail is drawn from."""

    report: Report
    curve: BatchCurve | None
    look: Look


def tabs(shown: Shown) -> None:
    """The row of tabs; only the open one is built."""
    names = list(_TABS)
    if st.session_state.get(TAB_KEY) not in names:
        st.session_state[TAB_KEY] = FIRST_TAB
    for name, tab in zip(names, st.tabs(names, key=TAB_KEY, on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                _TABS[name](shown)


def chart_config(look: Look, filename: str) -> dict[str, object]:
    """Settings of a chart: no bar of buttons on a phone, a vector file from the camera."""
    image = {**PLOTLY_CONFIG["toImageButtonOptions"], "filename": filename}  # type: ignore[dict-item]
    return {**PLOTLY_CONFIG, "displayModeBar": False if look.compact else "hover", "toImageButtonOptions": image}


def _cost(shown: Shown) -> None:
    report, cost = shown.report, shown.report.cost
    if cost.usd_per_million_output_tokens is None or shown.curve is None:
        st.html(f'<p class="rf-answer">No cost: {esc(cost.basis)}.</p>')
        return
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        st.html(heading("Cost against batch", "Solid: expected with its band. Dashed: limit, nothing real is cheaper."))
        figure = as_figure(cost_figure(report, shown.curve, shown.look))
        config = chart_config(shown.look, "cost")
        st.plotly_chart(figure, theme=None, key="cost_chart", config=config, alt=cost_alt(report))
    band = between(cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high)
    rows = [
        ("USD per million output tokens", sig(cost.usd_per_million_output_tokens), f"expected {band}"),
        ("the same at the limit", sig(cost.usd_per_million_output_tokens_at_limit), "limit"),
        ("USD per million input tokens", sig(cost.usd_per_million_input_tokens), "expected"),
        ("USD per million tokens of both kinds", sig(cost.usd_per_million_tokens), "expected, in the proportion of the load"),
        ("USD per hour, all devices", sig(cost.usd_per_hour), cost.basis),
        (
            "joules per output token",
            sig(cost.joules_per_output_token),
            "expected, with server and facility",
        ),
    ]
    with pair.cell():
        st.html(heading("Prices") + table(("What", "Value", "Basis"), rows, caption="Cost of this scenario"))


def _memory(shown: Shown) -> None:
    memory = shown.report.memory
    rows = [
        ("Cache as the engine reserves it, in the bar above", memory_size(float(memory.kv_cache_bytes_per_device))),
        ("Cache as the mathematics needs it", memory_size(float(memory.kv_cache_least_bytes_per_device))),
        ("Cache of one sequence, prompt and output", memory_size(float(memory.kv_cache_bytes_per_sequence))),
        ("Most sequences that fit", f"{memory.max_batch:,}"),
        ("Sequences asked for", f"{shown.report.batch:,}"),
        ("Devices used of devices there", f"{shown.report.plan.devices_used:,} of {shown.report.scenario.devices:,}"),
    ]
    title = heading("Memory of one device", "Weights and what every sequence adds, against what programs can use.")
    st.html(title + memory_bar(shown.report, shown.look.palette) + table(("What", "Value"), rows, caption="Memory in numbers"))


def _time(shown: Shown) -> None:
    pair = st.grid(2, min_column_width=FIGURE_PX)
    for phase in _PHASES:
        with pair.cell():
            report, palette = shown.report, shown.look.palette
            bars = bound_bar(report, phase, palette) + operator_bars(report, phase, palette)
            if_fits = "" if report.memory.fits else "As if it fitted. "
            use = f"{if_fits}Expected: {report.mfu[phase]:.0%} of peak arithmetic, {report.mbu[phase]:.0%} of memory bandwidth."
            st.html(heading(_PHASE_WORDS[phase], use) + bars)


def _operators(shown: Shown) -> None:
    rows = tuple(sorted(shown.report.operators, key=lambda row: (row.phase != "decode", -row.expected_s)))
    frame = operator_frame(rows)
    st.html(heading("Operators of one step on one device", "Choose a row for its arithmetic."))
    choice = st.dataframe(
        frame,
        hide_index=True,
        key="operator_table",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "FLOP": st.column_config.NumberColumn(format="scientific"),
            "memory bytes": st.column_config.NumberColumn(format="bytes"),
            "network bytes": st.column_config.NumberColumn(format="bytes"),
            "FLOP per byte": st.column_config.NumberColumn(format="%.3g"),
            "limit ms": st.column_config.NumberColumn(format="%.3g"),
            "expected ms": st.column_config.NumberColumn(format="%.3g"),
            "share of step": st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0),
        },
        alt=f"{len(rows)} operators of {shown.report.model_name} with their work, traffic, limit and expected time",
    )
    picked = choice.selection.rows
    if picked:
        st.html(operator_detail(rows[picked[0]], shown.report))
    st.download_button("Download CSV", lambda: frame.to_csv(index=False), "operators.csv", "text/csv", on_click="ignore")


def operator_frame(rows: tuple[OperatorRow, ...]) -> pd.DataFrame:
    """The operator table as it is shown and downloaded."""
    totals = {phase: sum(r.expected_s for r in rows if r.phase == phase) for phase in _PHASES}
    return pd.DataFrame(
        {
            "phase": [r.phase for r in rows],
            "operator": [operator_name(r.name) for r in rows],
            "layers": [r.count for r in rows],
            "FLOP": [r.flops for r in rows],
            "memory bytes": [r.bytes for r in rows],
            "network bytes": [r.network_bytes for r in rows],
            "FLOP per byte": [r.intensity if r.bytes > 0 else None for r in rows],
            "limit ms": pd.Series([r.limit_s for r in rows]) * 1000,
            "expected ms": pd.Series([r.expected_s for r in rows]) * 1000,
            "share of step": [r.expected_s / totals[r.phase] for r in rows],
            "bound": [r.bound for r in rows],
        }
    )


def picked(rows: tuple[OperatorRow, ...], points: Sequence[Mapping[str, object]]) -> list[OperatorRow]:
    """The operators whose points were chosen in the roofline."""
    ids = {point.get("id") for point in points}
    return [row for row in rows if f"{row.phase}:{row.name}" in ids]


def operator_detail(row: OperatorRow, report: Report) -> str:
    """One operator's arithmetic, written out."""
    rate, bandwidth = report.formats.gemm_rate, report.bandwidth_bytes_per_s
    peak = report.peak_flops_per_s[rate]
    lines = [
        f"work      {with_prefix(row.flops, 'FLOP')} over {row.count:g} layers",
        f"traffic   {gb(row.weight_bytes)} weights + {gb(row.cache_bytes)} cache = {gb(row.bytes)}",
        f"intensity {sig(row.intensity)} FLOP per byte; the ridge is at {sig(report.ridge_flops_per_byte)}",
        f"compute   {duration(row.compute_limit_s)} at the peak of its format ({rate}: {with_prefix(peak, 'FLOP/s')})",
        f"memory    {duration(row.memory_limit_s)} at {with_prefix(bandwidth, 'B/s')}",
        f"limit     {duration(row.limit_s)}, bound by {BOUND_WORDS[row.bound]}; expected {duration(row.expected_s)}",
    ]
    text = esc("\n".join(lines))
    return f'<h3 class="rf-h">{esc(operator_name(row.name))}, {row.phase}</h3><p class="rf-equation">{text}</p>'


def _basis(shown: Shown) -> None:
    report = shown.report
    device = load_box(report.scenario.hardware)
    parts = [
        heading(f"Facts of {device.name}", "As printed in the source; peaks are dense."),
        facts_html(device),
        heading("Facts used"),
        table(("Fact", "Value and source"), list(report.sources.items()), caption="Facts used, with sources"),
        heading("Assumptions", "Not facts: constants between the limit and what is expected, each with its range and basis."),
        table(("Assumption", "Value", "Basis"), [(a.name, a.value, a.basis) for a in report.assumptions], caption="Assumptions"),
        heading("Notes on this answer"),
        f'<ul class="rf-legend" style="display:block">{"".join(f"<li>{esc(r)}</li>" for r in report.reasons)}</ul>',
    ]
    st.html("".join(parts))


def device_facts(device: Accelerator) -> dict[str, Fact]:
    """The facts a roofline rests on, by name."""
    facts: dict[str, Fact | None] = {
        "memory": device.memory,
        "memory that programs see": device.visible_memory,
        "memory bandwidth": device.bandwidth,
        **{f"{rate_name(dtype)} peak": fact for dtype, fact in device.peaks.items()},
        **{f"{link.kind} link, {link.name}": link.bandwidth for link in device.links},
        "power": device.tdp,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def facts_html(device: Accelerator) -> str:
    """The facts of a device as a table, each with its source; those that nobody confirms are marked."""
    rows = [_fact_row(name, fact) for name, fact in device_facts(device).items()]
    return table(("Fact", "Value", "Source", "Kind", "Note"), rows, caption="Facts of the device")


def _fact_row(name: str, fact: Fact) -> tuple[object, ...]:
    kind = Markup(f'<span class="rf-mark">{fact.kind}</span>') if fact.kind == "unverified" else fact.kind
    return name, f"{fact.value:g} {fact.unit}", source_html(fact.source), kind, fact.note


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
    named = f": {', '.join(loose)}" if loose else ""
    return f"No vendor document confirms all facts of {device.name}{named}. Take the numbers as a sketch."


_TABS: dict[str, Callable[[Shown], None]] = {
    FIRST_TAB: _time,
    "Memory": _memory,
    "Cost": _cost,
    "Operators": _operators,
    "Assumptions and sources": _basis,
}
