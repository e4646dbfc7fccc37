"""The ledger of one step on one device: a row per kind of operator, the same code for prefill and decode.

A step brings ``n_new`` tokens of each of ``n_sequences`` sequences to an attention group, on top of ``n_cached`` tokens each.
Decode is ``n_new = 1``; prefill is ``n_cached = 0``. Every number is a scalar or an array that broadcasts. Rows of one kind
are stacked along a first axis, before those of loads and plans, so that all of them are counted and timed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from roofline.formulas.attention import attention_flops
from roofline.formulas.experts import distinct_experts
from roofline.performance.imbalance import fullest_share
from roofline.performance.machine import Rates
from roofline.performance.reach import decoded_pairs, held_tokens, read_tokens
from roofline.performance.sharding import Shard
from roofline.performance.structure import AttendTerm, MatrixColumns, MatrixTerm, RecurrenceTerm, Structure
from roofline.specs.model import Recurrence, Routing
from roofline.units import BITS_PER_BYTE, Floats

ACTIVATION_BYTES = 2.0
"""Activations between operators are kept in 16 bit, whatever the products run in."""

Kind = Literal["matrix", "experts", "attention", "recurrence"]


@dataclass(frozen=True)
class Load:
    """What one step brings to one attention group of one stage."""

    n_sequences: Floats
    n_new: Floats
    n_cached: Floats
    stage_tokens: Floats
    """Tokens all groups of the stage bring at once: what a set of experts may see."""
    n_logits: Floats = 1.0
    """Positions of each sequence whose logits are wanted: the last, and every drafted token under verification."""
    n_steps: Floats = 1.0
    """Steps of a generation for which ``n_cached`` is the mean."""

    @cached_property
    def n_axes(self) -> int:
        """Of loads: none for one load."""
        return max(np.ndim(getattr(self, field.name)) for field in fields(self))

    @cached_property
    def n_tokens(self) -> Floats:
        """Tokens entering the layers of one attention group."""
        return self.n_sequences * self.n_new


@dataclass(frozen=True)
class Ops:
    """Rows of one kind, on one device, in one step: each is all ``count`` layers of one kind of operator.

    Work, weights and what else differs between rows have a first axis for them.
    """

    names: tuple[str, ...]
    kind: Kind
    count: NDArray[np.float64]
    work_flops: Floats
    weight_bytes: Floats
    cache_bytes: Floats
    activation_bytes: Floats
    tokens: Floats
    """Tokens that share one reading of a weight: decides how full the arithmetic units are."""
    wide: bool | NDArray[np.bool_] = False
    """Whether weights are left in 16 bits or more, and run at that rate."""
    packed: bool | NDArray[np.bool_] = False
    """Whether weights are stored in fewer than 16 bits."""
    in_layers: bool | NDArray[np.bool_] = True
    """Whether a stage of a pipeline holds a share; the ends are whole on one stage."""
    score_pairs: Floats = 0.0
    """Heads times queries times keys, where scores are made."""
    fullest_visits: Floats = 1.0
    """Work of the fullest device over the even share that the rest of the row tells; the others wait for it."""
    fullest_weights: Floats = 1.0
    """The same for weights read."""
    stored_bytes: Floats = 0.0
    """Weights of all layers before they are divided or left untouched."""
    ways: Floats = 1.0
    """Devices that share the bytes."""
    met_tokens: Floats = 0.0
    """Tokens of a step that choose among the experts or adapters of a row."""
    sequences: Floats = 0.0
    """That have a cache or state of their own here."""
    cached_tokens: Floats = 0.0
    """Of each of these sequences, before the step."""

    @cached_property
    def n_weights(self) -> Floats:
        """Weights multiplied with, each once: FLOPs per token over two."""
        return self.work_flops / (2.0 * np.maximum(self.tokens, 1e-9))

    @property
    def fullest(self) -> Ops:
        """The rows of the device that has most to do."""
        if isinstance(self.fullest_visits, float) and self.fullest_visits == 1.0:
            return self
        return replace(
            self,
            work_flops=self.work_flops * self.fullest_visits,
            weight_bytes=self.weight_bytes * self.fullest_weights,
            activation_bytes=self.activation_bytes * self.fullest_visits,
            tokens=self.tokens * self.fullest_visits / self.fullest_weights,
            fullest_visits=1.0,
            fullest_weights=1.0,
        )

    @cached_property
    def traffic_bytes(self) -> Floats:
        """Compulsory memory traffic: weights and cache. Activations can stay on the chip."""
        return self.weight_bytes + self.cache_bytes


def ledger(structure: Structure, load: Load, parts: tuple[Load, ...], shard: Shard, formats: Rates) -> tuple[Ops, ...]:
    """Rows of a step of the whole stack, whose matrices see all of a load and whose caches belong to its parts.

    A pipeline passes through all of them, stage after stage.
    """
    n_axes = max(shard.n_axes, *(each.n_axes for each in (load, *parts)))
    own = own_positions(load, shard)
    rows = [_matrix_ops(structure.plain_matrices, own, shard, n_axes)] if structure.plain_matrices is not None else []
    rows += [_expert_ops(terms, routing, own, shard, n_axes) for routing, terms in structure.expert_matrices]
    rows += [_adapter_op(term, own, shard, n_axes) for term in structure.adapters]
    for part in parts:
        rows += [_attention_op(term, part, shard, formats, n_axes) for term in structure.attends]
        rows += [_recurrence_op(term, part, shard, n_axes) for term in structure.recurrences]
    return tuple(rows)


def _column(values: NDArray[Any], n_axes: int) -> NDArray[Any]:
    """A number of each row, which broadcasts along so many axes."""
    return values.reshape(-1, *(1,) * n_axes)


def _row(value: Floats, n_axes: int) -> NDArray[np.float64]:
    """Numbers of loads and plans as the only row."""
    numbers = np.asarray(value)
    return numbers.reshape((1,) * (n_axes + 1 - numbers.ndim) + numbers.shape)


def _stacked(values: Sequence[Floats], n_axes: int) -> NDArray[np.float64]:
    """Numbers of loads and plans as rows, one after another."""
    shape = np.broadcast_shapes(*(np.shape(value) for value in values))
    rows = np.empty((len(values), *(1,) * (n_axes - len(shape)), *shape))
    for n, value in enumerate(values):
        rows[n] = value
    return rows


def own_positions(load: Load, shard: Shard) -> Load:
    """What one of the devices that share positions brings to its matrices: a share of the tokens, one at least.

    A token that cannot be divided passes through all of them.
    """
    if shard.context == 1.0:
        return load
    sequences = np.maximum(load.n_sequences / shard.context, np.minimum(load.n_sequences, 1.0))
    tokens = np.maximum(load.n_tokens / shard.context, np.minimum(load.n_tokens, 1.0))
    return replace(load, n_sequences=sequences, n_new=tokens / sequences)


def over_rows(values: Floats) -> Floats:
    """Numbers of rows added up in their order, so that a load has the same sum alone and among others."""
    rows = np.asarray(values)
    total: Floats = np.add.reduce(rows, axis=0) if rows.size > len(rows) else np.add.accumulate(rows, axis=0)[-1]
    return total


def _matrix_ops(terms: MatrixColumns, load: Load, shard: Shard, n_axes: int) -> Ops:
    """Matrices that all tokens use, and tables they are looked up in."""
    kinds = [shard.ways(division, n_kv_heads) for division, n_kv_heads in terms.divisions]
    ways = _stacked(kinds, n_axes)[terms.division_of]
    feeds = [
        (load.n_sequences * load.n_logits if per_logit else load.n_tokens) * (shard.tokens_factor if of_group else 1.0)
        for per_logit, of_group in terms.inputs
    ]
    tokens = _stacked(feeds, n_axes)[terms.input_of]
    each = tokens / ways
    held, looked_up = _column(terms.weight_bytes, n_axes), _column(terms.lookup_bytes_per_token, n_axes)
    return Ops(
        names=terms.names,
        kind="matrix",
        count=terms.count,
        work_flops=_column(terms.flops_per_token, n_axes) * each,
        weight_bytes=held / ways + looked_up * each,
        cache_bytes=0.0,
        activation_bytes=_column(terms.width * ACTIVATION_BYTES, n_axes) * each,
        tokens=tokens,
        wide=_column(terms.wide, n_axes),
        packed=_column(terms.packed, n_axes),
        in_layers=_column(terms.in_layers, n_axes),
        stored_bytes=held + looked_up * tokens,
        ways=ways,
    )


def met_tokens(load: Load, shard: Shard) -> Floats:
    """Tokens of a step that meet one set of experts: those of all devices that share it."""
    return np.minimum(load.n_tokens * shard.tokens_factor * shard.expert_ways / shard.tensor, load.stage_tokens)


def _expert_ops(terms: MatrixColumns, routing: Routing, load: Load, shard: Shard, n_axes: int) -> Ops:
    """Routed experts: distinct ones over all tokens that meet a set of experts, an even share of them on each device."""
    ways = shard.expert_ways
    tokens = met_tokens(load, shard)
    distinct = distinct_experts(n_experts=routing.n_experts, n_active_experts=routing.n_active, n_tokens=tokens)
    visits = tokens * routing.n_active / ways
    held = shard.expert_weight_ways(routing.n_experts)
    read = distinct / held
    fullest = fullest_share(routing, tokens, shard)
    return Ops(
        names=terms.names,
        kind="experts",
        count=terms.count,
        work_flops=_column(terms.flops_per_token, n_axes) * visits,
        weight_bytes=_column(terms.weight_bytes / routing.n_experts, n_axes) * read,
        cache_bytes=0.0,
        activation_bytes=_column(terms.width * ACTIVATION_BYTES, n_axes) * visits,
        tokens=visits / read,
        wide=_column(terms.wide, n_axes),
        packed=_column(terms.packed, n_axes),
        fullest_visits=fullest[0],
        fullest_weights=fullest[1],
        stored_bytes=_column(terms.weight_bytes, n_axes),
        ways=held,
        met_tokens=tokens,
    )


def _adapter_op(term: MatrixTerm, load: Load, shard: Shard, n_axes: int) -> Ops:
    """Adapters, one of n for each sequence, chosen evenly: those that some sequence of the step uses are read once.

        share read = 1 - (1 - h / n)^S,    h = 1 - (1 - k/E)^m

    S sequences of m tokens; h is the chance that a sequence visits an expert, 1 for matrices that all tokens use.
    """
    routing, n = term.routing, float(term.n_adapters)
    ways: Floats
    met: Floats
    if routing is None:
        ways = shard.ways(term.division, term.n_kv_heads)
        tokens = load.n_tokens * (shard.tokens_factor if term.division == "width" else 1.0)
        visits, met, n_matrices = tokens, 1.0, 1.0
    else:
        ways, tokens, n_matrices = shard.expert_ways, met_tokens(load, shard), float(routing.n_experts)
        visits = tokens * routing.n_active
        met = distinct_experts(n_experts=n_matrices, n_active_experts=routing.n_active, n_tokens=load.n_new) / n_matrices
    used = distinct_experts(n_experts=n, n_active_experts=met, n_tokens=tokens / load.n_new)
    return Ops(
        names=(term.operator,),
        kind="matrix" if routing is None else "experts",
        count=np.array([term.count]),
        work_flops=_row(term.count * term.flops_per_token * visits / ways, n_axes),
        weight_bytes=_row(term.count * term.weight_bytes * (used / n) / ways, n_axes),
        cache_bytes=0.0,
        activation_bytes=_row(term.count * term.width * visits * ACTIVATION_BYTES / ways, n_axes),
        tokens=visits / (used * n_matrices),
        wide=True,
        packed=term.is_packed,
        stored_bytes=term.count * term.weight_bytes,
        ways=ways,
        met_tokens=tokens,
    )


def _attention_op(term: AttendTerm, load: Load, shard: Shard, formats: Rates, n_axes: int) -> Ops:
    """Scores and weighted sum: FLOPs by keys visited, bytes by cache entries read once per sequence and written once."""
    attend = term.attend
    pairs = decoded_pairs(attend, load.n_new, load.n_cached, load.n_steps)
    work = attention_flops(pairs=pairs, n_heads=attend.n_heads, key_size=attend.key_size, value_size=attend.value_size)
    if attend.absorbed_key_size is not None and attend.absorbed_value_size is not None:
        absorbed = attention_flops(
            pairs=pairs,
            n_heads=attend.n_heads,
            key_size=attend.absorbed_key_size,
            value_size=attend.absorbed_value_size,
        )
        work = np.minimum(absorbed, work + 2.0 * attend.expansion_elements * load.n_cached)
    read = np.minimum(held_tokens(attend, load.n_cached), load.n_new * read_tokens(attend, load.n_cached, load.n_steps))
    moved = read * attend.read_elements + load.n_new * attend.cache_elements / attend.stride
    ways = shard.ways("kv_heads", attend.n_kv_heads) * shard.context
    heads = shard.attention_tensor * shard.context
    copies = attend.n_heads * (attend.key_size + attend.value_size)
    layers = term.count * load.n_sequences
    return Ops(
        names=(f"attention/{attend.kind}",),
        kind="attention",
        count=np.array([term.count]),
        work_flops=_row(layers * work / heads, n_axes),
        weight_bytes=np.zeros((1,) * (n_axes + 1)),
        cache_bytes=_row(layers * moved * formats.cache_bytes_per_element / ways, n_axes),
        activation_bytes=_row(term.count * load.n_tokens * copies * ACTIVATION_BYTES / heads, n_axes),
        tokens=load.n_tokens,
        score_pairs=layers * pairs * attend.n_heads / heads,
        ways=ways,
        sequences=load.n_sequences,
        cached_tokens=load.n_cached,
    )


def _recurrence_op(term: RecurrenceTerm, load: Load, shard: Shard, n_axes: int) -> Ops:
    """Recurrent state: read and written once per step and sequence."""
    recurrence = term.recurrence
    flops = np.where(np.asarray(load.n_new) > 1, recurrence.prefill_flops, recurrence.decode_flops)
    state = state_bytes(recurrence)
    reads = np.where(np.asarray(load.n_cached) > 0, 2.0, 1.0)
    return Ops(
        names=("state_space/recurrence",),
        kind="recurrence",
        count=np.array([term.count]),
        work_flops=_row(term.count * load.n_tokens * flops / shard.attention_tensor, n_axes),
        weight_bytes=np.zeros((1,) * (n_axes + 1)),
        cache_bytes=_row(term.count * load.n_sequences * reads * state / shard.attention_tensor, n_axes),
        activation_bytes=0.0,
        tokens=load.n_tokens,
        ways=shard.attention_tensor,
        sequences=load.n_sequences,
        cached_tokens=load.n_cached,
    )


def state_bytes(recurrence: Recurrence) -> float:
    """Bytes of one sequence's recurrent state in one layer: state as the file says or in 16 bit, convolution in 16 bit."""
    own = (recurrence.state_bits or ACTIVATION_BYTES * BITS_PER_BYTE) / BITS_PER_BYTE
    return recurrence.state_elements * own + recurrence.convolution_elements * ACTIVATION_BYTES


def cache_bytes_per_sequence(structure: Structure, n_tokens: Floats, shard: Shard, bytes_per_element: float) -> Floats:
    """Cache and state that one sequence of ``n_tokens`` keeps on each device of its attention group, all layers."""
    total: Floats = 0.0
    for term in structure.attends:
        ways = shard.ways("kv_heads", term.attend.n_kv_heads)
        kept = held_tokens(term.attend, n_tokens) / shard.context * term.attend.cache_elements
        total = total + term.count * kept * bytes_per_element / ways
    return total + state_bytes_per_sequence(structure, shard)


def state_bytes_per_sequence(structure: Structure, shard: Shard) -> Floats:
    """Recurrent state of one sequence on each device of its attention group, all layers; split by heads."""
    total: Floats = 0.0
    for item in structure.recurrences:
        r = item.recurrence
        state = state_bytes(r)
        total = total + item.count * state / shard.attention_tensor
    return total
