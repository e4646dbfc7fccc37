"""Every figure and table as a file, made in the browser from what is on the screen: nothing is worked out or sent twice."""

from __future__ import annotations

import re
from html import escape
from importlib import resources

import streamlit as st

from roofline.language import tr

FIGURE_KINDS = ("png", "svg", "csv", "json")
_watch = st.components.v2.component(
    "roofline_saves", js=(resources.files("roofline.dashboard") / "saves.js").read_text(encoding="utf-8")
)


def watch_saves() -> None:
    """Answer the buttons below, wherever they stand on the page. Once a run."""
    _watch(key="saves_watch", height=1)


def figure_saves(key: str, name: str) -> str:
    """Buttons for the figure drawn under a key: a picture, a vector picture, its points, the figure as Plotly reads it."""
    buttons = "".join(
        f'<button type="button" data-save="{kind}" data-figure="{escape(key)}" data-name="{escape(name)}" '
        f'aria-label="{escape(tr("Save this figure as {kind}", kind=kind.upper()))}">{kind.upper()}</button>'
        for kind in FIGURE_KINDS
    )
    return f'<div class="rf-saves">{buttons}</div>'


def table_save(caption: str) -> str:
    """A button for the table in the same frame; the file has the caption's words for a name."""
    label, name = escape(tr("Save as CSV: {table}", table=caption)), "-".join(re.findall(r"\w+", caption.lower()))
    button = f'<button type="button" data-save="csv" data-name="{name}" aria-label="{label}">CSV</button>'
    return f'<div class="rf-saves">{button}</div>'
