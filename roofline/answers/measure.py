"""A machine as a catalogue entry: how fast it reads memory and multiplies matrices, timed with NumPy on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.answers.host import Host, this_host
from roofline.answers.serialise import hardware_json
from roofline.catalog.hardware import device_of_text
from roofline.errors import InputError
from roofline.units import GIBI, GIGA, MEBI

LEAST_S, MOST_S = 0.01, 600.0
"""Bounds on the time a measurement may be given."""
_READ_SHARE = 0.5
"""Of the time; the rest multiplies."""
_CACHES = 16
"""Arrays are this many times the last cache: what stays in it from the pass before is then a few percent."""
_LEAST_ARRAY_BYTES, _MOST_ARRAY_BYTES = int(256 * MEBI), int(2 * GIBI)
_FREE_SHARE = 0.25
"""Of free memory that the arrays may take."""
_LEAST_RUNS = 2
_QUIET_LOAD = 0.25
"""Programs running per core, above which a measurement says that it was disturbed."""
SIZES = (512, 1024, 2048, 4096)
"""Rows of the square matrices; the largest three take 192 MiB."""
_FLOPS_PER_PRODUCT = 2.0
_WORD_BYTES = 4
_SERVER_NAMES = ("EPYC", "Xeon", "Neoverse", "Graviton", "Ampere", "Threadripper")
_DIGITS = 4

Clock = Callable[[], float]


@dataclass(frozen=True)
class Speeds:
    """What was timed."""

    read_bytes_per_s: float
    """Best pass of all cores over arrays that do not fit the caches."""
    array_bytes: int
    fp32_flops_per_s: float
    """Best product of square matrices on all cores."""
    matrix_rows: int
    """Of that best product."""


@dataclass(frozen=True)
class Measurement:
    """The machine, timed."""

    host: Host
    speeds: Speeds
    date: str
    """ISO, of the day."""


def measure(*, seconds: float = 6.0, clock: Clock = time.perf_counter) -> Measurement:
    """Time this machine for about so long, in at most a quarter of its free memory.

    Raises
    ------
    InputError
        The time is out of bounds, or the system does not tell its memory.
    """
    if not LEAST_S <= seconds <= MOST_S:
        raise InputError(f"seconds must be {LEAST_S:g} to {MOST_S:g}; a few are enough.")
    host = this_host()
    array_bytes = reading_bytes(cache_bytes=host.cache_bytes, free_bytes=host.free_bytes)
    read = read_bytes_per_s(array_bytes=array_bytes, n_threads=host.n_cores, seconds=seconds * _READ_SHARE, clock=clock)
    rows, flops = fp32_flops_per_s(seconds=seconds * (1.0 - _READ_SHARE), clock=clock)
    return Measurement(host, Speeds(read, array_bytes, flops, rows), datetime.now(UTC).date().isoformat())


def reading_bytes(*, cache_bytes: int, free_bytes: int) -> int:
    """Size of the arrays to read: well beyond the last cache, within a share of free memory.

    >>> reading_bytes(cache_bytes=32 * 2**20, free_bytes=2**34) == 512 * 2**20
    True
    """
    wanted = min(max(_CACHES * cache_bytes, _LEAST_ARRAY_BYTES), _MOST_ARRAY_BYTES)
    return int(min(wanted, _FREE_SHARE * free_bytes))


def best_rate(run: Callable[[], object], *, work: float, seconds: float, clock: Clock = time.perf_counter) -> float:
    """Most work per second among the runs that a time allows, two at least.

        max over runs of W / t

    The best run is the one that other programs and page faults disturbed least: a ceiling is asked for, not a mean.
    """
    start = clock()
    best_s = np.inf
    n_runs = 0
    while n_runs < _LEAST_RUNS or clock() - start < seconds:
        before = clock()
        run()
        best_s = min(best_s, clock() - before)
        n_runs += 1
    return float(work / best_s)


def read_bytes_per_s(*, array_bytes: int, n_threads: int, seconds: float, clock: Clock = time.perf_counter) -> float:
    """Sustained rate at which all cores together read memory: each finds the largest number of an array of its own.

    Reading, not copying, is what decode does: every weight once per step, next to nothing written. A copy also
    fetches the lines it is about to overwrite, so its figure is another one.
    """
    n_words = max(1, array_bytes // n_threads // _WORD_BYTES)
    with ThreadPoolExecutor(n_threads) as threads:
        # each thread fills what it will read, so that the pages lie near its core
        arrays = list(threads.map(partial(_filled, n_words), range(n_threads)))
        work = float(sum(array.nbytes for array in arrays))
        return best_rate(lambda: list(threads.map(np.max, arrays)), work=work, seconds=seconds, clock=clock)


def _filled(n_words: int, number: int) -> NDArray[np.int32]:
    return np.full(n_words, number, dtype=np.int32)


def fp32_flops_per_s(*, seconds: float, sizes: Sequence[int] = SIZES, clock: Clock = time.perf_counter) -> tuple[int, float]:
    """Rows and rate of the best FP32 matrix product: square ones of growing size, on the threads of NumPy's BLAS.

    W = 2 n^3. Sizes of which two products would overrun the time, at the best rate so far, are left out.
    """
    return max(_products(seconds, sizes, clock), key=lambda found: found[1])


def _products(seconds: float, sizes: Sequence[int], clock: Clock) -> Iterator[tuple[int, float]]:
    start = clock()
    best = 0.0
    for n, rows in enumerate(sizes):
        left_s = seconds - (clock() - start)
        work = _FLOPS_PER_PRODUCT * rows**3
        if n and _LEAST_RUNS * work > best * left_s:
            return
        left, right, out = (np.ones((rows, rows), dtype=np.float32) for _ in range(3))
        rate = best_rate(partial(np.matmul, left, right, out), work=work, seconds=left_s / (len(sizes) - n), clock=clock)
        best = max(best, rate)
        yield rows, rate


def catalogue_tables(found: Measurement) -> dict[str, Any]:
    """The measurement in the form of a device file: one source, one accelerator, every fact measured."""
    host, speeds = found.host, found.speeds
    source = f"measured-{found.date}"
    is_server = any(name.lower() in host.processor.lower() for name in _SERVER_NAMES)

    def fact(value: float, unit: str, note: str) -> dict[str, Any]:
        return {"value": float(f"{value:.{_DIGITS}g}"), "unit": unit, "source": source, "kind": "measured", "note": note}

    entry = {
        "name": f"{host.processor}, {host.n_cores} cores",
        "vendor": host.vendor,
        "category": "server CPU" if is_server else "desktop CPU",
        "year": int(found.date[:4]),
        "grade": "B",
        "memory": fact(host.memory_bytes / GIBI, "GiB", "what the system shows to a program"),
        "bandwidth": fact(
            speeds.read_bytes_per_s / GIGA,
            "GB/s",
            f"sustained reading on all cores, best pass over {speeds.array_bytes / MEBI:.0f} MiB",
        ),
        "peaks": {
            "fp32": fact(
                speeds.fp32_flops_per_s / GIGA, "GFLOP/s", f"best NumPy matrix product on all cores, {speeds.matrix_rows} rows"
            )
        },
        "note": _note(host),
    }
    title = f"roofline measure on {host.processor}, {host.n_cores} cores"
    return {"sources": {source: {"title": title, "retrieved": found.date}}, "accelerators": {device_id(host): entry}}


def device_id(host: Host) -> str:
    """An id in the catalogue's style, from the processor's name.

    >>> device_id(Host("AMD EPYC (TM) 9654", "AMD", 96, 0, 0, 0, (), 0.0))
    'my-amd-epyc-tm-9654-96-cores'
    """
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in host.processor.lower()).split()
    return "-".join(("my", *words, str(host.n_cores), "cores"))[:_MOST_ID]


_MOST_ID = 60


def _note(host: Host) -> str:
    """What the figures leave out."""
    lines = ["Sustained figures, below what a datasheet would print; the year is that of the measurement."]
    if host.narrow_units:
        lines.append(
            f"The processor multiplies narrow numbers faster ({', '.join(host.narrow_units)}), which NumPy does not use: "
            "an engine that does can beat the limit of a prompt."
        )
    if host.load > _QUIET_LOAD * host.n_cores:
        lines.append(
            f"Other programs used the cores meanwhile (load {host.load:.1f}): figures may be low, measure again when it is quiet."
        )
    return " ".join(lines)


def measurement_json(found: Measurement) -> dict[str, Any]:
    """The measured device in the form of the command line's contract, with its entry as tables and as text."""
    tables = catalogue_tables(found)
    text = catalogue_yaml(tables)
    device = device_of_text(text, "the measured entry")
    return {**hardware_json(device), "cores": found.host.n_cores, "entry": tables, "yaml": text}


def write_entry(text: str, out: Path) -> None:
    """Write a device file.

    Raises
    ------
    InputError
        Its name is none that is read as one, or it cannot be written.
    """
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"--out {out.name!r} must end in .yaml, so that --hardware reads it.")
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}.") from None


def catalogue_yaml(tables: dict[str, Any]) -> str:
    """Tables as the text of a device file."""
    from ruamel.yaml import YAML  # only here: imports stay quick without it

    writer = YAML(pure=True)
    writer.default_flow_style = None
    writer.width = 10_000
    out = StringIO()
    writer.dump(tables, out)
    return out.getvalue()
