"""The command line: the same answers as the library and the dashboard, as text or JSON.

Exit status 0 for an answer (also "does not fit"), 2 for bad input with one sentence on standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from roofline import link as links
from roofline.answers.catalogs import catalog_json, formula_json
from roofline.answers.evaluate import evaluate
from roofline.answers.formulary import load_formula
from roofline.answers.measure import measure as measure_here
from roofline.answers.measure import measurement_json, write_entry
from roofline.answers.refit import refit as refit_rows
from roofline.answers.refit import refit_json
from roofline.answers.serialise import hardware_json, plain, report_json, validation_json
from roofline.answers.sweep import sweep as sweep_table
from roofline.answers.validation import validate as compare_all
from roofline.catalog.hardware import load_hardware
from roofline.catalog.measurements import read_measurements
from roofline.catalog.models import load_model
from roofline.catalog.own_constants import read_constants
from roofline.cli_advice import add_advice
from roofline.cli_compare import add_compare
from roofline.cli_link import add_link
from roofline.cli_money import add_commands
from roofline.cli_reasons import add_reasons
from roofline.cli_search import add_search, listed
from roofline.cli_sweep import ProgressLine, check_out, is_folder, write_file, write_folder
from roofline.errors import InputError, RooflineError
from roofline.performance.counts import count_model
from roofline.specs.messages import validation_sentence
from roofline.specs.scenario import Scenario, counted, total
from roofline.texts import (
    estimate_text,
    formula_text,
    hardware_text,
    measure_text,
    model_text,
    table_text,
    validation_text,
)

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Every mistake in how a command is called: the parent of the one that Typer exports."""


class _OneSentence(TyperGroup):
    """A group whose every failure is one sentence and exit status 2."""

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401
        extra["standalone_mode"] = False
        try:
            status = super().main(*args, **extra)
        except ValidationError as error:
            _fail(validation_sentence(error))
        except RooflineError as error:
            _fail(str(error))
        except _UsageError as error:
            _fail(error.format_message())  # type: ignore[attr-defined]
        except typer.Abort:
            _fail("stopped.")
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str) -> None:
    typer.echo(f"roofline: {' '.join(message.split())}", err=True)
    sys.exit(2)


app = typer.Typer(
    cls=_OneSentence,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="What limits a language model on a machine, how fast it runs, what fits, and what a million tokens costs.",
)


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Show what there is to ask when nothing is asked."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


Text = str | None
Whole = int | None
Number = float | None
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")]


def _answer(value: dict[str, Any], as_json: bool, text: Callable[[dict[str, Any]], str]) -> None:
    typer.echo(json.dumps(plain(value), indent=2, allow_nan=False) if as_json else text(value))


