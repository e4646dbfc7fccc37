"""Limiting cases of the formulas about a model: operators, attention, experts, speculation."""

from __future__ import annotations

import numpy as np
import pytest

from roofline.formulas import attention, experts, operators, speculation, training


def test_matmul_intensity_limits():
    shape = {"n_in": 8192.0, "n_out": 8192.0, "weight_bytes_per_parameter": 1.0, "activation_bytes_per_element": 2.0}
    # few tokens: 2 B / b_w, whatever the shape
    assert operators.matmul_intensity_flops_per_byte(n_tokens=1.0, **shape) == pytest.approx(2.0, rel=1e-3)
    # many tokens: the weights vanish and 2 D F / (b_a (D + F)) is left
    assert operators.matmul_intensity_flops_per_byte(n_tokens=1e12, **shape) == pytest.approx(4096.0, rel=1e-3)


def test_matmul_without_tokens_still_reads_its_weights():
    shape = {"n_tokens": 0.0, "n_in": 10.0, "n_out": 20.0}
    assert operators.matmul_flops(**shape) == 0.0
    assert operators.matmul_traffic_bytes(**shape, weight_bytes_per_parameter=2.0, activation_bytes_per_element=2.0) == 400.0


@pytest.mark.parametrize(("tokens", "share"), [(0.0, 0.0), (100.0, 0.5), (1e12, 1.0)])
def test_saturation(tokens, share):
    assert operators.saturating_frac(n_tokens=tokens, half_tokens=100.0) == pytest.approx(share)


@pytest.mark.parametrize(
    ("new", "cached", "pairs"),
    [
        (1, 0, 1),  # the first token sees itself
        (1, 99, 100),  # decode: one query, the whole context
        (4, 0, 10),  # prefill: a triangle
        (0, 50, 0),  # nothing new
    ],
)
def test_causal_pairs(new, cached, pairs):
    tokens = {"n_new_tokens": new, "n_cached_tokens": cached}
    assert attention.causal_pairs(**tokens) == pairs
    # a window or chunk longer than the sequence changes nothing
    assert attention.windowed_pairs(**tokens, window_tokens=1000) == pairs
    assert attention.chunked_pairs(**tokens, chunk_tokens=1000) == pairs


@pytest.mark.parametrize(
    ("new", "cached", "span", "windowed", "chunked"),
    [
        (5, 0, 1, 5, 5),  # each query sees itself only
        (1, 100, 8, 8, 5),  # decode in a full window; position 100 is the fifth of its chunk
        (8, 8, 8, 64, 36),  # window full throughout; exactly one whole chunk
        (3, 7, 8, 24, 11),  # the window fills with the first query; 8 + 1 + 2 across a chunk's edge
    ],
)
def test_windowed_and_chunked_pairs(new, cached, span, windowed, chunked):
    tokens = {"n_new_tokens": new, "n_cached_tokens": cached}
    assert attention.windowed_pairs(**tokens, window_tokens=span) == windowed
    assert attention.chunked_pairs(**tokens, chunk_tokens=span) == chunked


def test_pairs_stay_exact_for_a_million_tokens():
    tokens = {"n_new_tokens": 1_000_000.0, "n_cached_tokens": 0.0}
    assert attention.causal_pairs(**tokens) == 500_000_500_000
    assert attention.chunked_pairs(**tokens, chunk_tokens=8192.0) == 122 * 8192 * 8193 / 2 + 576 * 577 / 2


def test_attention_work_of_equal_sizes():
    assert attention.attention_flops(pairs=10.0, n_heads=4.0, key_size=64.0, value_size=64.0) == 4 * 10 * 4 * 64


def test_latent_cache_is_a_multi_query_cache_of_one_vector():
    latent = attention.latent_cache_bytes_per_token(n_layers=3, latent_rank=512, rope_size=64, bytes_per_element=2)
    assert latent == attention.kv_cache_bytes_per_token(n_layers=3, n_kv_heads=1, key_size=576, value_size=0, bytes_per_element=2)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (0, 0),  # empty
        (1024, 6 * 1024),  # windows just full: all layers alike
        (10_000, 10_000 + 5 * 1024),  # only the full layer grows
    ],
)
def test_sliding_cache(tokens, expected):
    layers = {"n_full_layers": 1, "n_sliding_layers": 5, "window_tokens": 1024, "bytes_per_token_layer": 1}
    assert attention.sliding_cache_bytes(n_tokens=tokens, **layers) == expected


def test_absorbed_break_even_equates_both_counts():
    sizes = {"latent_rank": 512.0, "nope_size": 128.0, "value_size": 128.0}
    new = attention.absorbed_break_even_tokens(**sizes)
    absorbed = new * (512 + 64 + 512)
    expanded = new * (128 + 64 + 128) + 512 * (128 + 128)
    assert absorbed == pytest.approx(expanded)


def test_a_narrow_latent_is_never_worth_expanding():
    found = attention.absorbed_break_even_tokens(latent_rank=np.array([128.0, 100.0]), nope_size=128.0, value_size=128.0)
    assert np.all(np.isinf(found))


