"""Low-rank adapters as terms of their own: two thin matrices beside every matrix of the layers.

    y = W x + B A x,    A is r x in, B is out x r: 2 r (in + out) FLOPs a token, r (in + out) numbers an adapter

E. J. Hu et al., "LoRA: low-rank adaptation of large language models", ICLR 2022. arXiv:2106.09685
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from roofline.performance.structure import Division, MatrixTerm, Structure, division_of
from roofline.specs.lora import Adapters
from roofline.specs.model import Block, LayerGroup, ModelSpec, Tensor

ADAPTER_BYTES = 2.0
"""Adapters are kept in 16 bit, whatever the format of the weights."""
_ADAPTED = ("attention", "state_space", "dense_mlp", "routed_experts", "shared_experts")
"""Parts whose matrices have adapters: all of the layers but routers; tables and norms have none."""


def with_adapters(plain: Structure, adapters: Adapters | None) -> Structure:
    """The structure with adapters held and used beside its matrices."""
    if adapters is None:
        return plain
    terms = [term for group in plain.model.groups for block in group.blocks for term in _terms(group, block, adapters)]
    return replace(plain, matrices=plain.matrices + tuple(terms))


def adapter_bytes(model: ModelSpec, adapters: Adapters) -> float:
    """Bytes of all adapters, undivided."""
    terms = (term for group in model.groups for block in group.blocks for term in _terms(group, block, adapters))
    return sum(term.count * term.weight_bytes for term in terms)


def _terms(group: LayerGroup, block: Block, adapters: Adapters) -> list[MatrixTerm]:
    """One term per operator and division of a block."""
    together: dict[tuple[str, Division], list[Tensor]] = defaultdict(list)
    for tensor in block.tensors:
        if tensor.use == "matmul" and tensor.part in _ADAPTED:
            together[tensor.operator, division_of(tensor)].append(tensor)
    n_kv_heads = max((a.n_kv_heads for a in block.attends), default=1)
    terms = []
    for (operator, division), tensors in together.items():
        is_routed = division == "experts"
        copies = max(t.n_copies for t in tensors) if is_routed else 1
        sides = float(sum((t.n_in + t.n_out) * t.n_copies for t in tensors))
        terms.append(
            MatrixTerm(
                operator=f"{operator}/lora",
                count=float(group.n_layers),
                division=division,
                flops_per_token=2.0 * adapters.rank * sides / copies,
                weight_bytes=adapters.count * adapters.rank * sides * ADAPTER_BYTES,
                width=sides / copies,
                n_kv_heads=n_kv_heads,
                routing=block.routing if is_routed else None,
                wide=True,
                n_adapters=adapters.count,
            )
        )
    return terms
