"""Exchanges between experts against published times of the kernels that do them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from roofline.catalog.engines import base_profiles
from roofline.formulas.collectives import expert_exchange_bytes
from roofline.formulas.exchange import expert_exchange_s

TABLE = Path(__file__).parent / "exchange_kernels.csv"
SERVING = next(profile for profile in base_profiles() if profile.id == "serving")


def rows(way: str) -> list[dict[str, str]]:
    lines = (line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return [row for row in csv.DictReader(lines) if row["way"] == way]


def name(row: dict[str, str]) -> str:
    return f"{row['source']} {row['kernel']} {row['devices']} {row['phase']}"


@pytest.mark.parametrize("row", rows("straight"), ids=name)
def test_one_latency_and_one_share_of_the_link_meet_every_number_of_nodes(row: dict[str, str]) -> None:
    payload = expert_exchange_bytes(
        n_tokens=128,
        hidden_size=7168,
        n_copies=8,
        dispatch_bytes_per_element=float(row["bytes_per_element"]),
        combine_bytes_per_element=0,
    )
    found_s = expert_exchange_s(
        payload_bytes=payload,
        outside_frac=1 - int(row["devices_per_node"]) / int(row["devices"]),
        link_bytes_per_s=float(row["link_gb_per_s"]) * 1e9 * SERVING.exchange_frac.value,
        latency_s=SERVING.exchange_latency_s.value,
    )
    assert found_s * 1e6 == pytest.approx(float(row["value"]), rel=0.09)


@pytest.mark.parametrize("row", rows("forwarded"), ids=name)
def test_exchanges_once_to_a_node_reach_the_same_share_of_the_link(row: dict[str, str]) -> None:
    leaving = float(row["value"]) * (1 - int(row["devices_per_node"]) / int(row["devices"]))
    assert leaving / float(row["link_gb_per_s"]) == pytest.approx(SERVING.exchange_frac.value, rel=0.05)
