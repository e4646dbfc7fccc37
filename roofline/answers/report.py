"""What an estimate answers: frozen results that name what they used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from roofline.answers.energy import Energy
from roofline.answers.pricing import HourlyParts, PriceKind
from roofline.language import later
from roofline.specs.scenario import Scenario
from roofline.units import Floats

Bound = Literal["compute", "memory", "network", "host", "latency"]
Phase = Literal["prefill", "decode"]
BOUND_NAMES: dict[Bound, str] = {
    "compute": later("compute"),
    "memory": later("memory"),
    "network": later("network"),
    "host": later("host"),
    "latency": later("latency"),
}
PHASE_NAMES: dict[Phase, str] = {"prefill": later("prefill"), "decode": later("decode")}
"""As words, to be translated where they are shown."""


@dataclass(frozen=True)
class Times:
    """Times and rates of one load. All system-wide but ``tokens_per_s_per_user``."""

    ttft_s: Floats
    """Prefill of one prompt on an idle replica."""
    prefill_tokens_per_s: Floats
    tpot_s: Floats
    """Time per output token after the first."""
    tpot_including_ttft_s: Floats
    decode_step_s: Floats
    """One decode step, drafts included; it may yield several tokens."""
    tokens_per_s_per_user: Floats
    output_tokens_per_s: Floats
    """Steady decode, the prompts already in."""
    requests_per_s: Floats
    """Completed by a saturated server whose prefill shares the devices."""
    request_output_tokens_per_s: Floats


@dataclass(frozen=True)
class Waiting:
    """Service and waiting apart; infinite where prompts arrive faster than they can be read."""

    service_s: Floats
    """Prefill of the prompt itself: TTFT on an idle replica."""
    mean_wait_s: Floats
    """For the step that runs, for the window to close, and for prompts ahead."""
    prefill_busy_frac: Floats
    """Share of the time that one group of devices reads prompts."""
    ttft_mean_s: Floats
    ttft_p50_s: Floats
    ttft_p90_s: Floats
    ttft_p99_s: Floats


@dataclass(frozen=True)
class MemoryTier:
    """One memory that holds part of the model: a device, the host, a disk."""

    name: str
    tier: str
    used_bytes: float
    usable_bytes: float | None
    """None for a disk."""
    weights_bytes: float
    kv_cache_bytes: float


@dataclass(frozen=True)
class Fitting:
    """Weights and a batch that fit together."""

    weights: str
    batch: int


@dataclass(frozen=True)
class Memory:
    """Where one device's memory goes; parts sum to ``used``."""

    weights_bytes_per_device: Floats
    kv_cache_bytes_per_device: Floats
    """As the engine reserves it: whole pages."""
    kv_cache_least_bytes_per_device: Floats
    """As the mathematics needs it."""
    activation_bytes_per_device: Floats
    overhead_bytes_per_device: Floats
    usable_bytes_per_device: Floats
    kv_cache_bytes_per_sequence: Floats
    """One sequence at its full length, over all devices that hold a copy of part of it, counted once."""
    fits: bool
    max_batch: int
    """Most sequences that fit over the whole system; 0 when the weights alone do not."""
    min_devices: int | None
    """Fewest devices that carry this load, where that is more than there are and known."""
    fitting_weights: str | None
    """The first format of the engine's ladder in which this load fits, where it does not as asked."""
    fitting_pair: Fitting | None = None
    """Narrower weights together with a smaller batch, where neither alone does."""
    tiers: tuple[MemoryTier, ...] = ()
    """Every memory that holds part of the model."""

    @property
    def used_bytes_per_device(self) -> Floats:
        """All parts."""
        return (
            self.weights_bytes_per_device
            + self.kv_cache_bytes_per_device
            + self.activation_bytes_per_device
            + self.overhead_bytes_per_device
        )


@dataclass(frozen=True)
class Plan:
    """How the devices share the model. ``devices_used = tensor x pipeline x data x context``."""

    tensor_parallel: int
    pipeline_parallel: int
    data_parallel: int
    expert_parallel: int
    attention_data_parallel: bool
    devices_used: int
    why: str
    """One sentence: chosen by the person, or why this one."""
    context_parallel: int = 1


@dataclass(frozen=True)
class Formats:
    """Formats as resolved."""

    weights: str
    """Format id, or ``as stored (fp8_block128)``."""
    weights_id: str | None
    activations: str
    kv_cache: str
    gemm_rate: str
    """Dtype key of the peak that quantised matrix products run at."""
    attention_rate: str


@dataclass(frozen=True)
class Term:
    """Part of a row whose weights are divided alike and whose sequences read a like cache, as the ledger has it."""

    flops: float
    weight_bytes: float
    cache_bytes: float
    compute_limit_s: float
    memory_limit_s: float
    tokens: float
    """That share one reading of a weight."""
    stored_bytes: float
    """Weights of all layers, before they are divided or left untouched."""
    ways: float
    """Devices that share the bytes."""
    met_tokens: float
    """Tokens of a step that choose among experts or adapters."""
    sequences: float
    """With a cache or state of their own here, at once."""
    cached_tokens: float
    """Of each of these sequences, before the step."""

    @property
    def touched_frac(self) -> float:
        """Share of the stored weights that a step reads: less than all where tokens choose among them."""
        return self.weight_bytes * self.ways / self.stored_bytes if self.stored_bytes else 0.0


