"""The Model page's figures as tables, each with its CSV file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from roofline.answers.anatomy import Anatomy
from roofline.dashboard.model_words import parts, positions_words

Frames = dict[str, Callable[[Anatomy], pd.DataFrame]]
_KEY = "model_table"


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
    reserved = {f"reserved by {name}, bytes": values for name, values in cache.reserved_bytes.items()}
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


def csv_bytes(make: Callable[[Anatomy], pd.DataFrame], found: Anatomy) -> bytes:
    """A table as a file."""
    return make(found).to_csv(index=False).encode()


def tables(found: Anatomy) -> None:
    """Choose a table; see it; take it along."""
    frames: Frames = {
        "Layers": layer_frame,
        "Parameters": part_frame,
        "Weights": weight_frame,
        "Cache": cache_frame,
        **({"Experts": expert_frame} if found.experts is not None else {}),
    }
    if st.session_state.get(_KEY) not in frames:
        st.session_state[_KEY] = "Layers"
    name = st.segmented_control("Table", list(frames), key=_KEY, required=True, label_visibility="collapsed", wrap=True)
    make = frames[str(name)]
    frame = make(found)
    localized = st.column_config.NumberColumn(format="localized")
    numbers = {column: localized for column in frame.select_dtypes("number").columns}
    alt = f"{name} of {found.counts.name}: {len(frame)} rows"
    st.dataframe(frame, hide_index=True, key="model_frame", column_config=numbers, alt=alt)
    file = f"{name}.csv".lower()
    st.download_button("Download CSV", partial(csv_bytes, make, found), file, "text/csv", on_click="ignore")
