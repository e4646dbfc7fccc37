"""Parts of a model: the same structure with fewer layers, without its ends, its routed experts or its cache.

Counts of terms are plain numbers, so that half a stack is the stack with half the counts. Layers that differ are mixed in
every part as they are in the whole.
"""

from __future__ import annotations

from dataclasses import replace

from roofline.performance.structure import MatrixTerm, Structure


def layers_of(structure: Structure, share: float) -> Structure:
    """A share of the layers, without the ends."""
    kept = tuple(replace(t, count=t.count * share) for t in structure.matrices if t.in_layers) if share > 0.0 else ()
    attends = tuple(replace(t, count=t.count * share) for t in structure.attends) if share > 0.0 else ()
    recurrences = tuple(replace(t, count=t.count * share) for t in structure.recurrences) if share > 0.0 else ()
    return replace(
        structure,
        matrices=kept,
        attends=attends,
        recurrences=recurrences,
        n_layers=structure.n_layers * share,
        mixer_reductions=structure.mixer_reductions * share,
        dense_reductions=structure.dense_reductions * share,
        expert_reductions=structure.expert_reductions * share,
        resident_bytes=0.0,
    )


def ends_of(structure: Structure) -> Structure:
    """Input table, output head and towers, without the layers."""
    kept = tuple(t for t in structure.matrices if not t.in_layers)
    return replace(layers_of(structure, 0.0), matrices=kept, resident_bytes=structure.resident_bytes)


def table_of(structure: Structure) -> Structure:
    """Tables that are only looked up, such as that of input tokens."""
    kept = tuple(t for t in structure.matrices if t.lookup_bytes_per_token)
    return replace(layers_of(structure, 0.0), matrices=kept)


def without_table(structure: Structure) -> Structure:
    """A model whose input tokens are looked up elsewhere."""
    return replace(structure, matrices=tuple(t for t in structure.matrices if not t.lookup_bytes_per_token))


def nothing_of(structure: Structure) -> Structure:
    """No part at all."""
    return layers_of(structure, 0.0)


def together(parts: tuple[Structure, ...]) -> Structure:
    """Parts of one model in one memory."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        matrices=tuple(t for part in parts for t in part.matrices),
        attends=tuple(t for part in parts for t in part.attends),
        recurrences=tuple(t for part in parts for t in part.recurrences),
        n_layers=sum(part.n_layers for part in parts),
        mixer_reductions=sum(part.mixer_reductions for part in parts),
        dense_reductions=sum(part.dense_reductions for part in parts),
        expert_reductions=sum(part.expert_reductions for part in parts),
        resident_bytes=sum(part.resident_bytes for part in parts),
    )


def expert_layers(structure: Structure) -> float:
    """Layers with routed experts."""
    counts: dict[str, float] = {}
    for term in structure.matrices:
        if term.routing is not None:
            counts[term.operator] = counts.get(term.operator, 0.0) + term.count
    return max(counts.values(), default=0.0)


def routed_experts_of(structure: Structure, share: float) -> Structure:
    """Routed experts of a share of the layers, and nothing else."""
    kept = tuple(replace(t, count=t.count * share) for t in structure.matrices if t.routing is not None)
    n = expert_layers(structure) * share
    return replace(nothing_of(structure), matrices=kept, n_layers=n, expert_reductions=n)


def without_experts(structure: Structure, share: float) -> Structure:
    """The rest of a model when a share of its layers keep their routed experts elsewhere."""

    def rest(term: MatrixTerm) -> MatrixTerm:
        return term if term.routing is None else replace(term, count=term.count * (1.0 - share))

    return replace(structure, matrices=tuple(t for t in map(rest, structure.matrices) if t.count > 0.0))


def without_shared_experts(structure: Structure) -> Structure:
    """A model without the experts that every token visits: they can run beside the routed ones."""
    return replace(structure, matrices=tuple(t for t in structure.matrices if not t.operator.startswith("shared_experts/")))


def cache_of(structure: Structure) -> Structure:
    """Attention over the cache, and nothing else."""
    return replace(nothing_of(structure), attends=structure.attends)


def without_cache(structure: Structure) -> Structure:
    """A model whose attention reads its cache elsewhere; recurrent state stays."""
    return replace(structure, attends=())


def weights_of(structure: Structure, share: float) -> Structure:
    """A share of the matrices of a part, and nothing else."""
    kept = tuple(replace(t, count=t.count * share) for t in structure.matrices)
    return replace(nothing_of(structure), matrices=kept)


def with_fewer_weights(structure: Structure, share: float) -> Structure:
    """A part of which a share of the matrices lies elsewhere."""
    kept = tuple(replace(t, count=t.count * (1.0 - share)) for t in structure.matrices) if share < 1.0 else ()
    return replace(structure, matrices=kept)
