"""The calculator: link to scenario to answer to page. The answer stands first, its reasons below."""

from __future__ import annotations

from typing import Any

import streamlit as st

from roofline.answers.curves import batch_curve
from roofline.answers.evaluate import evaluate
from roofline.answers.report import BatchCurve, Report
from roofline.dashboard import sidebar, state
from roofline.dashboard.bars import memory_bar
from roofline.dashboard.cards import cards_html, why_row
from roofline.dashboard.choices import known
from roofline.dashboard.components import link_button, watch_theme
from roofline.dashboard.details import FIGURE_PX, Shown, chart_config, operator_detail, picked, tabs, unverified_words
from roofline.dashboard.fields import AUTO
from roofline.dashboard.styles import style_block
from roofline.dashboard.text import esc, heading, scenario_parts
from roofline.errors import PlanError, RooflineError
from roofline.figures.curves import throughput_alt, throughput_figure
from roofline.figures.roofline_plot import roofline_alt, roofline_figure
from roofline.figures.theme import Look, Mode, Palette, as_figure
from roofline.specs.scenario import Scenario

_ROOFLINE_KEY = "● decode &nbsp;◆ prefill, area: share of the step &nbsp;⋯ whole decode step by batch"
_CURVE_KEY = "Solid: expected, band 10th to 90th percentile. Dashed: limit."


def page() -> None:
    """Draw the page of the current scenario."""
    look = _look()
    st.html(style_block(look.mode))
    watch_theme(look.mode)
    state.read_link()
    wanted = state.current()
    scenario, unknown = known(wanted.scenario, state.last())
    report, error = _answer(scenario)
    problems = {**wanted.problems, **unknown}
    if isinstance(error, PlanError):
        problems["plan"] = str(error)
    sidebar.controls(scenario, report, problems)
    state.write_link(scenario, good=report is not None)
    _head(report, scenario)
    _problems("Part of the link could not be read", wanted.link_problems)
    _problems("Not taken over from the controls", tuple(problems.values()), phone_only=True)
    if report is None:
        _refused(error)
        return
    _body(report, look)


def _look() -> Look:
    """Light or dark, wide or phone, as far as the browser tells."""
    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    return Look(mode, compact="Mobi" in (st.context.headers.get("User-Agent") or ""))


def _answer(scenario: Scenario) -> tuple[Report | None, RooflineError | None]:
    try:
        return evaluate(scenario), None
    except RooflineError as error:
        return None, error


def _head(report: Report | None, scenario: Scenario) -> None:
    """The scenario in words and the link, always in sight."""
    parts = scenario_parts(report) if report is not None else (scenario.model, f"{scenario.devices:,} × {scenario.hardware}")
    first, *rest = parts
    words = "".join(f"<span>{esc(part)}</span>" for part in rest)
    with st.container(key="head", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="rf-line" role="heading" aria-level="1"><strong>{esc(first)}</strong>{words}</p>')
        link_button()


def _problems(title: str, problems: tuple[str, ...], *, phone_only: bool = False) -> None:
    """What was not understood. Beside the controls it is told as well, but on a phone those are out of sight."""
    if problems:
        lines = "".join(f"<li>{esc(problem)}</li>" for problem in problems)
        where = " rf-phone" if phone_only else ""
        st.html(f'<div class="rf-notice{where}" role="alert"><h2>{esc(title)}</h2><ul>{lines}</ul></div>')


def _refused(error: RooflineError | None) -> None:
    """No answer, and what would be right."""
    text = str(error)
    st.html(f'<div class="rf-notice" role="alert"><h2>No answer for this</h2>{esc(text[:1].upper() + text[1:])}</div>')
    if isinstance(error, PlanError):
        st.button("Let the program choose the plan", on_click=state.set_some, args=({"plan": AUTO},))


def _body(report: Report, look: Look) -> None:
    curve = batch_curve(report) if report.memory.max_batch >= 1 else None
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
    return f'<p class="rf-answer">{esc(report.sentence)}</p>{note}'


def _does_not_fit(report: Report, palette: Palette) -> None:
    """In words what would fit, and one click to get there."""
    memory = report.memory
    text = report.sentence.removeprefix("Does not fit: ")
    words = f"<h2>Does not fit</h2>{esc(text[:1].upper() + text[1:])}"
    st.html(f'<div class="rf-notice" role="alert">{words}</div>{memory_bar(report, palette)}')
    with st.container(horizontal=True, key="remedies"):
        if memory.min_devices is not None:
            devices = memory.min_devices
            st.button(f"Use {devices:,} devices", on_click=state.set_some, args=({"devices": devices},))
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
