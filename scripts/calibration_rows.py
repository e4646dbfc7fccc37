"""Measurements as arrays: the ledger of every step of every row, with the constants divided out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from roofline.answers.mapping import case
from roofline.answers.validation import Prediction, phase_of, predict
from roofline.catalog.engines import UNMEASURED_CEILING, WIDTHS, link_kind
from roofline.catalog.hardware import load_hardware
from roofline.catalog.measurements import measurements
from roofline.errors import RooflineError
from roofline.performance.network import EXPERT_EXCHANGE, NetworkTime
from roofline.performance.reduction import n_nodes
from roofline.performance.timing import OpTimes, StepTime
from roofline.units import Floats

Vector = NDArray[np.float64]
CONSTANT_NAMES = (
    "bandwidth_frac",
    "cache_factor",
    "compute_frac",
    "compute_frac_8bit",
    "compute_frac_4bit",
    "head_compute_factor",
    "packed_compute_factor",
    "layer_s",
    "expert_layer_s",
    "step_s",
    "sequence_s",
    "unpack_operations",
    "unpack_operations_wide",
    "link_frac",
    "link_latency_s",
    "exchange_latency_s",
)
_NAME_OF = {"16bit": 0, "8bit": 1, "4bit": 2}
LINKED_APART = ("tensorrt-llm-2023",)
"""Engines whose collectives are of another generation than the rest."""


@dataclass(frozen=True)
class Rows:
    """All rows that count, and all their operators."""

    ids: list[str]
    kinds: list[str]
    architectures: list[str]
    engines: list[str]
    links: list[str]
    sources: list[str]
    devices: list[str]
    row_kinds: list[str]
    phases: list[str]
    is_rate: NDArray[np.bool_]
    measured: Vector
    fixed: Vector
    linear: dict[str, Vector]
    """Per row: seconds per unit of a constant that enters as a product, or as a quotient for the link share."""
    row_of: NDArray[np.int64]
    """Per operator its row, and below what it takes at constants of one."""
    weight: Vector
    compute: Vector
    width: NDArray[np.int64]
    memory: Vector
    is_cache: NDArray[np.bool_]
    unpack: Vector
    is_packed: NDArray[np.bool_]
    is_on_half: NDArray[np.bool_]
    """Narrow weights of plain matrices that are multiplied on 16-bit units."""
    is_head: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.ids)

    def group(self, n: int, constant: str) -> str:
        """What a row shares a deviation of a constant with."""
        if constant.startswith("link"):
            return self.links[n]
        if constant in ("layer_s", "expert_layer_s", "exchange_latency_s", "step_s", "sequence_s") and self.kinds[n] == "serving":
            return self.engines[n]
        if constant in ("expert_layer_s", "exchange_latency_s", "step_s", "sequence_s"):
            return ""
        return self.architectures[n]

    def only(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        number = np.cumsum(kept) - 1
        ops = kept[self.row_of]

        def texts(values: list[str]) -> list[str]:
            return [value for value, keep in zip(values, kept, strict=True) if keep]

        return Rows(
            *(texts(getattr(self, name)) for name in _TEXTS),
            is_rate=self.is_rate[kept],
            measured=self.measured[kept],
            fixed=self.fixed[kept],
            linear={name: values[kept] for name, values in self.linear.items()},
            row_of=number[self.row_of[ops]],
            **{name: getattr(self, name)[ops] for name in _PER_OP},
        )

    def relative_error(self, times: Vector) -> Vector:
        """Predicted over measured, less one, of the number a row tells."""
        ratio = times / self.measured
        return np.where(self.is_rate, 1.0 / ratio, ratio) - 1.0

    def times(self, constants: dict[str, Vector]) -> Vector:
        """Wall time of every row under constants of every row: the same sum as a step time, rearranged."""
        at = self.row_of
        share = constants["bandwidth_frac"]
        bandwidth = np.where(self.is_cache, np.minimum(1.0, share * constants["cache_factor"])[at], share[at])
        gammas = np.stack([constants["compute_frac"], constants["compute_frac_8bit"], constants["compute_frac_4bit"]])
        gammas = np.vstack([gammas, np.ones_like(share)])
        factor = np.where(self.is_head, constants["head_compute_factor"][at], 1.0)
        factor = np.where(self.is_on_half, constants["packed_compute_factor"][at], factor)
        busy = self.compute / (gammas[self.width, at] * factor)
        iota = np.where(self.is_packed, constants["unpack_operations"][at], constants["unpack_operations_wide"][at])
        each = np.sqrt(busy**2 + (self.memory / bandwidth) ** 2 + (self.unpack * iota) ** 2)
        total = self.fixed + np.bincount(at, self.weight * each, minlength=self.n)
        for name, seconds in self.linear.items():
            total = total + (seconds / constants[name] if name == "link_frac" else seconds * constants[name])
        return total


_TEXTS = ("ids", "kinds", "architectures", "engines", "links", "sources", "devices", "row_kinds", "phases")
_PER_OP = ("weight", "compute", "width", "memory", "is_cache", "unpack", "is_packed", "is_on_half", "is_head")
_LINEAR = ("layer_s", "expert_layer_s", "step_s", "sequence_s", "link_latency_s", "exchange_latency_s", "link_frac")


@cache
def measured_ceilings() -> dict[str, dict[str, float]]:
    """Best measured matrix product of each device over its peak, from the kernel rows that tell a best shape."""
    found: dict[str, dict[str, float]] = {}
    for row in measurements():
        if row.kind == "kernel" and row.metric == "TFLOPS" and row.hardware_id and "best shape" in row.notes:
            dtype = "fp8" if row.weight_format.startswith("fp8") else "bf16"
            share = row.value * 1e12 / load_hardware(row.hardware_id).peak_flops_per_s(dtype)
            found.setdefault(row.hardware_id, {})["8bit" if dtype == "fp8" else "16bit"] = min(1.0, share)
    return found


def gather(every: int | None = None) -> Rows:
    """The shipped rows that count, on devices alone; ``every`` keeps one in so many."""
    found: list[Prediction] = []
    for row in measurements():
        try:
            read = case(row)
            if not read.doubt and read.scenario.host is None:  # constants of hosts are assumptions, not fitted
                found.append(predict(read))
        except RooflineError:
            continue
    return _rows(found[:: every or 1])


def _rows(found: list[Prediction]) -> Rows:
    texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
    ops: dict[str, list[float]] = {name: [] for name in ("row_of", *_PER_OP)}
    linear: dict[str, list[float]] = {name: [] for name in _LINEAR}
    measured, fixed = [], []
    for n, item in enumerate(found):
        _describe(item, texts)
        value = item.case.row.value
        measured.append(item.case.scale / value if item.case.is_rate else value / item.case.scale)
        sums = dict.fromkeys((*_LINEAR, "fixed"), 0.0)
        for times, step in item.course.parts:
            _add_step(item, float(times), step, sums)
            for timed in step.rows:
                _add_ops(item, n, float(times), timed, ops)
        fixed.append(sums["fixed"])
        for name in _LINEAR:
            linear[name].append(sums[name])
    integers = ("row_of", "width")
    flags = ("is_cache", "is_packed", "is_on_half", "is_head")
    arrays = {
        name: np.array(values, dtype=np.int64 if name in integers else bool if name in flags else np.float64)
        for name, values in ops.items()
    }
    sums_of = {name: np.array(values) for name, values in linear.items()}
    rates = np.array([item.case.is_rate for item in found])
    return Rows(**texts, is_rate=rates, measured=np.array(measured), fixed=np.array(fixed), linear=sums_of, **arrays)  # type: ignore[arg-type]


def _describe(item: Prediction, texts: dict[str, list[str]]) -> None:
    engine, device = item.found.engine, item.found.accelerator
    link = link_kind(device)
    texts["ids"].append(item.case.row.id)
    texts["kinds"].append(engine.kind)
    texts["architectures"].append(device.architecture)
    texts["engines"].append(engine.id)
    texts["links"].append(f"{link}, {engine.id}" if engine.id in LINKED_APART else link)
    texts["sources"].append(item.case.row.source_name)
    texts["devices"].append(device.id)
    texts["row_kinds"].append(item.case.row.kind)
    texts["phases"].append(phase_of(item.case))


def _add_step(item: Prediction, times: float, step: StepTime, sums: dict[str, float]) -> None:
    """What enters linearly, from counts and from times with their constants divided out."""
    engine = item.found.engine
    passes = float(step.passes)
    sums["layer_s"] += times * passes * item.found.structure.n_layers
    sums["expert_layer_s"] += times * passes * item.found.structure.expert_reductions
    sums["step_s"] += times * float(step.n_steps)
    sums["sequence_s"] += times * float(step.n_sequence_steps)
    hosted = float(step.n_steps) * engine.step_s.value + float(step.n_sequence_steps) * engine.sequence_s.value
    sums["fixed"] += times * (float(step.host_s) - hosted)
    for part in step.network:
        if _is_beyond_nodes(part, item):
            sums["fixed"] += times * float(part.transfer_s)
        else:
            sums["link_frac"] += times * float(part.transfer_s) * engine.link_frac.value
        waits = "exchange_latency_s" if part.name == EXPERT_EXCHANGE else "link_latency_s"
        sums[waits] += times * passes * float(part.latency_s) / getattr(engine, waits).value


def _is_beyond_nodes(part: NetworkTime, item: Prediction) -> bool:
    """Whether a collective takes the share of the network that kernels alone were measured to reach."""
    ways = float(item.case.scenario.expert_parallel or 1)
    return part.name == EXPERT_EXCHANGE and float(n_nodes(ways, item.found.machine)) > 1.0


def _add_ops(item: Prediction, n: int, times: float, timed: OpTimes, ops: dict[str, list[float]]) -> None:
    """Rows of one kind, with their constants divided out."""
    engine, kind, names = item.found.engine, timed.ops.kind, timed.ops.names

    def each(value: Floats | NDArray[np.bool_]) -> list[float]:
        return np.broadcast_to(value, (len(names),)).tolist()

    flags = (timed.ops.wide, timed.ops.packed, timed.ops.in_layers)
    numbers = (timed.repeats, timed.compute_s, timed.memory_s, timed.unpack_s)
    is_cache = kind in ("attention", "recurrence")
    share = engine.cache_bandwidth_frac.value if is_cache else engine.bandwidth_frac.value
    for wide, packed, in_layers, repeats, compute, memory, unpack in zip(*map(each, (*flags, *numbers)), strict=True):
        width, gamma = (3, 1.0) if is_cache else _reached(item, bool(wide))
        on_half = kind == "matrix" and width == 0 and bool(packed and in_layers and not wide)
        is_head = not is_cache and not in_layers
        factor = engine.head_compute_factor if is_head else engine.packed_compute_factor
        iota = (engine.unpack_operations if packed else engine.unpack_operations_wide).value
        ops["row_of"].append(n)
        ops["weight"].append(times * repeats)
        ops["compute"].append(compute * gamma * (factor.value if is_head or on_half else 1.0))
        ops["width"].append(width)
        ops["memory"].append(memory * share)
        ops["is_cache"].append(is_cache)
        ops["unpack"].append(unpack / iota if iota else 0.0)
        ops["is_packed"].append(packed)
        ops["is_on_half"].append(on_half)
        ops["is_head"].append(is_head)


def _reached(item: Prediction, wide: bool) -> tuple[int, float]:
    """Which share of the peak a row has, and how much it is of what the best product reaches."""
    engine, dtype = item.found.engine, item.found.formats.gemm_dtype
    name = "compute_frac" if wide or engine.unpack_bytes.value > 0.0 else engine.compute_frac_name(dtype)
    ceiling = measured_ceilings().get(item.found.accelerator.id, {}).get(WIDTHS[name], UNMEASURED_CEILING)
    return _NAME_OF[WIDTHS[name]], getattr(engine, name).value / ceiling
