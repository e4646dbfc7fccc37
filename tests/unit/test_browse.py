"""The catalogues as rows, their filters, and several devices on one roofline."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from math import log10

import plotly.graph_objects as go
import pytest

from roofline.answers.browse import (
    common_dtypes,
    device_rows,
    is_old,
    matching_devices,
    matching_models,
    model_rows,
    roofs,
)
from roofline.catalog.hardware import hardware_ids
from roofline.catalog.models import model_ids
from roofline.dashboard import choices
from roofline.figures.device_roofs import roofs_alt, roofs_figure
from roofline.figures.theme import Look

LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]


def test_every_device_and_model_has_a_row() -> None:
    assert sorted(row.id for row in device_rows()) == sorted(hardware_ids(announced=True))
    assert sorted(row.id for row in model_rows()) == sorted(model_ids())


def test_a_row_says_what_the_datasheet_says() -> None:
    # NVIDIA H100 SXM5 datasheet: 80 GB, 3.35 TB/s, 989 TFLOP/s BF16 and 1,979 FP8 dense, 700 W
    row = next(row for row in device_rows() if row.id == "h100-sxm")
    assert (row.memory_bytes, row.tdp_w) == (80e9, 700)
    assert row.bandwidth_bytes_per_s == pytest.approx(3.35e12, rel=1e-2)
    assert row.peak_16_bit_flops_per_s == pytest.approx(989e12, rel=1e-2)
    assert row.peak_8_bit_flops_per_s == pytest.approx(1979e12, rel=1e-2)
    assert row.peak_4_bit_flops_per_s is None


def test_a_model_row_says_what_its_report_says() -> None:
    # DeepSeek-V3 technical report: 671 B parameters, 37 B active, 8 of 256 routed experts
    row = next(row for row in model_rows() if row.id == "deepseek-v3")
    assert row.total_parameters == pytest.approx(671e9, rel=1e-3)
    assert row.active_parameters == pytest.approx(37e9, rel=0.02)
    assert (row.n_active_experts, row.n_experts) == (8, 256)


def test_filters_meet() -> None:
    found = matching_devices(text="instinct MI300", vendor="AMD", year=2023, memory_bytes=100e9)
    assert found
    assert all(row.vendor == "AMD" and row.year >= 2023 and row.memory_bytes >= 100e9 for row in found)
    assert matching_devices(text="no such thing") == ()
    assert {row.category for row in matching_devices(category="TPU")} == {"TPU"}


def test_models_by_kind_and_year() -> None:
    dense, sparse = matching_models(experts="dense"), matching_models(experts="experts")
    assert len(dense) + len(sparse) == len(model_rows())
    assert all(row.active_parameters < row.total_parameters for row in sparse)
    assert all(int(row.released[:4]) >= 2025 for row in matching_models(year=2025))
    assert [row.id for row in matching_models(text="DEEPSEEK v3.2")] == ["deepseek-v3.2"]


@pytest.mark.parametrize(
    ("day", "old"),
    [("2024-11-30", True), ("2025-11-29", True), ("2025-11-30", False), ("2025", False), ("2024", True), ("", False)],
)
def test_a_fact_older_than_a_year_is_old(day, old) -> None:
    assert is_old(day, date(2026, 11, 30)) is old


def test_a_missing_peak_is_named_and_never_scaled() -> None:
    found, without = roofs(["h100-sxm", "b200-sxm"], "fp4")
    assert [roof.id for roof in found] == ["b200-sxm"]
    assert without == ("H100 SXM5 80GB",)
    assert "fp4" in common_dtypes(["h100-sxm", "b200-sxm"])


def test_roofs_bend_at_their_ridge() -> None:
    found, _ = roofs(["h100-sxm", "rtx4090"], "bf16")
    spec = roofs_figure(found, Look())
    lines = [t for t in spec["data"] if t["mode"] == "lines"]
    for roof, line in zip(found, lines, strict=True):
        assert line["x"][1] * roof.bandwidth_bytes_per_s == pytest.approx(line["y"][1])
        assert line["y"][1] == line["y"][2] == roof.peak_flops_per_s
    assert lines[0]["line"]["color"] != lines[1]["line"]["color"]
    assert lines[0]["line"]["dash"] != lines[1]["line"]["dash"]


def test_letters_of_equal_devices_stand_apart_and_near_ones_on_either_side() -> None:
    found, _ = roofs(["h100-sxm", "h100-sxm", "mi300x", "h200-sxm"], "bf16")
    notes = roofs_figure(found, Look())["layout"]["annotations"]
    assert len({note["x"] for note in notes}) == 4
    assert [note["yanchor"] for note in notes] == ["top", "top", "bottom", "top"]
    assert notes[0]["y"] == pytest.approx(log10(found[0].peak_flops_per_s))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_every_property_is_one_that_plotly_knows(look) -> None:
    go.Figure(roofs_figure(roofs(["h100-sxm", "mi300x", "b200-sxm", "rtx4090"], "bf16")[0], look))


def test_the_alternative_names_each_device() -> None:
    words = roofs_alt(roofs(["h100-sxm", "rtx4090"], "bf16")[0], "bf16")
    assert words.startswith("Rooflines at BF16. A H100 SXM5 80GB: 989 TFLOP/s, 3.35 TB/s, ridge at 295")
    assert "B GeForce RTX 4090" in words


def test_devices_stand_as_people_look_for_them() -> None:
    kinds = [row.category for row in device_rows()]
    first = {kind: kinds.index(kind) for kind in kinds}
    for sooner, later in pairwise(("datacentre GPU", "workstation GPU", "consumer GPU", "Apple", "server CPU")):
        assert first[sooner] < first[later]
        assert len(kinds) - 1 - kinds[::-1].index(sooner) < first[later], "kinds do not mix"
    for kind in first:
        years = [row.year for row in device_rows() if row.category == kind]
        assert years == sorted(years, reverse=True)
    shipping = [row.id for row in device_rows() if not row.announced]
    assert list(choices.hardware()) == shipping
