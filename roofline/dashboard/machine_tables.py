"""The page My machine's tables and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from roofline.answers.advisor import MachineAdvice, Run
from roofline.answers.purchase import Offer, PurchaseAdvice
from roofline.answers.serialise import machine_json, plain, purchase_json
from roofline.dashboard.find_tables import link_of
from roofline.dashboard.find_words import category_words
from roofline.dashboard.machine_words import place_words
from roofline.language import later, tr
from roofline.units import GIBI

HEADS = {
    "model": later("model"),
    "hardware": later("hardware"),
    "devices": later("devices"),
    "weights": later("weights"),
    "parameters": later("parameters"),
    "tokens/s": later("tokens/s"),
    "low": later("low"),
    "high": later("high"),
    "prompt tokens/s": later("prompt tokens/s"),
    "TTFT s": later("TTFT s"),
    "context that fits": later("context that fits"),
    "memory": later("memory GiB"),
    "USD of power per M output": later("USD of power per M output"),
    "USD to buy": later("USD to buy"),
    "USD per hour": later("USD per hour"),
    "place": later("place"),
    "kind": later("kind"),
    "as wished": later("as wished"),
}
"""Columns as files name them -> as people read them."""
_FORMATS = {
    "context that fits": "localized",
    "USD to buy": "localized",
    "parameters": "compact",
    **dict.fromkeys(("tokens/s", "low", "high", "prompt tokens/s", "USD per hour", "TTFT s", "memory"), "%.3g"),
    "USD of power per M output": "%.3g",
}
"""How numbers are shown."""


def runs_frame(runs: Sequence[Run]) -> pd.DataFrame:
    """Models in their formats."""
    return pd.DataFrame(
        {
            "model": [r.model_name for r in runs],
            "weights": [r.weights for r in runs],
            "parameters": [r.n_parameters for r in runs],
            "tokens/s": [r.tokens_per_s for r in runs],
            "low": [r.tokens_per_s_low for r in runs],
            "high": [r.tokens_per_s_high for r in runs],
            "prompt tokens/s": [r.prefill_tokens_per_s for r in runs],
            "context that fits": [r.most_context_tokens for r in runs],
            "memory": [r.used_bytes_per_device for r in runs],
            "USD of power per M output": [r.electricity_usd_per_million_output_tokens for r in runs],
            "place": [place_words(r) for r in runs],
            "as wished": [r.comfortable for r in runs],
        }
    )


def offers_frame(offers: Sequence[Offer]) -> pd.DataFrame:
    """Machines to buy."""
    return pd.DataFrame(
        {
            "hardware": [o.hardware_name for o in offers],
            "devices": [o.devices for o in offers],
            "USD to buy": [o.outlay_usd for o in offers],
            "USD per hour": [o.usd_per_h for o in offers],
            "weights": [o.weights for o in offers],
            "tokens/s": [o.tokens_per_s for o in offers],
            "low": [o.tokens_per_s_low for o in offers],
            "high": [o.tokens_per_s_high for o in offers],
            "TTFT s": [o.ttft_s for o in offers],
            "context that fits": [o.most_context_tokens for o in offers],
            "kind": [category_words(o.category) for o in offers],
        }
    ).round({"USD to buy": 0})


def in_gibibytes(frame: pd.DataFrame) -> pd.DataFrame:
    """A table for people, its memory in the unit of every other page; files hold bytes."""
    return frame.assign(memory=frame["memory"] / GIBI)


def columns(frame: pd.DataFrame) -> dict[str, Any]:
    """How columns are headed and numbers shown."""
    return {name: _column(name, tr(HEADS[name])) for name in frame.columns}


def _column(name: str, label: str) -> Any:  # noqa: ANN401
    if name in _FORMATS:
        return st.column_config.NumberColumn(label, format=_FORMATS[name])
    return st.column_config.Column(label)


def best_formats(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Of each model the first row: the widest format that is as wished, else the fastest."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.scenario.model, run)
    return tuple(first.values())


def runs_csv(found: MachineAdvice) -> bytes:
    """Every row as a file, each with its link."""
    frame = runs_frame(found.runs)
    frame["link"] = [link_of(run.scenario) for run in found.runs]
    return frame.to_csv(index=False).encode()


def offers_csv(found: PurchaseAdvice) -> bytes:
    """Every row as a file, each with its link."""
    frame = offers_frame(found.offers)
    frame["price"] = [offer.outlay_basis for offer in found.offers]
    frame["link"] = [link_of(offer.scenario) for offer in found.offers]
    return frame.to_csv(index=False).encode()


def runs_bytes(found: MachineAdvice) -> bytes:
    """Everything as the command line says it."""
    return json.dumps(plain(machine_json(found, link_of)), indent=2, allow_nan=False).encode()


def offers_bytes(found: PurchaseAdvice) -> bytes:
    """Everything as the command line says it."""
    return json.dumps(plain(purchase_json(found, link_of)), indent=2, allow_nan=False).encode()
