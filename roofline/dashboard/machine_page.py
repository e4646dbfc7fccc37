"""The page My machine: what the machine of the scenario can run, and what to buy for its model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from roofline.answers.advisor import MachineAdvice, machine_advice
from roofline.answers.purchase import PurchaseAdvice, purchase_advice
from roofline.dashboard import choices, use_row
from roofline.dashboard import machine_tables as tables
from roofline.dashboard import machine_words as words
from roofline.dashboard.charts import chart
from roofline.dashboard.fields import Values
from roofline.dashboard.machine_view import (
    CONTEXTS,
    MACHINE_VIEW,
    MOST,
    QUESTIONS,
    can_offload,
    machine_query,
    purchase_query,
)
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import RooflineError
from roofline.figures.machine_plot import machine_alt, machine_figure
from roofline.language import ENGLISH, cached, told_in, tr

_KEPT = 24
"""Answers that are remembered."""
_key = MACHINE_VIEW.widget
_machine_advice = cached(maxsize=_KEPT)(machine_advice)
_purchase_advice = cached(maxsize=_KEPT)(purchase_advice)
Q = TypeVar("Q")
A = TypeVar("A")


def draw(frame: Frame) -> None:
    """Draw one of the two questions."""
    values = MACHINE_VIEW.now()
    st.segmented_control(
        tr("Question"),
        QUESTIONS,
        key=_key("ask"),
        required=True,
        format_func=lambda ask: tr(words.QUESTION_WORDS[ask]),
        label_visibility="collapsed",
        wrap=True,
    )
    try:
        if values["ask"] == "runs":
            _runs(values, frame)
        else:
            _buy(values, frame)
    except RooflineError as error:
        st.html(notice(tr("No answer for this"), esc(error)))


def _speed() -> None:
    """The speed that is wished for, by either question."""
    label, hint = tr("At least (tokens/s)"), tr(words.HELP_SPEED)
    st.number_input(label, min_value=0.0, step=5.0, key=_key("speed"), format="%g", help=hint)


def _runs(values: Values, frame: Frame) -> None:
    scenario = frame.scenario
    st.html(f'<p class="rf-note">{esc(words.machine_words(scenario, choices.hardware_words(scenario.hardware)))}</p>')
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        _speed()
    with cells.cell():
        st.selectbox(tr("Context that must fit"), CONTEXTS, key=_key("context"), format_func=words.context_words)
    with cells.cell():
        able = can_offload(scenario)
        hint = tr(words.HELP_HOST if able else words.NO_HOST)
        st.checkbox(tr("Host memory may help"), key=_key("host"), disabled=not able, help=hint)
        st.checkbox(tr("Slower ones too"), key=_key("slow"))
        st.checkbox(tr("Every format"), key=_key("every"))
    with st.spinner(tr("Trying every model in every usual format…")):
        found = _machine_advice(machine_query(values, scenario))
    st.html(f'<p class="rf-answer rf-trust" role="status">{esc(found.sentence)}</p>' + words.problems_html(found.problems))
    if found.runs:
        _runs_table(found, values, frame)
        st.html(heading(tr("Size against speed"), tr(words.FIGURE_KEY)))
        figure = machine_figure(found.runs, found.query.least_tokens_per_s, frame.look)
        chart(figure, "mine_chart", machine_alt(found.sentence))
    _measure()


def _runs_table(found: MachineAdvice, values: Values, frame: Frame) -> None:
    wished = [run for run in found.runs if run.comfortable or values["slow"]]
    shown = tuple(wished) if values["every"] else tables.best_formats(wished)
    st.html(heading(tr("Models"), tr(words.RUNS_KEY)))
    if not shown:
        st.html(f'<p class="rf-answer">{esc(tr(words.NOTHING_SHOWN))}</p>')
    else:
        alt = tr("{n} rows, the largest model first. {sentence}", n=len(shown), sentence=found.sentence)
        table = tables.in_gibibytes(tables.runs_frame(shown))
        run = shown[_chosen_row(table, "mine_runs", alt)]
        st.html(
            heading(tr("{model}, weights {weights}", model=run.model_name, weights=run.weights), level=3) + words.run_html(run)
        )
        use_row.buttons(run.scenario, frame, "mine")
    with st.container(horizontal=True):
        csv, whole = (partial(_file, write, _machine_advice, found.query) for write in (tables.runs_csv, tables.runs_bytes))
        st.download_button(tr("Download CSV"), csv, "my-machine.csv", "text/csv", on_click="ignore")
        st.download_button(tr("Download JSON"), whole, "my-machine.json", "application/json", on_click="ignore")


def _chosen_row(table: pd.DataFrame, key: str, alt: str) -> int:
    """A table to choose from, and the row chosen: the first until there is one."""
    options: dict[str, Any] = {"hide_index": True, "column_config": tables.columns(table), "height": 420}
    chosen = st.dataframe(table, key=key, on_select="rerun", selection_mode="single-row", alt=alt, **options)
    rows = [row for row in chosen.selection.rows if row < len(table)]
    return rows[0] if rows else 0


def _file(written: Callable[[A], bytes], advise: Callable[[Q], A], query: Q) -> bytes:
    """A file of an answer: files never change language."""
    with told_in(ENGLISH):
        return written(advise(query))


def _measure() -> None:
    """How to have a machine measured, without anything leaving it."""
    with st.expander(tr(words.MEASURE_TITLE), key="mine_measure"):
        st.html(f'<p class="rf-answer">{esc(tr(words.MEASURE_STEPS))}</p>')
        st.code(words.MEASURE_COMMAND, language=None)
        st.html(f'<p class="rf-answer">{esc(tr(words.MEASURE_UPLOAD))}</p>')


def _buy(values: Values, frame: Frame) -> None:
    scenario = frame.scenario
    st.html(f'<p class="rf-note">{esc(words.model_line(choices.model_words(scenario.model)))}</p>')
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        _speed()
    with cells.cell():
        st.selectbox(tr("Most devices in the machine"), MOST, key=_key("most"))
    with cells.cell():
        st.checkbox(tr("Also parts that do not ship yet"), key=_key("new"))
        st.checkbox(tr("Every number and format"), key=_key("every"))
    with st.spinner(tr("Trying every device…")):
        found = _purchase_advice(purchase_query(values, scenario))
    notes = f'<p class="rf-note">{esc(tr(words.BUY_NOTES))}</p>'
    st.html(f'<p class="rf-answer rf-trust" role="status">{esc(found.sentence)}</p>' + notes)
    if found.offers:
        _offers_table(found, values, frame)


def _offers_table(found: PurchaseAdvice, values: Values, frame: Frame) -> None:
    shown = found.offers if values["every"] or not found.best else found.best
    st.html(heading(tr("Machines"), tr(words.BUY_KEY)))
    alt = tr("{n} machines, cheapest first. {sentence}", n=len(shown), sentence=found.sentence)
    offer = shown[_chosen_row(tables.offers_frame(shown), "mine_offers", alt)]
    st.html(heading(words.offer_title(offer), level=3) + words.offer_html(offer))
    use_row.buttons(offer.scenario, frame, "mine_buy")
    with st.container(horizontal=True):
        csv, whole = (partial(_file, write, _purchase_advice, found.query) for write in (tables.offers_csv, tables.offers_bytes))
        st.download_button(tr("Download CSV"), csv, "what-to-buy.csv", "text/csv", on_click="ignore")
        st.download_button(tr("Download JSON"), whole, "what-to-buy.json", "application/json", on_click="ignore")
