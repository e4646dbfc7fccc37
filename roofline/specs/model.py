"""A language model as structure: layers, each a list of blocks, each with its matrices, its attention and its state.

Structure decides everything. An adapter turns a configuration file into these values; nothing above knows a model's
name or type. Sums over the structure give parameters, cache, FLOPs and bytes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from roofline.specs.base import Frozen

Part = Literal[
    "embedding",
    "output_head",
    "attention",
    "state_space",
    "dense_mlp",
    "routed_experts",
    "shared_experts",
    "router",
    "norm",
    "vision_audio",
    "other",
]
"""Where a parameter is reported."""

Split = Literal["heads", "kv_heads", "width", "vocabulary", "replicated"]
"""How tensor parallelism divides a tensor; routed experts divide by expert or by width."""

Use = Literal["matmul", "convolution", "lookup", "vector"]
"""How a token uses a tensor: multiplied (2 FLOPs a weight), convolved (2), one row looked up, or elementwise."""


class Tensor(Frozen):
    """One stored tensor of one layer (or of the ends), or several of equal shape."""

    operator: str = Field(description="ledger row it belongs to, such as 'attention/query' or 'experts/gate_up'")
    module: str = Field(description="module path as checkpoints spell it, such as 'self_attn.q_proj'; formats match on it")
    gguf: str = Field(default="", description="llama.cpp tensor name, such as 'attn_q'; its mixes match on it")
    part: Part
    n_out: PositiveInt
    n_in: PositiveInt = 1
    n_copies: PositiveInt = Field(default=1, description="experts or groups of this shape")
    use: Use = "matmul"
    split: Split = "replicated"
    stored_as: str | None = Field(default=None, description="format id the file states; None is 16 bit")

    @property
    def n_parameters(self) -> int:
        """Stored numbers, all copies."""
        return self.n_out * self.n_in * self.n_copies


class Attend(Frozen):
    """Scores and weighted sum of one layer's queries over earlier positions, and what the cache keeps for it.

    A query at position p (from 0) visits ``min(p + 1, window)`` keys, ``(p mod chunk) + 1`` keys, or
    ``min((p + 1) / stride, top_k)`` compressed keys. FLOPs per visited key: ``2 n_heads (key_size + value_size)``.
    """

    kind: Literal["full", "sliding", "chunked", "latent", "sparse", "compressed", "index", "cross"] = "full"
    n_heads: PositiveInt
    n_kv_heads: PositiveInt = Field(description="1 where one vector serves all heads: replicated by tensor parallelism")
    key_size: PositiveInt
    value_size: NonNegativeInt = Field(description="0 for an index that only scores")
    cache_elements: NonNegativeInt = Field(description="kept per (compressed) token; 0 when another layer's is reused")
    read_elements: PositiveInt = Field(description="read per visited key by the whole layer")
    window: PositiveInt | None = None
    chunk: PositiveInt | None = None
    top_k: PositiveInt | None = Field(default=None, description="keys a query visits at most, chosen among all")
    stride: PositiveInt = Field(default=1, description="tokens per cached entry")
    absorbed_key_size: PositiveInt | None = Field(default=None, description="latent: r + rope, scores in latent space")
    absorbed_value_size: PositiveInt | None = Field(default=None, description="latent: r")
    expansion_elements: NonNegativeInt = Field(
        default=0, description="latent: weights of kv_b, applied to old keys when expanded"
    )


class Recurrence(Frozen):
    """State that a layer carries from token to token, of constant size."""

    kind: str
    n_heads: PositiveInt
    state_elements: NonNegativeInt
    convolution_elements: NonNegativeInt = 0
    decode_flops: NonNegativeInt = Field(description="per token, one at a time")
    prefill_flops: NonNegativeInt = Field(description="per token, in chunks")
    state_bits: PositiveInt | None = Field(default=None, description="bits of a state element where the file says; None: 16")


class Routing(Frozen):
    """How tokens choose experts."""

    n_experts: PositiveInt = Field(le=100_000)
    n_active: PositiveInt = Field(le=100_000)
    n_groups: PositiveInt = 1
    n_active_groups: PositiveInt = 1


class Block(Frozen):
    """A mixer, a feed-forward or a set of norms."""

    kind: str = Field(description="card of the rule sheet, such as 'grouped-query attention' or 'mixture of experts'")
    tensors: tuple[Tensor, ...] = ()
    attends: tuple[Attend, ...] = ()
    recurrences: tuple[Recurrence, ...] = ()
    routing: Routing | None = None
    reduces: bool = Field(default=True, description="tensor parallelism must sum its output over the group")


class LayerGroup(Frozen):
    """Layers of equal shape, named by their positions in the stack."""

    layers: tuple[NonNegativeInt, ...]
    blocks: tuple[Block, ...]
    parallel: bool = Field(default=False, description="mixer and feed-forward run side by side: one all-reduce, not two")

    @property
    def n_layers(self) -> int:
        """How many layers share this shape."""
        return len(self.layers)


class ModelSpec(Frozen):
    """A language model, counted by structure."""

    id: str
    name: str
    architecture: str = Field(description="model_type of the file; told, never branched on")
    hidden_size: PositiveInt
    stream_size: PositiveInt | None = Field(default=None, description="width between layers where it is not hidden_size")
    vocabulary: PositiveInt
    n_layers: PositiveInt
    trained_context: PositiveInt | None = None
    groups: tuple[LayerGroup, ...]
    ends: tuple[Tensor, ...] = Field(description="embedding, head, final norm, position tables, towers")
    tied_embeddings: bool
    draft_parameters: NonNegativeInt = Field(default=0, description="multi-token-prediction modules, in no total")
    stored_format: str = Field(default="bf16", description="format id that most matrices have in the published file")
    stored_bytes: NonNegativeInt | None = Field(
        default=None, description="exact size of the published tensors: towers, draft modules and duplicates included"
    )
    assumptions: tuple[str, ...] = Field(default=(), description="class defaults and readings used where the file is silent")
    source: str = ""

    @cached_property
    def digest(self) -> int:
        """Hash of the content, computed once."""
        return hash(self.model_dump_json())

    def __hash__(self) -> int:
        return self.digest

    @property
    def routings(self) -> tuple[Routing, ...]:
        """The routing of every expert block, once per layer group."""
        return tuple(b.routing for g in self.groups for b in g.blocks if b.routing is not None)
