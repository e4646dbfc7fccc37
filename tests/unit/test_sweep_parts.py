"""Sweeps in parts: the same rows however they are cut, ordered, spread over workers, or taken up again."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import distributed
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from roofline import Scenario, sweep, sweep_parts, write_sweep
from roofline.answers import sweep as sweep_module
from roofline.cli import app
from roofline.errors import InputError, StoppedError

ONE = Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8, input_tokens=1000, output_tokens=200)
AXES: dict[str, list[Any]] = {
    "hardware": ["h100-sxm", "rtx4090"],
    "tensor_parallel": [1, 2, None],
    "batch": [1, 2, 64, 100_000],
    "input_tokens": [100, 2000, 30_000],
    "weights": [None, "fp8"],
}
KEYS = list(AXES)
LARGE: dict[str, list[Any]] = {"hardware": ["h100-sxm", "h200-sxm"], "batch": [*range(1, 201)], "input_tokens": [*range(50, 150)]}
COMMAND = ["--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--output-tokens", "200"]


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Rows sorted by their axes, words as words: what must be the same."""
    plain = table.astype({name: "str" for name in table if isinstance(table[name].dtype, pd.CategoricalDtype)})
    return plain[sorted(plain.columns)].sort_values(KEYS if set(KEYS) <= set(plain) else list(LARGE), ignore_index=True)


def same_rows(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(in_order(one), in_order(other), check_exact=True)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(KEYS), rows_per_part=st.integers(1, 200))
def test_neither_the_order_of_axes_nor_the_size_of_parts_changes_a_row(order: list[str], rows_per_part: int) -> None:
    whole = sweep(ONE, AXES)
    axes = {name: AXES[name] for name in order}
    parts = list(sweep_parts(ONE, axes, rows_per_part))
    assert [len(part) for part in parts[:-1]] == [rows_per_part] * (len(parts) - 1)
    assert all((part.dtypes.astype(str) == parts[0].dtypes.astype(str)).all() for part in parts)
    same_rows(pd.concat(parts), whole)
    table = sweep(ONE, axes)
    same_rows(table, whole)
    places = [[axes[name].index(None if pd.isna(cell) else cell) for cell in table[name]] for name in order]
    assert list(zip(*places, strict=True)) == sorted(zip(*places, strict=True))


def test_parts_come_with_the_load_running_fastest() -> None:
    table = pd.concat(sweep_parts(ONE, {"batch": [1, 2], "hardware": ["h100-sxm", "rtx4090"]}, 3))
    assert table["hardware"].tolist() == ["h100-sxm"] * 2 + ["rtx4090"] * 2
    assert table["batch"].tolist() == [1, 2, 1, 2]


def test_bad_axes_are_told_before_the_first_part() -> None:
    with pytest.raises(InputError, match="at least 1"):
        sweep_parts(ONE, {"batch": [0, 1, 2]})
    with pytest.raises(InputError, match="not a field"):
        sweep_parts(ONE, {"colour": [1]})


def test_parts_need_no_more_memory_for_more_rows() -> None:
    def peak_bytes(n_parts: int) -> int:
        tracemalloc.start()
        for _ in sweep_parts(ONE, {"batch": range(1, 1001), "input_tokens": range(64, 64 + 20 * n_parts)}, 20_000):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak_bytes(1)
    assert peak_bytes(8) < 1.3 * peak_bytes(2)


def test_time_grows_with_rows() -> None:
    def seconds(n: int) -> float:
        start = time.process_time()
        rows = sum(len(part) for part in sweep_parts(ONE, {"batch": range(1, 1001), "input_tokens": range(64, 64 + n)}))
        assert rows == 1000 * n
        return time.process_time() - start

    seconds(10)
    assert min(seconds(800) for _ in range(2)) < 8 * 2.5 * min(seconds(100) for _ in range(3))


def threads() -> Executor:
    return ThreadPoolExecutor(3)


def processes() -> Executor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("engine", [None, threads, processes])
def test_every_engine_writes_the_same_rows(engine: Any, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    executor = engine() if engine is not None else None
    try:
        found = write_sweep(ONE, AXES, tmp_path / "out", executor, progress=lambda *at: seen.append(at), rows_per_part=17)
    finally:
        if executor is not None:
            executor.shutdown()
    assert (found.rows, found.n_parts, found.n_found) == (144, 9, 0)
    assert seen[-1] == (144, 144)
    assert len(seen) == 9
    same_rows(pd.read_parquet(tmp_path / "out"), sweep(ONE, AXES))
    assert not list((tmp_path / "out").glob(".*"))


def test_a_cluster_that_loses_a_worker_loses_no_row(tmp_path: Path) -> None:
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killed: list[tuple[int, int]] = []

        def kill(done: int, total: int) -> None:
            if not killed:
                killed.append((done, total))
                os.kill(pids[0], signal.SIGKILL)

        write_sweep(ONE, LARGE, tmp_path / "out", client.get_executor(), progress=kill, rows_per_part=500)
        command = ["sweep", *COMMAND, "--batch", "1,2,3", "--context", "64,128", "--dask", cluster.scheduler_address]
        told = CliRunner().invoke(app, [*command, "--out", f"{tmp_path / 'command'}/"])
    assert told.exit_code == 0, told.stderr
    assert len(pd.read_parquet(tmp_path / "command")) == 6
    assert killed[0][0] < killed[0][1]
    same_rows(pd.read_parquet(tmp_path / "out"), sweep(ONE, LARGE))
    assert len(list((tmp_path / "out").glob("part-*"))) == 80
    assert not list((tmp_path / "out").glob(".*"))


def test_a_pool_that_loses_a_worker_is_taken_up_again(tmp_path: Path) -> None:
    def kill(done: int, total: int) -> None:
        for child in multiprocessing.active_children():
            child.kill()

    with processes() as pool, pytest.raises(StoppedError, match=r"\d+ of 80 parts left"):
        write_sweep(ONE, LARGE, tmp_path / "out", pool, progress=kill, rows_per_part=500)
    there = len(list((tmp_path / "out").glob("part-*")))
    assert 0 < there < 80
    found = write_sweep(ONE, LARGE, tmp_path / "out", rows_per_part=500)
    assert found.n_found == there
    same_rows(pd.read_parquet(tmp_path / "out"), sweep(ONE, LARGE))


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done >= 60:
            raise StopError

    with pytest.raises(StopError):
        write_sweep(ONE, AXES, tmp_path, progress=stop, rows_per_part=20)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("part-*")}
    assert len(before) == 3
    (tmp_path / ".part-000005.parquet.torn").write_bytes(b"half a part of a worker that died")
    assert write_sweep(ONE, AXES, tmp_path, rows_per_part=20).n_found == 3
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in before} == before
    same_rows(pd.read_parquet(tmp_path), sweep(ONE, AXES))
    assert not list(tmp_path.glob(".*"))
    assert write_sweep(ONE, AXES, tmp_path, resume=False, rows_per_part=20).n_found == 0


