"""An engine profile: the few constants between the limit and what is expected, each with its basis and range."""

from __future__ import annotations

from pydantic import Field

from roofline.specs.base import Frozen
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
    name: str
    version: str
    date: str
    note: str
    categories: tuple[Category, ...] = Field(description="devices it is the default for")
    splits_tensors: bool = Field(description="runs tensor and expert parallelism; else devices take whole layers each")
    bandwidth_frac: Constant = Field(description="beta: share of memory bandwidth that weight reading reaches")
    cache_bandwidth_frac: Constant = Field(description="kappa beta: share that cache reading reaches")
    compute_frac: Constant = Field(description="gamma: share of the dense peak that large matrix products reach")
    attention_compute_frac: Constant
    expert_bandwidth_factor: Constant = Field(description="on bandwidth_frac, for grouped products of experts")
    expert_compute_factor: Constant = Field(description="on compute_frac, for grouped products of experts")
    half_tokens: Constant = Field(description="m0: tokens at which a matrix product reaches half its rate")
    expert_half_tokens: Constant = Field(description="the same, tokens per expert")
    elementwise: Constant = Field(description="e: passes over activations between matrix products that reach memory")
    layer_s: Constant = Field(description="tau_L: launch and gaps, per layer and step")
    step_s: Constant = Field(description="tau_S: scheduling and sampling, per step and stage")
    sequence_s: Constant = Field(description="tau_q: bookkeeping, per sequence and step")
    link_frac: Constant = Field(description="nu: share of link bandwidth that collectives reach")
    link_latency_s: Constant = Field(description="alpha: per doubling of the group")
    hop_s: Constant = Field(description="hand-over between pipeline stages")
    prefill_chunk_tokens: Constant
    page_tokens: Constant = Field(description="tokens a cache page holds; sequences take whole pages")
    window_slack_tokens: Constant = Field(description="tokens a sliding layer holds beyond its window")
    expands_latent: bool = Field(description="caches keys and values of every head where the model has a latent")
    memory_reserve_frac: Constant = Field(description="share of visible memory an engine leaves alone")
    memory_overhead_bytes: Constant = Field(description="context, graphs and communication buffers, per device")
    decode_time_band: tuple[float, float] = Field(description="10th and 90th percentile of measured over predicted time")
    prefill_time_band: tuple[float, float]
    band_basis: str
