"""Many scenarios at once: every list crossed with every other, the load evaluated as arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from roofline.answers.economics import device_price, usd_per_million
from roofline.answers.placing import settled
from roofline.answers.report import Times
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.speeds import bounds, speeds
from roofline.errors import InputError, PlanError
from roofline.performance.planning import Workload, choose, room_for
from roofline.performance.serving import service
from roofline.performance.sharding import candidates
from roofline.specs.base import Frozen
from roofline.specs.messages import validation_sentence
from roofline.specs.offload import parsed_offload
from roofline.specs.scenario import Scenario, is_mixed

if TYPE_CHECKING:
    import pandas as pd

LOAD_FIELDS = ("input_tokens", "output_tokens", "batch", "request_rate")
"""Fields that vary inside one array evaluation; the others are looped over."""
MAX_POINTS = 20_000_000
_CHUNK_CELLS = 65_536
"""Loads times candidate plans held at once: keeps the working arrays in the processor's cache."""


def sweep(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """One row per combination of the axes, in the order of their product.

    Parameters
    ----------
    scenario
        The point all axes start from.
    axes
        Scenario field -> values. Prompt and output lengths, batch and request rate are evaluated as arrays.

    Returns
    -------
    pandas.DataFrame
        The axes, then plan, memory, limit, expectation and cost. A load that does not fit has ``fits`` False and NaN times.

    Raises
    ------
    InputError
        An axis that is no field, is empty, or holds a value out of bounds.
    """
    import pandas as pd

    _check(scenario, axes)
    in_turn = _point_by_point(scenario, axes)
    outer = [name for name in axes if in_turn or name not in LOAD_FIELDS]
    inner = [name for name in axes if name not in outer]
    frames = []
    for values in itertools.product(*(axes[name] for name in outer)):
        fixed = dict(zip(outer, values, strict=True))
        point = scenario.model_copy(update=fixed)
        columns = _crossed({name: axes[name] for name in inner})
        size = next((c.size for c in columns.values()), 1)
        frames.append(
            pd.DataFrame({**{k: np.repeat(np.array([_told(v)]), size) for k, v in fixed.items()}, **_block(point, columns, size)})
        )
    table = pd.concat(frames, ignore_index=True)
    front = [name for name in axes]
    table = table[front + [name for name in table.columns if name not in front]]
    return table if in_turn or outer == list(axes)[: len(outer)] else _in_order(table, axes)


def _point_by_point(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> bool:
    """Whether parts of the model may lie elsewhere under every load: then each load is placed on its own."""
    tried = [*axes.get("offload", (scenario.offload,))]
    mixed = any(is_mixed(ref) for ref in axes.get("hardware", (scenario.hardware,)))
    disk = any(rate is not None for rate in axes.get("disk_gb_per_s", (scenario.disk_gb_per_s,)))
    return mixed or disk or any(parsed_offload(text).kind != "none" for text in tried)


def _told(value: Any) -> Any:  # noqa: ANN401
    """A value as a cell of a table: what is written as one word stays one."""
    return str(value) if isinstance(value, Frozen) else value


def _in_order(table: pd.DataFrame, axes: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Rows in the order of the axes as given, where a load axis came before another."""
    sizes = {name: len(values) for name, values in axes.items()}
    outer = [name for name in axes if name not in LOAD_FIELDS]
    order = outer + [name for name in axes if name in LOAD_FIELDS]
    positions = np.arange(math.prod(sizes.values())).reshape([sizes[name] for name in order])
    permuted = positions.transpose([order.index(name) for name in axes]).reshape(-1)
    return table.iloc[permuted].reset_index(drop=True)


def _check(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> None:
    for name, values in axes.items():
        if name not in Scenario.model_fields:
            raise InputError(f"{name!r} is not a field of a scenario; fields are {', '.join(Scenario.model_fields)}.")
        if not len(values):
            raise InputError(f"{name} has no values to sweep over.")
        for value in values:
            try:
                Scenario.model_validate({"model": "x", "hardware": "x", name: value})
            except ValidationError as error:
                raise InputError(validation_sentence(error)) from None
    if "batch" in axes and ("request_rate" in axes or scenario.request_rate is not None):
        raise InputError("Give a batch or a request rate, not both.")
    if math.prod(len(v) for v in axes.values()) > MAX_POINTS:
        raise InputError(f"a sweep holds at most {MAX_POINTS:,} points.")


def _crossed(axes: Mapping[str, Sequence[Any]]) -> dict[str, NDArray[np.float64]]:
    """The product of load axes as columns."""
    lists = [np.array([np.nan if v is None else float(v) for v in values]) for values in axes.values()]
    grids = np.meshgrid(*lists, indexing="ij") if lists else []
    return {name: grid.reshape(-1) for name, grid in zip(axes, grids, strict=True)}


def _shown(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
    """Load columns as they were given: whole numbers stay whole."""
    whole = {name: bool(np.all(np.isfinite(values))) and name != "request_rate" for name, values in columns.items()}
    return {name: values.astype(np.int64) if whole[name] else values for name, values in columns.items()}


def _block(point: Scenario, columns: Mapping[str, NDArray[np.float64]], size: int) -> dict[str, NDArray[Any]]:
    """All loads on one machine, in chunks."""
    if point.prefill_devices is not None:
        raise InputError("a sweep shares its devices between prefill and decode: leave prefill_devices out, or ask one by one.")
    point, _ = settled(point)
    found = resolve(point)
    try:
        candidates(found.structure, found.request)
    except PlanError as error:
        return {**_shown(columns), **_nothing(str(error), size)}
    whole = Workload(*(columns.get(name, _constant(getattr(point, name), size)) for name in LOAD_FIELDS))
    step = max(1, _CHUNK_CELLS // np.size(np.asarray(candidates(found.structure, found.request).tensor)))
    parts = [loads_table(point, found, part) for part in _chunks(whole, size, step)]
    return {**_shown(columns), **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}}


def _constant(value: float | None, size: int) -> NDArray[np.float64]:
    return np.full(size, np.nan if value is None else float(value))


def _chunks(whole: Workload, size: int, step: int) -> Iterator[Workload]:
    for start in range(0, size, step):
        yield Workload(*(getattr(whole, field.name)[start : start + step] for field in fields(Workload)))


def loads_table(point: Scenario, found: Resolved, load: Workload) -> dict[str, NDArray[Any]]:
    """Every number of every load, as columns."""
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
        "decode_bound": bounds(result.decode, batch.shape),
    }
    for label in ("limit", "expected", "low", "high"):
        times: Times = getattr(found_speeds, label)
        table |= {f"{label}_{field.name}": np.asarray(getattr(times, field.name)) for field in fields(Times)}
    for label, speed in (("limit", "limit"), ("expected", "expected"), ("low", "high"), ("high", "low")):
        usd = usd_per_million(point, price, table[f"{speed}_output_tokens_per_s"])
        table[f"{label}_usd_per_million_output_tokens"] = np.full(batch.shape, np.nan) if usd is None else np.asarray(usd)
    table["reason"] = np.where(fits, "", "cannot keep up" if point.request_rate is not None else "does not fit")
    return {name: np.broadcast_to(values, batch.shape) for name, values in table.items()}


def _nothing(reason: str, size: int) -> dict[str, NDArray[Any]]:
    """Rows of loads that no plan carries: the other columns stay empty."""
    return {
        "batch_used": np.full(size, np.nan),
        "fits": np.zeros(size, dtype=bool),
        "reason": np.full(size, reason, dtype=object),
    }
