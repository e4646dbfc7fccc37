"""The Model page's figures as tables, each with its CSV file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from roofline.answers.anatomy import Anatomy
from roofline.dashboard.model_words import parts, positions_words
from roofline.language import ENGLISH, later, told_in, tr

Frames = dict[str, Callable[[Anatomy], pd.DataFrame]]
_KEY = "model_table"
_LAYERS = later("Layers")
_HEADS = {
    "layers": later("layers"),
    "mixer": later("mixer"),
    "feed-forward": later("feed-forward"),
    "parameters of one": later("parameters of one"),
    "active of one": later("active of one"),
    "where, counted from 0": later("where, counted from 0"),
    "part": later("part"),
    "parameters": later("parameters"),
    "active per token": later("active per token"),
    "format": later("format"),
    "as stored": later("as stored"),
    "bytes": later("bytes"),
    "context tokens": later("context tokens"),
    "least bytes": later("least bytes"),
    "tokens in a step": later("tokens in a step"),
    "experts touched": later("experts touched"),
    "tokens per touched expert": later("tokens per touched expert"),
}
"""Heads of the files -> heads on the page."""


def layer_frame(found: Anatomy) -> pd.DataFrame:
    """One row per kind of layer as the model has it."""
    return pd.DataFrame(
        {
            "layers": [len(layer.positions) for layer in found.layers],
            "mixer": [layer.mixer for layer in found.layers],
            "feed-forward": [layer.feed_forward for layer in found.layers],
            "parameters of one": [layer.parameters for layer in found.layers],
            "active of one": [layer.active_parameters for layer in found.layers],
            "where, counted from 0": [positions_words(layer.positions) for layer in found.layers],
        }
    )


def part_frame(found: Anatomy) -> pd.DataFrame:
    """Parameters by part."""
    counted = parts(found.counts.parameters)
    return pd.DataFrame(
        {
            "part": [part.name for part in counted],
            "parameters": [part.total for part in counted],
            "active per token": [part.active for part in counted],
        }
    )


def weight_frame(found: Anatomy) -> pd.DataFrame:
    """Weights by format."""
    return pd.DataFrame(
        {
            "format": [size.format for size in found.weights],
            "as stored": [size.stored for size in found.weights],
            "bytes": [size.bytes for size in found.weights],
        }
    )


def cache_frame(found: Anatomy) -> pd.DataFrame:
    """Cache and state of one sequence by its length."""
    cache = found.cache
    reserved = {_reserved(name): values for name, values in cache.reserved_bytes.items()}
    return pd.DataFrame({"context tokens": cache.context_tokens, "least bytes": cache.least_bytes, **reserved})


def expert_frame(found: Anatomy) -> pd.DataFrame:
    """Experts of one layer by tokens in a step."""
    if found.experts is None:
        return pd.DataFrame()
    curve = found.experts
    return pd.DataFrame(
        {
            "tokens in a step": curve.tokens,
            "experts touched": curve.distinct,
            "tokens per touched expert": curve.tokens_per_touched,
        }
    )


def _reserved(engine: str) -> str:
    return f"reserved by {engine}, bytes"


def csv_bytes(make: Callable[[Anatomy], pd.DataFrame], found: Anatomy) -> bytes:
    """A table as a file, the same in every language."""
    with told_in(ENGLISH):
        return make(found).to_csv(index=False).encode()


def tables(found: Anatomy) -> None:
    """Choose a table; see it; take it along."""
    frames: Frames = {
        _LAYERS: layer_frame,
        later("Parameters"): part_frame,
        later("Weights"): weight_frame,
        later("Cache"): cache_frame,
        **({later("Experts"): expert_frame} if found.experts is not None else {}),
    }
    if st.session_state.get(_KEY) not in frames:
        st.session_state[_KEY] = _LAYERS
    name = str(
        st.segmented_control(
            tr("Table"), list(frames), key=_KEY, format_func=tr, required=True, label_visibility="collapsed", wrap=True
        )
    )
    make = frames[name]
    frame = make(found)
    alt = tr("{table} of {model}: {n} rows", table=tr(name), model=found.counts.name, n=len(frame))
    st.dataframe(frame, hide_index=True, key="model_frame", column_config=_columns(frame, found), alt=alt)
    file = f"{name}.csv".lower()
    st.download_button(tr("Download CSV"), partial(csv_bytes, make, found), file, "text/csv", on_click="ignore")


def _columns(frame: pd.DataFrame, found: Anatomy) -> dict[str, Any]:
    """Heads in the chosen language, numbers with separators."""
    reserved = {_reserved(name): tr("reserved by {engine}, bytes", engine=name) for name in found.cache.reserved_bytes}
    heads = {name: reserved.get(name) or tr(_HEADS[name]) for name in frame.columns}
    numbers = set(frame.select_dtypes("number").columns)
    return {
        name: st.column_config.NumberColumn(head, format="localized") if name in numbers else st.column_config.Column(head)
        for name, head in heads.items()
    }
