"""Limiting cases of the formulas about machines: collectives, pipeline, memory, cost, energy, queueing."""

from __future__ import annotations

import numpy as np
import pytest

from roofline.formulas import collectives, cost, energy, memory, pipeline, queueing, sharding

LINK = {"link_bytes_per_s": 1e9, "latency_s": 1e-6}
OVER_DEVICES = [
    collectives.all_reduce_ring_s,
    collectives.all_reduce_tree_s,
    collectives.all_gather_s,
    collectives.all_to_all_s,
]


@pytest.mark.parametrize("collective", OVER_DEVICES)
def test_one_device_sends_nothing(collective):
    assert collective(payload_bytes=1e9, n_devices=1, **LINK) == 0.0


def test_all_reduce_is_reduce_scatter_then_all_gather():
    load = {"payload_bytes": 1e9, "n_devices": 8, **LINK}
    assert collectives.all_reduce_ring_s(**load) == pytest.approx(2 * collectives.all_gather_s(**load))


def test_all_reduce_limits():
    # tiny payload: rounds alone, 14 around a ring of 8 and twice 3 in a tree
    assert collectives.all_reduce_ring_s(payload_bytes=0.0, n_devices=8, **LINK) == pytest.approx(14e-6)
    assert collectives.all_reduce_tree_s(payload_bytes=0.0, n_devices=8, **LINK) == pytest.approx(6e-6)
    # huge payload over many devices: twice the vector, once if the switch adds up
    many = {"payload_bytes": 1e15, "n_devices": 10_000}
    assert collectives.all_reduce_ring_s(**many, **LINK) == pytest.approx(2e6, rel=1e-3)
    assert collectives.all_reduce_switch_s(payload_bytes=1e15, **LINK) == pytest.approx(1e6, rel=1e-3)


def test_expert_exchange_without_remote_copies_is_free():
    sizes = {"hidden_size": 7168, "dispatch_bytes_per_element": 1.0, "combine_bytes_per_element": 2.0}
    assert collectives.expert_exchange_bytes(n_tokens=64, n_copies=0, **sizes) == 0.0


def test_two_levels_of_equal_links_are_one_ring():
    load = {"payload_bytes": 1e9, "n_devices_per_node": 8, "n_nodes": 4, "latency_s": 0.0}
    found = collectives.hierarchical_all_reduce_s(node_bytes_per_s=1e9, network_bytes_per_s=1e9, **load)
    ring = collectives.all_reduce_ring_s(payload_bytes=1e9, n_devices=32, link_bytes_per_s=1e9, latency_s=0.0)
    assert found == pytest.approx(ring)


def test_latency_in_one_node_is_that_of_its_chain():
    latencies = {"base_latency_s": 5e-6, "node_latency_s": 1e-6, "network_latency_s": 9e-6}
    assert collectives.tree_latency_s(n_devices=8, n_nodes=1, **latencies) == pytest.approx(19e-6)


@pytest.mark.parametrize(("payload", "expected"), [(0.0, 4e-6), (4e9, 1.0)])
def test_torus_is_bound_by_hops_or_by_links(payload, expected):
    load = {"n_axes": 2, "n_hops": 4, **LINK}
    assert collectives.torus_all_gather_s(payload_bytes=payload, **load) == pytest.approx(expected)


def test_two_dimensions_break_even_where_both_take_equally_long():
    # times over m D / W_n: one side over three axes, both sides at their best
    ratio = 4.0
    n = sharding.two_dimensional_devices(feed_forward_size=ratio, hidden_size=1.0)
    assert 2 * np.sqrt(2.0 * 4.0 * ratio / n) == pytest.approx(4.0 / 3.0)


def test_one_chunk_is_a_plain_pipeline():
    bubble = pipeline.fill_drain_frac(n_stages=4, n_micro_batches=8)
    over_ideal = pipeline.interleaved_bubble_ratio(n_stages=4, n_micro_batches=8, n_chunks=1)
    assert over_ideal == pytest.approx(bubble / (1.0 - bubble))


@pytest.mark.parametrize(
    ("stages", "micro_batches", "bubble", "busy", "time"),
    [
        (1, 1, 0.0, 1.0, 8.0),  # no pipeline
        (4, 1, 0.75, 0.25, 8.0),  # one batch: stages take turns, nothing gained
        (4, 4, 3 / 7, 1.0, 3.5),  # as many as stages: decode keeps all busy
        (4, 1e9, 0.0, 1.0, 2.0),  # many: the stack divided by the stages
    ],
)
def test_pipeline(stages, micro_batches, bubble, busy, time):
    plan = {"n_stages": stages, "n_micro_batches": micro_batches}
    assert pipeline.fill_drain_frac(**plan) == pytest.approx(bubble, abs=1e-8)
    assert pipeline.stage_utilisation_frac(**plan) == pytest.approx(busy)
    assert pipeline.pipelined_s(stack_s=8.0, **plan) == pytest.approx(time)


@pytest.mark.parametrize(
    ("usable", "weights", "cache", "expected"),
    [
        (80e9, 16e9, 1e9, 64.0),
        (80e9, 80e9, 1e9, 0.0),  # the weights fill it
        (80e9, 90e9, 1e9, 0.0),  # the weights do not fit
        (80e9, 90e9, 0.0, 0.0),  # nor do they without a cache
        (80e9, 16e9, 0.0, np.inf),  # no cache: no limit
        (80e9, 80e9, 0.0, np.inf),  # weights fit exactly, nothing more is asked
    ],
)
def test_max_sequences(usable, weights, cache, expected):
    assert memory.max_sequences(usable_bytes=usable, weight_bytes=weights, cache_bytes_per_sequence=cache) == expected


