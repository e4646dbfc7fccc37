"""Time to first token when requests arrive at a rate: service, and the wait before it."""

from __future__ import annotations

import numpy as np

from roofline.answers.report import Times, Waiting
from roofline.formulas.queueing import md1_wait_s, window_wait_s
from roofline.formulas.waiting import collected_wait_s, wait_percentile_s
from roofline.units import Floats

PERCENTILES = (0.5, 0.9, 0.99)


def waiting(
    times: Times, computed_tokens: Floats, groups: Floats, step_s: Floats, request_rate: Floats, window_s: Floats
) -> Waiting:
    """Wait for a turn to be read, as expected.

    Each attention group is a queue with Poisson arrivals and constant service (M/D/1): the time between two prompts of a
    full pipeline. An arrival also waits for the decode step that is running, half of one on average, and for its window.
    Percentiles are sums of those of the parts, which are independent: that is an upper estimate.
    """
    arrivals = request_rate / groups
    between = computed_tokens * groups / times.prefill_tokens_per_s
    busy = arrivals * between
    queue = np.where(busy < 1.0, md1_wait_s(arrivals_per_s=arrivals, service_s=between), np.inf)
    step = step_s / 2.0
    collect = window_wait_s(window_s=window_s) + collected_wait_s(window_s=window_s, arrivals_per_s=arrivals, service_s=between)
    service = times.ttft_s
    late = [
        service + 2.0 * collect * p + late_wait_s(between, groups, step_s, request_rate, percentile_frac=p) for p in PERCENTILES
    ]
    return Waiting(service, queue + step + collect, busy, service + queue + step + collect, *late)


def late_wait_s(prompt_s: Floats, groups: Floats, step_s: Floats, request_rate: Floats, *, percentile_frac: float) -> Floats:
    """Wait that a share of the arrivals stays below, no window held: prompts ahead in one group, and the running step."""
    arrivals = request_rate / groups
    busy = arrivals * prompt_s
    queue = np.where(busy < 1.0, md1_wait_s(arrivals_per_s=arrivals, service_s=prompt_s), np.inf)
    return step_s * percentile_frac + wait_percentile_s(mean_wait_s=queue, load_frac=busy, percentile_frac=percentile_frac)
