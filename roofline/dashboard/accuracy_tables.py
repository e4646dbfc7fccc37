"""The Accuracy page's tables: errors by group, every row, one's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from roofline.answers.validation import Comparison, Summary
from roofline.dashboard.accuracy_words import PHASE_WORDS
from roofline.figures.accuracy_plot import KIND_WORDS
from roofline.language import later, tr

GROUP_WORDS = {
    "kind": later("Kind"),
    "phase": later("Phase"),
    "engine": later("Engine"),
    "hardware": later("Hardware"),
    "source": later("Source"),
}
_ROW_WORDS = {**KIND_WORDS, **PHASE_WORDS}
"""Kinds and phases; engines, devices and sources go by their names."""
_HEADS = {
    "kind": later("kind"),
    "phase": later("phase"),
    "engine": later("engine"),
    "hardware": later("hardware"),
    "source": later("source"),
    "rows": later("rows"),
    "median error": later("median error"),
    "90th percentile": later("90th percentile"),
    "bias of speed": later("bias of speed"),
    "inside the band": later("inside the band"),
    "id": later("id"),
    "row": later("row"),
    "model": later("model"),
    "metric": later("metric"),
    "unit": later("unit"),
    "measured": later("measured"),
    "expected": later("expected"),
    "error": later("error"),
    "low": later("low"),
    "high": later("high"),
    "limit": later("limit"),
    "reason": later("reason"),
    "not compared because": later("not compared because"),
}
"""Columns in words."""
_HELP_BIAS = later("Median of expected over measured speed, less one: above nought we predict too fast.")
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
_LEFT_OUT_COLUMNS = ["id", "kind", "source", "hardware", "model", "metric", "measured", "reason"]
_DIGITS = 3
"""Shares are shown to a tenth of a percent."""


def summary_frame(summaries: Sequence[Summary], by: str) -> pd.DataFrame:
    """Errors by one grouping, the largest group first."""
    group = sorted((item for item in summaries if item.by == by), key=lambda item: -item.n)
    return pd.DataFrame(
        {
            by: [tr(_ROW_WORDS[item.name]) if item.name in _ROW_WORDS else item.name for item in group],
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
        tr("Errors by"),
        list(GROUP_WORDS),
        key=_KEY,
        default="kind",
        required=True,
        format_func=lambda name: tr(GROUP_WORDS[name]),
        label_visibility="collapsed",
        wrap=True,
        persist_state="session",
    )
    frame = summary_frame(summaries, str(by))
    st.dataframe(
        frame,
        hide_index=True,
        key="accuracy_frame",
        column_config=_columns(frame),
        alt=tr("Errors by {group}: {n} groups", group=tr(_HEADS[str(by)]), n=len(frame)),
    )


def own_table(rows: Sequence[Comparison]) -> None:
    """One's own rows beside their predictions."""
    frame = rows_frame(rows)[list(_OWN_COLUMNS)].rename(columns=_OWN_COLUMNS).round({"error": _DIGITS})
    config = _columns(frame) | {"inside the band": st.column_config.Column(tr(_HEADS["inside the band"]))}
    alt = tr("Your measurements beside predictions: {n} rows", n=len(frame))
    st.dataframe(frame, hide_index=True, key="own_frame", column_config=config, alt=alt)


def left_out_table(rows: Sequence[Comparison]) -> None:
    """Rows that do not count, each with its reason."""
    frame = rows_frame(rows)[_LEFT_OUT_COLUMNS]
    heads = {name: st.column_config.Column(tr(_HEADS[name])) for name in frame.columns}
    alt = tr("Rows left out, with reasons: {n} rows", n=len(frame))
    st.dataframe(frame, hide_index=True, key="left_out_frame", column_config=heads, alt=alt)


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    """How columns are headed and numbers shown."""
    return {name: _column(name, tr(_HEADS[name])) for name in frame.columns}


def _column(name: str, label: str) -> Any:  # noqa: ANN401
    if name in ("median error", "90th percentile", "error"):
        return st.column_config.NumberColumn(label, format="percent")
    if name == "bias of speed":
        return st.column_config.NumberColumn(label, format="percent", help=tr(_HELP_BIAS))
    if name == "inside the band":
        return st.column_config.ProgressColumn(label, format="percent", min_value=0.0, max_value=1.0)
    if name in ("measured", "expected", "low", "high", "limit"):
        return st.column_config.NumberColumn(label, format="%.4g")
    return st.column_config.Column(label)
