"""Reading configurations: aliases, defaults, layer lists, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.families import family, family_names
from roofline.adapters.files import MAX_FILE_BYTES, load_model_file, parse_json
from roofline.errors import ConfigurationError, InputError
from roofline.performance.counts import model_counts, parameter_counts
from roofline.specs.model import ModelSpec

SMALL: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}


def read(**changes: Any) -> ModelSpec:
    return model_from_configuration({**SMALL, **changes})


def kinds(model: ModelSpec) -> list[str]:
    found = [""] * model.n_layers
    for group in model.groups:
        for layer in group.layers:
            attends = [a for b in group.blocks for a in b.attends if a.kind != "index"]
            found[layer] = attends[0].kind if attends else "none"
    return found


def test_equal_layers_are_one_group() -> None:
    model = read(num_hidden_layers=80)
    assert [group.n_layers for group in model.groups] == [80]


def test_parts_sum_to_the_total() -> None:
    counted = parameter_counts(read())
    parts = counted.embedding + counted.output_head + counted.attention + counted.dense_mlp + counted.norm
    # 2 V h + 4 layers of q, o h h each, k, v h h/2 each, 3 h f, 2 h, + h
    assert counted.total == parts == 2 * 6400 + 4 * (3 * 64 * 64 + 3 * 64 * 128 + 128) + 64


def test_tied_table_is_counted_once_and_still_multiplied() -> None:
    tied, untied = model_counts(read(tie_word_embeddings=True)), model_counts(read())
    assert untied.parameters.total - tied.parameters.total == 6400
    assert tied.flops.decode == untied.flops.decode


def test_bare_trunk_has_no_head() -> None:
    assert parameter_counts(read(architectures=["MistralModel"])).output_head == 0
    assert parameter_counts(read(architectures=["ChatGLMModel"])).output_head == 6400


@pytest.mark.parametrize(
    "spelling",
    [
        {"hidden_size": None, "n_embd": 64},
        {"num_hidden_layers": None, "n_layer": 4},
        {"num_attention_heads": None, "n_head": 4},
        {"intermediate_size": None, "ffn_dim": 128},
        {"num_key_value_heads": None, "attn_config": {"kv_n_heads": 2}},
        {"vocab_size": 7, "padded_vocab_size": 100},
    ],
)
def test_aliases_mean_the_same(spelling: dict[str, Any]) -> None:
    assert parameter_counts(read(**spelling)) == parameter_counts(read())


def test_null_means_none_and_absence_the_class_default() -> None:
    windowed = {**SMALL, "model_type": "mistral"}
    assert kinds(model_from_configuration(windowed)) == ["sliding"] * 4
    assert kinds(model_from_configuration({**windowed, "sliding_window": None})) == ["full"] * 4


def test_defaults_used_are_told() -> None:
    config = {key: value for key, value in SMALL.items() if key not in ("vocab_size", "tie_word_embeddings")}
    model = model_from_configuration(config)
    assert model.vocabulary == 32000
    assert any("vocab_size" in sentence and "32000" in sentence for sentence in model.assumptions)
    assert any("tie_word_embeddings" in sentence for sentence in model.assumptions)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"layer_types": ["full_attention", "sliding_attention"] * 2, "sliding_window": 8}, "full sliding full sliding"),
        # longer by a draft layer
        ({"layer_types": ["full_attention"] * 5}, "full full full full"),
        ({"hybrid_layer_pattern": [0, 1, 1, 0], "sliding_window": 8}, "full sliding sliding full"),
        ({"sliding_window_pattern": 2, "sliding_window": 8}, "sliding full sliding full"),
        ({"sliding_window_pattern": "LLG", "sliding_window": 8}, "sliding sliding full sliding"),
        ({"attention_chunk_size": 8}, "chunked chunked chunked full"),
        ({"attention_chunk_size": 8, "no_rope_layers": [1, 0, 1, 0]}, "chunked full chunked full"),
        # a kind without its width is no window
        ({"layer_types": ["sliding_attention"] * 4, "sliding_window": None}, "full full full full"),
        ({"cross_attention_layers": [1]}, "full cross full full"),
    ],
)
def test_layer_lists(fields: dict[str, Any], expected: str) -> None:
    assert kinds(read(**fields)) == expected.split()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"first_k_dense_replace": 1}, [1, 2, 3]),
        ({"moe_layer_freq": [0, 1, 0, 1]}, [1, 3]),
        ({"mlp_layer_types": ["dense", "sparse", "dense", "moe"]}, [1, 3]),
        ({"moe_layers_enum": "2,3"}, [2, 3]),
        ({"moe_layers": [0]}, [0]),
        ({"expert_layer_period": 2, "expert_layer_offset": 1}, [1, 3]),
        ({"interleave_moe_layer_step": 2}, [1, 3]),
        ({"decoder_sparse_step": 1, "mlp_only_layers": [2]}, [0, 1, 3]),
        ({"moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1}, [1, 2, 3]),
        ({"num_dense_layers": 2}, [2, 3]),
    ],
)
def test_which_layers_have_experts(fields: dict[str, Any], expected: list[int]) -> None:
    model = read(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, **fields)
    found = sorted(layer for g in model.groups if any(b.routing for b in g.blocks) for layer in g.layers)
    assert found == expected


def test_zero_or_null_experts_are_none() -> None:
    assert read(num_local_experts=0).routings == ()
    assert read(num_experts=None).routings == ()


def test_nested_text_configuration_is_the_decoder() -> None:
    nested = {"model_type": "llava", "text_config": SMALL, "tie_word_embeddings": False}
    assert parameter_counts(model_from_configuration(nested)).total == parameter_counts(read()).total


def test_unknown_class_with_plain_fields_is_read_and_told() -> None:
    model = read(model_type="brand_new")
    assert parameter_counts(model).total == parameter_counts(read()).total
    assert any("brand_new" in sentence for sentence in model.assumptions)


def test_unknown_class_with_a_field_about_structure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="quantum_attn_rank"):
        read(model_type="brand_new", quantum_attn_rank=3)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": -4}, "hidden_size"),
        ({"hidden_size": "wide"}, "hidden_size"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_key_value_heads": 3}, "heads"),
        ({"layer_types": ["spiral"] * 4}, "spiral"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"num_experts": 4, "num_experts_per_tok": 9}, "experts"),
        ({"kv_lora_rank": 8}, "qk_nope_head_dim"),
        ({"attention_bias": "maybe"}, "attention_bias"),
        ({"block_configs": [1, 2, 3, 4]}, "block_configs"),
        ({"num_kv_shared_layers": 4}, "num_kv_shared_layers"),
        ({"hybrid_override_pattern": "MXM"}, "hybrid_override_pattern"),
        ({"moe_layers_enum": "a,b", "num_experts": 2, "num_experts_per_tok": 1}, "moe_layers_enum"),
        ({"o_lora_rank": 8, "o_groups": 2, "q_lora_rank": 8}, "compress_ratios"),
        ({"layer_types": ["linear_attention"] * 4}, "recurrent"),
    ],
)
def test_refusals_name_the_field(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        read(**changes)


def test_searched_architectures_may_lack_either_sublayer() -> None:
    def block(attention: dict[str, Any], ffn: dict[str, Any]) -> dict[str, Any]:
        return {"attention": attention, "ffn": ffn}

    blocks = [
        block({"n_heads_in_group": 2}, {"ffn_mult": 2.0}),
        block({"no_op": True}, {"ffn_mult": 2.0}),
        block({"replace_with_linear": True}, {"no_op": True}),
        block({"n_heads_in_group": 4}, {"replace_with_linear": True}),
    ]
    counted = parameter_counts(read(block_configs=blocks, intermediate_size=None))
    # widths 2 * 2 * 64 / 3 = 85, up to 256; K of 2 and of 1 head of 16
    first, second = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 256 + 128, 3 * 64 * 256 + 64
    third, fourth = 64 * 64 + 64, 2 * 64 * 64 + 2 * 64 * 16 + 64 * 64 + 128
    assert counted.total == 2 * 6400 + 64 + first + second + third + fourth


@pytest.mark.parametrize(
    "block",
    [{}, {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 0}}, {"attention": {}, "ffn": {"ffn_mult": 1}}],
)
def test_searched_layers_that_cannot_be(block: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        read(block_configs=[block] * 4)


def test_layers_may_share_caches_and_widen() -> None:
    model = read(num_kv_shared_layers=2, use_double_wide_mlp=True)
    cache = model_counts(model).kv_cache
    assert cache.bytes_per_token == 2 * 2 * 2 * 2 * 16
    widths = {t.n_out for g in model.groups for b in g.blocks for t in b.tensors if t.module == "mlp.up_proj"}
    assert widths == {128, 256}


def test_widths_listed_per_layer() -> None:
    counted = parameter_counts(read(intermediate_size=[128, 64, 128, 64]))
    assert counted.dense_mlp == 3 * 64 * (128 + 64) * 2
    with pytest.raises(ConfigurationError, match="intermediate_size"):
        read(intermediate_size=[128, 64])


def test_multi_query_spellings() -> None:
    one = read(model_type="falcon", num_key_value_heads=None, multi_query=True, new_decoder_architecture=False)
    group = read(model_type="chatglm", num_key_value_heads=None, multi_query_attention=True, multi_query_group_num=2)
    assert one.groups[0].blocks[0].attends[0].n_kv_heads == 1
    assert group.groups[0].blocks[0].attends[0].n_kv_heads == 2


def test_recurrent_layers_of_an_unknown_class_are_read_by_their_fields() -> None:
    kinds_listed = ["linear_attention"] * 3 + ["full_attention"]
    delta = {
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "linear_conv_kernel_dim": 4,
    }
    model = read(model_type="brand_new", layer_types=kinds_listed, **delta)
    assert {r.kind for g in model.groups for b in g.blocks for r in b.recurrences} == {"gated delta net"}
    mamba = read(model_type="brand_new", layer_types=kinds_listed, ssm_state_size=16, conv_kernel=4, expand=2)
    assert {r.kind for g in mamba.groups for b in g.blocks for r in b.recurrences} == {"mamba"}
    kda = read(model_type="brand_new", linear_attn_config={"full_attn_layers": [4], "num_heads": 2, "head_dim": 8})
    assert kinds(kda) == ["none", "none", "none", "full"]


def test_projected_embeddings_and_missing_final_norm() -> None:
    config = {**SMALL, "model_type": "opt", "ffn_dim": 128, "word_embed_proj_dim": 32, "max_position_embeddings": 10}
    plain = parameter_counts(model_from_configuration(config))
    bare = parameter_counts(model_from_configuration({**config, "do_layer_norm_before": False}))
    assert plain.other == 2 * 32 * 64
    assert plain.total - bare.total == 2 * 64


def test_a_tower_of_a_kind_not_known_is_told() -> None:
    model = read(vision_config={"hidden_size": 8}, audio_config={"layers": 1})
    assert parameter_counts(model).vision_audio == 0
    assert sum("not counted" in sentence for sentence in model.assumptions) == 2


@pytest.mark.parametrize(("field", "value"), [("is_encoder_decoder", True), ("type_vocab_size", 2)])
def test_an_unknown_class_that_is_no_decoder_is_refused(field: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=field):
        read(model_type="brand_new", **{field: value})


def test_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    assert load_model_file(tmp_path).id == tmp_path.name
    assert load_model_file(tmp_path / "config.json").n_layers == 4
    (tmp_path / "hf_quant_config.json").write_text(json.dumps({"quantization": {"quant_algo": "FP8"}}))
    assert load_model_file(tmp_path).stored_format == "fp8"


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        load_model_file(tmp_path / "absent.json")
    (tmp_path / "big.json").write_text("[" + " " * MAX_FILE_BYTES + "]")
    with pytest.raises(InputError, match="larger"):
        load_model_file(tmp_path / "big.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="text"):
        load_model_file(tmp_path / "binary.json")


@pytest.mark.parametrize("text", ["[1]", "{", '"x"', "[" * 100_000, "1" * 10_000])
def test_text_that_is_no_configuration(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_json(text)


@pytest.mark.parametrize("name", family_names())
def test_every_family_is_well_formed(name: str) -> None:
    found = family(name)
    assert found.known
    assert found.habits.norms in (1, 2, 4)
