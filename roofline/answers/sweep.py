"""Many scenarios at once: every list crossed with every other, the load evaluated as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from roofline.answers.busy import busy_decode
from roofline.answers.economics import device_price, output_seconds, usd_per_million
from roofline.answers.grid import Grid
from roofline.answers.placing import settled
from roofline.answers.report import Times
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.speeds import bound_codes, speeds
from roofline.answers.sweep_columns import LABELS, REASONS, Columns
from roofline.errors import InputError, PlanError
from roofline.language import tr
from roofline.performance.planning import Workload, choose, room_for
from roofline.performance.serving import service
from roofline.performance.sharding import candidates
from roofline.specs.messages import validation_sentence
from roofline.specs.offload import parsed_offload
from roofline.specs.scenario import Scenario, is_mixed

if TYPE_CHECKING:
    import pandas as pd

LOAD_FIELDS = ("input_tokens", "output_tokens", "batch", "request_rate")
"""Fields that vary inside one array evaluation; the others are looped over."""
MAX_POINTS = 20_000_000
"""Rows of one table; parts are not bounded."""
PART_ROWS = 262_144
"""Rows of a part, unless others are asked for."""
_CHUNK_CELLS = 65_536
"""Loads times candidate plans held at once: keeps the working arrays in the processor's cache."""
Progress = Callable[[int, int], object]
"""Told how many rows are done, of how many."""


def sweep(scenario: Scenario, axes: Mapping[str, Sequence[Any]], progress: Progress | None = None) -> pd.DataFrame:
    """One row per combination of the axes, in the order of their product.

    Parameters
    ----------
    scenario
        The point all axes start from.
    axes
        Scenario field -> values. Prompt and output lengths, batch and request rate are evaluated as arrays.
    progress
        Called with the rows done and the rows there are, now and then.

    Returns
    -------
    pandas.DataFrame
        The axes, then plan, memory, limit, expectation and cost. A load that does not fit has ``fits`` False and NaN times.

    Raises
    ------
    InputError
        An axis that is no field, is empty, or holds a value out of bounds; or more rows than one table holds.
    """
    grid = grid_of(scenario, axes)
    if grid.size > MAX_POINTS:
        raise InputError(tr("one table holds at most {most:,} points: write a larger sweep to a folder.", most=MAX_POINTS))
    return _rows(scenario, grid, 0, grid.size, tuple(axes), progress)


def sweep_parts(scenario: Scenario, axes: Mapping[str, Sequence[Any]], rows_per_part: int = PART_ROWS) -> Iterator[pd.DataFrame]:
    """The rows of `sweep` in tables of so many rows, one after another, in a fixed order.

    Axes of the load (prompt, output, batch, request rate) run fastest, the others slowest, each as given. However many
    rows a part has, the rows are the same, and so are the types of their columns.
    """
    grid = grid_of(scenario, axes)
    return (part_of(scenario, grid, n, rows_per_part) for n in range(math.ceil(grid.size / rows_per_part)))


def part_of(scenario: Scenario, grid: Grid, n: int, rows_per_part: int) -> pd.DataFrame:
    """Part ``n`` of a sweep, counted from 0."""
    start = n * rows_per_part
    return _rows(scenario, grid, start, min(start + rows_per_part, grid.size), tuple(grid.axes))


