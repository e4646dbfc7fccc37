"""The page Find hardware: a promise and a traffic in, the cheapest deployments out, and why the others lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from roofline.answers.inverse import Solved, Wish, solved
from roofline.answers.search_result import Search
from roofline.dashboard import choices, search_runs, use_row
from roofline.dashboard import find_tables as tables
from roofline.dashboard import find_words as words
from roofline.dashboard.charts import chart
from roofline.dashboard.fields import Values
from roofline.dashboard.find_view import (
    FIND_VIEW,
    MOST,
    MOST_NAMED,
    PACES,
    PERCENTILES,
    PRICES,
    QUESTIONS,
    TRAFFICS,
    asked_wish,
    format_choices,
    search_query,
)
from roofline.dashboard.shell import Frame, another
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import RooflineError
from roofline.figures.pareto_plot import pareto_alt, pareto_figure
from roofline.figures.theme import Look
from roofline.language import ENGLISH, cached, localised, told_in, tr
from roofline.specs.hardware import CATEGORIES
from roofline.specs.search import AS_STORED, SearchQuery

_RAN, _GO, _SOLVED = "_find_ran", "_find_go", "_find_solved"
_key = FIND_VIEW.widget


def draw(frame: Frame) -> None:
    """Draw the question, and the answer once it was asked for."""
    values = FIND_VIEW.now()
    intro = tr(words.INTRO, model=choices.model_words(frame.scenario.model))
    st.html(f'<p class="rf-answer">{esc(intro)}</p>')
    _promise(values)
    _choice(values)
    _search(values, frame)
    _inverse(values, frame)


def _search(values: Values, frame: Frame) -> None:
    """The search of the question, and its answer once it was asked for."""
    try:
        query = search_query(values, frame.scenario)
    except RooflineError as error:
        st.html(notice(tr("This cannot be searched for"), esc(error)))
        return
    st.button(tr(words.SEARCH_LABEL), key="find_search", type="primary", on_click=_ask)
    found = _answer(values, query)
    if found is not None:
        _results(found, frame)


def _ask() -> None:
    FIND_VIEW.change(ran=True)
    st.session_state[_GO] = True


def _promise(values: Values) -> None:
    """What must be kept, and for how much traffic."""
    cells = st.grid(3, min_column_width=250)
    with cells.cell():
        pace = _told(words.PACE_WORDS)
        st.segmented_control(tr("Speed"), PACES, key=_key("pace"), required=True, format_func=pace, wrap=True)
        if values["pace"] == "speed":
            label = tr("At least (tokens/s per user)")
            _decimal("speed", label, 1e-6, 5.0)
        elif values["pace"] == "tpot":
            label = tr("At most (ms per output token)")
            _decimal("tpot", label, 1e-6, 5.0)
    with cells.cell():
        hint = tr(words.HELP_PERCENTILE)
        st.selectbox(tr("Held for"), PERCENTILES, key=_key("pct"), format_func=words.percentile_words, help=hint)
        label, hint = tr("TTFT at most (s)"), tr(words.HELP_TTFT)
        _decimal("ttft", label, 1e-6, 0.5, help_text=hint)
    with cells.cell():
        load = _told(words.TRAFFIC_WORDS)
        st.segmented_control(tr("Traffic"), TRAFFICS, key=_key("load"), required=True, format_func=load, wrap=True)
        if values["load"] == "rate":
            _decimal("rate", tr("Requests per second, in all"), 1e-9, 1.0)
        elif values["load"] == "users":
            st.number_input(tr("Requests in flight, in all"), value=None, min_value=1, step=10, key=_key("users"))


def _decimal(name: str, label: str, least: float, step: float, *, help_text: str | None = None) -> None:
    """A number; an empty field holds none, and not the least there is."""
    st.number_input(label, value=None, min_value=least, step=step, key=_key(name), format="%g", help=help_text)


def _told(table: Mapping[str, str]) -> Callable[[str], str]:
    """What a list shows for its options."""
    return lambda name: tr(table[name])


def _choice(values: Values) -> None:
    """What there is to choose from, and what it is paid by."""
    with st.expander(words.choice_words(values), key="find_choice"):
        kinds, every = tr("Kinds of hardware"), tr("All kinds")
        st.multiselect(kinds, CATEGORIES, key=_key("cats"), format_func=words.category_words, placeholder=every)
        st.multiselect(
            tr("Hardware"),
            choices.hardware(),
            key=_key("hw"),
            format_func=choices.hardware_words,
            max_selections=MOST_NAMED,
            placeholder=tr("All that ship"),
            help=tr(words.HELP_HARDWARE),
        )
        cells = st.grid(3, min_column_width=220)
        with cells.cell():
            price, hint = _told(words.PRICE_WORDS), tr(words.HELP_PRICE)
            st.selectbox(tr("Price"), PRICES, key=_key("price"), format_func=price, help=hint)
        with cells.cell():
            label, hint = tr("Your price (USD per device-hour)"), tr(words.HELP_USD)
            _decimal("usd", label, 0.0, 0.1, help_text=hint)
        with cells.cell():
            st.selectbox(tr("Most devices in a replica"), MOST, key=_key("most"), help=tr(words.HELP_MOST))
        st.multiselect(
            tr("Weight formats"),
            format_choices(),
            key=_key("formats"),
            format_func=lambda name: tr("as stored") if name == AS_STORED else name,
            placeholder=tr("Usual ones"),
            help=tr(words.HELP_FORMATS),
        )
        st.checkbox(tr("Also parts that do not ship yet"), key=_key("new"))


def _answer(values: Values, query: SearchQuery) -> Search | None:
    """The answer that is on the page: of the question asked last, or of a link to an answer."""
    go = st.session_state.pop(_GO, False)
    if go or (values["ran"] and _RAN not in st.session_state):
        st.session_state[_RAN] = query
    ran: SearchQuery | None = st.session_state.get(_RAN)
    if ran is None:
        st.html(f'<p class="rf-note">{esc(tr(words.NOT_RUN))}</p>')
        return None
    try:
        found = search_runs.known(ran) or _searched(ran)
    except RooflineError as error:
        st.html(notice(tr("No answer for this"), esc(error)))
        return None
    if ran != query:
        st.html(notice(tr(words.CHANGED), esc(words.changed(ran, query))))
    another()
    return found


def _searched(query: SearchQuery) -> Search:
    bar = st.progress(0.0, "…")

    def told(share: float, done: int, of: int) -> None:
        bar.progress(share, words.progress_words(done, of))

    found = search_runs.found(query, told)
    bar.empty()
    return found


def _results(found: Search, frame: Frame) -> None:
    st.html(f'<p class="rf-answer rf-trust" role="status">{esc(found.sentence)}</p>' + words.notes_html(found))
    if found.winners:
        _winners(found, frame)
    elif found.nearest is not None:
        st.html(heading(tr("The nearest point")) + words.detail_html(found.nearest, found.query))
        use_row.buttons(found.nearest.scenario, frame, "find_nearest")
    if found.cost_frontier:
        _frontier(found, frame.look)
    _losers(found)


def _winners(found: Search, frame: Frame) -> None:
    st.html(heading(words.winners_title(found.query), tr(words.CHOOSE_ROW)))
    table = tables.winners_frame(found.winners)
    chosen = st.dataframe(
        table,
        hide_index=True,
        key="find_winners",
        on_select="rerun",
        selection_mode="single-row",
        column_config=tables.columns(table),
        alt=tr("{n} deployments, cheapest first. {sentence}", n=len(table), sentence=found.sentence),
    )
    rows = [row for row in chosen.selection.rows if row < len(found.winners)]
    item = found.winners[rows[0] if rows else 0]
    machines = f"{localised(f'{item.devices:,}')} × {item.hardware_name}"
    title = machines if rows else tr("The cheapest: {machines}", machines=machines)
    st.html(heading(title, level=3) + words.detail_html(item, found.query))
    use_row.buttons(item.scenario, frame, "find")
    with st.container(horizontal=True):
        csv, whole = partial(_file, tables.winners_csv, found.query), partial(_file, tables.search_bytes, found.query)
        st.download_button(tr("Download CSV"), csv, "deployments.csv", "text/csv", on_click="ignore")
        st.download_button(tr("Download JSON"), whole, "search.json", "application/json", on_click="ignore")


def _file(written: Callable[[Search], bytes], query: SearchQuery) -> bytes:
    """A file of an answer: files never change language."""
    with told_in(ENGLISH):
        return written(search_runs.found(query, search_runs.untold))


def _frontier(found: Search, look: Look) -> None:
    st.html(heading(tr("Speed per user against cost"), tr(words.FIGURE_KEY)))
    chart(pareto_figure(found, look), "find_chart", pareto_alt(found))
    twin = st.expander(tr("The same as a table"), key="find_twin", on_change="rerun")
    if twin.open:
        with twin:
            table = tables.frontier_frame(found.cost_frontier)
            shown = tables.columns(table)
            st.dataframe(table, hide_index=True, key="find_frontier", column_config=shown, alt=pareto_alt(found))
            label, file = tr("Download CSV"), partial(_file, tables.frontier_csv, found.query)
            st.download_button(label, file, "frontier.csv", "text/csv", on_click="ignore", key="find_frontier_csv")


def _losers(found: Search) -> None:
    if not found.losers:
        return
    st.html(heading(tr("Why the others lost"), tr(words.LOSERS_KEY)) + words.causes_html(found))
    title = tr("The {n:,} devices with their reasons", n=len(found.losers))
    with st.expander(title, key="find_losers_open", on_change="rerun") as opened:
        if opened.open:
            text = st.text_input(tr("Search in names and reasons"), key="find_losers_text", max_chars=60).lower()
            shown = [item for item in found.losers if text in f"{item.hardware_name} {item.reason}".lower()]
            table = tables.losers_frame(shown)
            alt = tr("{n} devices that lost, each with its reason", n=len(shown))
            st.dataframe(table, hide_index=True, key="find_losers", column_config=tables.columns(table), alt=alt)
            label, file = tr("Download CSV"), partial(_file, tables.losers_csv, found.query)
            st.download_button(label, file, "reasons.csv", "text/csv", on_click="ignore", key="find_losers_csv")


def _inverse(values: Values, frame: Frame) -> None:
    """The question turned round, for the one machine of the scenario."""
    scenario, ask = frame.scenario, values["ask"]
    machine = tr(
        "{model} on {n:,} × {hardware}.",
        model=choices.model_words(scenario.model),
        n=scenario.devices,
        hardware=choices.hardware_words(scenario.hardware),
    )
    st.html(heading(tr("Turned round"), esc(f"{tr(words.INVERSE_KEY)} {machine}")))
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        st.selectbox(tr("Question"), QUESTIONS, key=_key("ask"), format_func=_told(words.QUESTION_WORDS))
    if ask == "price":
        with cells.cell():
            _decimal("askin", tr("API: USD per million input tokens"), 0.0, 0.1)
        with cells.cell():
            _decimal("askout", tr("API: USD per million output tokens"), 0.0, 0.1)
    elif ask in ("context", "devices"):
        with cells.cell():
            _decimal("ctxtpot" if ask == "context" else "asktpot", tr("TPOT at most (ms), empty: any"), 1e-6, 5.0)
        with cells.cell():
            _decimal("askttft", tr("TTFT at most (s), empty: any"), 1e-6, 0.5)
    elif ask != "compute-bound":
        with cells.cell():
            _decimal("asktpot", tr("TPOT at most (ms)"), 1e-6, 5.0)
    wish = asked_wish(values, scenario)
    st.button(tr("Solve"), key="find_solve", on_click=_solve, args=(ask, wish))
    if st.session_state.get(_SOLVED) == (ask, wish):
        _solution(ask, wish, frame)


def _solve(ask: str, wish: Wish) -> None:
    st.session_state[_SOLVED] = ask, wish


def _solution(ask: str, wish: Wish, frame: Frame) -> None:
    found = _solved(ask, wish)
    if isinstance(found, str):
        st.html(f'<p class="rf-bad" role="alert">{esc(found)}</p>')
        return
    st.html(words.solved_html(found))
    if found.scenario is not None:
        use_row.buttons(found.scenario, frame, "find_solved")


@cached(maxsize=64)
def _solved(ask: str, wish: Wish) -> Solved | str:
    """The answer, or why there is none."""
    try:
        return solved(ask, wish)
    except RooflineError as error:
        return str(error)
