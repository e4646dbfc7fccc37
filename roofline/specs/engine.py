"""An engine profile: the few constants between the limit and what is expected, each with its basis and range."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from roofline.specs.base import Frozen
from roofline.specs.formats import Dtype
from roofline.specs.hardware import Category


class Constant(Frozen):
    """An assumption: a number, where it comes from, and how far it may be off."""

    value: float = Field(ge=0)
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    basis: str


class EngineProfile(Frozen):
    """How software falls short of the machine. Symbols are those of the step-time formula."""

    id: str
    kind: Literal["serving", "llama.cpp", "cpu", "dataflow"] = Field(
        description="class whose means an unknown device falls back to"
    )
    name: str
    version: str
    date: str
    note: str
    weight_ladder: tuple[str, ...] = Field(description="formats that weights are narrowed to under it, the first choice first")
    searched_weights: tuple[str, ...] = Field(description="those of them that a search tries beside the stored format")
    usual_weights: str = Field(description="the one that most people take")
    cache_ladder: tuple[str, ...] = Field(description="the same ladder for keys and values")
    categories: tuple[Category, ...] = Field(description="devices it is the default for")
    default_for: tuple[str, ...] = Field(default=(), description="architectures it is the default for, before categories")
    offloads: tuple[Literal["layers", "experts", "cache"], ...] = Field(
        default=(), description="what it can leave in host memory"
    )
    host_engine: str = Field(default="cpu", description="profile of what it computes on the host")
    streams_prompts: bool = Field(default=True, description="may send the weights of a long prompt's host part to the device")
    is_ideal: bool = Field(default=False, description="software costs nothing: what is expected is the limit")
    is_measured: bool = Field(default=True, description="measurements can stand behind its constants; else borrowed")
    splits_tensors: bool = Field(description="runs tensor and expert parallelism; else devices take whole layers each")
    bandwidth_frac: Constant = Field(description="beta: share of memory bandwidth that weight reading reaches")
    cache_bandwidth_frac: Constant = Field(description="kappa beta: share that cache reading reaches")
    compute_frac: Constant = Field(description="gamma: share of the dense peak that large 16-bit matrix products reach")
    compute_frac_8bit: Constant = Field(description="the same for 8-bit products")
    compute_frac_4bit: Constant = Field(description="the same for 4-bit products")
    attention_compute_frac: Constant
    expert_bandwidth_factor: Constant = Field(description="on bandwidth_frac, for grouped products of experts")
    expert_compute_factor: Constant = Field(description="on compute_frac, for grouped products of experts")
    head_compute_factor: Constant = Field(description="on compute_frac, for the output head with the sampling behind it")
    packed_compute_factor: Constant = Field(description="on compute_frac, for packed weights multiplied in 16 bit")
    half_tokens: Constant = Field(description="m0: tokens at which a matrix product reaches half its rate")
    packed_half_tokens: Constant = Field(description="the same, packed weights multiplied in 16 bit")
    expert_half_tokens: Constant = Field(description="the same, tokens per expert")
    elementwise: Constant = Field(description="e: passes over activations between matrix products that reach memory")
    unpack_operations: Constant = Field(description="iota: FP32 operations to unpack a stored weight, over two")
    unpack_operations_wide: Constant = Field(description="the same for weights kept in 16 bit")
    unpack_bytes: Constant = Field(description="written and read again per weight where prompts unpack to 16 bit; 0: fused")
    score_bytes: Constant = Field(description="moved per head, query and key where scores go through memory; 0: fused")
    power_flops_per_j: Constant = Field(description="16-bit products per joule that the power limit allows; 0: no cap")
    half_sums: bool = Field(description="adds up 16-bit products in 16 bit where a device does that faster")
    layer_s: Constant = Field(description="tau_L: launch and gaps, per layer and step")
    expert_layer_s: Constant = Field(description="tau_E: the same again for routing and grouping, per layer of experts")
    step_s: Constant = Field(description="tau_S: scheduling and sampling, per step and stage")
    sequence_s: Constant = Field(description="tau_q: bookkeeping, per sequence and step")
    link_frac: Constant = Field(description="nu: share of link bandwidth that collectives reach")
    link_latency_s: Constant = Field(description="alpha: one collective inside a node, and again per doubling of nodes")
    exchange_latency_s: Constant = Field(
        description="alpha_E: one all-to-all of experts: kernels that send and receive, and uneven arrival"
    )
    exchange_frac: Constant = Field(description="nu_E: share of the network between nodes that such an all-to-all reaches")
    exchange_units_frac: Constant = Field(
        description="of exchanges handed on inside nodes: work they hold up while it hides them"
    )
    overlaps_batches: bool = Field(
        description="cuts steps into two halves that hide each other's exchanges, where that is sooner"
    )
    hop_s: Constant = Field(description="hand-over between pipeline stages, and between device and host")
    host_link_frac: Constant = Field(description="share of the host link that streamed weights and cache reach")
    added_socket_frac: Constant = Field(description="what each further socket adds to bandwidth, as a share of the first")
    prefill_chunk_tokens: Constant
    page_tokens: Constant = Field(description="tokens a cache page holds; sequences take whole pages")
    window_slack_tokens: Constant = Field(description="tokens a sliding layer holds beyond its window")
    expands_latent: bool = Field(description="caches keys and values of every head where the model has a latent")
    memory_reserve_frac: Constant = Field(description="share of visible memory an engine leaves alone")
    memory_overhead_bytes: Constant = Field(description="context, graphs and communication buffers, per device")
    decode_time_band: tuple[float, float] = Field(description="10th and 90th percentile of measured over predicted time")
    prefill_time_band: tuple[float, float]
    request_time_band: tuple[float, float] = Field(description="of whole requests, prompt and output together")
    band_basis: str
    calibrated: tuple[str, ...] = Field(default=(), description="what the constants were fitted on, in sentences")
    is_calibrated: bool = Field(default=False, description="measurements of this device's architecture stand behind them")

    def compute_frac_of(self, dtype: Dtype) -> Constant:
        """Share of the peak for products at a rate."""
        found: Constant = getattr(self, self.compute_frac_name(dtype))
        return found

    def compute_frac_name(self, dtype: Dtype) -> str:
        """Which of the shares belongs to a rate."""
        if dtype in ("fp8", "int8", "fp6"):
            return "compute_frac_8bit"
        return "compute_frac_4bit" if dtype in ("fp4", "int4") else "compute_frac"
