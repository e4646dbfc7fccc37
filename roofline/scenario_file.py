"""A scenario as a file of its fields, for what is longer than one likes to type."""

from __future__ import annotations

from pathlib import Path

from roofline.errors import LinkError
from roofline.specs.scenario import Scenario

MAX_FILE_BYTES = 64_000


def read_scenario(path: Path) -> Scenario:
    """A scenario written as a YAML or JSON file of its fields.

    Raises
    ------
    LinkError
        The file cannot be read, is too large, or is no mapping of scenario fields.
    """
    from ruamel.yaml import YAML  # only here: imports stay quick without it
    from ruamel.yaml.error import YAMLError

    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise LinkError(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes: a scenario file holds a handful of fields.")
        values = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LinkError(f"{path} cannot be read: {error.strerror}.") from None
    except (YAMLError, ValueError, LookupError, RecursionError):
        raise LinkError(f"{path.name} is not plain YAML: write one 'field: value' a line.") from None
    if not (isinstance(values, dict) and all(isinstance(key, str) for key in values)):
        raise LinkError(f"{path.name} holds no fields: write one 'field: value' a line, such as 'model: llama-3.1-8b'.")
    return Scenario.model_validate(values)
