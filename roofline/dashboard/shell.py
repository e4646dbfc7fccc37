"""What every page shares: the scenario, its controls and link, the menu, and our own words when something breaks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from roofline.answers.anatomy import own_model
from roofline.answers.evaluate import evaluate
from roofline.answers.report import Report
from roofline.catalog.hardware import is_own_device, load_hardware
from roofline.catalog.models import load_model
from roofline.dashboard import sidebar, state
from roofline.dashboard.choices import hardware_words, known, model_words
from roofline.dashboard.components import link_button, seen_narrow, watch_screen
from roofline.dashboard.saves import watch_saves
from roofline.dashboard.styles import style_block
from roofline.dashboard.text import count_of, esc, notice, scenario_parts
from roofline.errors import PlanError, RooflineError
from roofline.figures.theme import Look, Mode
from roofline.language import chosen, later, tr, use
from roofline.specs.base import printable
from roofline.specs.scenario import Scenario

_SHOWN_CHARACTERS = 40
FAULT = later("Something went wrong on our side; your inputs are kept.")


class FaultError(Exception):
    """The answer broke on something nobody foresaw; the log has the rest."""


@dataclass(frozen=True)
class Frame:
    """What a page is drawn from."""

    scenario: Scenario
    report: Report | None
    error: RooflineError | FaultError | None
    """Why there is no report."""
    look: Look
    query: dict[str, str]
    """The address of this question."""
    pages: dict[str, Any]
    """Every page by its name, for links to it."""


@dataclass(frozen=True)
class Sheet:
    """One page: its name, its path, and what draws it."""

    title: str
    path: str
    """Empty for the page that opens first."""
    draw: Callable[[Frame], None]


def show(sheets: Sequence[Sheet]) -> None:
    """Draw one run: the controls and the menu, then the page chosen in it."""
    use(state.language())

    def drawn(sheet: Sheet) -> Callable[[], None]:
        def page() -> None:
            with guarded():
                sheet.draw(frame)

        return page

    pages = {
        sheet.title: st.Page(drawn(sheet), title=tr(sheet.title), url_path=sheet.path or "calculator", default=not sheet.path)
        for sheet in sheets
    }
    current = st.navigation(list(pages.values()), position="hidden")
    look = _look()
    st.html(style_block(look.mode))
    watch_screen(look.mode, chosen(), phone=_phone())
    watch_saves()
    with guarded():
        frame = _frame(look, pages, next(name for name, page in pages.items() if page is current))
        current.run()


@contextmanager
def guarded() -> Iterator[None]:
    """Say in our own words that something broke; the log has the rest."""
    try:
        yield
    except Exception:
        logging.getLogger(__name__).exception("a page could not be drawn")
        st.html(fault_html(st.query_params.to_dict()))


def fault_html(query: dict[str, str]) -> str:
    """Our own words for what nobody foresaw, with the link of the question."""
    address = f"?{urlencode(query)}"
    link = f'<a href="{esc(address)}" target="_self">{esc(tr("The link to this question"))}</a>'
    return notice(tr(FAULT), tr("{link} holds every input of yours.", link=link))


def _frame(look: Look, pages: dict[str, Any], title: str) -> Frame:
    """Read the link, draw what all pages share, write the link."""
    state.read_link()
    wanted = state.current()
    scenario, unknown = known(wanted.scenario, state.last())
    if own_model(scenario.model):
        state.keep_own("model", scenario.model, load_model(scenario.model).name)
    if is_own_device(scenario.hardware):
        state.keep_own("hardware", scenario.hardware, load_hardware(scenario.hardware).name)
    report, error = _answer(scenario)
    refused = state.refused()
    problems = {**wanted.problems, **unknown, **{name: f"{r.problem} {r.still}" for name, r in refused.items()}}
    if isinstance(error, PlanError):
        problems["plan"] = str(error)
    sidebar.controls(scenario, report, problems)
    query = state.write_link(scenario, good=report is not None)
    _menu(pages, title, query)
    _head(report, scenario)
    _problems(tr("Part of the link could not be read"), wanted.link_problems)
    told = tuple(problem for name, problem in problems.items() if name not in refused)
    _problems(tr("Not taken over from the controls"), told, phone_only=True)
    another()
    return Frame(scenario, report, error, look, query, pages)


def _look() -> Look:
    """Light or dark, wide or narrow, as far as the browser tells."""
    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    return Look(mode, compact=seen_narrow() or _phone())


def _phone() -> bool:
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def _answer(scenario: Scenario) -> tuple[Report | None, RooflineError | FaultError | None]:
    try:
        return evaluate(scenario), None
    except RooflineError as error:
        return None, error
    except Exception as error:
        logging.getLogger(__name__).exception("a scenario could not be answered")
        return None, FaultError(str(error))


def _menu(pages: dict[str, Any], title: str, query: dict[str, str]) -> None:
    """Links to the other pages, with the question in them; the page one is on is named, not linked."""
    with st.container(key="menu", horizontal=True, vertical_alignment="center"):
        for name, page in pages.items():
            if name == title:
                st.html(f'<span class="rf-here" aria-current="page">{esc(tr(name))}</span>', width="content")
            else:
                st.page_link(page, label=tr(name), query_params=query, width="content")


def _head(report: Report | None, scenario: Scenario) -> None:
    """The scenario in words and the link, always in sight."""
    devices = count_of(scenario, hardware_words(scenario.hardware))
    parts = scenario_parts(report) if report is not None else (model_words(scenario.model), devices)
    first, *rest = parts
    words = "".join(f"<span>{esc(part)}</span>" for part in rest)
    with st.container(key="head", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="rf-line" role="heading" aria-level="1"><strong>{esc(first)}</strong>{words}</p>')
        link_button()


def another() -> None:
    """Say that an answer is for another model or device than the one typed last: at the top, and wherever one is asked for."""
    for found in state.refused().values():
        title = tr("This answer is not for '{given}'", given=printable(found.typed, _SHOWN_CHARACTERS))
        st.html(notice(title, esc(f"{found.problem} {found.still}")))


def _problems(title: str, problems: tuple[str, ...], *, phone_only: bool = False) -> None:
    """What was not understood. Beside the controls it is told as well, but on a phone those are out of sight."""
    if problems:
        lines = "".join(f"<li>{esc(problem)}</li>" for problem in problems)
        st.html(notice(title, f"<ul>{lines}</ul>", extra="rf-phone" if phone_only else ""))
