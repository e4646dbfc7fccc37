"""The header of a GGUF file: metadata and the table of tensors, read in bounded time without touching a weight.

    magic "GGUF", version u32, tensor count u64, key count u64,
    keys: name string, type u32, value;   tensors: name string, n u32, n dimensions u64, type u32, offset u64

Strings are a u64 length and UTF-8; arrays are a type u32, a length u64 and the elements. Files are little endian unless
their version reads as byte-swapped. ggml project, "GGUF", docs/gguf.md. Everything here is hostile until checked.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import BinaryIO

from roofline.adapters.fields import MAX_LAYERS, MAX_SIZE, shown
from roofline.adapters.gguf_types import BLOCKS, TENSOR_TYPES
from roofline.errors import ConfigurationError, InputError
from roofline.language import later, tr
from roofline.units import MEBI

MAX_HEADER_BYTES = int(64 * MEBI)
"""Largest header read; published ones stay below 30 MiB, nearly all of it vocabulary."""
MAX_KEYS = 10_000
MAX_TENSORS = 100_000
MAX_NAME_BYTES = 1_024
MAX_TEXT_BYTES = 65_536
"""Longer texts, such as chat templates, are passed over."""
MAX_STRINGS = 4_000_000
"""Strings in all arrays together: tokens and merges."""
MAX_DIMENSIONS = 4
MAX_KEPT = 2 * MAX_LAYERS
"""Longest array of numbers whose values are kept: one per layer."""
CHUNK_BYTES = int(MEBI)

MAGIC = b"GGUF"
VERSIONS = (2, 3)
TEXT, ARRAY = 8, 9
NUMBERS: Mapping[int, str] = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""Value types by their number, as ``struct`` spells them."""


@dataclass(frozen=True)
class Skipped:
    """A value that was passed over: a list of texts, a long list of numbers or a long text."""

    length: int


Value = int | float | bool | str | tuple[int | float, ...] | Skipped


@dataclass(frozen=True)
class StoredTensor:
    """One row of the table of tensors."""

    name: str
    shape: tuple[int, ...]
    """Length of a row first, as ggml counts dimensions."""
    stored_as: str
    """Format id."""

    @property
    def n_parameters(self) -> int:
        """Stored numbers."""
        return prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """Size in the file, without padding.

            numbers / weights per block x bytes per block

        ``ggml_row_size`` in ggml; rows are whole blocks.
        """
        weights, size = BLOCKS[self.stored_as]
        return self.n_parameters // weights * size


@dataclass(frozen=True)
class GgufHeader:
    """Metadata and tensors of one file."""

    metadata: Mapping[str, Value]
    tensors: tuple[StoredTensor, ...]
    n_read_bytes: int


class _Source:
    """Bytes of a stream up to a limit."""

    def __init__(self, stream: BinaryIO, name: str, limit: int) -> None:
        self._stream, self._name, self._limit = stream, name, limit
        self._data, self._at, self._before = b"", 0, 0
        self.order = "<"
        self.where = later("its first bytes")

    @property
    def position(self) -> int:
        """Bytes taken so far."""
        return self._before + self._at

    def take(self, n: int) -> bytes:
        """Exactly n bytes."""
        if self.position + n > self._limit:
            raise InputError(
                tr(
                    "The header of {file} is larger than {most} MiB, which none is.",
                    file=self._name,
                    most=self._limit // int(MEBI),
                )
            )
        if self._at + n > len(self._data):
            self._refill(n)
        self._at += n
        return self._data[self._at - n : self._at]

    def _refill(self, n: int) -> None:
        rest = self._data[self._at :]
        self._before += self._at
        more = self._stream.read(max(n - len(rest), CHUNK_BYTES))
        self._data, self._at = rest + more, 0
        if n > len(self._data):
            end = self._before + len(self._data)
            raise InputError(
                tr(
                    "{file} ends after {n:,} bytes, inside {part}: more of its beginning is needed.",
                    file=self._name,
                    n=end,
                    part=tr(self.where),
                )
            )

    def number(self, code: str) -> int:
        """One whole number."""
        value: int = struct.unpack(self.order + code, self.take(struct.calcsize("<" + code)))[0]
        return value

    def skip(self, n: int) -> None:
        """Pass over n bytes."""
        while n > 0:
            step = min(n, CHUNK_BYTES)
            self.take(step)
            n -= step

    def text(self, limit: int, what: str) -> str:
        """A text that is not longer than a limit."""
        n = self.number("Q")
        if n > limit:
            raise ConfigurationError(
                tr(
                    "{file} has {what} of {n:,} bytes; at most {most:,} are read.",
                    file=self._name,
                    what=tr(what),
                    n=n,
                    most=limit,
                )
            )
        try:
            return self.take(n).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigurationError(tr("{file} has {what} that is not UTF-8.", file=self._name, what=tr(what))) from error

    def skip_texts(self, n: int) -> None:
        """Pass over n texts; those within the bytes at hand are stepped over without a copy."""
        read = struct.Struct(self.order + "Q").unpack_from
        while n > 0:
            data, at, last = self._data, self._at, len(self._data) - 8
            while n > 0 and at <= last:
                end = at + 8 + read(data, at)[0]
                if end > last + 8:
                    break
                at, n = end, n - 1
            self._at = at
            if n > 0:
                self.skip(self.number("Q"))
                n -= 1


