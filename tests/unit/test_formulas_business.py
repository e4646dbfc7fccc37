"""Limiting cases of the formulas about a service: serving, fleets, capital, profit, and the queues before them."""

from __future__ import annotations

import numpy as np
import pytest

from roofline.formulas import bounds, capital, cost, energy, fleet, memory, profit, queueing, serving, speculation


def test_pools_in_the_ratio_given_are_equally_busy():
    load = {"n_sequences": 40.0, "step_s": 0.02, "n_output_tokens": 500.0}
    decoded_per_s = serving.requests_per_s(**load)
    assert serving.prefill_decode_ratio(prefill_s=0.75, **load) == pytest.approx(decoded_per_s * 0.75)
    tokens_per_s = serving.decode_tokens_per_s(n_sequences=40.0, step_s=0.02)
    assert decoded_per_s * 500.0 == pytest.approx(tokens_per_s)


def test_two_pools_without_prompts_are_one():
    rates = {"prefill_tokens_per_s": 5e4, "decode_tokens_per_s": 1e4}
    pools = fleet.two_pool_devices(input_tokens_per_s=0.0, output_tokens_per_s=6e4, **rates)
    whole = {"demand_tokens_per_s": 6e4, "peak_ratio": 1.0, "device_tokens_per_s": 1e4, "utilisation_frac": 1.0}
    assert pools == fleet.needed_devices(**whole) == 6.0


@pytest.mark.parametrize(
    ("devices", "room", "rack_w", "expected"),
    [
        (64, 32, 1e9, 2),  # room decides
        (65, 32, 1e9, 3),  # one more opens a rack
        (64, 32, 16_000.0, 4),  # power decides: 16 to a rack
        (1, 32, 999.0, np.inf),  # a rack cannot feed one
    ],
)
def test_racks(devices, room, rack_w, expected):
    assert fleet.racks(n_devices=devices, n_devices_per_rack=room, power_w=1000.0, rack_power_w=rack_w) == expected


@pytest.mark.parametrize(("devices", "expected"), [(16, 2), (16.1, 3), (0, 0)])
def test_replicas_are_whole(devices, expected):
    assert fleet.whole_replicas(n_devices=devices, n_devices_per_replica=8) == expected


@pytest.mark.parametrize(
    ("needed", "spare", "up", "expected"),
    [
        (4, 0, 0.9, 0.9**4),  # no spare: all must be up
        (1, 1, 0.9, 0.99),  # two of a kind
        (1, 9, 0.5, 1 - 0.5**10),  # one of ten is enough
        (3, 2, 1.0, 1.0),  # nothing fails
        (3, 2, 0.0, 0.0),  # everything does
    ],
)
def test_availability(needed, spare, up, expected):
    assert fleet.availability_frac(n_needed=needed, n_spare=spare, up_frac=up) == pytest.approx(expected, abs=1e-15)


def test_availability_of_groups_of_different_size():
    found = fleet.availability_frac(n_needed=np.array([4, 1]), n_spare=np.array([0, 1]), up_frac=0.9)
    assert found == pytest.approx([0.9**4, 0.99])


@pytest.mark.parametrize(
    ("residual", "periods", "interest", "expected"),
    [
        (0.0, 4, 0.0, 250.0),  # no interest: equal parts
        (0.2, 4, 0.0, 200.0),  # of what is lost
        (0.0, 4, 1e-12, 250.0),  # and nearly none
        (0.0, 1, 0.1, 1100.0),  # one period: all, with its interest
        (1.0, 7, 0.1, 100.0),  # sold for what it cost: interest alone
        (0.0, 1e6, 0.1, 100.0),  # for ever
    ],
)
def test_payments(residual, periods, interest, expected):
    paid = capital.payment_usd(purchase_usd=1000.0, residual_frac=residual, n_payments=periods, interest_frac=interest)
    assert paid == pytest.approx(expected, rel=1e-9)


def test_total_ownership_without_staff_is_ownership():
    power = {"pue": 1.2, "electricity_usd_per_kwh": 0.1, "utilisation_frac": 1.0, "power_w": 500.0}
    yearly = capital.payment_usd(purchase_usd=8766.0, residual_frac=0.0, n_payments=4, interest_frac=0.0)
    none = {"staff_usd_per_year": 0.0, "hosting_usd_per_year": 0.0}
    found = capital.total_ownership_usd_per_h(capital_usd_per_year=yearly, **none, **power)
    plain = cost.ownership_usd_per_h(purchase_usd=8766.0, residual_frac=0.0, life_years=4.0, **power)
    assert found == pytest.approx(plain)


@pytest.mark.parametrize(("rent", "expected"), [(2.0, 1000.0), (1.0, np.inf), (0.5, np.inf)])
def test_break_even_hours(rent, expected):
    assert capital.break_even_h(purchase_usd=1000.0, rent_usd_per_h=rent, running_usd_per_h=1.0) == expected


def test_owning_and_renting_have_cost_the_same_at_break_even():
    hours = capital.break_even_h(purchase_usd=1000.0, rent_usd_per_h=3.0, running_usd_per_h=0.5)
    assert cost.rental_usd(n_devices=1, price_usd_per_h=3.0, rented_h=hours) == pytest.approx(1000.0 + 0.5 * hours)


def test_margins():
    books = {"revenue_usd": 400.0, "cost_usd": 100.0}
    markup, margin = profit.markup_ratio(**books), profit.gross_margin_ratio(**books)
    assert margin == pytest.approx(markup / (1.0 + markup))
    assert profit.markup_ratio(revenue_usd=100.0, cost_usd=100.0) == 0.0


