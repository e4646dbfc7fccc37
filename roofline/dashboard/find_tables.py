"""The page Find hardware's tables and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import floor, log10
from typing import Any

import pandas as pd
import streamlit as st

from roofline import link
from roofline.answers.search_result import Deployment, FrontierPoint, Loser, Search
from roofline.answers.serialise import plain, search_json
from roofline.dashboard.find_words import CAUSE_WORDS, PAID_WORDS, plan_words
from roofline.language import later, tr
from roofline.specs.scenario import Scenario
from roofline.units import MILLI

HEADS = {
    "hardware": later("hardware"),
    "devices": later("devices"),
    "replicas": later("replicas"),
    "per replica": later("per replica"),
    "USD per hour": later("USD per hour"),
    "paid by": later("paid by"),
    "USD per M output": later("USD per M output"),
    "USD per M tokens": later("USD per M tokens"),
    "tokens/s per user": later("tokens/s per user"),
    "tokens/s per device": later("tokens/s per device"),
    "TTFT s": later("TTFT s"),
    "TPOT s": later("TPOT s"),
    "best TTFT s": later("best TTFT s"),
    "best TPOT s": later("best TPOT s"),
    "weights": later("weights"),
    "plan": later("plan"),
    "batch": later("batch"),
    "used": later("used"),
    "keeps the promise": later("keeps the promise"),
    "why": later("why"),
    "reason": later("reason"),
}
"""Columns as files name them -> as people read them."""
SECONDS = ("TTFT s", "TPOT s", "best TTFT s", "best TPOT s")


def winners_frame(winners: Sequence[Deployment]) -> pd.DataFrame:
    """Deployments, cheapest first."""
    return pd.DataFrame(
        {
            "hardware": [w.hardware_name for w in winners],
            "devices": [w.devices for w in winners],
            "replicas": [w.replicas for w in winners],
            "per replica": [w.devices_per_replica for w in winners],
            "USD per hour": [w.usd_per_hour for w in winners],
            "paid by": [tr(PAID_WORDS[w.price_kind]) for w in winners],
            "USD per M output": [w.usd_per_million_output_tokens for w in winners],
            "USD per M tokens": [w.usd_per_million_tokens for w in winners],
            "tokens/s per user": [w.tokens_per_s_per_user for w in winners],
            "TTFT s": [w.ttft_s for w in winners],
            "TPOT s": [w.tpot_s for w in winners],
            "weights": [w.weights for w in winners],
            "plan": [plan_words(w.plan) for w in winners],
            "batch": [w.batch for w in winners],
            "used": [w.utilisation_frac for w in winners],
        }
    )


def frontier_frame(points: Sequence[FrontierPoint]) -> pd.DataFrame:
    """The figure's points, fastest first."""
    return pd.DataFrame(
        {
            "hardware": [p.hardware_name for p in points],
            "devices": [p.devices for p in points],
            "weights": [p.weights for p in points],
            "batch": [p.batch for p in points],
            "tokens/s per user": [p.tokens_per_s_per_user for p in points],
            "USD per M output": [p.usd_per_million_output_tokens for p in points],
            "tokens/s per device": [p.output_tokens_per_s_per_device for p in points],
            "keeps the promise": [p.meets for p in points],
        }
    )


def losers_frame(losers: Sequence[Loser]) -> pd.DataFrame:
    """Devices that lost, with reasons."""
    return pd.DataFrame(
        {
            "hardware": [item.hardware_name for item in losers],
            "why": [tr(CAUSE_WORDS[item.cause]) for item in losers],
            "reason": [item.reason for item in losers],
            "best TTFT s": [item.best_ttft_s for item in losers],
            "best TPOT s": [item.best_tpot_s for item in losers],
        }
    )


def columns(frame: pd.DataFrame) -> dict[str, Any]:
    """How columns are headed and numbers shown: three digits, shares as bars."""
    return {name: _column(name, tr(HEADS[name]), frame[name]) for name in frame.columns}


def _column(name: str, label: str, values: pd.Series[Any]) -> Any:  # noqa: ANN401
    if "USD" in name:
        return st.column_config.NumberColumn(label, format=_money_format(values))
    if name in SECONDS or "tokens/s" in name:
        return st.column_config.NumberColumn(label, format="%.3g")
    if name == "used":
        return st.column_config.ProgressColumn(label, format="percent", min_value=0.0, max_value=1.0)
    return st.column_config.TextColumn(label, width="large") if name == "reason" else st.column_config.Column(label)


def _money_format(values: pd.Series[Any]) -> str:
    """Three digits, and plain decimals where amounts are small."""
    least = min((value for value in values if value and value > 0.0), default=1.0)
    return "%.3g" if least >= MILLI else f"%.{2 - floor(log10(least))}f"


def link_of(scenario: Scenario) -> str:
    """The link of a deployment."""
    return link.to_query(scenario)


def winners_csv(found: Search) -> bytes:
    """Winners as a file, each with its link."""
    frame = winners_frame(found.winners)
    frame["price"] = [w.price_basis for w in found.winners]
    frame["link"] = [link_of(w.scenario) for w in found.winners]
    return frame.to_csv(index=False).encode()


def losers_csv(found: Search) -> bytes:
    """Losers as a file."""
    return losers_frame(found.losers).to_csv(index=False).encode()


def frontier_csv(found: Search) -> bytes:
    """The figure's points as a file, each with its link."""
    frame = frontier_frame(found.cost_frontier)
    frame["link"] = [link_of(p.scenario) for p in found.cost_frontier]
    return frame.to_csv(index=False).encode()


def search_bytes(found: Search) -> bytes:
    """Everything as the command line says it."""
    return json.dumps(plain(search_json(found, link_of)), indent=2, allow_nan=False).encode()
