"""Adapters beside the weights, against published counts and cases told by hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link, load_model
from roofline.answers.report import OperatorRow, Report
from roofline.answers.serialise import report_json
from roofline.cli import app
from roofline.errors import InputError
from roofline.performance.lora import adapter_bytes
from roofline.specs.lora import Adapters


def asked(**fields: object) -> Scenario:
    return Scenario.model_validate({"model": "llama-3.1-8b", "hardware": "h100-sxm", "batch": 16, **fields})


def row(report: Report, name: str, phase: str = "decode") -> OperatorRow:
    return next(item for item in report.operators if (item.phase, item.name) == (phase, name))


@pytest.mark.parametrize(
    ("model", "rank", "parameters"),
    [
        # trainable parameters that PEFT prints for adapters on all linear layers
        ("llama-3.1-8b", 16, 41_943_040),
        ("llama-2-7b", 64, 159_907_840),  # QLoRA, as published with its code
        ("mistral-7b", 16, 41_943_040),
    ],
)
def test_an_adapter_is_as_large_as_published(model: str, rank: int, parameters: int) -> None:
    assert adapter_bytes(load_model(model), Adapters(count=1, rank=rank)) == 2 * parameters
    assert adapter_bytes(load_model(model), Adapters(count=7, rank=rank)) == 14 * parameters


def test_every_expert_has_an_adapter() -> None:
    """Mixtral: 32 layers, 8 experts of three matrices between 4,096 and 14,336; attention as in Mistral 7B."""
    experts, attention = 8 * 3 * (4096 + 14336), 2 * (4096 + 4096) + 2 * (4096 + 1024)
    assert adapter_bytes(load_model("mixtral-8x7b"), Adapters(count=1, rank=1)) == 2 * 32 * (experts + attention)


def test_adapters_are_held_and_divided_with_their_matrices() -> None:
    size = 2 * 41_943_040
    for ways in (1, 4):
        plan = {"devices": ways, "tensor_parallel": ways}
        plain, many = evaluate(asked(**plan)), evaluate(asked(adapters="100x16", **plan))
        more = many.memory.weights_bytes_per_device - plain.memory.weights_bytes_per_device
        assert more == pytest.approx(100 * size / ways)
        assert many.memory.max_batch < plain.memory.max_batch


def test_only_adapters_in_use_are_read() -> None:
    each = 2 * 16 * (4096 + 14336) * 32
    # one sequence reads its own; the 16 of a batch read all of one, and on average 16 (1 - (15/16)^16) of sixteen
    assert row(evaluate(asked(batch=1, adapters="50x16")), "mlp/down/lora").weight_bytes == pytest.approx(each)
    assert row(evaluate(asked(adapters="1x16")), "mlp/down/lora").weight_bytes == pytest.approx(each)
    expected = 16 * (1 - (15 / 16) ** 16)
    assert row(evaluate(asked(adapters="16x16")), "mlp/down/lora").weight_bytes == pytest.approx(expected * each)
    assert row(evaluate(asked(adapters="16x16")), "mlp/down/lora", "prefill").weight_bytes == pytest.approx(each)


def test_experts_in_use_need_an_adapter_and_a_visit() -> None:
    base = asked(model="mixtral-8x7b", devices=2, tensor_parallel=2, batch=1, adapters="3x16")
    one, verified = evaluate(base), evaluate(asked(**{**base.model_dump(), "speculative": "ngram:1@0.5"}))
    each = 2 * 16 * (4096 + 14336) * 32 / 2
    # a token visits two experts of its adapter; two tokens of one sequence 8 (1 - (3/4)^2) = 3.5
    assert row(one, "experts/down/lora").weight_bytes == pytest.approx(2.0 * each)
    assert row(verified, "experts/down/lora").weight_bytes == pytest.approx(3.5 * each)


def test_the_work_of_an_adapter_is_two_thin_products() -> None:
    report = evaluate(asked(adapters="4x32"))
    assert row(report, "mlp/down/lora").flops == pytest.approx(32 * 16 * 2 * 32 * (4096 + 14336))
    total = sum(item.flops for item in report.operators if item.phase == "prefill" and item.name.endswith("/lora"))
    assert total == pytest.approx(2 * 4096 * 2 * 41_943_040)  # rank 32 has twice the parameters of rank 16


def test_more_adapters_and_higher_ranks_are_never_quicker() -> None:
    times = [evaluate(asked(adapters=text)) for text in (None, "1x8", "8x8", "64x8", "64x16", "64x64")]
    for name in ("expected", "limit"):
        steps = [float(getattr(report, name).decode_step_s) for report in times]
        prompts = [float(getattr(report, name).ttft_s) for report in times]
        assert steps == sorted(steps)
        assert prompts == sorted(prompts)


def test_adapters_are_one_word_everywhere() -> None:
    report = evaluate(asked(adapters="8 x 16"))
    assert report.scenario.adapters == Adapters(count=8, rank=16)
    assert report_json(report)["scenario"]["adapters"] == "8x16"
    assert any(a.name == "adapters" and "rank 16" in a.value for a in report.assumptions)
    assert link.encode(link.DEFAULT.model_copy(update={"adapters": Adapters(count=8, rank=16)})) == {"v": "1", "lora": "8x16"}
    assert link.from_query(link.to_query(report.scenario)).scenario == report.scenario
    args = ["--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--json"]
    told = json.loads(CliRunner().invoke(app, ["sweep", *args, "--batch", "4", "--adapters", "1x8,8x8"]).stdout)
    assert [item["adapters"] for item in told] == ["1x8", "8x8"]


@pytest.mark.parametrize(("text", "word"), [("8", "8x16"), ("0x16", "at least 1"), ("8x9999", "at most 4,096"), ("", "8x16")])
def test_what_are_no_adapters_is_told(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        asked(adapters=text)
    assert len(link.decode({"lora": text}).problems) == 1
