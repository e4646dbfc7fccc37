"""Results as plain JSON values in base units: numbers, text, lists; ``null`` for what is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from math import isfinite
from typing import Any

import numpy as np
from pydantic import BaseModel

from roofline.answers.advisor import MachineAdvice
from roofline.answers.inverse import Solved
from roofline.answers.purchase import PurchaseAdvice
from roofline.answers.report import OperatorRow, Report, Times
from roofline.answers.search_result import Deployment, FrontierPoint, Search
from roofline.answers.under_load import under_load
from roofline.answers.validation import GROUPS, Validation
from roofline.formulas.bounds import balance_bytes_per_flop, ridge_point_flops_per_byte
from roofline.specs.hardware import Accelerator
from roofline.specs.scenario import Scenario

Json = dict[str, Any]


def plain(value: Any) -> Any:  # noqa: ANN401
    """Any nesting of results as JSON values; NaN and infinity become ``null``."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json"))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def validation_json(found: Validation) -> Json:
    """Every measurement beside its prediction, and errors by kind, source, hardware and engine."""
    summary: Json = {by: {} for by in GROUPS}
    for item in found.summaries:
        summary[item.by][item.name] = {key: value for key, value in asdict(item).items() if key not in ("by", "name")}
    rows = [asdict(row) for row in found.rows]
    exceptions = [{"id": row.id, "cause": row.reason} for row in found.rows if row.beats_limit]
    answer: Json = plain({"rows": rows, "summary": summary, "beats_limit": exceptions})
    return answer


Link = Callable[[Scenario], str | None]
"""A scenario as a link, where it can be one."""


def search_json(found: Search, link: Link) -> Json:
    """A search with a link for everything that can be evaluated."""

    def linked(item: Deployment | FrontierPoint) -> Json:
        return {**asdict(item), "link": link(item.scenario)}

    answer: Json = plain(
        {
            **{name: getattr(found, name) for name in ("query", "sentence", "notes")},
            "winners": [linked(item) for item in found.winners],
            "nearest": None if found.nearest is None else linked(found.nearest),
            "cost_frontier": [linked(item) for item in found.cost_frontier],
            "throughput_frontier": [linked(item) for item in found.throughput_frontier],
            "losers": [asdict(item) for item in found.losers],
            "examined": {name: getattr(found, f"n_{name}") for name in ("hardware", "options", "plans", "points")},
            "seconds": found.seconds,
        }
    )
    return answer


def solved_json(found: Solved, link: Link) -> Json:
    """An inverse answer with the link that evaluates to it."""
    answer: Json = plain({**asdict(found), "link": None if found.scenario is None else link(found.scenario)})
    return answer


def machine_json(found: MachineAdvice, link: Link) -> Json:
    """What a machine runs, each row with its link."""
    runs = [{**asdict(run), "link": link(run.scenario)} for run in found.runs]
    answer: Json = plain({**asdict(replace(found, runs=())), "runs": runs})
    return answer


def purchase_json(found: PurchaseAdvice, link: Link) -> Json:
    """What to buy, each row with its link."""
    lists = {
        name: [{**asdict(item), "link": link(item.scenario)} for item in getattr(found, name)] for name in ("best", "offers")
    }
    answer: Json = plain({**asdict(replace(found, best=(), offers=())), **lists})
    return answer


def report_json(report: Report) -> Json:
    """A report in the form of the command line's contract, but for the link."""
    memory, loaded = asdict(report.memory), under_load(report)
    answer = {
        "scenario": report.scenario.model_dump(mode="json"),
        "model": report.model_name,
        "hardware": report.hardware_name,
        "batch": report.batch,
        "expected_tokens_per_step": report.tokens_per_step,
        "context_tokens": report.context_tokens,
        "plan": asdict(report.plan),
        "prefill_plan": asdict(report.prefill_plan) if report.prefill_plan else None,
        "formats": asdict(report.formats),
        "memory": {**memory, "used_bytes_per_device": report.memory.used_bytes_per_device},
        "critical_batch": {"dense": report.critical_batch_dense, "with_experts": report.critical_batch_with_experts},
        "ridge_point_flops_per_byte": report.ridge_flops_per_byte,
        "limit": asdict(report.limit),
        "expected": _banded(report.expected, report.expected_low, report.expected_high),
        "waiting": None if report.waiting is None else asdict(report.waiting),
        "under_load": None if loaded is None else asdict(loaded),
        "bound": report.bound,
        "shares": {phase: {share.bound: share.seconds for share in found} for phase, found in report.shares.items()},
        "mfu": report.mfu,
        "mbu": report.mbu,
        "cost": asdict(report.cost),
        "operators": [_operator(row) for row in report.operators],
        "sentence": report.sentence,
        "assumptions": [asdict(item) for item in report.assumptions],
        "reasons": list(report.reasons),
        "sources": report.sources,
    }
    return {key: plain(value) for key, value in answer.items()}


def _banded(value: Times, low: Times, high: Times) -> Json:
    return {
        f.name: {"value": getattr(value, f.name), "low": getattr(low, f.name), "high": getattr(high, f.name)}
        for f in fields(Times)
    }


def _operator(row: OperatorRow) -> Json:
    return asdict(row)


def hardware_json(device: Accelerator) -> Json:
    """A device in the form of the command line's contract."""
    bandwidth = device.bandwidth_bytes_per_s
    peaks = {str(dtype): fact.base for dtype, fact in device.peaks.items()}
    facts = {
        "memory": device.memory,
        "visible_memory": device.visible_memory,
        "bandwidth": device.bandwidth,
        "tdp": device.tdp,
    }
    facts |= {f"peak_{dtype}": fact for dtype, fact in device.peaks.items()}
    return {
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "category": device.category,
        "year": device.year,
        "announced": device.announced,
        "grade": device.grade,
        "memory_bytes": device.memory_bytes,
        "usable_memory_bytes": device.usable_memory_bytes,
        "bandwidth_bytes_per_s": bandwidth,
        "peak_flops_per_s": peaks,
        "ridge_point_flops_per_byte": {
            k: float(ridge_point_flops_per_byte(peak_flops_per_s=v, bandwidth_bytes_per_s=bandwidth)) for k, v in peaks.items()
        },
        "bytes_per_flop": {
            k: float(balance_bytes_per_flop(peak_flops_per_s=v, bandwidth_bytes_per_s=bandwidth)) for k, v in peaks.items()
        },
        "links": [
            {
                "kind": item.kind,
                "name": item.name,
                "bandwidth_bytes_per_s_per_direction": item.bandwidth.base,
                "n_devices": item.n_devices,
                "source": item.bandwidth.source,
            }
            for item in device.links
        ],
        "tdp_w": device.tdp.base if device.tdp else None,
        "prices": [
            {
                "kind": item.kind,
                "value": item.amount.value,
                "unit": item.amount.unit,
                "provider": item.provider,
                "date": item.date,
                "region": item.region,
                "commitment": item.commitment,
                "source": item.amount.source,
            }
            for item in device.prices
        ],
        "sources": {
            name: {"value": fact.value, "unit": fact.unit, "source": fact.source, "kind": fact.kind, "note": fact.note}
            for name, fact in facts.items()
            if fact is not None
        },
        "note": device.note,
    }
