"""How busy the devices that are paid for are: MFU, MBU, and the load that their power follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.answers.resolve import Resolved
from roofline.formulas.bounds import mbu_frac, mfu_frac
from roofline.formulas.pipeline import stage_utilisation_frac
from roofline.performance.serving import Service
from roofline.performance.sharding import Shard
from roofline.performance.timing import StepTime, summed
from roofline.units import Floats


@dataclass(frozen=True)
class Busy:
    """Useful work and traffic of one phase over what all devices could do."""

    mfu: Floats
    mbu: Floats

    @property
    def load_frac(self) -> Floats:
        """What power follows: the larger of the two, at most everything."""
        return np.minimum(1.0, np.maximum(self.mfu, self.mbu))


def busy_decode(result: Service, found: Resolved, shard: Shard, batch: Floats, devices: Floats) -> Busy:
    """Of decode: stages and replicas without a sequence wait, and so do devices that the plan leaves out."""
    share = stage_utilisation_frac(n_stages=shard.pipeline * shard.groups, n_micro_batches=batch)
    return _busy(result.decode, found, share * _used_frac(found, shard, devices))


def busy_prefill(result: Service, found: Resolved, shard: Shard, devices: Floats) -> Busy:
    """Of prefill, with a prompt in every stage of every group."""
    return _busy(result.prefill, found, _used_frac(found, shard, devices))


def _used_frac(found: Resolved, shard: Shard, devices: Floats) -> Floats:
    """Share of the devices that a plan uses; of machines in series, all."""
    return 1.0 if found.box is not None else shard.devices_used / devices


def _busy(step: StepTime, found: Resolved, share: Floats) -> Busy:
    peak, bandwidth = _ceilings(found)
    work = summed(step.rows, lambda row: row.ops.work_flops)
    traffic = summed(step.rows, lambda row: row.ops.traffic_bytes)
    return Busy(
        mfu=share * mfu_frac(useful_flops=work, time_s=step.expected_s, peak_flops_per_s=peak),
        mbu=share * mbu_frac(traffic_bytes=traffic, time_s=step.expected_s, bandwidth_bytes_per_s=bandwidth),
    )


def _ceilings(found: Resolved) -> tuple[float, float]:
    """Peak and bandwidth of one device; of machines in series, of all of them together, for they take turns."""
    pools = {segment.pool: segment for segment in found.machine.segments}
    if not pools:
        return found.formats.gemm_flops_per_s, found.machine.bandwidth_bytes_per_s
    peaks = sum(segment.formats.gemm_flops_per_s for segment in pools.values())
    return peaks, sum(segment.machine.bandwidth_bytes_per_s for segment in pools.values())