@app.command()
def model(
    model: Annotated[str, typer.Argument(help="Catalogue id, config.json, or a folder that holds one.")],
    weights: Annotated[Text, typer.Option(help="Weight format; default: as the file says.")] = None,
    kv_cache: Annotated[str, typer.Option("--kv-cache", help="Cache format.")] = "bf16",
    context: Annotated[int, typer.Option(min=1, max=10_000_000, help="Tokens in the cache.")] = 4096,
    tokens: Annotated[int, typer.Option(min=1, max=10_000_000, help="Prompt tokens for prefill FLOPs.")] = 4096,
    batch: Annotated[int, typer.Option(min=1, max=100_000_000, help="Tokens that choose experts at once.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Parameters, cache, FLOPs and experts of a model."""
    counted = count_model(load_model(model), weights=weights, kv_cache=kv_cache, context=context, tokens=tokens, batch=batch)
    _answer(counted, as_json, model_text)


@app.command()
def hardware(
    hardware: Annotated[str, typer.Argument(help="Catalogue id, or a YAML file in the catalogue's form.")],
    as_json: AsJson = False,
) -> None:
    """Facts of a device, with sources."""
    _answer(hardware_json(load_hardware(counted(hardware)[1])), as_json, hardware_text)


@app.command()
def estimate(
    model: Annotated[str, typer.Option(help="Catalogue id, config.json, or a folder that holds one.")],
    hardware: Annotated[
        str, typer.Option(help="Catalogue id, '16xh100-sxm' for sixteen, 'rtx3090+rtx4090' for both in a box, or a YAML file.")
    ],
    devices: Annotated[Whole, typer.Option(help="Number of devices.")] = None,
    tensor_parallel: Annotated[Whole, typer.Option(help="Ways; default: chosen.")] = None,
    pipeline_parallel: Annotated[Whole, typer.Option(help="Stages; default: chosen.")] = None,
    expert_parallel: Annotated[Whole, typer.Option(help="Devices experts are spread over; default: chosen.")] = None,
    data_parallel: Annotated[Whole, typer.Option(help="Replicas; default: chosen.")] = None,
    attention_data_parallel: Annotated[
        bool | None,
        typer.Option("--attention-data-parallel/--no-attention-data-parallel", help="Each rank keeps its own sequences."),
    ] = None,
    context_parallel: Annotated[Whole, typer.Option(help="Devices that share the positions of a sequence; default: 1.")] = None,
    expert_skew: Annotated[Number, typer.Option(help="Tokens on the fullest expert device over the mean; default: 1.")] = None,
    two_batch_overlap: Annotated[
        bool | None,
        typer.Option("--two-batch-overlap/--no-two-batch-overlap", help="Two halves of a step hide each other's exchanges."),
    ] = None,
    prefill_devices: Annotated[
        Text, typer.Option(help="Devices that only prefill, the rest decode; auto: the best split; default: shared.")
    ] = None,
    weights: Annotated[Text, typer.Option(help="Weight format; default: as the file says.")] = None,
    activations: Annotated[Text, typer.Option(help="Activation format; default: the device's best for the weights.")] = None,
    kv_cache: Annotated[Text, typer.Option("--kv-cache", help="Cache format; default: 16 bit.")] = None,
    input_tokens: Annotated[Whole, typer.Option(help="Prompt tokens of a request.")] = None,
    output_tokens: Annotated[Whole, typer.Option(help="Generated tokens of a request.")] = None,
    prefix_hit: Annotated[Number, typer.Option(help="Share of prompt tokens found in a prefix cache, below 1.")] = None,
    speculative: Annotated[
        Text, typer.Option(help="Draft: mtp:1@0.85, ngram:4@0.5 or MODEL:4@0.7 (tokens @ acceptance).")
    ] = None,
    forced_output: Annotated[Number, typer.Option(help="Share of output tokens that a grammar forces, below 1.")] = None,
    adapters: Annotated[Text, typer.Option(help="LoRA adapters held beside the weights: 8x16 is eight of rank 16.")] = None,
    batch: Annotated[Whole, typer.Option(help="Sequences decoding at once; default: the most that fit.")] = None,
    request_rate: Annotated[Number, typer.Option(help="Requests per second, instead of a batch.")] = None,
    batching_window_s: Annotated[
        Number, typer.Option(help="Time for which arrivals are collected before a batch starts, at a request rate.")
    ] = None,
    engine: Annotated[Text, typer.Option(help="Engine profile; default: by device.")] = None,
    memory_gib: Annotated[Number, typer.Option("--memory-gib", help="Memory fitted to one CPU or Apple device, GiB.")] = None,
    usd_per_device_hour: Annotated[Number, typer.Option(help="Your price; default: median of dated quotes.")] = None,
    utilisation: Annotated[Number, typer.Option(help="Share of the time in use, 0 to 1.")] = None,
    offload: Annotated[
        Text, typer.Option(help="In host memory: none, layers, layers:N, experts, experts:SHARE, cache or auto.")
    ] = None,
    host: Annotated[Text, typer.Option(help="CPU of the host, '2xepyc-9654' for two; default: a usual one.")] = None,
    host_memory_gib: Annotated[Number, typer.Option("--host-memory-gib", help="Memory of the host, GiB.")] = None,
    disk_gb_per_s: Annotated[
        Number, typer.Option("--disk-gb-per-s", help="Rate of the disk that holds weights beyond host memory, GB/s.")
    ] = None,
    rental: Annotated[Text, typer.Option(help="Terms of rental quotes: on-demand, committed or spot.")] = None,
    ownership: Annotated[Text, typer.Option(help="Own instead of rent: on, power, or price=25000,life=4,…")] = None,
    grid: Annotated[Text, typer.Option(help="Country, US state or cloud region of the electricity; default: world.")] = None,
    constant: Annotated[
        list[str] | None, typer.Option(help="A share of your own, such as bandwidth_frac=0.71; see validate --refit. Repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What limits a load, how fast it runs, whether it fits, what a token costs."""
    given = {key: value for key, value in locals().items() if key not in ("as_json", "constant") and value is not None}
    own = read_constants(constant or ())
    report = evaluate(Scenario.model_validate(given), own)
    answer = report_json(report)
    if own:
        answer["reasons"].append("Shares of your own are in use; a link does not hold them.")
    try:
        link_text: str | None = links.to_query(links.portable(report.scenario))
    except InputError as error:
        link_text = None
        answer["reasons"].append(f"No link: {error}")
    _answer({"link": link_text, **answer}, as_json, estimate_text)


@app.command()
def sweep(
    model: Annotated[str, typer.Option(help="One or more, with commas.")],
    hardware: Annotated[str, typer.Option(help="One or more, with commas.")],
    devices: Annotated[Text, typer.Option(help="A list such as 1,2,4.")] = None,
    tensor_parallel: Text = None,
    pipeline_parallel: Text = None,
    expert_parallel: Text = None,
    data_parallel: Text = None,
    context_parallel: Text = None,
    weights: Text = None,
    activations: Text = None,
    kv_cache: Annotated[Text, typer.Option("--kv-cache")] = None,
    context: Annotated[Text, typer.Option(help="Prompt tokens; the same as --input-tokens.")] = None,
    input_tokens: Text = None,
    output_tokens: Text = None,
    prefix_hit: Text = None,
    speculative: Text = None,
    forced_output: Text = None,
    adapters: Text = None,
    batch: Text = None,
    request_rate: Text = None,
    engine: Text = None,
    usd_per_device_hour: Text = None,
    utilisation: Text = None,
    offload: Text = None,
    host: Text = None,
    host_memory_gib: Annotated[Text, typer.Option("--host-memory-gib")] = None,
    disk_gb_per_s: Annotated[Text, typer.Option("--disk-gb-per-s")] = None,
    out: Annotated[Text, typer.Option(help="FILE.csv, FILE.parquet, or FOLDER/ for parts that a later run goes on with.")] = None,
    workers: Annotated[Whole, typer.Option(help="Processes that fill FOLDER/; default 1.")] = None,
    dask: Annotated[Text, typer.Option(help="Address of a Dask scheduler whose workers fill FOLDER/.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every combination of the lists given, one row each."""
    beside = ("out", "workers", "dask", "as_json", "context")
    given = {key: value for key, value in locals().items() if key not in (*beside, "beside") and value is not None}
    check_out(out, workers, dask)
    if context is not None:
        if input_tokens is not None:
            raise InputError("--context and --input-tokens are the same: give one.")
        given["input_tokens"] = context
    lists = {key: listed(str(value)) for key, value in given.items()}
    empty = [key for key, parts in lists.items() if not parts]
    if empty:
        raise InputError(f"--{empty[0].replace('_', '-')} has no values.")
    if out is not None and is_folder(out):
        write_folder(*_axes(lists), Path(out), workers, dask)
        return
    line = ProgressLine()
    table = sweep_table(*_axes(lists), line)
    line.end()
    if out is not None:
        write_file(table, Path(out))
    elif as_json:
        typer.echo(json.dumps(plain(table.to_dict(orient="records")), allow_nan=False))
    else:
        typer.echo(table_text(table))


def _axes(lists: dict[str, list[str]]) -> tuple[Scenario, dict[str, list[Any]]]:
    """The point a sweep starts from, and its axes with values of the right type."""
    if len(lists["hardware"]) > 1 and any(total(part)[0] is not None for part in lists["hardware"]):
        raise InputError("A list of hardware holds ids only: give the counts as --devices 1,2,4.")
    first = Scenario.model_validate({key: parts[0] for key, parts in lists.items()})
    axes = {
        key: [getattr(Scenario.model_validate({"model": "x", "hardware": "x", key: part}), key) for part in parts]
        for key, parts in lists.items()
        if len(parts) > 1 or key in ("batch", "input_tokens")
    }
    return first, axes or {"hardware": [first.hardware]}


@app.command()
def validate(
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Measurements of your own, in the columns of the shipped table.")
    ] = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Also fit the bandwidth and compute shares of your machine to the rows of --csv.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predictions against public measurements, with errors by kind, phase, source, hardware and engine."""
    if refit and csv is None:
        raise InputError("--refit needs measurements of your own: give --csv FILE.")
    answer = validation_json(compare_all(csv))
    if refit and csv is not None:
        answer["refit"] = refit_json(refit_rows(read_measurements(csv)[0]))
    _answer(answer, as_json, validation_text)


@app.command()
def measure(
    out: Annotated[Path | None, typer.Option(help="Write the entry to FILE.yaml, for --hardware and the dashboard.")] = None,
    seconds: Annotated[float, typer.Option(help="How long to time, about.")] = 6.0,
    as_json: AsJson = False,
) -> None:
    """Time memory bandwidth and matrix products of your machine, as a catalogue entry."""
    answer = measurement_json(measure_here(seconds=seconds))
    if out is not None:
        write_entry(answer["yaml"], out)
    _answer({**answer, "file": str(out) if out is not None else None}, as_json, measure_text)


@app.command()
def catalog(
    kind: Annotated[Text, typer.Argument(help="hardware, models, formats, engines, prices, apis, grids or formulas.")] = None,
    announced: Annotated[bool, typer.Option(help="Include parts that are not shipping.")] = False,
    as_json: AsJson = False,
) -> None:
    """What the catalogues hold."""
    answer = catalog_json(kind, announced=announced)
    _answer(answer, as_json, lambda a: "\n".join(f"{k}: {', '.join(v)}" for k, v in a.items()))


add_commands(app, estimate, _answer)
add_compare(app, _answer)
add_link(app, _answer)
add_reasons(app, estimate, _answer)


@app.command()
def formula(
    name: Annotated[str, typer.Argument(help="A formula; 'roofline catalog formulas' lists them.")],
    values: Annotated[list[str] | None, typer.Argument(help="Inputs as key=value; none: as in the formula's example.")] = None,
    as_json: AsJson = False,
) -> None:
    """One formula worked out, with its equation, assumptions and source."""
    found = load_formula(name)
    given = dict(_assigned(text) for text in values or ()) or found.example
    answer = {"name": name, "value": found.value(given), "inputs": given, **formula_json(found)}
    _answer(answer, as_json, formula_text)


def _assigned(text: str) -> tuple[str, float]:
    """One ``key=value`` of the command line."""
    key, sign, value = text.partition("=")
    try:
        return key.strip(), float(value)
    except ValueError:
        shown = f"{key}={value}" if sign else text
        raise InputError(f"{shown!r} is not an input: give key=number, such as n_experts=256.") from None


def _link_of(scenario: Scenario) -> str | None:
    """The link of a scenario, where it can be one."""
    try:
        return links.to_query(links.portable(scenario))
    except InputError:
        return None


add_advice(app, _answer, _link_of)
add_search(app, _answer, _link_of)


def main() -> None:
    """Entry point of the ``roofline`` command."""
    app()
