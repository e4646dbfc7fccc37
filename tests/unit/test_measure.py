"""Measuring this machine: the arithmetic on a clock of our own, sane figures on the real one, an entry that loads."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link, load_hardware
from roofline.answers import host as hosts
from roofline.answers import measure as measuring
from roofline.answers.host import Host, fields, this_host
from roofline.answers.measure import (
    Measurement,
    Speeds,
    best_rate,
    catalogue_tables,
    catalogue_yaml,
    fp32_flops_per_s,
    measure,
    read_bytes_per_s,
    reading_bytes,
)
from roofline.catalog.hardware import device_of_text, facts, packed_device
from roofline.cli import app
from roofline.errors import InputError

HOST = Host("AMD EPYC 9654", "AMD", 8, 32 << 20, 64 << 30, 60 << 30, ("avx512_vnni",), 0.1)
FOUND = Measurement(HOST, Speeds(81.26e9, 512 << 20, 612.3e9, 2048), "2026-11-30")


def ticking(step_s: float):
    """A clock that moves on by so much whenever it is looked at."""
    ticks = itertools.count()
    return lambda: next(ticks) * step_s


def test_the_best_run_counts() -> None:
    now = [0.0]
    lengths = itertools.chain([4.0, 2.0, 8.0], itertools.repeat(5.0))

    def run() -> None:
        now[0] += next(lengths)

    # 100 units of work in 4, 2, 8, … seconds: the best is 50 a second
    assert best_rate(run, work=100.0, seconds=13.0, clock=lambda: now[0]) == 50.0


def test_two_runs_at_least_and_none_after_the_time() -> None:
    runs: list[int] = []
    best_rate(lambda: runs.append(1), work=1.0, seconds=0.0, clock=ticking(1.0))
    assert len(runs) == 2
    # looks at the clock: one at the start, two for each of two runs, then 5 s have gone; a third run, then 8 s
    best_rate(lambda: runs.append(1), work=1.0, seconds=7.0, clock=ticking(1.0))
    assert len(runs) == 2 + 3


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_reading_counts_every_byte_of_all_threads_once(n_threads: int) -> None:
    rate = read_bytes_per_s(array_bytes=12_000_000, n_threads=n_threads, seconds=0.0, clock=ticking(1e-3))
    assert rate == pytest.approx(12e9)


def test_products_count_two_operations_and_stop_with_the_time() -> None:
    # a clock that makes every product take 1 s: 2 x 8^3 FLOP, and no time for a larger size
    assert fp32_flops_per_s(seconds=3.0, sizes=(8, 32), clock=ticking(1.0)) == (8, 2.0 * 8**3)
    assert fp32_flops_per_s(seconds=1e3, sizes=(8, 32), clock=ticking(1.0)) == (32, 2.0 * 32**3)


def test_arrays_exceed_the_caches_and_leave_memory_free() -> None:
    for cache in (1 << 20, 32 << 20, 1 << 30):
        assert reading_bytes(cache_bytes=cache, free_bytes=1 << 40) >= 2 * cache
        assert reading_bytes(cache_bytes=cache, free_bytes=1 << 28) <= 1 << 26
    sizes = [reading_bytes(cache_bytes=32 << 20, free_bytes=free << 20) for free in range(1, 5000, 100)]
    assert sizes == sorted(sizes)


def test_the_entry_loads_and_every_fact_says_measured() -> None:
    text = catalogue_yaml(catalogue_tables(FOUND))
    device = device_of_text(text, "mine.yaml")
    assert (device.id, device.category, device.vendor) == ("my-amd-epyc-9654-8-cores", "server CPU", "AMD")
    assert device.usable_memory_bytes == 64 * 2**30
    assert device.bandwidth_bytes_per_s == pytest.approx(81.26e9)
    assert device.peak_flops_per_s("fp32") == pytest.approx(612.3e9)
    assert {(fact.kind, fact.source) for _, fact in facts(device)} == {("measured", "measured-2026-11-30")}
    assert "avx512_vnni" in device.note
    assert "quiet" not in device.note
    assert load_hardware(packed_device(text, "mine.yaml")) == device


def test_a_disturbed_measurement_says_so() -> None:
    busy = catalogue_tables(replace(FOUND, host=replace(HOST, load=7.5, narrow_units=())))
    note = next(iter(busy["accelerators"].values()))["note"]
    assert "load 7.5" in note
    assert "narrow" not in note


def test_names_that_yaml_reads_as_something_else_come_back() -> None:
    for name in ("no", "12: 3", "# x", "'\"", "- a", "CPU @ 2.4GHz {x}", ""):
        text = catalogue_yaml(catalogue_tables(replace(FOUND, host=replace(HOST, processor=name, vendor="null"))))
        device = device_of_text(text, "mine.yaml")
        assert device.name == f"{name}, 8 cores"
        assert device.vendor == "null"


@pytest.fixture
def quickly(monkeypatch) -> None:
    """Small arrays and matrices: the same code, in a moment, also on a busy machine."""
    monkeypatch.setattr(measuring, "reading_bytes", lambda **_: 32 << 20)
    monkeypatch.setattr(measuring, "fp32_flops_per_s", partial(fp32_flops_per_s, sizes=(64, 128)))


@pytest.mark.usefixtures("quickly")
def test_this_machine_in_sane_ranges() -> None:
    found = measure(seconds=0.1)
    # between a single slow channel and the fastest sockets with on-package memory
    assert 1e8 < found.speeds.read_bytes_per_s < 1e13
    assert 1e7 < found.speeds.fp32_flops_per_s < 1e15
    assert found.host.n_cores >= 1
    assert found.host.free_bytes <= found.host.memory_bytes


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e9, float("nan"), float("inf")])
def test_a_time_out_of_bounds_is_told(seconds: float) -> None:
    with pytest.raises(InputError, match="seconds must be"):
        measure(seconds=seconds)


def test_a_system_without_proc(monkeypatch) -> None:
    monkeypatch.setattr(hosts, "_text", lambda path: "")
    found = this_host()
    assert found.memory_bytes > 2**28
    assert found.cache_bytes == hosts.ASSUMED_CACHE_BYTES
    monkeypatch.setattr(hosts.os, "sysconf", lambda name: (_ for _ in ()).throw(ValueError))
    with pytest.raises(InputError, match="does not tell how much memory"):
        this_host()


def test_a_container_limits_memory(monkeypatch) -> None:
    texts = {
        "/proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB",
        "/sys/fs/cgroup/memory.max": "4294967296",
        "/sys/fs/cgroup/memory.current": "1073741824",
    }
    monkeypatch.setattr(hosts, "_text", lambda path: texts.get(str(path), ""))
    assert (this_host().memory_bytes, this_host().free_bytes) == (4 << 30, 3 << 30)


def test_fields_take_the_first_value() -> None:
    assert fields("a : 1\nb\na : 2\nc: x: y") == {"a": "1", "c": "x: y"}


@pytest.mark.usefixtures("quickly")
def test_the_command_writes_a_file_that_estimate_takes(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    run = CliRunner()
    shown = run.invoke(app, ["measure", "--seconds", "0.05", "--out", str(file)])
    assert shown.exit_code == 0, shown.stderr
    assert "GB/s" in shown.stdout
    assert str(file) in shown.stdout
    asked = run.invoke(
        app,
        ["estimate", "--model", "qwen3-0.6b", "--weights", "q8_0", "--hardware", str(file), "--batch", "1", "--json"],
    )
    assert asked.exit_code == 0, asked.stderr
    answer = json.loads(asked.stdout)
    there = link.from_query(answer["link"])
    assert not there.problems
    assert evaluate(there.scenario).limit.tpot_s == answer["limit"]["tpot_s"]


@pytest.mark.usefixtures("quickly")
def test_the_command_as_json_and_without_a_file() -> None:
    run = CliRunner()
    answer = json.loads(run.invoke(app, ["measure", "--seconds", "0.05", "--json"]).stdout)
    assert answer["bandwidth_bytes_per_s"] > 1e8
    assert answer["file"] is None
    assert device_of_text(answer["yaml"], "x").id == answer["id"]
    assert list(answer["entry"]["accelerators"]) == [answer["id"]]
    shown = run.invoke(app, ["measure", "--seconds", "0.05"]).stdout
    assert device_of_text(shown[shown.index("sources:") :], "x").id == answer["id"]


@pytest.mark.parametrize(
    ("args", "word"),
    [(["--out", "mine.txt"], ".yaml"), (["--out", "/no/such/folder/mine.yaml"], "written"), (["--seconds", "nan"], "seconds")],
)
@pytest.mark.usefixtures("quickly")
def test_bad_input_is_one_sentence(args: list[str], word: str) -> None:
    result = CliRunner().invoke(app, ["measure", "--seconds", "0.05", *args])
    assert result.exit_code == 2
    assert word in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_scenario_takes_the_measured_peak_for_every_format(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(catalogue_yaml(catalogue_tables(FOUND)))
    for weights in ("bf16", "fp32", "q8_0", "q4_k_m", "int8"):
        report = evaluate(Scenario(model="llama-3.1-8b", hardware=str(file), weights=weights, batch=1))
        # one token, 80 GB/s, 8.03e9 weights: never faster than the bytes allow
        assert report.limit.tpot_s > 3e9 / 81.26e9
        assert report.bound["decode"] in ("memory", "host", "compute")
