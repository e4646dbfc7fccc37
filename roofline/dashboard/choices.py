"""What the lists offer, in words, and whether what was typed is one of them.

Only the catalogue and what a link itself carries: never a path from a visitor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from roofline.answers.anatomy import own_model
from roofline.answers.browse import device_order
from roofline.catalog.boxes import box_devices, box_id, box_name, load_box
from roofline.catalog.engines import base_engine, engine_ids
from roofline.catalog.formats import format_ids, load_format
from roofline.catalog.hardware import hardware_ids, is_own_device, load_hardware
from roofline.catalog.models import catalogue_model_id, load_model, model_entries, model_ids
from roofline.dashboard.fields import AUTO
from roofline.errors import RooflineError, UnknownIdError
from roofline.language import later, localised, tr
from roofline.specs.engine import EngineProfile
from roofline.specs.scenario import Scenario

_AUTO_WORDS = {
    "weights": later("as published"),
    "activations": later("fastest"),
    "kv_cache": later("16 bit"),
}


@cache
def models() -> tuple[str, ...]:
    """Model ids, by name."""
    return tuple(sorted(model_ids(), key=lambda i: model_entries()[i].name.lower()))


@cache
def hardware() -> tuple[str, ...]:
    """Shipping devices, as people look for them."""
    return tuple(device.id for device in sorted(map(load_hardware, hardware_ids()), key=device_order))


@cache
def engines() -> tuple[str, ...]:
    """Engine profiles, the automatic choice first."""
    return (AUTO, *engine_ids())


def formats(role: str, engine: EngineProfile | None = None) -> tuple[str, ...]:
    """Formats a role may have: the automatic choice, the ladder of an engine, then the others by bits."""
    first = () if engine is None else _ladders(engine).get(role, ())
    others = (i for i in _formats_by_bits(role) if i not in first)
    return (AUTO, *first, *others)


@cache
def _formats_by_bits(role: str) -> tuple[str, ...]:
    found = [i for i in format_ids() if role in load_format(i).roles]
    return tuple(sorted(found, key=lambda i: -load_format(i).bits_per_weight))


def _ladders(engine: EngineProfile) -> dict[str, tuple[str, ...]]:
    return {"weights": engine.weight_ladder, "kv_cache": engine.cache_ladder}


def usual_engine(scenario: Scenario) -> EngineProfile:
    """The engine whose formats are offered first: as chosen, or usual on the device."""
    return base_engine(scenario.engine, load_box(scenario.hardware))


def model_words(ref: str) -> str:
    """A model as people call it, one of the person's own by its name; what is not in the catalogue as typed."""
    if own_model(ref):
        try:
            return tr("your model: {name}", name=load_model(ref).name)
        except RooflineError:
            return tr("your model, damaged")
    found = catalogue_model_id(ref)
    return ref if found is None else model_entries()[found].name


def hardware_words(ref: str) -> str:
    """A device as its maker calls it, one of the person's own by its name; what is not in the catalogue as typed."""
    if is_own_device(ref):
        try:
            return tr("your device: {name}", name=load_hardware(ref).name)
        except RooflineError:
            return tr("your device, damaged")
    found = box_id(ref)
    return ref if found is None else box_name(box_devices(found))


def format_words(ref: str, role: str, engine: EngineProfile | None = None) -> str:
    """What a weight takes, scales included, and its number format; the usual one of an engine is marked."""
    if ref == AUTO:
        return tr("Auto: {choice}", choice=tr(_AUTO_WORDS[role]))
    if ref not in format_ids():
        return ref
    found = load_format(ref)
    words = tr("{bits} bit · {name}", bits=bits_words(found.bits_per_weight), name=found.name)
    if engine is None or role != "weights" or ref != engine.usual_weights:
        return words
    if found.bits_per_weight.is_integer():
        return tr("{format}, usual", format=words)
    return tr("{format}, usual {bits} bit", format=words, bits=int(found.bits_per_weight))


def bits_words(bits: float) -> str:
    """Bits of a number, with one decimal where they are not whole.

    >>> bits_words(16.0), bits_words(3.996), bits_words(4.8944)
    ('16', '4.0', '4.9')
    """
    return localised(f"{bits:.0f}" if bits.is_integer() else f"{bits:.1f}")


def engine_words(ref: str) -> str:
    """An engine profile."""
    return tr("Auto") if ref == AUTO else ref


def known(scenario: Scenario, last: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario by catalogue ids; what the catalogue does not know keeps its last value, with a sentence for each."""
    named: dict[str, str | None] = {}
    problems: dict[str, str] = {}
    for name, (kind, find) in FINDERS.items():
        given = getattr(scenario, name)
        try:
            named[name] = None if given is None else find(given)
        except RooflineError as error:
            named[name] = getattr(last, name)
            problems[name] = f"{refusal(kind, given, error)} {_still(name, named[name])}"
    return scenario.model_copy(update=named), problems


def refusal(kind: str, given: str, error: RooflineError) -> str:
    """Why what was given is not taken, in one sentence."""
    if not isinstance(error, UnknownIdError):
        text = str(error)
        return text[:1].upper() + text[1:]
    shown = given if len(given) <= _SHOWN_CHARACTERS else f"{given[:_SHOWN_CHARACTERS]}…"
    if not error.nearest:
        return tr("No {kind} is called '{given}'.", kind=tr(kind), given=shown)
    nearest = ", ".join(error.nearest)
    return tr("No {kind} is called '{given}'; nearest: {nearest}.", kind=tr(kind), given=shown, nearest=nearest)


def _still(name: str, value: str | None) -> str:
    words = {"model": model_words, "hardware": hardware_words}.get(name, str)
    shown = tr("the automatic choice") if value in (None, AUTO) else words(str(value))
    return tr("The page still shows {shown}.", shown=shown)


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
FINDERS: dict[str, tuple[str, Callable[[str], str]]] = {
    "model": (later("model"), _model),
    "hardware": (later("hardware"), _hardware),
    "engine": (later("engine"), _engine),
    **{role: (later("format for this"), partial(_format, role)) for role in _AUTO_WORDS},
}
"""Field -> what it is called in a sentence, and the id behind what was given."""
