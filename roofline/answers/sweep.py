"""Many scenarios at once: every list option crossed with every other, numbers evaluated as arrays."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roofline.answers.economics import device_price, usd_per_million
from roofline.answers.evaluate import at_batches, plan_shard, workload
from roofline.answers.report import BatchCurve, Bound, Report, Times
from roofline.answers.resolve import Resolved, resolve
from roofline.answers.speeds import shares, speeds
from roofline.errors import InputError
from roofline.performance.memory import footprint
from roofline.performance.planning import choose
from roofline.performance.serving import service
from roofline.performance.sharding import candidates
from roofline.performance.timing import StepTime
from roofline.specs.scenario import Scenario
from roofline.units import Floats

if TYPE_CHECKING:
    import pandas as pd

_LOAD = ("input_tokens", "output_tokens", "batch")
"""Fields that vary inside one array evaluation; the others are looped over."""
MAX_POINTS = 20_000_000


def sweep(scenario: Scenario, axes: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """One row per combination of the axes, in the order of their product.

    Parameters
    ----------
    scenario
        The point all axes start from.
    axes
        Scenario field -> values. ``batch``, ``input_tokens`` and ``output_tokens`` are evaluated as arrays.

    Returns
    -------
    pandas.DataFrame
        The axes, then plan, memory, limit, expectation and cost. A point that does not fit has ``fits`` False, NaN times.
    """
    import pandas as pd

    unknown = [name for name in axes if name not in Scenario.model_fields]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a field of a scenario; fields are {', '.join(Scenario.model_fields)}.")
    empty = [name for name, values in axes.items() if not len(values)]
    if empty:
        raise InputError(f"{empty[0]} has no values to sweep over.")
    if np.prod([float(len(v)) for v in axes.values()]) > MAX_POINTS:
        raise InputError(f"a sweep holds at most {MAX_POINTS:,} points.")
    outer = [name for name in axes if name not in _LOAD]
    inner = [name for name in axes if name in _LOAD]
    frames = []
    for values in itertools.product(*(axes[name] for name in outer)):
        point = Scenario.model_validate({**scenario.model_dump(), **dict(zip(outer, values, strict=True))})
        frames.append(_block(point, {name: axes[name] for name in inner}, dict(zip(outer, values, strict=True))))
    table = pd.concat(frames, ignore_index=True)
    return _in_order(table, axes)


def _block(point: Scenario, inner: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]) -> pd.DataFrame:
    """All load combinations of one machine, model and plan request."""
    import pandas as pd

    found = resolve(point)
    loads = list(itertools.product(*inner.values()))
    checked = [Scenario.model_validate({**point.model_dump(), **dict(zip(inner, load, strict=True))}) for load in loads] if len(loads) <= 1 else []
    if not checked:
        _check_values(point, inner)
    columns = {name: np.array([load[i] for load in loads], dtype=object) for i, name in enumerate(inner)}
    single = np.size(np.asarray(candidates(found.structure, found.request).tensor)) == 1
    if single and point.request_rate is None:
        rows = _arrays(point, found, columns, len(loads))
    else:
        rows = _one_by_one(point, inner, loads)
    return pd.DataFrame({**{k: [v] * len(loads) for k, v in fixed.items()}, **columns, **rows})


def _check_values(point: Scenario, inner: Mapping[str, Sequence[Any]]) -> None:
    for name, values in inner.items():
        for value in values:
            Scenario.model_validate({**point.model_dump(), "request_rate": None, name: value})


def _arrays(point: Scenario, found: Resolved, columns: Mapping[str, Any], n: int) -> dict[str, Floats]:
    """The array path: one plan, every load."""

    def column(name: str) -> Floats:
        values = columns.get(name)
        if values is None:
            single = getattr(point, name)
            return np.full(n, np.nan if single is None else float(single))
        return np.array([np.nan if v is None else float(v) for v in values])

    shard = candidates(found.structure, found.request)
    prompt, output, batch = column("input_tokens"), column("output_tokens"), column("batch")
    room = footprint(found.structure, prompt + output, prompt, shard, found.formats, found.machine)
    batch = np.where(np.isnan(batch), room.max_batch, batch)
    fits = (np.asarray(room.max_batch) >= batch) & (batch >= 1)
    safe = np.maximum(batch, 1.0)
    result = service(found.structure, shard, found.formats, found.machine, safe, prompt, output)
    found_speeds = speeds(result, shard, found.engine, safe, (prompt, output), fits)
    return _columns(point, found, found_speeds.limit, found_speeds.expected, found_speeds.low, found_speeds.high, {
        "batch_used": safe,
        "fits": fits,
        "max_batch": room.max_batch + 0.0 * prompt,
        "tensor_parallel_used": shard.tensor + 0.0 * prompt,
        "pipeline_parallel_used": shard.pipeline + 0.0 * prompt,
        "data_parallel_used": shard.data + 0.0 * prompt,
        "expert_parallel_used": shard.expert + 0.0 * prompt,
        "weights_bytes_per_device": room.weights_bytes + 0.0 * prompt,
        "kv_cache_bytes_per_device": room.cache_bytes(safe),
    })
