"""What the lists offer, in words, and whether what was typed is one of them.

Only the catalogue and what a link itself carries: never a path from a visitor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from roofline.answers.anatomy import own_model
from roofline.catalog.boxes import box_devices, box_id, box_name
from roofline.catalog.engines import engine_ids
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.hardware import hardware_ids, is_own_device, load_hardware
from roofline.catalog.models import catalogue_model_id, load_model, model_entries, model_ids
from roofline.dashboard.fields import AUTO
from roofline.errors import RooflineError, UnknownIdError
from roofline.specs.hardware import Accelerator
from roofline.specs.model import ModelSpec
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


def model_words(ref: str) -> str:
    """A model as people call it, one of the person's own by its name; what is not in the catalogue as typed."""
    if own_model(ref):
        return _own_words("model", load_model, ref)
    found = catalogue_model_id(ref)
    return ref if found is None else model_entries()[found].name


def _own_words(kind: str, load: Callable[[str], ModelSpec | Accelerator], ref: str) -> str:
    try:
        return f"your {kind}: {load(ref).name}"
    except RooflineError:
        return f"your {kind}, damaged"


def hardware_words(ref: str) -> str:
    """A device as its maker calls it, one of the person's own by its name; what is not in the catalogue as typed."""
    if is_own_device(ref):
        return _own_words("device", load_hardware, ref)
    found = box_id(ref)
    return ref if found is None else box_name(box_devices(found))


def format_words(ref: str, role: str) -> str:
    """A number format with what a weight takes."""
    if ref == AUTO:
        return f"Auto: {_AUTO_WORDS[role]}"
    if ref not in format_ids():
        return ref
    found = load_format(ref)
    return f"{found.name} · {found.bits_per_weight:.3g} bit"


def engine_words(ref: str) -> str:
    """An engine profile."""
    return "Auto" if ref == AUTO else ref


def known(scenario: Scenario, last: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario by catalogue ids; what the catalogue does not know keeps its last value, with a sentence for each."""
    named: dict[str, str | None] = {}
    problems: dict[str, str] = {}
    for name, (kind, find) in _FINDERS.items():
        given = getattr(scenario, name)
        try:
            named[name] = None if given is None else find(given)
        except RooflineError as error:
            named[name] = getattr(last, name)
            problems[name] = f"{_refusal(kind, given, error)} {_still(name, named[name])}"
    return scenario.model_copy(update=named), problems


def _refusal(kind: str, given: str, error: RooflineError) -> str:
    if not isinstance(error, UnknownIdError):
        text = str(error)
        return text[:1].upper() + text[1:]
    shown = given if len(given) <= _SHOWN_CHARACTERS else f"{given[:_SHOWN_CHARACTERS]}…"
    nearest = f"; nearest: {', '.join(error.nearest)}" if error.nearest else ""
    return f"No {kind} is called '{shown}'{nearest}."


def _still(name: str, value: str | None) -> str:
    words = {"model": model_words, "hardware": hardware_words}.get(name, str)
    return f"The page still shows {'the automatic choice' if value in (None, AUTO) else words(str(value))}."


def _model(ref: str) -> str:
    if own_model(ref):
        load_model(ref)
        return ref
    found = catalogue_model_id(ref)
    if found is None:
        raise UnknownIdError("models", ref, model_ids())
    return found


def _hardware(ref: str) -> str:
    if is_own_device(ref):
        load_hardware(ref)
        return ref
    found = box_id(ref)
    if found is None:
        raise UnknownIdError("hardware", ref, hardware_ids())
    return found


def _engine(ref: str) -> str:
    if ref not in engines():
        raise UnknownIdError("engines", ref, engines())
    return ref


def _format(role: str, ref: str) -> str:
    found = load_format(ref).id
    if found not in formats(role):
        raise UnknownIdError("formats", ref, formats(role))
    return found


_SHOWN_CHARACTERS = 40
_FINDERS: dict[str, tuple[str, Callable[[str], str]]] = {
    "model": ("model", _model),
    "hardware": ("hardware", _hardware),
    "engine": ("engine", _engine),
    **{role: ("format for this", partial(_format, role)) for role in _AUTO_WORDS},
}