@pytest.mark.parametrize(("tokens", "reserved"), [(0, 0), (1, 16), (16, 16), (17, 32)])
def test_paged_tokens(tokens, reserved):
    assert memory.paged_tokens(n_tokens=tokens, block_tokens=16) == reserved


def test_sixteen_bits_are_two_bytes():
    assert memory.weight_bytes(n_parameters=1e9, bits_per_weight=16.0) == 2e9


def test_half_the_use_doubles_the_price_of_a_token():
    paid = {"n_devices": 2, "price_usd_per_h": 3.0, "tokens_per_s": 100.0}
    full = cost.rental_usd_per_token(**paid, utilisation_frac=1.0)
    assert full == pytest.approx(6.0 / 360_000)
    assert cost.rental_usd_per_token(**paid, utilisation_frac=0.5) == pytest.approx(2 * full)


@pytest.mark.parametrize(
    ("residual", "power", "expected"),
    [
        (1.0, 0.0, 0.0),  # sold for what it cost, no power: free
        (0.0, 0.0, 1.0),  # 8766 USD over a year of hours
        (1.0, 1000.0, 0.1),  # electricity alone
    ],
)
def test_ownership(residual, power, expected):
    device = {"purchase_usd": 8766.0, "life_years": 1.0, "utilisation_frac": 1.0, "pue": 1.0, "electricity_usd_per_kwh": 0.1}
    assert cost.ownership_usd_per_h(**device, residual_frac=residual, power_w=power) == pytest.approx(expected)


@pytest.mark.parametrize(("inputs", "outputs", "expected"), [(1, 0, 1.0), (0, 1, 5.0), (3, 1, 2.0)])
def test_blended_price(inputs, outputs, expected):
    prices = {"input_usd_per_token": 1.0, "output_usd_per_token": 5.0}
    assert cost.blended_usd_per_token(**prices, n_input_tokens=inputs, n_output_tokens=outputs) == expected


@pytest.mark.parametrize(
    ("rent", "expected"),
    [
        (2.1, 0.5),
        (0.1, np.inf),  # renting costs what the electricity does
        (0.05, np.inf),  # less than that: owning never pays, and no negative share
    ],
)
def test_break_even(rent, expected):
    found = cost.break_even_utilisation_frac(capital_usd_per_h=1.0, rent_usd_per_h=rent, power_usd_per_h=0.1)
    assert found == pytest.approx(expected)


def test_owning_and_renting_cost_the_same_at_break_even():
    share = cost.break_even_utilisation_frac(capital_usd_per_h=1.0, rent_usd_per_h=2.1, power_usd_per_h=0.1)
    owned = cost.ownership_usd_per_h(
        purchase_usd=8766.0, residual_frac=0.0, life_years=1.0, utilisation_frac=share,
        power_w=1000.0, pue=1.0, electricity_usd_per_kwh=0.1,
    )  # fmt: skip
    assert owned == pytest.approx(2.1)


def test_a_kilowatt_hour_is_billed_once():
    joules = energy.energy_j_per_token(n_devices=1, power_w=1000.0, pue=1.0, tokens_per_s=1 / 3600)
    assert joules == pytest.approx(3.6e6)
    assert energy.electricity_usd_per_token(energy_j_per_token=joules, electricity_usd_per_kwh=0.2) == pytest.approx(0.2)
    assert energy.carbon_g_per_token(energy_j_per_token=joules, grid_g_per_kwh=400.0) == pytest.approx(400.0)


@pytest.mark.parametrize(
    ("servers", "load", "expected"),
    [
        (1, 0.3, 0.3),  # one server: busy with probability of the load
        (5, 0.0, 0.0),  # nobody comes
        (2, 2.0, 1.0),  # at the limit everybody waits
        (2, 9.0, 1.0),  # and beyond
        (1000, 500.0, 0.0),  # many half-used servers
    ],
)
def test_erlang_c(servers, load, expected):
    assert queueing.erlang_c_frac(n_servers=servers, offered_load=load) == pytest.approx(expected, abs=1e-12)


def test_erlang_c_of_groups_of_different_size():
    found = queueing.erlang_c_frac(n_servers=np.array([1, 2, 2]), offered_load=np.array([0.3, 1.0, 9.0]))
    assert found == pytest.approx(np.array([0.3, 1 / 3, 1.0]))


@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_a_queue_that_is_outrun_waits_for_ever(rate):
    arriving = {"arrivals_per_s": rate, "service_s": 1.0}
    assert np.isinf(queueing.md1_wait_s(**arriving))
    assert np.isinf(queueing.md1_sojourn_s(**arriving))
    assert np.isinf(queueing.mmc_wait_s(n_servers=1, **arriving))


def test_steady_service_halves_the_wait():
    arriving = {"arrivals_per_s": 0.8, "service_s": 1.0}
    assert queueing.md1_wait_s(**arriving) == pytest.approx(queueing.mmc_wait_s(n_servers=1, **arriving) / 2)
    assert queueing.md1_sojourn_s(**arriving) == pytest.approx(queueing.md1_wait_s(**arriving) + 1.0)


def test_an_idle_queue_does_not_wait():
    assert queueing.md1_wait_s(arrivals_per_s=0.0, service_s=1.0) == 0.0
    assert queueing.mmc_wait_s(n_servers=3, arrivals_per_s=0.0, service_s=1.0) == 0.0
