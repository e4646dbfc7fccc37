"""What a link may name: ids of the catalogues, or things that it carries inside. A link opens no file."""

from __future__ import annotations

from collections.abc import Callable

from roofline.adapters.inline import is_inline
from roofline.answers.presets import PRESETS
from roofline.catalog.boxes import box_id, host_cpu, load_box
from roofline.catalog.engines import engine_ids
from roofline.catalog.formats import load_format
from roofline.catalog.grids import load_grid
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.catalog.models import catalogue_model_id, load_model, model_ids
from roofline.errors import UnknownIdError


def known_model(ref: str) -> None:
    """The catalogue must have it, or it holds a configuration: a link opens no file."""
    if is_inline(ref):
        load_model(ref)
    elif catalogue_model_id(ref) is None:
        raise UnknownIdError("models", ref, model_ids())


def known_hardware(ref: str) -> None:
    """The same for machines."""
    if box_id(ref) is None:
        raise UnknownIdError("hardware", ref, hardware_ids())
    load_box(ref)


def _known_host(ref: str) -> None:
    host_cpu(ref, load_hardware(PRESETS[0].scenario.hardware))


def _known_engine(ref: str) -> None:
    if ref not in ("auto", *engine_ids()):
        raise UnknownIdError("engines", ref, ("auto", *engine_ids()))


def _known_format(ref: str) -> None:
    load_format(ref)


def _known_grid(ref: str) -> None:
    load_grid(ref)


NAMES: dict[str, Callable[[str], None]] = {
    "model": known_model,
    "hw": known_hardware,
    "host": _known_host,
    "w": _known_format,
    "a": _known_format,
    "kv": _known_format,
    "engine": _known_engine,
    "grid": _known_grid,
}
"""Keys of a link that name something, and what refuses a name that is not known."""
