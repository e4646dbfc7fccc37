"""The command `advise`: what a machine can run, or what to buy for a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from roofline.answers.advisor import machine_advice
from roofline.answers.purchase import purchase_advice
from roofline.answers.serialise import Json, Link, machine_json, purchase_json
from roofline.errors import InputError
from roofline.specs.advice import MachineQuery, PurchaseQuery
from roofline.specs.scenario import Scenario
from roofline.texts import columns
from roofline.units import duration, memory_size, significant

Answer = Callable[[dict[str, Any], bool, Callable[[dict[str, Any]], str]], None]
Text = str | None
Whole = int | None
Number = float | None
_ADVISED = 40
"""Rows of a text; JSON has all."""
_LOAD = ("input_tokens", "output_tokens", "kv_cache", "engine")
_MACHINE = (*_LOAD, "devices", "memory_gib", "host", "host_memory_gib", "disk_gb_per_s", "grid", "ownership")
_OF_MACHINE = ("devices", "memory_gib", "host", "host_memory_gib", "disk_gb_per_s", "grid", "ownership", "context", "offload")
_OF_PURCHASE = ("most_devices", "announced")


def add_advice(app: typer.Typer, answer: Answer, link: Link) -> None:
    """Add the command to an application."""

    @app.command()
    def advise(
        hardware: Annotated[Text, typer.Option(help="Your machine: what can it run? '2xrtx3090' counts devices.")] = None,
        model: Annotated[Text, typer.Option(help="A model: what should I buy for it?")] = None,
        tokens_per_s: Annotated[Number, typer.Option(help="Least speed for one person; default 10.")] = None,
        context: Annotated[Whole, typer.Option(help="Least tokens of prompt and answer that must fit.")] = None,
        weights: Annotated[
            Text, typer.Option(help="Formats to try, with commas, 'stored' among them; default: the usual.")
        ] = None,
        offload: Annotated[
            bool, typer.Option("--offload", help="Host memory may hold what does not fit on the devices.")
        ] = False,
        devices: Annotated[Whole, typer.Option(help="Devices of the machine.")] = None,
        memory_gib: Annotated[Number, typer.Option("--memory-gib", help="Memory fitted to one CPU or Apple device, GiB.")] = None,
        host: Annotated[Text, typer.Option(help="CPU of the host; default: a usual one.")] = None,
        host_memory_gib: Annotated[Number, typer.Option("--host-memory-gib", help="Memory of the host, GiB.")] = None,
        disk_gb_per_s: Annotated[Number, typer.Option("--disk-gb-per-s", help="Rate of a disk that holds more, GB/s.")] = None,
        grid: Annotated[Text, typer.Option(help="Country, US state or cloud region of the electricity.")] = None,
        ownership: Annotated[Text, typer.Option(help="As power,usd_per_kwh=0.3; default: only electricity is paid.")] = None,
        input_tokens: Whole = None,
        output_tokens: Whole = None,
        kv_cache: Annotated[Text, typer.Option("--kv-cache")] = None,
        engine: Text = None,
        most_devices: Annotated[Whole, typer.Option(help="To buy at most; default 8.")] = None,
        announced: Annotated[bool, typer.Option("--announced", help="Include parts that are not shipping.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")] = False,
    ) -> None:
        """What a machine can run (--hardware), or what to buy for a model (--model), for one person."""
        given = {name: value for name, value in locals().items() if value is not None and value is not False}
        if (hardware is None) == (model is None):
            raise InputError("give --hardware to ask what it can run, or --model to ask what to buy for it.")
        if hardware is not None:
            answer(_machine(given, link), as_json, machine_text)
        else:
            answer(_purchase(given, link), as_json, purchase_text)


def _machine(given: Json, link: Link) -> Json:
    _refuse(given, _OF_PURCHASE, "--hardware")
    machine = Scenario.model_validate({"model": "any", **{n: given[n] for n in ("hardware", *_MACHINE) if n in given}})
    names = {"tokens_per_s": "least_tokens_per_s", "context": "least_context_tokens", "offload": "offload"}
    wishes = {field: given[name] for name, field in names.items() if name in given}
    return machine_json(machine_advice(MachineQuery(machine=machine, **wishes, **_formats(given, "formats"))), link)


def _purchase(given: Json, link: Link) -> Json:
    _refuse(given, _OF_MACHINE, "--model")
    wishes = {name: given[name] for name in ("model", *_LOAD, *_OF_PURCHASE) if name in given}
    speed = {"least_tokens_per_s": given["tokens_per_s"]} if "tokens_per_s" in given else {}
    return purchase_json(purchase_advice(PurchaseQuery(**wishes, **speed, **_formats(given, "weights"))), link)


def _formats(given: Json, field: str) -> Json:
    """A list with commas."""
    return {field: tuple(part.strip() for part in given["weights"].split(",") if part.strip())} if "weights" in given else {}


def _refuse(given: Json, names: tuple[str, ...], beside: str) -> None:
    wrong = [name for name in names if name in given]
    if wrong:
        raise InputError(f"--{wrong[0].replace('_', '-')} says nothing beside {beside}: leave it out.")


def machine_text(answer: Json) -> str:
    """What a machine runs: the best format of each model first."""
    shown = {item["model_name"]: item for item in reversed(answer["runs"])}
    head = ("model", "weights", "tokens/s", "prompt tokens/s", "context", "memory", "USD/M out", "place")
    rows = [_run_row(item) for item in answer["runs"] if shown[item["model_name"]] is item][:_ADVISED]
    return "\n".join([answer["sentence"], *(columns([head, *rows]) if rows else []), *answer["problems"]])


def _run_row(item: Json) -> tuple[str, ...]:
    return (
        item["model_name"],
        item["weights"],
        _sig(item["tokens_per_s"]),
        _sig(item["prefill_tokens_per_s"]),
        f"{item['most_context_tokens']:,}",
        memory_size(item["used_bytes_per_device"]),
        _sig(item["electricity_usd_per_million_output_tokens"]),
        "devices" if item["scenario"]["offload"] == "none" else f"{item['scenario']['offload']} on the host",
    )


def purchase_text(answer: Json) -> str:
    """What to buy: of each device the cheapest that is fast enough, or the fastest."""
    head = ("USD", "USD/h", "devices", "weights", "tokens/s", "TTFT", "context")
    rows = [_offer_row(item) for item in (answer["best"] or answer["offers"])[:_ADVISED]]
    return "\n".join([answer["sentence"], *(columns([head, *rows]) if rows else [])])


def _offer_row(item: Json) -> tuple[str, ...]:
    return (
        _whole(item["outlay_usd"]),
        _sig(item["usd_per_h"]),
        f"{item['devices']} x {item['hardware_name']}",
        item["weights"],
        _sig(item["tokens_per_s"]),
        duration(item["ttft_s"]),
        f"{item['most_context_tokens']:,}",
    )


def _whole(value: float | None) -> str:
    return "n/a" if value is None else f"{value:,.0f}"


def _sig(value: float | None) -> str:
    return "n/a" if value is None else significant(value)
