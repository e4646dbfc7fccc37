"""No number changes silently: each frozen one is what it was, or the changelog says why and the numbers were frozen anew.

They come from the program itself, so they say nothing about truth: that is the business of tests/reference.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from roofline.catalog.engines import engine_ids

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("freeze_numbers", ROOT / "scripts" / "freeze_numbers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FREEZE = script()
QUESTIONS = FREEZE.questions()
FROZEN = FREEZE.frozen()
ADVICE = "If that is meant: add a line to CHANGELOG.md that says which and why, then run 'python scripts/freeze_numbers.py'."


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_number_changed_silently(question: str) -> None:
    assert question in FROZEN, "A new question: run 'python scripts/freeze_numbers.py'."
    changes = FREEZE.changed(question, FROZEN[question], FREEZE.numbers(question))
    assert not changes, "\n".join([*changes, ADVICE])


def test_every_frozen_question_is_still_asked() -> None:
    assert set(FROZEN) == set(QUESTIONS)
    assert len(QUESTIONS) == len(set(QUESTIONS)) >= 200


def test_frozen_numbers_were_written_by_the_script_and_told_in_the_changelog() -> None:
    text = (FREEZE.FROZEN / "numbers.json").read_text(encoding="utf-8")
    record = FREEZE.recorded()
    assert FREEZE.digest(text) == record["now"], f"numbers.json was changed by hand or by a merge. {ADVICE}"
    title, lines = FREEZE.newest_section()
    if record["now"] != record["at_version"]:
        assert record["version"] not in title, (
            f"Numbers changed since {record['version']}: the changelog needs a section for that."
        )
        assert lines.startswith("- "), "The changelog's newest section names no change."


def test_a_change_is_named() -> None:
    before, after = {"tpot_s": 0.01, "fits": True, "old": 1}, {"tpot_s": 0.01 * (1 + 3e-9), "fits": False, "new": None}
    told = FREEZE.changed("estimate", before, after)
    assert [line.split(": ")[1].split()[0] for line in told] == ["tpot_s", "fits", "old", "new"]
    assert not FREEZE.changed("estimate", before, {**before, "tpot_s": 0.01 * (1 + 3e-10)})


def test_changed_numbers_are_not_written_without_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(FREEZE, "FROZEN", tmp_path)
    (tmp_path / "questions.txt").write_text("model gpt2\n")
    FREEZE.main()
    first = (tmp_path / "numbers.json").read_text()
    damaged = first.replace('"layers":12', '"layers":13')
    assert damaged != first
    (tmp_path / "numbers.json").write_text(damaged)
    with pytest.raises(SystemExit, match="add a line"):
        FREEZE.main()
    assert (tmp_path / "numbers.json").read_text() == damaged
    monkeypatch.setattr(FREEZE, "newest_section", lambda: ("Unreleased", "- GPT-2 has twelve layers."))
    FREEZE.main()
    assert (tmp_path / "numbers.json").read_text() == first
    assert FREEZE.recorded()["at_version"] == FREEZE.digest(first)


def test_the_questions_go_through_every_engine() -> None:
    text = "\n".join(QUESTIONS)
    assert not [engine for engine in engine_ids() if f"--engine {engine}" not in text]
