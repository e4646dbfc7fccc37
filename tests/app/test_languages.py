"""Every page in another language: no sentence of ours stays English, and a language we do not have is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import language, link
from roofline.answers.evaluate import evaluate
from roofline.answers.formulary import formulary, plain_name
from roofline.figures.words import short_operator_name

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "app.py")
PAGES: dict[str, dict[str, str]] = {
    "": {"v": "1"},
    "compare": {"v": "1", "b.hw": "h200-sxm", "b.n": "8", "map": "batch,devices,speed"},
    "find": {"v": "1", "model": "llama-3.1-8b"},
    "machine": {"v": "1"},
    "cost": {"v": "1", "own": "on"},
    "fleet": {"v": "1", "f.users": "1000000"},
    "experts": {"v": "1"},
    "model": {"v": "1", "model": "llama-3.1-8b", "hw": "rtx4090", "n": "1"},
    "stories": {"v": "1", "story": "batching,32"},
    "accuracy": {"v": "1"},
    "catalogue": {"v": "1", "catalogue": "show:mi300x"},
    "formulas": {"v": "1", "formula": "lower_bound_s"},
}
_OPEN, _SHUT = "⟦", "⟧"
_SENTENCE = re.compile(r"[A-Za-z][a-z]+(?: [a-z]{2,}){2,}")


class Marked(dict):
    """A catalogue that translates every message into itself, between brackets."""

    def get(self, message: str, default: object = None) -> str:
        return f"{_OPEN}{message}{_SHUT}"


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    if page:
        app._page_hash = calc_hash(page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def strings(value: object) -> Iterator[str]:
    """Every text in an element as the browser gets it; figures are JSON in there."""
    if isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, str):
        try:
            whole = json.loads(value) if value.startswith(('{"', "[{")) else value
        except ValueError:
            whole = value
        yield from (value,) if isinstance(whole, str) else strings(whole)


def texts(app: AppTest) -> Iterator[str]:
    for root in (app.main, app.sidebar):
        for node in root:
            proto = getattr(node, "proto", None)
            if proto is not None and node.type not in ("arrow_data_frame", "code"):
                shown = MessageToDict(proto)
                yield from strings({name: part for name, part in shown.items() if not name.endswith("Content")})


def bare(text: str) -> str:
    """What stands outside of the brackets, without markup and commands."""
    while (shorter := re.sub(rf"{_OPEN}[^{_OPEN}{_SHUT}]*{_SHUT}", " ", text)) != text:
        text = shorter
    return re.sub(r"<(style|code)>.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)


@cache
def facts() -> str:
    """Names, notes and sources that stay as they were published, and the formulas' own documentation."""
    data = [ROOT / "hardware_catalog.yaml", *(ROOT / "roofline").rglob("*/data/*.*")]
    code = sorted((ROOT / "roofline" / "formulas").glob("*.py"))
    return " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in [*data, *code])


def names() -> str:
    """Operators and formulas are called alike in every language, as in the JSON."""
    formulas = {plain_name(formula.name) for formula in formulary().values()}
    operators = {short_operator_name(row.name) for row in evaluate(link.DEFAULT).operators}
    return " ".join(formulas | operators)


@pytest.mark.parametrize("page", PAGES)
def test_every_sentence_is_a_message(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    translated = language._messages
    monkeypatch.setattr(language, "_messages", lambda code: Marked() if code == "xx" else translated(code))
    monkeypatch.setitem(language.LANGUAGES, "xx", language.Language("Marked", ".", ","))  # a code of its own, for caches
    app = opened(page, lang="xx", **PAGES[page])
    assert not app.exception
    left = {found for text in texts(app) for found in _SENTENCE.findall(bare(text))}
    published = facts() + names()
    assert sorted(sentence for sentence in left if sentence not in published) == []


def test_a_language_we_do_not_have_is_told_and_english_is_shown() -> None:
    app = opened("", v="1", lang="yy")
    assert not app.exception
    assert any("there is no language 'yy'" in unescape(text) for text in texts(app))
