"""The Cost page: what a token costs and why, against an API, over the years, in energy and carbon."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import streamlit as st

from roofline.answers.api import Against, against_api, crossing
from roofline.answers.costing import MOST_REQUESTS_PER_DAY, CostSheet, cost_sheet, requests_per_user_day
from roofline.answers.owning import multi_year
from roofline.answers.report import Report
from roofline.answers.sensitivity import sensitivity
from roofline.catalog.apis import api_prices, apis_of
from roofline.catalog.grids import WORLD, load_grid
from roofline.dashboard import carried, cost_basis, state
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.cost_files import cost_json, prices_csv
from roofline.dashboard.cost_view import OWN_API_START, CostView, api_parts, api_with, read
from roofline.dashboard.cost_words import (
    OWN_API,
    OWN_API_LABELS,
    against_table,
    api_line,
    api_words,
    cost_cards,
    cost_sentence,
    energy_table,
    grid_ids,
    grid_words,
    price_table,
    years_sentence,
    years_table,
    years_words,
)
from roofline.dashboard.page_controls import bound, change, number
from roofline.dashboard.quantities import PREFIX_HIT, UTILISATION
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, first_upper, heading, notice
from roofline.errors import RooflineError
from roofline.figures.money_plot import crossing_alt, crossing_figure, years_alt, years_figure
from roofline.figures.theme import Look
from roofline.figures.tornado import tornado_alt, tornado_figure
from roofline.language import tr
from roofline.specs.scenario import Scenario

_ANY_API = "openai/gpt-4o-mini"
"""Shown where no price of the model is listed."""
_LIFE = 0
"""Years: as long as a machine lives."""
_YEARS = (1, 2, 3, 4, 5, 6, 8, 10)


def draw(frame: Frame) -> None:
    """Draw what the scenario costs."""
    report = frame.report
    if report is None:
        st.html(notice(tr("This cannot be priced"), esc(first_upper(str(frame.error)))))
        return
    seen, _ = read(frame.query.get(carried.COST_KEY))
    sheet = cost_sheet(report.cost, seen.requests_per_day)
    cards = "" if sheet is None else cost_cards(sheet)
    st.html(f'<p class="rf-answer rf-trust">{esc(cost_sentence(report, sheet))}</p>{cards}')
    _prices(report, sheet, seen, frame.look)
    if sheet is not None:
        pair = st.grid(2, min_column_width=FIGURE_PX)
        with pair.cell():
            _swings(frame.scenario, frame.look)
            _energy(report)
        with pair.cell():
            _against(frame, seen)
    _years(frame, seen)
    _files(report, sheet)


def _prices(report: Report, sheet: CostSheet | None, seen: CostView, look: Look) -> None:
    """The split of a token's price beside the price of an hour."""
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        key = tr("USD. Input is computed or read from the cache; each pays for its device time.")
        st.html(heading(tr("What a token costs"), key))
        if sheet is not None:
            st.html(price_table(sheet, report.scenario.utilisation))
        _use(report.scenario, sheet, seen)
    with pair.cell():
        cost_basis.choose(report, look)
    cost_basis.details(report)


def _use(scenario: Scenario, sheet: CostSheet | None, seen: CostView) -> None:
    """How much of the time is used, how much of a prompt is cached, and what a user asks for."""
    columns = st.grid(3, min_column_width=150)
    for quantity in (UTILISATION, PREFIX_HIT):
        with columns.cell():
            value = getattr(scenario, quantity.field)
            number(quantity, Scenario.model_fields[quantity.field], value, partial(_set, scenario, quantity.field))
    if sheet is not None:
        with columns.cell():
            control = bound("requests", sheet.requests_per_day.value, lambda given: _look_at(seen, requests_per_day=given))
            help_text = tr("Usual: {source}", source=requests_per_user_day().source)
            label, most = tr("Requests of a user a day"), MOST_REQUESTS_PER_DAY
            st.number_input(label, min_value=0.01, max_value=most, step=1.0, format="%g", help=help_text, **control)


def _set(scenario: Scenario, field: str, value: float | None) -> None:
    change(scenario, **{field: Scenario.model_fields[field].default if value is None else value})


def _look_at(seen: CostView, **changes: Any) -> None:  # noqa: ANN401
    """Carry another view of costs in the address. Callbacks only."""
    state.carry(frozenset({carried.COST_KEY}), carried.cost_part(replace(seen, **changes)))


