"""The Fleet page: from people a week to devices, racks, power, money and waiting, every step and assumption in sight."""

from __future__ import annotations

from functools import partial

import streamlit as st

from roofline import link
from roofline.answers.fleet import fleet
from roofline.answers.fleet_day import day
from roofline.answers.fleet_examples import EXAMPLES, published_day
from roofline.answers.fleet_report import FleetReport
from roofline.catalog.fleet import assumed
from roofline.dashboard import fleet_controls
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.fleet_files import fleet_json, steps_csv
from roofline.dashboard.fleet_words import (
    assumptions_table,
    chain_table,
    day_sentence,
    fleet_cards,
    published_table,
    reasons_html,
    sites_table,
    totals_table,
)
from roofline.dashboard.page_controls import change
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, first_upper, heading, notice
from roofline.errors import RooflineError
from roofline.figures.day_plot import day_alt, day_figure
from roofline.figures.theme import Look
from roofline.figures.tornado import tornado_alt, tornado_figure
from roofline.language import tr
from roofline.specs.fleet import FleetScenario


def draw(frame: Frame) -> None:
    """Draw the fleet whose replica is the scenario."""
    asked = link.decode_fleet(frame.query).fleet
    try:
        found = fleet(asked)
    except RooflineError as error:
        st.html(notice(tr("This fleet cannot be planned"), esc(first_upper(str(error)))))
        fleet_controls.assumptions(asked, assumed(asked), frame.scenario)
        return
    cards = fleet_cards(found) if found.fits else ""
    st.html(f'<p class="rf-answer rf-trust">{esc(found.sentence)}</p>{cards}{reasons_html(found)}')
    _notes(frame, asked)
    fleet_controls.example_list()
    fleet_controls.assumptions(asked, assumed(asked), frame.scenario)
    if found.fits:
        _figures(found, frame.look)
        _regions(found)
    st.html(heading(tr("From users to money"), tr("Every step with its formula, what goes in, and where that comes from.")))
    st.html(chain_table(found))
    key = tr("Each with its range, for the chart of what moves the answer, and its source.")
    st.html(heading(tr("What is assumed"), key))
    st.html(assumptions_table(assumed(asked)))
    _published()
    _files(found)


def _notes(frame: Frame, asked: FleetScenario) -> None:
    """What of the scenario a fleet takes differently."""
    scenario = frame.scenario
    example = next((example for example in EXAMPLES if example.fleet == asked), None)
    if example is not None:
        st.html(f'<p class="rf-note">{esc(tr(example.note))}</p>')
    if scenario.request_rate is not None:
        words = tr("A fleet finds its request rate from its users: the rate in the controls is left out.")
        st.html(f'<p class="rf-note">{esc(words)}</p>')
    if scenario.batch is not None:
        words = tr("The batch of {batch:,} is fixed in the controls, whatever speed is asked for.", batch=scenario.batch)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<p class="rf-note">{esc(words)}</p>', width="content")
            free = partial(change, scenario, batch=None)
            st.button(tr("Let the speed choose the batch"), key="free_batch", on_click=free)


def _figures(found: FleetReport, look: Look) -> None:
    """A day, and what moves the answer."""
    hours = day(found)
    pair = st.grid(2, min_column_width=FIGURE_PX)
    if hours is not None:
        with pair.cell():
            st.html(heading(tr("A day"), esc(day_sentence(hours))))
            chart(day_figure(hours, look), "fleet_day", day_alt(hours))
    with pair.cell():
        key = tr("Each assumption over its range, the others held. The line is the answer as it stands.")
        st.html(heading(tr("What moves the number of devices"), key))
        chart(tornado_figure(found.sensitivity, look), "fleet_swings", tornado_alt(found.sensitivity))


def _regions(found: FleetReport) -> None:
    st.html(heading(tr("Regions"), tr("In the busiest minutes of each. Round trips are included.")) + sites_table(found))
    st.html(heading(tr("In all")) + totals_table(found))


def _published() -> None:
    """A real service's numbers beside ours."""
    title = tr("What DeepSeek published of its own service")
    with st.expander(title, key="published_open", on_change="rerun") as opened:
        if opened.open:
            st.html(published_table(published_day()))


def _files(found: FleetReport) -> None:
    with st.container(horizontal=True):
        st.download_button(tr("Steps (CSV)"), partial(steps_csv, found), "fleet.csv", "text/csv", on_click="ignore")
        label = tr("Everything (JSON)")
        st.download_button(label, partial(fleet_json, found), "fleet.json", "application/json", on_click="ignore")
