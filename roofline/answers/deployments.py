"""A chosen plan as a deployment: as many replicas as the traffic takes, each evaluated at its share."""

from __future__ import annotations

import numpy as np

from roofline.answers.curves import shard_of
from roofline.answers.evaluate import evaluate
from roofline.answers.replicas import n_replicas, points
from roofline.answers.report import Report
from roofline.answers.search_batch import Chosen
from roofline.answers.search_result import Deployment
from roofline.answers.waiting import late_wait_s
from roofline.specs.search import SearchQuery


def deployment(query: SearchQuery, chosen: Chosen) -> Deployment:
    """Every number of a deployment, from the report of one of its replicas."""
    replicas = int(n_replicas(query, np.array(chosen.carried)))
    rate = _share(query, chosen, replicas)
    report = evaluate(chosen.option.scenario_at(chosen.plan, rate))
    return _from_report(query, report, replicas, rate, chosen.most_requests_per_s)


def _share(query: SearchQuery, chosen: Chosen, replicas: int) -> float:
    """Requests a second that come to one replica; with so many in flight, those that its share of them makes."""
    if query.request_rate is not None:
        return query.request_rate / replicas
    if query.concurrency is None:
        return chosen.most_requests_per_s
    batch = np.array([[np.ceil(query.concurrency / replicas)]])
    shard = chosen.option.plans(np.array([chosen.plan]))
    return float(points(query, chosen.option.found, shard, batch).request_rate[0, 0])


def _wait_s(query: SearchQuery, report: Report, rate: float) -> float:
    """The wait that counts in a promise."""
    if query.waits_at is None:
        return 0.0
    groups = shard_of(report.plan, report.scenario).groups
    prompt_s = report.scenario.input_tokens * groups / report.expected.prefill_tokens_per_s
    return float(late_wait_s(prompt_s, groups, report.expected.decode_step_s, rate, percentile_frac=query.waits_at))


def _from_report(query: SearchQuery, report: Report, replicas: int, rate: float, most: float) -> Deployment:
    scenario, expected, cost = report.scenario, report.expected, report.cost
    held = report.expected_high if query.holds_band else expected
    output = float(expected.output_tokens_per_s)
    return Deployment(
        scenario=scenario,
        hardware_name=report.hardware_name,
        weights=report.formats.weights,
        plan=report.plan,
        replicas=replicas,
        devices_per_replica=scenario.devices,
        devices=replicas * scenario.devices,
        batch=report.batch,
        requests_per_s=replicas * rate,
        most_requests_per_s=replicas * most,
        utilisation_frac=rate / most,
        usd_per_hour=None if cost.usd_per_hour is None else replicas * cost.usd_per_hour,
        usd_per_device_hour=cost.usd_per_device_hour,
        price_kind=cost.price_kind,
        price_basis=cost.basis,
        usd_per_million_input_tokens=cost.usd_per_million_input_tokens,
        usd_per_million_output_tokens=cost.usd_per_million_output_tokens,
        usd_per_million_tokens=cost.usd_per_million_tokens,
        ttft_s=float(expected.ttft_s),
        ttft_high_s=float(report.expected_high.ttft_s),
        held_ttft_s=float(held.ttft_s) + _wait_s(query, report, rate),
        tpot_s=float(expected.tpot_s),
        tpot_high_s=float(report.expected_high.tpot_s),
        held_tpot_s=float(held.tpot_s),
        tokens_per_s_per_user=float(expected.tokens_per_s_per_user),
        output_tokens_per_s=replicas * output,
        output_tokens_per_s_per_device=output / scenario.devices,
        bound=report.bound,
    )
