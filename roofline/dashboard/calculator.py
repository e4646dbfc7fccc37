"""The calculator: the answer first, its reasons below."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from roofline.answers.curves import batch_curve, shard_of
from roofline.answers.report import BatchCurve, Report, Waiting
from roofline.dashboard import compute_bound_note, feels_like, printed_words, quick_moves, state
from roofline.dashboard.bars import memory_bar
from roofline.dashboard.cards import cards_html, why_row
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.details import Shown, operator_detail, picked, tabs, unverified_words
from roofline.dashboard.fields import AUTO
from roofline.dashboard.model_blocks import short_format_name
from roofline.dashboard.printed import report_html
from roofline.dashboard.shell import FaultError, Frame, fault_html
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import PlanError
from roofline.figures.curves import throughput_alt, throughput_figure
from roofline.figures.roofline_plot import roofline_alt, roofline_figure
from roofline.figures.theme import Look, Palette
from roofline.language import chosen, later, told_in, tr
from roofline.units import duration, significant

_ROOFLINE_KEY = later("● decode &nbsp;◆ prefill, area: share of the step &nbsp;⋯ whole decode step by batch")
_CURVE_KEY = later("Solid: expected under this plan, band 10th to 90th percentile. Dashed: limit.")


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
    st.html(notice(tr("No answer for this"), esc(text[:1].upper() + text[1:])))
    if isinstance(frame.error, PlanError):
        st.button(tr("Let the program choose the plan"), on_click=state.set_some, args=({"plan": AUTO},))


_LEAST_TO_DRAW = 4
"""Sequences that must fit for curves to say something where the load itself does not fit."""


def _body(report: Report, look: Look) -> None:
    drawable = report.memory.max_batch >= 1 if report.memory.fits else report.memory.max_batch >= _LEAST_TO_DRAW
    curve = batch_curve(report) if drawable else None
    if report.memory.fits:
        st.html(cards_html(report, look.palette))
        why_row(report)
        st.html(_sentence(report))
        feels_like.draw(report)
    else:
        _does_not_fit(report, look.palette)
    place = st.container(key="moves_place")
    beside = None if curve is None else _figures(report, curve, look)
    tabs(Shown(report, curve, look))
    _download(report)
    with place:  # last: a dozen evaluations that no headline waits for
        quick_moves.draw(report)
    if beside is not None:
        with beside:
            compute_bound_note.draw(report, "calculator")


def _download(report: Report) -> None:
    """The report as a file; it is made when it is asked for."""
    address, language = st.context.url or "", chosen()

    def printed() -> str:
        with told_in(language):  # whoever fetches the file has chosen none
            return report_html(report, address)

    st.download_button(
        tr(printed_words.DOWNLOAD),
        printed,
        printed_words.FILE_NAME,
        "text/html",
        help=tr(printed_words.DOWNLOAD_HELP),
        on_click="ignore",
    )


def _sentence(report: Report) -> str:
    loose = unverified_words(report)
    note = f'<p class="rf-note"><span class="rf-mark">{esc(tr("Unverified."))}</span> {esc(loose)}</p>' if loose else ""
    return f'<p class="rf-answer">{esc(report.sentence)}</p><p class="rf-note">{esc(_latency_words(report))}</p>{note}'


def _latency_words(report: Report) -> str:
    """What a person waits for, and what reading a prompt costs: the numbers asked for next."""
    low, mean, high, limit = report.expected_low, report.expected, report.expected_high, report.limit

    def span(name: str) -> str:
        first, value, last, least = (float(getattr(times, name)) for times in (low, mean, high, limit))
        return tr(
            "{time} ({low} to {high}, limit {limit})",
            time=duration(value),
            low=duration(first),
            high=duration(last),
            limit=duration(least),
        )

    words = [_first_words(span("ttft_s"), report.waiting), *_together(report)]
    words += [tr("Time per output token {times}.", times=span("tpot_s")), *_turns(report)]
    price = report.cost.usd_per_million_input_tokens
    if price is not None:
        words.append(tr("A million input tokens: {price} USD.", price=significant(price)))
    return " ".join(words)


def _together(report: Report) -> list[str]:
    """Why a first token may take far longer than its limit: it is not computed alone."""
    groups = round(float(shard_of(report.plan, report.scenario).groups))
    if groups == 1 or report.scenario.batch is None or report.prefill_plan is not None:
        return []
    text = tr(
        "Expected, one prompt in each of the {groups:,} attention groups of this plan is read in the same step; "
        "the limit is a prompt alone, under the plan that reads it soonest.",
        groups=groups,
    )
    return [text]


def _turns(report: Report) -> list[str]:
    """Why a token may take longer than a step: at a request rate, prompts are read between steps."""
    if report.scenario.request_rate is None or report.prefill_plan is not None:
        return []
    step = duration(float(report.expected.decode_step_s))
    return [tr("A decode step is {step}; the devices also read the prompts that arrive, and decode waits meanwhile.", step=step)]


def _first_words(times: str, waiting: Waiting | None) -> str:
    if waiting is None:
        return tr("Time to first token {times} without queueing.", times=times)
    return tr(
        "Time to first token {times} without queueing; with its wait {mean} on average, 99 in 100 within {most}.",
        times=times,
        mean=duration(float(waiting.ttft_mean_s)),
        most=duration(float(waiting.ttft_p99_s)),
    )


def _does_not_fit(report: Report, palette: Palette) -> None:
    """In words what would fit, and one click to get there."""
    memory = report.memory
    title, _, text = report.sentence.partition(": ")
    st.html(notice(title, esc(text[:1].upper() + text[1:])) + memory_bar(report, palette))
    with st.container(horizontal=True, key="remedies"):
        if memory.min_devices is not None:
            devices = memory.min_devices
            st.button(tr("Use {n:,} devices", n=devices), on_click=state.set_some, args=({"devices": devices},))
        if memory.fitting_weights is not None:
            weights = memory.fitting_weights
            label = tr("Use {format} weights", format=short_format_name(weights))
            st.button(label, on_click=state.set_some, args=({"weights": weights},))
        pair = memory.fitting_pair
        if pair is not None:
            label = tr("Use {format} weights and batch {batch:,}", format=short_format_name(pair.weights), batch=pair.batch)
            both = {"weights": pair.weights, "load": "batch", "batch": pair.batch}
            st.button(label, on_click=state.set_some, args=(both,))
        if memory.max_batch >= 1:
            batch = memory.max_batch
            st.button(tr("Use batch {batch:,}", batch=batch), on_click=state.set_some, args=({"load": "batch", "batch": batch},))


def _figures(report: Report, curve: BatchCurve, look: Look) -> DeltaGenerator:
    """Both figures, and a place under the second one."""
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        st.html(heading(tr("Roofline"), tr(_ROOFLINE_KEY)))
        picking: dict[str, Any] = {"on_select": "rerun", "selection_mode": "points"}
        figure = roofline_figure(report, curve, look)
        selected = chart(figure, "roofline_chart", roofline_alt(report), **picking)
        for row in picked(report.operators, selected["selection"]["points"]):
            st.html(operator_detail(row, report))
    with pair.cell():
        st.html(heading(tr("Throughput and speed against batch"), tr(_CURVE_KEY)))
        chart(throughput_figure(report, curve, look), "throughput_chart", throughput_alt(report, curve))
        return st.container()
