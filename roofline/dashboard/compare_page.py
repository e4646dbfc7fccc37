"""The Compare page: two to four scenarios side by side, differences first, and a map over any two inputs."""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import streamlit as st

from roofline.answers.compare import Comparison, compare, curves
from roofline.answers.field_map import AXES, VALUES, FieldMap, field_map, read_map
from roofline.answers.report import BatchCurve
from roofline.answers.serialise import plain
from roofline.dashboard import choices, state
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.compare_edit import Board, editor
from roofline.dashboard.compare_words import (
    MAP_KEY,
    PLOT_WORDS,
    answer_html,
    comparison_table,
    csv_rows,
    curve_rows,
    legend_html,
    map_sentence,
    memory_html,
)
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import RooflineError
from roofline.figures.compare_plot import PLOTS, compare_alt, compare_figure
from roofline.figures.map_plot import INPUT_WORDS, VALUE_WORDS, map_alt, map_figure
from roofline.figures.theme import Look
from roofline.language import ENGLISH, cached, later, told_in, tr
from roofline.link_compare import FIRST, decode_others
from roofline.specs.scenario import Scenario

_PLOT, _MAP = "plot", "map"
_FIRST_MAP = ("batch", "input_tokens", "user")
_CURVES_KEY = later("Band: 10th to 90th percentile of what is expected. Hollow marks: each scenario's own batch.")


def draw(frame: Frame) -> None:
    """Draw all scenarios of the link."""
    board, problems = _board(frame.scenario)
    if problems:
        lines = "".join(f"<li>{esc(problem)}</li>" for problem in problems)
        st.html(notice(tr("Part of what is compared could not be read"), f"<ul>{lines}</ul>"))
    found = _compared(tuple({FIRST: board.first, **board.others}.items()))
    st.html(legend_html(found, frame.look.palette) + answer_html(found))
    if board.others:
        key = tr("Inputs that differ, then expected numbers with the band of each and how far it is from A.")
        st.html(heading(tr("Side by side"), key) + comparison_table(found))
    editor(board, frame.pages["Calculator"])
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        _curves(found, frame.look)
    with pair.cell():
        _map(board.first, frame.look)
    key = tr("Each device's memory, all on one scale.")
    st.html(heading(tr("Memory"), key) + memory_html(found, frame.look.palette))
    _downloads(found)


def _board(first: Scenario) -> tuple[Board, tuple[str, ...]]:
    """The scenarios of the link, by catalogue ids."""
    decoded = decode_others(state.page_values(), first)
    others: dict[str, Scenario] = {}
    problems = list(decoded.problems)
    for letter, scenario in decoded.scenarios.items():
        others[letter], unknown = choices.known(scenario, first)
        problems += [f"{letter.upper()}: {problem}" for problem in unknown.values()]
    return Board(first, others), tuple(problems)


@cached(maxsize=64)
def _compared(scenarios: tuple[tuple[str, Scenario], ...]) -> Comparison:
    return compare(dict(scenarios))


def _curves(found: Comparison, look: Look) -> None:
    """One figure with the curves of all."""
    st.html(heading(tr("Curves of all"), tr(_CURVES_KEY)))
    kept = state.page_values().get(_PLOT)
    plot = kept if kept in PLOTS else PLOTS[0]
    st.session_state["cmp_plot"] = plot
    st.segmented_control(
        tr("Curves"),
        PLOTS,
        key="cmp_plot",
        format_func=lambda name: tr(PLOT_WORDS[name]),
        required=True,
        on_change=_keep_plot,
        wrap=True,
    )
    reports = {entry.letter: entry.answered for entry in found.entries if entry.answered is not None}
    if not reports:
        words = tr("No scenario fits, so there are no curves: see above what would.")
        st.html(f'<p class="rf-answer">{esc(words)}</p>')
        return
    drawn = curves(found)
    chart(compare_figure(reports, drawn, plot, look), "compare_chart", compare_alt(reports, plot))
    label, file = tr("Download the curves (CSV)"), partial(_curves_csv, drawn)
    st.download_button(label, file, "curves.csv", "text/csv", on_click="ignore")


def _keep_plot() -> None:
    chosen = st.session_state["cmp_plot"]
    state.set_page({_PLOT: None if chosen == PLOTS[0] else chosen})


def _map(first: Scenario, look: Look) -> None:
    """A number of A over two inputs."""
    st.html(heading(tr("Map of A over two inputs"), tr(MAP_KEY)))
    x, y, value = _map_choices()
    try:
        with st.spinner(tr("Sweeping over both inputs…")):
            found = _field_map(first, x, y, value)
    except RooflineError as error:
        st.html(notice(tr("No map for this"), esc(str(error))))
        return
    chart(map_figure(found, look), "map_chart", map_alt(found))
    st.html(f'<p class="rf-note">{esc(map_sentence(found))}</p>')
    label, file = tr("Download the map (CSV)"), partial(_map_csv, first, x, y, value)
    st.download_button(label, file, "map.csv", "text/csv", on_click="ignore")


@cached(maxsize=64)
def _field_map(scenario: Scenario, x: str, y: str, value: str) -> FieldMap:
    return field_map(scenario, x, y, value)


def _map_choices() -> tuple[str, str, str]:
    """Both inputs and the number, as the link says."""
    kept = read_map(state.page_values().get(_MAP)) or _FIRST_MAP
    for name, chosen in zip(("x", "y", "value"), kept, strict=True):
        st.session_state[f"cmp_map_{name}"] = chosen
    columns = st.columns(3)
    with columns[0]:
        st.selectbox(tr("Across"), tuple(AXES), key="cmp_map_x", format_func=_input_words, on_change=_keep_map)
    with columns[1]:
        st.selectbox(tr("Upwards"), tuple(AXES), key="cmp_map_y", format_func=_input_words, on_change=_keep_map)
    with columns[2]:
        st.selectbox(tr("Shown"), tuple(VALUES), key="cmp_map_value", format_func=_value_words, on_change=_keep_map)
    return kept


def _input_words(name: str) -> str:
    return tr(INPUT_WORDS[name])


def _value_words(name: str) -> str:
    return tr(VALUE_WORDS[name])


def _keep_map() -> None:
    """Both inputs and the number into the link; the same input twice changes places."""
    before = read_map(state.page_values().get(_MAP)) or _FIRST_MAP
    x, y, value = (st.session_state[f"cmp_map_{name}"] for name in ("x", "y", "value"))
    if x == y:
        x, y = before[1], before[0]
    state.set_page({_MAP: None if (x, y, value) == _FIRST_MAP else ",".join((x, y, value))})


def _map_csv(first: Scenario, x: str, y: str, value: str) -> bytes:
    with told_in(ENGLISH):
        text: str = _field_map(first, x, y, value).table.to_csv(index=False)
    return text.encode()


def _downloads(found: Comparison) -> None:
    with st.container(horizontal=True, key="cmp_downloads"):
        label, file = tr("Download the numbers (CSV)"), partial(_csv, found)
        st.download_button(label, file, "compare.csv", "text/csv", on_click="ignore")
        label, file = tr("Download the numbers (JSON)"), partial(_json, found)
        st.download_button(label, file, "compare.json", "application/json", on_click="ignore")


def _csv(found: Comparison) -> bytes:
    return pd.DataFrame(csv_rows(found)).to_csv(index=False).encode()


def _curves_csv(drawn: dict[str, BatchCurve]) -> bytes:
    return pd.DataFrame(curve_rows(drawn)).to_csv(index=False).encode()


def _json(found: Comparison) -> bytes:
    return json.dumps(plain(csv_rows(found)), indent=2).encode()
