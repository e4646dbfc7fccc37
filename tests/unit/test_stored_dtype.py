"""What a file says of its plain numbers, and files that say a thing twice, wrongly, or after a mark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roofline import Scenario, evaluate
from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.files import load_model_file, parse_json
from roofline.errors import ConfigurationError
from roofline.performance.weights import weight_bytes
from roofline.scenario_file import read_scenario

SHAPE: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "vocab_size": 1000,
    "tie_word_embeddings": False,
}
N_WEIGHTS = 2 * 1000 * 512 + 4 * (4 * 512 * 512 + 3 * 512 * 1024 + 2 * 512) + 512
"""Two tables; per layer four attention and three feed-forward matrices and two norms; the last norm."""
DTYPES = [("float32", 4), ("torch.float32", 4), ("float", 4), ("float16", 2), ("half", 2), ("bfloat16", 2)]


@pytest.mark.parametrize("field", ["torch_dtype", "dtype"])
@pytest.mark.parametrize(("dtype", "size"), DTYPES)
def test_a_weight_takes_the_bytes_of_its_stated_type(field: str, dtype: str, size: int) -> None:
    for config in ({**SHAPE, field: dtype}, {"model_type": "llava", field: dtype, "text_config": SHAPE}):
        model = model_from_configuration(config)
        assert weight_bytes(model, None) == size * N_WEIGHTS
        assert not any("16 bit" in text for text in model.assumptions)


def test_a_stated_type_counts_wherever_weights_are_counted() -> None:
    model = model_from_configuration({**SHAPE, "torch_dtype": "float32"})
    assert model.stored_format == "fp32"
    assert weight_bytes(model, "fp32") == 2 * weight_bytes(model, "bf16") == 4 * N_WEIGHTS
    assert weight_bytes(model, "fp16") == 2 * N_WEIGHTS


def test_memory_holds_what_the_file_does(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**SHAPE, "torch_dtype": "float32"}))
    report = evaluate(Scenario(model=str(file), hardware="h100-sxm", batch=1))
    assert report.memory.weights_bytes_per_device == 4 * N_WEIGHTS
    assert "fp32" in report.formats.weights


def test_quantised_matrices_keep_their_format_beside_a_wide_type() -> None:
    quantised = {**SHAPE, "quantization_config": {"quant_method": "fp8"}}
    wide = N_WEIGHTS - 4 * (4 * 512 * 512 + 3 * 512 * 1024)
    difference = weight_bytes(model_from_configuration({**quantised, "torch_dtype": "float32"}), None) - weight_bytes(
        model_from_configuration(quantised), None
    )
    assert difference == 2 * wide


@pytest.mark.parametrize("dtype", ["float7", "", None, [3], 16])
def test_16_bit_is_said_where_it_is_assumed(dtype: object) -> None:
    for config in ({**SHAPE, "torch_dtype": dtype}, SHAPE):
        model = model_from_configuration(config)
        assert weight_bytes(model, None) == 2 * N_WEIGHTS
        assert any("16 bit" in text for text in model.assumptions)


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    for name, text in (("config.json", json.dumps(SHAPE)), ("scenario.yaml", "model: gpt2\nhardware: rtx4090\n")):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert weight_bytes(load_model_file(tmp_path), None) == 2 * N_WEIGHTS
    assert read_scenario(tmp_path / "scenario.yaml") == Scenario(model="gpt2", hardware="rtx4090")


def test_a_name_given_twice_must_say_the_same() -> None:
    assert parse_json('{"a": 1, "b": {"c": 2, "c": 2}, "a": 1}') == {"a": 1, "b": {"c": 2}}
    for text in ('{"n": 4, "n": 8}', '{"deep": {"n": 4, "n": "4"}}'):
        with pytest.raises(ConfigurationError, match="'n' is given twice, as 4"):
            parse_json(text)


@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("name", ["group_size", "bits"])
def test_a_group_or_a_width_of_nothing_is_refused(method: str, name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"'{name}' must be at least 1, not 0"):
        model_from_configuration({**SHAPE, "quantization_config": {"quant_method": method, name: 0}})


@pytest.mark.parametrize("value", ["yes", 2, [True], {}])
def test_a_tie_that_is_neither_true_nor_false_is_refused(value: object) -> None:
    for config in (
        {**SHAPE, "tie_word_embeddings": value},
        {"model_type": "llava", "text_config": {**SHAPE, "tie_word_embeddings": value}},
    ):
        with pytest.raises(ConfigurationError, match="must be true or false"):
            model_from_configuration(config)
