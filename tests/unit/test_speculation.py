"""Drafted and forced tokens, from limiting cases, the published law and a published figure."""

from __future__ import annotations

import itertools
import json

import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link, load_model, sweep
from roofline.answers.explain import explain
from roofline.answers.report import Report
from roofline.answers.serialise import report_json
from roofline.cli import app
from roofline.errors import InputError, UnknownIdError
from roofline.formulas.speculation import speculative_speedup
from roofline.performance.served import draft_module
from roofline.performance.weights import weight_bytes
from roofline.specs.speculation import Speculation


def asked(**fields: object) -> Scenario:
    return Scenario.model_validate({"model": "llama-3.3-70b", "hardware": "h100-sxm", "devices": 4, "batch": 1, **fields})


def with_(scenario: Scenario, **fields: object) -> Report:
    return evaluate(Scenario.model_validate({**scenario.model_dump(), **fields}))


def rows(report: Report, phase: str, name: str) -> float:
    return next(row.flops for row in report.operators if (row.phase, row.name) == (phase, name))


@pytest.mark.parametrize("text", ["mtp:1@0.85", "ngram:4@0.5", "llama-3.2-1b:64@1", "a/b:c:3@0", "mtp:2@1e-05"])
def test_a_draft_is_one_word(text: str) -> None:
    assert str(Speculation.model_validate(text)) == text
    assert Speculation.model_validate(text).model_dump() == text


