"""Counts of whole models against figures that others have published or that follow by hand from published shapes.

``worked_models.csv`` has a row for each: a model of the catalogue or a configuration, what is counted, which parts the
source leaves out, expected value, relative tolerance and source. No expected value comes from this library.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from roofline.adapters.configuration import model_from_configuration
from roofline.catalog.models import load_model
from roofline.performance.counts import parameter_counts
from roofline.specs.model import Attend, Block, LayerGroup, ModelSpec, Routing, Tensor

with (Path(__file__).parent / "worked_models.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_count_is_the_published_figure(row: dict[str, str]) -> None:
    model = load_model(row["model"]) if row["model"] else model_from_configuration(json.loads(row["configuration"]))
    counted = parameter_counts(model)
    found = getattr(counted, row["count"]) - sum(getattr(counted, part) for part in row["without"].split())
    assert found == pytest.approx(float(row["expected"]), rel=float(row["rtol"]))


def test_rows_are_complete_and_distinct() -> None:
    assert max(Counter(row["id"] for row in ROWS).values()) == 1
    for row in ROWS:
        assert "https://" in row["source"], row["id"]
        assert 0 < float(row["rtol"]) <= 0.1, row["id"]
        assert bool(row["model"]) != bool(row["configuration"]), row["id"]


def test_every_other_layer_of_experts() -> None:
    # Du et al. 2021, GLaM, table 4: 64B/64E has 96.6e9 active parameters. https://arxiv.org/abs/2112.06905
    assert parameter_counts(glam()).active == pytest.approx(96.6e9, rel=0.005)


def glam() -> ModelSpec:
    """64 layers, gated feed-forward and 64 ungated experts by turns, one table for input and output; figures of table 4."""
    d, f, inner, layers, vocabulary = 8192, 32768, 16384, 64, 256_000
    experts = {"part": "routed_experts", "n_copies": 64}
    attention = Block(
        kind="attention",
        tensors=tuple(matrix(name, inner, d, part="attention") for name in ("query", "key", "value", "output")),
        attends=(Attend(n_heads=128, n_kv_heads=128, key_size=128, value_size=128, cache_elements=32768, read_elements=32768),),
    )
    dense = Block(kind="gated", tensors=tuple(matrix(name, f, d, part="dense_mlp") for name in ("gate", "up", "down")))
    routed = Block(
        kind="experts",
        tensors=tuple(matrix(name, f, d, **experts) for name in ("up", "down")),
        routing=Routing(n_experts=64, n_active=2),
    )
    return ModelSpec(
        id="glam", name="GLaM 64B/64E", architecture="glam", hidden_size=d, vocabulary=vocabulary, n_layers=layers,
        groups=(
            LayerGroup(layers=tuple(range(0, layers, 2)), blocks=(attention, dense)),
            LayerGroup(layers=tuple(range(1, layers, 2)), blocks=(attention, routed)),
        ),
        ends=(matrix("embedding", vocabulary, d, part="embedding"),),
        tied_embeddings=True,
    )  # fmt: skip


def matrix(name: str, n_out: int, n_in: int, **fields: object) -> Tensor:
    return Tensor(operator=name, module=name, n_out=n_out, n_in=n_in, **fields)
