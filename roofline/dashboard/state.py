"""One scenario, three places: the address, the keys of the controls, the page.

In this order on every run:
read the address when it is not the one last written, take the scenario from the controls, write the address when the
scenario changed. Back and Forward are therefore undo and redo, and a link is all there is to share.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from roofline import link
from roofline.dashboard import carried, page_view, view
from roofline.dashboard.catalogue_view import CATALOGUE_VIEW
from roofline.dashboard.fields import Values, asked, control_values
from roofline.dashboard.find_view import FIND_VIEW
from roofline.dashboard.formula_view import FORMULA_VIEW
from roofline.dashboard.machine_view import MACHINE_VIEW
from roofline.dashboard.typed import WORDS, Refused, read
from roofline.errors import LinkError
from roofline.language import ENGLISH, LANGUAGES, later, tr, use
from roofline.specs.scenario import Scenario

PREFIX = "in_"
"""Keys of controls in the session."""
VIEW_PREFIX = page_view.PREFIX
"""Keys of view switches in the session."""
PAGE_VIEWS: tuple[page_view.PageView, ...] = (FIND_VIEW, MACHINE_VIEW, FORMULA_VIEW, CATALOGUE_VIEW)
"""Switches of pages that travel in the address beside the scenario."""
TAB_KEY, FIRST_TAB = "tab", later("Time by operator")
LANGUAGE_KEY = "lang"
"""The address's key for the language."""
VIEW_KEY = "chart"
"""The address's key for what the Model and Accuracy pages look at."""
_OF_VISIT = ("lang", "theme", "embed", "embed_options")
"""Keys of the address that say how a visitor sees pages, not what is asked."""
_MOST_OWN = 5
_URL, _KEPT, _SEEN, _LAST, _PROBLEMS, _OWN = "_url", "_kept", "_seen", "_last", "_problems", "_own_"
_CARRIED, _PAGE, _REFUSED = "_carried", "_page", "_refused"


@dataclass(frozen=True)
class Asked:
    """What the controls say on this run."""

    scenario: Scenario
    problems: dict[str, str]
    """Control -> sentence."""
    link_problems: tuple[str, ...]


def key(name: str) -> str:
    """The session key of a control."""
    return f"{PREFIX}{name}"


def language() -> str:
    """The language the address asks for; English where it names none we have."""
    wanted = st.query_params.get(LANGUAGE_KEY, ENGLISH)
    return wanted if wanted in LANGUAGES else ENGLISH


def set_language(wanted: str) -> None:
    """Let the address ask for a language; nothing else changes. Callbacks only."""
    if wanted == ENGLISH:
        st.query_params.pop(LANGUAGE_KEY, None)
    else:
        st.query_params[LANGUAGE_KEY] = wanted
    st.session_state[_URL] = st.query_params.to_dict()


def _language_problems(query: Mapping[str, str]) -> tuple[str, ...]:
    wanted = query.get(LANGUAGE_KEY, ENGLISH)
    if wanted in LANGUAGES:
        return ()
    names = ", ".join(f"{code} ({known.name})" for code, known in LANGUAGES.items())
    return (tr("lang: there is no language {wanted!r}; there are {names}.", wanted=wanted[:20], names=names),)


def read_link() -> None:
    """Take the address over, unless it is the one this session wrote itself."""
    query = st.query_params.to_dict()
    if st.session_state.get(_URL) == query:
        return
    decoded = _decoded(query)
    set_controls(decoded.scenario)
    st.session_state[_LAST] = link.DEFAULT
    found = [problem for page in PAGE_VIEWS for problem in page.take(query.get(page.key, ""))]
    st.session_state[_CARRIED], told = carried.read(query, decoded.problems)
    st.session_state[_PROBLEMS] = (*decoded.problems, *found, *told, *_language_problems(query))
    st.session_state[TAB_KEY] = query.get(TAB_KEY)
    _set_view(view.read(query.get(VIEW_KEY)))
    st.session_state[_PAGE] = {name: value for name, value in query.items() if link.of_page(name)}
    st.session_state[_URL] = query  # last: a run that was broken off in between reads it again


def start_over() -> None:
    """Let the address ask for nothing but its language, and everything be read from it anew. Callbacks only."""
    st.query_params.from_dict({name: value for name, value in st.query_params.to_dict().items() if name in _OF_VISIT})
    for name in list(st.session_state):
        if str(name).startswith("_") and not str(name).startswith(_OWN):
            del st.session_state[name]


def page_values() -> dict[str, str]:
    """What pages keep in the address beside the scenario."""
    return dict(st.session_state.get(_PAGE, {}))


def set_page(values: Mapping[str, str | None]) -> None:
    """Let the address hold what a page looks at; none takes a key out. Callbacks only: the address is written before a page."""
    merged: dict[str, str | None] = {**page_values(), **values}
    st.session_state[_PAGE] = {name: value for name, value in merged.items() if value is not None}


def _decoded(query: dict[str, str]) -> link.Decoded:
    """The link as read; one that the reader itself breaks on is told like any other."""
    try:
        return link.decode(query)
    except Exception:
        logging.getLogger(__name__).exception("a link could not be read")
        return link.Decoded(link.DEFAULT, (tr("Something in this link went wrong on our side: the default page is shown."),))


def set_controls(scenario: Scenario) -> None:
    """Let every control show a scenario. Callbacks and links only: not after the controls are drawn."""
    st.session_state[_REFUSED] = {}
    set_some(control_values(scenario))


