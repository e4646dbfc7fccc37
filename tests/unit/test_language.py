"""Languages: every message translated with the same places to fill, numbers as each language writes them, results kept apart."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from string import Formatter

import pytest

from roofline import Scenario, evaluate, language
from roofline.answers.explain import explain
from roofline.figures.labels import text_width
from roofline.language import LANGUAGES, cached, chosen, localised, told_in, tr, use
from roofline.units import duration, significant, with_prefix

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import messages  # noqa: E402

OTHERS = sorted(set(LANGUAGES) - {"en"})
MESSAGES = sorted(str(entry.id) for entry in messages.messages() if entry.id)


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated(language: str) -> None:
    known = {str(entry.id) for entry in messages.catalogue(language) if entry.string}
    assert [message for message in MESSAGES if message not in known] == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_catalogue_holds_what_the_code_no_longer_says(language: str) -> None:
    assert [entry.id for entry in messages.catalogue(language) if entry.id and entry.id not in MESSAGES] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_fills_the_same_places(language: str) -> None:
    filled = {str(entry.id): str(entry.string) for entry in messages.catalogue(language) if entry.id and "{" in str(entry.id)}
    assert {message: text for message, text in filled.items() if places(message) != places(text)} == {}


def test_a_catalogue_is_written_in_its_own_script() -> None:
    hangul = re.compile("[가-힣]")
    korean = {str(entry.id): str(entry.string) for entry in messages.catalogue("ko") if entry.id}
    indonesian = {str(entry.id): str(entry.string) for entry in messages.catalogue("id") if entry.id}
    assert [message for message, text in indonesian.items() if hangul.search(text)] == []
    worded = [message for message in korean if re.search("[a-z]{3}.* [a-z]{3}", re.sub("{[^}]*}", "", message))]
    assert sum(bool(hangul.search(korean[message])) for message in worded) > 0.97 * len(worded)


def test_the_marks_are_found_where_the_code_has_them() -> None:
    assert {"Copy link", "Time by operator", "Calculator", "Language"} <= set(MESSAGES)


def test_numbers_are_written_as_the_language_writes_them() -> None:
    with told_in("id"):
        assert (significant(7812.4), significant(61.26), localised("1,234.5")) == ("7.810", "61,3", "1.234,5")
        assert (duration(0.0123), with_prefix(3.35e12, "B/s")) == ("12,3 ms", "3,35 TB/s")
        assert tr("{n:,} at {share:.1%}, {name}", n=1200, share=0.055, name="v1.5") == "1.200 at 5,5%, v1.5"
    with told_in("ko"):
        assert (significant(7812.4), significant(61.26)) == ("7,810", "61.3")


def test_one_language_does_not_leak_into_another() -> None:
    @cached(maxsize=None)
    def words(name: str) -> str:
        return f"{chosen()} {name} {significant(1234.5)}"

    with told_in("id"):
        assert words("a") == "id a 1.230"
    assert words("a") == "en a 1,230"
    words.cache_clear()
    assert words("a") == "en a 1,230"


def test_an_unknown_language_is_refused_by_name() -> None:
    with pytest.raises(KeyError, match=r"no language 'xx'; there are en, ko, id"):
        use("xx")
    assert chosen() == "en"


class _Marked(dict[str, str]):
    def get(self, message: str, default: str | None = None) -> str:  # type: ignore[override]
        return f"<{message}>"


def test_an_estimate_told_in_one_language_leaves_no_word_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Scenario(model="mixtral-8x7b", hardware="h200-sxm", devices=2, batch=9)
    monkeypatch.setattr(language, "_messages", lambda name: _Marked() if name == "ko" else {})
    with told_in("ko"):
        marked = evaluate(asked)
        explained = explain(marked)["output_tokens_per_s"]
    plain = evaluate(asked)
    assert marked.sentence.startswith("<Decode is bound by <")
    assert {item.name[0] for item in marked.assumptions} == {"<"} == {explained.title[0]}
    assert all(name.startswith("<") for name in marked.sources)
    told = (plain.sentence, plain.plan.why, plain.cost.basis, plain.formats.weights, *plain.reasons, *plain.sources)
    assert [text for text in told if "<" in text] == []
    assert [item for item in plain.assumptions if "<" in item.name + item.value + item.basis] == []


def test_korean_words_are_measured_as_wide_as_they_are() -> None:
    assert text_width("memory", 10.0) == pytest.approx(32.4)
    assert text_width("메모리 4", 10.0) == pytest.approx(30.0 + 10.8)
