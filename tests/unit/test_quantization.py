"""Number formats that files state, module by module."""

from __future__ import annotations

from typing import Any

import pytest

from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.modules import ModulePatterns
from roofline.errors import ConfigurationError
from roofline.specs.model import ModelSpec

CONFIG: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "hidden_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "mlp_only_layers": [0],
    "vocab_size": 1000,
    "tie_word_embeddings": False,
}


def read(settings: dict[str, Any], **changes: Any) -> ModelSpec:
    return model_from_configuration({**CONFIG, **changes, "quantization_config": settings})


def formats(model: ModelSpec, operator: str) -> dict[int, str | None]:
    return {
        layer: tensor.stored_as
        for group in model.groups
        for layer in group.layers
        for block in group.blocks
        for tensor in block.tensors
        if tensor.operator == operator and tensor.use == "matmul"
    }


def head(model: ModelSpec) -> str | None:
    return next(t.stored_as for t in model.ends if t.operator == "output_head")


GROUP = {
    "targets": ["Linear"],
    "weights": {"num_bits": 4, "type": "int", "group_size": 32, "strategy": "group", "symmetric": True},
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_block128"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "fp8"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4_g128"),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128, "sym": True}, "gptq_int8_g128"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4_channel"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4_dq"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": GROUP}}, "int4_g32_symmetric"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}}, "fp8"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}}, "mxfp4"),
    ],
)
def test_methods(settings: dict[str, Any], expected: str) -> None:
    model = read(settings)
    assert model.stored_format == expected
    assert set(formats(model, "attention/query").values()) == {expected}
    assert set(formats(model, "experts/router").values()) == {None}
    assert head(model) is None


def test_float_groups() -> None:
    def group(**weights: Any) -> str:
        settings = {"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["Linear"], "weights": weights}}}
        return read(settings).stored_format

    assert group(num_bits=8, type="float", strategy="channel") == "fp8"
    assert group(num_bits=8, type="float", strategy="block") == "fp8_block128"
    assert group(num_bits=8, type="float", group_size=32) == "mxfp8"
    assert group(num_bits=4, type="float", group_size=16) == "nvfp4"
    assert group(num_bits=4, type="float", group_size=32) == "mxfp4"


@pytest.mark.parametrize(
    ("dtype", "group", "expected"),
    [("fp8_e4m3", 0, "fp8"), ("fp8_e4m3", 32, "mxfp8"), ("fp6_e2m3", 32, "mxfp6"), ("fp4", 16, "nvfp4"), ("int8", -1, "int8")],
)
def test_quark_types(dtype: str, group: int, expected: str) -> None:
    weight = {"dtype": dtype, "group_size": group}
    layers = {"*self_attn*": {"weight": {"dtype": "int4", "group_size": 32}}, "*odd*": {}}
    settings = {"global_quant_config": {"weight": weight}, "layer_quant_config": layers, "exclude": ["lm_head"]}
    model = read({"quant_method": "quark", **settings})
    assert formats(model, "experts/down")[1] == expected
    assert formats(model, "attention/query")[1] == "int4_g32_symmetric"


def test_layouts_named_by_the_file() -> None:
    for layout, expected in (("nvfp4-pack-quantized", "nvfp4"), ("mxfp4-pack-quantized", "mxfp4")):
        settings = {"quant_method": "compressed-tensors", "format": layout, "config_groups": {"a": {"weights": {"num_bits": 4}}}}
        assert read(settings).stored_format == expected


def test_targets_that_are_modules() -> None:
    groups = {"a": GROUP, "b": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}}, "c": {}}
    model = read({"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head"]})
    assert formats(model, "attention/query")[0] == "fp8"
    assert formats(model, "experts/down")[1] == "int4_g32_symmetric"


