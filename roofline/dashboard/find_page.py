"""The page Find hardware: a promise and a traffic in, the cheapest deployments out, and why the others lost."""

from __future__ import annotations

from functools import partial

import streamlit as st

from roofline.answers.found import Search
from roofline.answers.inverse import Solved, Wish, solved
from roofline.dashboard import choices, finding, use_row
from roofline.dashboard import find_tables as tables
from roofline.dashboard import find_words as words
from roofline.dashboard.details import chart_config
from roofline.dashboard.fields import Values
from roofline.dashboard.find_view import (
    CATEGORIES,
    FIND_VIEW,
    MOST,
    MOST_NAMED,
    PACES,
    PERCENTILES,
    PRICES,
    QUESTIONS,
    TRAFFICS,
    format_choices,
    milliseconds_s,
    search_query,
)
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import RooflineError
from roofline.figures.pareto_plot import pareto_alt, pareto_figure
from roofline.figures.theme import Look, as_figure
from roofline.specs.search import AS_STORED, SearchQuery

_RAN, _GO, _SOLVED = "_find_ran", "_find_go", "_find_solved"
_key = FIND_VIEW.widget


def draw(frame: Frame) -> None:
    """Draw the question, and the answer once it was asked for."""
    values = FIND_VIEW.now()
    intro = words.INTRO.format(model=choices.model_words(frame.scenario.model))
    st.html(f'<p class="rf-answer">{esc(intro)}</p>')
    _promise(values)
    _choice(values)
    try:
        query = search_query(values, frame.scenario)
    except RooflineError as error:
        st.html(notice("This cannot be searched for", esc(error)))
        return
    st.button(words.SEARCH_LABEL, key="find_search", type="primary", on_click=_ask)
    found = _answer(values, query)
    if found is not None:
        _results(found, frame)
    _inverse(values, frame)


def _ask() -> None:
    FIND_VIEW.change(ran=True)
    st.session_state[_GO] = True


def _promise(values: Values) -> None:
    """What must be kept, and for how much traffic."""
    cells = st.grid(3, min_column_width=250)
    with cells.cell():
        st.segmented_control("Speed", PACES, key=_key("pace"), required=True, format_func=words.PACE_WORDS.__getitem__)
        if values["pace"] == "speed":
            st.number_input("At least (tokens/s per user)", min_value=1e-6, step=5.0, key=_key("speed"), format="%g")
        elif values["pace"] == "tpot":
            st.number_input("At most (ms per output token)", min_value=1e-6, step=5.0, key=_key("tpot"), format="%g")
    with cells.cell():
        st.selectbox("Held for", PERCENTILES, key=_key("pct"), format_func=words.percentile_words, help=words.HELP_PERCENTILE)
        st.number_input(
            "TTFT at most (s)", value=None, min_value=1e-6, step=0.5, key=_key("ttft"), format="%g", help=words.HELP_TTFT
        )
    with cells.cell():
        st.segmented_control("Traffic", TRAFFICS, key=_key("load"), required=True, format_func=words.TRAFFIC_WORDS.__getitem__)
        if values["load"] == "rate":
            st.number_input("Requests per second, in all", min_value=1e-9, step=1.0, key=_key("rate"), format="%g")
        elif values["load"] == "users":
            st.number_input("Requests in flight, in all", min_value=1, step=10, key=_key("users"))


def _choice(values: Values) -> None:
    """What there is to choose from, and what it is paid by."""
    with st.expander(words.choice_words(values), key="find_choice"):
        st.multiselect("Kinds of hardware", CATEGORIES, key=_key("cats"), placeholder="All kinds")
        st.multiselect(
            "Devices",
            choices.hardware(),
            key=_key("hw"),
            format_func=choices.hardware_words,
            max_selections=MOST_NAMED,
            placeholder="All that ship",
            help=words.HELP_HARDWARE,
        )
        cells = st.grid(3, min_column_width=220)
        with cells.cell():
            st.selectbox("Price", PRICES, key=_key("price"), format_func=words.PRICE_WORDS.__getitem__, help=words.HELP_PRICE)
        with cells.cell():
            help_usd = words.HELP_USD
            label = "Your price (USD per device-hour)"
            st.number_input(label, value=None, min_value=0.0, step=0.1, key=_key("usd"), format="%g", help=help_usd)
        with cells.cell():
            st.selectbox("Most devices in a replica", MOST, key=_key("most"), help=words.HELP_MOST)
        st.multiselect(
            "Weight formats",
            format_choices(),
            key=_key("formats"),
            format_func=lambda name: "as stored" if name == AS_STORED else name,
            placeholder="Usual ones",
            help=words.HELP_FORMATS,
        )
        st.checkbox("Also parts that do not ship yet", key=_key("new"))


def _answer(values: Values, query: SearchQuery) -> Search | None:
    """The answer that is on the page: of the question asked last, or of a link to an answer."""
    go = st.session_state.pop(_GO, False)
    if go or (values["ran"] and _RAN not in st.session_state):
        st.session_state[_RAN] = query
    ran: SearchQuery | None = st.session_state.get(_RAN)
    if ran is None:
        st.html(f'<p class="rf-note">{esc(words.NOT_RUN)}</p>')
        return None
    try:
        found = finding.known(ran) or _searched(ran)
    except RooflineError as error:
        st.html(notice("No answer for this", esc(error)))
        return None
    if ran != query:
        st.html(f'<p class="rf-note" role="status"><span class="rf-mark">{esc(words.CHANGED)}</span></p>')
    return found


