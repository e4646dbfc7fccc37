"""All-reduces over links of several kinds, from first principles."""

from __future__ import annotations

import numpy as np
import pytest

from roofline import Scenario, evaluate
from roofline.answers.resolve import resolve
from roofline.formulas.collectives import all_reduce_ring_s
from roofline.formulas.hierarchy import all_reduce_double_tree_s, all_reduce_two_level_s
from roofline.performance.machine import Machine
from roofline.performance.reduction import reduction

V = 1e9


def machine(hardware: str, devices: int = 64) -> Machine:
    return resolve(Scenario(model="llama-3.1-70b", hardware=hardware, devices=devices)).machine


def test_two_levels_take_what_the_slower_of_them_takes() -> None:
    sizes = {"payload_bytes": V, "n_inside": 8.0, "n_nodes": 4.0}
    # between: 3/4 of an eighth, in and out; inside: 7/8, in and out
    slow = all_reduce_two_level_s(**sizes, inside_bytes_per_s=450e9, between_bytes_per_s=25e9)
    fast = all_reduce_two_level_s(**sizes, inside_bytes_per_s=450e9, between_bytes_per_s=400e9)
    assert slow == pytest.approx(2 * V * 3 / 4 / 8 / 25e9)
    assert fast == pytest.approx(2 * V * 7 / 8 / 450e9)
    one_node = all_reduce_two_level_s(**{**sizes, "n_nodes": 1.0}, inside_bytes_per_s=450e9, between_bytes_per_s=1.0)
    ring = all_reduce_ring_s(payload_bytes=V, n_devices=8.0, link_bytes_per_s=450e9, latency_s=0.0)
    assert one_node == pytest.approx(ring)


def test_a_double_tree_waits_with_the_logarithm() -> None:
    # Sanders, Speck, Traeff 2009: up and down, 2 log2(p) messages; half of the payload in each of two trees
    assert all_reduce_double_tree_s(payload_bytes=0.0, n_devices=64.0, link_bytes_per_s=1.0, latency_s=1.0) == 12.0
    assert all_reduce_double_tree_s(payload_bytes=V, n_devices=64.0, link_bytes_per_s=V, latency_s=0.0) == 2.0
    assert all_reduce_double_tree_s(payload_bytes=V, n_devices=1.0, link_bytes_per_s=V, latency_s=1.0) == 0.0


def test_two_nodes_share_the_payload_over_all_their_network_links() -> None:
    # two nodes of eight H100: an eighth each way over 50 GB/s, not the whole
    found = machine("h100-sxm")
    assert reduction(V, 16.0, found).limit_s == pytest.approx(2 * V / 2 / 8 / found.tiers[-1].bytes_per_s)
    assert reduction(V, 16.0, found).sent_bytes == pytest.approx(2 * V * 15 / 16)


def test_one_node_keeps_ring_and_switch() -> None:
    found = machine("h100-sxm")
    share, alpha = found.engine.link_frac.value, found.engine.link_latency_s.value
    one = reduction(V, 8.0, found)
    assert one.limit_s == pytest.approx(V / 450e9)
    assert one.transfer_s == pytest.approx(2 * V * 7 / 8 / 450e9 / share)
    assert one.latency_s == pytest.approx(alpha)


def test_many_nodes_take_trees_for_small_payloads_and_rings_for_large_ones() -> None:
    found = machine("h100-sxm", 1024)
    alpha = found.engine.link_latency_s.value
    assert reduction(1.0, 512.0, found).latency_s == pytest.approx(alpha * (1 + 6))
    assert reduction(1e12, 512.0, found).latency_s == pytest.approx(alpha * (1 + 63))


@pytest.mark.parametrize("hardware", ["h100-sxm", "mi300x", "rtx3090", "gb200", "tpu-v5e", "a100-sxm-80"])
def test_the_least_is_never_more_than_what_is_expected(hardware: str) -> None:
    found = machine(hardware, 256)
    ways = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 72.0, 128.0, 256.0])
    for payload in (1.0, 1e5, 1e9):
        one = reduction(payload, ways, found)
        assert np.all(one.limit_s <= one.transfer_s * (1 + 1e-12))
        assert np.all(np.asarray(one.latency_s) >= 0.0)
        assert one.limit_s[0] == one.transfer_s[0] == 0.0


def test_a_group_over_two_nodes_tells_all_it_sends() -> None:
    report = evaluate(
        Scenario(model="llama-3.1-405b", hardware="h100-sxm", devices=16, tensor_parallel=16, batch=16, weights="fp8")
    )
    row = next(r for r in report.operators if r.phase == "decode" and r.name == "network/all_reduce")
    assert row.network_bytes == pytest.approx(252 * 2 * 15 / 16 * 16 * 16384 * 2)
