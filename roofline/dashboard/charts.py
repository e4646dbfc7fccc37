"""Figures on a page: their settings, their answer in words for those who cannot see them, and their files."""

from __future__ import annotations

from typing import Any

import streamlit as st

from roofline.dashboard.saves import figure_saves
from roofline.figures.theme import Spec, as_figure

FIGURE_PX = 440
"""Narrowest column a figure is drawn in while two stand side by side."""
_CONFIG = {"displayModeBar": False, "scrollZoom": False}
"""No bar of buttons over the words: files have buttons below, and a double click undoes a zoom."""


def chart(spec: Spec, key: str, alt: str, **selection: Any) -> Any:  # noqa: ANN401
    """A figure, and buttons that save it under the name of its key; with a selection, what was chosen in it."""
    chosen = st.plotly_chart(as_figure(spec), theme=None, key=key, config=_CONFIG, alt=alt, **selection)
    st.html(figure_saves(key, key.removesuffix("_chart")))
    return chosen
