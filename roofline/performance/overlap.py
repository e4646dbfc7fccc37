"""Two-batch overlap: a step cut into two halves of its batch, the exchanges of one hidden behind the work of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roofline.formulas.overlap import two_batches_s
from roofline.performance.ledger import Load
from roofline.performance.network import EXPERT_EXCHANGE, NetworkTime
from roofline.performance.timing import OpTimes, StepTime, summed
from roofline.units import Floats


def n_pieces(load: Load) -> Floats:
    """Pieces a step can be cut into: two where there are two tokens, else one."""
    return np.where(np.asarray(load.n_tokens) >= 2.0, 2.0, 1.0)


def piece(load: Load, pieces: Floats) -> Load:
    """What one of equal pieces of a step brings."""
    return replace(load, n_sequences=load.n_sequences / pieces, stage_tokens=load.stage_tokens / pieces)


def overlapped(whole: StepTime, part: StepTime, pieces: Floats) -> StepTime:
    """The step as its pieces take it: weights read and layers launched for each, exchanges only where they take longer.

    What travels between experts is hidden; the kernels that send and receive it run on the device, and other collectives too.
    The limit is that of the undivided step: it hides the network anyway, and reads weights once.
    """
    rows = tuple(_row(a, b, pieces) for a, b in zip(whole.rows, part.rows, strict=True))
    latency = pieces * part.layer_latency_s
    busy = latency + summed(rows, lambda row: row.busy_s)
    busy = busy + pieces * sum((_kept_s(item, part.passes) for item in part.network), 0.0)
    talk = pieces * sum((_hidden_s(item) for item in part.network), 0.0)
    held_up = pieces * sum((item.units_frac * _hidden_s(item) for item in part.network), 0.0)
    both = two_batches_s(half_compute_s=(busy + held_up) / 2.0, half_exchange_s=talk / 2.0)
    spent = np.where(pieces > 1.0, both, busy + talk)
    seen = np.divide(spent - busy, talk, out=np.zeros(np.shape(spent)), where=np.broadcast_to(talk > 0.0, np.shape(spent)))
    return replace(
        whole,
        rows=rows,
        network=tuple(_item(a, b, pieces, seen) for a, b in zip(whole.network, part.network, strict=True)),
        layer_latency_s=latency,
        expected_s=spent + whole.host_s,
    )


def _hidden_s(item: NetworkTime) -> Floats:
    return item.transfer_s if item.name == EXPERT_EXCHANGE else 0.0


def _kept_s(item: NetworkTime, passes: Floats) -> Floats:
    return item.transfer_s - _hidden_s(item) + passes * item.latency_s


def _row(whole: OpTimes, part: OpTimes, pieces: Floats) -> OpTimes:
    return replace(
        whole,
        compute_s=pieces * part.compute_s,
        memory_s=pieces * part.memory_s,
        unpack_s=pieces * part.unpack_s,
        expected_s=pieces * part.expected_s,
    )


def _item(whole: NetworkTime, part: NetworkTime, pieces: Floats, seen: Floats) -> NetworkTime:
    """Of a collective, what nothing hides."""
    share = seen if whole.name == EXPERT_EXCHANGE else 1.0
    return replace(whole, transfer_s=pieces * share * part.transfer_s, latency_s=pieces * part.latency_s)