@dataclass(frozen=True)
class OperatorRow:
    """One kind of operator in one step, on one device, all ``count`` layers together."""

    phase: Phase
    name: str
    count: float
    flops: float
    bytes: float
    """Compulsory traffic: weights and cache."""
    weight_bytes: float
    cache_bytes: float
    activation_bytes: float
    network_bytes: float
    intensity: float
    """FLOP per byte of ``bytes``."""
    compute_limit_s: float
    memory_limit_s: float
    limit_s: float
    expected_s: float
    bound: Bound
    """Of the limit."""
    expected_bound: Bound
    """Of the expected time: few tokens leave arithmetic units half empty."""
    rate: str = ""
    """Dtype key of the peak that it is held against."""
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True)
class TokenCost:
    """Price of tokens by kind, each charged for the device time it takes."""

    usd_per_million_input_tokens: float
    usd_per_million_cached_input_tokens: float
    """Read from the cache instead of computed."""
    usd_per_million_output_tokens: float
    usd_per_million_tokens: float
    """Of both kinds, in the proportion of the load."""
    usd_per_request: float


@dataclass(frozen=True)
class Cost:
    """Money and energy at the expected speed, as used; ``*_low``/``*_high`` follow its band; None where a fact is missing."""

    usd_per_million_input_tokens: float | None
    usd_per_million_cached_input_tokens: float | None
    usd_per_million_output_tokens: float | None
    usd_per_million_tokens: float | None
    usd_per_hour: float | None
    joules_per_output_token: float | None
    grams_co2e_per_million_tokens: float | None
    usd_per_million_output_tokens_low: float | None
    usd_per_million_output_tokens_high: float | None
    usd_per_million_output_tokens_at_limit: float | None
    usd_per_device_hour: float | None
    basis: str
    """Where the price comes from, in words, with dates."""
    price_kind: PriceKind = "yours"
    reserved: TokenCost | None = None
    """What the machines cost if they were busy all the time."""
    used: TokenCost | None = None
    """The same over the utilisation: what a token costs that is sold or used."""
    used_low: TokenCost | None = None
    """``used`` at the cheap end of the band of expected speed, each price by itself."""
    used_high: TokenCost | None = None
    usd_per_device_hour_decoding: float | None = None
    """With the power that decode takes: what output tokens are charged."""
    usd_per_device_hour_parts: HourlyParts | None = None
    """Capital, electricity, space and staff, where the device is owned."""
    mean_load_frac: float | None = None
    """Of a device over its hours at work and idle: what its power follows. None where the load does not fit."""
    energy: Energy | None = None


@dataclass(frozen=True)
class Share:
    """Part of an expected step that one bound takes."""

    bound: Bound
    seconds: float


@dataclass(frozen=True)
class Assumption:
    """Something used that is not a fact."""

    name: str
    value: str
    basis: str


@dataclass(frozen=True)
class Report:
    """The answer to one scenario."""

    scenario: Scenario
    """As asked."""
    model_name: str
    hardware_name: str
    batch: int
    """Sequences decoding at once that the numbers hold for."""
    context_tokens: float
    """Mean context of a decode step."""
    plan: Plan
    formats: Formats
    memory: Memory
    critical_batch_dense: float
    critical_batch_with_experts: float
    critical_batch_system: float
    """Critical batch of the whole system under its plan, in sequences at once: every replica and stage has its own."""
    sustained_requests_per_s: float | None
    """Most requests a second this system keeps up with, where a request rate is asked for."""
    ridge_flops_per_byte: float
    peak_flops_per_s: dict[str, float]
    bandwidth_bytes_per_s: float
    limit: Times
    expected: Times
    expected_low: Times
    """The low end of each number (a slow rate, a short time)."""
    expected_high: Times
    bound: dict[Phase, Bound]
    shares: dict[Phase, tuple[Share, ...]]
    """Expected time of a step by what takes it, longest first."""
    mfu: dict[Phase, float]
    mbu: dict[Phase, float]
    cost: Cost
    operators: tuple[OperatorRow, ...]
    sentence: str
    """What binds decode and what would change it, in plain words."""
    assumptions: tuple[Assumption, ...]
    reasons: tuple[str, ...] = field(default=())
    """Why something is null, does not fit, or was substituted."""
    sources: dict[str, str] = field(default_factory=dict)
    """Facts used: name -> value and source."""
    waiting: Waiting | None = None
    """TTFT with the wait before it, where requests arrive at a rate."""
    tokens_per_step: float = 1.0
    """Output tokens that a decode step yields to each sequence: more than one with drafted or forced tokens."""
    prefill_plan: Plan | None = None
    """Plan of the devices that only prefill; ``plan`` and ``memory`` are then those of the others. ``None``: shared devices."""
    prefill_devices: int = 0
    """Devices of that pool."""
    offload: str = "none"
    """What host memory holds: as asked, or as chosen."""


@dataclass(frozen=True)
class BatchCurve:
    """The same scenario at every batch: arrays over ``batch``; NaN beyond what fits."""

    batch: Floats
    max_batch: int
    limit: Times
    expected: Times
    expected_low: Times
    expected_high: Times
    bound: tuple[Bound, ...]
    usd_per_million_output_tokens: Floats | None
    usd_per_million_output_tokens_low: Floats | None
    usd_per_million_output_tokens_high: Floats | None
    usd_per_million_output_tokens_at_limit: Floats | None
    intensity_flops_per_byte: Floats
    """Of a whole decode step on one device."""
    flops_per_s_per_device: Floats
    """Reached in an expected decode step."""


@dataclass(frozen=True)
class Input:
    """One input of a formula as it was used."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Explanation:
    """Why a headline number is what it is."""

    title: str
    equation: str
    substituted: str
    inputs: tuple[Input, ...]
    citation: str
    value: str = ""
    """What it comes to, in one short text."""
    plain: str = ""
    """The same in a sentence without symbols; headline numbers have one."""
    url: str = ""
    """Address of the source, where it has one."""
    parts: tuple[Explanation, ...] = ()
    """What it rests on, explained in turn: steps, operators, bytes, structure, facts."""
