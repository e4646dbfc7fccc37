"""What safetensors files say about a model that its configuration does not: exact bytes, extra modules, duplicates.

A file is a u64 length, little endian, and so many bytes of JSON: name to ``dtype``, ``shape`` and ``data_offsets``, with
texts under ``__metadata__``; then the data. An index names the file of every tensor and the bytes of all together.
Hugging Face, safetensors, README.md, section "Format". Structure stays that of the configuration; weights are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TypeGuard

from roofline.adapters.fields import MAX_LAYERS, shown
from roofline.adapters.shards import shard_paths
from roofline.errors import ConfigurationError, InputError
from roofline.language import tr
from roofline.specs.model import ModelSpec
from roofline.units import BITS_PER_BYTE, MEBI

INDEX_NAME = "model.safetensors.index.json"
SINGLE_NAME = "model.safetensors"
MAX_INDEX_BYTES = int(25 * MEBI)
MAX_HEADER_BYTES = 100_000_000
"""Limit of the reference implementation."""
MAX_HEADERS_BYTES = 4 * MAX_HEADER_BYTES
"""Headers of all shards together."""
MAX_SHARDS = 2_000
LENGTH_BYTES = 8

DTYPE_BITS: Mapping[str, int] = {
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "C64": 64,
    "F32": 32,
    "I32": 32,
    "U32": 32,
    "F16": 16,
    "BF16": 16,
    "I16": 16,
    "U16": 16,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "F4": 4,
}
"""``Dtype::bitsize`` of the reference implementation."""
PLAIN_DTYPES = frozenset(("F64", "F32", "F16", "BF16"))
"""Types whose every element is a parameter; narrow ones come packed or with scales."""

LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|block)\.(\d{1,6})\.")
DRAFT = re.compile(r"(?:^|\.)mtp(?:\.|_)|nextn|(?:^|\.)mtp_layers\.")
TOWER = re.compile(r"vision|visual|audio|image|(?:^|\.)multi_modal|mm_projector", re.IGNORECASE)
SHARD = re.compile(r"^(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})\.safetensors$")


@dataclass(frozen=True)
class Stored:
    """One tensor as its header describes it."""

    dtype: str
    n_elements: int
    n_bytes: int


@dataclass(frozen=True)
class StoredFiles:
    """What the files of a model hold, as far as they are there."""

    names: frozenset[str]
    tensors: Mapping[str, Stored]
    """Tensors whose header was there to read."""
    stated_bytes: int | None
    """What the index says all tensors take."""

    @property
    def is_whole(self) -> bool:
        """Whether every tensor's header was read."""
        return bool(self.tensors) and len(self.tensors) == len(self.names)

    @property
    def n_bytes(self) -> int | None:
        """Bytes of all tensors: summed where every header is there, else as the index states."""
        return sum(t.n_bytes for t in self.tensors.values()) if self.is_whole else self.stated_bytes


def stored_files(path: Path) -> StoredFiles:
    """What an index and the shards beside it hold, or a single file, or all shards of one given any of them.

    Raises
    ------
    InputError
        A file is absent, too large or cut off.
    ConfigurationError
        It is not of this format; the message says what is wrong.
    """
    if path.name.endswith(".json"):
        return _from_index(path)
    index = path.with_name(INDEX_NAME)
    if index.is_file() and SHARD.match(path.name):
        return _from_index(index)
    paths = shard_paths(path, SHARD.match(path.name), ending=".safetensors", most=MAX_SHARDS, hint=tr(", and no index"))
    tensors = _headers(paths)
    return StoredFiles(frozenset(tensors), tensors, None)


