"""What people type for an entry of a catalogue: spellings that count as one, and the entries a text may stand for.

Case, spaces, hyphens, dots and underscores say nothing, but for where one number ends and the next begins: ``Qwen3-17B`` is
not ``qwen3-1.7b`` where an organisation publishes it. Without one, and where no other entry is meant, that goes too, as in
``llama33 70b``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s._-]+(?=\d)")
_SEPARATORS = re.compile(r"[\s._-]+")


def normal(text: str) -> str:
    """A spelling without case and separators; between digits one dot is left.

    >>> normal("Llama 3_1-8B") == normal("llama-3.1-8b"), normal("RTX 4090"), normal(" Qwen3-17B")
    (True, 'rtx4090', 'qwen3.17b')
    """
    parts = _BETWEEN_DIGITS.split(text.strip().lower())
    return ".".join(_SEPARATORS.sub("", part) for part in parts)


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(text.strip().lower()) if word]


class Names:
    """Spellings of a catalogue's entries."""

    def __init__(self, spelled: Mapping[str, Iterable[str]]) -> None:
        self._spelled = {entry: tuple(names) for entry, names in spelled.items()}

    def entry(self, text: str, *, bare: bool = True) -> str | None:
        """The entry of this spelling, by whatever separators; bare also without those between digits."""
        wanted = normal(text)
        found = self._normal.get(wanted)
        return self._bare.get(wanted.replace(".", "")) if found is None and bare else found

    def meant(self, text: str) -> tuple[str, ...]:
        """Entries that a part of a name stands for: one where it is clear, several where it is not.

        The entries that begin so where there is one, else those with all words of the text in one of their spellings, and of
        them those that have most of them as whole words.
        """
        text = text.rsplit("/", 1)[-1]
        wanted, words = normal(text).replace(".", ""), _words(text)
        begins = [e for e, names in self._spelled.items() if any(normal(n).replace(".", "").startswith(wanted) for n in names)]
        if not wanted or len(begins) == 1:
            return tuple(begins) if wanted else ()
        whole = {entry: max(_n_whole(words, name) for name in names) for entry, names in self._spelled.items()}
        best = max(whole.values())
        return tuple(entry for entry, n in whole.items() if n == best) if best >= 0 else tuple(begins)

    @cached_property
    def _normal(self) -> dict[str, str]:
        return {normal(name): entry for entry, names in self._spelled.items() for name in names}

    @cached_property
    def _bare(self) -> dict[str, str]:
        """Spellings without separators that are those of one entry alone."""
        found: dict[str, set[str]] = {}
        for name, entry in self._normal.items():
            found.setdefault(name.replace(".", ""), set()).add(entry)
        return {name: entries.pop() for name, entries in found.items() if len(entries) == 1}


def _n_whole(words: list[str], name: str) -> int:
    """Of words that are all in a name, how many are words of it; -1 where one is not in it."""
    inside, whole = normal(name), _words(name)
    return sum(word in whole for word in words) if all(normal(word) in inside for word in words) else -1
