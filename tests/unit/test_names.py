"""Names of the catalogue: which spellings count as one, and what a part of a name stands for."""

from __future__ import annotations

import json
import random

import pytest
from typer.testing import CliRunner

from roofline.catalog.hardware import catalogue_hardware_id, hardware_ids, hardware_names, load_hardware
from roofline.catalog.models import catalogue_model_id, model_entries, model_ids, model_names
from roofline.catalog.names import Names, normal
from roofline.cli import app

SEPARATORS = (" ", "-", "_", "  ", " - ")


def respelled(name: str, dice: random.Random) -> str:
    """The same name as another person would type it: any case, any separator for each; a dot between digits may be one too."""
    parts = [dice.choice(SEPARATORS) if c in " -_" else dice.choice((".", "-", "_")) if c == "." else c for c in name]
    return "".join(dice.choice((c.lower(), c.upper())) for c in "".join(parts))


@pytest.mark.parametrize("model", model_ids())
def test_every_model_is_found_however_its_id_and_name_are_spelled(model) -> None:
    dice, entry = random.Random(model), model_entries()[model]
    for name in (model, entry.name, *entry.aliases):
        assert catalogue_model_id(name) == model
        assert catalogue_model_id(respelled(name, dice)) == model


@pytest.mark.parametrize("device", hardware_ids(announced=True))
def test_every_device_is_found_however_its_names_are_spelled(device) -> None:
    dice = random.Random(device)
    for name in (device, load_hardware(device).name, *load_hardware(device).aliases):
        assert catalogue_hardware_id(name) == device
        assert catalogue_hardware_id(respelled(name, dice)) == device


@pytest.mark.parametrize("ids", [model_ids(), hardware_ids(announced=True)])
def test_an_id_without_separators_is_found(ids) -> None:
    find = catalogue_model_id if ids[0] in model_ids() else catalogue_hardware_id
    for entry in ids:
        assert find("".join(c for c in entry if c not in ".-_")) == entry


def test_a_published_name_with_other_numbers_is_another_model() -> None:
    """Organisations name sizes apart: 17B is not 1.7B."""
    assert catalogue_model_id("Qwen/Qwen3-1.7B") == "qwen3-1.7b"
    assert catalogue_model_id("Qwen/Qwen3-17B") is None


@pytest.mark.parametrize("text", ["", " ", "-", "._-", "/", "xyzzy", "42"])
def test_what_is_no_name_stands_for_no_one_entry(text) -> None:
    assert catalogue_model_id(text) is None
    assert len(model_names().meant(text)) != 1


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("Qwen3-235B", "qwen3-235b-a22b"),
        ("qwen3 235b", "qwen3-235b-a22b"),
        ("Qwen/Qwen3-235B", "qwen3-235b-a22b"),
        ("deepseek v3", "deepseek-v3"),
        ("llama 3.3 70b", "llama-3.3-70b"),
        ("70b llama 3.3", "llama-3.3-70b"),
        ("grok", "grok-1"),
        ("scout", "llama-4-scout"),
        ("nemotron ultra", "nemotron-3-ultra-550b-a55b"),
    ],
)
def test_a_part_of_a_name_stands_for_the_one_model_that_has_it(text, model) -> None:
    assert (catalogue_model_id(text) or model_names().meant(text)[0], len(model_names().meant(text))) == (model, 1)


def test_a_part_of_several_names_names_them_all() -> None:
    assert set(model_names().meant("llama 70b")) == {"llama-2-70b", "llama-3-70b", "llama-3.1-70b", "llama-3.3-70b"}
    assert {"apple-m1", "apple-m4pro"} <= set(hardware_names().meant("macbook"))
    assert "apple-m3ultra" not in hardware_names().meant("macbook")  # only in a Mac Studio


def test_spellings_that_two_entries_share_without_separators_are_of_neither() -> None:
    names = Names({"a-1.7": ("a-1.7",), "a-17": ("a-17",)})
    assert (names.entry("A 1 7"), names.entry("a.17"), names.entry("a17")) == ("a-1.7", "a-17", "a-17")
    assert Names({"x": ("b-1.7",), "y": ("b1-7-",), "z": ("b.17",)}).entry("b 17") == "z"
    assert Names({"x": ("b-1.7",), "y": ("b-1.7-0",), "z": ("b-17.0",)}).entry("b170") is None
    assert normal("b-1.7") != normal("b-17")


def test_the_command_line_takes_any_spelling() -> None:
    def expected(model: str, hardware: str) -> dict[str, object]:
        found = CliRunner().invoke(app, ["estimate", "--model", model, "--hardware", hardware, "--json"])
        assert found.exit_code == 0, found.output
        return json.loads(found.output)["expected"]

    assert expected("LLAMA 3_1 8b", "h100 SXM") == expected("llama-3.1-8b", "h100-sxm")
