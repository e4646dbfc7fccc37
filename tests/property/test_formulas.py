"""Laws that formulas obey for any input."""

from __future__ import annotations

from math import comb, exp, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.formulas import (
    attention,
    bounds,
    capital,
    collectives,
    experts,
    fleet,
    memory,
    operators,
    pipeline,
    queueing,
    speculation,
)

from . import strategies as draw

ROUNDING = 1.0 + 1e-12
OVER_DEVICES = st.sampled_from(
    [collectives.all_reduce_ring_s, collectives.all_reduce_tree_s, collectives.all_gather_s, collectives.all_to_all_s]
)


@given(draw.work_flops, draw.traffic_bytes, draw.machines)
def test_bounds_are_ordered(work, traffic, machine):
    load = {"work_flops": work, "traffic_bytes": traffic, **machine}
    lower, upper = bounds.lower_bound_s(**load), bounds.upper_bound_s(**load)
    soft = bounds.soft_maximum_s(
        first_s=bounds.compute_s(work_flops=work, peak_flops_per_s=machine["peak_flops_per_s"]),
        second_s=bounds.traffic_s(traffic_bytes=traffic, bandwidth_bytes_per_s=machine["bandwidth_bytes_per_s"]),
    )
    assert lower <= soft * ROUNDING
    assert soft <= upper * ROUNDING
    assert upper <= 2.0 * lower * ROUNDING


@given(draw.work_flops, draw.traffic_bytes, draw.machines, draw.growth)
def test_time_grows_with_work_and_traffic_and_falls_with_speed(work, traffic, machine, more):
    peak, bandwidth = machine["peak_flops_per_s"], machine["bandwidth_bytes_per_s"]
    for bound in (bounds.lower_bound_s, bounds.upper_bound_s):
        base = bound(work_flops=work, traffic_bytes=traffic, **machine)
        assert bound(work_flops=work * more, traffic_bytes=traffic, **machine) >= base
        assert bound(work_flops=work, traffic_bytes=traffic * more, **machine) >= base
        faster = {"peak_flops_per_s": peak * more, "bandwidth_bytes_per_s": bandwidth * more}
        assert bound(work_flops=work, traffic_bytes=traffic, **faster) <= base


@given(st.floats(1.0, 1e21), st.floats(1.0, 1e15), draw.machines)
def test_attainable_rate_is_work_over_the_shortest_time(work, traffic, machine):
    intensity = bounds.arithmetic_intensity_flops_per_byte(work_flops=work, traffic_bytes=traffic)
    rate = bounds.attainable_flops_per_s(intensity_flops_per_byte=intensity, **machine)
    assert work / rate == pytest.approx(bounds.lower_bound_s(work_flops=work, traffic_bytes=traffic, **machine))


@given(st.floats(1.0, 1e6), st.floats(1.0, 1e5), st.floats(1.0, 1e5), st.floats(0.1, 8.0), st.floats(0.0, 4.0))
def test_matmul_intensity_never_exceeds_that_of_its_weights(tokens, n_in, n_out, weight, activation):
    shape = {"n_tokens": tokens, "n_in": n_in, "n_out": n_out}
    found = operators.matmul_intensity_flops_per_byte(
        **shape, weight_bytes_per_parameter=weight, activation_bytes_per_element=activation
    )
    assert found <= 2.0 * tokens / weight * ROUNDING


@given(draw.few_tokens, draw.few_tokens, draw.spans_tokens)
def test_pairs_are_sums_over_queries(new, cached, span):
    tokens = {"n_new_tokens": new, "n_cached_tokens": cached}
    positions = np.arange(cached, cached + new)
    assert attention.causal_pairs(**tokens) == np.sum(positions + 1)
    assert attention.windowed_pairs(**tokens, window_tokens=span) == np.sum(np.minimum(positions + 1, span))
    assert attention.chunked_pairs(**tokens, chunk_tokens=span) == np.sum(positions % span + 1)


@given(draw.few_tokens, draw.few_tokens, draw.few_tokens, draw.spans_tokens)
def test_pairs_add_up_over_pieces_of_a_prompt(cached, first, second, span):
    whole = {"n_new_tokens": first + second, "n_cached_tokens": cached}
    pieces = ({"n_new_tokens": first, "n_cached_tokens": cached}, {"n_new_tokens": second, "n_cached_tokens": cached + first})
    assert sum(attention.causal_pairs(**piece) for piece in pieces) == attention.causal_pairs(**whole)
    assert sum(attention.windowed_pairs(**piece, window_tokens=span) for piece in pieces) == attention.windowed_pairs(
        **whole, window_tokens=span
    )
    assert sum(attention.chunked_pairs(**piece, chunk_tokens=span) for piece in pieces) == attention.chunked_pairs(
        **whole, chunk_tokens=span
    )


@given(draw.routings(), draw.token_counts, draw.growth)
def test_distinct_experts_lie_between_one_token_and_all(routing, tokens, more):
    found = experts.distinct_experts(**routing, n_tokens=tokens)
    n_experts, n_active = routing["n_experts"], routing["n_active_experts"]
    assert n_active / ROUNDING <= found <= min(n_experts, n_active * tokens) * ROUNDING
    assert experts.distinct_experts(**routing, n_tokens=tokens * more) >= found / ROUNDING
    assert experts.tokens_per_touched_expert(**routing, n_tokens=tokens) >= 1.0 / ROUNDING


