"""Formats, spans, weights, counts and the catalogue of models."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.models import load_model, model_entries, model_ids
from roofline.errors import InputError, UnknownIdError
from roofline.performance.counts import count_model, model_counts, sequence_flops
from roofline.performance.gguf import more_bits
from roofline.performance.reach import held_tokens, read_tokens, visited_pairs
from roofline.performance.weights import tensor_bits, weight_bytes
from roofline.specs.model import Attend

PLAIN = Attend(n_heads=2, n_kv_heads=1, key_size=4, value_size=4, cache_elements=8, read_elements=8)


@pytest.mark.parametrize(
    ("name", "bits"),
    # block bytes times eight over block weights, from the gguf package and the layouts of checkpoints
    [
        ("Q4_0", 18 * 8 / 32),
        ("q4_K", 144 * 8 / 256),
        ("iq4_xs", 136 * 8 / 256),
        ("q8_0", 34 * 8 / 32),
        ("mxfp4", 17 * 8 / 32),
        ("nvfp4", 9 * 8 / 16),
        ("awq", 4 + 20 / 128),
        ("fp8_block128", 8 + 32 / 128**2),
        ("nf4_dq", 4 + 8 / 64 + 32 / (64 * 256)),
        ("F16", 16),
        ("float32", 32),
    ],
)
def test_bits_per_weight(name: str, bits: float) -> None:
    assert load_format(name).bits_per_weight == pytest.approx(bits, abs=1e-12)


def test_formats_name_their_source_and_unknown_ones_the_nearest() -> None:
    assert all(load_format(i).source for i in format_ids())
    with pytest.raises(UnknownIdError, match="q4_k_m"):
        load_format("q4_k_mm")


def brute(attend: Attend, n_new: int, n_cached: int) -> float:
    """Keys visited, position by position."""
    total = 0.0
    for position in range(n_cached, n_cached + n_new):
        if attend.chunk:
            total += position % attend.chunk + 1
            continue
        keys = (position + 1) / attend.stride
        total += min(keys, attend.window or np.inf, attend.top_k or np.inf)
    return total


@pytest.mark.parametrize("change", [{}, {"window": 5}, {"chunk": 4}, {"top_k": 3}, {"stride": 4}, {"stride": 2, "top_k": 3}])
@pytest.mark.parametrize(("n_new", "n_cached"), [(1, 0), (1, 7), (6, 0), (6, 3), (20, 9)])
def test_visited_pairs_are_the_sum_over_positions(change: dict[str, int], n_new: int, n_cached: int) -> None:
    attend = PLAIN.model_copy(update=change)
    assert float(visited_pairs(attend, n_new, n_cached)) == pytest.approx(brute(attend, n_new, n_cached))
    assert float(read_tokens(attend, n_cached + 1)) == pytest.approx(brute(attend, 1, n_cached))


def test_spans_broadcast_and_cross_attention_sees_nothing() -> None:
    cached = np.array([0.0, 10.0, 100.0])
    cross = PLAIN.model_copy(update={"kind": "cross"})
    for spans in (visited_pairs(cross, 2, cached), held_tokens(cross, cached), read_tokens(cross, cached)):
        assert np.array_equal(spans, np.zeros(3))
    assert np.array_equal(held_tokens(PLAIN.model_copy(update={"window": 16}), cached), [0.0, 10.0, 16.0])


def test_every_catalogue_model_loads_and_says_where_it_is_from() -> None:
    assert len(model_ids()) >= 100
    for model_id, entry in model_entries().items():
        model = load_model(model_id)
        assert model.id == model_id
        assert entry.source
        assert entry.kind in ("real", "reconstructed")
        assert sum(group.n_layers for group in model.groups) == model.n_layers
        assert sorted(layer for group in model.groups for layer in group.layers) == list(range(model.n_layers))


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("Meta-Llama-3.1-8B", "llama-3.1-8b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("QWEN/qwen3-30b-a3b", "qwen3-30b-a3b"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b"),
    ],
)
def test_usual_spellings(ref: str, expected: str) -> None:
    assert load_model(ref).id == expected


@pytest.mark.parametrize("ref", ["llama-3.1-9b", "\0", "x" * 10_000, "no/such/model"])
def test_unknown_models(ref: str) -> None:
    with pytest.raises(UnknownIdError):
        load_model(ref)


def test_wide_formats_hold_everything() -> None:
    model = load_model("llama-3.2-1b")
    assert weight_bytes(model, "bf16") == 2 * 1_235_814_400
    assert weight_bytes(model, "fp32") == 4 * 1_235_814_400


def test_narrow_formats_leave_tables_norms_and_routers_wide() -> None:
    model = load_model("qwen3-30b-a3b")
    for group in model.groups:
        for tensor in (t for block in group.blocks for t in block.tensors):
            wide = tensor.use == "vector" or tensor.operator == "experts/router"
            assert tensor_bits(model, group, tensor, "int4_g128") == (16.0 if wide else 133 / 32)
    assert {tensor_bits(model, None, t, "int4_g128") for t in model.ends} == {16.0}


def test_mlx_narrows_tables_and_exl2_the_head() -> None:
    model = load_model("llama-3.1-8b")
    tables = [t for t in model.ends if t.use != "vector"]
    assert {tensor_bits(model, None, t, "mlx_4bit_g64") for t in tables} == {4.5}
    assert sorted(tensor_bits(model, None, t, "exl2_4bpw") for t in tables) == [6.0, 16.0]


def test_the_published_format_is_that_of_the_file() -> None:
    model = load_model("gpt-oss-20b")
    assert model.stored_format == "mxfp4"
    assert weight_bytes(model, "mxfp4") == weight_bytes(model, None) < weight_bytes(model, "fp8")


def test_rows_that_do_not_divide_fall_back() -> None:
    model = load_model("qwen2.5-0.5b")
    group = model.groups[0]
    query = next(t for b in group.blocks for t in b.tensors if t.operator == "attention/query" and t.use == "matmul")
    # rows of 896 do not divide by 256: Q4_K becomes Q5_0
    assert tensor_bits(model, group, query, "q4_k_s") == 5.5


@pytest.mark.parametrize(
    ("mix", "operator", "bits"),
    # eight experts: keys and values in Q8_0 (Q4_K below three bits), outputs in Q5_K
    [
        ("q4_k_m", "attention/key_value", 8.5),
        ("q4_k_m", "attention/output", 5.5),
        ("q5_k_m", "attention/output", 5.5),
        ("iq2_xs", "attention/key_value", 4.5),
        ("iq2_xs", "attention/output", 5.5),
        ("q8_0", "experts/gate_up", 8.5),
    ],
)
def test_eight_experts_are_given_more(mix: str, operator: str, bits: float) -> None:
    model = load_model("mixtral-8x7b")
    group = model.groups[0]
    tensors = [t for b in group.blocks for t in b.tensors if t.operator == operator]
    assert {tensor_bits(model, group, t, mix) for t in tensors} == {bits}


def test_values_of_the_large_size_are_raised() -> None:
    model = load_model("llama-3-70b")
    group = model.groups[0]
    value = next(t for b in group.blocks for t in b.tensors if t.gguf == "attn_v")
    assert tensor_bits(model, group, value, "q3_k_s") == 5.5


def test_fused_matrices_have_their_own_rule() -> None:
    model = load_model("phi-3-mini")
    group = model.groups[0]
    fused = next(t for b in group.blocks for t in b.tensors if t.gguf == "attn_qkv")
    assert [tensor_bits(model, group, fused, mix) for mix in ("q4_k_m", "q5_k_m", "q6_k")] == [5.5, 6.5625, 6.5625]


def test_a_model_path(tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
    }
    (tmp_path / "config.json").write_text(json.dumps({**config, "vocab_size": 100}))
    assert load_model(str(tmp_path)).n_layers == 2
    assert load_model(str(tmp_path / "config.json")).vocabulary == 100


def test_cross_attention_keeps_nothing_for_text() -> None:
    cache = model_counts(load_model("llama-3.2-90b-vision")).kv_cache
    # 80 of 100 layers attend to text: 2 * 8 heads of 128 in 16 bit
    assert cache.bytes_per_token == 80 * 2 * 8 * 128 * 2


def test_layers_with_more_bits() -> None:
    # of 32: the first and last four, and every third between
    assert [i for i in range(32) if more_bits(i, 32)] == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]


def test_paged_cache_without_a_pool_per_window() -> None:
    cache = model_counts(load_model("gemma-3-1b"), context=32_760).kv_cache
    # 26 layers, one head of 256, K and V in 16 bit, whole pages of 16
    assert cache.allocated_bytes == 26 * 2 * 256 * 2 * 32_768
    assert cache.bytes < cache.allocated_bytes


def test_cache_format_scales_the_cache_not_below_the_state() -> None:
    model = load_model("qwen3-next-80b-a3b")
    narrow, plain = (model_counts(model, kv_cache=f).kv_cache for f in ("fp8", "bf16"))
    assert narrow.bytes == plain.bytes / 2
    assert narrow.state_bytes == plain.state_bytes
    with pytest.raises(InputError, match="cache"):
        model_counts(model, kv_cache="q4_k_m")


def test_prefill_is_the_sum_of_decodes_for_attention() -> None:
    model = load_model("gemma-2-2b")
    steps = sum(float(sequence_flops(model, n_new=1, n_cached=i)) for i in range(10))
    logits = 9 * 2.0 * 2304 * 256_000
    assert float(sequence_flops(model, n_new=10)) == pytest.approx(steps - logits)


def test_latent_attention_takes_the_cheaper_form() -> None:
    model = load_model("deepseek-v3")
    decode = float(sequence_flops(model, n_new=1, n_cached=4096) - sequence_flops(model, n_new=1, n_cached=4095))
    # one more key in latent space: 2 H (2 r + p) in each of 61 layers
    assert decode == pytest.approx(61 * 2 * 128 * (2 * 512 + 64))


def test_answer_is_plain_tables() -> None:
    answer = count_model(load_model("mixtral-8x7b"), batch=16)
    assert answer["experts"] == {"total": 8, "active": 2, "distinct": pytest.approx(7.9198, abs=1e-4)}
    assert count_model(load_model("llama-3-8b"))["experts"] is None


def test_reading_and_counting_is_quick() -> None:
    load_model("deepseek-v3")
    start = time.perf_counter()
    for _ in range(20):
        model_counts(load_model("deepseek-v3"))
    assert (time.perf_counter() - start) / 20 < 0.015
