"""Models against counts that others made: reference classes, published files, published sizes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from roofline.adapters.configuration import model_from_configuration
from roofline.catalog.models import load_model
from roofline.performance.counts import model_counts, parameter_counts
from roofline.performance.weights import weight_bytes

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    before = csv.field_size_limit(10**7)
    try:
        with (HERE / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("row", rows("model_parameters.csv"), ids=lambda row: row["model"])
def test_parameters_are_those_of_the_reference_class(row: dict[str, str]) -> None:
    counted = parameter_counts(load_model(row["model"]))
    assert counted.total == int(row["text_parameters"])
    assert counted.vision_audio == int(row["tower_parameters"])


@pytest.mark.parametrize("row", rows("class_counts.csv"), ids=lambda row: json.loads(row["configuration"])["model_type"])
def test_every_class_is_read(row: dict[str, str]) -> None:
    counted = parameter_counts(model_from_configuration(json.loads(row["configuration"])))
    assert counted.total == int(row["text_parameters"])
    if row["tower_parameters"]:
        assert counted.vision_audio == int(row["tower_parameters"])


@pytest.mark.parametrize("row", rows("model_counts.csv"), ids=lambda row: row["model"])
def test_parts_cache_and_flops(row: dict[str, str]) -> None:
    counted = model_counts(load_model(row["model"]), context=32768, tokens=512)
    parts = counted.parameters
    for name in ("total", "active", "active_matmul", "embedding", "output_head", "dense_mlp", "routed_experts"):
        assert getattr(parts, name) == int(row[name]), name
    for name in ("shared_experts", "router", "norm", "other"):
        assert getattr(parts, name) == int(row[name]), name
    assert parts.attention + parts.state_space == int(row["attention_and_state"])
    if row["cache_bytes_32768"]:  # empty where the reference keeps a part of the cache elsewhere, such as index keys
        full, window = int(row["cache_elements_full"]), int(row["cache_elements_window"])
        assert counted.kv_cache.bytes_per_token == 2 * full
        assert counted.kv_cache.bytes_per_token_uncapped == 2 * (full + window)
        assert counted.kv_cache.bytes == int(row["cache_bytes_32768"])
    if row["flops_square_512"]:
        assert counted.flops.prefill_full_attention == pytest.approx(float(row["flops_square_512"]), rel=float(row["flops_rtol"]))


@pytest.mark.parametrize("row", rows("gguf_sizes.csv"), ids=lambda row: f"{row['model']}-{row['mix']}-{row['rtol']}")
def test_published_gguf_sizes(row: dict[str, str]) -> None:
    size = weight_bytes(load_model(row["model"]), row["mix"])
    assert size == pytest.approx(float(row["bytes"]), rel=float(row["rtol"]))


@pytest.mark.parametrize(
    ("model", "size", "rtol"),
    [
        # 19,110,297,600 expert weights in 17 bits a 32nd, the rest in 16 bit
        ("gpt-oss-20b", 13_761_264_768, 0.0),
        # linear layers in FP8 by blocks, without draft module; 59,392 bytes of router correction are no parameters
        ("deepseek-v3", 673_150_611_808, 1e-6),
        # experts in MXFP4: the 1.56 TB people download
        ("kimi-k3", 1.56e12, 0.005),
    ],
)
def test_published_file_sizes(model: str, size: float, rtol: float) -> None:
    assert weight_bytes(load_model(model), None) == pytest.approx(size, rel=rtol)


def test_draft_module_of_deepseek_v3() -> None:
    # 684,489,845,504 of its page less trunk, copies of both tables, router corrections
    page, trunk, tables, corrections = 684_489_845_504, 671_026_404_352, 2 * 926_679_040, 59 * 256
    assert load_model("deepseek-v3").draft_parameters == page - trunk - tables - corrections


def test_encoder_is_held_beside_the_decoder() -> None:
    # Whisper tiny: 37,760,640 parameters on its page, 4 + 4 layers of 384
    config = {
        "model_type": "whisper",
        "vocab_size": 51865,
        "d_model": 384,
        "encoder_layers": 4,
        "decoder_layers": 4,
        "encoder_attention_heads": 6,
        "decoder_attention_heads": 6,
        "encoder_ffn_dim": 1536,
        "decoder_ffn_dim": 1536,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "max_target_positions": 448,
    }
    model = model_from_configuration(config)
    assert parameter_counts(model).total == 37_760_640
    assert model.n_layers == 4
    assert any("encoder" in sentence for sentence in model.assumptions)


def test_zero_experts_have_no_weights() -> None:
    # LongCat-Flash: 28 double layers, 512 experts beside 256 that return their input; 560 billion by its report
    config = {
        "model_type": "longcat_flash",
        "hidden_size": 6144,
        "num_layers": 28,
        "num_attention_heads": 64,
        "vocab_size": 131072,
        "ffn_hidden_size": 12288,
        "expert_ffn_hidden_size": 2048,
        "n_routed_experts": 512,
        "zero_expert_num": 256,
        "moe_topk": 12,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    }
    counted = model_counts(model_from_configuration(config))
    assert counted.parameters.total == 560_664_958_976
    assert counted.kv_cache.bytes_per_token == 2 * 56 * 576
    assert counted.experts is not None
    assert counted.experts.active == 8