def _from_index(path: Path) -> StoredFiles:
    """Names, total and whatever shards lie beside an index."""
    index = _json_file(path)
    names = index.get("weight_map")
    if not isinstance(names, dict) or not names:
        raise ConfigurationError(tr("{file!r} has no 'weight_map' of tensors to files, so it is no index.", file=path.name))
    shards = {value for value in names.values() if isinstance(value, str) and value and value == Path(value).name}
    if len(shards) > MAX_SHARDS or not all(isinstance(v, str) and v in shards for v in names.values()):
        raise ConfigurationError(
            tr("'weight_map' of {file!r} must name up to {most:,} files in the same folder.", file=path.name, most=MAX_SHARDS)
        )
    present = sorted(path.with_name(name) for name in shards if path.with_name(name).is_file())
    tensors = _headers(present)
    extra = next((name for name in tensors if name not in names), None)
    if extra is not None:
        raise ConfigurationError(
            tr("The tensor {tensor} is in a file but not in its index: they are not of one model.", tensor=shown(extra))
        )
    return StoredFiles(frozenset(map(str, names)), tensors, _stated_bytes(index))


def _stated_bytes(index: Mapping[str, object]) -> int | None:
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(total, float) and total.is_integer():
        total = int(total)
    is_count = isinstance(total, int) and not isinstance(total, bool) and 0 < total < 2**63
    return total if is_count and isinstance(total, int) else None


