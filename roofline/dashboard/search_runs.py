"""Searches that were run, kept by what they ask, and the run of a new one with word of how far it is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock

from roofline.answers.search import Entry, Passed, search
from roofline.answers.search_result import Search
from roofline.language import chosen
from roofline.specs.search import SearchQuery

_MOST_KEPT = 32
_TOLD_EVERY = 8
"""Passes between two words of how far it is: each is a message to the browser."""
_kept: OrderedDict[tuple[str, SearchQuery], Search] = OrderedDict()
_lock = Lock()
Told = Callable[[float, int, int], None]
"""The share of the passes that are over, how many, and of how many."""


def untold(share: float, done: int, of: int) -> None:
    """Nobody watches how far it is."""


def known(query: SearchQuery) -> Search | None:
    """The answer to a question that was asked before in this language."""
    key = chosen(), query
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def found(query: SearchQuery, told: Told) -> Search:
    """The answer to a question, known or searched for now."""
    before = known(query)
    if before is not None:
        return before

    def spread(run: Callable[[Entry], Passed | None], entries: Sequence[Entry]) -> Iterable[Passed | None]:
        return _counted(run, entries, told)

    answer = search(query, spread)
    with _lock:
        _kept[chosen(), query] = answer
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return answer


def _counted(run: Callable[[Entry], Passed | None], entries: Sequence[Entry], told: Told) -> Iterator[Passed | None]:
    for n, entry in enumerate(entries):
        if n % _TOLD_EVERY == 0:
            told(n / len(entries), n, len(entries))
        yield run(entry)
