"""The same plan at every batch: what the curves of the dashboard are drawn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.answers.busy import busy_decode
from roofline.answers.economics import device_price, usd_per_million
from roofline.answers.pools import together
from roofline.answers.pricing import DevicePrice
from roofline.answers.report import BatchCurve, Plan, Report, Times
from roofline.answers.resolve import resolve
from roofline.answers.speeds import Speeds, bounds, speeds
from roofline.formulas.bounds import arithmetic_intensity_flops_per_byte
from roofline.performance.offload import WHOLE
from roofline.performance.planning import Workload, choose
from roofline.performance.serving import service
from roofline.performance.sharding import Shard
from roofline.performance.timing import summed
from roofline.specs.scenario import Scenario
from roofline.units import Floats

_POINTS_PER_DOUBLING = 4
_LEAST_DOUBLINGS = 6
_MOST_DOUBLINGS = 24


def batch_curve(report: Report) -> BatchCurve:
    """The plan of a report at batches from one to beyond what fits; the limit over all plans, as in the report."""
    found = resolve(report.scenario.model_copy(update={"offload": report.offload}))
    shard = shard_of(report.plan, report.scenario) if found.box is None else WHOLE
    batch = _batches(report.memory.max_batch, report.batch)
    fits = batch <= report.memory.max_batch
    load = (float(report.scenario.input_tokens), float(report.scenario.output_tokens))
    devices = report.scenario.devices - report.prefill_devices
    request = replace(found.request, devices=devices) if found.box is None else found.request
    result = service(found.structure, shard, found.formats, found.machine, batch, *load)
    points = Workload(np.full(batch.shape, load[0]), np.full(batch.shape, load[1]), batch, np.full(batch.shape, np.nan))
    best = choose(found.structure, request, found.formats, found.machine, points, report.prefill_plan is not None).best
    found_speeds = speeds(result, shard, found.engine, batch, load[1], fits, best=best)
    if report.prefill_plan is not None:
        prefill = Speeds(report.limit, report.expected, report.expected_low, report.expected_high)
        found_speeds = together(prefill, found_speeds, report.scenario, result.computed_tokens, report.memory.fits)
    load_frac = busy_decode(result, found, shard, batch, request.devices).load_frac

    def usd(times: Times) -> Floats | None:
        return _usd(report, device_price(report.scenario, found.price), times, load_frac)

    flops = summed(result.decode.rows, lambda row: row.ops.work_flops)
    traffic = summed(result.decode.rows, lambda row: row.ops.traffic_bytes)
    return BatchCurve(
        batch=batch,
        max_batch=report.memory.max_batch,
        limit=found_speeds.limit,
        expected=found_speeds.expected,
        expected_low=found_speeds.low,
        expected_high=found_speeds.high,
        bound=tuple(bounds(result.decode, batch.shape)),
        usd_per_million_output_tokens=usd(found_speeds.expected),
        usd_per_million_output_tokens_low=usd(found_speeds.high),
        usd_per_million_output_tokens_high=usd(found_speeds.low),
        usd_per_million_output_tokens_at_limit=usd(found_speeds.limit),
        intensity_flops_per_byte=arithmetic_intensity_flops_per_byte(work_flops=flops, traffic_bytes=traffic),
        flops_per_s_per_device=flops / result.decode.expected_s,
    )


def _usd(report: Report, price: DevicePrice, times: Times, load_frac: Floats) -> Floats | None:
    """A million output tokens; devices that only decode are paid for while they wait for prompts, too."""
    apart = report.prefill_plan is not None
    rate = times.request_output_tokens_per_s if apart else times.output_tokens_per_s
    writing = report.scenario.model_copy(update={"devices": report.scenario.devices - report.prefill_devices})
    return usd_per_million(writing, price, rate, load_frac)


def shard_of(plan: Plan, scenario: Scenario) -> Shard:
    """A plan as the numbers the ledger takes."""
    return Shard(
        tensor=float(plan.tensor_parallel),
        pipeline=float(plan.pipeline_parallel),
        data=float(plan.data_parallel),
        expert=float(plan.expert_parallel),
        attention_data=float(plan.attention_data_parallel),
        expert_skew=scenario.expert_skew,
        context=float(plan.context_parallel),
        two_batch=scenario.two_batch_overlap,
    )


def _batches(most: int, chosen: int) -> NDArray[np.float64]:
    """Whole batches, four to a doubling, past the chosen one and past what fits, with both of those among them."""
    top = max(2.0**_LEAST_DOUBLINGS, 2.0 * max(most, chosen, 1))
    doublings = min(np.ceil(np.log2(top)), _MOST_DOUBLINGS)
    grid = np.round(2.0 ** np.arange(0.0, doublings + 1e-9, 1.0 / _POINTS_PER_DOUBLING))
    return np.unique(np.concatenate([grid, [float(max(most, 1)), float(chosen)]]))
