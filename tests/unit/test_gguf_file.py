"""GGUF headers: against the gguf package, against configurations, and against hostile bytes."""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.files import load_model_file
from roofline.adapters.gguf_file import model_from_gguf, model_from_gguf_bytes
from roofline.adapters.gguf_header import read_gguf_header
from roofline.adapters.gguf_types import BLOCKS, TENSOR_TYPES
from roofline.catalog.formats import load_format
from roofline.errors import ConfigurationError, InputError, RooflineError
from roofline.performance.counts import cache_counts, parameter_counts, sequence_flops
from roofline.performance.weights import weight_bytes
from roofline.specs.model import ModelSpec

Tensors = dict[str, tuple[tuple[int, ...], Type]]
"""Name to shape, row length first, and type."""

HIDDEN, HEADS, KV_HEADS, WIDTH, VOCABULARY = 256, 4, 2, 512, 320


def write(path: Path, arch: str, keys: dict[str, Any], tensors: Tensors, **general: Any) -> Path:
    """A GGUF file of zeros, as llama.cpp's own package writes it."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(keys.pop("block_count"))
    for key, value in keys.items():
        name = f"{arch}.{key}"
        if isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        else:
            writer.add_uint32(name, value)
    for key, value in general.items():
        writer.add_uint32(key.replace("__", "."), value)
    writer.add_token_list([f"token {i}" for i in range(VOCABULARY)])
    for name, (shape, kind) in tensors.items():
        block, size = gguf.GGML_QUANT_SIZES[kind]
        rows = (*reversed(shape[1:]), shape[0] // block * size)
        writer.add_tensor(name, np.zeros(rows, dtype=np.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def layers(n: int, roles: dict[str, tuple[tuple[int, ...], Type]]) -> Tensors:
    return {f"blk.{i}.{role}": entry for i in range(n) for role, entry in roles.items()}


def ends(kind: Type = Type.F16, *, tied: bool = False) -> Tensors:
    found: Tensors = {"token_embd.weight": ((HIDDEN, VOCABULARY), kind), "output_norm.weight": ((HIDDEN,), Type.F32)}
    return found if tied else {**found, "output.weight": ((HIDDEN, VOCABULARY), kind)}


def attention_roles(kind: Type = Type.F16, size: int = HIDDEN // HEADS) -> Tensors:
    return {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "attn_q.weight": ((HIDDEN, HEADS * size), kind),
        "attn_k.weight": ((HIDDEN, KV_HEADS * size), kind),
        "attn_v.weight": ((HIDDEN, KV_HEADS * size), kind),
        "attn_output.weight": ((HEADS * size, HIDDEN), kind),
        "ffn_norm.weight": ((HIDDEN,), Type.F32),
    }


def dense_roles(kind: Type = Type.F16) -> Tensors:
    return {
        "ffn_gate.weight": ((HIDDEN, WIDTH), kind),
        "ffn_up.weight": ((HIDDEN, WIDTH), kind),
        "ffn_down.weight": ((WIDTH, HIDDEN), kind),
    }


KEYS = {
    "embedding_length": HIDDEN,
    "context_length": 8192,
    "feed_forward_length": WIDTH,
    "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS,
}
CONFIG = {
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "intermediate_size": WIDTH,
    "vocab_size": VOCABULARY,
    "tie_word_embeddings": False,
    "max_position_embeddings": 8192,
}


def plain(path: Path, n: int = 4, kind: Type = Type.F16, **changes: Any) -> Path:
    tensors = ends(kind) | layers(n, attention_roles(kind) | dense_roles(kind))
    return write(path, "llama", KEYS | {"block_count": n} | changes, tensors)


def assert_same_model(found: ModelSpec, expected: ModelSpec) -> None:
    """The same counts by part, cache and FLOPs, from two kinds of file."""
    assert parameter_counts(found) == parameter_counts(expected)
    assert found.trained_context == expected.trained_context
    for context in (1, 1000, 100_000):
        assert cache_counts(found, kv_cache="bf16", context_tokens=context) == cache_counts(
            expected, kv_cache="bf16", context_tokens=context
        )
        assert sequence_flops(found, n_new=512, n_cached=context) == sequence_flops(expected, n_new=512, n_cached=context)
    operators = {(t.operator, t.part, t.split, t.use) for t in _all(found) if t.use == "matmul"}
    assert operators == {(t.operator, t.part, t.split, t.use) for t in _all(expected) if t.use == "matmul"}
    assert [g.parallel for g in found.groups] == [g.parallel for g in expected.groups]


def _all(model: ModelSpec) -> Iterable[Any]:
    yield from model.ends
    for group in model.groups:
        for block in group.blocks:
            yield from block.tensors


def test_types_and_blocks_are_those_of_the_gguf_package() -> None:
    known = {kind.value: kind for kind in Type}
    for number, name in TENSOR_TYPES.items():
        assert load_format(name).bits_per_weight == pytest.approx(8 * BLOCKS[name][1] / BLOCKS[name][0], rel=1e-12)
        if number in known:
            assert BLOCKS[name] == tuple(gguf.GGML_QUANT_SIZES[known[number]])
    # whole numbers and doubles hold no weights
    assert {kind.name for number, kind in known.items() if number not in TENSOR_TYPES} == {"I8", "I16", "I32", "I64", "F64"}


@pytest.mark.parametrize("kind", [Type.F32, Type.BF16, Type.Q8_0, Type.Q4_K, Type.Q6_K, Type.IQ4_XS, Type.IQ1_M, Type.MXFP4])
def test_table_and_bytes_agree_with_the_gguf_package(tmp_path: Path, kind: Type) -> None:
    path = plain(tmp_path / "model.gguf", kind=kind)
    reader = gguf.GGUFReader(path)
    with path.open("rb") as stream:
        header = read_gguf_header(stream, "model")
    assert {t.name: (t.shape, t.n_bytes) for t in header.tensors} == {
        t.name: (tuple(map(int, t.shape)), int(t.n_bytes)) for t in reader.tensors
    }
    model = model_from_gguf(path)
    total = sum(int(t.n_bytes) for t in reader.tensors)
    assert model.stored_bytes == total
    assert weight_bytes(model, None) == pytest.approx(total, rel=1e-12)
    assert parameter_counts(model).total == sum(int(t.n_elements) for t in reader.tensors)


def test_plain_decoder_counts_as_its_configuration(tmp_path: Path) -> None:
    found = model_from_gguf(plain(tmp_path / "tiny.gguf"))
    assert (found.id, found.architecture, found.tied_embeddings, found.stored_format) == ("tiny", "llama", False, "fp16")
    assert [g.n_layers for g in found.groups] == [4]
    assert_same_model(found, model_from_configuration({**CONFIG, "num_hidden_layers": 4}))


def test_layers_of_different_types_are_groups_of_their_own(tmp_path: Path) -> None:
    tensors = ends() | layers(6, attention_roles(Type.Q4_K) | dense_roles(Type.Q4_K))
    for i in (0, 5):
        tensors[f"blk.{i}.ffn_down.weight"] = ((WIDTH, HIDDEN), Type.Q6_K)
    model = model_from_gguf(write(tmp_path / "m.gguf", "llama", KEYS | {"block_count": 6}, tensors, general__file_type=15))
    assert [g.layers for g in model.groups] == [(0, 5), (1, 2, 3, 4)]
    assert model.stored_format == "q4_k_m"
    assert weight_bytes(model, None) == weight_bytes(model, "q4_k_m") == model.stored_bytes
    pure = plain(tmp_path / "pure.gguf", kind=Type.Q8_0)
    assert model_from_gguf(pure).stored_format == "q8_0"


def test_tied_head_and_factors_outside_the_layers(tmp_path: Path) -> None:
    tensors = ends(tied=True) | {"rope_freqs.weight": ((32,), Type.F32)} | layers(2, attention_roles() | dense_roles())
    model = model_from_gguf(write(tmp_path / "m.gguf", "llama", KEYS | {"block_count": 2}, tensors))
    config = model_from_configuration({**CONFIG, "num_hidden_layers": 2, "tie_word_embeddings": True})
    assert model.tied_embeddings
    assert parameter_counts(model).other == 32
    assert parameter_counts(model).embedding == parameter_counts(config).embedding
    assert sequence_flops(model, n_new=1, n_cached=9) == sequence_flops(config, n_new=1, n_cached=9)


def test_fused_matrices_are_taken_apart(tmp_path: Path) -> None:
    roles = {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "attn_qkv.weight": ((HIDDEN, HIDDEN + 2 * KV_HEADS * HIDDEN // HEADS), Type.F16),
        "attn_output.weight": ((HIDDEN, HIDDEN), Type.F16),
        "ffn_norm.weight": ((HIDDEN,), Type.F32),
        "ffn_up.weight": ((HIDDEN, 2 * WIDTH), Type.F16),
        "ffn_down.weight": ((WIDTH, HIDDEN), Type.F16),
    }
    keys = KEYS | {"block_count": 3, "attention.sliding_window": 0}
    model = model_from_gguf(write(tmp_path / "m.gguf", "phi3", keys, ends() | layers(3, roles)))
    assert_same_model(model, model_from_configuration({**CONFIG, "num_hidden_layers": 3}))


def test_one_norm_means_side_by_side(tmp_path: Path) -> None:
    roles = attention_roles() | dense_roles()
    del roles["ffn_norm.weight"]
    model = model_from_gguf(
        write(tmp_path / "m.gguf", "command-r", KEYS | {"block_count": 2}, ends(tied=True) | layers(2, roles))
    )
    assert [g.parallel for g in model.groups] == [True]
    pair = KEYS | {"block_count": 2, "use_parallel_residual": True}
    both = write(tmp_path / "n.gguf", "gptneox", pair, ends() | layers(2, attention_roles() | dense_roles()))
    assert model_from_gguf(both).groups[0].parallel


@pytest.mark.parametrize(
    ("arch", "keys", "expected"),
    [
        ("gemma3", {"attention.sliding_window": 512}, "sssssfss"),
        ("gemma2", {}, "sfsfsfsf"),
        ("gpt-oss", {"attention.sliding_window": 128}, "sfsfsfsf"),
        ("smallthinker", {"attention.sliding_window": 512}, "fsssfsss"),
        ("phi3", {"attention.sliding_window": 2047}, "ssssssss"),
        ("llama4", {}, "cccfcccf"),
        ("llama4", {"attention.sliding_window": 0}, "ffffffff"),
        ("exaone4", {}, "ffffffff"),
        ("llama", {"attention.sliding_window": 64, "attention.sliding_window_pattern": 4}, "sssfsssf"),
        ("llama", {"attention.sliding_window": 64, "attention.sliding_window_pattern": [True] * 3 + [False] * 5}, "sssfffff"),
    ],
)
def test_windows_by_key_list_and_architecture(tmp_path: Path, arch: str, keys: dict[str, Any], expected: str) -> None:
    tensors = ends() | layers(8, attention_roles() | dense_roles())
    model = model_from_gguf(write(tmp_path / "m.gguf", arch, KEYS | {"block_count": 8} | keys, tensors))
    kinds = [""] * 8
    for group in model.groups:
        for i in group.layers:
            kinds[i] = group.blocks[0].attends[0].kind[0]
    assert "".join(kinds) == expected


def test_windowed_layers_may_have_heads_of_another_size(tmp_path: Path) -> None:
    tensors = ends()
    for i in range(6):
        roles = attention_roles(size=64 if i < 5 else 128) | dense_roles()
        tensors |= {f"blk.{i}.{role}": entry for role, entry in roles.items()}
    keys = KEYS | {
        "block_count": 6,
        "attention.sliding_window": 512,
        "attention.sliding_window_pattern": [True] * 5 + [False],
        "attention.key_length": 128,
        "attention.value_length": 128,
        "attention.key_length_swa": 64,
        "attention.value_length_swa": 64,
        "attention.shared_kv_layers": 2,
    }
    model = model_from_gguf(write(tmp_path / "m.gguf", "gemma4", keys, tensors))
    sizes = {i: g.blocks[0].attends[0] for g in model.groups for i in g.layers}
    assert [sizes[i].key_size for i in range(6)] == [64] * 5 + [128]
    assert [sizes[i].cache_elements > 0 for i in range(6)] == [True] * 4 + [False] * 2


def expert_roles(n: int, width: int, kind: Type = Type.F16) -> Tensors:
    return {
        "ffn_gate_inp.weight": ((HIDDEN, n), Type.F32),
        "ffn_gate_exps.weight": ((HIDDEN, width, n), kind),
        "ffn_up_exps.weight": ((HIDDEN, width, n), kind),
        "ffn_down_exps.weight": ((width, HIDDEN, n), kind),
    }


def test_experts_count_as_their_configuration(tmp_path: Path) -> None:
    keys = KEYS | {"block_count": 3, "expert_count": 8, "expert_used_count": 2}
    config = model_from_configuration(
        {**CONFIG, "model_type": "mixtral", "num_hidden_layers": 3, "num_local_experts": 8, "num_experts_per_tok": 2}
    )
    stacked = ends() | layers(3, attention_roles() | expert_roles(8, WIDTH))
    assert_same_model(model_from_gguf(write(tmp_path / "m.gguf", "llama", dict(keys), stacked)), config)
    single = ends() | layers(3, attention_roles() | {"ffn_gate_inp.weight": ((HIDDEN, 8), Type.F32)})
    for i in range(3):
        for e in range(8):
            single[f"blk.{i}.ffn_gate.{e}.weight"] = single[f"blk.{i}.ffn_up.{e}.weight"] = ((HIDDEN, WIDTH), Type.F16)
            single[f"blk.{i}.ffn_down.{e}.weight"] = ((WIDTH, HIDDEN), Type.F16)
    assert_same_model(model_from_gguf(write(tmp_path / "n.gguf", "llama", dict(keys), single)), config)


LATENT = {"kv_lora_rank": 64, "q_lora_rank": 96, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32}


def latent_roles(*, split: bool) -> Tensors:
    up = (
        {"attn_k_b.weight": ((32, 64, HEADS), Type.F16), "attn_v_b.weight": ((64, 32, HEADS), Type.F16)}
        if split
        else {"attn_kv_b.weight": ((64, HEADS * 64), Type.F16)}
    )
    return up | {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "attn_q_a.weight": ((HIDDEN, 96), Type.F16),
        "attn_q_a_norm.weight": ((96,), Type.F32),
        "attn_q_b.weight": ((96, HEADS * 48), Type.F16),
        "attn_kv_a_mqa.weight": ((HIDDEN, 80), Type.F16),
        "attn_kv_a_norm.weight": ((64,), Type.F32),
        "attn_output.weight": ((HEADS * 32, HIDDEN), Type.F16),
        "ffn_norm.weight": ((HIDDEN,), Type.F32),
    }


@pytest.mark.parametrize("split", [True, False])
def test_latent_attention_with_shared_experts_counts_as_its_configuration(tmp_path: Path, split: bool) -> None:
    shared = {
        "ffn_gate_shexp.weight": ((HIDDEN, 128), Type.F16),
        "ffn_up_shexp.weight": ((HIDDEN, 128), Type.F16),
        "ffn_down_shexp.weight": ((128, HIDDEN), Type.F16),
    }
    tensors = ends() | {f"blk.0.{r}": e for r, e in (latent_roles(split=split) | dense_roles()).items()}
    for i in (1, 2):
        tensors |= {f"blk.{i}.{r}": e for r, e in (latent_roles(split=split) | expert_roles(16, 128) | shared).items()}
    keys = KEYS | {
        "block_count": 3,
        "attention.kv_lora_rank": 64,
        "attention.q_lora_rank": 96,
        "rope.dimension_count": 16,
        "leading_dense_block_count": 1,
        "expert_count": 16,
        "expert_used_count": 4,
        "expert_shared_count": 1,
        "expert_feed_forward_length": 128,
        "expert_gating_func": 2,
    }
    new = {"attention.key_length_mla": 48, "attention.value_length_mla": 32, "attention.key_length": 80}
    keys |= new if split else {"attention.key_length": 48, "attention.value_length": 32}
    config = {
        "model_type": "deepseek_v3",
        "num_hidden_layers": 3,
        "first_k_dense_replace": 1,
        "n_routed_experts": 16,
        "num_experts_per_tok": 4,
        "n_shared_experts": 1,
        "moe_intermediate_size": 128,
        "num_nextn_predict_layers": 0,
        "n_group": 1,
        "topk_group": 1,
    }
    found = model_from_gguf(write(tmp_path / "m.gguf", "deepseek2", keys, tensors))
    assert_same_model(found, model_from_configuration(CONFIG | LATENT | config))


def test_mamba2_counts_as_its_configuration(tmp_path: Path) -> None:
    width, state, heads = 512, 32, 8
    roles = {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "ssm_in.weight": ((HIDDEN, 2 * width + 2 * state + heads), Type.F16),
        "ssm_conv1d.weight": ((4, width + 2 * state), Type.F32),
        "ssm_conv1d.bias": ((width + 2 * state,), Type.F32),
        "ssm_dt.bias": ((heads,), Type.F32),
        "ssm_a": ((1, heads), Type.F32),
        "ssm_d": ((1, heads), Type.F32),
        "ssm_norm.weight": ((width, 1), Type.F32),
        "ssm_out.weight": ((width, HIDDEN), Type.F16),
    }
    keys = {
        "block_count": 3,
        "embedding_length": HIDDEN,
        "context_length": 8192,
        "ssm.inner_size": width,
        "ssm.state_size": state,
        "ssm.time_step_rank": heads,
        "ssm.group_count": 1,
        "ssm.conv_kernel": 4,
        "attention.head_count": 0,
    }
    found = model_from_gguf(write(tmp_path / "m.gguf", "mamba2", keys, ends() | layers(3, roles)))
    expected = model_from_configuration(
        {
            "model_type": "mamba2",
            "hidden_size": HIDDEN,
            "num_hidden_layers": 3,
            "vocab_size": VOCABULARY,
            "state_size": state,
            "num_heads": heads,
            "head_dim": 64,
            "n_groups": 1,
            "conv_kernel": 4,
            "expand": 2,
            "tie_word_embeddings": False,
        }
    )
    assert parameter_counts(found) == parameter_counts(expected)
    assert cache_counts(found, kv_cache="bf16", context_tokens=9) == cache_counts(expected, kv_cache="bf16", context_tokens=9)
    assert sequence_flops(found, n_new=512) == sequence_flops(expected, n_new=512)


def delta_roles() -> Tensors:
    """Two key heads of 32, four value heads of 64."""
    return {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "attn_qkv.weight": ((HIDDEN, 384), Type.F16),
        "attn_gate.weight": ((HIDDEN, 256), Type.F16),
        "ssm_conv1d.weight": ((4, 384), Type.F32),
        "ssm_ba.weight": ((HIDDEN, 8), Type.F16),
        "ssm_a": ((4,), Type.F32),
        "ssm_dt.bias": ((4,), Type.F32),
        "ssm_norm.weight": ((64,), Type.F32),
        "ssm_out.weight": ((256, HIDDEN), Type.F16),
        "post_attention_norm.weight": ((HIDDEN,), Type.F32),
    }


DELTA_KEYS = {"ssm.state_size": 32, "ssm.group_count": 2, "ssm.time_step_rank": 4, "ssm.inner_size": 256, "ssm.conv_kernel": 4}


def test_delta_net_hybrid_counts_as_its_configuration(tmp_path: Path) -> None:
    full = attention_roles() | {
        "attn_q.weight": ((HIDDEN, 2 * HIDDEN), Type.F16),
        "attn_q_norm.weight": ((64,), Type.F32),
        "attn_k_norm.weight": ((64,), Type.F32),
        "post_attention_norm.weight": ((HIDDEN,), Type.F32),
    }
    del full["ffn_norm.weight"]
    tensors = ends()
    for i in range(4):
        roles = (full if i == 3 else delta_roles()) | dense_roles()
        tensors |= {f"blk.{i}.{role}": entry for role, entry in roles.items()}
    keys = KEYS | DELTA_KEYS | {"block_count": 4, "full_attention_interval": 4}
    found = model_from_gguf(write(tmp_path / "m.gguf", "qwen3next", keys, tensors))
    config = {
        "model_type": "qwen3_next",
        "num_hidden_layers": 4,
        "full_attention_interval": 4,
        "head_dim": 64,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 64,
        "linear_conv_kernel_dim": 4,
        "num_experts": 0,
        "mlp_only_layers": [0, 1, 2, 3],
    }
    assert_same_model(found, model_from_configuration(CONFIG | config))


def test_mamba_counts_as_its_configuration(tmp_path: Path) -> None:
    width, state, rank = 512, 16, 16
    roles = {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "ssm_in.weight": ((HIDDEN, 2 * width), Type.F16),
        "ssm_conv1d.weight": ((4, width), Type.F32),
        "ssm_conv1d.bias": ((width,), Type.F32),
        "ssm_x.weight": ((width, rank + 2 * state), Type.F16),
        "ssm_dt.weight": ((rank, width), Type.F16),
        "ssm_dt.bias": ((width,), Type.F32),
        "ssm_a": ((state, width), Type.F32),
        "ssm_d": ((width,), Type.F32),
        "ssm_out.weight": ((width, HIDDEN), Type.F16),
    }
    keys = {"block_count": 2, "embedding_length": HIDDEN, "ssm.inner_size": width, "ssm.state_size": state}
    keys |= {"ssm.time_step_rank": rank, "ssm.conv_kernel": 4}
    found = model_from_gguf(write(tmp_path / "m.gguf", "mamba", keys, ends(tied=True) | layers(2, roles)))
    config = {"model_type": "mamba", "hidden_size": HIDDEN, "num_hidden_layers": 2, "vocab_size": VOCABULARY}
    config |= {"state_size": state, "time_step_rank": rank, "conv_kernel": 4, "expand": 2, "tie_word_embeddings": True}
    expected = model_from_configuration(config)
    assert parameter_counts(found) == parameter_counts(expected)
    assert cache_counts(found, kv_cache="bf16", context_tokens=9) == cache_counts(expected, kv_cache="bf16", context_tokens=9)
    assert sequence_flops(found, n_new=512) == sequence_flops(expected, n_new=512)


def test_kimi_delta_attention_counts_as_its_configuration(tmp_path: Path) -> None:
    wide, size = HEADS * 64, 64
    roles = {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        **{f"attn_{x}.weight": ((HIDDEN, wide), Type.F16) for x in "qkv"},
        **{f"ssm_conv1d_{x}.weight": ((4, 1, wide, 1), Type.F32) for x in "qkv"},
        **{f"ssm_{x}_a.weight": ((HIDDEN, size), Type.F16) for x in "fg"},
        **{f"ssm_{x}_b.weight": ((size, wide), Type.F16) for x in "fg"},
        "ssm_beta.weight": ((HIDDEN, HEADS), Type.F16),
        "ssm_a": ((1, HEADS), Type.F32),
        "ssm_dt.bias": ((wide,), Type.F32),
        "ssm_norm.weight": ((size,), Type.F32),
        "attn_output.weight": ((wide, HIDDEN), Type.F16),
        "ffn_norm.weight": ((HIDDEN,), Type.F32),
    }
    tensors = ends() | {f"blk.0.{r}": e for r, e in (roles | dense_roles()).items()}
    latent = {r: e for r, e in latent_roles(split=False).items() if "_q_" not in r}
    latent |= {"attn_q.weight": ((HIDDEN, HEADS * 48), Type.F16)} | dense_roles()
    tensors |= {f"blk.1.{r}": e for r, e in latent.items()}
    keys = KEYS | {"block_count": 2, "kda.head_dim": size, "ssm.conv_kernel": 4, "attention.head_count_kv": [0, 1]}
    keys |= {"attention.kv_lora_rank": 64, "rope.dimension_count": 16}
    keys |= {"attention.key_length_mla": 48, "attention.value_length_mla": 32}
    found = model_from_gguf(write(tmp_path / "m.gguf", "kimi-linear", keys, tensors))
    config = {
        "model_type": "kimi_linear",
        "num_hidden_layers": 2,
        "linear_attn_config": {
            "full_attn_layers": [2],
            "kda_layers": [1],
            "num_heads": HEADS,
            "head_dim": size,
            "short_conv_kernel_size": 4,
        },
        "num_experts": None,
        "first_k_dense_replace": 2,
        "num_nextn_predict_layers": 0,
        "mla_use_nope": True,
    }
    assert_same_model(found, model_from_configuration(CONFIG | LATENT | config | {"q_lora_rank": None}))


def test_an_indexer_makes_latent_attention_sparse(tmp_path: Path) -> None:
    index = {
        "indexer.attn_q_b.weight": ((96, 2 * 32), Type.F16),
        "indexer.attn_k.weight": ((HIDDEN, 32), Type.F16),
        "indexer.proj.weight": ((HIDDEN, 2), Type.F16),
        "indexer.k_norm.weight": ((32,), Type.F32),
        "indexer.k_norm.bias": ((32,), Type.F32),
    }
    tensors = ends() | layers(2, latent_roles(split=True) | dense_roles() | index)
    keys = KEYS | {"block_count": 2, "attention.kv_lora_rank": 64, "rope.dimension_count": 16}
    keys |= {"attention.key_length_mla": 48, "attention.value_length_mla": 32}
    sizes = {"attention.indexer.head_count": 2, "attention.indexer.key_length": 32}
    top = {"attention.indexer.top_k": 512}
    model = model_from_gguf(write(tmp_path / "m.gguf", "glm-dsa", keys | sizes | top, tensors))
    assert [(a.kind, a.top_k) for a in model.groups[0].blocks[0].attends] == [("sparse", 512), ("index", None)]
    with pytest.raises(ConfigurationError, match="top_k"):
        model_from_gguf(write(tmp_path / "n.gguf", "glm-dsa", keys | sizes, tensors))


def test_biases_scales_and_second_copies_are_stored_but_not_multiplied(tmp_path: Path) -> None:
    extra = {
        "attn_q.bias": ((HIDDEN,), Type.F32),
        "attn_sinks.weight": ((HEADS,), Type.F32),
        "ffn_gate_inp.bias": ((8,), Type.F32),
        "exp_probs_b.bias": ((8,), Type.F32),
        "ffn_up_exps.bias": ((64, 8), Type.F32),
        "ffn_up_exps.scale": ((8,), Type.F32),
        "ffn_gate_inp_shexp.weight": ((HIDDEN,), Type.F32),
        "ffn_up_shexp.weight": ((HIDDEN, 64), Type.F16),
        "ffn_down_shexp.weight": ((64, HIDDEN), Type.F16),
    }
    roles = attention_roles() | expert_roles(8, 64, Type.NVFP4) | extra
    keys = KEYS | {"block_count": 2, "expert_count": 8, "expert_used_count": 2}
    path = write(tmp_path / "m.gguf", "gpt-oss", keys, ends() | layers(2, roles) | {"v.patch_embd.weight": ((8, 8), Type.F16)})
    model = model_from_gguf(path)
    biases = parameter_counts(model).router - 2 * 8 * HIDDEN
    assert biases == 2 * 16
    assert parameter_counts(model).routed_experts == 2 * 8 * (3 * 64 * HIDDEN + 64)
    assert parameter_counts(model).vision_audio == 64
    # the scales in 32 bit of NVFP4 are part of the format: one per expert's matrix, stored here for one of three
    assert weight_bytes(model, None) - (model.stored_bytes or 0) == 4 * 2 * 8 * 3 - 4 * 2 * 8


def test_latent_matrices_stored_in_both_forms_are_multiplied_once(tmp_path: Path) -> None:
    keys = KEYS | {"block_count": 1, "attention.kv_lora_rank": 64, "rope.dimension_count": 16}
    keys |= {"attention.key_length": 48, "attention.value_length": 32}
    once = ends() | layers(1, latent_roles(split=False) | dense_roles())
    twice = once | layers(1, latent_roles(split=True))
    one = model_from_gguf(write(tmp_path / "m.gguf", "deepseek2", dict(keys), once))
    two = model_from_gguf(write(tmp_path / "n.gguf", "deepseek2", dict(keys), twice))
    assert sequence_flops(one, n_new=1) == sequence_flops(two, n_new=1)
    assert parameter_counts(two).total - parameter_counts(one).total == 64 * HEADS * 64


def test_short_convolutions_and_lists_per_layer(tmp_path: Path) -> None:
    short = {
        "attn_norm.weight": ((HIDDEN,), Type.F32),
        "shortconv.in_proj.weight": ((HIDDEN, 3 * HIDDEN), Type.F16),
        "shortconv.conv.weight": ((3, HIDDEN), Type.F32),
        "shortconv.out_proj.weight": ((HIDDEN, HIDDEN), Type.F16),
        "ffn_norm.weight": ((HIDDEN,), Type.F32),
    }
    tensors = ends() | {f"blk.0.{r}": e for r, e in (short | dense_roles()).items()}
    tensors |= {f"blk.1.{r}": e for r, e in (attention_roles() | dense_roles()).items()}
    keys = KEYS | {"block_count": 2, "shortconv.l_cache": 3, "attention.head_count_kv": [0, KV_HEADS]}
    model = model_from_gguf(write(tmp_path / "m.gguf", "lfm2", keys, tensors))
    assert [b.kind for g in model.groups for b in g.blocks if b.attends or b.recurrences] == [
        "short convolution",
        "grouped-query attention",
    ]


def test_draft_layers_are_in_no_total_but_in_the_size(tmp_path: Path) -> None:
    tensors = ends() | layers(3, attention_roles() | dense_roles())
    tensors["blk.2.nextn.eh_proj.weight"] = ((2 * HIDDEN, HIDDEN), Type.F16)
    keys = KEYS | {"block_count": 3, "nextn_predict_layers": 1}
    model = model_from_gguf(write(tmp_path / "m.gguf", "glm4", keys, tensors))
    config = model_from_configuration({**CONFIG, "num_hidden_layers": 2})
    assert model.n_layers == 2
    assert parameter_counts(model).total == parameter_counts(config).total
    layer = sum(t.n_parameters for b in model.groups[0].blocks for t in b.tensors)
    assert model.draft_parameters == layer + 2 * HIDDEN * HIDDEN
    assert model.stored_bytes is not None
    assert model.stored_bytes > weight_bytes(model, None)


def test_shards_are_read_together_and_a_missing_one_is_named(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "big.gguf", "llama", split_max_tensors=8)
    writer.add_block_count(4)
    for key, value in KEYS.items():
        writer.add_uint32(f"llama.{key}", value)
    tensors = ends() | layers(4, attention_roles() | dense_roles())
    for name, (shape, kind) in tensors.items():
        dtype = np.float32 if kind == Type.F32 else np.float16
        writer.add_tensor(name, np.zeros(tuple(reversed(shape)), dtype=dtype))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    shards = sorted(tmp_path.glob("big-*.gguf"))
    assert len(shards) > 2
    whole = model_from_gguf(plain(tmp_path / "one.gguf"))
    for given_shard in (shards[0], shards[-1]):
        assert model_from_gguf(given_shard).groups == whole.groups
    assert load_model_file(shards[0]).id == "big"
    with pytest.raises(InputError, match="one of"):
        model_from_gguf_bytes(shards[0].read_bytes(), shards[0].name)
    shards[1].unlink()
    with pytest.raises(InputError, match=shards[1].name):
        model_from_gguf(shards[0])


def test_the_beginning_of_a_file_is_enough(tmp_path: Path) -> None:
    path = plain(tmp_path / "model.gguf")
    data = path.read_bytes()
    header = read_gguf_header(io.BytesIO(data), "model")
    model = model_from_gguf_bytes(data[: header.n_read_bytes], "model.gguf")
    assert model.groups == model_from_gguf(path).groups
    with pytest.raises(InputError, match="inside its table of tensors"):
        model_from_gguf_bytes(data[: header.n_read_bytes - 1], "model.gguf")
    with pytest.raises(InputError, match="inside its metadata"):
        model_from_gguf_bytes(data[:100], "model.gguf")


def test_big_endian_files_are_read(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama", endianess=gguf.GGUFEndian.BIG)
    writer.add_block_count(7)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with (tmp_path / "m.gguf").open("rb") as stream:
        assert read_gguf_header(stream, "m").metadata["llama.block_count"] == 7


REFUSALS: list[tuple[str, dict[str, Any], Tensors, str]] = [
    ("rwkv6", {}, {"blk.0.time_mix_w1.weight": ((HIDDEN, 32), Type.F16)}, "time_mix_w1"),
    ("bert", {}, {}, "no decoder"),
    ("llama", {"attention.causal": False}, {}, "no decoder"),
    ("llama", {"attention.sliding_window": 64}, {}, "which layers have it"),
    ("llama", {"attention.head_count": 8}, {}, r"attn_q.* 8 heads|attn_k"),
    ("llama", {"attention.head_count_kv": 3}, {}, "multiple"),
    ("llama", {"attention.compress_ratios": [4, 4]}, {}, "compress_ratios"),
    ("llama", {"num_loops": 2}, {}, "num_loops"),
    ("llama", {"block_count": 1}, {}, "beyond"),
    ("llama", {"block_count": 3}, {}, "no tensors of layer 2"),
    ("llama", {"embedding_length": 512}, {}, "512"),
    ("llama", {}, {"mystery.weight": ((HIDDEN,), Type.F32)}, "mystery"),
    ("llama", {}, {"blk.1.ffn_gate_inp.weight": ((HIDDEN, 4), Type.F32)}, "expert_count"),
    ("llama", {}, {"blk.1.ssm_a": ((HIDDEN,), Type.F32)}, "no known kind"),
    ("llama", {}, {"blk.1.indexer.attn_k.weight": ((HIDDEN, 32), Type.F16)}, "indexer"),
    ("llama", {}, {"blk.1.ffn_up.weight": ((HIDDEN, 96), Type.F16)}, "ffn_up"),
    ("llama", {}, {"blk.1.ffn_up.weight": ((HIDDEN, 96, 2), Type.F16)}, "shape"),
    ("llama", {}, {"output.weight": ((HIDDEN, 2, 2, 2), Type.F16)}, "shape"),
    ("llama", {}, {"token_embd.weight": ((2, VOCABULARY), Type.F16)}, "token_embd"),
    ("llama", {}, {"blk.1.attn_kv_a_mqa.weight": ((HIDDEN, 80), Type.F16)}, "kv_lora_rank"),
    ("llama", {"attention.shared_kv_layers": 2}, {}, "below the 2 layers"),
    ("llama", {"attention.head_count": [4]}, {}, "layer 1 has none"),
    ("llama", {"embedding_length": [1, 2]}, {}, "one number"),
    ("llama", {"attention.head_count": True}, {}, "key-value heads"),
    ("llama", {"attention.head_count": 2**31}, {}, "must lie between"),
    ("llama", {"attention.head_count": 300}, {}, "multiple|fit"),
    ("llama", {"expert_count": 4, "expert_used_count": 5}, {"blk.1.ffn_gate_inp.weight": ((HIDDEN, 4), Type.F32)}, "visit"),
    ("llama", {"expert_count": 3, "expert_used_count": 1}, layers(2, expert_roles(4, 64)), "4 experts"),
    ("llama", {"block_count": 3}, {"blk.2.attn_norm.weight": ((HIDDEN,), Type.F32)}, "neither a mixer"),
    ("llama", {"block_count": 3}, {"blk.2.attn_gate.weight": ((HIDDEN, 64), Type.F16)}, "no queries"),
    ("llama", {"block_count": 3}, {"blk.2.attn_k.weight": ((HIDDEN, 64), Type.F16)}, "no queries"),
    ("llama", {"block_count": 3}, {"blk.2.attn_q.weight": ((HIDDEN, HIDDEN), Type.F16)}, "no tensor 'attn_k'"),
    ("llama", {"block_count": 3}, {"blk.2.ffn_up.weight": ((HIDDEN, HIDDEN), Type.F16)}, "no tensor 'ffn_down'"),
    (
        "llama",
        {"block_count": 3},
        {"blk.2.ffn_up.0.weight": ((HIDDEN, 64), Type.F16), "blk.2.ffn_up.1.weight": ((HIDDEN, 64), Type.Q8_0)},
        "differ in shape or type",
    ),
    (
        "deepseek2",
        {"attention.kv_lora_rank": 64, "rope.dimension_count": 16, "attention.key_length": 16, "attention.value_length": 8},
        layers(1, latent_roles(split=False)),
        "rotary part",
    ),
    ("llama", DELTA_KEYS | {"ssm.time_step_rank": 5}, {f"blk.0.{r}": e for r, e in delta_roles().items()}, "multiple of the 5"),
    ("deepseek2", {"attention.kv_lora_rank": 60}, layers(1, latent_roles(split=True)), "no rows of 60"),
    ("stablelm", {"block_count": 2**20}, {}, "between"),
]


@pytest.mark.parametrize(("arch", "keys", "extra", "message"), REFUSALS)
def test_what_is_not_understood_is_refused_by_name(
    tmp_path: Path, arch: str, keys: dict[str, Any], extra: Tensors, message: str
) -> None:
    tensors = ends() | layers(2, attention_roles() | dense_roles()) | extra
    path = write(tmp_path / "m.gguf", arch, KEYS | {"block_count": 2} | keys, tensors)
    with pytest.raises(ConfigurationError, match=message):
        model_from_gguf(path)


def rows_of(tensors: Tensors) -> bytes:
    return b"".join(
        text(name.encode()) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind.value, 0)
        for name, (shape, kind) in tensors.items()
    )


def test_shards_of_different_models_are_refused(tmp_path: Path) -> None:
    tensors = ends() | layers(1, attention_roles() | dense_roles())
    parts = [text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")]
    parts += [text(f"llama.{k}".encode()) + struct.pack("<II", 4, v) for k, v in (KEYS | {"block_count": 1}).items()]
    parts.append(text(b"split.tensors.count") + struct.pack("<II", 4, len(tensors) + 5))
    first, second = (tmp_path / f"m-{i:05d}-of-00002.gguf" for i in (1, 2))
    first.write_bytes(header_bytes(len(tensors), len(parts), b"".join(parts) + rows_of(tensors)))
    second.write_bytes(header_bytes(len(tensors), 0, rows_of(tensors)))
    with pytest.raises(ConfigurationError, match="same name"):
        model_from_gguf(first)
    second.write_bytes(header_bytes(0, 0))
    with pytest.raises(ConfigurationError, match="announces"):
        model_from_gguf(first)
    with pytest.raises(InputError, match="up to 1,000"):
        model_from_gguf(tmp_path / "m-00001-of-02000.gguf")


def test_numbers_of_other_types(tmp_path: Path) -> None:
    def read(kind: int, value: bytes, *, table: bool = True) -> ModelSpec:
        numbers = {k: v for k, v in (KEYS | {"block_count": 1}).items() if k != "attention.head_count"}
        parts = [text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")]
        parts += [text(f"llama.{k}".encode()) + struct.pack("<II", 4, v) for k, v in numbers.items()]
        parts.append(text(b"llama.attention.head_count") + struct.pack("<I", kind) + value)
        parts.append(text(b"tokenizer.chat_template") + struct.pack("<I", 8) + text(b"x" * 100_000))
        parts.append(text(b"tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 30_000) + bytes(120_000))
        tensors = ends() | layers(1, attention_roles() | dense_roles())
        if not table:
            del tensors["token_embd.weight"]
        data = header_bytes(len(tensors), len(parts), b"".join(parts) + rows_of(tensors))
        return model_from_gguf_bytes(data, "m.gguf")

    assert read(12, struct.pack("<d", HEADS)).groups == read(10, struct.pack("<Q", HEADS)).groups
    for kind, value in ((6, struct.pack("<f", 1.5)), (6, struct.pack("<f", float("nan"))), (8, text(b"four"))):
        with pytest.raises(ConfigurationError, match="whole number"):
            read(kind, value)
    with pytest.raises(ConfigurationError, match="token_embd"):
        read(4, struct.pack("<I", HEADS), table=False)


def test_a_layer_may_mix_by_one_matrix_or_pass_tokens_on(tmp_path: Path) -> None:
    tensors = ends() | layers(3, dense_roles()) | {"blk.0.attn_output.weight": ((HIDDEN, HIDDEN), Type.F16)}
    tensors |= {f"blk.2.{r}": e for r, e in attention_roles().items()}
    keys = KEYS | {"block_count": 3, "attention.head_count": [0, 0, HEADS], "attention.head_count_kv": [0, 0, KV_HEADS]}
    model = model_from_gguf(write(tmp_path / "m.gguf", "deci", keys, tensors))
    assert [g.blocks[0].kind for g in model.groups] == ["matrix", "gated feed-forward", "grouped-query attention"]


def test_unknown_architecture_is_read_from_its_tensors_and_told(tmp_path: Path) -> None:
    tensors = ends() | layers(2, attention_roles() | dense_roles())
    model = model_from_gguf(write(tmp_path / "m.gguf", "brandnew", KEYS | {"block_count": 2}, tensors))
    assert any("brandnew" in sentence for sentence in model.assumptions)


def test_absent_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        model_from_gguf(tmp_path / "absent.gguf")


def header_bytes(n_tensors: int, n_keys: int, rest: bytes = b"", version: int = 3, magic: bytes = b"GGUF") -> bytes:
    return magic + struct.pack("<IQQ", version, n_tensors, n_keys) + rest


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "not GGUF": b"PK\x03\x04" + bytes(64),
    "old version": header_bytes(0, 0, version=1),
    "future version": header_bytes(0, 0, version=9),
    "many tensors": header_bytes(2**63, 0),
    "many keys": header_bytes(0, 2**63),
    "long key": header_bytes(0, 1, struct.pack("<Q", 2**62)),
    "key not text": header_bytes(0, 1, text(b"\xff\xfe") + struct.pack("<I", 4) + bytes(4)),
    "long text": header_bytes(0, 1, text(b"k") + struct.pack("<IQ", 8, 2**60)),
    "long array": header_bytes(0, 1, text(b"k") + struct.pack("<IIQ", 9, 0, 2**60)),
    "many texts": header_bytes(0, 1, text(b"k") + struct.pack("<IIQ", 9, 8, 2**60)),
    "array of arrays": header_bytes(0, 1, text(b"k") + struct.pack("<IIQ", 9, 9, 1) + bytes(64)),
    "unknown type": header_bytes(0, 1, text(b"k") + struct.pack("<I", 99) + bytes(64)),
    "same key twice": header_bytes(0, 2, (text(b"k") + struct.pack("<IB", 0, 1)) * 2),
    "no architecture": header_bytes(0, 0),
    "no dimensions": header_bytes(1, 0, text(b"t") + struct.pack("<I", 0)),
    "many dimensions": header_bytes(1, 0, text(b"t") + struct.pack("<I", 2**31)),
    "size zero": header_bytes(1, 0, text(b"t") + struct.pack("<IQIQ", 1, 0, 0, 0)),
    "huge size": header_bytes(1, 0, text(b"t") + struct.pack("<IQIQ", 1, 2**60, 0, 0)),
    "unknown tensor type": header_bytes(1, 0, text(b"t") + struct.pack("<IQIQ", 1, 32, 26, 0)),
    "part of a block": header_bytes(1, 0, text(b"t") + struct.pack("<IQIQ", 1, 33, 12, 0)),
    "same tensor twice": header_bytes(2, 0, (text(b"t") + struct.pack("<IQIQ", 1, 32, 0, 0)) * 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as caught:
        model_from_gguf_bytes(HOSTILE[name], name)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_a_header_beyond_the_limit_is_refused_in_time() -> None:
    keys = [text(f"k{i}".encode()) + struct.pack("<IIQ", 9, 8, 60_000) + bytes(8 * 60_000) for i in range(200)]
    data = header_bytes(0, 200, b"".join(keys))
    start = time.perf_counter()
    with pytest.raises(InputError, match="than"):
        model_from_gguf_bytes(data, "many")
    assert time.perf_counter() - start < 10


def large_header(n_layers: int, n_tokens: int) -> bytes:
    """Metadata with a vocabulary, merges and scores, and nine tensors per layer and more."""
    keys = {f"llama.{k}": v for k, v in (KEYS | {"block_count": n_layers}).items()}
    parts = [text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")]
    parts += [text(k.encode()) + struct.pack("<II", 4, v) for k, v in keys.items()]
    tokens = b"".join(text(f"tok{i}".encode()) for i in range(n_tokens))
    for key in (b"tokenizer.ggml.tokens", b"tokenizer.ggml.merges"):
        parts.append(text(key) + struct.pack("<IIQ", 9, 8, n_tokens) + tokens)
    parts.append(text(b"tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, n_tokens) + bytes(4 * n_tokens))
    tensors = ends() | layers(n_layers, attention_roles() | dense_roles())
    return header_bytes(len(tensors), len(parts), b"".join(parts) + rows_of(tensors))


def test_a_large_header_is_read_in_time() -> None:
    data = large_header(222, 200_000)
    start = time.perf_counter()
    model = model_from_gguf_bytes(data, "large")
    assert time.perf_counter() - start < 2
    assert model.n_layers == 222


@pytest.fixture(scope="module")
def small_header(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("gguf")
    data = large_header(2, 3)
    (folder / "small.gguf").write_bytes(data)
    assert model_from_gguf(folder / "small.gguf").n_layers == 2
    return data


def answers_or_refuses(read: Callable[[], ModelSpec]) -> None:
    start, said = time.perf_counter(), ""
    try:
        assert read().n_layers >= 1
    except RooflineError as error:
        said = str(error)
    assert "\n" not in said
    assert time.perf_counter() - start < 5


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_cut_and_changed_headers_answer_or_refuse(small_header: bytes, data: st.DataObject) -> None:
    changed = bytearray(small_header)
    for _ in range(data.draw(st.integers(0, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(changed)) | st.just(len(changed)))
    answers_or_refuses(lambda: model_from_gguf_bytes(bytes(changed[:end]), "changed"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_answer_or_refuse(data: bytes) -> None:
    answers_or_refuses(lambda: model_from_gguf_bytes(header_bytes(1, 1, data), "any"))


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*KEYS, "block_count", "expert_count", "attention.key_length"]), st.integers(0, 2**32 - 1)),
    st.lists(st.sampled_from(["attn_q", "attn_k", "ffn_down", "ffn_up_exps", "attn_kv_a_mqa", "ssm_x", "ssm_in"]), max_size=3),
)
def test_any_numbers_answer_or_refuse(keys: dict[str, int], dropped: list[str]) -> None:
    numbers = KEYS | {"block_count": 2} | keys
    parts = [text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")]
    parts += [text(f"llama.{k}".encode()) + struct.pack("<II", 4, v) for k, v in numbers.items()]
    tensors = ends() | layers(2, attention_roles() | dense_roles())
    for role in dropped:
        tensors.pop(f"blk.1.{role}.weight", None) or tensors.update({f"blk.1.{role}.weight": ((HIDDEN, 64), Type.F16)})
    data = header_bytes(len(tensors), len(parts), b"".join(parts) + rows_of(tensors))
    answers_or_refuses(lambda: model_from_gguf_bytes(data, "numbers"))