class _Parser:
    """Metadata and tensors out of a source."""

    def __init__(self, source: _Source, name: str) -> None:
        self._source, self._name = source, name
        self._n_strings = 0

    def header(self) -> GgufHeader:
        """The whole header."""
        n_tensors, n_keys = self._opening()
        self._source.where = later("its metadata")
        metadata: dict[str, Value] = {}
        for _ in range(n_keys):
            key = self._source.text(MAX_NAME_BYTES, later("a key"))
            if key in metadata:
                raise ConfigurationError(tr("{file} states the key {key} twice.", file=self._name, key=shown(key)))
            metadata[key] = self._value(self._source.number("I"), key)
        self._source.where = later("its table of tensors")
        tensors: dict[str, StoredTensor] = {}
        for _ in range(n_tensors):
            tensor = self._tensor()
            if tensor.name in tensors:
                raise ConfigurationError(tr("{file} has the tensor {tensor} twice.", file=self._name, tensor=shown(tensor.name)))
            tensors[tensor.name] = tensor
        return GgufHeader(metadata, tuple(tensors.values()), self._source.position)

    def _opening(self) -> tuple[int, int]:
        if self._source.take(4) != MAGIC:
            raise ConfigurationError(tr("{file} is not a GGUF file: it does not begin with 'GGUF'.", file=self._name))
        raw = self._source.take(4)
        version = int.from_bytes(raw, "little")
        if not version & 0xFFFF:
            self._source.order, version = ">", int.from_bytes(raw, "big")
        if version not in VERSIONS:
            raise ConfigurationError(
                tr("{file} has version {version:,} of GGUF; versions 2 and 3 are read.", file=self._name, version=version)
            )
        n_tensors, n_keys = self._source.number("Q"), self._source.number("Q")
        if n_tensors > MAX_TENSORS or n_keys > MAX_KEYS:
            raise ConfigurationError(
                tr(
                    "{file} announces {tensors:,} tensors and {keys:,} keys;"
                    " at most {most_tensors:,} and {most_keys:,} are read.",
                    file=self._name,
                    tensors=n_tensors,
                    keys=n_keys,
                    most_tensors=MAX_TENSORS,
                    most_keys=MAX_KEYS,
                )
            )
        return n_tensors, n_keys

    def _value(self, kind: int, key: str) -> Value:
        if kind == TEXT:
            n = self._source.number("Q")
            if n > MAX_TEXT_BYTES:
                self._source.skip(n)
                return Skipped(n)
            return self._source.take(n).decode("utf-8", errors="replace")
        if kind == ARRAY:
            return self._array(key)
        return self._numbers(kind, 1, key)[0]

    def _numbers(self, kind: int, n: int, key: str) -> tuple[int | float, ...]:
        code = self._code(kind, key)
        return struct.unpack(f"{self._source.order}{n}{code}", self._source.take(n * struct.calcsize("<" + code)))

    def _code(self, kind: int, key: str) -> str:
        if kind not in NUMBERS:
            raise ConfigurationError(
                tr("{file} gives {key} a value of type {kind:,}, which is not known.", file=self._name, key=shown(key), kind=kind)
            )
        return NUMBERS[kind]

    def _array(self, key: str) -> Value:
        kind, n = self._source.number("I"), self._source.number("Q")
        if kind == TEXT:
            self._n_strings += n
            if self._n_strings > MAX_STRINGS:
                raise ConfigurationError(
                    tr("{file} lists more than {most:,} texts, which no vocabulary has.", file=self._name, most=MAX_STRINGS)
                )
            self._source.skip_texts(n)
            return Skipped(n)
        if n > MAX_KEPT:
            self._source.skip(n * struct.calcsize("<" + self._code(kind, key)))
            return Skipped(n)
        return self._numbers(kind, n, key)

    def _tensor(self) -> StoredTensor:
        name = self._source.text(MAX_NAME_BYTES, later("a tensor's name"))
        n = self._source.number("I")
        if not 1 <= n <= MAX_DIMENSIONS:
            raise ConfigurationError(
                tr(
                    "The tensor {tensor} has {n:,} dimensions; ggml has 1 to {most}.",
                    tensor=shown(name),
                    n=n,
                    most=MAX_DIMENSIONS,
                )
            )
        shape = tuple(self._source.number("Q") for _ in range(n))
        kind = self._source.number("I")
        self._source.number("Q")
        if not all(1 <= size <= MAX_SIZE for size in shape):
            raise ConfigurationError(
                tr("The tensor {tensor} has the shape {shape}, which cannot be.", tensor=shown(name), shape=shown(shape))
            )
        if kind not in TENSOR_TYPES:
            raise ConfigurationError(
                tr("The tensor {tensor} has ggml type {kind:,}, whose size is not known.", tensor=shown(name), kind=kind)
            )
        stored_as = TENSOR_TYPES[kind]
        block = BLOCKS[stored_as][0]
        if shape[0] % block:
            raise ConfigurationError(
                tr(
                    "The tensor {tensor} has rows of {n:,} in {format}, whose blocks have {block}.",
                    tensor=shown(name),
                    n=shape[0],
                    format=stored_as,
                    block=block,
                )
            )
        return StoredTensor(name, shape, stored_as)


def read_gguf_header(stream: BinaryIO, name: str, limit: int = MAX_HEADER_BYTES) -> GgufHeader:
    """Metadata and tensors from the beginning of a GGUF file; nothing after the table of tensors is read.

    Raises
    ------
    InputError
        The stream ends inside the header, or the header is larger than the limit.
    ConfigurationError
        It is no GGUF file, or says something that is not understood; the message names it.
    """
    return _Parser(_Source(stream, name, limit), name).header()
