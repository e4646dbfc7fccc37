"""The command line: contract keys, and one sentence for every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link
from roofline.answers.serialise import report_json
from roofline.cli import app

RUNNER = CliRunner()
BASE = ["estimate", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "4"]


def ask(*args: str) -> dict:
    result = RUNNER.invoke(app, [*args, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_estimate_has_the_contract_keys() -> None:
    answer = ask(*BASE)
    assert {
        "scenario",
        "link",
        "memory",
        "critical_batch",
        "limit",
        "expected",
        "bound",
        "mfu",
        "mbu",
        "cost",
        "operators",
    } <= answer.keys()
    assert answer["link"].startswith("?v=1")
    assert set(answer["expected"]["tpot_s"]) == {"value", "low", "high"}
    assert {"phase", "name", "count", "flops", "bytes", "network_bytes", "intensity", "limit_s", "bound"} <= answer["operators"][
        0
    ].keys()
    assert answer["cost"]["grams_co2e_per_million_tokens"] > 0
    assert answer["cost"]["energy"]["grid"] == "world"


def test_library_command_line_and_link_agree_to_the_last_bit() -> None:
    scenario = Scenario(model="deepseek-v3", hardware="h100-sxm", devices=16, batch=96, input_tokens=3000, output_tokens=700)
    library = report_json(evaluate(scenario))
    args = [
        "--model",
        "deepseek-v3",
        "--hardware",
        "16xh100-sxm",
        "--batch",
        "96",
        "--input-tokens",
        "3000",
        "--output-tokens",
        "700",
    ]
    told = ask("estimate", *args)
    from_link = report_json(evaluate(link.from_query(told["link"]).scenario))
    assert {k: v for k, v in told.items() if k != "link"} == json.loads(json.dumps(library))
    assert from_link == library


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["hardware", "a40x"], ["a40x", "a40"]),
        (["hardware", ""], ["no hardware"]),
        (["model", "llama-9"], ["llama-9", "nearest"]),
        (["model", "no/such/config.json"], ["config.json"]),
        ([*BASE, "--devices", "0"], ["devices", "at least 1"]),
        ([*BASE, "--devices", "-3"], ["devices", "at least 1"]),
        ([*BASE, "--devices", "two"], ["devices", "integer"]),
        ([*BASE, "--utilisation", "nan"], ["utilisation", "finite"]),
        ([*BASE, "--input-tokens", "99999999999"], ["input_tokens", "at most"]),
        ([*BASE, "--request-rate", "3"], ["not both"]),
        ([*BASE, "--weights", "fp7"], ["fp7", "nearest"]),
        ([*BASE, "--engine", "magic"], ["magic", "serving"]),
        ([*BASE, "--tensor-parallel", "3", "--devices", "3"], ["tensor parallelism 3", "legal"]),
        ([*BASE, "--tensor-parallel", "4"], ["needs 4 devices", "there are 1"]),
        ([*BASE, "--expert-parallel", "2", "--devices", "2"], ["no experts"]),
        ([*BASE, "--memory-gib", "99"], ["fixed memory"]),
        ([*BASE, "--nonsense", "1"], ["nonsense"]),
        (["estimate", "--model", "llama-3.1-8b"], ["hardware"]),
        (["estimate", "--model", "llama-3.1-8b", "--hardware", "2xh100-sxm", "--devices", "3"], ["give one"]),
        (["estimate", "--model", "llama-3.1-8b", "--hardware", "v100-sxm2-32", "--activations", "bf16"], ["bf16", "fp16"]),
        (["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "1,zero"], ["batch", "whole number"]),
        (["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", ","], ["no values"]),
        (["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--out", "x.txt"], [".csv"]),
        (["sweep", "--model", "llama-3.1-8b", "--hardware", "2xh100-sxm,rtx4090"], ["ids only", "--devices"]),
        (["link", "hello"], ["is not a link"]),
        (["catalog", "hardwar"], ["hardwar", "hardware"]),
    ],
)
def test_bad_input_is_one_sentence(args: list[str], words: list[str]) -> None:
    result = RUNNER.invoke(app, args)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word.lower() in result.stderr.lower()


def test_every_command_speaks_to_people_too(tmp_path: Path) -> None:
    for args in (
        BASE,
        ["model", "mixtral-8x7b"],
        ["hardware", "rtx4090"],
        ["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm,rtx4090", "--batch", "1,8"],
        ["link", "?v=1&n=8"],
        ["catalog", "engines"],
        ["estimate", "--model", "llama-3.1-405b", "--hardware", "rtx4090", "--batch", "1"],
    ):
        result = RUNNER.invoke(app, args)
        assert result.exit_code == 0, result.stderr
        assert result.stdout.strip()


@pytest.mark.parametrize("name", ["sweep.csv", "sweep.parquet"])
def test_sweep_writes_files(tmp_path: Path, name: str) -> None:
    args = ["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "1,2,4", "--context", "512,1024"]
    result = RUNNER.invoke(app, [*args, "--out", str(tmp_path / name)])
    assert result.exit_code == 0, result.stderr
    assert "6 rows" in result.stdout
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("kind", ["hardware", "models", "formats", "engines", "prices", "formulas"])
def test_catalogues_answer(kind: str) -> None:
    answer = ask("catalog", kind)
    assert list(answer) == [kind]
    assert answer[kind]


def test_a_link_file_both_ways(tmp_path: Path) -> None:
    file = tmp_path / "question.yaml"
    file.write_text("model: llama-3.1-8b\nhardware: h100-sxm\nbatch: 4\n")
    answer = ask("link", str(file))
    assert ask("link", answer["link"])["scenario"] == answer["scenario"]


def test_a_model_file_travels_in_its_link(tmp_path: Path) -> None:
    config = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "vocab_size": 1000}
    file = tmp_path / "my-model" / "config.json"
    file.parent.mkdir()
    file.write_text(json.dumps({**config, "num_attention_heads": 8}))
    here = ask("estimate", "--model", str(file), "--hardware", "h100-sxm", "--batch", "2")
    there = report_json(evaluate(link.from_query(here["link"]).scenario))
    assert str(tmp_path) not in here["link"]
    for key in ("limit", "expected", "memory", "operators"):
        assert here[key] == json.loads(json.dumps(there[key]))


def test_a_model_too_large_for_a_link_says_so(tmp_path: Path) -> None:
    config = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "vocab_size": 1000}
    noise = {f"note_{i}": f"{hash(str(i))}" for i in range(2000)}
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**config, "num_attention_heads": 8, **noise}))
    answer = ask("estimate", "--model", str(file), "--hardware", "h100-sxm", "--batch", "2")
    assert answer["link"] is None
    assert any("characters" in reason for reason in answer["reasons"])


def test_a_link_is_answered_with_all_it_holds() -> None:
    one = ask("link", "?model=llama-3.1-8b&batch=8")
    both = ask("link", "?model=llama-3.1-8b&batch=8&b.hw=h200-sxm&c.batch=3&f.users=1000000")
    assert both["scenario"] == one["scenario"]
    assert (both["compared"]["b"]["hardware"], both["compared"]["c"]["batch"]) == ("h200-sxm", 3)
    assert both["fleet"]["weekly_users"] == 1_000_000
    assert ask("link", both["link"])["compared"] == both["compared"]
    assert ask("link", both["link"])["fleet"] == both["fleet"]
    told = ask("link", "?b.n=x&f.users=many")["problems"]
    assert [problem.partition("=")[0] for problem in told] == ["B: n", "f.users"]
