"""The calculator: the answer first, its reasons below."""

from __future__ import annotations

from typing import Any

import streamlit as st

from roofline.answers.curves import batch_curve
from roofline.answers.report import BatchCurve, Report, Waiting
from roofline.dashboard import state
from roofline.dashboard.bars import memory_bar
from roofline.dashboard.cards import cards_html, why_row
from roofline.dashboard.details import FIGURE_PX, Shown, chart_config, operator_detail, picked, tabs, unverified_words
from roofline.dashboard.fields import AUTO
from roofline.dashboard.model_blocks import short_format_name
from roofline.dashboard.shell import FaultError, Frame, fault_html
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import PlanError
from roofline.figures.curves import throughput_alt, throughput_figure
from roofline.figures.roofline_plot import roofline_alt, roofline_figure
from roofline.figures.theme import Look, Palette, as_figure
from roofline.units import duration, significant

_ROOFLINE_KEY = "● decode &nbsp;◆ prefill, area: share of the step &nbsp;⋯ whole decode step by batch"
_CURVE_KEY = "Solid: expected, band 10th to 90th percentile. Dashed: limit."


def draw(frame: Frame) -> None:
    """Draw the answer of the current scenario."""
    if frame.report is None:
        refused(frame)
        return
    _body(frame.report, frame.look)


def refused(frame: Frame) -> None:
    """No answer, and what would be right."""
    if isinstance(frame.error, FaultError):
        st.html(fault_html(frame.query))
        return
    text = str(frame.error)
    st.html(notice("No answer for this", esc(text[:1].upper() + text[1:])))
    if isinstance(frame.error, PlanError):
        st.button("Let the program choose the plan", on_click=state.set_some, args=({"plan": AUTO},))


_LEAST_TO_DRAW = 4
"""Sequences that must fit for curves to say something where the load itself does not fit."""


def _body(report: Report, look: Look) -> None:
    drawable = report.memory.max_batch >= 1 if report.memory.fits else report.memory.max_batch >= _LEAST_TO_DRAW
    curve = batch_curve(report) if drawable else None
    if report.memory.fits:
        st.html(cards_html(report, look.palette))
        why_row(report)
        st.html(_sentence(report))
    else:
        _does_not_fit(report, look.palette)
    if curve is not None:
        _figures(report, curve, look)
    tabs(Shown(report, curve, look))


def _sentence(report: Report) -> str:
    loose = unverified_words(report)
    note = f'<p class="rf-note"><span class="rf-mark">Unverified.</span> {esc(loose)}</p>' if loose else ""
    return f'<p class="rf-answer">{esc(report.sentence)}</p><p class="rf-note">{esc(_latency_words(report))}</p>{note}'


def _latency_words(report: Report) -> str:
    """What a person waits for, and what reading a prompt costs: the numbers asked for next."""
    low, mean, high, limit = report.expected_low, report.expected, report.expected_high, report.limit

    def span(name: str) -> str:
        first, value, last, least = (float(getattr(times, name)) for times in (low, mean, high, limit))
        return f"{duration(value)} ({duration(first)} to {duration(last)}, limit {duration(least)})"

    first = f"Time to first token {span('ttft_s')} without queueing{_wait_words(report.waiting)}."
    words = f"{first} Time per output token {span('tpot_s')}."
    price = report.cost.usd_per_million_input_tokens
    return words if price is None else f"{words} A million input tokens: {significant(price)} USD."


def _wait_words(waiting: Waiting | None) -> str:
    if waiting is None:
        return ""
    mean, most = duration(float(waiting.ttft_mean_s)), duration(float(waiting.ttft_p99_s))
    return f"; with its wait {mean} on average, 99 in 100 within {most}"


def _does_not_fit(report: Report, palette: Palette) -> None:
    """In words what would fit, and one click to get there."""
    memory = report.memory
    title, _, text = report.sentence.partition(": ")
    st.html(notice(title, esc(text[:1].upper() + text[1:])) + memory_bar(report, palette))
    with st.container(horizontal=True, key="remedies"):
        if memory.min_devices is not None:
            devices = memory.min_devices
            st.button(f"Use {devices:,} devices", on_click=state.set_some, args=({"devices": devices},))
        if memory.fitting_weights is not None:
            weights = memory.fitting_weights
            st.button(f"Use {short_format_name(weights)} weights", on_click=state.set_some, args=({"weights": weights},))
        if memory.max_batch >= 1:
            batch = memory.max_batch
            st.button(f"Use batch {batch:,}", on_click=state.set_some, args=({"load": "batch", "batch": batch},))


def _figures(report: Report, curve: BatchCurve, look: Look) -> None:
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        st.html(heading("Roofline", _ROOFLINE_KEY))
        figure = as_figure(roofline_figure(report, curve, look))
        config = chart_config(look, "roofline")
        options: dict[str, Any] = {"theme": None, "key": "roofline_chart", "config": config, "alt": roofline_alt(report)}
        chosen = st.plotly_chart(figure, on_select="rerun", selection_mode="points", **options)
        for row in picked(report.operators, chosen["selection"]["points"]):
            st.html(operator_detail(row, report))
    with pair.cell():
        st.html(heading("Throughput and speed against batch", _CURVE_KEY))
        figure = as_figure(throughput_figure(report, curve, look))
        config = chart_config(look, "throughput")
        st.plotly_chart(figure, theme=None, key="throughput_chart", config=config, alt=throughput_alt(report, curve))
