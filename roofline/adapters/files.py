"""Model files from outside: hostile until read, bounded in size, JSON and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from roofline.adapters.configuration import model_from_configuration
from roofline.errors import ConfigurationError, InputError
from roofline.specs.model import ModelSpec
from roofline.units import MEBI

MAX_FILE_BYTES = int(5 * MEBI)
"""No published configuration comes near this."""

CONFIGURATION_NAME = "config.json"
QUANTIZATION_NAME = "hf_quant_config.json"
"""Number formats that some checkpoints keep beside their configuration."""


def load_model_file(path: str | Path) -> ModelSpec:
    """Read a ``config.json``, or a folder that holds one, into structure.

    Raises
    ------
    InputError
        The file is absent, too large, or no configuration.
    """
    found = Path(path)
    if found.is_dir():
        found = found / CONFIGURATION_NAME
    config = read_json(found)
    beside = found.parent / QUANTIZATION_NAME
    if found.name == CONFIGURATION_NAME and "quantization_config" not in config and beside.is_file():
        config = {**config, "quantization_config": read_json(beside)}
    name = found.parent.name if found.name == CONFIGURATION_NAME else found.stem
    return model_from_configuration(config, id=name or found.stem, source=str(path))


def read_json(path: Path) -> dict[str, object]:
    """One JSON table from a file of bounded size."""
    try:
        if not path.is_file():
            raise InputError(f"There is no file {str(path)!r}.")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{str(path)!r} is larger than {MAX_FILE_BYTES // int(MEBI)} MiB, which no configuration is.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as text: {type(error).__name__}.") from error
    return parse_json(text, str(path))


def parse_json(text: str, name: str = "the text") -> dict[str, object]:
    """One JSON table; nothing else is accepted."""
    if len(text) > MAX_FILE_BYTES:
        raise InputError(f"{name} is larger than {MAX_FILE_BYTES // int(MEBI)} MiB, which no configuration is.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name} is not JSON: {str(error)[:120]}.") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"{name} holds a {type(value).__name__}, not a table of fields.")
    return value
