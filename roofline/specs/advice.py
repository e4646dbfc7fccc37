"""Asking for advice: what a machine can run, and what to buy for a model; both for one person at a time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from roofline.specs.ownership import Ownership
from roofline.specs.question import Question
from roofline.specs.scenario import FormatId, Reference, Scenario, Tokens
from roofline.specs.search import SearchQuery

COMFORTABLE_TOKENS_PER_S = 10.0
"""Usual wish: about twice as fast as people read, 238 words a minute (M. Brysbaert, 2019) at four tokens for three words."""

Speed = Annotated[float, Field(ge=0, le=1e9)]
Formats = Annotated[tuple[FormatId, ...], Field(min_length=1)] | None


class MachineQuery(Question):
    """A machine that is there, and when it is comfortable to use."""

    machine: Scenario = Field(description="hardware, host, lengths, engine and cache; its model, weights and load are replaced")
    least_tokens_per_s: Speed = Field(default=COMFORTABLE_TOKENS_PER_S, description="below it a model is slow to use")
    least_context_tokens: Annotated[int, Field(ge=0, le=10_000_000)] = Field(
        default=0, description="prompt and answer that must fit; at least those of the machine's load do"
    )
    formats: Formats = Field(default=None, description="weight formats to try; None: those usual with the engine")
    offload: bool = Field(default=False, description="whether host memory may hold what does not fit on the devices")

    def scenario(self, model: str, weights: str | None, offload: str = "none") -> Scenario:
        """One model on this machine: one sequence, only electricity paid, the plan left open."""
        return self.machine.model_copy(
            update={
                "model": model,
                "weights": weights,
                "activations": None,
                "speculative": None,
                "adapters": None,
                "batch": 1,
                "request_rate": None,
                "prefill_devices": None,
                "tensor_parallel": None,
                "pipeline_parallel": None,
                "expert_parallel": None,
                "data_parallel": None,
                "attention_data_parallel": None,
                "context_parallel": 1,
                "expert_skew": 1.0,
                "two_batch_overlap": None,
                "offload": offload,
                "usd_per_device_hour": None,
                "rental": "on-demand",
                "ownership": self.machine.ownership or Ownership(power_only=True),
                "utilisation": 1.0,
            }
        )


class PurchaseQuery(Question):
    """A model that one person wants to use, and how fast."""

    model: Reference = Field(description="catalogue id, or a path to a configuration")
    input_tokens: Tokens = 4096
    output_tokens: Tokens = 1024
    least_tokens_per_s: Speed = COMFORTABLE_TOKENS_PER_S
    hardware: tuple[Reference, ...] | None = Field(default=None, description="devices to choose from; None: the whole catalogue")
    announced: bool = Field(default=False, description="whether the catalogue's parts that do not ship yet are tried")
    weights: Formats = Field(default=None, description="formats to try, 'stored' among them; None: as stored and narrower")
    kv_cache: FormatId | None = None
    engine: Annotated[str, Field(min_length=1, max_length=40)] = "auto"
    most_devices: Annotated[int, Field(ge=1, le=64)] = Field(default=8, description="in one machine")

    def search(self) -> SearchQuery:
        """The same as a search among devices and formats."""
        shared = (
            "model",
            "input_tokens",
            "output_tokens",
            "hardware",
            "announced",
            "weights",
            "kv_cache",
            "engine",
            "most_devices",
        )
        return SearchQuery(**{name: getattr(self, name) for name in shared})
