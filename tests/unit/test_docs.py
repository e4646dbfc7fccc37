"""The pages for people: links resolve, commands and options exist, examples run, tables are what the program says.

The examples of docs/library.md are doctests and run by themselves.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from roofline.adapters.families import Habits
from roofline.answers.accuracy import trust
from roofline.answers.validation import shipped_validation
from roofline.catalog.calibration import calibration
from roofline.catalog.hardware import device_of_text
from roofline.cli import app
from roofline.specs.engine import EngineProfile
from roofline.units import units

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
EACH = pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
KINDS = {
    "single-stream decode": "decode_single",
    "batched decode": "decode_batch",
    "prefill and time to first token": "prefill",
    "saturated offline throughput": "offline_throughput",
    "serving under load": "server",
}


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Headings as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@EACH
def test_links_inside_the_repository_resolve(document: Path) -> None:
    for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name).resolve() if name else document
        assert file.exists(), target
        assert ROOT in (file, *file.parents), target
        assert not anchor or anchor in anchors(file), target


@EACH
def test_files_that_are_named_exist(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`((?:roofline|tests|scripts|docs)/[\w./-]+)`", text):
        assert re.search(r"\b(ID|NAME)\b|NAME_", name) or (ROOT / name).exists(), name


def commands() -> list[tuple[str, str]]:
    """Every call of `roofline` in a shell block or in the text, with its page."""
    found = []
    for page in PAGES:
        shell = "".join(blocks(page, "sh"))
        inline = re.findall(r"`(roofline [^`]+)`", page.read_text(encoding="utf-8"))
        lines = [line for line in shell.splitlines() if line.startswith("roofline ")] + inline
        found += [(page.name, line.replace("\n", " ")) for line in dict.fromkeys(lines)]
    return found


@pytest.mark.parametrize(("where", "line"), commands(), ids=lambda value: value)
def test_commands_and_options_exist(where: str, line: str) -> None:
    _, name, *rest = shlex.split(line, comments=True)
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    if name == "COMMAND":
        return
    assert name in known, where
    options = {option for parameter in known[name].params for option in (*parameter.opts, *parameter.secondary_opts)}
    asked = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert asked <= options | {"--help"}, where


def test_the_python_of_the_readme_runs() -> None:
    known: dict[str, object] = {}
    for block in blocks(ROOT / "README.md", "python"):
        exec(block, known)  # noqa: S102 our own text
    assert {"report", "table", "found"} <= set(known)


def test_the_readme_names_every_page() -> None:
    titles = re.findall(r'Sheet\(later\("([^"]+)"', (ROOT / "app.py").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert titles
    for title in titles:
        assert f"- **{title}**: " in text


def test_the_errors_of_the_readme_are_those_of_validate() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    summaries = {found.name: found for found in shipped_validation().summaries if found.by == "kind"}
    assert set(summaries) == set(KINDS.values())
    for words, kind in KINDS.items():
        found, fit = summaries[kind], calibration().errors[kind]
        shares = (found.median_error, found.p90_error, found.inside_band, fit.left_out_median, fit.left_out_p90)
        row = f"| {words} | {found.n} | {' | '.join(f'{share:.0%}' for share in shares)} |"
        assert row in text, f"the table should have {row}"
    whole, words = trust(shipped_validation(), calibration()), " ".join(text.split())
    assert f"compares {whole.n:,} public measurements from {whole.n_sources} sources" in words  # as the page Accuracy says
    assert f"fitted on {calibration().n_rows:,} of them; the other {whole.n - calibration().n_rows:,} have" in words


def test_the_examples_of_the_catalogue_page_are_read() -> None:
    page = ROOT / "docs" / "catalogue.md"
    (example,) = blocks(page, "yaml")
    assert device_of_text(example, page.name).bandwidth_bytes_per_s == 864e9
    family, engine = (tomllib.loads(text) for text in blocks(page, "toml"))
    assert set(family["mymodel"]) <= {field.name for field in fields(Habits)} | {"like", "defaults"}
    assert set(engine["myengine"]) <= set(EngineProfile.model_fields) | {"base"}
    text = page.read_text(encoding="utf-8")
    listed = re.search(r"closed list: (.*?)\.\s", text, re.DOTALL)
    assert listed is not None
    assert re.findall(r"[^\s,]+", listed[1]) == list(units())
