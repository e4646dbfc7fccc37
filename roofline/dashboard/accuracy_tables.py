"""The Accuracy page's tables: errors by group, every row, one's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd
import streamlit as st

from roofline.answers.validation import Comparison, Summary
from roofline.figures.accuracy_plot import KIND_WORDS

GROUP_WORDS = {"kind": "Kind", "phase": "Phase", "engine": "Engine", "hardware": "Hardware", "source": "Source"}
_KEY = "accuracy_by"
_OWN_COLUMNS = {
    "id": "row",
    "measured": "measured",
    "expected": "expected",
    "error": "error",
    "inside_band": "inside the band",
    "low": "low",
    "high": "high",
    "limit": "limit",
    "metric": "unit",
    "model": "model",
    "hardware": "hardware",
    "engine": "engine",
    "kind": "kind",
    "reason": "not compared because",
}
_DIGITS = 3
"""Shares are shown to a tenth of a percent."""


def summary_frame(summaries: Sequence[Summary], by: str) -> pd.DataFrame:
    """Errors by one grouping, the largest group first."""
    group = sorted((item for item in summaries if item.by == by), key=lambda item: -item.n)
    return pd.DataFrame(
        {
            GROUP_WORDS[by].lower(): [KIND_WORDS.get(item.name, item.name) for item in group],
            "rows": [item.n for item in group],
            "median error": [item.median_error for item in group],
            "90th percentile": [item.p90_error for item in group],
            "bias of speed": [item.bias for item in group],
            "inside the band": [item.inside_band for item in group],
        }
    ).round(_DIGITS)


def rows_frame(rows: Sequence[Comparison]) -> pd.DataFrame:
    """Every row with all that is known of it."""
    return pd.DataFrame([asdict(row) for row in rows])


def csv_bytes(rows: Sequence[Comparison]) -> bytes:
    """Rows as a file; a text that a spreadsheet would run as a formula is quoted."""
    return rows_frame(rows).map(_harmless).to_csv(index=False).encode()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def summary_table(summaries: Sequence[Summary]) -> None:
    """Choose a grouping; see its errors."""
    by = st.segmented_control(
        "Errors by",
        list(GROUP_WORDS),
        key=_KEY,
        default="kind",
        required=True,
        format_func=lambda name: GROUP_WORDS[name],
        label_visibility="collapsed",
        wrap=True,
        persist_state="session",
    )
    frame = summary_frame(summaries, str(by))
    percent = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        frame,
        hide_index=True,
        key="accuracy_frame",
        column_config={
            "median error": percent,
            "90th percentile": percent,
            "bias of speed": st.column_config.NumberColumn(
                format="percent", help="Median of expected over measured speed, less one: above nought we predict too fast."
            ),
            "inside the band": st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0),
        },
        alt=f"Errors by {GROUP_WORDS[str(by)].lower()}: {len(frame)} groups",
    )


def own_table(rows: Sequence[Comparison]) -> None:
    """One's own rows beside their predictions."""
    frame = rows_frame(rows)[list(_OWN_COLUMNS)].rename(columns=_OWN_COLUMNS).round({"error": _DIGITS})
    number = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(
        frame,
        hide_index=True,
        key="own_frame",
        column_config={
            **dict.fromkeys(("measured", "expected", "low", "high", "limit"), number),
            "error": st.column_config.NumberColumn(format="percent"),
        },
        alt=f"Your measurements beside predictions: {len(frame)} rows",
    )
