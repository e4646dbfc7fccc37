"""A sweep written part by part: a folder of Parquet files that several workers fill, and that a later run goes on with."""

from __future__ import annotations

import hashlib
import json
import math
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.answers.sweep import PART_ROWS, Progress, grid_of, part_of
from roofline.errors import InputError, StoppedError
from roofline.specs.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

MANIFEST = "_question.json"
"""What the parts of a folder answer; readers of Parquet folders pass over names that begin so."""
_PACKAGE = Path(__file__).parents[1]
_ANSWERING = (".py", ".csv", ".json", ".toml")
_AHEAD = 64
"""Parts handed to an executor and not done yet."""


@dataclass(frozen=True)
class Written:
    """A folder that holds a whole sweep."""

    folder: Path
    rows: int
    n_parts: int
    n_found: int
    """Parts that an earlier run had written."""


@dataclass(frozen=True)
class _Question:
    """What a folder answers, and how it is cut."""

    scenario: Scenario
    axes: dict[str, tuple[Any, ...]]
    rows: int
    rows_per_part: int
    folder: Path

    @property
    def n_parts(self) -> int:
        return math.ceil(self.rows / self.rows_per_part)

    def path(self, n: int) -> Path:
        return self.folder / f"part-{n:06}.parquet"

    def rows_of(self, n: int) -> int:
        return min(self.rows_per_part, self.rows - n * self.rows_per_part)

    def missing(self) -> list[int]:
        """Parts that are not written yet."""
        there = set(os.listdir(self.folder))
        return [n for n in range(self.n_parts) if self.path(n).name not in there]


def write_sweep(
    scenario: Scenario,
    axes: Mapping[str, Sequence[Any]],
    folder: str | Path,
    executor: Executor | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    rows_per_part: int = PART_ROWS,
) -> Written:
    """Write the rows of a sweep into a folder of Parquet files, a part each, and go on where an earlier run stopped.

    A part is written under another name and then renamed, so that a file is whole or absent: a worker that dies loses no
    more than the part it was at, and a part that two workers wrote is there once. Memory is that of the parts at work.

    Parameters
    ----------
    scenario, axes
        As for `sweep`; rows are those of `sweep_parts`.
    folder
        Is made where it is absent. Every worker must see it under this path.
    executor
        Whatever spreads calls: threads, processes, or a Dask cluster's ``client.get_executor()``. None: one after another.
    resume
        Keep the parts that an earlier run of the same question wrote; False: write all of them anew.
    progress
        Called with the rows done and the rows there are after each part.
    rows_per_part
        Rows of a file.

    Raises
    ------
    InputError
        As `sweep`; a folder that holds something else; no writer of Parquet.
    StoppedError
        Workers died and the executor gave up: the same call goes on from the parts that are there.
    """
    lists = {name: tuple(values) for name, values in axes.items()}
    size = grid_of(scenario, lists).size
    question = _Question(scenario, lists, size, rows_per_part, Path(folder).absolute())
    _prepare(question, resume)
    missing = question.missing()
    done = size - sum(question.rows_of(n) for n in missing)
    for n in _written(question, missing, executor):
        done += question.rows_of(n)
        if progress is not None:
            progress(done, size)
    for leftover in question.folder.glob(".part-*"):
        leftover.unlink(missing_ok=True)
    return Written(question.folder, size, question.n_parts, question.n_parts - len(missing))


def _written(question: _Question, missing: Sequence[int], executor: Executor | None) -> Iterator[int]:
    """Parts as they are done."""
    if executor is None:
        for n in missing:
            yield _write_part(question, n)
        return
    rest, running = iter(missing), set[Future[int]]()
    try:
        while True:
            running |= {executor.submit(_write_part, question, n) for n in islice(rest, _AHEAD - len(running))}
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)
    except BrokenExecutor:
        left = len(question.missing())
        raise StoppedError(
            f"a worker died with {left} of {question.n_parts} parts left in {question.folder}: the same call goes on from there."
        ) from None
    finally:
        for future in running:
            future.cancel()


def _write_part(question: _Question, n: int) -> int:
    """Write one part, unless it is there; what a worker does."""
    path = question.path(n)
    if path.exists():
        return n
    table = part_of(question.scenario, grid_of(question.scenario, question.axes), n, question.rows_per_part)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write_parquet(table, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return n


def write_parquet(table: pd.DataFrame, path: Path) -> None:
    """One table as a Parquet file: words by their places in a dictionary, numbers as they are.

    Raises
    ------
    InputError
        No writer of Parquet is installed.
    """
    pa, pq = _arrow()
    rows = pa.Table.from_pandas(table, preserve_index=False)
    words = [field.name for field in rows.schema if pa.types.is_dictionary(field.type)]
    for name in words:
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, rows.column(place).cast(pa.dictionary(pa.int32(), pa.string())))
    pq.write_table(rows, path, compression="lz4", use_dictionary=words, row_group_size=PART_ROWS)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'roofline[parquet]', or write .csv.") from None
    return pa, pq


def _prepare(question: _Question, resume: bool) -> None:
    """A folder that holds nothing but parts of this question."""
    _arrow()
    folder, asked = question.folder, _manifest(question)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = folder / MANIFEST
        if not there.exists() and any(not name.startswith(f".{MANIFEST}") for name in os.listdir(folder)):
            raise InputError(f"{folder} holds other files: name an empty folder, or a new one.")
        if there.exists() and not resume:
            for path in (there, *folder.glob("part-*.parquet")):
                path.unlink()
        if there.exists() and _hash_in(there) != asked["question"]:
            raise InputError(f"{folder} holds parts of another question, catalogue or version: name an empty folder.")
        draft = there.with_name(f".{MANIFEST}.{uuid.uuid4().hex}")
        draft.write_text(json.dumps(asked, indent=1), encoding="utf-8")
        draft.replace(there)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from None


def _hash_in(manifest: Path) -> str | None:
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError):
        return None
    return found.get("question") if isinstance(found, dict) else None


def _manifest(question: _Question) -> dict[str, Any]:
    """The question in words, and a hash over all that its answer depends on: code and catalogues too."""
    asked = {"rows_per_part": question.rows_per_part, "scenario": question.scenario.model_dump(mode="json")}
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode())
    digest.update(repr([(name, [str(v) for v in values]) for name, values in question.axes.items()]).encode())
    for path in sorted(path for path in _PACKAGE.rglob("*") if path.suffix in _ANSWERING):
        digest.update(path.read_bytes())
    for path in sorted(set(_own_files(question))):
        digest.update(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    sizes = {name: len(values) for name, values in question.axes.items()}
    return {"question": digest.hexdigest(), "rows": question.rows, "parts": question.n_parts, "axes": sizes, **asked}


def _own_files(question: _Question) -> Iterator[Path]:
    """Files of one's own that a question names; large ones are known by size and time."""
    for name in ("model", "hardware", "host"):
        for value in (*question.axes.get(name, ()), getattr(question.scenario, name)):
            if isinstance(value, str) and len(value) < 1024:
                yield from (path for path in (Path(value), Path(value) / "config.json") if path.is_file())