@given(OVER_DEVICES, draw.payloads_bytes, draw.device_counts, draw.links, draw.growth)
def test_collectives_grow_with_payload_and_devices(collective, payload, devices, link, more):
    base = collective(payload_bytes=payload, n_devices=devices, **link)
    assert base >= 0.0
    assert collective(payload_bytes=payload * more, n_devices=devices, **link) >= base
    assert collective(payload_bytes=payload, n_devices=devices + 1, **link) >= base / ROUNDING


@given(draw.payloads_bytes, draw.device_counts, draw.links)
def test_a_tree_is_never_slower_than_a_ring(payload, devices, link):
    load = {"payload_bytes": payload, "n_devices": devices, **link}
    assert collectives.all_reduce_tree_s(**load) <= collectives.all_reduce_ring_s(**load) * ROUNDING


@given(draw.times_s, draw.stage_counts, draw.stage_counts)
def test_pipeline_time_is_work_over_what_the_bubble_leaves(stack, stages, micro_batches):
    plan = {"n_stages": stages, "n_micro_batches": micro_batches}
    bubble = pipeline.fill_drain_frac(**plan)
    assert 0.0 <= bubble < 1.0
    assert 0.0 < pipeline.stage_utilisation_frac(**plan) <= 1.0
    time = pipeline.pipelined_s(stack_s=stack, **plan)
    assert stack / stages <= time * ROUNDING
    assert time <= stack * ROUNDING
    assert time * (1.0 - bubble) == pytest.approx(stack / stages)


@given(st.floats(1e6, 1e15), st.floats(0.0, 1e15), st.floats(1e3, 1e12))
def test_sequences_fit_and_one_more_does_not(usable, weights, cache):
    found = memory.max_sequences(usable_bytes=usable, weight_bytes=weights, cache_bytes_per_sequence=cache)
    assert found >= 0.0
    assert found == 0.0 or weights + found * cache <= usable * ROUNDING
    assert weights + (found + 1.0) * cache >= usable / ROUNDING


@given(draw.token_counts, draw.spans_tokens)
def test_paged_tokens_round_up_by_less_than_a_block(tokens, block):
    reserved = memory.paged_tokens(n_tokens=tokens, block_tokens=block)
    assert reserved % block == 0
    assert tokens <= reserved < tokens + block


@given(draw.fractions, st.integers(0, 64))
def test_expected_tokens_are_the_geometric_sum(acceptance, drafted):
    found = speculation.expected_tokens_per_step(acceptance_frac=acceptance, n_draft_tokens=drafted)
    assert found == pytest.approx(sum(acceptance**power for power in range(drafted + 1)))


@given(st.integers(1, 200), draw.loads)
def test_waiting_is_rarer_with_more_servers_at_the_same_load_each(servers, each):
    alone = queueing.erlang_c_frac(n_servers=servers, offered_load=servers * each)
    more = queueing.erlang_c_frac(n_servers=servers + 1, offered_load=(servers + 1) * each)
    assert 0.0 <= more <= alone * ROUNDING + 1e-300 <= 1.0 + 1e-9


@given(draw.loads, draw.times_s)
def test_one_server_is_the_textbook_queue(load, service):
    arriving = {"arrivals_per_s": load / service, "service_s": service}
    wait = queueing.mmc_wait_s(n_servers=1, **arriving)
    assert wait == pytest.approx(load * service / (1.0 - load), rel=1e-9)
    assert queueing.md1_wait_s(**arriving) == pytest.approx(wait / 2.0, rel=1e-9)
    assert queueing.md1_sojourn_s(**arriving) == pytest.approx(service + wait / 2.0, rel=1e-9)


@given(st.integers(1, 150), st.floats(0.01, 200.0))
def test_blocking_is_the_share_of_time_with_all_servers_busy(servers, load):
    weights = [exp(k * log(load) - lgamma(k + 1) - load) for k in range(servers + 1)]
    found = queueing.erlang_b_frac(n_servers=servers, offered_load=load)
    assert found == pytest.approx(weights[-1] / sum(weights), rel=1e-6, abs=1e-200)


@given(st.integers(1, 60), st.integers(0, 12), draw.fractions)
def test_availability_is_the_binomial_sum(needed, spare, up):
    n = needed + spare
    expected = sum(comb(n, k) * up**k * (1.0 - up) ** (n - k) for k in range(needed, n + 1))
    assert fleet.availability_frac(n_needed=needed, n_spare=spare, up_frac=up) == pytest.approx(expected, rel=1e-9, abs=1e-200)


@given(st.floats(1.0, 1e9), draw.fractions, st.integers(1, 100), st.just(0.0) | st.floats(1e-12, 1.0))
def test_payments_are_worth_the_purchase(purchase, residual, periods, interest):
    terms = {"purchase_usd": purchase, "residual_frac": residual, "n_payments": periods, "interest_frac": interest}
    discounts = [(1.0 + interest) ** -period for period in range(1, periods + 1)]
    worth = capital.payment_usd(**terms) * sum(discounts) + purchase * residual * discounts[-1]
    assert worth == pytest.approx(purchase, rel=1e-9)


@given(draw.payloads_bytes, st.integers(1, 72), st.integers(1, 500), draw.links_bytes_per_s, draw.growth)
def test_two_levels_beat_one_ring_over_the_network(payload, devices, nodes, network, faster):
    levels = {"payload_bytes": payload, "n_devices_per_node": devices, "n_nodes": nodes, "latency_s": 0.0}
    found = collectives.hierarchical_all_reduce_s(network_bytes_per_s=network, node_bytes_per_s=network * faster, **levels)
    ring = collectives.all_reduce_ring_s(
        payload_bytes=payload, n_devices=devices * nodes, link_bytes_per_s=network, latency_s=0.0
    )
    assert found <= ring * ROUNDING
