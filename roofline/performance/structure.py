"""A model with its weight format, reduced to the terms a step is made of.

One term per kind of operator: layers of equal shape are one term with a count, so that the ledger of an 80-layer model
has a dozen rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from roofline.performance.shortcuts import PLAIN, Shortcuts
from roofline.performance.weights import tensor_bits
from roofline.specs.model import Attend, Block, LayerGroup, ModelSpec, Recurrence, Routing, Tensor
from roofline.units import BITS_PER_BYTE

Division = Literal["heads", "kv_heads", "width", "experts", "replicated"]
"""How parallelism divides a term: by the attention group, by the cache heads, by the tensor group, by expert, not."""

_WIDE_BITS = 16.0
_PACKED_BYTES = 1.9
"""Weights below this many bytes each are packed."""


@dataclass(frozen=True)
class MatrixTerm:
    """Matrices of one operator in one layer, times ``count`` layers."""

    operator: str
    count: float
    division: Division
    flops_per_token: float
    """Of one layer; of one expert where the term is routed."""
    weight_bytes: float
    """Stored in one layer, all experts."""
    width: float
    """Elements in and out per token, of one expert where routed."""
    n_kv_heads: int = 1
    routing: Routing | None = None
    wide: bool = False
    """Left in 16 bits or more by the format: runs at the 16-bit rate."""
    per_logit: bool = False
    """Output head: only positions whose logits are wanted."""
    lookup_bytes_per_token: float = 0.0
    n_adapters: int = 0
    """Adapters that the stored bytes are of, where a sequence uses one of several."""
    in_layers: bool = True

    @property
    def is_packed(self) -> bool:
        """Whether weights are stored in fewer than 16 bits."""
        copies = (self.routing.n_experts if self.routing is not None else 1) * max(self.n_adapters, 1)
        return self.weight_bytes < _PACKED_BYTES * copies * self.flops_per_token / 2.0


@dataclass(frozen=True)
class MatrixColumns:
    """Matrix terms side by side: a number of each, that of all ``count`` layers together."""

    names: tuple[str, ...]
    count: NDArray[np.float64]
    flops_per_token: NDArray[np.float64]
    weight_bytes: NDArray[np.float64]
    """Of tables that are only looked up, nothing: they read so much for each token."""
    lookup_bytes_per_token: NDArray[np.float64]
    width: NDArray[np.float64]
    wide: NDArray[np.bool_]
    packed: NDArray[np.bool_]
    in_layers: NDArray[np.bool_]
    divisions: tuple[tuple[Division, int], ...]
    """Kinds of division there are, each with its cache heads."""
    division_of: NDArray[np.int64]
    inputs: tuple[tuple[bool, bool], ...]
    """Kinds of input there are: whether only positions with logits, and whether of the whole tensor group."""
    input_of: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Sequence[MatrixTerm]) -> MatrixColumns:
        """Columns of terms, in their order."""
        divisions = [(t.division, t.n_kv_heads if t.division == "kv_heads" else 1) for t in terms]
        inputs = [(t.per_logit, t.division == "width") for t in terms]
        kinds, feeds = tuple(dict.fromkeys(divisions)), tuple(dict.fromkeys(inputs))
        return cls(
            names=tuple(t.operator for t in terms),
            count=np.array([t.count for t in terms]),
            flops_per_token=np.array([t.count * t.flops_per_token for t in terms]),
            weight_bytes=np.array([0.0 if t.lookup_bytes_per_token else t.count * t.weight_bytes for t in terms]),
            lookup_bytes_per_token=np.array([t.lookup_bytes_per_token for t in terms]),
            width=np.array([t.count * t.width for t in terms]),
            wide=np.array([t.wide for t in terms]),
            packed=np.array([t.is_packed for t in terms]),
            in_layers=np.array([t.in_layers for t in terms]),
            divisions=kinds,
            division_of=np.array([kinds.index(kind) for kind in divisions]),
            inputs=feeds,
            input_of=np.array([feeds.index(feed) for feed in inputs]),
        )


@dataclass(frozen=True)
class AttendTerm:
    """Attention of one kind in one layer, times ``count`` layers."""

    attend: Attend
    count: float


@dataclass(frozen=True)
class RecurrenceTerm:
    """Recurrent state of one kind in one layer, times ``count`` layers."""

    recurrence: Recurrence
    count: float


@dataclass(frozen=True)
class Structure:
    """What a step of this model is made of."""

    model: ModelSpec
    weights: str | None
    matrices: tuple[MatrixTerm, ...]
    attends: tuple[AttendTerm, ...]
    recurrences: tuple[RecurrenceTerm, ...]
    n_layers: float
    """Layers in the stack, or of the part that this is."""
    mixer_reductions: float
    """All-reduces a step needs after mixers under tensor parallelism."""
    dense_reductions: float
    """The same after dense feed-forwards."""
    expert_reductions: float
    """The same after expert blocks."""
    routing: Routing | None
    stream_size: int
    resident_bytes: float
    """Towers: held, not used by text."""

    n_parameters: int
    """Stored numbers, towers included."""
    shortcuts: Shortcuts = PLAIN
    """How it is served: what a step need not compute."""

    @cached_property
    def plain_matrices(self) -> MatrixColumns | None:
        """Matrices that all tokens use, and tables; None where there are none."""
        terms = [t for t in self.matrices if t.routing is None and not t.n_adapters]
        return MatrixColumns.of(terms) if terms else None

    @cached_property
    def expert_matrices(self) -> tuple[tuple[Routing, MatrixColumns], ...]:
        """Matrices of routed experts, by the way tokens find them."""
        found: dict[Routing, list[MatrixTerm]] = defaultdict(list)
        for term in self.matrices:
            if term.routing is not None and not term.n_adapters:
                found[term.routing].append(term)
        return tuple((routing, MatrixColumns.of(terms)) for routing, terms in found.items())

    @cached_property
    def adapters(self) -> tuple[MatrixTerm, ...]:
        """Matrices of which a sequence uses one of several."""
        return tuple(term for term in self.matrices if term.n_adapters)


@lru_cache(maxsize=512)
def structure(model: ModelSpec, weights: str | None) -> Structure:
    """Terms of a model stored in a format; ``None`` is as its file says."""
    matrices: list[MatrixTerm] = []
    attends: dict[Attend, float] = defaultdict(float)
    recurrences: dict[Recurrence, float] = defaultdict(float)
    mixers, dense, experts = 0, 0, 0
    for group in model.groups:
        for block in group.blocks:
            matrices += _block_terms(model, group, block, weights)
            for attend in block.attends:
                attends[attend] += group.n_layers
            for recurrence in block.recurrences:
                recurrences[recurrence] += group.n_layers
        found = _reductions(group)
        mixers, dense, experts = mixers + found[0], dense + found[1], experts + found[2]
    towers = [t for t in model.ends if t.part == "vision_audio"]
    for tensor in model.ends:
        if tensor.part != "vision_audio":
            matrices.append(_end_term(model, tensor, weights))
    return Structure(
        model=model,
        weights=weights,
        matrices=_merged(matrices),
        attends=tuple(AttendTerm(a, n) for a, n in attends.items()),
        recurrences=tuple(RecurrenceTerm(r, n) for r, n in recurrences.items()),
        n_layers=model.n_layers,
        mixer_reductions=mixers,
        dense_reductions=dense,
        expert_reductions=experts,
        routing=model.routings[0] if model.routings else None,
        stream_size=model.stream_size or model.hidden_size,
        n_parameters=sum(t.n_parameters * g.n_layers for g in model.groups for b in g.blocks for t in b.tensors)
        + sum(t.n_parameters for t in model.ends),
        resident_bytes=sum(_stored_bytes(model, None, t, weights) for t in towers),
    )


def _stored_bytes(model: ModelSpec, group: LayerGroup | None, tensor: Tensor, weights: str | None) -> float:
    return tensor.n_parameters * tensor_bits(model, group, tensor, weights) / BITS_PER_BYTE


def division_of(tensor: Tensor) -> Division:
    """How parallelism divides a tensor of a layer."""
    if tensor.part == "routed_experts":
        return "experts"
    return "width" if tensor.split == "vocabulary" else tensor.split


def _block_terms(model: ModelSpec, group: LayerGroup, block: Block, weights: str | None) -> list[MatrixTerm]:
    """One term per operator and division of a block."""
    together: dict[tuple[str, Division], list[Tensor]] = defaultdict(list)
    for tensor in block.tensors:
        together[tensor.operator, division_of(tensor)].append(tensor)
    n_kv_heads = max((a.n_kv_heads for a in block.attends), default=1)
    terms = []
    for (operator, division), tensors in together.items():
        multiplied = [t for t in tensors if t.use in ("matmul", "convolution")]
        copies = max(t.n_copies for t in tensors) if division == "experts" else 1
        bits = max((tensor_bits(model, group, t, weights) for t in multiplied), default=_WIDE_BITS)
        terms.append(
            MatrixTerm(
                operator=operator,
                count=float(group.n_layers),
                division=division,
                flops_per_token=2.0 * sum(t.n_parameters for t in multiplied) / copies,
                weight_bytes=sum(_stored_bytes(model, group, t, weights) for t in tensors),
                width=float(
                    max((t.n_in for t in multiplied), default=0) + sum(t.n_out * t.n_copies for t in multiplied) / copies
                ),
                n_kv_heads=n_kv_heads,
                routing=block.routing if division == "experts" else None,
                wide=bits >= _WIDE_BITS,
            )
        )
    return terms


def _end_term(model: ModelSpec, tensor: Tensor, weights: str | None) -> MatrixTerm:
    """Embedding, output head, final norm, position table."""
    bits = tensor_bits(model, None, tensor, weights)
    lookup = tensor.use == "lookup"
    return MatrixTerm(
        operator=tensor.operator,
        count=1.0,
        division="width" if tensor.split == "vocabulary" else "replicated",
        flops_per_token=2.0 * tensor.n_parameters if tensor.use == "matmul" else 0.0,
        weight_bytes=_stored_bytes(model, None, tensor, weights),
        width=float(tensor.n_in + tensor.n_out) if tensor.use == "matmul" else 0.0,
        wide=bits >= _WIDE_BITS,
        per_logit=tensor.operator == "output_head",
        lookup_bytes_per_token=tensor.n_in * bits / BITS_PER_BYTE if lookup else 0.0,
        in_layers=False,
    )


def _merged(terms: list[MatrixTerm]) -> tuple[MatrixTerm, ...]:
    """Terms that differ in nothing but their count, as one; and vectors of one name, whatever their sizes."""
    counts: dict[MatrixTerm, float] = defaultdict(float)
    vectors: dict[MatrixTerm, float] = defaultdict(float)
    for term in terms:
        if term.flops_per_token or term.lookup_bytes_per_token:
            counts[replace(term, count=1.0)] += term.count
        else:
            vectors[replace(term, count=1.0, weight_bytes=0.0)] += term.count * term.weight_bytes
    held = tuple(replace(term, weight_bytes=stored) for term, stored in vectors.items())
    return held + tuple(replace(term, count=count) for term, count in counts.items())


def _reductions(group: LayerGroup) -> tuple[int, int, int]:
    """All-reduces of a group's layers after mixers, dense feed-forwards and expert blocks."""
    n = group.n_layers
    mixer = n * any(b.reduces and (b.attends or b.recurrences) for b in group.blocks)
    expert = n * any(b.reduces and b.routing is not None for b in group.blocks)
    dense = n * any(
        b.reduces and b.routing is None and not b.attends and not b.recurrences and any(t.split == "width" for t in b.tensors)
        for b in group.blocks
    )
    if expert:
        dense = 0
    if group.parallel and mixer:
        return (mixer, 0, 0)
    return (mixer, dense, expert)
