"""A row of a table as the scenario of every page: one click to take it over, one to open the Calculator with it."""

from __future__ import annotations

import streamlit as st

from roofline import link
from roofline.dashboard import state
from roofline.dashboard.shell import Frame
from roofline.language import later, tr
from roofline.specs.scenario import Scenario

USE_LABEL, OPEN_LABEL = later("Use this"), later("Open in the Calculator")


def buttons(scenario: Scenario, frame: Frame, key: str) -> None:
    """Both ways; views of pages stay in the address."""
    own = link.encode(frame.scenario)
    views = {name: value for name, value in frame.query.items() if name not in own}
    query = {**(link.encode(scenario) or {"v": link.VERSION}), **views}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_row"):
        st.button(tr(USE_LABEL), on_click=state.set_controls, args=(scenario,), key=f"{key}_use", type="primary")
        st.page_link(frame.pages["Calculator"], label=tr(OPEN_LABEL), query_params=query, width="content")