def test_a_folder_holds_one_question(tmp_path: Path) -> None:
    write_sweep(ONE, {"batch": [1, 2]}, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "_question.json").read_text())
    assert (told["rows"], told["axes"], told["scenario"]["model"]) == (2, {"batch": 2}, "llama-3.1-8b")
    for scenario, axes in ((ONE, {"batch": [1, 3]}), (ONE.model_copy(update={"output_tokens": 7}), {"batch": [1, 2]})):
        with pytest.raises(InputError, match="another question"):
            write_sweep(scenario, axes, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="other files"):
        write_sweep(ONE, {"batch": [1, 2]}, tmp_path / "full", resume=False)
    assert (tmp_path / "full" / "letter.txt").read_text() == "mine"
    with pytest.raises(InputError, match="cannot be written"):
        write_sweep(ONE, {"batch": [1, 2]}, tmp_path / "full" / "letter.txt" / "out")


def test_a_manifest_that_is_no_manifest_is_another_question(tmp_path: Path) -> None:
    for text in ("not json", "[1]"):
        (tmp_path / "_question.json").write_text(text)
        with pytest.raises(InputError, match="another question"):
            write_sweep(ONE, {"batch": [1, 2]}, tmp_path)


def test_a_changed_file_of_ones_own_is_another_question(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    source = Path(sweep_module.__file__).parents[1] / "catalog" / "data" / "models" / "llama-3.1-8b.json"
    config.write_text(source.read_text())
    scenario = ONE.model_copy(update={"model": str(config)})
    write_sweep(scenario, {"batch": [1, 2]}, tmp_path / "out")
    os.utime(config, ns=(1, 1))
    with pytest.raises(InputError, match="another question"):
        write_sweep(scenario, {"batch": [1, 2]}, tmp_path / "out")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--out", "x.txt"], ["/ for a folder"]),
        (["--workers", "2"], ["--out FOLDER/"]),
        (["--workers", "2", "--out", "x.csv"], ["--out FOLDER/"]),
        (["--workers", "0", "--out", "x/"], ["at least 1"]),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:1", "--out", "x/"], ["not both"]),
        (["--dask", "nowhere", "--out", "x/"], ["no Dask scheduler answers at nowhere"]),
    ],
)
def test_outputs_that_cannot_be_are_one_sentence(args: list[str], words: list[str]) -> None:
    result = CliRunner().invoke(app, ["sweep", *COMMAND, "--batch", "1,2", *args])
    assert result.exit_code == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert result.stderr.count("\n") == 1


def test_the_command_fills_a_folder_and_takes_it_up_again(tmp_path: Path) -> None:
    args = ["sweep", *COMMAND, "--batch", "1,2,4", "--context", "512,1024", "--out", f"{tmp_path / 'out'}/"]
    first = CliRunner().invoke(app, args)
    assert first.exit_code == 0, first.stderr
    assert "6 rows in 1 parts" in first.stdout
    again = CliRunner().invoke(app, [*args, "--workers", "1"])
    assert "from an earlier run" in again.stdout
    assert len(pd.read_parquet(tmp_path / "out")) == 6


def _heeds_interrupts() -> None:
    """What is started in the background of a shell ignores them otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_command_that_is_stopped_goes_on(workers: int, tmp_path: Path) -> None:
    numbers = ",".join(map(str, range(1, 1501)))
    lists = ["--batch", numbers, "--context", numbers]
    command = [
        sys.executable,
        "-m",
        "roofline",
        "sweep",
        *COMMAND,
        *lists,
        "--workers",
        str(workers),
        "--out",
        f"{tmp_path}/out/",
    ]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, preexec_fn=_heeds_interrupts, **pipes) as running:
        while not list(tmp_path.glob("out/part-*")):
            assert running.poll() is None, running.communicate()
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "goes on from there" in told.splitlines()[-1]
    assert "Traceback" not in told
    there = len(list(tmp_path.glob("out/part-*")))
    assert 0 < there < 9
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"2,250,000 rows in 9 parts, {there} of them from an earlier run" in done.stdout
    read = pd.read_parquet(tmp_path / "out", columns=["batch", "input_tokens"])
    assert len(read.drop_duplicates()) == 2_250_000
