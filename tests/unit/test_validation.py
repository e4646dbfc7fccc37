"""Measurements: how a row is read, what cannot be, and that nothing real beats the limit."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from roofline.answers import mapping
from roofline.answers.mapping import SAME_TOKENS, Case, case, engine_id
from roofline.answers.validation import Validation, validate
from roofline.catalog.measurements import Measurement, measurements, read_measurements
from roofline.cli import app
from roofline.errors import InputError


def test_rules_name_no_row_no_model_and_no_source() -> None:
    code = ast.parse(Path(mapping.__file__).read_text(encoding="utf-8"))
    words = [n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for found in measurements():
        names = {found.id, found.model_id, found.model, found.source_name} - {""}
        assert not [word for word in words for name in names if name in word]


def test_every_doubt_of_the_table_is_a_message() -> None:
    doubts = {found.doubt for found in measurements()} - {""}
    assert doubts
    assert doubts <= set(mapping._DOUBTS)
    assert {found.attention_data_parallel for found in measurements()} == {"", "yes"}


def test_a_row_of_another_table_gets_what_is_known_of_it_here_and_no_other_row_does(tmp_path: Path) -> None:
    doubtful = next(found for found in measurements() if found.doubt)
    file = tmp_path / "rows.csv"
    head = "id,hardware_id,model_id,kind,metric,value,source_url_or_repo_path"
    for value, doubt in ((doubtful.value, doubtful.doubt), (doubtful.value + 1.0, "")):
        same = (
            doubtful.id,
            "gaudi2",
            "llama-3.1-8b",
            doubtful.kind,
            "tok/s total output",
            value,
            doubtful.source_url_or_repo_path,
        )
        file.write_text(f"{head}\n{','.join(map(str, same))}\n")
        (found,), _ = read_measurements(file)
        assert found.doubt == doubt


@cache
def shipped() -> Validation:
    return validate()


def row(**fields: object) -> Measurement:
    base = {
        "id": "x",
        "hardware_id": "h100-sxm",
        "model_id": "llama-3.1-8b",
        "kind": "decode_single",
        "metric": "tok/s per user",
        "value": 100.0,
        "weight_format": "fp8",
        "engine": "vLLM",
        "n_devices": "1",
        "batch_or_concurrency": "1",
        "input_len": "1000",
        "output_len": "200",
    }
    return Measurement.model_validate({**base, **fields})


def test_every_shipped_row_has_a_source() -> None:
    assert len(measurements()) == 1449
    assert all(m.source_name and m.source_url_or_repo_path for m in measurements())
    assert len({m.id for m in measurements()}) == 1449


def test_nothing_that_counts_beats_the_limit() -> None:
    assert [r.id for r in shipped().rows if r.valid and r.beats_limit] == []


def test_what_beats_the_limit_has_a_cause() -> None:
    beaten = {r.id: r.reason for r in shipped().rows if r.beats_limit}
    assert len(beaten) == 9
    assert set(beaten.values()) == {SAME_TOKENS}


def test_bands_hold_the_expectation_and_start_at_the_limit() -> None:
    for r in shipped().rows:
        if r.expected is None or r.limit is None or r.low is None or r.high is None:
            assert r.reason
            continue
        assert r.low <= r.expected <= r.high
        is_time = "ms" in r.metric or "latency" in r.metric
        assert r.low >= r.limit * (1 - 1e-9) if is_time else r.high <= r.limit * (1 + 1e-9)


def test_errors_stay_where_they_are() -> None:
    medians = {s.name: s.median_error for s in shipped().summaries if s.by == "kind"}
    assert medians["decode_single"] < 0.08
    assert medians["decode_batch"] < 0.10
    assert medians["offline_throughput"] < 0.08
    assert medians["prefill"] < 0.16
    assert medians["server"] < 0.13
    inside = [r.inside_band for r in shipped().rows if r.valid]
    assert 0.7 < sum(inside) / len(inside) < 0.95


@pytest.mark.parametrize(
    ("fields", "way", "batch"),
    [
        ({}, "step", 1.0),
        ({"kind": "prefill", "metric": "TTFT ms", "output_len": ""}, "prompt", 1.0),
        (
            {"kind": "offline_throughput", "metric": "tok/s total output (whole system)", "batch_or_concurrency": "max"},
            "saturated",
            None,
        ),
        ({"kind": "decode_batch", "metric": "E2E latency s", "batch_or_concurrency": "8"}, "static", 8.0),
        ({"kind": "server", "metric": "TPOT ms", "batch_or_concurrency": "25"}, "concurrency", 25.0),
        ({"kind": "server", "metric": "TPOT ms", "batch_or_concurrency": "4 req/s offered"}, "rate", 4.0),
        (
            {"kind": "decode_batch", "metric": "tok/s output per GPU", "batch_or_concurrency": "2 per rank", "n_devices": "8"},
            "step",
            16.0,
        ),
    ],
)
def test_how_a_row_was_run(fields: dict[str, str], way: str, batch: float | None) -> None:
    found = case(row(**fields))
    assert found.way == way
    assert batch is None or found.batch == batch


def number(found: Case) -> float:
    return found.value(2.0)


def test_a_time_becomes_the_number_of_the_row() -> None:
    assert number(case(row())) == 0.5
    assert number(case(row(metric="TPOT ms"))) == 2000.0
    assert number(case(row(kind="prefill", metric="prefill tok/s"))) == 500.0
    batch = {"kind": "decode_batch", "batch_or_concurrency": "16", "n_devices": "4"}
    assert number(case(row(metric="tok/s total output (whole system)", **batch))) == 8.0
    assert number(case(row(metric="tok/s output per GPU", **batch))) == 2.0
    assert number(case(row(metric="tok/s output per 8-GPU node", **{**batch, "n_devices": "16"}))) == 4.0


def test_columns_become_a_plan() -> None:
    split = case(row(n_devices="8", tp="4", pp="2")).scenario
    assert (split.tensor_parallel, split.pipeline_parallel) == (4, 2)
    layers = case(row(engine="llama.cpp", hardware_id="rtx4090", weight_format="q4_0", n_devices="2")).scenario
    assert (layers.tensor_parallel, layers.pipeline_parallel) == (1, 2)
    ranks = case(row(model_id="deepseek-v3", n_devices="16", ep="16", dp="16")).scenario
    assert (ranks.tensor_parallel, ranks.data_parallel, ranks.expert_parallel) == (1, 16, 16)


def test_apple_never_had_the_unpacking_of_2024() -> None:
    engine = "llama.cpp llama-bench (May 2024; no flash-attn flag)"
    assert engine_id(row(engine=engine, hardware_id="rtx4090")) == "llama-cpp-2024"
    assert engine_id(row(engine=engine, hardware_id="apple-m2ultra")) == "llama-cpp"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "kernel"}, "kernel"),
        ({"hardware_id": ""}, "hardware_id"),
        ({"model_id": ""}, "model_id"),
        ({"engine": "abacus"}, "abacus"),
        ({"n_devices": "many"}, "n_devices"),
        ({"input_len": "production mix"}, "production mix"),
        ({"output_len": "", "kind": "server"}, "output_len"),
        ({"output_len": "", "metric": "E2E latency s"}, "output_len"),
        ({"batch_or_concurrency": ""}, "batch_or_concurrency"),
        ({"weight_format": ""}, "weight_format"),
        ({"metric": "furlongs"}, "furlongs"),
    ],
)
def test_what_a_row_lacks_is_told(fields: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        case(row(**{"kind": "decode_batch", "metric": "tok/s total output", **fields}))


GOOD = "own-1,h100-sxm,llama-3.1-8b,decode_single,tok/s per user,150,fp8,vLLM,1,1,1000,200"


def test_a_decode_step_needs_no_length_but_its_context() -> None:
    found = case(row(kind="decode_batch", metric="tok/s total output", input_len="4096", output_len=""))
    assert (found.way, found.prompt_tokens, found.output_tokens) == ("step", 4096.0, 0.0)


HEADER = "id,hardware_id,model_id,kind,metric,value,weight_format,engine,n_devices,batch_or_concurrency,input_len,output_len"


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    bad = (
        "own-2,h999,llama-3.1-8b,decode_single,tok/s per user,150,fp8,vLLM,1,1,1000,200",
        "own-3,h100-sxm,llama-3.1-8b,decode_single,tok/s per user,fast,fp8,vLLM,1,1,1000,200",
        "own-4,h100-sxm,llama-3.1-8b,decode_single,tok/s per user,-3,fp8,vLLM,1,1,1000,200",
        "own-5,h100-sxm,llama-3.1-8b,decode_single,tok/s per user,150,fp7,vLLM,1,1,1000,200",
        "own-6,h100-sxm",
    )
    path = tmp_path / "own.csv"
    path.write_text("\n".join([HEADER, GOOD, *bad]) + "\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["validate", "--csv", str(path), "--json"])
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    rows = {r["id"]: r for r in answer["rows"]}
    assert set(rows) == {f"own-{n}" for n in range(1, 7)}
    assert {"id", "limit", "expected", "low", "high", "measured", "error"} <= rows["own-1"].keys()
    assert rows["own-1"]["expected"] / 150 - 1 == pytest.approx(rows["own-1"]["error"])
    assert all(rows[f"own-{n}"]["expected"] is None and rows[f"own-{n}"]["reason"] for n in range(2, 7))
    assert set(answer["summary"]) == {"kind", "phase", "source", "hardware", "engine"}
    assert answer["summary"]["engine"]["vllm"]["n"] == 1


def test_a_table_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["validate", "--csv", str(path)])
    assert result.exit_code in (1, 2)
    with pytest.raises(InputError, match="lacks the column"):
        read_measurements(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_measurements(tmp_path / "absent.csv")


def test_the_text_names_groups_and_reasons() -> None:
    result = CliRunner().invoke(app, ["validate"])
    assert result.exit_code == 0
    assert "by engine" in result.stdout
    assert "a kernel, not a model" in result.stdout