def _json_file(path: Path) -> dict[str, object]:
    try:
        if not path.is_file():
            raise InputError(tr("There is no file {path!r}.", path=str(path)))
        if path.stat().st_size > MAX_INDEX_BYTES:
            raise InputError(
                tr("{path!r} is larger than {most} MiB, which no index is.", path=str(path), most=MAX_INDEX_BYTES // int(MEBI))
            )
        return _table(path.read_bytes(), repr(path.name))
    except (OSError, ValueError) as error:
        raise InputError(tr("{path!r} cannot be read: {reason}.", path=str(path), reason=type(error).__name__)) from error


def _table(data: bytes, name: str) -> dict[str, object]:
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(tr("{name} is not JSON: {reason}.", name=name, reason=str(error)[:120])) from error
    if not isinstance(value, dict):
        raise ConfigurationError(tr("{name} holds a {kind}, not a table.", name=name, kind=type(value).__name__))
    return value


def _headers(paths: list[Path]) -> dict[str, Stored]:
    """Tensors of several files, each once."""
    found: dict[str, Stored] = {}
    left = MAX_HEADERS_BYTES
    for path in paths:
        header, n_bytes = _header_bytes(path, min(left, MAX_HEADER_BYTES))
        left -= n_bytes
        for name, stored in parse_header(header, path.name).items():
            if name in found:
                raise ConfigurationError(
                    tr("The tensor {tensor} is in two files: they are not of one model.", tensor=shown(name))
                )
            found[name] = stored
    return found


def _header_bytes(path: Path, limit: int) -> tuple[bytes, int]:
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
            if not 2 <= length <= limit:
                raise ConfigurationError(
                    tr("{file!r} is no safetensors file: a header of {n:,} bytes cannot be.", file=path.name, n=length)
                )
            data = stream.read(length)
    except (OSError, ValueError) as error:
        raise InputError(tr("{path!r} cannot be read: {reason}.", path=str(path), reason=type(error).__name__)) from error
    if len(data) < length:
        raise InputError(
            tr("{file!r} ends inside its header of {n:,} bytes: more of its beginning is needed.", file=path.name, n=length)
        )
    return data, length


def parse_header(data: bytes, name: str) -> dict[str, Stored]:
    """Tensors of one header, with types and sizes that agree.

    Raises
    ------
    ConfigurationError
        It is not JSON of this format; the message names the tensor.
    """
    table = _table(data, f"the header of {name[:100]!r}")
    return {key: _stored(key, entry) for key, entry in table.items() if key != "__metadata__"}


def _stored(name: str, entry: object) -> Stored:
    if not isinstance(entry, dict):
        raise ConfigurationError(
            tr("The tensor {tensor} must be described by a table, not {value}.", tensor=shown(name), value=shown(entry))
        )
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise ConfigurationError(
            tr("The tensor {tensor} has dtype {dtype}, whose size is not known.", tensor=shown(name), dtype=shown(dtype))
        )
    if not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2:
        raise ConfigurationError(tr("The tensor {tensor} has no shape or no pair of offsets that can be.", tensor=shown(name)))
    n_elements, n_bytes = prod(shape), offsets[1] - offsets[0]
    if n_bytes < 0 or n_bytes != -(-n_elements * DTYPE_BITS[dtype] // int(BITS_PER_BYTE)):
        raise ConfigurationError(
            tr(
                "The tensor {tensor} takes {n:,} bytes, which its shape and {dtype} do not.",
                tensor=shown(name),
                n=n_bytes,
                dtype=dtype,
            )
        )
    return Stored(dtype, n_elements, n_bytes)


def _are_counts(value: object) -> TypeGuard[list[int]]:
    """Whether this is a short list of whole numbers from zero up."""
    if not isinstance(value, list) or len(value) > 16:
        return False
    return all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63 for n in value)


def with_stored_files(model: ModelSpec, files: StoredFiles) -> ModelSpec:
    """The model of a configuration with what its files say: exact bytes, and where they differ from the count.

    Raises
    ------
    ConfigurationError
        The files have fewer layers than the configuration.
    """
    _check_layers(model, files.names)
    notes = [*_size_notes(model, files), *_draft_notes(model, files), *_head_notes(model, files.names)]
    return model.model_copy(update={"stored_bytes": files.n_bytes, "assumptions": (*model.assumptions, *notes)})


def _check_layers(model: ModelSpec, names: Collection[str]) -> None:
    layers = {int(found[1]) for name in names if not TOWER.search(name) and (found := LAYER.search(name))}
    if layers and max(layers) + 1 < model.n_layers:
        raise ConfigurationError(
            tr(
                "The files have {n:,} layers, the configuration {of:,}: they are not of one model.",
                n=max(layers) + 1,
                of=model.n_layers,
            )
        )


def is_draft(name: str, n_layers: int) -> bool:
    """Whether a tensor is of a draft module: named so, or of a layer after the stack."""
    if TOWER.search(name):
        return False
    found = LAYER.search(name)
    return bool(DRAFT.search(name)) or (found is not None and n_layers <= int(found[1]) < MAX_LAYERS)


def _size_notes(model: ModelSpec, files: StoredFiles) -> list[str]:
    """Exact size, and parameters where every element is one."""
    if files.n_bytes is None:
        return ["The index does not state the size of the files."]
    if not files.is_whole:
        return [f"The files take {files.n_bytes:,} bytes, as their index states; their own headers were not all there."]
    sizes = f"The files take {files.n_bytes:,} bytes, as their headers say"
    if any(t.dtype not in PLAIN_DTYPES for t in files.tensors.values()):
        return [f"{sizes}; narrow types are packed or have scales, so they are not counted as parameters."]
    stored, counted = sum(t.n_elements for t in files.tensors.values()), counted_parameters(model)
    if stored == counted:
        return [f"{sizes}: {stored:,} parameters, as the configuration gives."]
    more = "more" if stored > counted else "fewer"
    return [f"{sizes}: {stored:,} parameters, {abs(stored - counted):,} {more} than the configuration gives."]


def counted_parameters(model: ModelSpec) -> int:
    """Stored numbers that the configuration gives, towers included, draft modules not."""
    layers = sum(g.n_layers * t.n_parameters for g in model.groups for b in g.blocks for t in b.tensors)
    return layers + sum(t.n_parameters for t in model.ends)


def _draft_notes(model: ModelSpec, files: StoredFiles) -> list[str]:
    draft = [name for name in files.names if is_draft(name, model.n_layers)]
    if not draft:
        return ["The files hold no draft modules, though the configuration names some."] if model.draft_parameters else []
    known = [files.tensors[name] for name in draft if name in files.tensors]
    size = f" ({sum(t.n_bytes for t in known):,} bytes)" if len(known) == len(draft) else ""
    return [f"The files hold {len(draft):,} tensors of draft modules{size}: in their size, in no other total."]


def _head_notes(model: ModelSpec, names: Collection[str]) -> list[str]:
    has_head = any(name.endswith("lm_head.weight") for name in names)
    if model.tied_embeddings and has_head:
        return ["lm_head.weight is stored although it is the input table again: in the size of the files, counted once."]
    if not model.tied_embeddings and not has_head and any(name.endswith("embed_tokens.weight") for name in names):
        return ["The files hold no lm_head.weight, though the configuration does not say that the input table is the head."]
    return []