@pytest.mark.parametrize(
    ("text", "word"),
    [("", "not a draft"), ("mtp", "not a draft"), ("mtp:1", "not a draft"), ("mtp:0@0.5", "at least 1"),
     ("mtp:99@1", "at most 64"), ("mtp:1@1.5", "at most 1"), ("mtp:1@nan", "not a draft"),
     (":1@0.5", "not a draft"), ("mtp:x@0.5", "not a draft")],
)  # fmt: skip
def test_what_is_no_draft_is_told(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        asked(speculative=text)
    decoded = link.decode({"spec": text})
    assert decoded.scenario == link.DEFAULT
    assert len(decoded.problems) == 1


def test_a_draft_model_is_one_of_the_catalogue() -> None:
    for ref in ("/etc/passwd", "no-such-model", "../config.json"):
        with pytest.raises(UnknownIdError):
            evaluate(asked(speculative=f"{ref}:2@0.5"))
        assert len(link.decode({"spec": f"{ref}:2@0.5"}).problems) == 1


def test_a_module_drafts_only_where_the_model_has_one() -> None:
    with pytest.raises(InputError, match="no multi-token-prediction module"):
        evaluate(asked(speculative="mtp:1@0.8"))


def test_a_module_is_a_layer_and_a_joining_matrix() -> None:
    """What its configuration counts as draft parameters, but for the three norms: DeepSeek-V3 reports 14 billion with tables."""
    model = load_model("deepseek-v3")
    module = draft_module(model)
    own = sum(t.n_parameters for g in module.groups for b in g.blocks for t in b.tensors)
    assert own == model.draft_parameters - 3 * model.hidden_size
    tables = sum(t.n_parameters for t in module.ends)
    assert own + tables == pytest.approx(14e9, rel=0.05)  # model card: 685 billion in all, 671 main, 14 draft with shared tables


def test_free_drafts_of_a_memory_bound_step_obey_the_published_law() -> None:
    """With few tokens beside many weights, verifying is as quick as a step: speed-up t / (1 + g c) with c from weights read.

    Those are all parameters (model cards) but an input table of 128,256 rows that is not the output head too.
    """
    read = {"llama-3.2-1b": 1.236e9, "llama-3.1-8b": 8.030e9 - 128_256 * 4096, "llama-3.3-70b": 70.55e9 - 128_256 * 8192}
    plain = asked(input_tokens=100, output_tokens=100)
    for text, small in (("ngram:4@0.5", None), ("llama-3.2-1b:4@0.7", "llama-3.2-1b"), ("llama-3.1-8b:5@0.8", "llama-3.1-8b")):
        draft = Speculation.model_validate(text)
        cost = 0.0 if small is None else read[small] / read["llama-3.3-70b"]
        law = speculative_speedup(acceptance_frac=draft.acceptance, n_draft_tokens=draft.n_tokens, draft_cost_frac=cost)
        found = evaluate(plain).limit.tpot_s / with_(plain, speculative=text).limit.tpot_s
        assert found == pytest.approx(float(law), rel=0.01)


def test_deepseek_reports_1_8_times_the_speed_with_its_module() -> None:
    """DeepSeek-V3 technical report, section 5.4.3: 85 to 90 % of second tokens accepted, 1.8 times the tokens per second.

    In the shape of its decode deployment (section 3.4.2): H800, attention in groups of four, experts spread over all devices.
    No batch is told. Expected is 1.5 to 1.6 with ten sequences a device, and 1.7 to 1.8 with four: exchanges of twice the tokens
    take longer.
    """
    plan = {"tensor_parallel": 4, "data_parallel": 64, "expert_parallel": 256}
    served = asked(model="deepseek-v3", hardware="h800", devices=256, batch=2560, **plan)
    gains = [with_(served, speculative=f"mtp:1@{a}").expected.output_tokens_per_s for a in (0.85, 0.9)]
    assert [gain / evaluate(served).expected.output_tokens_per_s for gain in gains] == pytest.approx([1.8, 1.8], rel=0.2)


def test_verification_is_the_step_of_more_tokens() -> None:
    base = asked(batch=8)
    plain, drafted = evaluate(base), with_(base, speculative="ngram:3@0.5")
    for name in ("mlp/down", "output_head"):
        assert rows(drafted, "decode", name) == pytest.approx(4.0 * rows(plain, "decode", name))
    assert drafted.tokens_per_step == 1.875  # 1 + 1/2 + 1/4 + 1/8
    assert drafted.expected.tpot_s == pytest.approx(drafted.expected.decode_step_s / 1.875)
    assert drafted.expected.output_tokens_per_s == pytest.approx(8 * 1.875 / drafted.expected.decode_step_s)
    assert drafted.expected.ttft_s == plain.expected.ttft_s


def test_more_tokens_touch_more_experts() -> None:
    base = asked(model="mixtral-8x7b", batch=1, devices=2)

    def read(report: Report) -> float:
        return next(row.weight_bytes for row in report.operators if (row.phase, row.name) == ("decode", "experts/down"))

    # two of eight experts for one token, 8 (1 - (3/4)^2) = 3.5 for two
    assert read(with_(base, speculative="ngram:1@0.5")) / read(evaluate(base)) == pytest.approx(3.5 / 2.0)


def test_a_draft_model_is_held_and_run_beside() -> None:
    base = asked(devices=1, model="llama-3.1-8b", weights="bf16", batch=4)
    plain, drafted = evaluate(base), with_(base, speculative="llama-3.2-1b:3@0.7")
    own = weight_bytes(load_model("llama-3.2-1b"), "bf16")
    assert drafted.memory.weights_bytes_per_device - plain.memory.weights_bytes_per_device == pytest.approx(own)
    small = evaluate(asked(devices=1, model="llama-3.2-1b", weights="bf16", batch=4))
    assert drafted.memory.kv_cache_bytes_per_sequence == pytest.approx(
        plain.memory.kv_cache_bytes_per_sequence + small.memory.kv_cache_bytes_per_sequence
    )
    verification = with_(base, speculative="ngram:3@0.7")
    assert drafted.expected.decode_step_s == pytest.approx(verification.expected.decode_step_s + 3 * small.expected.decode_step_s)
    assert drafted.limit.decode_step_s == pytest.approx(verification.limit.decode_step_s + 3 * small.limit.decode_step_s)
    assert drafted.expected.ttft_s == pytest.approx(plain.expected.ttft_s + small.expected.ttft_s)
    assert sum(s.seconds for s in drafted.shares["decode"]) == pytest.approx(drafted.expected.decode_step_s)


def test_a_module_brings_one_layer_of_weights_and_cache() -> None:
    base = asked(model="deepseek-v3", hardware="h200-sxm", devices=8, tensor_parallel=8, data_parallel=1)
    plain, drafted = evaluate(base), with_(base, speculative="mtp:1@0.85")
    cache = drafted.memory.kv_cache_bytes_per_sequence / plain.memory.kv_cache_bytes_per_sequence
    assert cache == pytest.approx(62 / 61)
    more = (drafted.memory.weights_bytes_per_device - plain.memory.weights_bytes_per_device) * 8
    # 11.6 billion parameters of the layer and the join, one byte most of them, some copied to every device
    assert more == pytest.approx(11.6e9, rel=0.15)
    assert {r.name for r in drafted.operators if r.name.startswith("draft/")} >= {"draft/join", "draft/output_head"}


def test_a_module_on_the_last_of_several_stages_drafts_for_all_micro_batches() -> None:
    base = asked(model="deepseek-v3", hardware="h200-sxm", devices=16, tensor_parallel=8, pipeline_parallel=2, batch=64)
    once, drafted = with_(base, speculative="ngram:1@0.85"), with_(base, speculative="mtp:1@0.85")
    shallow = [with_(base, devices=8, pipeline_parallel=1, batch=32, speculative=f"{d}:1@0.85") for d in ("ngram", "mtp")]
    one = shallow[1].expected.decode_step_s - shallow[0].expected.decode_step_s
    assert drafted.expected.decode_step_s - once.expected.decode_step_s == pytest.approx(2.0 * one)


def test_forced_tokens_ride_on_the_next_step() -> None:
    base = asked(batch=16)
    plain, half = evaluate(base), with_(base, forced_output=0.5)
    assert half.tokens_per_step == 2.0
    assert rows(half, "decode", "mlp/down") == pytest.approx(2.0 * rows(plain, "decode", "mlp/down"))
    assert rows(half, "decode", "output_head") == pytest.approx(rows(plain, "decode", "output_head"))
    # memory bound: two tokens for hardly more than the price of one
    assert plain.limit.tpot_s / half.limit.tpot_s == pytest.approx(2.0, rel=0.02)
    both = with_(base, forced_output=0.5, speculative="ngram:1@1")
    assert both.tokens_per_step == 4.0
    # two positions to decide on, and two forced tokens
    assert rows(both, "decode", "mlp/down") == pytest.approx(4.0 * rows(plain, "decode", "mlp/down"))


def test_a_request_rate_needs_fewer_sequences_when_tokens_come_faster() -> None:
    base = asked(batch=None, request_rate=2.0, devices=8)
    plain, drafted = evaluate(base), with_(base, speculative="ngram:4@0.8")
    assert drafted.batch < plain.batch
    assert drafted.expected.output_tokens_per_s == plain.expected.output_tokens_per_s
    assert drafted.sustained_requests_per_s > plain.sustained_requests_per_s


def test_drafts_and_forced_tokens_are_told() -> None:
    report = with_(asked(), speculative="qwen2.5-0.5b:4@0.7", forced_output=0.1)
    assert {"speculative decoding", "forced tokens"} <= {a.name for a in report.assumptions}
    assert any("vocabulary" in reason for reason in report.reasons)
    answer = report_json(report)
    assert answer["scenario"]["speculative"] == "qwen2.5-0.5b:4@0.7"
    assert answer["expected_tokens_per_step"] == pytest.approx(report.tokens_per_step)
    assert explain(report)["tokens_per_s_per_user"].substituted.startswith(f"{report.tokens_per_step:.3g} / (")
    assert link.from_query(link.to_query(report.scenario)).scenario == report.scenario
    assert "spec=qwen2.5-0.5b:4@0.7" in link.to_query(report.scenario)


def test_the_command_line_takes_drafts() -> None:
    args = ["--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "4"]
    result = CliRunner().invoke(app, ["estimate", *args, "--speculative", "ngram:2@0.5", "--forced-output", "0.25"])
    assert "tokens a step" in result.stdout
    told = CliRunner().invoke(
        app, ["sweep", *args, "--speculative", "ngram:2@0.5,ngram:4@0.5", "--forced-output", "0,0.5", "--json"]
    )
    assert [(row["speculative"], row["forced_output"]) for row in json.loads(told.stdout)] == [
        ("ngram:2@0.5", 0.0), ("ngram:2@0.5", 0.5), ("ngram:4@0.5", 0.0), ("ngram:4@0.5", 0.5)
    ]  # fmt: skip
    bad = CliRunner().invoke(app, ["estimate", *args, "--speculative", "mtp:1@0.9"])
    assert (bad.exit_code, bad.stderr.count("\n")) == (2, 1)


def test_a_sweep_with_a_draft_is_the_loop_over_its_points() -> None:
    base = asked(model="deepseek-v3", hardware="h200-sxm", devices=8, speculative="mtp:2@0.8", forced_output=0.1)
    table = sweep(base, {"batch": [1, 64], "input_tokens": [500, 5000]})
    for row, (batch, prompt) in zip(table.to_dict(orient="records"), itertools.product((1, 64), (500, 5000)), strict=True):
        report = with_(base, batch=batch, input_tokens=prompt)
        assert row["expected_tpot_s"] == pytest.approx(float(report.expected.tpot_s), rel=1e-12)
        assert row["limit_request_output_tokens_per_s"] == pytest.approx(
            float(report.limit.request_output_tokens_per_s), rel=1e-12
        )