def test_modelopt_by_groups_and_mixed_under_fp8() -> None:
    settings = {"quant_method": "modelopt", "config_groups": {"a": GROUP}}
    assert read(settings).stored_format == "int4_g32_symmetric"
    listed = {"model.layers.1.mlp.experts": "NVFP4", "model.layers.2.mlp.experts": {"quant_algo": "NVFP4"}}
    model = read({"quant_method": "fp8", "weight_block_size": [128, 128], "quantized_layers": listed})
    assert formats(model, "experts/down") == {1: "nvfp4", 2: "nvfp4"}
    assert formats(model, "attention/query")[0] == "fp8_block128"


def test_gptq_may_skip_modules() -> None:
    model = read({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"-:.*self_attn.*": {}}, "lm_head": True})
    assert formats(model, "attention/query")[0] is None
    assert head(model) == "int4_g128"


def test_mxfp4_is_of_experts_only() -> None:
    model = read({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})
    assert formats(model, "experts/down")[1] == "mxfp4"
    assert formats(model, "attention/query")[1] is None
    assert formats(model, "mlp/down")[0] is None


@pytest.mark.parametrize(
    ("ignore", "layers_wide"),
    [
        ("model.layers.1.self_attn.q_proj", {1}),
        ("model.layers.1.self_attn", {1}),
        ("model.layers.1*", {1}),
        ("re:.*layers\\.[02]\\.self_attn.*", {0, 2}),
        ("re:.*self_attn.*", {0, 1, 2}),
        ("self_attn", {0, 1, 2}),
        ("backbone.layers.2.mixer.q_proj", {2}),
        ("*.k_proj", set()),
    ],
)
def test_ignored_modules_split_groups(ignore: str, layers_wide: set[int]) -> None:
    model = read({"quant_method": "fp8", "modules_to_not_convert": [ignore]})
    assert {layer for layer, name in formats(model, "attention/query").items() if name is None} == layers_wide
    assert sum(group.n_layers for group in model.groups) == 3


def test_a_present_list_replaces_the_default_skip_of_the_head() -> None:
    settings = {"quant_method": "fp8", "modules_to_not_convert": ["mlp.gate"]}
    assert head(read(settings)) == "fp8"
    assert head(read({**settings, "modules_to_not_convert": ["lm_head"]})) is None


def test_mixed_precision_by_module() -> None:
    listed = {f"model.layers.{i}.mlp.experts": {"quant_algo": "NVFP4"} for i in range(3)}
    listed["model.layers.1.self_attn.q_proj"] = {"quant_algo": "FP8"}
    model = read({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": listed})
    assert formats(model, "experts/down") == {1: "nvfp4", 2: "nvfp4"}
    assert formats(model, "attention/query") == {0: None, 1: "fp8", 2: None}


def test_narrow_experts_beside_fp8() -> None:
    model = read({"quant_method": "fp8", "weight_block_size": [128, 128]}, expert_dtype="fp4")
    assert formats(model, "experts/down")[1] == "mxfp4"
    assert formats(model, "attention/query")[1] == "fp8_block128"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"quant_method": "abacus"}, "abacus"),
        ({"quant_method": "fp8", "weight_block_size": [7, 7]}, "weight_block_size"),
        ({"quant_method": "awq", "bits": 5}, "5 bits"),
        ({"quant_method": "modelopt", "quant_algo": "FP1"}, "FP1"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:(a+)+b"]}, "repeats"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:(["]}, "pattern"),
        ({"quant_method": "fp8", "modules_to_not_convert": [3]}, "module"),
        ({"quant_method": "compressed-tensors"}, "config_groups"),
        ({"quant_method": "quark"}, "global_quant_config"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp1"}}}, "fp1"),
    ],
)
def test_refusals(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        read(settings)


def test_too_many_patterns_are_refused_quickly() -> None:
    patterns = [f"*layers.{i}.x*" for i in range(20_000)]
    with pytest.raises(ConfigurationError, match="patterns"):
        read({"quant_method": "fp8", "modules_to_not_convert": patterns}, num_hidden_layers=1000)


def test_parts_of_names_match_whole_words() -> None:
    patterns = ModulePatterns(["gate"])
    assert patterns.matches(0, "mlp.gate")
    assert not patterns.matches(0, "mlp.gate_proj")