def grid_of(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> Grid:
    """Axes that are checked, those of the load inside where loads can be evaluated as arrays."""
    _check(scenario, axes)
    in_turn = _point_by_point(scenario, axes)
    inner = [name for name in axes if name in LOAD_FIELDS and not in_turn]
    return Grid({name: axes[name] for name in axes if name not in inner}, {name: axes[name] for name in inner})


def _rows(
    scenario: Scenario, grid: Grid, start: int, stop: int, order: Sequence[str], progress: Progress | None = None
) -> pd.DataFrame:
    """Rows of a grid, or all of them in another order of its axes."""
    columns = Columns(grid, start, stop, order)
    row = start
    while row < stop:
        machine = _Machine.of(scenario.model_copy(update=grid.fixed(grid.box(row, 1))))
        end = min(stop, grid.outer_end(row))
        for at, box in grid.boxes(row, end, machine.loads_at_once):
            columns.fill(at, box, machine.answers(grid.loads(box), columns))
            if progress is not None:
                progress(at - start, stop - start)
        row = end
    return columns.frame()


def _point_by_point(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> bool:
    """Whether parts of the model may lie elsewhere under every load: then each load is placed on its own."""
    tried = [*axes.get("offload", (scenario.offload,))]
    mixed = any(is_mixed(ref) for ref in axes.get("hardware", (scenario.hardware,)))
    disk = any(rate is not None for rate in axes.get("disk_gb_per_s", (scenario.disk_gb_per_s,)))
    return mixed or disk or any(parsed_offload(text).kind != "none" for text in tried)


def _check(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> None:
    for name, values in axes.items():
        if name not in Scenario.model_fields:
            raise InputError(
                tr(
                    "{name!r} is not a field of a scenario; fields are {names}.",
                    name=name,
                    names=", ".join(Scenario.model_fields),
                )
            )
        if not len(values):
            raise InputError(tr("{name} has no values to sweep over.", name=name))
        for value in _telling(values):
            try:
                Scenario.model_validate({"model": "x", "hardware": "x", name: value})
            except ValidationError as error:
                raise InputError(validation_sentence(error)) from None
    if "batch" in axes and ("request_rate" in axes or scenario.request_rate is not None):
        raise InputError(tr("Give a batch or a request rate, not both."))


def _telling(values: Sequence[Any]) -> Sequence[Any]:
    """Values whose soundness is that of all: the ends of a list of whole numbers, since bounds of fields are ranges."""
    if len(values) > 2 and all(type(value) is int for value in values):
        return (min(values), max(values))
    return values


@dataclass(frozen=True)
class _Machine:
    """One combination of the outer axes: every load on one machine."""

    point: Scenario
    found: Resolved
    n_candidates: int
    """None are legal: 0."""
    refusal: str = ""

    @classmethod
    def of(cls, point: Scenario) -> _Machine:
        """Find what a point names, and whether any plan answers it."""
        if point.prefill_devices is not None:
            raise InputError(
                tr("a sweep shares its devices between prefill and decode: leave prefill_devices out, or ask one by one.")
            )
        point, _ = settled(point)
        found = resolve(point)
        try:
            return cls(point, found, int(np.size(candidates(found.structure, found.request).tensor)))
        except PlanError as error:
            return cls(point, found, 0, str(error))

    @property
    def loads_at_once(self) -> int:
        """Loads of one block."""
        return max(1, _CHUNK_CELLS // max(1, self.n_candidates))

    def answers(self, loads: Mapping[str, NDArray[np.float64]], columns: Columns) -> dict[str, Any]:
        """Every column of a block of loads."""
        if not self.n_candidates:
            return {"fits": False, "reason": columns.reason_code(self.refusal)}
        shape = (1,) * max(1, len(loads))
        load = Workload(*(loads.get(name, _constant(getattr(self.point, name), shape)) for name in LOAD_FIELDS))
        return loads_table(self.point, self.found, load)


def _constant(value: float | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.full(shape, np.nan if value is None else float(value))


def loads_table(point: Scenario, found: Resolved, load: Workload) -> dict[str, NDArray[Any]]:
    """Every number of every load, as columns that broadcast to the loads; words as their place among those there are."""
    choice = choose(found.structure, found.request, found.formats, found.machine, load)
    shard, fits = choice.shard, choice.fits
    batch = np.where(np.isfinite(choice.batch), np.maximum(choice.batch, 1.0), 1.0)
    room = room_for(found.structure, shard, found.formats, found.machine, load)
    result = service(found.structure, shard, found.formats, found.machine, batch, load.prompt_tokens, load.output_tokens)
    found_speeds = speeds(result, shard, found.engine, batch, load.output_tokens, fits, load.request_rate, choice.best)
    price = device_price(point, found.price)
    table: dict[str, NDArray[Any]] = {
        "batch_used": batch,
        "fits": fits,
        "max_batch": choice.max_batch,
        "tensor_parallel_used": np.asarray(shard.tensor),
        "pipeline_parallel_used": np.asarray(shard.pipeline),
        "data_parallel_used": np.asarray(shard.data),
        "expert_parallel_used": np.asarray(shard.expert),
        "attention_data_parallel_used": np.asarray(shard.attention_data) > 0,
        "weights_bytes_per_device": np.asarray(room.weights_bytes),
        "kv_cache_bytes_per_device": np.asarray(room.cache_bytes(batch)),
        "decode_bound": bound_codes(result.decode),
    }
    for label in LABELS:
        times: Times = getattr(found_speeds, label)
        table |= {f"{label}_{field.name}": np.asarray(getattr(times, field.name)) for field in fields(Times)}
    taken = output_seconds(found_speeds, load.request_rate, result.computed_tokens, load.output_tokens)
    load_frac = busy_decode(result, found, shard, batch, point.devices).load_frac if price.load_usd_per_h else 0.0
    for label, seconds in zip(LABELS, taken, strict=True):
        usd = usd_per_million(point, price, 1.0 / np.asarray(seconds), load_frac)
        table[f"{label}_usd_per_million_output_tokens"] = np.asarray(np.nan if usd is None else usd)
    lacking = np.where(np.isnan(load.request_rate), REASONS.index("does not fit"), REASONS.index("cannot keep up"))
    table["reason"] = np.where(fits, REASONS.index(""), lacking)
    return table
