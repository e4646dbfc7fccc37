"""The ledger of a step as rows of plain numbers."""

from __future__ import annotations

import numpy as np

from roofline.answers.report import OperatorRow, Phase, Term
from roofline.performance.machine import Rates
from roofline.performance.network import NetworkTime
from roofline.performance.timing import OpTimes, StepTime


def operator_rows(phase: Phase, step: StepTime, formats: Rates) -> list[OperatorRow]:
    """Rows of a step, one per name, and what it sends; rows that neither compute nor read are left out."""
    merged: dict[str, OperatorRow] = {}
    for times in step.rows:
        for new in _operators(phase, times, formats):
            merged[new.name] = _together(merged[new.name], new) if new.name in merged else new
    rows = [row for row in merged.values() if row.flops > 0 or row.bytes > 0]
    return rows + [_network_row(phase, item) for item in step.network if float(item.network_bytes) > 0]


def _operators(phase: Phase, times: OpTimes, formats: Rates) -> list[OperatorRow]:
    """Rows of one kind."""
    ops = times.ops
    sizes = (ops.work_flops, ops.traffic_bytes, ops.weight_bytes, ops.cache_bytes, ops.activation_bytes)
    limits = (times.compute_limit_s, times.memory_limit_s, times.limit_s)
    columns = (ops.count, *sizes, *limits, times.expected_s, times.compute_s, times.memory_s)
    table = np.empty((len(columns), len(ops.names)))
    for n, column in enumerate(columns):
        table[n] = column
    rows = zip(ops.names, table.T.tolist(), _rate_names(times, formats), _terms(times), strict=True)
    return [_operator(phase, name, rate, term, *numbers) for name, numbers, rate, term in rows]


def _rate_names(times: OpTimes, formats: Rates) -> list[str]:
    """Dtype keys of the peaks that rows are held against."""
    if times.ops.kind in ("attention", "recurrence"):
        return [formats.attention_dtype] * len(times.ops.names)
    wide = np.broadcast_to(times.ops.wide, len(times.ops.names)).tolist()
    return [formats.wide_dtype if is_wide else formats.gemm_dtype for is_wide in wide]


def _terms(times: OpTimes) -> list[Term]:
    """What a ledger has of each row, beside its totals."""
    ops = times.ops
    columns = (
        *(ops.work_flops, ops.weight_bytes, ops.cache_bytes, times.compute_limit_s, times.memory_limit_s, ops.tokens),
        *(ops.stored_bytes, ops.ways, ops.met_tokens, ops.sequences, ops.cached_tokens),
    )
    table = np.empty((len(columns), len(ops.names)))
    for n, column in enumerate(columns):
        table[n] = column
    return [Term(*numbers) for numbers in table.T.tolist()]


def _operator(
    phase: Phase,
    name: str,
    rate: str,
    term: Term,
    count: float,
    flops: float,
    traffic: float,
    weight_bytes: float,
    cache_bytes: float,
    activation_bytes: float,
    compute_limit_s: float,
    memory_limit_s: float,
    limit_s: float,
    expected_s: float,
    compute_s: float,
    memory_s: float,
) -> OperatorRow:
    return OperatorRow(
        phase=phase,
        name=name,
        count=count,
        flops=flops,
        bytes=traffic,
        weight_bytes=weight_bytes,
        cache_bytes=cache_bytes,
        activation_bytes=activation_bytes,
        network_bytes=0.0,
        intensity=flops / traffic if traffic > 0 else float("inf"),
        compute_limit_s=compute_limit_s,
        memory_limit_s=memory_limit_s,
        limit_s=limit_s,
        expected_s=expected_s,
        bound="compute" if compute_limit_s > memory_limit_s else "memory",
        expected_bound="compute" if compute_s > memory_s else "memory",
        rate=rate,
        terms=(term,),
    )


def _together(a: OperatorRow, b: OperatorRow) -> OperatorRow:
    """Two rows of one name as one: sums, and the bound of the longer time."""
    flops, traffic = a.flops + b.flops, a.bytes + b.bytes
    compute, memory = a.compute_limit_s + b.compute_limit_s, a.memory_limit_s + b.memory_limit_s
    return OperatorRow(
        phase=a.phase,
        name=a.name,
        count=max(a.count, b.count) if b.flops == 0 or a.flops == 0 else a.count + b.count,
        flops=flops,
        bytes=traffic,
        weight_bytes=a.weight_bytes + b.weight_bytes,
        cache_bytes=a.cache_bytes + b.cache_bytes,
        activation_bytes=a.activation_bytes + b.activation_bytes,
        network_bytes=0.0,
        intensity=flops / traffic if traffic > 0 else float("inf"),
        compute_limit_s=compute,
        memory_limit_s=memory,
        limit_s=a.limit_s + b.limit_s,
        expected_s=a.expected_s + b.expected_s,
        bound="compute" if compute > memory else "memory",
        expected_bound=a.expected_bound if a.expected_s >= b.expected_s else b.expected_bound,
        rate=a.rate if a.flops >= b.flops else b.rate,
        terms=a.terms + b.terms,
    )


def _network_row(phase: Phase, item: NetworkTime) -> OperatorRow:
    return OperatorRow(
        phase=phase,
        name=item.name,
        count=item.count,
        flops=0.0,
        bytes=0.0,
        weight_bytes=0.0,
        cache_bytes=0.0,
        activation_bytes=0.0,
        network_bytes=float(item.network_bytes),
        intensity=0.0,
        compute_limit_s=0.0,
        memory_limit_s=0.0,
        limit_s=float(item.limit_s),
        expected_s=float(item.transfer_s + item.latency_s),
        bound="network",
        expected_bound="network" if float(item.transfer_s) >= float(item.latency_s) else "latency",
    )