def _swings(scenario: Scenario, look: Look) -> None:
    """What moves the price most."""
    found = sensitivity(scenario)
    key = tr("Each assumption over its range, the others held. The line is the answer as it stands.")
    st.html(heading(tr("What moves the price of output"), key))
    if not found.swings:
        words = tr("Nothing is assumed that could move it: the price is yours, the time all used.")
        st.html(f'<p class="rf-answer">{esc(words)}</p>')
        return
    chart(tornado_figure(found, look), "cost_swings", tornado_alt(found))


def _against(frame: Frame, seen: CostView) -> None:
    """One's own system beside an API."""
    st.html(heading(tr("Against an API"), tr("USD a month for the same tokens, in this mix of prompt and output.")))
    known = apis_of(frame.scenario.model)
    chosen = seen.api if seen.api is not None else None if known else _ANY_API
    served = frame.scenario.model_copy(update={"request_rate": None})
    try:
        found = against_api(served, chosen)
    except RooflineError as error:
        st.html(f'<p class="rf-answer">{esc(first_upper(str(error)))}</p>')
        return
    _api_choice(seen, found)
    st.html(f'<p class="rf-answer">{esc(found.sentence)}</p>')
    if found.own_usd_per_hour is not None and isfinite(found.own_tokens_per_day):
        chart(crossing_figure(found, crossing(found), frame.look), "cost_api", crossing_alt(found))
    notes = [api_line(found)]
    if seen.api is None and not known:
        notes.append(tr("No public price of this model is listed, so another one stands here: choose your own."))
    if frame.scenario.request_rate is not None:
        notes.append(tr("The load is a request rate: here the system runs at the largest batch that fits."))
    st.html("".join(f'<p class="rf-note">{esc(line)}</p>' for line in notes) + against_table(found))


def _api_choice(seen: CostView, found: Against) -> None:
    """The API to compare with; three numbers where the price is one's own."""
    first = [price.id for price in apis_of(found.api.model)] if found.api.model else []
    ids = [*first, *(name for name in api_prices() if name not in first), OWN_API]
    current = found.api.id if found.api.id in ids else OWN_API
    control = bound("api", current, lambda ref: _look_at(seen, api=OWN_API_START if ref == OWN_API else ref))
    st.selectbox(tr("API price (USD per million tokens)"), ids, format_func=api_words, **control)
    if current != OWN_API:
        return
    columns = st.grid(3, min_column_width=110)
    for n, label in enumerate(OWN_API_LABELS):
        with columns.cell():
            control = bound(f"api_{n}", api_parts(found)[n], partial(_own_api, seen, found, n))
            st.number_input(tr(label), min_value=0.0, max_value=1e6, step=0.1, format="%g", **control)


def _own_api(seen: CostView, found: Against, place: int, usd: float) -> None:
    _look_at(seen, api=api_with(found, place, usd))


def _years(frame: Frame, seen: CostView) -> None:
    """Owning against renting, year by year."""
    key = tr("USD, all devices. Old machines are sold and replaced at the end of their life.")
    st.html(heading(tr("Over several years"), key))
    try:
        found = multi_year(frame.scenario, seen.years)
    except RooflineError as error:
        st.html(f'<p class="rf-answer">{esc(first_upper(str(error)))}</p>')
        return
    current = seen.years or _LIFE
    control = bound("years", current, lambda years: _look_at(seen, years=years or None))
    options = sorted({_LIFE, *_YEARS, current})
    st.selectbox(tr("Years"), options, format_func=years_words, width=220, **control)
    st.html(f'<p class="rf-answer">{esc(years_sentence(found))}</p>{years_table(found)}<p class="rf-note">{esc(found.basis)}</p>')
    with st.expander(tr("As a chart"), key="years_open", on_change="rerun") as opened:
        if opened.open:
            chart(years_figure(found, frame.look), "cost_years", years_alt(found))


def _energy(report: Report) -> None:
    """Joules and grams, with the grid chosen here."""
    st.html(heading(tr("Energy and carbon"), tr("At the load each device reaches, server and facility included.")))
    scenario = report.scenario
    current = WORLD if scenario.grid is None else load_grid(scenario.grid).id
    control = bound("grid", current, lambda ref: change(scenario, grid=None if ref == WORLD else ref))
    st.selectbox(tr("Electricity of"), grid_ids(), format_func=grid_words, width=420, **control)
    st.html(energy_table(report))


def _files(report: Report, sheet: CostSheet | None) -> None:
    """Everything as files."""
    with st.container(horizontal=True):
        if sheet is not None:
            st.download_button(tr("Prices (CSV)"), partial(prices_csv, sheet), "cost.csv", "text/csv", on_click="ignore")
        label = tr("Everything (JSON)")
        st.download_button(label, partial(cost_json, report), "cost.json", "application/json", on_click="ignore")
