"""Links: readable, versioned, and damaged ones told."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest

from roofline import Scenario, evaluate, link
from roofline.adapters.inline import pack
from roofline.answers.presets import PRESETS
from roofline.errors import CatalogError, InputError, LinkError, RooflineError
from roofline.scenario_file import read_scenario


def test_the_default_page_needs_no_query() -> None:
    assert link.encode(link.DEFAULT) == {}
    assert link.decode({}) == link.Decoded(link.DEFAULT, ())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.id)
def test_presets_are_links(preset) -> None:
    query = link.to_query(preset.scenario)
    assert link.from_query("http://localhost:8501/" + query) == link.Decoded(preset.scenario, ())
    assert len(query) < 400


def test_only_what_differs_is_written() -> None:
    scenario = link.DEFAULT.model_copy(update={"batch": 7, "memory_gib": 384.0})
    assert link.encode(scenario) == {"v": "1", "batch": "7", "mem": "384"}


@pytest.mark.parametrize(
    ("key", "text", "word"),
    [
        ("n", "0", "at least 1"),
        ("n", "-4", "at least 1"),
        ("n", "1e400", "whole number"),
        ("batch", "nan", "whole number"),
        ("in", "99999999999", "at most 10,000,000"),
        ("util", "nan", "finite"),
        ("usd", "inf", "finite"),
        ("rate", "-1", "at least 1e-09"),
        ("adp", "perhaps", "yes or no"),
        ("model", "", "empty"),
    ],
)
def test_a_damaged_value_is_named_and_the_rest_is_kept(key: str, text: str, word: str) -> None:
    decoded = link.decode({"v": "1", "out": "77", key: text})
    assert decoded.scenario == link.DEFAULT.model_copy(update={"output_tokens": 77})
    assert len(decoded.problems) == 1
    assert decoded.problems[0].startswith(f"{key}=")
    assert word in decoded.problems[0]


def test_unknown_keys_and_versions_are_told() -> None:
    decoded = link.decode({"v": "9", "colour": "red", "n": "8", "tab": "cost"})
    assert decoded.scenario.devices == 8
    assert any("version 9" in p for p in decoded.problems)
    assert any("colour" in p for p in decoded.problems)
    assert not any("tab" in p for p in decoded.problems)


def test_batch_and_rate_together_keep_the_rate() -> None:
    decoded = link.decode({"batch": "4", "rate": "2.5"})
    assert (decoded.scenario.batch, decoded.scenario.request_rate) == (None, 2.5)
    assert len(decoded.problems) == 1


def test_an_endless_link_is_refused() -> None:
    decoded = link.decode({"model": "x" * 6000})
    assert decoded.scenario == link.DEFAULT
    assert "longer than" in decoded.problems[0]


def test_text_that_is_no_link_is_refused() -> None:
    with pytest.raises(LinkError, match="is not a link"):
        link.from_query("hello")


def test_a_scenario_file(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("model: llama-3.1-8b\nhardware: 2xh100-sxm\nbatch: 4\n")
    assert read_scenario(file) == Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=2, batch=4)
    for text in ("- a\n- b\n", "a: b: c", "!!python/object:os.system {}", "\x00"):
        file.write_text(text)
        with pytest.raises(LinkError):
            read_scenario(file)
    file.write_text("#" * 70_000)
    with pytest.raises(LinkError, match="larger"):
        read_scenario(file)
    with pytest.raises(LinkError, match="cannot be read"):
        read_scenario(tmp_path / "none.yaml")


@pytest.mark.parametrize("key", ["model", "hw"])
@pytest.mark.parametrize("text", ["/etc/passwd", "../secret.yaml", "models/config.json", ".", "no-such-thing"])
def test_a_link_opens_no_file(key: str, text: str) -> None:
    decoded = link.decode({key: text})
    assert decoded.scenario == link.DEFAULT
    assert len(decoded.problems) == 1


def test_a_model_of_the_persons_own_is_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    shape = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8, "vocab_size": 1000}
    answers = []
    for layers in (4, 8):
        file.write_text(json.dumps({**shape, "num_hidden_layers": layers}))
        answers.append(evaluate(Scenario(model=str(file), hardware="h100-sxm", batch=1)).memory.weights_bytes_per_device)
    assert answers[1] > answers[0]


@pytest.mark.parametrize("key", ["n", "in", "out", "util", "model", "hw"])
def test_auto_is_no_value_where_one_is_needed(key: str) -> None:
    decoded = link.decode({key: "auto"})
    assert decoded.scenario == link.DEFAULT
    assert len(decoded.problems) == 1


@pytest.mark.parametrize(("key", "text"), [("w", "zzz"), ("a", "fp7"), ("kv", "magic"), ("engine", "vllm9"), ("engine", "\n")])
def test_formats_and_engines_of_a_link_must_exist(key: str, text: str) -> None:
    decoded = link.decode({key: text, "n": "4"})
    assert decoded.scenario == link.DEFAULT.model_copy(update={"devices": 4})
    assert len(decoded.problems) == 1


def test_hardware_in_a_link_may_carry_its_count_and_usual_spelling() -> None:
    decoded = link.decode({"hw": "4xRTX 4090"})
    assert (decoded.scenario.devices, decoded.scenario.hardware, decoded.problems) == (4, "RTX 4090", ())
    assert evaluate(decoded.scenario.model_copy(update={"batch": 1, "weights": "q2_k", "model": "llama-3.1-8b"})).memory.fits


def test_control_characters_do_not_reach_a_terminal() -> None:
    for problem in link.decode({"model": "\x1b]0;x\x07", "\x00key": "1"}).problems:
        assert problem.isprintable()
    name = pack({"name": "\x1b[31mred\ud800", "model_type": "llama\ud800", "hidden_size": 64, "vocab_size": 100})
    with contextlib.suppress(RooflineError):
        assert evaluate(Scenario(model=name, hardware="h100-sxm", batch=1)).model_name.isprintable()


def test_a_fragment_is_no_part_of_a_link() -> None:
    assert link.from_query("http://localhost:8501/?v=1&n=8#top").scenario.devices == 8


def test_a_device_file_that_is_not_there_has_no_link() -> None:
    with pytest.raises(CatalogError, match="cannot be read"):
        link.portable(Scenario(model="llama-3.1-8b", hardware="mine.yaml"))


def test_a_link_cannot_hold_the_server_up() -> None:
    config = {
        "model_type": "mixtral",
        "hidden_size": 512,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "vocab_size": 100,
        "num_local_experts": 99_999_999,
        "num_experts_per_tok": 2,
    }
    start = time.perf_counter()
    for experts in (99_999_999, 99_991, 65_536):
        scenario = Scenario(model=pack({**config, "num_local_experts": experts}), hardware="h100-sxm", devices=64, batch=1)
        with contextlib.suppress(RooflineError):
            evaluate(scenario)
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("hardware", "count", "stands"), [("rtx3090+rtx4090", "16", 2), ("8xh100-sxm", "16", 8), ("2xrtx3090 + rtx4090", "2", 3)]
)
def test_two_counts_of_devices_are_told_in_any_order(hardware: str, count: str, stands: int) -> None:
    with pytest.raises(InputError, match="give one of them") as told:
        Scenario(model="llama-3.1-8b", hardware=hardware, devices=int(count))
    for query in ({"hw": hardware, "n": count}, {"n": count, "hw": hardware}):
        decoded = link.decode(query)
        assert decoded.scenario.devices == stands
        assert str(told.value) in decoded.problems[0]
        assert link.from_query(link.to_query(decoded.scenario)) == link.Decoded(decoded.scenario, ())


def test_a_count_that_agrees_or_stands_alone_is_taken() -> None:
    for query in ({"hw": "8xh100-sxm", "n": "8"}, {"n": "8", "hw": "8xh100-sxm"}, {"hw": "8xh100-sxm"}, {"n": "8"}):
        assert link.decode(query) == link.Decoded(link.DEFAULT.model_copy(update={"devices": 8}), ())
    box = Scenario(model="llama-3.1-8b", hardware="rtx3090+rtx4090")
    assert "give one of them" in link.decode({"n": "16"}, box).problems[0]


@pytest.mark.parametrize("name", ["usd_per_device_hour", "prefix_hit", "batching_window_s"])
def test_a_zero_has_no_sign_in_a_link(name: str) -> None:
    written = link.encode(link.DEFAULT.model_copy(update={name: -0.0}), link.DEFAULT.model_copy(update={name: 0.5}))
    assert "0" in written.values()
    assert not any(text.startswith("-") for text in written.values())


@pytest.mark.parametrize(
    "line",
    [
        "model: nosuch",
        "model: yes",
        "hardware: nosuch",
        "host: nosuch",
        "engine: nosuch",
        "grid: nosuch",
        "weights: q9_9",
        "model: .",
    ],
)
def test_a_scenario_file_that_no_link_can_hold_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    fields = {"model": "model: llama-3.1-8b", "hardware": "hardware: rtx4090", **{line.partition(":")[0]: line}}
    file.write_text("\n".join(fields.values()))
    with pytest.raises(RooflineError):
        link.holdable(read_scenario(file))


def test_a_scenario_file_that_names_files_becomes_a_link_that_works_elsewhere(tmp_path: Path) -> None:
    shape = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "vocab_size": 1000, "num_hidden_layers": 4}
    (tmp_path / "config.json").write_text(json.dumps({**shape, "intermediate_size": 1024}))
    scenario = link.holdable(Scenario(model=str(tmp_path), hardware="rtx4090", batch=1))
    decoded = link.from_query(link.to_query(scenario))
    assert decoded.problems == ()
    (tmp_path / "config.json").unlink()
    assert evaluate(decoded.scenario).memory.fits
    (tmp_path / "config.json").write_text(
        json.dumps({**shape, "intermediate_size": 1024, "layer_types": [*map(str, range(3000))]})
    )
    with pytest.raises(RooflineError):
        link.holdable(Scenario(model=str(tmp_path), hardware="rtx4090", batch=1))
