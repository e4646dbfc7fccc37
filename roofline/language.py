"""The language answers are told in, and how it writes numbers.

English stands in the code and is the key of every message; the other languages are gettext catalogues in ``locales``,
kept in step by ``scripts/messages``. JSON, links and the command line never change language: only who sets one sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from importlib.resources import files
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Language(NamedTuple):
    """A language people can choose."""

    name: str
    """In itself."""
    decimal: str
    thousands: str


ENGLISH = "en"
LANGUAGES: Mapping[str, Language] = {
    ENGLISH: Language("English", ".", ","),
    "ko": Language("한국어", ".", ","),
    "id": Language("Bahasa Indonesia", ",", "."),
}
_chosen: ContextVar[str] = ContextVar("language", default=ENGLISH)


def use(language: str) -> None:
    """Tell answers in a language from now on, in this thread.

    Raises
    ------
    KeyError
        There is no such language.
    """
    _chosen.set(language if language in LANGUAGES else _unknown(language))


def _unknown(language: str) -> str:
    raise KeyError(f"no language {language!r}; there are {', '.join(LANGUAGES)}")


@contextmanager
def told_in(language: str) -> Iterator[None]:
    """The same for one block.

    >>> with told_in("id"):
    ...     localised("1,234.5")
    '1.234,5'
    """
    before = chosen()
    use(language)
    try:
        yield
    finally:
        use(before)


def chosen() -> str:
    """The language of this thread."""
    return _chosen.get()


def tr(message: str, **values: object) -> str:
    """A message in the chosen language, its places filled as `str.format` does, numbers as the language writes them.

    >>> tr("{n:,} devices at {share:.0%}", n=1200, share=0.5)
    '1,200 devices at 50%'
    >>> with told_in("id"):
    ...     tr("{n:,.1f} of no message", n=1200)
    '1.200,0 of no message'
    """
    language = chosen()
    text = _messages(language).get(message, message)
    if values and LANGUAGES[language].decimal != ".":
        values = {name: value if isinstance(value, str) else _Told(value) for name, value in values.items()}
    return text.format(**values) if values else text


def later(message: str) -> str:
    """Mark a message that stands where no language is chosen yet, such as a table of words; `tr` it where it is used."""
    return message


def localised(number: str) -> str:
    """A number written the English way, as the chosen language writes it."""
    language = LANGUAGES[chosen()]
    return number.translate(_swapped(language)) if language.decimal != "." else number


def separators() -> str:
    """What stands before decimals and between thousands, in this order."""
    language = LANGUAGES[chosen()]
    return language.decimal + language.thousands


def cached(maxsize: int | None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`functools.lru_cache` for a function whose result holds messages: one entry a language; it is cleared alike."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize=maxsize)
        def kept(_language: str, *args: Any, **kwargs: Any) -> R:  # noqa: ANN401
            return function(*args, **kwargs)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return kept(chosen(), *args, **kwargs)  # type: ignore[arg-type]

        called.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        return called

    return decorate


class _Told:
    """A number that formats itself as the chosen language writes it: `str.format` stays the fast one that Python has."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __format__(self, form: str) -> str:
        return localised(format(self._value, form))

    def __repr__(self) -> str:
        return repr(self._value)


def _swapped(language: Language) -> dict[int, str]:
    return {ord("."): language.decimal, ord(","): language.thousands}


@cache
def _messages(language: str) -> Mapping[str, str]:
    """English message -> message, of what has been translated."""
    if language == ENGLISH:
        return {}
    from babel.messages.pofile import read_po  # only who reads another language needs it

    with (files("roofline") / "locales" / f"{language}.po").open("rb") as file:
        return {str(entry.id): str(entry.string) for entry in read_po(file) if entry.id and entry.string}