@pytest.mark.parametrize(
    ("tokens", "active", "expected"),
    [
        (0, 8, 0.0),  # no token, no expert
        (1, 8, 8.0),  # one token visits its k
        (1e6, 8, 256.0),  # in the end all
        (0, 256, 0.0),  # k = E, and still no token
        (1, 256, 256.0),  # k = E: all at once
    ],
)
def test_distinct_experts(tokens, active, expected):
    assert experts.distinct_experts(n_experts=256, n_active_experts=active, n_tokens=tokens) == pytest.approx(expected)


def test_distinct_experts_keeps_its_digits_for_a_tiny_share():
    found = experts.distinct_experts(n_experts=1e15, n_active_experts=1.0, n_tokens=10.0)
    assert found == pytest.approx(10.0, rel=1e-12)


def test_distinct_experts_broadcasts_over_dense_and_sparse():
    found = experts.distinct_experts(n_experts=np.array([1.0, 8.0]), n_active_experts=1.0, n_tokens=np.array([[1.0], [2.0]]))
    assert found == pytest.approx(np.array([[1.0, 1.0], [1.0, 1.875]]))


@pytest.mark.parametrize(("tokens", "expected"), [(1, 1.0), (1e6, 31_250.0)])
def test_tokens_per_touched_expert(tokens, expected):
    found = experts.tokens_per_touched_expert(n_experts=256, n_active_experts=8, n_tokens=tokens)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("acceptance", "drafted", "expected"),
    [
        (0.0, 5, 1.0),  # nothing accepted: the model's own token
        (1.0, 5, 6.0),  # all accepted and one more
        (0.5, 0, 1.0),  # nothing drafted
        (0.5, 1000, 2.0),  # a long draft: 1 / (1 - a)
        (1.0 - 1e-13, 5, 6.0),  # no digits lost next to the limit
    ],
)
def test_expected_tokens(acceptance, drafted, expected):
    found = speculation.expected_tokens_per_step(acceptance_frac=acceptance, n_draft_tokens=drafted)
    assert found == pytest.approx(expected, rel=1e-11)


def test_drafting_never_helps_when_a_draft_step_costs_as_much():
    found = speculation.speculative_speedup(acceptance_frac=np.linspace(0, 1, 11), n_draft_tokens=4, draft_cost_frac=1.0)
    assert np.all(found <= 1.0 + 1e-12)


def test_work_ratio_is_one_when_every_draft_is_accepted_and_free():
    found = speculation.speculative_work_ratio(acceptance_frac=1.0, n_draft_tokens=4, draft_work_frac=0.0)
    assert found == pytest.approx(1.0)


def test_fused_attention_intensity_limits():
    # one query on a long cache: as many FLOPs a byte as queries share a head, at 16 bit
    decode = {"n_new_tokens": 1, "n_held_tokens": 1e9, "n_queries_per_kv_head": 8, "bytes_per_element": 2}
    assert attention.fused_attention_intensity_flops_per_byte(**decode) == pytest.approx(8.0)
    # a long prompt with many queries to a head: its length
    prefill = {"n_new_tokens": 4096, "n_held_tokens": 4096, "n_queries_per_kv_head": 1e9, "bytes_per_element": 2}
    assert attention.fused_attention_intensity_flops_per_byte(**prefill) == pytest.approx(4096.0)


def test_attention_takes_as_much_as_the_matrices_at_equal_work():
    heads = {"n_heads": 32, "key_size": 192, "value_size": 128}
    length = attention.equal_work_tokens(n_parameters=1e9, n_layers=10, **heads)
    assert 10 * attention.attention_flops(pairs=length * length, **heads) == pytest.approx(2.0 * 1e9 * length)


def test_latent_cache_with_scales_that_cost_nothing():
    sizes = {"n_layers": 61, "latent_rank": 512, "rope_size": 64}
    bare = {"latent_bytes_per_element": 2, "rope_bytes_per_element": 2, "scale_group_size": 128, "scale_bytes": 0}
    found = attention.scaled_latent_cache_bytes_per_token(**sizes, **bare)
    assert found == attention.latent_cache_bytes_per_token(**sizes, bytes_per_element=2)


def test_training_with_a_repeated_forward_pass_takes_a_third_more():
    load = {"n_parameters": 1e9, "n_tokens": 1e10}
    once = training.training_flops(n_passes=3, **load)
    assert once == 6e19
    assert training.training_flops(n_passes=4, **load) == pytest.approx(once * 4 / 3)
    short = {"n_layers": 1, "n_heads": 1, "key_size": 1, "value_size": 1, "n_tokens": 0}
    assert training.training_flops_per_token(n_parameters=1e9, **short) * 1e10 == once


def test_selective_recomputation_saves_the_scores():
    shape = {"n_tokens": 2048.0, "hidden_size": 12288.0, "n_heads": 96.0}
    kept = training.layer_activation_bytes(n_sequences=1, n_devices=1, **shape)
    bare = training.layer_activation_bytes(n_sequences=1, n_devices=1, **{**shape, "n_heads": 0.0})
    assert training.selective_saving_frac(**shape) == pytest.approx(1.0 - bare / kept)
