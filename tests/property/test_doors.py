"""Every door to the outside gives an answer or one sentence: no crash, no other file touched, bounded time.

Configurations, GGUF and safetensors headers and devices in links have tests of their own; here are the rest.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

from roofline import FleetScenario, Scenario, link
from roofline.adapters.files import parse_json
from roofline.answers.own_rows import MOST_ROWS, NEEDED, own_rows, template
from roofline.catalog.hardware import catalog_path, load_hardware, packed_device
from roofline.cli import app
from roofline.errors import RooflineError
from roofline.scenario_file import read_scenario

RUNNER = CliRunner()
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ROOT = Path(__file__).parents[2]
WRITES = {"--out"}
SLOW = {"measure", "validate"}
"""Commands that take seconds whatever they are given."""

ODD = st.sampled_from(
    [
        "", " ", "0", "-1", "nan", "inf", "-inf", "1e999", "9" * 400, "1_000", "٣", "true", "null", "[]", "{}", "auto", "\x00",
        "\ud800", "../../etc/passwd", "/dev/zero", "/dev/stdin", "~", ".", "file:///etc/passwd", "https://example.org/x", "*",
        "%s%n", "$(id)", "`id`", "<img src=x onerror=alert(1)>", "=cmd()", "config:", "device:", "config:AAAA", "a" * 5000, "8x",
        "x8", "1x1xh100-sxm", "h100-sxm+", "+", ",", ",,", "1,", "h100-sxm,", "mtp:1@2", "ngram:0@0.5", ":@", "price=",
        "price=nan", "on,on", "a:1", "a:1:1:1:1",
        "x" * 300 + "/config.json", "x" * 300 + "/model.safetensors", "x" * 300 + ".gguf",
    ]
)  # fmt: skip
RIGHT = st.sampled_from(
    ["llama-3.1-8b", "h100-sxm", "fp8", "1", "8", "0.5", "vllm", "layers", "8x16", "deu", "world:1", "rtx4090:0.3"]
)
words = ODD | RIGHT | st.text(max_size=20)
typed = words.filter(lambda word: "\x00" not in word and not word.startswith("-"))


def one_sentence(arguments: list[str]) -> None:
    """A command answers, or fails with one sentence and status 2."""
    result = RUNNER.invoke(app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (0, 2), result.stderr
    if result.exit_code:
        assert result.stderr.startswith("roofline: ")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr


@st.composite
def calls(draw: st.DrawFn) -> list[str]:
    """A command with what it needs, and some options with odd values."""
    name = draw(st.sampled_from(sorted(set(COMMANDS) - SLOW)))
    call, options = [name], []
    for parameter in COMMANDS[name].params:
        first = parameter.opts[0]
        if parameter.param_type_name == "argument":
            call += draw(st.lists(typed, min_size=int(parameter.required), max_size=1))
        elif first in ("--model", "--hardware"):
            usual = "llama-3.1-8b" if first == "--model" else "h100-sxm"
            call += [first, draw(st.just(usual) | st.just(usual) | typed)]
        elif first not in WRITES | {"--help"}:
            options.append((first, parameter.is_flag))
    for first, is_flag in draw(st.lists(st.sampled_from(options), max_size=3, unique=True)) if options else []:
        call += [first] if is_flag else [f"{first}={draw(typed)}"]
    return call


@settings(max_examples=300)
@given(calls())
def test_any_words_on_the_command_line_are_answered_or_told(call: list[str]) -> None:
    one_sentence(call)


@pytest.mark.parametrize("name", ["x.txt", "no/such/folder/x.csv", ".", "x.csv/y.csv"])
def test_a_file_that_cannot_be_written_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("kept")
    one_sentence(["sweep", "--model", "gpt2", "--hardware", "h100-sxm", "--batch", "1", "--out", str(tmp_path / name)])
    assert (tmp_path / "x.csv").read_text() == "kept"


FIELDS = sorted(Scenario.model_fields)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
YAML_TRICKS = st.sampled_from(
    [
        "&a [*a]", "!!python/object/apply:os.system ['id']", "a: &x [1]\nb: *x", "<<: {a: 1}", "? [a]\n: b", "%YAML 9.9\n---\n",
        "- " * 900, "{" * 900, "[" * 60_000, "a: 2026-99-99", "a: 0o9", "1: 2", "a: !!binary x", "a: !!timestamp x", "a: !!int x",
        "a: !!bool x", "a: 1\na: 2", "model: 1e999999999", "batch: 0o7", "batch: 2026-11-30", "\ufeffmodel: gpt2",
        "model: gpt2\n---\nmodel: gpt2",
    ]
)  # fmt: skip
documents = (
    YAML_TRICKS
    | plain_values.map(json.dumps)
    | st.dictionaries(st.sampled_from(FIELDS), plain_values).map(json.dumps)
    | st.text()
)


@settings(max_examples=200)
@given(documents, st.sampled_from(["q.yaml", "q.json"]))
def test_any_scenario_file_is_read_or_told(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(RooflineError, ValidationError):
            assert isinstance(read_scenario(file), Scenario)
        one_sentence(["link", str(file)])
        assert [path.name for path in Path(folder).iterdir()] == [name]


@settings(max_examples=150)
@given(documents)
def test_any_device_text_is_read_or_told(text: str) -> None:
    with contextlib.suppress(RooflineError):
        load_hardware(packed_device(text, "mine.yaml"))


@settings(max_examples=150)
@given(documents)
def test_any_pasted_configuration_is_read_or_told(text: str) -> None:
    with contextlib.suppress(RooflineError):
        assert isinstance(parse_json(text), dict)


cells = words | st.sampled_from(["gpt2", "rtx4090", "q4_0", "llama.cpp", "512", "128", "tok/s per user", '"', "a,b", "\t", "\r"])
tables = st.lists(st.lists(cells, min_size=1, max_size=len(NEEDED)), max_size=4).map(
    lambda rows: "\n".join([",".join(NEEDED), *(",".join(row) for row in rows)])
)


@settings(max_examples=200)
@given(tables | documents | st.just(template()))
def test_any_table_of_measurements_is_read_or_told(text: str) -> None:
    with contextlib.suppress(RooflineError):
        found = own_rows(text)
        assert all(row.reason for row in found.problems)


def test_a_long_table_is_refused_soon() -> None:
    start = time.process_time()
    head, row = template().splitlines()[:2]
    with pytest.raises(RooflineError, match="rows"):
        own_rows("\n".join([head, *[row] * (MOST_ROWS + 1)]))
    with pytest.raises(RooflineError, match="characters"):
        own_rows(head + "\n" * 10_000_000)
    assert time.process_time() - start < 3.0


@settings(max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(sorted(set(FleetScenario.model_fields) - {"replica"})), words | st.text(":,.1ax", max_size=30)
    )
)
def test_any_fleet_text_is_read_or_told(values: dict[str, str]) -> None:
    with contextlib.suppress(RooflineError):
        FleetScenario(replica=Scenario(model="gpt2", hardware="h100-sxm"), **values)


opened: list[str] | None = None


def _note(event: str, arguments: tuple) -> None:
    if opened is not None and event in ("open", "os.listdir", "os.scandir", "socket.connect", "subprocess.Popen", "os.system"):
        opened.append(f"{event} {arguments[0]}")


sys.addaudithook(_note)


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    """What is opened, listed, run or called meanwhile."""
    global opened  # an audit hook cannot be taken away, only told to look aside
    opened = found = []
    try:
        yield found
    finally:
        opened = None


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from([*link._FIELDS, *(f"f.{key}" for key in link._FLEET_FIELDS)]), words, max_size=4))
def test_a_link_touches_nothing_but_the_package(query: dict[str, str]) -> None:
    with watched() as found:
        link.decode(query)
        link.decode_fleet(query)
    ours = (f"open {ROOT / 'roofline'}", f"open {catalog_path()}")
    assert not [item for item in found if not item.startswith(ours)]


def test_the_watch_sees_a_file_that_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with watched() as found:
        (tmp_path / "a").read_text()
    assert found
