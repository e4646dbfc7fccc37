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
from roofline.language import later, tr
from roofline.specs.hardware import CATEGORY_WORDS
from roofline.units import GIBI, GIGA, KILO, TERA

_GRADES = {"A": later("A vendor"), "B": later("B secondary"), "C": later("C unverified")}
_HEADS = {
    "device": later("device"),
    "vendor": later("vendor"),
    "year": later("year"),
    "memory GB": later("memory GB"),
    "bandwidth TB/s": later("bandwidth TB/s"),
    "16-bit TFLOP/s": later("16-bit TFLOP/s"),
    "8-bit TFLOP/s": later("8-bit TFLOP/s"),
    "4-bit TFLOP/s": later("4-bit TFLOP/s"),
    "power W": later("power W"),
    "USD/h": later("USD/h"),
    "evidence": later("evidence"),
    "unverified facts": later("unverified facts"),
    "kind": later("kind"),
    "state": later("state"),
    "id": later("id"),
    "model": later("model"),
    "released": later("released"),
    "parameters B": later("parameters B"),
    "active B": later("active B"),
    "experts": later("experts"),
    "layers": later("layers"),
    "trained context": later("trained context"),
    "cache kB per token": later("cache kB per token"),
    "weights GiB": later("weights GiB"),
    "stored as": later("stored as"),
    "configuration": later("configuration"),
}
"""Heads of the files -> heads on the page."""


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
            "evidence": [tr(_GRADES[row.grade]) for row in rows],
            "unverified facts": [row.n_unverified for row in rows],
            "kind": [tr(CATEGORY_WORDS[row.category]) for row in rows],
            "state": [tr("announced") if row.announced else tr("shipping") for row in rows],
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
            "experts": [_experts(row) for row in rows],
            "layers": [row.n_layers for row in rows],
            "trained context": pd.array([row.trained_context for row in rows], dtype="Int64"),
            "cache kB per token": _scaled([row.cache_bytes_per_token for row in rows], KILO),
            "weights GiB": _scaled([row.weight_bytes for row in rows], GIBI),
            "stored as": [row.stored_format for row in rows],
            "configuration": [tr("reconstructed") if row.reconstructed else tr("published") for row in rows],
            "id": [row.id for row in rows],
        }
    )


def _experts(row: ModelRow) -> str:
    return tr("{k} of {n}", k=row.n_active_experts, n=row.n_experts) if row.n_experts else tr("dense")


def columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Heads in the chosen language, and how numbers are shown: three digits, years without separators."""
    formats = {
        **dict.fromkeys(frame.select_dtypes("float").columns, "%.3g"),
        "trained context": "localized",
        "power W": "localized",
        "year": "%d",
    }
    first, *rest = frame.columns
    config: dict[str, Any] = {first: st.column_config.TextColumn(tr(_HEADS[first]), width="medium")}
    for name in rest:
        head = tr(_HEADS[name])
        number = name in formats
        config[name] = st.column_config.NumberColumn(head, format=formats[name]) if number else st.column_config.Column(head)
    return config


def json_bytes(kind: str, ids: Sequence[str]) -> bytes:
    """Every fact of some entries, with sources, as the command line gives it."""
    name = "hardware" if kind == "devices" else "models"
    entries = catalog_json(name, announced=True)[name]
    return json.dumps({name: {i: entries[i] for i in ids}}, indent=1).encode()


def _scaled(values: Sequence[float | None], unit: float) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64) / unit
