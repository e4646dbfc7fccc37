"""What the lists offer, in words, and whether what was typed is one of them. Only the catalogue: never a path from a visitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from roofline.catalog.engines import engine_ids
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.catalog.models import load_model, model_entries, model_ids
from roofline.dashboard.fields import AUTO
from roofline.errors import RooflineError, UnknownIdError
from roofline.specs.scenario import Scenario

_AUTO_WORDS = {
    "weights": "as published",
    "activations": "fastest",
    "kv_cache": "16 bit",
}


@cache
def models() -> tuple[str, ...]:
    """Model ids, by name."""
    return tuple(sorted(model_ids(), key=lambda i: model_entries()[i].name.lower()))


@cache
def hardware() -> tuple[str, ...]:
    """Shipping devices, by vendor and name."""
    found = {i: load_hardware(i) for i in hardware_ids()}
    return tuple(sorted(found, key=lambda i: (found[i].vendor.lower(), found[i].name.lower())))


@cache
def engines() -> tuple[str, ...]:
    """Engine profiles, the automatic choice first."""
    return (AUTO, *engine_ids())


@cache
def formats(role: str) -> tuple[str, ...]:
    """Formats a role may have, the automatic choice first."""
    return (AUTO, *(i for i in format_ids() if role in load_format(i).roles))


@cache
def model_words(ref: str) -> str:
    """A model as people call it; what is not in the catalogue as typed."""
    return model_entries()[ref].name if ref in model_entries() else ref


@cache
def hardware_words(ref: str) -> str:
    """A device with its memory, so that like names are told apart."""
    try:
        return load_hardware(ref).name if _plain(ref) else ref
    except RooflineError:
        return ref


@cache
def format_words(ref: str, role: str) -> str:
    """A number format with what a weight takes."""
    if ref == AUTO:
        return f"Auto: {_AUTO_WORDS[role]}"
    try:
        found = load_format(ref)
    except RooflineError:
        return ref
    return f"{found.name} · {found.bits_per_weight:.3g} bit"


def engine_words(ref: str) -> str:
    """An engine profile."""
    return "Auto" if ref == AUTO else ref


def known(scenario: Scenario, last: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario with what the catalogue does not know put back to its last value, and a sentence for each."""
    put_back: dict[str, object] = {}
    problems: dict[str, str] = {}
    for name, (kind, check) in _CHECKS.items():
        try:
            check(getattr(scenario, name))
        except RooflineError as error:
            put_back[name] = getattr(last, name)
            problems[name] = f"{_refusal(kind, getattr(scenario, name), error)} {_still(name, getattr(last, name))}"
    return (scenario.model_copy(update=put_back) if put_back else scenario), problems


def _refusal(kind: str, given: str, error: RooflineError) -> str:
    if not isinstance(error, UnknownIdError):
        return f"{str(error)[:1].upper()}{str(error)[1:]}"
    shown = given if len(given) <= _SHOWN_CHARACTERS else f"{given[:_SHOWN_CHARACTERS]}…"
    nearest = f"; nearest: {', '.join(error.nearest)}" if error.nearest else ""
    return f"No {kind} is called '{shown}'{nearest}."


def _still(name: str, value: str | None) -> str:
    words = {"model": model_words, "hardware": hardware_words}.get(name, str)
    return f"The page still shows {'the automatic choice' if value in (None, AUTO) else words(str(value))}."


def _model(ref: str) -> None:
    if not _plain(ref) or (ref not in model_entries() and _exists(ref)):
        raise UnknownIdError("models", ref, model_ids())
    load_model(ref)


def _hardware(ref: str) -> None:
    if not _plain(ref):
        raise UnknownIdError("hardware", ref, hardware_ids())
    load_hardware(ref)


def _engine(ref: str) -> None:
    if ref not in engines():
        raise UnknownIdError("engines", ref, engines())


def _format(role: str, ref: str | None) -> None:
    if ref is not None and load_format(ref).id not in formats(role):
        raise UnknownIdError("formats", ref, formats(role))


def _plain(ref: str) -> bool:
    """Whether a reference can only mean the catalogue: no path, no file."""
    suffix = ref.rpartition(".")[2].lower()
    return not ref.startswith(("/", "~", ".")) and not any(sign in ref for sign in ("\\", "..", ":")) and suffix not in _FILES


def _exists(ref: str) -> bool:
    """Whether the reference could be read as a file or folder of the server."""
    try:
        return Path(ref).exists()
    except (OSError, ValueError):
        return True


_SHOWN_CHARACTERS = 40
_FILES = frozenset({"json", "gguf", "safetensors", "yaml", "yml"})
_CHECKS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "model": ("model", _model),
    "hardware": ("hardware", _hardware),
    "engine": ("engine", _engine),
    **{role: ("format for this", partial(_format, role)) for role in _AUTO_WORDS},
}
