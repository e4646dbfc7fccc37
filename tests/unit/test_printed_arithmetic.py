"""What an explanation prints can be computed again: every formula with numbers comes to the result beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from roofline.answers.evaluate import evaluate
from roofline.answers.explain import explain
from roofline.answers.presets import PRESETS
from roofline.answers.report import Explanation
from roofline.formulas.experts import distinct_experts
from roofline.language import told_in
from roofline.specs.scenario import Scenario

UNITS = {
    "PFLOP": 1e15, "TFLOP": 1e12, "GFLOP": 1e9, "MFLOP": 1e6, "kFLOP": 1e3, "FLOP": 1.0,
    "PB": 1e15, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0,
    "GiB": 2.0**30, "MiB": 2.0**20, "ms": 1e-3, "µs": 1e-6, "s": 1.0,
    "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3,
}  # fmt: skip
NUMBER = re.compile(
    r"(?P<value>\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*(?P<unit>[PTGMk]?FLOP|[GM]iB|[PTGMk]?B|ms|µs|s|[TGMk])\b)?"
)
WORDS = (
    r"\b(?:USD/h|USD|tokens/s|between|of operators|memory|compute|network|latency|host)\b",
    r"(?:;| of| at the limit).*$",  # what stands after the sum
)
PER_NUMBER = 0.0051
"""Three digits: how far each printed number may be off."""

BUSY = Scenario(model="qwen3-235b-a22b", hardware="mi325x", devices=8, weights="fp8", request_rate=3.73)
OWNED = Scenario(model="llama-3.1-8b", hardware="apple-m4max", weights="q4_k_m", batch=1, ownership="on", utilisation=0.1)
PIPELINED = Scenario(model="deepseek-v3", hardware="h200-sxm", devices=32, pipeline_parallel=4, batch=32)
DRAFTED = PIPELINED.model_copy(update={"speculative": Scenario(model="x", hardware="x", speculative="mtp:2@0.8").speculative})
CASES = (
    *(preset.scenario for preset in PRESETS),
    BUSY,
    OWNED,
    OWNED.model_copy(update={"ownership": Scenario(model="x", hardware="x", ownership="power").ownership}),
    PIPELINED,
    PIPELINED.model_copy(update={"batch": None, "request_rate": 2.0, "prefix_hit": 0.7}),
    DRAFTED.model_copy(update={"prefix_hit": 0.5}),
    Scenario(model="deepseek-v3", hardware="h100-sxm", devices=32, batch=64, prefill_devices=16),
    Scenario(model="deepseek-v3", hardware="h100-sxm", devices=48, request_rate=4.0, prefill_devices=16),
    Scenario(model="llama-3.3-70b", hardware="h100-sxm", devices=4, batch=8, speculative="llama-3.2-1b:4@0.7", adapters="8x16"),
    Scenario(model="mamba2-2.7b", hardware="h100-sxm", batch=4),
    Scenario(model="gpt-oss-120b", hardware="h100-sxm", batch=16),
)


def below(found: Explanation) -> Iterator[Explanation]:
    yield found
    for part in found.parts:
        yield from below(part)


def computed(text: str) -> tuple[float, int] | None:
    """A formula with numbers as its value and how many numbers are in it; None where words are left."""
    for word in WORDS:
        text = re.sub(word, " ", text)
    count = len(NUMBER.findall(text))
    text = NUMBER.sub(lambda m: f"{float(m['value'].replace(',', '')) * UNITS.get(m['unit'] or '', 1.0)!r}", text)
    text = text.replace(" x ", " * ")
    if not re.fullmatch(r"(?:[\d.e+\-*/(), ]|max|inf)+", text):
        return None
    return float(eval(text, {"__builtins__": {}}, {"max": max})), count  # noqa: S307, digits and signs alone


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: f"{s.model}-{s.hardware}")
def test_every_printed_formula_comes_to_its_result(scenario: Scenario) -> None:
    n_checked = 0
    for name, found in explain(evaluate(scenario)).items():
        for node in below(found):
            sides = [computed(part) for part in node.substituted.split(" = ")]
            if len(sides) < 2 or "n/a" in node.substituted or "fit" in node.substituted:
                continue
            assert None not in sides, f"{name}, {node.title}: {node.substituted!r} is no arithmetic"
            result = sides[-1][0]
            for value, count in sides[:-1]:
                assert value == pytest.approx(result, rel=PER_NUMBER * (count + 1)), f"{name}, {node.title}: {node.substituted}"
            n_checked += 1
    assert n_checked > 10


@pytest.mark.parametrize("scenario", [BUSY, OWNED], ids=lambda s: s.model)
def test_the_cost_that_is_printed_is_the_cost(scenario: Scenario) -> None:
    report = evaluate(scenario)
    shown = explain(report)["usd_per_million_output_tokens"].substituted
    value, count = computed(shown.split(" = ")[0])
    assert value == pytest.approx(report.cost.usd_per_million_output_tokens, rel=PER_NUMBER * count)


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: f"{s.model}-{s.hardware}")
def test_bytes_are_made_of_what_the_ledger_counts(scenario: Scenario) -> None:
    """Terms of a row add up to it; experts touched are E (1 - (1 - k/E)^B) of the tokens that are named."""
    report = evaluate(scenario)
    for row in report.operators:
        if not row.terms:
            continue
        for name in ("flops", "weight_bytes", "cache_bytes", "compute_limit_s", "memory_limit_s"):
            assert sum(getattr(term, name) for term in row.terms) == pytest.approx(getattr(row, name))
        assert row.compute_limit_s * report.peak_flops_per_s[row.rate] == pytest.approx(row.flops)
        for term in row.terms:
            assert 0.0 <= term.touched_frac <= 1.0 + 1e-9


def test_experts_of_a_pipeline_are_those_of_a_micro_batch() -> None:
    """256 experts, 8 a token: the 8 sequences of one of four stages touch 256 (1 - (1 - 8/256)^8) = 57.4, not those of 32."""
    decode = explain(evaluate(PIPELINED))["tokens_per_s_per_user"].parts[0]
    weights = next(part for part in decode.parts if part.title == "experts: gate up").parts[0]
    touched = next(item.value for item in weights.inputs if item.name == "experts touched in a layer")
    expected = distinct_experts(n_experts=256, n_active_experts=8, n_tokens=8)
    assert touched.startswith(f"{expected:.1f} of 256")
    assert "for 8.00 tokens" in touched


def test_a_verification_brings_its_drafts_too() -> None:
    """Batch 32 in four stages, two drafted tokens: 8 x 3 tokens meet the experts at once."""
    report = evaluate(DRAFTED)
    row = next(row for row in report.operators if (row.phase, row.name) == ("decode", "experts/gate_up"))
    assert row.terms[0].met_tokens == pytest.approx(24)


def test_the_peak_named_is_that_of_the_row() -> None:
    """gpt-oss leaves attention in 16 bits: its products are held against that peak and not against that of the experts."""
    report = evaluate(Scenario(model="gpt-oss-120b", hardware="b200-sxm", batch=16))
    decode = explain(report)["tokens_per_s_per_user"].parts[0]
    peaks = {node.title: [p.title for p in node.parts if "peak" in p.title] for node in decode.parts}
    rates = {row.name: row.rate for row in report.operators if row.phase == "decode"}
    assert len(set(rates.values())) > 1
    for title, named in peaks.items():
        if named:
            rate = next(rate for name, rate in rates.items() if name.replace("/", ": ").replace("_", " ") == title)
            assert named == [f"Dense {rate} peak"]


def test_printed_formulas_hold_their_results_in_other_languages() -> None:
    with told_in("id"):
        shown = explain(evaluate(BUSY))["usd_per_million_output_tokens"].substituted
    text = shown.replace(".", "").replace(",", ".")
    left, right = (computed(side) for side in text.split(" = "))
    assert left[0] == pytest.approx(right[0], rel=0.04)
