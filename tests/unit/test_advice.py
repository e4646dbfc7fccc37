"""Advice in parts: order, sentences, bad input, the command line, links that reproduce a row, the budget."""

from __future__ import annotations

import json
import time

import pytest
from typer.testing import CliRunner

from roofline import MachineQuery, PurchaseQuery, Scenario, evaluate, link, load_hardware, machine_advice, purchase_advice
from roofline.cli import app
from roofline.errors import InputError, RooflineError

RUNNER = CliRunner()


def on(hardware: str, **asked: object) -> MachineQuery:
    return MachineQuery(machine=Scenario(model="any", hardware=hardware), **asked)


def test_comfortable_models_come_first_the_largest_of_them_at_the_top() -> None:
    found = machine_advice(on("apple-m4max", least_tokens_per_s=20.0, least_context_tokens=32_768))
    comfortable = [run for run in found.runs if run.comfortable]
    assert comfortable == list(found.runs[: len(comfortable)])
    assert all(run.tokens_per_s >= 20.0 and run.most_context_tokens >= 32_768 for run in comfortable)
    sizes = [run.n_parameters for run in comfortable]
    assert sizes == sorted(sizes, reverse=True)
    speeds = [run.tokens_per_s for run in found.runs[len(comfortable) :]]
    assert speeds == sorted(speeds, reverse=True)
    assert found.runs[0].model_name in found.sentence


def test_formats_are_those_the_engine_of_the_device_runs() -> None:
    assert {run.scenario.weights for run in machine_advice(on("rtx4090")).runs} >= {"q4_k_m", "q8_0"}
    assert {run.scenario.weights for run in machine_advice(on("h100-sxm")).runs} == {None, "fp8", "int4_g128"}
    assert {run.scenario.weights for run in machine_advice(on("rtx4090", formats=("stored", "q6_k"))).runs} == {None, "q6_k"}


def test_a_machine_that_is_too_slow_or_too_small_says_so() -> None:
    slow = machine_advice(on("desktop-ddr4", least_tokens_per_s=1e6))
    assert "none as wished" in slow.sentence
    assert not any(run.comfortable for run in slow.runs)
    small = MachineQuery(machine=Scenario(model="any", hardware="apple-m1", memory_gib=1.0), formats=("fp32",))
    assert machine_advice(small).sentence.startswith("None of ")


def test_only_electricity_is_paid_unless_more_is_said() -> None:
    run = machine_advice(on("rtx4090")).runs[0]
    cost = evaluate(run.scenario).cost
    assert cost.price_kind == "power only"
    dear = Scenario(model="any", hardware="rtx4090", ownership="power,usd_per_kwh=1.0")
    other = machine_advice(MachineQuery(machine=dear)).runs[0]
    tariff = cost.usd_per_device_hour / evaluate(other.scenario).cost.usd_per_device_hour
    assert run.electricity_usd_per_million_output_tokens == pytest.approx(
        other.electricity_usd_per_million_output_tokens * tariff
    )


def test_a_device_of_ones_own_is_answered(tmp_path) -> None:
    device = load_hardware("l40s").model_dump(mode="json", exclude={"id", "prices", "tdp"}, exclude_none=True)
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps({"accelerators": {"mine": device}}), encoding="utf-8")
    found = machine_advice(on(str(file)))
    assert found.runs
    assert found.runs[0].electricity_usd_per_million_output_tokens is None


def test_a_machine_without_a_host_cannot_offload() -> None:
    with pytest.raises(InputError, match="no host memory beside its own"):
        machine_advice(on("apple-m4max", offload=True))


def test_a_cpu_has_no_purchase_price_since_its_memory_is_bought_apart() -> None:
    found = purchase_advice(PurchaseQuery(model="llama-3.1-8b", hardware=("epyc-9654", "rtx3090"), least_tokens_per_s=1.0))
    outlays = {offer.hardware: offer.outlay_usd for offer in found.best}
    assert outlays["epyc-9654"] is None
    assert outlays["rtx3090"] > 0.0
    assert found.best[0].hardware == "rtx3090"


def test_offers_name_a_number_only_where_it_helps() -> None:
    """Engines that give whole layers to each device are no faster for one person with more of them."""
    found = purchase_advice(PurchaseQuery(model="llama-3.1-8b", hardware=("rtx3090", "h100-sxm"), weights=("bf16",)))
    counts = {name: [o.devices for o in found.offers if o.hardware == name] for name in ("rtx3090", "h100-sxm")}
    assert counts["rtx3090"] == [1]
    assert len(counts["h100-sxm"]) > 1


def test_a_speed_out_of_reach_names_the_fastest() -> None:
    found = purchase_advice(PurchaseQuery(model="llama-3.3-70b", hardware=("rtx3090",), least_tokens_per_s=1e5))
    assert not found.best
    assert found.sentence.startswith("Nothing reaches")
    nothing = purchase_advice(PurchaseQuery(model="deepseek-v3", hardware=("rtx3090",), most_devices=1))
    assert nothing.sentence.startswith("No device")
    assert nothing.n_unfit == 1


@pytest.mark.parametrize("wish", [{"model": "lama"}, {"model": "llama-3.1-8b", "hardware": ("h1000",)}])
def test_what_does_not_exist_is_refused(wish) -> None:
    with pytest.raises(RooflineError, match="no "):
        purchase_advice(PurchaseQuery(**wish))


def command(*args: str) -> dict:
    result = RUNNER.invoke(app, ["advise", *args, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_command_line_answers_both_questions_with_links() -> None:
    runs = command("--hardware", "2xrtx3090", "--tokens-per-s", "20", "--context", "8192", "--weights", "q4_k_m")["runs"]
    report = evaluate(link.from_query(runs[0]["link"]).scenario)
    assert report.expected.tokens_per_s_per_user == runs[0]["tokens_per_s"]
    assert report.scenario.devices == 2
    offers = command("--model", "llama-3.1-8b", "--tokens-per-s", "50")["best"]
    again = evaluate(link.from_query(offers[0]["link"]).scenario)
    assert again.expected.tokens_per_s_per_user == pytest.approx(offers[0]["tokens_per_s"])
    text = RUNNER.invoke(app, ["advise", "--model", "llama-3.1-8b"]).stdout
    assert "Cheapest to buy" in text
    assert "q4_k_m" in RUNNER.invoke(app, ["advise", "--hardware", "rtx4090"]).stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "give --hardware"),
        (("--hardware", "rtx4090", "--model", "llama-3.1-8b"), "give --hardware"),
        (("--model", "llama-3.1-8b", "--offload"), "says nothing beside --model"),
        (("--hardware", "rtx4090", "--most-devices", "2"), "says nothing beside --hardware"),
        (("--hardware", "rtx4091"), "no hardware called"),
        (("--hardware", "rtx4090", "--tokens-per-s", "-1"), "at least 0"),
    ],
)
def test_bad_input_gets_a_sentence(args, words) -> None:
    result = RUNNER.invoke(app, ["advise", *args])
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize("hardware", ["rtx4090", "apple-m4max"])
def test_a_machine_is_answered_quickly(hardware) -> None:
    machine_advice(on(hardware))
    start = time.process_time()
    machine_advice(on(hardware, least_tokens_per_s=11.0))
    assert time.process_time() - start < 2.0


def test_a_purchase_is_answered_quickly() -> None:
    start = time.process_time()
    purchase_advice(PurchaseQuery(model="llama-3.3-70b"))
    assert time.process_time() - start < 3.0