def _searched(query: SearchQuery) -> Search:
    bar = st.progress(0.0, "…")

    def told(share: float, done: int, of: int) -> None:
        bar.progress(share, words.progress_words(done, of))

    found = finding.found(query, told)
    bar.empty()
    return found


def _results(found: Search, frame: Frame) -> None:
    st.html(f'<p class="rf-answer rf-trust" role="status">{esc(found.sentence)}</p>' + words.notes_html(found))
    if found.winners:
        _winners(found, frame)
    elif found.nearest is not None:
        st.html(heading("The nearest point") + words.detail_html(found.nearest))
        use_row.buttons(found.nearest.scenario, frame, "find_nearest")
    if found.cost_frontier:
        _frontier(found, frame.look)
    _losers(found)


def _winners(found: Search, frame: Frame) -> None:
    st.html(heading("Cheapest deployments", words.CHOOSE_ROW))
    table = tables.winners_frame(found.winners)
    chosen = st.dataframe(
        table,
        hide_index=True,
        key="find_winners",
        on_select="rerun",
        selection_mode="single-row",
        column_config=tables.columns(table),
        alt=f"{len(table)} deployments, cheapest first. {found.sentence}",
    )
    rows = [row for row in chosen.selection.rows if row < len(found.winners)]
    item = found.winners[rows[0] if rows else 0]
    title = f"{item.devices:,} × {item.hardware_name}" if rows else f"The cheapest: {item.devices:,} × {item.hardware_name}"
    st.html(heading(title, level=3) + words.detail_html(item))
    use_row.buttons(item.scenario, frame, "find")
    with st.container(horizontal=True):
        csv, whole = partial(tables.winners_csv, found), partial(tables.search_bytes, found)
        st.download_button("Download CSV", csv, "deployments.csv", "text/csv", on_click="ignore")
        st.download_button("Download JSON", whole, "search.json", "application/json", on_click="ignore")


def _frontier(found: Search, look: Look) -> None:
    st.html(heading("Speed per user against cost", words.FIGURE_KEY))
    figure, config = as_figure(pareto_figure(found, look)), chart_config(look, "frontier")
    st.plotly_chart(figure, theme=None, key="find_chart", config=config, alt=pareto_alt(found))
    twin = st.expander("The same as a table", key="find_twin", on_change="rerun")
    if twin.open:
        with twin:
            table = tables.frontier_frame(found.cost_frontier)
            shown = tables.columns(table)
            st.dataframe(table, hide_index=True, key="find_frontier", column_config=shown, alt=pareto_alt(found))
            file = partial(tables.frontier_csv, found)
            st.download_button("Download CSV", file, "frontier.csv", "text/csv", on_click="ignore", key="find_frontier_csv")


def _losers(found: Search) -> None:
    if not found.losers:
        return
    st.html(heading("Why the others lost", words.LOSERS_KEY) + words.causes_html(found))
    count = len(found.losers)
    with st.expander(f"The {count:,} devices with their reasons", key="find_losers_open", on_change="rerun") as opened:
        if opened.open:
            text = st.text_input("Search in names and reasons", key="find_losers_text", max_chars=60).lower()
            shown = [item for item in found.losers if text in f"{item.hardware_name} {item.reason}".lower()]
            table = tables.losers_frame(shown)
            alt = f"{len(shown)} devices that lost, each with its reason"
            st.dataframe(table, hide_index=True, key="find_losers", column_config=tables.columns(table), alt=alt)
            file = partial(tables.losers_csv, found)
            st.download_button("Download CSV", file, "reasons.csv", "text/csv", on_click="ignore", key="find_losers_csv")


def _inverse(values: Values, frame: Frame) -> None:
    """The question turned round, for the one machine of the scenario."""
    scenario, ask = frame.scenario, values["ask"]
    machine = f"{choices.model_words(scenario.model)} on {scenario.devices:,} × {choices.hardware_words(scenario.hardware)}"
    st.html(heading("Turned round", esc(f"{words.INVERSE_KEY} {machine}.")))
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        st.selectbox("Question", QUESTIONS, key=_key("ask"), format_func=words.QUESTION_WORDS.__getitem__)
    if ask == "price":
        with cells.cell():
            st.number_input("API: USD per million input tokens", min_value=0.0, step=0.1, key=_key("askin"), format="%g")
        with cells.cell():
            st.number_input("API: USD per million output tokens", min_value=0.0, step=0.1, key=_key("askout"), format="%g")
    else:
        with cells.cell():
            st.number_input("TPOT at most (ms)", min_value=1e-6, step=5.0, key=_key("asktpot"), format="%g")
    if ask in ("context", "devices"):
        with cells.cell():
            label = "TTFT at most (s), empty: any"
            st.number_input(label, value=None, min_value=1e-6, step=0.5, key=_key("askttft"), format="%g")
    wish = Wish(scenario, values["askttft"], milliseconds_s(values["asktpot"]), values["askin"], values["askout"])
    st.button("Solve", key="find_solve", on_click=_solve, args=(ask, wish))
    asked = st.session_state.get(_SOLVED)
    if asked is None or asked[:2] != (ask, wish):
        return
    found: Solved | str = asked[2]
    if isinstance(found, str):
        st.html(f'<p class="rf-bad" role="alert">{esc(found)}</p>')
        return
    st.html(words.solved_html(found))
    if found.scenario is not None:
        use_row.buttons(found.scenario, frame, "find_solved")


def _solve(ask: str, wish: Wish) -> None:
    try:
        found: Solved | str = solved(ask, wish)
    except RooflineError as error:
        found = str(error)
    st.session_state[_SOLVED] = (ask, wish, found)