def test_volume_at_break_even_pays_the_fixed_cost():
    tokens = profit.break_even_tokens(fixed_usd=10.0, price_usd_per_token=3e-6, marginal_usd_per_token=1e-6)
    assert tokens * 2e-6 == pytest.approx(10.0)
    assert np.isinf(profit.break_even_tokens(fixed_usd=10.0, price_usd_per_token=1e-6, marginal_usd_per_token=1e-6))


@pytest.mark.parametrize(("share", "expected"), [(0.0, 100.0), (0.5, 400.0), (1.0, 700.0)])
def test_mean_power(share, expected):
    assert energy.mean_power_w(idle_power_w=100.0, busy_power_w=700.0, utilisation_frac=share) == expected


def test_carbon_of_making_is_spent_over_a_life():
    life = {"life_s": 1e8, "tokens_per_s": 100.0, "utilisation_frac": 0.5}
    tokens = 1e8 * 100.0 * 0.5
    assert energy.embodied_g_per_token(embodied_g=1.5e5, **life) * tokens == pytest.approx(1.5e5)


@pytest.mark.parametrize(("servers", "load", "expected"), [(0, 3.0, 1.0), (1, 1.0, 0.5), (2, 1.0, 0.2), (5, 0.0, 0.0)])
def test_erlang_b(servers, load, expected):
    assert queueing.erlang_b_frac(n_servers=servers, offered_load=load) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("load", "waiting", "expected"),
    [
        (0.0, 0.1, 1),  # one is enough for nobody
        (0.3, 0.31, 1),  # one server: the share that waits is the load
        (0.3, 0.29, 2),
        (2.0, 1.0, 2),  # everybody may wait
        (2.0, 0.0, np.inf),  # nobody may
        (np.inf, 0.5, np.inf),
        (np.nan, 0.5, np.nan),
    ],
)
def test_fewest_servers(load, waiting, expected):
    assert queueing.fewest_servers(offered_load=load, wait_frac=waiting) == pytest.approx(expected, nan_ok=True)


def test_fewest_servers_are_enough_and_one_less_is_not():
    loads = np.array([0.5, 7.3, 40.0])
    servers = queueing.fewest_servers(offered_load=loads, wait_frac=0.05)
    assert np.all(queueing.erlang_c_frac(n_servers=servers, offered_load=loads) <= 0.05)
    assert np.all(queueing.erlang_c_frac(n_servers=np.maximum(servers - 1, 1), offered_load=loads) > 0.05)


def test_waits_between_steady_and_exponential_service():
    arriving = {"arrivals_per_s": 0.8, "service_s": 1.0}
    steady = queueing.mg1_wait_s(variation_ratio=0.0, **arriving)
    exponential = queueing.mg1_wait_s(variation_ratio=1.0, **arriving)
    assert steady == pytest.approx(queueing.md1_wait_s(**arriving))
    assert exponential == pytest.approx(queueing.mmc_wait_s(n_servers=1, **arriving))


def test_quantiles_of_the_wait_average_to_its_mean():
    queue = {"n_servers": 4, "arrivals_per_s": 3.2, "service_s": 1.0}
    middle = (np.arange(200_000) + 0.5) / 200_000
    waits = queueing.mmc_wait_quantile_s(quantile_frac=middle, **queue)
    assert np.mean(waits) == pytest.approx(queueing.mmc_wait_s(**queue), rel=1e-3)
    assert waits[0] == 0.0


def test_a_full_queue_keeps_its_last_waiting_for_ever():
    assert np.isinf(queueing.mmc_wait_quantile_s(n_servers=2, arrivals_per_s=2.0, service_s=1.0, quantile_frac=0.5))


def test_a_tree_of_one_branch_is_a_chain():
    chain = speculation.expected_tokens_per_step(acceptance_frac=0.7, n_draft_tokens=3)
    assert speculation.tree_tokens_per_step(acceptance_frac=0.7, n_branches=1, n_levels=3) == pytest.approx(chain)
    assert speculation.tree_tokens_per_step(acceptance_frac=1.0, n_branches=3, n_levels=3) == 4.0


def test_balanced_batch_without_traffic_of_its_own_is_critical():
    machine = {"peak_flops_per_s": 394e12, "bandwidth_bytes_per_s": 810e9}
    token = {"weight_bytes": 1e9, "work_flops_per_token": 2e9}
    plain = bounds.critical_batch_tokens(weight_bytes_per_parameter=1.0, **machine)
    assert bounds.balanced_batch_tokens(traffic_bytes_per_token=0.0, **token, **machine) == pytest.approx(plain)
    assert np.isinf(bounds.balanced_batch_tokens(traffic_bytes_per_token=1e9, **token, **machine))


@pytest.mark.parametrize(("tokens", "expected"), [(1, 0.02), (300, 0.02), (900, 0.06)])
def test_a_pass_is_flat_up_to_the_critical_batch(tokens, expected):
    assert bounds.pass_s(step_s=0.02, n_tokens=tokens, critical_batch_tokens=300.0) == pytest.approx(expected)


def test_longest_context_fills_the_memory():
    found = memory.max_context_tokens(usable_bytes=80e9, weight_bytes=16e9, cache_bytes_per_token=1e5, n_sequences=7)
    held = {"weight_bytes": 16e9, "n_sequences": 7}
    assert memory.held_bytes(cache_bytes_per_sequence=found * 1e5, **held) <= 80e9
    assert memory.held_bytes(cache_bytes_per_sequence=(found + 1) * 1e5, **held) > 80e9


@pytest.mark.parametrize(("rows", "ways", "expected"), [(8, 8, 1.0), (8, 16, 1.0), (9, 8, 2.0)])
def test_rows_stay_whole(rows, ways, expected):
    assert memory.sharded_bytes(n_rows=rows, row_bytes=1.0, n_ways=ways) == expected
