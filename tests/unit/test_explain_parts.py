"""Why a number is what it is, down to shapes and facts; and the commands that would measure it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from roofline.answers.bench_commands import measuring
from roofline.answers.evaluate import evaluate
from roofline.answers.explain import explain
from roofline.answers.explain_parts import step_grounds
from roofline.answers.presets import PRESETS
from roofline.answers.report import Explanation
from roofline.answers.serialise import plain
from roofline.cli import app
from roofline.dashboard.cards import explanation_html
from roofline.specs.scenario import Scenario

LLAMA = Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8, input_tokens=4096, output_tokens=1024)
CASES = (
    *(preset.scenario for preset in PRESETS),
    Scenario(model="llama-3.3-70b", hardware="h100-sxm", batch=4),  # does not fit
    Scenario(model="llama-3.3-70b", hardware="rtx3090+rtx4090", weights="q4_k_m", batch=1),  # a mixed box
    Scenario(model="llama-3.3-70b", hardware="rtx4090", weights="q4_k_m", batch=1, offload="auto"),
    Scenario(model="deepseek-v3", hardware="h100-sxm", devices=32, batch=64, prefill_devices=16),
    Scenario(model="mamba2-2.7b", hardware="h100-sxm", batch=4),
)


def below(found: Explanation) -> Iterator[Explanation]:
    yield found
    for part in found.parts:
        yield from below(part)


def part(found: Explanation, *titles: str) -> Explanation:
    for title in titles:
        found = next(p for p in found.parts if p.title == title)
    return found


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: f"{s.model}-{s.hardware}-{s.offload}")
def test_every_node_has_formula_values_and_source(scenario) -> None:
    for found in explain(evaluate(scenario)).values():
        for node in below(found):
            assert node.title
            assert node.value
            assert node.equation
            assert node.substituted
            assert node.citation
    json.dumps(plain({k: asdict(v) for k, v in explain(evaluate(scenario)).items()}), allow_nan=False)


def test_a_matrix_is_opened_down_to_its_shape() -> None:
    """Llama-3.1-8B: 2 matrices of 14,336 x 4,096 in 32 layers of 2 bytes are 7.52 GB (its configuration file)."""
    weights = part(step_grounds(evaluate(LLAMA), "decode"), "mlp: gate up", "Weights read")
    assert weights.value == "7.52 GB"
    assert ("mlp.gate_proj", "14,336 x 4,096, in 32 layers") in [(i.name, i.value) for i in weights.inputs]


def test_a_cache_is_opened_down_to_its_numbers() -> None:
    """8 sequences x (4,096 + 512) tokens x 2 x 8 heads x 128 x 32 layers x 2 bytes = 4.83 GB."""
    cache = part(step_grounds(evaluate(LLAMA), "decode"), "attention: full", "Cache read")
    assert cache.value == "4.83 GB"
    assert any(i.value == "2,048 numbers" for i in cache.inputs)


def test_work_is_opened() -> None:
    """2 FLOPs x 2 x 14,336 x 4,096 x 32 numbers x 8 tokens = 60.1 GFLOP."""
    assert part(step_grounds(evaluate(LLAMA), "decode"), "mlp: gate up", "Work").value == "60.1 GFLOP"


def test_a_fact_ends_in_its_document() -> None:
    fact = part(step_grounds(evaluate(LLAMA), "decode"), "mlp: gate up", "Memory bandwidth")
    assert fact.value == "3350 GB/s"
    assert "20" in fact.citation  # the date it was looked up
    assert not fact.parts


def test_experts_name_how_many_are_touched() -> None:
    """256 experts, 8 a token, 128 tokens: 256 (1 - (1 - 8/256)^128) = 251.6."""
    report = evaluate(PRESETS[0].scenario)
    weights = part(step_grounds(report, "decode"), "experts: gate up", "Weights read")
    assert any(i.value.startswith("252 of 256") for i in weights.inputs)


def test_the_price_opens_into_dated_quotes() -> None:
    cost = explain(evaluate(LLAMA))["usd_per_million_output_tokens"]
    quotes = [p for p in cost.parts if "USD" in p.value and p.inputs[0].name == "terms"]
    assert len(quotes) >= 3
    mine = explain(evaluate(LLAMA.model_copy(update={"usd_per_device_hour": 2.0})))["usd_per_million_output_tokens"]
    assert len(mine.parts) == 1


def test_commands_for_vllm() -> None:
    found = measuring(evaluate(LLAMA.model_copy(update={"kv_cache": "fp8", "devices": 2, "tensor_parallel": 2})))
    serve, bench = found.commands
    assert serve.startswith("vllm serve meta-llama/")
    assert "--tensor-parallel-size 2" in serve
    assert "--kv-cache-dtype fp8" in serve
    assert "--max-model-len 5120" in serve
    for flag in ("--random-input-len 4096", "--random-output-len 1024", "--max-concurrency 8", "--ignore-eos"):
        assert flag in bench
    rated = measuring(evaluate(LLAMA.model_copy(update={"batch": None, "request_rate": 2.0}))).commands[1]
    assert "--request-rate 2 " in rated
    assert "--max-concurrency" not in rated


def test_commands_for_llama_cpp() -> None:
    one = Scenario(
        model="llama-3.1-8b",
        hardware="rtx4090",
        weights="q4_k_m",
        kv_cache="q8_0",
        batch=1,
        input_tokens=2048,
        output_tokens=512,
    )
    prompt, generation = measuring(evaluate(one)).commands
    assert prompt == "llama-bench -m MODEL.gguf -ngl 99 -ctk q8_0 -ctv q8_0 -p 2048 -n 0"
    assert generation.endswith("-p 0 -n 512 -d 2048")
    many = measuring(evaluate(one.model_copy(update={"batch": 4}))).commands[1]
    assert many.startswith("llama-batched-bench")
    assert many.endswith("-npp 2048 -ntg 512 -npl 4")
    cpu = measuring(evaluate(one.model_copy(update={"hardware": "epyc-9654"})))
    assert "-ngl 0" in cpu.commands[0]
    experts = Scenario(model="gpt-oss-120b", hardware="rtx4090", batch=1, offload="experts")
    assert "exps=CPU" in measuring(evaluate(experts)).commands[0]
    layers = measuring(evaluate(one.model_copy(update={"offload": "layers:8"})))
    assert any("layers:8" in note for note in layers.notes)


def test_commands_for_mlx_and_other_servers() -> None:
    mac = Scenario(model="gpt-oss-120b", hardware="apple-m4max", batch=2, engine="mlx")
    found = measuring(evaluate(mac))
    assert found.commands[0].startswith("mlx_lm.benchmark")
    assert any("one sequence" in note for note in found.notes)
    other = measuring(evaluate(LLAMA.model_copy(update={"engine": "tensorrt-llm", "weights": "int4_g128", "prefix_hit": 0.5})))
    assert len(other.commands) == 1
    assert any("TensorRT-LLM" in note for note in other.notes)
    assert any("int4_g128" in note for note in other.notes)
    assert any("50%" in note for note in other.notes)


def test_why_on_the_command_line() -> None:
    args = ["why", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "8"]
    answer = json.loads(CliRunner().invoke(app, [*args, "--json"]).stdout)
    assert answer["explanations"]["memory"]["parts"]
    assert answer["measure"]["commands"][0].startswith("vllm serve")
    shallow = CliRunner().invoke(app, [*args, "--depth", "0"]).stdout
    deep = CliRunner().invoke(app, [*args, "--depth", "4"]).stdout
    assert "mlp.gate_proj" not in shallow
    assert "mlp.gate_proj" in deep


@pytest.mark.parametrize("scenario", CASES, ids=str)
def test_every_headline_begins_with_a_sentence_without_symbols(scenario) -> None:
    report = evaluate(scenario)
    for found in explain(report).values():
        shown = explanation_html(found)
        assert found.plain.endswith(".")
        assert not re.search(r"[=+]|smax|tau|beta| nan|None", found.plain)
        assert shown.index(html.escape(found.plain)) < shown.index("rf-equation")
