"""Safe reading of a configuration: aliases, class defaults, bounds, and a record of what was assumed.

Order: the file's explicit value under any known name, then the default of its class, then a value derived from others.
``null`` is not absence: an explicit null means none. Everything read is hostile until its type and bounds are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from roofline.adapters.dictionary import ALIASES, NESTED_DECODERS
from roofline.errors import ConfigurationError
from roofline.language import tr

MAX_LAYERS = 10_000
MAX_SIZE = 100_000_000
"""Largest width, count or vocabulary taken seriously."""

_MISSING = object()


def merged(config: Mapping[str, object]) -> dict[str, object]:
    """The decoder's fields: a nested text configuration over the top level."""
    for path in NESTED_DECODERS:
        inner: object = config
        for key in path:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping):
            kept = {key: value for key, value in config.items() if key != path[0]}
            return {**kept, **inner}
    return dict(config)


def shown(value: object) -> str:
    """A short form of a value for a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


class Fields:
    """A configuration with its class defaults behind it."""

    def __init__(self, config: Mapping[str, object], defaults: Mapping[str, object], family: str) -> None:
        self._config = config
        self._defaults = defaults
        self._family = family
        self.assumptions: dict[str, str] = {}
        self.read: set[str] = set()

    def raw(self, name: str) -> object:
        """The explicit value of one name, or None."""
        value = self._explicit(name)
        return None if value is _MISSING else value

    def stated(self, quantity: str) -> bool:
        """Whether the file gives a value other than null."""
        return any(self.raw(name) is not None for name in self._names(quantity))

    def optional(self, quantity: str, largest: int = MAX_SIZE) -> int | None:
        """A positive whole number, or None where the file says null, zero or nothing and the class has no default."""
        null = False
        for name in self._names(quantity):
            value = self._explicit(name)
            if value is None:
                null = True
            elif value is not _MISSING:
                return self._whole(name, value, largest) or None
        if null:
            return None
        name, value = self._default(quantity)
        if value is _MISSING or value is None:
            return None
        number = self._whole(name, value, largest) or None
        if number is not None:
            self._assume(name, number)
        return number

    def size(self, quantity: str, fallback: int | None = None, largest: int = MAX_SIZE) -> int:
        """A positive whole number that must be known: stated, derived when null, or of the class."""
        names = self._names(quantity)
        values = [(name, self._explicit(name)) for name in names]
        for name, value in values:
            if value is not None and value is not _MISSING:
                return self._positive(name, value, largest)
        null = any(value is None for _, value in values)
        name, value = self._default(quantity)
        if value is not _MISSING and value is not None and not (null and fallback is not None):
            number = self._positive(name, value, largest)
            self._assume(name, number)
            return number
        if fallback is None:
            raise ConfigurationError(tr("The configuration does not say {name!r}, which its counts depend on.", name=names[0]))
        return fallback

    def count(self, quantity: str, fallback: int = 0, largest: int = MAX_SIZE) -> int:
        """A whole number from zero up; null and absence are the fallback."""
        found = self.optional(quantity, largest)
        return fallback if found is None else found

    def flag(self, name: str, fallback: bool = False) -> bool:
        """A truth value; null is false."""
        value = self._explicit(name)
        if value is _MISSING:
            value = self._defaults.get(name, fallback)
        if value is None or isinstance(value, bool):
            return bool(value)
        if value in (0, 1):
            return value == 1
        raise ConfigurationError(tr("{name!r} must be true or false, not {value}.", name=name, value=shown(value)))

    def number(self, name: str, fallback: float) -> float:
        """A finite number from zero up."""
        value = self._explicit(name)
        if value is _MISSING or value is None:
            value = self._defaults.get(name, fallback)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigurationError(tr("{name!r} must be a number, not {value}.", name=name, value=shown(value)))
        if not 0 <= value <= MAX_SIZE or not isfinite(value):
            raise ConfigurationError(
                tr("{name!r} must lie between 0 and {most:,}, not {value}.", name=name, most=MAX_SIZE, value=shown(value))
            )
        return float(value)

    def text(self, name: str, fallback: str = "") -> str:
        """A word."""
        value = self._explicit(name)
        if value is _MISSING or value is None:
            value = self._defaults.get(name, fallback)
        if not isinstance(value, str):
            raise ConfigurationError(tr("{name!r} must be text, not {value}.", name=name, value=shown(value)))
        return value

    def listing(self, quantity: str) -> list[object] | None:
        """A list, or None where the file has none; never from class defaults."""
        for name in self._names(quantity):
            value = self._explicit(name)
            if isinstance(value, list):
                if len(value) > 2 * MAX_LAYERS:
                    raise ConfigurationError(
                        tr(
                            "{name!r} lists {n:,} entries; at most {most:,} are read.",
                            name=name,
                            n=len(value),
                            most=2 * MAX_LAYERS,
                        )
                    )
                return value
            if value is not None and value is not _MISSING:
                raise ConfigurationError(tr("{name!r} must be a list, not {value}.", name=name, value=shown(value)))
        return None

    def whole_numbers(self, quantity: str) -> list[int] | None:
        """A list of whole numbers, or None."""
        found = self.listing(quantity)
        return None if found is None else [self._whole(quantity, value, MAX_SIZE) for value in found]

    def table(self, name: str) -> Mapping[str, object] | None:
        """A nested table, or None."""
        value = self._explicit(name)
        if value is None or value is _MISSING:
            return None
        if not isinstance(value, Mapping):
            raise ConfigurationError(tr("{name!r} must be a table, not {value}.", name=name, value=shown(value)))
        return value

    def inner(self, name: str, defaults: Mapping[str, object] | None = None) -> Fields | None:
        """The fields of a nested table, sharing this record of assumptions."""
        found = self.table(name)
        if found is None:
            return None
        inner = Fields(found, defaults or {}, f"{self._family}.{name}")
        inner.assumptions = self.assumptions
        return inner

    def assume(self, key: str, sentence: str) -> None:
        """Record a reading of something the file does not say."""
        self.assumptions.setdefault(key, sentence)

    def unread(self) -> list[str]:
        """Names in the file that nothing asked for."""
        return [str(name) for name in self._config if str(name) not in self.read]

    def _names(self, quantity: str) -> tuple[str, ...]:
        return ALIASES.get(quantity, (quantity,))

    def _explicit(self, name: str) -> object:
        """The file's value; a dotted name walks into tables."""
        self.read.add(name.split(".", 1)[0])
        value: object = self._config
        for part in name.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return _MISSING
            value = value[part]
        return None if value == "auto" else value

    def _default(self, quantity: str) -> tuple[str, object]:
        for name in self._names(quantity):
            if name in self._defaults:
                return name, self._defaults[name]
        return quantity, _MISSING

    def _assume(self, name: str, value: object) -> None:
        self.assume(
            name, tr("{name} is absent: {value} by the class default of {family}.", name=name, value=value, family=self._family)
        )

    def _whole(self, name: str, value: object, largest: int) -> int:
        if isinstance(value, list) and value and all(item == value[0] for item in value[: 2 * MAX_LAYERS]):
            value = value[0]
        if isinstance(value, float) and isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigurationError(tr("{name!r} must be a whole number, not {value}.", name=name, value=shown(value)))
        if not 0 <= value <= largest:
            raise ConfigurationError(
                tr("{name!r} must lie between 0 and {most:,}, not {value}.", name=name, most=largest, value=shown(value))
            )
        return value

    def _positive(self, name: str, value: object, largest: int) -> int:
        number = self._whole(name, value, largest)
        if number == 0:
            raise ConfigurationError(tr("{name!r} must be at least 1, not 0.", name=name))
        return number
