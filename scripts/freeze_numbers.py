"""Write tests/frozen/numbers.json anew: what the program answers today to the questions of tests/frozen/questions.txt.

The numbers guard against silent change. They are not truths: what is true stands in tests/reference, from outside. A number may
change when the changelog says so; this script refuses to write changed numbers before a line was added there.

    python scripts/freeze_numbers.py
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from roofline import __version__
from roofline.cli import app

ROOT = Path(__file__).parents[1]
FROZEN = ROOT / "tests" / "frozen"
TOLERANCE = 1e-9
KEPT: dict[str, tuple[str, ...]] = {
    "estimate": (
        r"batch",
        r"memory\.(weights|kv_cache|activation|overhead)_bytes_per_device|memory\.(fits|max_batch)",
        r"critical_batch\.\w+",
        r"(limit|expected)\.(ttft_s|tpot_s|output_tokens_per_s|requests_per_s)(\.\w+)?",
        r"waiting\.ttft_p\d+_s",
        r"cost\.(usd_per_million_(\w+_)?tokens|usd_per_hour|joules_per_output_token|grams_co2e_per_million_tokens)",
        r"(prefill|decode) \w+",
    ),
    "sweep": (r"\d+\.(fits|max_batch|(limit|expected)_(ttft_s|tpot_s)|expected_usd_per_million_output_tokens)",),
    "search": (
        r"winners\.\d+\.(replicas|devices|batch|requests_per_s|usd_per_hour|usd_per_million_\w+|ttft_s|tpot_s|tokens_per_s_per_user)",
    ),
    "fleet": (r"\w+",),
}
"""Names of the numbers kept of each command's answer; of any other command all are."""
DIGITS = 11


def questions() -> list[str]:
    """Every command asked, comments and empty lines apart."""
    lines = (FROZEN / "questions.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def numbers(question: str) -> dict[str, Any]:
    """The numbers of one answer by name; words and lists of words are left out."""
    command = question.split()
    result = CliRunner().invoke(app, [*command, "--json"])
    if result.exit_code:
        raise SystemExit(f"{question}: {result.stderr}")
    answer = json.loads(result.stdout)
    found = leaves(answer if isinstance(answer, list) else answer | sums(answer.get("operators", [])))
    wanted = re.compile("|".join(KEPT.get(command[0], (r"(?!scenario|asked).+",))))
    return {name: value for name, value in found.items() if wanted.fullmatch(name)}


def sums(operators: list[dict[str, Any]]) -> dict[str, float]:
    """The ledger of each phase in four totals."""
    return {
        f"{phase} {name}": math.fsum(row[name] for row in operators if row["phase"] == phase)
        for phase in dict.fromkeys(row["phase"] for row in operators)
        for name in ("flops", "bytes", "network_bytes", "limit_s")
    }


def leaves(value: object, path: str = "") -> dict[str, Any]:
    """Numbers, yes or no, and nothing (null) of a nested answer, each with its path.

    >>> leaves({"a": {"b": 1.5, "c": "word"}, "d": [None, True]})
    {'a.b': 1.5, 'd.0': None, 'd.1': True}
    """
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {name: found for key, item in items for name, found in leaves(item, f"{path}.{key}" if path else str(key)).items()}
    if isinstance(value, str):
        return {}
    return {path: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value}


def same(one: float | bool | None, other: float | bool | None) -> bool:
    """Whether two values agree to the tolerance; yes, no and nothing agree with themselves only."""
    if one is None or other is None or isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=0.0)


def changed(question: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line for each number of a question that is not what it was."""
    missing = object()
    found = []
    for name in {**before, **after}:
        old, new = before.get(name, missing), after.get(name, missing)
        if old is missing:
            found.append(f"{question}: {name} is new, {new}")
        elif new is missing:
            found.append(f"{question}: {name} is gone, {old} before")
        elif not same(old, new):
            found.append(f"{question}: {name} was {old} and is {new}")
    return found


def frozen() -> dict[str, dict[str, Any]]:
    """The numbers as they were frozen."""
    file = FROZEN / "numbers.json"
    found: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def newest_section() -> tuple[str, str]:
    """Title and lines of the changelog's newest section."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, title, body, *_ = re.split(r"^## (.+)$", text, maxsplit=2, flags=re.MULTILINE)
    return title, body.strip()


def digest(text: str) -> str:
    """Fingerprint of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def recorded() -> dict[str, str]:
    """What was frozen: version, numbers at that version, numbers now, and the changelog at the time."""
    file = FROZEN / "record.json"
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def main() -> None:
    """Ask every question, show what changed, and write it down if the changelog says so."""
    before, record = frozen(), recorded()
    after = {question: numbers(question) for question in questions()}
    kept = {question: found for question, found in after.items() if question in before}
    changes = [line for question, found in kept.items() for line in changed(question, before[question], found)]
    print(*changes, sep="\n")
    written = digest(newest_section()[1])
    if changes and written == record.get("changelog"):
        sys.exit(
            f"{len(changes)} numbers changed and the changelog's newest section did not: add a line that says which and why."
        )
    lines = ",\n".join(f"{json.dumps(question)}:{json.dumps(found, separators=(',', ':'))}" for question, found in after.items())
    text = f"{{\n{lines}\n}}\n"
    (FROZEN / "numbers.json").write_text(text, encoding="utf-8")
    first = record.get("version") != __version__
    told = {
        "version": __version__,
        "at_version": digest(text) if first else record["at_version"],
        "now": digest(text),
        "changelog": written,
    }
    (FROZEN / "record.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print(f"{len(after)} questions, {sum(map(len, after.values())):,} numbers, {len(changes)} changed")


if __name__ == "__main__":
    main()
