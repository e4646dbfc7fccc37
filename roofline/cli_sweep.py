"""Where the rows of `roofline sweep` go: a file, or a folder that several workers fill; progress, and stopping."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roofline.answers.sweep_files import write_parquet, write_sweep
from roofline.errors import InputError
from roofline.specs.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

_QUIET_S = 1.0
"""Until then nothing is said."""
_STOPPED_STATUS = 130
"""Exit status of a command that was told to stop."""


class ProgressLine:
    """Rows done, on standard error, from one second on: one line that changes on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begin = time.monotonic()
        self._next = self._begin + _QUIET_S
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 5.0)
        self._shown = True
        text = f"{done:,} of {total:,} rows, {done / total:.0%}, {now - self._begin:.0f} s"
        typer.echo(f"\r{text:60}" if self._terminal else text, err=True, nl=not self._terminal)

    def end(self) -> None:
        """Leave the line."""
        if self._shown and self._terminal:
            typer.echo("", err=True)


def is_folder(out: str) -> bool:
    """Whether an output is meant as a folder: it ends in a slash, or is one."""
    return out.endswith(("/", os.sep)) or Path(out).is_dir()


def check_out(out: str | None, workers: int | None, dask: str | None) -> None:
    """Refuse outputs that cannot be before anything is worked out."""
    if out is not None and not is_folder(out) and Path(out).suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {Path(out).name!r} must end in .csv, .parquet, or / for a folder of parts.")
    if (workers is not None or dask is not None) and (out is None or not is_folder(out)):
        raise InputError("--workers and --dask write parts into a folder: give --out FOLDER/.")
    if workers is not None and dask is not None:
        raise InputError("Give --workers or --dask, not both.")
    if workers is not None and workers < 1:
        raise InputError("--workers must be at least 1.")


def write_file(table: pd.DataFrame, out: Path) -> None:
    """One table as one file."""
    try:
        if out.suffix == ".csv":
            table.to_csv(out, index=False)
        else:
            write_parquet(table, out)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}.") from None
    typer.echo(f"{len(table):,} rows in {out}")


def write_folder(
    scenario: Scenario, axes: Mapping[str, Sequence[Any]], folder: Path, workers: int | None, dask: str | None
) -> None:
    """A sweep as a folder of parts; the same command again goes on where it was stopped."""
    line = ProgressLine()
    try:
        with _executor(workers, dask) as executor:
            found = write_sweep(scenario, axes, folder, executor, progress=line)
    except KeyboardInterrupt:
        line.end()
        typer.echo(f"roofline: stopped; the parts done are in {folder}, and the same command goes on from there.", err=True)
        raise typer.Exit(_STOPPED_STATUS) from None
    line.end()
    before = f", {found.n_found:,} of them from an earlier run" if found.n_found else ""
    typer.echo(f"{found.rows:,} rows in {found.n_parts:,} parts{before} in {folder}")


@contextmanager
def _executor(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    if dask is not None:
        with _dask_client(dask) as client, client.get_executor() as executor:
            yield executor
    elif workers is not None and workers > 1:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_stopping_to_parent) as pool:
            yield pool
    else:
        yield None


def _leave_stopping_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _dask_client(address: str) -> Any:  # noqa: ANN401
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise InputError("--dask needs dask.distributed: pip install 'roofline[dask]'.") from None
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}.") from None
