"""Models: catalogue entries by id or usual name, and configuration files by path."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.files import load_model_file
from roofline.adapters.inline import is_inline, unpack
from roofline.catalog.names import Names
from roofline.errors import InputError, UnknownIdError
from roofline.language import cached, chosen, tr
from roofline.specs.base import printable
from roofline.specs.model import ModelSpec

NEUTRAL_ENDINGS = re.compile(r"-(instruct|chat|it|hf|base|pt|\d{4})$")
"""Parts of names that leave the structure as it is: tuning, packaging, month of release."""


@dataclass(frozen=True)
class ModelEntry:
    """Where a catalogue model comes from."""

    id: str
    name: str
    file: str
    kind: str
    """``real``: a published configuration file; ``reconstructed``: its known values written down again."""
    released: str
    source: str
    note: str
    aliases: tuple[str, ...]


@cache
def model_entries() -> dict[str, ModelEntry]:
    """Every catalogue entry by id."""
    text = (resources.files("roofline.catalog") / "data" / "models.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["id"]: _entry(row) for row in rows}


def _entry(row: dict[str, str]) -> ModelEntry:
    aliases = tuple(row.pop("aliases").split())
    return ModelEntry(aliases=aliases, **row)


def model_ids() -> tuple[str, ...]:
    """Every model of the catalogue."""
    return tuple(model_entries())


@cache
def model_names() -> Names:
    """What models are called: by id, by name, by alias with and without its organisation."""
    entries = model_entries().values()
    return Names({e.id: (*(a.rsplit("/", 1)[-1] for a in e.aliases), *e.aliases, e.name, e.id) for e in entries})


@cached(maxsize=None)
def _entry_model(model_id: str) -> ModelSpec:
    entry = model_entries()[model_id]
    text = (resources.files("roofline.catalog") / "data" / "models" / entry.file).read_text(encoding="utf-8")
    spec = model_from_configuration(json.loads(text), id=entry.id, source=entry.source)
    return spec.model_copy(update={"name": entry.name})


@cached(maxsize=64)
def _inline_model(ref: str) -> ModelSpec:
    config = unpack(ref)
    name = config.pop("name", None)
    spec = model_from_configuration(config, id="custom", source=tr("configuration in the link"))
    return spec.model_copy(update={"name": printable(name, 60) if isinstance(name, str) and name else tr("your model")})


def load_model(ref: str) -> ModelSpec:
    """Find a model by catalogue id, by a usual spelling of its name, by the path of its file, or on the Hub.

    The Hub is asked last, for ids of the form ``organisation/name``, if the extra ``hub`` is installed and there is a network.

    >>> load_model("meta-llama/Llama-3.1-8B-Instruct").id
    'llama-3.1-8b'

    Raises
    ------
    UnknownIdError
        No model has this name; the nearest are named.
    """
    if is_inline(ref):
        return _inline_model(ref)
    if not ref.strip():
        raise UnknownIdError("models", ref, model_ids())
    found = catalogue_model_id(ref)
    if found is not None:
        return _entry_model(found)
    if _is_path(ref):
        return _file_model(ref)
    return _hub_model(ref, chosen())


def _file_model(ref: str) -> ModelSpec:
    try:
        return load_model_file(ref)
    except OSError as error:
        raise InputError(tr("{path!r} cannot be read: {reason}.", path=printable(ref, 60), reason=error.strerror)) from None


@lru_cache(maxsize=64)
def _hub_model(ref: str, _language: str) -> ModelSpec:
    """A model of the Hub; where there is no Hub or no such repository, an unknown id like any other.

    Kept by language, for what is assumed of it is told in words.
    """
    from roofline.adapters import hub  # on use: the library imports fast

    if hub.looks_like_repository(ref) and not hub.is_installed():
        raise UnknownIdError("models", ref, model_ids(), tr(hub.NEEDED))
    if not (hub.looks_like_repository(ref) and hub.is_available() and hub.is_reachable()):
        raise UnknownIdError("models", ref, model_ids())
    try:
        return hub.model_from_hub(ref)
    except hub.HubError as error:
        raise UnknownIdError("models", ref, model_ids()) from error


def catalogue_model_id(ref: str) -> str | None:
    """The id meant by a spelling, without and with its organisation, trimmed of neutral endings."""
    wanted, bare = re.sub(r"[\s_-]+", "-", ref.strip().lower()), "/" not in ref
    for name in (wanted, wanted.rsplit("/", 1)[-1] if wanted.count("/") == 1 else wanted):
        trimmed = name.removeprefix("meta-")
        while trimmed:
            found = model_names().entry(trimmed, bare=bare) or model_names().entry(name, bare=bare)
            if found is not None:
                return found
            shorter = NEUTRAL_ENDINGS.sub("", trimmed)
            trimmed = shorter if shorter != trimmed else ""
    return None


def _is_path(ref: str) -> bool:
    """Whether this names a file or folder; a name too odd for the file system does not."""
    if ref.lower().endswith((".json", ".gguf", ".safetensors")):
        return True
    try:
        return Path(ref).exists()
    except (OSError, ValueError):
        return False
