"""One scenario, three places: the address, the keys of the controls, the page.

In this order on every run:
read the address when it is not the one last written, take the scenario from the controls, write the address when the
scenario changed. Back and Forward are therefore undo and redo, and a link is all there is to share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from roofline import link
from roofline.dashboard.fields import Values, asked, control_values
from roofline.specs.scenario import Scenario

PREFIX = "in_"
"""Keys of controls in the session."""
TAB_KEY, FIRST_TAB = "tab", "Time by operator"
_URL, _KEPT, _LAST, _PROBLEMS = "_url", "_kept", "_last", "_problems"


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


def read_link() -> None:
    """Take the address over, unless it is the one this session wrote itself."""
    query = st.query_params.to_dict()
    if st.session_state.get(_URL) == query:
        return
    decoded = link.decode(query)
    set_controls(decoded.scenario)
    st.session_state[_LAST] = link.DEFAULT
    st.session_state[_URL] = query
    st.session_state[_PROBLEMS] = decoded.problems
    st.session_state[TAB_KEY] = query.get(TAB_KEY)


def set_controls(scenario: Scenario) -> None:
    """Let every control show a scenario. Callbacks and links only: not after the controls are drawn."""
    set_some(control_values(scenario))


def current() -> Asked:
    """The scenario of the controls; controls that are not drawn keep their value."""
    values = _values()
    scenario, problems = asked(values, last())
    changed = st.session_state.get(_KEPT) not in (None, values)
    if changed:
        st.session_state[_PROBLEMS] = ()
    st.session_state[_KEPT] = values
    return Asked(scenario, problems, st.session_state[_PROBLEMS])


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


def write_link(scenario: Scenario, *, good: bool) -> None:
    """Put the scenario into the address, as one step of the browser's history, when it changed."""
    if good:
        st.session_state[_LAST] = scenario
    before = st.query_params.to_dict()
    view = {name: value for name, value in before.items() if name in link.VIEW_KEYS and name != TAB_KEY}
    tab = st.session_state.get(TAB_KEY)
    new = {**link.encode(scenario), **view, **({TAB_KEY: tab} if tab not in (None, FIRST_TAB) else {})}
    if new != before:
        st.query_params.from_dict(new)
    st.session_state[_URL] = new
