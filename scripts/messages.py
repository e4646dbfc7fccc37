"""Keep the catalogues of messages in step with the code: ``python scripts/messages.py``.

Finds every message marked by ``tr`` or ``later``, adds the new ones to each catalogue without a translation, takes out those
no longer used, and names what is left to translate; the tests fail until nothing is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from roofline.language import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[1]
LOCALES = ROOT / "roofline" / "locales"
_MARKS = ("tr", "later")


def sources() -> Iterator[Path]:
    """Every file that may hold a message."""
    yield ROOT / "app.py"
    yield from sorted((ROOT / "roofline").rglob("*.py"))


def messages() -> Catalog:
    """Every message in the code. Babel's own reader overlooks what stands inside an f-string, so the tree is walked here."""
    found = Catalog()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


def catalogue(language: str) -> Catalog:
    """The messages of one language, as they are in the repository."""
    path = LOCALES / f"{language}.po"
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def write(language: str, found: Catalog) -> None:
    """Put a catalogue into the repository: sorted, without lines of code or dates, so that a change shows alone."""
    with (LOCALES / f"{language}.po").open("wb") as file:
        write_po(file, found, width=120, no_location=True, omit_header=True, sort_output=True, ignore_obsolete=True)


def main() -> None:
    """Bring every catalogue up to date."""
    template = messages()
    for language in LANGUAGES:
        if language != ENGLISH:
            known = catalogue(language)
            known.update(template, no_fuzzy_matching=True)
            write(language, known)
            left = [entry.id for entry in known if entry.id and not entry.string]
            print(f"{language}: {len(left)} of {len(known)} messages have no translation")
            for message in left:
                print(f"  {message}")


if __name__ == "__main__":
    main()
