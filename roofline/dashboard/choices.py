"""What the lists offer, in words, and whether what was typed is one of them. Only the catalogue: never a path from a visitor."""

from __future__ import annotations

from functools import cache

from roofline.catalog.engines import engine_ids
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.catalog.models import load_model, model_ids, model_name
from roofline.dashboard.fields import AUTO
from roofline.errors import RooflineError, UnknownIdError
from roofline.specs.scenario import Scenario

_AUTO_WORDS = {
    "weights": "as the published file has them",
    "activations": "the fastest the device offers",
    "kv_cache": "16 bit",
}


@cache
def models() -> tuple[str, ...]:
    """Model ids, by name."""
    return tuple(sorted(model_ids(), key=lambda i: model_name(i).lower()))


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
    return model_name(ref) if ref in model_ids() else ref


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
    return "Auto: usual for the device" if ref == AUTO else ref


def known(scenario: Scenario, last: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario with what the catalogue does not know put back to its last value, and a sentence for each."""
    checks = {"model": lambda: _model(scenario.model), "hardware": lambda: _hardware(scenario.hardware)}
    put_back: dict[str, object] = {}
    problems: dict[str, str] = {}
    for name, check in checks.items():
        try:
            check()
        except RooflineError as error:
            put_back[name] = getattr(last, name)
            words = model_words if name == "model" else hardware_words
            problems[name] = f"{_capital(str(error))} The page still shows {words(getattr(last, name))}."
    for name, known_ids in (("engine", engines()), *((f, formats(f)) for f in _AUTO_WORDS)):
        value = getattr(scenario, name)
        if value is not None and not _listed(name, value, known_ids):
            put_back[name] = getattr(last, name)
            problems[name] = f"{_capital(str(UnknownIdError('engines' if name == 'engine' else 'formats', value, known_ids)))}"
    return (scenario.model_copy(update=put_back) if put_back else scenario), problems


def _listed(name: str, value: str, known_ids: tuple[str, ...]) -> bool:
    if value in known_ids:
        return True
    if name == "engine":
        return False
    try:
        return load_format(value).id in known_ids
    except RooflineError:
        return False


def _model(ref: str) -> None:
    if not _plain(ref):
        raise UnknownIdError("models", ref, model_ids())
    load_model(ref)


def _hardware(ref: str) -> None:
    if not _plain(ref):
        raise UnknownIdError("hardware", ref, hardware_ids())
    load_hardware(ref)


def _plain(ref: str) -> bool:
    """Whether a reference can only mean the catalogue: no path, no file."""
    return not any(sign in ref for sign in ("\\", "..", "~", ":")) and not ref.startswith("/") and "." not in ref.rpartition("/")[2][-6:-3]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
