"""Memory tiers and mixed boxes: limiting cases, laws, words, and one sentence for what cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.curves import batch_curve
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.answers.serialise import report_json
from roofline.catalog.boxes import host_cpu
from roofline.catalog.engines import load_engine
from roofline.catalog.hardware import load_hardware
from roofline.cli import app
from roofline.errors import InputError, PlanError, UnknownIdError
from roofline.performance.machine import Segment
from roofline.performance.offload import WHOLE
from roofline.performance.parts import ends_of, layers_of, together
from roofline.performance.sharding import Shard
from roofline.performance.steps import Setting

LARGE: dict[str, Any] = {"model": "llama-3.3-70b", "hardware": "rtx4090", "weights": "q4_k_m", "batch": 1}
SMALL: dict[str, Any] = {"model": "llama-3.1-8b", "hardware": "rtx4090", "weights": "q4_k_m", "batch": 1}
EXPERTS: dict[str, Any] = {"model": "qwen3-30b-a3b", "hardware": "rtx4090", "weights": "q4_k_m", "batch": 1}
LENGTHS: dict[str, Any] = {"input_tokens": 512, "output_tokens": 256}


def ask(base: dict[str, Any], **fields: object) -> Report:
    return evaluate(Scenario(**{**LENGTHS, **base, **fields}))


def rate(report: Report) -> float:
    return float(report.expected.tokens_per_s_per_user)


def test_nothing_on_the_host_is_no_offload() -> None:
    none = report_json(ask(SMALL))
    for text in ("layers:0", "experts:0", "layers"):
        same = report_json(ask(SMALL, offload=text))
        for name, limit in none["limit"].items():
            assert same["limit"][name] == pytest.approx(limit, rel=1e-12), name
            for end, value in none["expected"][name].items():
                assert same["expected"][name][end] == pytest.approx(value, rel=1e-12), (name, end)
        assert same["memory"]["max_batch"] == none["memory"]["max_batch"]


def test_more_layers_on_the_host_are_never_faster_and_leave_more_room() -> None:
    reports = [ask(SMALL, offload=f"layers:{n}") for n in range(0, 33, 4)]
    rates, room = [rate(r) for r in reports], [r.memory.max_batch for r in reports]
    assert rates == sorted(rates, reverse=True)
    assert room == sorted(room)
    shares = [rate(ask(EXPERTS, offload=f"experts:{share}", host="ryzen-9950x")) for share in (0.25, 0.5, 0.75, 1.0)]
    assert shares == sorted(shares, reverse=True)


def test_layers_alone_are_as_few_as_needed() -> None:
    assert not ask(LARGE).memory.fits
    chosen = ask(LARGE, offload="layers")
    n = int(next(p.structure.n_layers for p in resolve(Scenario(**LENGTHS, **LARGE, offload="layers")).machine.segments))
    assert chosen.memory.fits
    assert not ask(LARGE, offload=f"layers:{n - 1}").memory.fits
    assert rate(chosen) == pytest.approx(rate(ask(LARGE, offload=f"layers:{n}")), rel=1e-12)


def test_the_host_is_named_where_it_binds() -> None:
    report = ask(LARGE, offload="layers", host="2xepyc-9654", host_memory_gib=256)
    assert report.bound["decode"] == "host"
    assert "host memory" in report.sentence
    assert "host (2 x EPYC 9654" in report.sentence
    names = {a.name: a for a in report.assumptions}
    assert "as asked" in names["host"].basis
    assert names["host memory"].basis == "as asked"
    usual = {a.name: a for a in ask(LARGE, offload="layers").assumptions}
    assert "name yours" in usual["host"].basis


def test_decode_on_the_host_takes_the_bytes_over_its_bandwidth_at_least() -> None:
    # all layers of 70B on two channels of DDR5-5600: 42.5 GB of file less the two ends, at 89.6 GB/s, is 2.2 tokens/s at best
    report = ask(LARGE, offload="layers:80")
    assert 2.0 < float(report.limit.tokens_per_s_per_user) < 2.3
    assert rate(report) < float(report.limit.tokens_per_s_per_user)


def test_memory_is_told_by_tier() -> None:
    report = ask(LARGE, offload="layers", host="ryzen-9950x", host_memory_gib=16, disk_gb_per_s=7)
    tiers = {t.tier: t for t in report.memory.tiers}
    assert set(tiers) == {"device", "host", "disk"}
    assert tiers["disk"].usable_bytes is None
    for tier in ("device", "host"):
        assert tiers[tier].used_bytes <= (tiers[tier].usable_bytes or 0.0) * (1 + 1e-9)
    whole = sum(t.weights_bytes for t in report.memory.tiers)
    alone = ask(LARGE).memory
    assert whole == pytest.approx(float(alone.weights_bytes_per_device), rel=1e-9)
    assert "disk" in report.sentence
    (single,) = alone.tiers
    assert single.used_bytes == pytest.approx(float(alone.used_bytes_per_device))


def test_a_disk_reads_what_memory_lacks_and_only_touched_experts() -> None:
    fits = ask(LARGE, offload="layers", host_memory_gib=64, disk_gb_per_s=7)
    assert {t.tier for t in fits.memory.tiers} == {"device", "host"}
    assert rate(ask(LARGE, offload="layers", host_memory_gib=16, disk_gb_per_s=7)) < rate(fits)
    assert not ask(LARGE, offload="layers", host_memory_gib=16).memory.fits
    spilled = ask(EXPERTS, offload="experts", host_memory_gib=8, disk_gb_per_s=7)
    rows = [row for row in spilled.operators if row.phase == "decode" and row.name.startswith("disk/experts/")]
    held = next(t.weights_bytes for t in spilled.memory.tiers if t.tier == "disk")
    # 8 of 128 experts a token; the table of input tokens, a hundredth of it, is looked up
    assert sum(row.bytes for row in rows) == pytest.approx(held * 8 / 128, rel=0.02)


def test_a_cpu_reads_from_its_own_disk() -> None:
    base = {"model": "llama-3.3-70b", "hardware": "ryzen-9950x", "weights": "q4_k_m", "batch": 1, "memory_gib": 32}
    assert not ask(base).memory.fits
    report = ask(base, disk_gb_per_s=7)
    assert report.memory.fits
    assert "disk" in report.sentence
    assert rate(report) < rate(ask({**base, "memory_gib": 64}))


def test_a_cache_on_the_host_costs_its_reading_over_the_link() -> None:
    report = ask(SMALL, offload="cache", input_tokens=100_000)
    # 131,072 B a token in 16 bit over 31.5 GB/s
    cached = 100_128 * 131_072
    assert float(report.limit.decode_step_s) == pytest.approx(cached / 31.5e9, rel=1e-3)
    assert report.bound["decode"] == "host"
    assert "comes from the host" in report.sentence
    assert report.memory.max_batch > ask(SMALL, input_tokens=100_000).memory.max_batch


def test_prompts_take_the_quicker_way() -> None:
    # one token: weights are read where they are; 512 of them: over the link rather than on a desktop CPU
    found = ask(LARGE, offload="layers", input_tokens=512).operators
    assert any(row.name == "network/weights" for row in found if row.phase == "prefill")
    short = ask(LARGE, offload="layers", input_tokens=1).operators
    assert not any(row.name == "network/weights" for row in short)


def segment(share: float, base: Scenario, ends: bool, crossings: float) -> Segment:
    found = resolve(base)
    part = layers_of(found.structure, share)
    part = together((part, ends_of(found.structure))) if ends else part
    return Segment(f"card {crossings:g}", "device", part, found.machine, found.formats, part, crossings)


def test_two_equal_devices_in_series_are_a_layer_split() -> None:
    base = Scenario(
        **LENGTHS, model="llama-3.1-8b", hardware="rtx3090", devices=2, pipeline_parallel=2, weights="q4_k_m", batch=1
    )
    found = resolve(base)
    series = replace(found.machine, segments=(segment(0.5, base, False, 0.0), segment(0.5, base, True, 1.0)))
    split = Setting(found.structure, Shard(1.0, 2.0, 1.0, 1.0, 0.0), found.formats, found.machine).decode(1.0, 512.0)
    chained = Setting(found.structure, WHOLE, found.formats, series).decode(1.0, 512.0)
    assert float(chained.limit_s) == pytest.approx(float(split.limit_s), rel=1e-12)
    # a full pipeline runs the ends of the model once per stage, one stream only once
    ends = sum(float(np.sum(row.expected_s, where=np.logical_not(row.ops.in_layers))) for row in split.rows)
    assert float(chained.expected_s) + ends == pytest.approx(float(split.expected_s), rel=1e-9)


def test_many_sequences_may_follow_each_other_through_the_parts() -> None:
    one, many = (ask({**LARGE, "batch": b}, offload="layers:60", host="epyc-9654") for b in (1, 64))
    steps = resolve(Scenario(**LENGTHS, **{**LARGE, "batch": 64}, offload="layers:60", host="epyc-9654"))
    step = Setting(steps.structure, WHOLE, steps.formats, steps.machine).decode(64.0, 640.0)
    longest = max(float(part.limit_s) for part in step.parts)
    assert float(many.limit.decode_step_s) == pytest.approx(max(longest, float(one.limit.decode_step_s)), rel=1e-9)
    assert float(many.limit.decode_step_s) <= sum(float(part.limit_s) for part in step.parts)


def test_a_mixed_box_names_adds_and_fills() -> None:
    report = ask(LARGE, hardware="2xrtx3090+rtx4090")
    assert report.scenario.devices == 3
    assert report.hardware_name == "2 x GeForce RTX 3090 + GeForce RTX 4090"
    assert report.memory.fits
    prices = [ask(SMALL, hardware=h, devices=1).cost.usd_per_hour for h in ("rtx3090", "rtx4090")]
    assert report.cost.usd_per_hour == pytest.approx(2 * prices[0] + prices[1])
    # the fastest device is filled first: two are enough for one sequence
    assert report.plan.devices_used == 2
    assert any("stay idle" in line for line in report.reasons)
    most = ask({**LARGE, "batch": None}, hardware="2xrtx3090+rtx4090")
    assert most.plan.devices_used == 3
    assert most.memory.max_batch > report.memory.max_batch


def test_a_mixed_box_that_is_too_small_says_which_device() -> None:
    report = ask({**LARGE, "weights": "bf16"}, hardware="rtx3090+rtx4090")
    assert not report.memory.fits
    assert "GeForce RTX" in report.sentence
    assert "q4_k_m weights would do" in report.sentence.lower()


def test_a_box_with_a_device_without_a_price_has_none() -> None:
    report = ask(LARGE, hardware="rtx4090+rtx3080-12")
    assert report.cost.usd_per_hour is None
    assert "rtx3080-12" in report.cost.basis


def test_a_device_of_no_usual_host_asks_for_one() -> None:
    with pytest.raises(InputError, match="name a CPU with --host"):
        host_cpu(None, load_hardware("apple-m4max"))
    assert host_cpu("2xepyc-9654", load_hardware("apple-m4max"))[0] == 2


def test_a_host_that_is_too_small_is_named_and_the_device_is_told_apart() -> None:
    report = ask(EXPERTS, offload="experts", host_memory_gib=8)
    assert not report.memory.fits
    assert "host (Ryzen 9 9950X) needs" in report.sentence
    assert "has 8.00 GiB" in report.sentence
    assert float(report.memory.usable_bytes_per_device) == pytest.approx(24564 * 2**20)
    fits = ask(EXPERTS, offload="experts")
    device = next(t for t in fits.memory.tiers if t.tier == "device")
    assert device.used_bytes == pytest.approx(float(fits.memory.used_bytes_per_device))


def test_equal_parts_are_one_kind_of_device() -> None:
    assert Scenario(**SMALL | {"hardware": "rtx3090+rtx3090"}) == Scenario(**SMALL | {"hardware": "2xrtx3090"})


def test_auto_takes_the_fastest_that_fits_and_says_so() -> None:
    easy = ask(SMALL, offload="auto")
    assert easy.offload == "none"
    assert rate(easy) == pytest.approx(rate(ask(SMALL)), rel=1e-12)
    hard = ask({**EXPERTS, "hardware": "rtx3070"}, offload="auto")
    assert hard.memory.fits
    assert any("Offload chosen" in line for line in hard.reasons)
    fitting = [r for r in (ask({**EXPERTS, "hardware": "rtx3070"}, offload=o) for o in ("experts", "layers")) if r.memory.fits]
    assert float(hard.expected.requests_per_s) >= max(float(r.expected.requests_per_s) for r in fitting)
    never = ask({**LARGE, "weights": "bf16"}, offload="auto", host_memory_gib=16)
    assert any("fits with none" in line for line in never.reasons)


def test_a_curve_and_a_sweep_say_the_same_as_an_estimate() -> None:
    report = ask(LARGE, offload="auto")
    curve = batch_curve(report)
    at = list(curve.batch).index(1.0)
    assert float(np.asarray(curve.expected.decode_step_s)[at]) == pytest.approx(float(report.expected.decode_step_s), rel=1e-9)
    table = sweep(Scenario(**LENGTHS, **LARGE), {"offload": ["none", "layers"], "batch": [1, 2]})
    assert list(table["fits"]) == [False, False, True, True]
    assert table["expected_tokens_per_s_per_user"][2] == pytest.approx(rate(ask(LARGE, offload="layers")), rel=1e-9)
    assert table["expected_tokens_per_s_per_user"][3] == pytest.approx(
        rate(ask({**LARGE, "batch": 2}, offload="layers")), rel=1e-9
    )


@pytest.mark.parametrize("offload", ["layers", "cache", "auto"])
@pytest.mark.parametrize("hardware", ["rtx4090", "rtx3090"])
def test_several_devices_beside_a_host_have_a_curve(offload: str, hardware: str) -> None:
    """Machines in series are one request to the planner, however many devices there are."""
    load = Scenario(model="llama-3.3-70b", hardware=hardware, devices=2, batch=1, offload=offload)
    report = evaluate(load)
    curve = batch_curve(report)
    (here,) = np.flatnonzero(np.asarray(curve.batch) == report.batch)
    assert np.asarray(curve.expected.decode_step_s)[here] == pytest.approx(report.expected.decode_step_s, nan_ok=True)


def test_the_engine_that_can_is_taken_and_the_one_that_cannot_is_told() -> None:
    report = ask(EXPERTS, hardware="h100-sxm", weights="bf16", offload="experts")
    assert any("is taken instead" in line for line in report.reasons)
    with pytest.raises(InputError, match="vLLM keeps experts on devices: choose the engine"):
        ask(EXPERTS, engine="vllm", offload="experts")
    with pytest.raises(InputError, match="different kinds"):
        ask(LARGE, hardware="rtx3090+rtx4090", engine="vllm")


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"offload": "most"}, InputError, "layers:N"),
        ({"offload": "layers:many"}, InputError, "whole number of layers"),
        ({"offload": "experts:2"}, InputError, "share from 0 to 1"),
        ({"offload": "cache:1"}, InputError, "it can be none"),
        ({"offload": "layers:99"}, InputError, "more than the 32"),
        ({"offload": "experts"}, InputError, "no routed experts"),
        ({"offload": "layers", "hardware": "apple-m4max", "weights": None}, InputError, "no host memory beside its own"),
        ({"offload": "layers", "hardware": "strixhalo"}, InputError, "no host memory beside its own"),
        ({"offload": "layers", "host": "h100-sxm"}, UnknownIdError, "no host called"),
        ({"offload": "layers", "tensor_parallel": 2, "devices": 2}, PlanError, "in series"),
        ({"offload": "layers", "devices": 100}, InputError, "at most 64"),
        ({"disk_gb_per_s": 5}, InputError, "choose what to offload"),
        ({"hardware": "rtx4090+epyc-9654"}, InputError, "name it as the host"),
        ({"hardware": "rtx4090+nothing"}, UnknownIdError, "no hardware called"),
        ({"hardware": "2xrtx4090+rtx3090", "devices": 2}, InputError, "give one of them"),
    ],
)
def test_what_cannot_be_gets_one_sentence(fields: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(SMALL, **fields)


def test_links_hold_the_tiers() -> None:
    asked = Scenario(
        **{**LARGE, "hardware": "2xrtx3090+1xrtx4090"},
        offload="layers:8",
        host="2xepyc-9654",
        host_memory_gib=64,
        disk_gb_per_s=3.5,
    )
    query = link.encode(asked)
    assert {query[key] for key in ("off", "host", "hostmem", "disk")} == {"layers:8", "2xepyc-9654", "64", "3.5"}
    assert link.decode(query).scenario == asked
    assert not link.decode(query).problems
    assert link.portable(asked) == asked
    told = link.decode({"host": "h100-sxm", "off": "x", "hw": "rtx4090+zzz"}).problems
    assert len(told) == 3


def test_the_command_line_answers_with_tiers() -> None:
    words = ["estimate", "--model", "llama-3.3-70b", "--hardware", "rtx4090", "--weights", "q4_k_m", "--batch", "1"]
    answer = CliRunner().invoke(app, [*words, "--offload", "layers", "--host", "ryzen-9950x"])
    assert answer.exit_code == 0
    assert "host memory" in answer.output
    bad = CliRunner().invoke(app, [*words, "--offload", "everything"])
    assert bad.exit_code == 2


@pytest.mark.parametrize("hardware", ["h100-sxm", "rtx4090", "apple-m4max", "epyc-9654"])
@pytest.mark.parametrize("model", ["llama-3.1-8b", "gpt-oss-20b"])
def test_under_the_limit_engine_what_is_expected_is_the_limit(hardware: str, model: str) -> None:
    report = evaluate(Scenario(model=model, hardware=hardware, batch=4, engine="limit", input_tokens=2048, output_tokens=512))
    for name in ("ttft_s", "tpot_s", "decode_step_s", "prefill_tokens_per_s", "output_tokens_per_s", "requests_per_s"):
        limit = float(getattr(report.limit, name))
        for end in (report.expected, report.expected_low, report.expected_high):
            assert float(getattr(end, name)) == pytest.approx(limit, rel=1e-9), name


def test_under_the_limit_engine_a_network_is_hidden_behind_the_work() -> None:
    report = evaluate(Scenario(model="llama-3.3-70b", hardware="8xh100-sxm", tensor_parallel=8, batch=8, engine="limit"))
    assert float(report.expected.decode_step_s) == pytest.approx(float(report.limit.decode_step_s), rel=1e-9)
    assert all(share.seconds >= -1e-12 for share in report.shares["decode"])
    offloaded = ask(LARGE, engine="limit", offload="layers")
    assert float(offloaded.expected.decode_step_s) == pytest.approx(float(offloaded.limit.decode_step_s), rel=1e-9)


@pytest.mark.parametrize(("engine", "device"), [("mlx", "apple-m2ultra"), ("ktransformers", "rtx4090")])
def test_borrowed_constants_say_so_and_are_wider(engine: str, device: str) -> None:
    borrowed = load_engine(engine, load_hardware(device))
    assert not borrowed.is_calibrated
    assert any("borrowed" in line for line in borrowed.calibrated)
    own = load_engine("llama-cpp", load_hardware(device))
    assert borrowed.decode_time_band[1] / borrowed.decode_time_band[0] >= own.decode_time_band[1] / own.decode_time_band[0]


def test_a_second_socket_adds_less_than_the_first() -> None:
    one, two = (rate(ask(LARGE, offload="layers:80", host=host)) for host in ("epyc-9654", "2xepyc-9654"))
    assert 1.0 < two / one < 1.5
    assert float(ask(LARGE, offload="layers:80", host="2xepyc-9654").limit.decode_step_s) < 1.01 * float(
        ask(LARGE, offload="layers:80", host="epyc-9654").limit.decode_step_s
    )


@pytest.mark.parametrize("engine", ["llama-cpp", "ktransformers"])
@pytest.mark.parametrize("hardware", ["rtx4090", "rtx3070", "h100-sxm"])
@pytest.mark.parametrize("host", ["ryzen-9950x", "2xepyc-9654", "xeon-6980p-mcr"])
def test_nothing_expected_beats_its_limit(engine: str, hardware: str, host: str) -> None:
    for batch, prompt, share in ((1, 1, 0.5), (1, 4096, 1.0), (32, 512, 0.25)):
        fields = {"hardware": hardware, "host": host, "engine": engine, "offload": f"experts:{share}", "input_tokens": prompt}
        report = ask({**EXPERTS, "batch": batch}, **fields)
        if not report.memory.fits:
            continue
        for name in ("ttft_s", "tpot_s", "decode_step_s"):
            limit, least = float(getattr(report.limit, name)), float(getattr(report.expected, name))
            assert least >= limit * (1.0 - 1e-9), (name, batch, prompt)
        for name in ("output_tokens_per_s", "requests_per_s", "prefill_tokens_per_s"):
            assert float(getattr(report.expected, name)) <= float(getattr(report.limit, name)) * (1.0 + 1e-9), name
