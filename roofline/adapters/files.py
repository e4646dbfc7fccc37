"""Model files from outside: hostile until read, bounded in size, JSON and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from roofline.adapters.configuration import model_from_configuration
from roofline.adapters.fields import shown
from roofline.adapters.safetensors_file import INDEX_NAME, SINGLE_NAME, stored_files, with_stored_files
from roofline.errors import ConfigurationError, InputError
from roofline.language import tr
from roofline.specs.model import ModelSpec
from roofline.units import MEBI

MAX_FILE_BYTES = int(5 * MEBI)
"""No published configuration comes near this."""

_BYTE_ORDER_MARK = "\ufeff"
"""What some editors put before a text."""

CONFIGURATION_NAME = "config.json"
QUANTIZATION_NAME = "hf_quant_config.json"
"""Number formats that some checkpoints keep beside their configuration."""


def load_model_file(path: str | Path) -> ModelSpec:
    """Read a model's file into structure: GGUF, or a configuration with the safetensors files or index beside it.

    A folder stands for the ``config.json`` in it, with its index or single safetensors file where there is one.

    Raises
    ------
    InputError
        The file is absent, too large, or none of these.
    """
    found = Path(path)
    suffixes = "".join(found.suffixes[-3:]).lower()
    if suffixes.endswith(".gguf"):
        from roofline.adapters.gguf_file import model_from_gguf  # on use: the library imports fast

        return model_from_gguf(found)
    stored: Path | None = None
    if suffixes.endswith((".safetensors", ".safetensors.index.json")):
        found, stored = found.parent, found
        if not (found / CONFIGURATION_NAME).is_file():
            raise InputError(
                tr("{file!r} needs the model's {needed} in the same folder.", file=stored.name, needed=CONFIGURATION_NAME)
            )
    elif is_folder(found):
        stored = next((found / name for name in (INDEX_NAME, SINGLE_NAME) if (found / name).is_file()), None)
    model = _configured(found / CONFIGURATION_NAME if is_folder(found) else found, str(path))
    return model if stored is None else with_stored_files(model, stored_files(stored))


def _configured(found: Path, source: str) -> ModelSpec:
    """Structure of a configuration, with number formats kept beside it."""
    config = read_json(found)
    beside = found.parent / QUANTIZATION_NAME
    if found.name == CONFIGURATION_NAME and "quantization_config" not in config and beside.is_file():
        config = {**config, "quantization_config": read_json(beside)}
    name = found.parent.name if found.name == CONFIGURATION_NAME else found.stem
    return model_from_configuration(config, id=name or found.stem, source=source)


def is_folder(path: Path) -> bool:
    """Whether this is a folder; a name too odd for the file system is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_json(path: Path) -> dict[str, object]:
    """One JSON table from a file of bounded size."""
    try:
        if not path.is_file():
            raise InputError(tr("There is no file {path!r}.", path=str(path)))
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(
                tr(
                    "{name} is larger than {most} MiB, which no configuration is.",
                    name=repr(str(path)),
                    most=MAX_FILE_BYTES // int(MEBI),
                )
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(tr("{path!r} cannot be read as text: {reason}.", path=str(path), reason=type(error).__name__)) from error
    return parse_json(text, str(path))


def parse_json(text: str, name: str = "the text") -> dict[str, object]:
    """One JSON table; nothing else is accepted."""
    if len(text) > MAX_FILE_BYTES:
        raise InputError(
            tr("{name} is larger than {most} MiB, which no configuration is.", name=name, most=MAX_FILE_BYTES // int(MEBI))
        )
    try:
        value = json.loads(text.removeprefix(_BYTE_ORDER_MARK), object_pairs_hook=_table)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(tr("{name} is not JSON: {reason}.", name=name, reason=str(error)[:120])) from error
    if not isinstance(value, dict):
        raise ConfigurationError(tr("{name} holds a {kind}, not a table of fields.", name=name, kind=type(value).__name__))
    return value


def _table(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A table of JSON, whose names may come twice only with one value."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            raise ConfigurationError(
                tr(
                    "{name} is given twice, as {one} and as {other}: leave one.",
                    name=shown(name),
                    one=shown(found[name]),
                    other=shown(value),
                )
            )
        found[name] = value
    return found
