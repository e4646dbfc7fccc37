"""A GGUF file, or a set of its shards, into a model's structure with the exact type of every tensor.

Metadata gives heads, windows and routing; the table of tensors gives parameters and stored bytes. Weights are neither
read nor mapped. ggml project, "GGUF", docs/gguf.md (layout, split files); llama.cpp, gguf-py (names of keys and tensors).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from roofline.adapters.fields import shown
from roofline.adapters.gguf_header import MAX_HEADER_BYTES, GgufHeader, StoredTensor, read_gguf_header
from roofline.adapters.gguf_layers import layer_groups
from roofline.adapters.gguf_metadata import Metadata
from roofline.adapters.gguf_roles import split_name
from roofline.adapters.gguf_types import MIXES
from roofline.adapters.quantization import main_format
from roofline.adapters.shards import shard_paths
from roofline.errors import ConfigurationError, InputError
from roofline.language import tr
from roofline.specs.base import printable
from roofline.specs.model import LayerGroup, ModelSpec, Part, Split, Tensor, Use

SHARD = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)
MAX_SHARDS = 1_000
LAYER = re.compile(r"^blk\.(?P<layer>\d{1,6})\.(?P<rest>.+)$")
DRAFT = "nextn."
"""What the tensors that make a layer a draft module begin with."""

ENDS: Mapping[str, tuple[str, str, Part, Use, Split]] = {
    "token_embd": ("embedding", "embed_tokens", "embedding", "lookup", "vocabulary"),
    "output": ("output_head", "lm_head", "output_head", "matmul", "vocabulary"),
    "position_embd": ("embedding", "embed_positions", "embedding", "lookup", "replicated"),
    "per_layer_token_embd": ("embedding", "embed_tokens_per_layer", "embedding", "lookup", "replicated"),
    "per_layer_model_proj": ("other", "per_layer_model_projection", "other", "matmul", "replicated"),
    "per_layer_proj_norm": ("norms", "per_layer_projection_norm", "norm", "vector", "replicated"),
    "altup_proj": ("other", "altup_projections", "other", "matmul", "replicated"),
    "altup_unembd_proj": ("other", "altup_unembed_projections", "other", "matmul", "replicated"),
    "output_norm": ("norms", "norm", "norm", "vector", "replicated"),
    "token_embd_norm": ("norms", "word_embeddings_layernorm", "norm", "vector", "replicated"),
    "rope_freqs": ("other", "rotary_emb.freqs", "other", "vector", "replicated"),
    "rope_factors_long": ("other", "rotary_emb.long_factor", "other", "vector", "replicated"),
    "rope_factors_short": ("other", "rotary_emb.short_factor", "other", "vector", "replicated"),
}
"""Tensors outside the layers: operator, module, part, use and split."""

TOWERS = ("v.", "a.", "mm.")
"""What names of vision and audio towers begin with, where a file holds them beside the decoder."""


def model_from_gguf(path: str | Path) -> ModelSpec:
    """Read a ``.gguf`` file, or all shards of one given any of them, into structure.

    Raises
    ------
    InputError
        A shard is absent, or a file ends inside its header.
    ConfigurationError
        A key, a tensor or an architecture is not understood; the message names it.
    """
    first = Path(path)
    paths = shard_paths(first, SHARD.match(first.name), ending=".gguf", most=MAX_SHARDS)
    headers: list[GgufHeader] = []
    left = MAX_HEADER_BYTES
    for shard in paths:
        try:
            with shard.open("rb") as stream:
                headers.append(read_gguf_header(stream, repr(shard.name), left))
        except (OSError, ValueError) as error:
            raise InputError(tr("{path!r} cannot be read: {reason}.", path=str(shard), reason=type(error).__name__)) from error
        left -= headers[-1].n_read_bytes
    found = SHARD.match(paths[0].name)
    return _model(headers, id=found["stem"] if found else paths[0].stem, source=str(path))


def model_from_gguf_bytes(data: bytes, name: str = "the file") -> ModelSpec:
    """Read the first bytes of a GGUF file, such as an upload cut off after its header.

    Raises
    ------
    InputError
        The bytes end inside the header, or are one shard of several.
    ConfigurationError
        Something is not understood; the message names it.
    """
    header = read_gguf_header(io.BytesIO(data), repr(name[:100]))
    return _model([header], id=Path(name).stem[:200] or "custom", source=name[:200])


def _model(headers: list[GgufHeader], *, id: str, source: str) -> ModelSpec:
    """Structure of the tensors of all shards under the metadata of the first."""
    tensors = _joined(headers)
    metadata = Metadata(headers[0].metadata)
    layers, ends = _sorted(metadata, tensors)
    layers, draft = _without_draft(metadata, layers)
    groups = layer_groups(metadata, layers)
    hidden = metadata.size("embedding_length")
    vocabulary = _vocabulary(ends, hidden)
    head = any(split_name(t.name) == ("output", "weight") for t in ends)
    context = metadata.optional("context_length", largest=10**12)
    end_tensors = tuple(_end(metadata, stored, tied=not head) for stored in ends)
    metadata.check_unread()
    stated = headers[0].metadata.get("general.name")
    return ModelSpec(
        id=id,
        name=stated[:200] if isinstance(stated, str) and stated.strip() else id,
        architecture=printable(metadata.architecture),
        hidden_size=hidden,
        vocabulary=vocabulary,
        n_layers=len(layers),
        trained_context=context,
        groups=groups,
        ends=end_tensors,
        tied_embeddings=not head,
        draft_parameters=sum(t.n_parameters for t in draft),
        stored_format=_stored_format(metadata, groups),
        stored_bytes=sum(t.n_bytes for t in tensors),
        assumptions=tuple(metadata.assumptions.values()),
        source=source,
    )


def _joined(headers: list[GgufHeader]) -> list[StoredTensor]:
    """Tensors of all shards, each once and all there."""
    first = headers[0].metadata
    n_files, n_tensors = first.get("split.count", 1), first.get("split.tensors.count")
    if isinstance(n_files, int) and n_files > 1 and n_files != len(headers):
        raise InputError(
            tr("This is one of {n:,} files of a model; the others must lie beside it, named as published.", n=n_files)
        )
    tensors = {t.name: t for header in headers for t in header.tensors}
    total = sum(len(header.tensors) for header in headers)
    if total != len(tensors):
        raise ConfigurationError(tr("Two shards hold a tensor of the same name: they are not of one model."))
    if len(headers) > 1 and isinstance(n_tensors, int) and n_tensors != total:
        raise ConfigurationError(
            tr("The shards hold {n:,} tensors; the first one announces {announced:,}.", n=total, announced=n_tensors)
        )
    return list(tensors.values())


def _sorted(metadata: Metadata, tensors: Iterable[StoredTensor]) -> tuple[list[dict[str, StoredTensor]], list[StoredTensor]]:
    """Tensors by layer, and those outside the layers."""
    layers: list[dict[str, StoredTensor]] = [{} for _ in range(metadata.n_blocks())]
    ends = []
    for tensor in tensors:
        found = LAYER.match(tensor.name)
        if found is None:
            ends.append(tensor)
        elif int(found["layer"]) >= len(layers):
            raise ConfigurationError(
                tr(
                    "The tensor {tensor} is beyond the {n:,} layers that the file states.",
                    tensor=shown(tensor.name),
                    n=len(layers),
                )
            )
        else:
            layers[int(found["layer"])][found["rest"]] = tensor
    return layers, ends


def _without_draft(
    metadata: Metadata, layers: list[dict[str, StoredTensor]]
) -> tuple[list[dict[str, StoredTensor]], list[StoredTensor]]:
    """Layers of the stack, and the tensors of layers that are draft modules."""
    n = len(layers)
    stated = metadata.optional("nextn_predict_layers") or 0
    while n > 0 and (any(name.startswith(DRAFT) for name in layers[n - 1]) or (not layers[n - 1] and n > len(layers) - stated)):
        n -= 1
    empty = next((i for i in range(n) if not layers[i]), None)
    if empty is not None or n == 0:
        raise ConfigurationError(tr("The file has no tensors of layer {layer:,} of {n:,}.", layer=empty or 0, n=len(layers)))
    return layers[:n], [t for layer in layers[n:] for t in layer.values()]


def _vocabulary(ends: list[StoredTensor], hidden: int) -> int:
    table = next((t for t in ends if t.name == "token_embd.weight"), None)
    if table is None:
        raise ConfigurationError(tr("The file has no tensor 'token_embd.weight', the input table."))
    if len(table.shape) != 2 or table.shape[0] != hidden:
        raise ConfigurationError(
            tr("'token_embd.weight' has the shape {shape}; rows must be {n:,} long.", shape=shown(table.shape), n=hidden)
        )
    return table.shape[1]


def _end(metadata: Metadata, stored: StoredTensor, *, tied: bool) -> Tensor:
    """A tensor outside the layers; the input table is the head too where the file has no other."""
    name, suffix = split_name(stored.name)
    if stored.name.startswith(TOWERS):
        metadata.assume("towers", tr("Towers in the file are counted in 16 bit, whatever their types."))
        return _vector(stored, "vision_audio", stored.name, "vision_audio")
    if name not in ENDS:
        raise ConfigurationError(
            tr(
                "The tensor {tensor} of architecture {architecture} is not understood.",
                tensor=shown(stored.name),
                architecture=shown(metadata.architecture),
            )
        )
    operator, module, part, use, split = ENDS[name]
    if suffix not in ("weight", "") or use == "vector":
        return _vector(stored, operator, module if suffix in ("weight", "") else f"{module}.{suffix}", part)
    if name == "token_embd" and tied:
        operator, module, use = "output_head", "lm_head", "matmul"
    n_in, n_out, copies = (*stored.shape, 1, 1)[:3]
    if n_in * n_out * copies != stored.n_parameters:
        raise ConfigurationError(
            tr(
                "The tensor {tensor} has the shape {shape}, which is not understood.",
                tensor=shown(stored.name),
                shape=shown(stored.shape),
            )
        )
    return Tensor(
        operator=operator,
        module=module,
        gguf=name,
        part=part,
        n_out=n_out,
        n_in=n_in,
        n_copies=copies,
        use=use,
        split=split,
        stored_as=stored.stored_as,
    )


def _vector(stored: StoredTensor, operator: str, module: str, part: Part) -> Tensor:
    return Tensor(
        operator=operator, module=module, part=part, n_out=stored.n_parameters, use="vector", stored_as=stored.stored_as
    )


def _stored_format(metadata: Metadata, groups: tuple[LayerGroup, ...]) -> str:
    """The mix that the file names, if its matrices are mostly of that mix's type; else the type most have."""
    main = main_format(groups)
    stated = metadata.general("general.file_type")
    mix, base = MIXES.get(stated, ("", "")) if isinstance(stated, int) else ("", "")
    return mix if base == main else main
