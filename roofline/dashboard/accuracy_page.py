"""The Accuracy page: how far to trust a number, row by row, and measurements of one's own beside them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from roofline.answers.accuracy import Trust, furthest, left_out, points, trust
from roofline.answers.own_rows import OwnRows
from roofline.answers.validation import Comparison, shipped_validation
from roofline.catalog.calibration import calibration
from roofline.dashboard import own_measurements
from roofline.dashboard.accuracy_tables import csv_bytes, left_out_table, summary_table
from roofline.dashboard.accuracy_words import (
    exceptions_html,
    furthest_table,
    limit_sentence,
    reasons_table,
    trust_cards,
    trust_sentence,
    unseen_sentence,
)
from roofline.dashboard.charts import chart
from roofline.dashboard.choices import hardware_words
from roofline.dashboard.fields import AUTO
from roofline.dashboard.page_view import PREFIX as VIEW_PREFIX
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading
from roofline.figures.accuracy_plot import KIND_WORDS, accuracy_alt, accuracy_figure
from roofline.figures.theme import Look
from roofline.language import ENGLISH, told_in, tr

_FURTHEST = 15
_DEVICE_KEY = f"{VIEW_PREFIX}device"


def draw(frame: Frame) -> None:
    """Draw what the public measurements say of our predictions."""
    with st.spinner(tr("Comparing every public measurement…")):
        found = shipped_validation()
    whole = trust(found, calibration())
    st.html(f'<p class="rf-answer rf-trust">{esc(trust_sentence(whole))}</p>' + trust_cards(whole))
    st.html(f'<p class="rf-note">{esc(unseen_sentence(whole))}</p>')
    own = own_measurements.form()
    if own is not None:
        own_measurements.results(own, whole)
    _figure(found.rows, own, whole, frame.look)
    key = tr("Error: expected over measured, less one, without its sign. Bias above nought: too fast.")
    st.html(heading(tr("Errors by group"), key))
    summary_table(found.summaries)
    key = tr("The {n} rows that count and differ by the largest factor, in their own unit.", n=_FURTHEST)
    st.html(heading(tr("Furthest off"), key) + furthest_table(furthest(found.rows, _FURTHEST)))
    st.html(heading(tr("Measured against the limit"), esc(limit_sentence(whole))) + exceptions_html(whole))
    _left_out(found.rows, whole)


def _figure(rows: Sequence[Comparison], own: OwnRows | None, whole: Trust, look: Look) -> None:
    """Expected against measured, with what to show of it."""
    key = tr("One mark is one measurement. Dashed: expected as measured; grey: within a factor of two.")
    st.html(heading(tr("Expected against measured"), key))
    kinds, device = _choices(rows)
    shown = [row for row in rows if row.kind in kinds and device in (AUTO, row.hardware)]
    public, mine = points(shown), points(own.validation.rows) if own is not None else ()
    if not public and not mine:
        st.html(f'<p class="rf-answer">{esc(tr("No measurement of these kinds on this device: choose others."))}</p>')
        return
    chart(accuracy_figure(public, mine, look), "accuracy_chart", accuracy_alt(public, mine, trust_sentence(whole)))


def _choices(rows: Sequence[Comparison]) -> tuple[list[str], str]:
    """Kinds and the device to show; both travel in the link."""
    devices = [AUTO, *sorted({row.hardware for row in rows if row.valid})]
    if st.session_state.get(_DEVICE_KEY) not in devices:
        st.session_state[_DEVICE_KEY] = AUTO
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        kinds = st.pills(
            tr("Kinds of measurement"),
            list(KIND_WORDS),
            selection_mode="multi",
            format_func=lambda kind: tr(KIND_WORDS[kind]),
            key=f"{VIEW_PREFIX}kinds",
            wrap=True,
        )
    with right:
        device = st.selectbox(tr("Device"), devices, key=_DEVICE_KEY, format_func=_device_words)
    return list(kinds), device


def _device_words(device: str) -> str:
    return tr("All") if device == AUTO else hardware_words(device)


def _left_out(rows: Sequence[Comparison], whole: Trust) -> None:
    """What does not count, with the reason, and everything as a file."""
    out = [row for row in rows if not row.valid]
    n, of = len(out), whole.n_rows
    key = tr("{n:,} of {of:,} rows of the table do not count in any figure above, for these reasons.", n=n, of=of)
    st.html(heading(tr("Left out"), key) + reasons_table(left_out(rows)))
    with st.expander(tr("The {n:,} rows left out", n=n), key="left_out_open", on_change="rerun") as opened:
        if opened.open:
            left_out_table(out)
    st.download_button(tr("Download all rows (CSV)"), _file, "accuracy.csv", "text/csv", on_click="ignore")


def _file() -> bytes:
    """Every row as a file: files never change language."""
    with told_in(ENGLISH):
        return csv_bytes(shipped_validation().rows)