def open_link(text: str) -> None:
    """Let every control show the question of a link; what cannot be read of it is told. Callbacks only."""
    use(language())  # callbacks run before a language is chosen
    try:
        decoded = link.from_query(text)
    except LinkError as error:
        decoded = link.Decoded(last(), (str(error),))
    set_controls(decoded.scenario)
    st.session_state[_SEEN] = None  # problems are shown until the next edit
    st.session_state[_PROBLEMS] = decoded.problems


def current() -> Asked:
    """The scenario of the controls; controls that are not drawn keep their value."""
    _settle()
    values = _values()
    scenario, problems = asked(values, last())
    seen = (values, [page.text() for page in PAGE_VIEWS])
    if st.session_state.get(_SEEN) not in (None, seen):
        st.session_state[_PROBLEMS] = ()
    st.session_state[_KEPT], st.session_state[_SEEN] = values, seen
    return Asked(scenario, problems, st.session_state[_PROBLEMS])


def refused() -> dict[str, Refused]:
    """What was typed for a model or device and is none, by control, until the control is set anew."""
    return dict(st.session_state.get(_REFUSED, {}))


def choose(control: str, entry: str) -> None:
    """Let a control show an entry instead of what was refused. Callbacks only."""
    st.session_state[_REFUSED] = {name: other for name, other in refused().items() if name != control}
    st.session_state[key(control)] = entry


def _settle() -> None:
    """Let model and hardware show entries alone: what was typed as the one it stands for, or else those before, and why."""
    held = refused()
    for name in WORDS:
        typed = st.session_state.get(key(name))
        found = None if typed is None else read(name, typed)
        if found is not None:
            if name in held and found[name] != held[name].kept:
                del held[name]
            set_some(found)
        elif typed is not None:
            held[name] = Refused(name, typed, getattr(last(), name))
            st.session_state[key(name)] = held[name].kept
    st.session_state[_REFUSED] = held


def _values() -> Values:
    kept: dict[str, Any] = st.session_state.get(_KEPT) or {}
    values: Values = {}
    for name, default in control_values(link.DEFAULT).items():
        value = st.session_state.get(key(name), kept.get(name, default))
        st.session_state[key(name)] = value
        values[name] = value
    return values


def last() -> Scenario:
    """The scenario that was last answered."""
    found: Scenario = st.session_state[_LAST]
    return found


def set_some(values: Values) -> None:
    """Let some controls show new values. Callbacks only."""
    for name, value in values.items():
        st.session_state[key(name)] = value


def own(control: str) -> tuple[str, ...]:
    """Models or devices of the person's own that this visit has seen, newest last."""
    return tuple(st.session_state.get(f"{_OWN}{control}", {}).values())


def keep_own(control: str, ref: str, name: str) -> None:
    """Offer one of the person's own from now on; a newer one takes the place of an older of the same name."""
    others = {known: other for known, other in st.session_state.get(f"{_OWN}{control}", {}).items() if known != name}
    st.session_state[f"{_OWN}{control}"] = dict([*others.items(), (name, ref)][-_MOST_OWN:])


def carry(keys: frozenset[str] | str, written: dict[str, str]) -> None:
    """Let the address carry other values under some keys, or under all with a prefix. Callbacks only."""
    kept = {
        k: v for k, v in st.session_state[_CARRIED].items() if not (k.startswith(keys) if isinstance(keys, str) else k in keys)
    }
    st.session_state[_CARRIED] = {**kept, **written}


def current_view() -> view.View:
    """The view switches; those that are not drawn keep their value."""
    kept: dict[str, Any] = st.session_state.get(f"_{VIEW_PREFIX}") or asdict(view.View())
    found: dict[str, Any] = {name: st.session_state.get(f"{VIEW_PREFIX}{name}", value) for name, value in kept.items()}
    seen = view.View(**{**found, "kinds": tuple(found["kinds"])})
    _set_view(seen)
    return seen


def _set_view(seen: view.View) -> None:
    values = asdict(seen)
    st.session_state[f"_{VIEW_PREFIX}"] = values
    for name, value in values.items():
        # a control with several choices wants a list
        st.session_state[f"{VIEW_PREFIX}{name}"] = list(value) if isinstance(value, tuple) else value


def _tab() -> str | None:
    """The open tab, also on pages that have none."""
    found: str | None = st.session_state.get(TAB_KEY) or st.session_state.get(f"_{TAB_KEY}")
    st.session_state[f"_{TAB_KEY}"] = st.session_state[TAB_KEY] = found
    return found


def write_link(scenario: Scenario, *, good: bool) -> dict[str, str]:
    """Put the scenario into the address, as one step of the browser's history, when it changed; the address as it is now."""
    if good:
        st.session_state[_LAST] = scenario
    before = st.query_params.to_dict()
    pages = {page.key: page.text() for page in PAGE_VIEWS}
    own = {TAB_KEY, VIEW_KEY, carried.COST_KEY, *pages}
    others = {name: value for name, value in before.items() if name in link.VIEW_KEYS - own}
    tab, seen = _tab(), view.written(current_view())
    new = {
        **link.encode(scenario),
        **others,
        **st.session_state[_CARRIED],
        **page_values(),
        **({TAB_KEY: tab} if tab not in (None, FIRST_TAB) else {}),
        **({VIEW_KEY: seen} if seen is not None else {}),
        **{name: text for name, text in pages.items() if text},
    }
    if new != before:
        st.query_params.from_dict(new)
    st.session_state[_URL] = new
    return new
