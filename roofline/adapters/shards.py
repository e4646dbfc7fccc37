"""Files that one model is split into: ``name-00001-of-00009.ending``."""

from __future__ import annotations

import re
from pathlib import Path

from roofline.errors import InputError
from roofline.language import tr


def shard_paths(path: Path, found: re.Match[str] | None, *, ending: str, most: int, hint: str = "") -> list[Path]:
    """All files that belong to the model of one, in order; the file itself where its name is of no split.

    Raises
    ------
    InputError
        There are more than may be read, or one of them is absent.
    """
    if found is None:
        return [path]
    count = int(found["count"])
    if not 1 <= count <= most:
        raise InputError(tr("{file!r} is one of {n:,} files; up to {most:,} are read.", file=path.name, n=count, most=most))
    paths = [path.with_name(f"{found['stem']}-{i:05d}-of-{count:05d}{ending}") for i in range(1, count + 1)]
    absent = next((shard.name for shard in paths if not shard.is_file()), None)
    if absent is not None:
        raise InputError(
            tr("There is no file {file!r}, one of the {n:,} that this model is stored in{hint}.", file=absent, n=count, hint=hint)
        )
    return paths
