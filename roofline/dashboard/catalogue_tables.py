"""The catalogue as tables to sort, and as files to take along."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from roofline.answers.browse import DeviceRow, ModelRow
from roofline.answers.catalogs import catalog_json
from roofline.units import GIGA, KILO, TERA

_GRADES = {"A": "A vendor", "B": "B secondary", "C": "C unverified"}


def device_frame(rows: Sequence[DeviceRow]) -> pd.DataFrame:
    """One row per device, in the units that datasheets print."""
    return pd.DataFrame(
        {
            "device": [row.name for row in rows],
            "vendor": [row.vendor for row in rows],
            "year": [row.year for row in rows],
            "memory GB": _scaled([row.memory_bytes for row in rows], GIGA),
            "bandwidth TB/s": _scaled([row.bandwidth_bytes_per_s for row in rows], TERA),
            "16-bit TFLOP/s": _scaled([row.peak_16_bit_flops_per_s for row in rows], TERA),
            "8-bit TFLOP/s": _scaled([row.peak_8_bit_flops_per_s for row in rows], TERA),
            "4-bit TFLOP/s": _scaled([row.peak_4_bit_flops_per_s for row in rows], TERA),
            "power W": [row.tdp_w for row in rows],
            "USD/h": [row.usd_per_h for row in rows],
            "evidence": [_GRADES[row.grade] for row in rows],
            "unverified facts": [row.n_unverified for row in rows],
            "kind": [row.category for row in rows],
            "state": ["announced" if row.announced else "shipping" for row in rows],
            "id": [row.id for row in rows],
        }
    )


def model_frame(rows: Sequence[ModelRow]) -> pd.DataFrame:
    """One row per model."""
    return pd.DataFrame(
        {
            "model": [row.name for row in rows],
            "released": [row.released for row in rows],
            "parameters B": _scaled([row.total_parameters for row in rows], GIGA),
            "active B": _scaled([row.active_parameters for row in rows], GIGA),
            "experts": [f"{row.n_active_experts} of {row.n_experts}" if row.n_experts else "dense" for row in rows],
            "layers": [row.n_layers for row in rows],
            "trained context": pd.array([row.trained_context for row in rows], dtype="Int64"),
            "cache kB per token": _scaled([row.cache_bytes_per_token for row in rows], KILO),
            "weights GB": _scaled([row.weight_bytes for row in rows], GIGA),
            "stored as": [row.stored_format for row in rows],
            "configuration": ["reconstructed" if row.reconstructed else "published" for row in rows],
            "id": [row.id for row in rows],
        }
    )


def columns(frame: pd.DataFrame) -> dict[str, Any]:
    """How numbers of a table are shown: three digits, years without separators."""
    short = st.column_config.NumberColumn(format="%.3g")
    numbers: dict[str, Any] = {name: short for name in frame.select_dtypes("float").columns}
    whole = {name: st.column_config.NumberColumn(format="localized") for name in ("trained context", "power W") if name in frame}
    first = frame.columns[0]
    year = {"year": st.column_config.NumberColumn(format="%d")} if "year" in frame else {}
    return {**numbers, **whole, **year, first: st.column_config.TextColumn(pinned=True, width="medium")}


def json_bytes(kind: str, ids: Sequence[str]) -> bytes:
    """Every fact of some entries, with sources, as the command line gives it."""
    name = "hardware" if kind == "devices" else "models"
    entries = catalog_json(name, announced=True)[name]
    return json.dumps({name: {i: entries[i] for i in ids}}, indent=1).encode()


def _scaled(values: Sequence[float | None], unit: float) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64) / unit
