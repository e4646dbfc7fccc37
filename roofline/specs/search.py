"""A search: a model, a promise, a traffic, and what there is to choose from."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from roofline.language import tr
from roofline.specs.ownership import Ownership
from roofline.specs.question import Question
from roofline.specs.scenario import FormatId, Reference, Scenario, Tokens, counted

AS_STORED = "stored"
"""Name of the weight format that the model's own file has."""
BAND_PERCENTILE = 90.0
"""Percentile from which a promise is held at the slow end of the prediction band: its 90th percentile."""

PriceBasis = Literal["market", "rental", "owned"]
"""What hardware is paid by: rental quotes and, where there are none, owning; rental quotes alone; owning alone."""
Seconds = Annotated[float, Field(ge=1e-9, le=1e9)]


class SearchQuery(Question):
    """What is wanted. ``None`` means: no such condition, or choose for me."""

    model: Reference = Field(description="catalogue id, or a path to a configuration")
    hardware: tuple[Reference, ...] | None = Field(default=None, description="devices to choose from; None: the whole catalogue")
    announced: bool = Field(default=False, description="whether the catalogue's parts that do not ship yet are tried")
    input_tokens: Tokens = 4096
    output_tokens: Tokens = 1024
    ttft_s: Seconds | None = Field(
        default=None, description="longest prefill of a prompt; at a request rate and a percentile, with its wait"
    )
    tpot_s: Seconds | None = Field(default=None, description="longest time per output token under load")
    tokens_per_s_per_user: Annotated[float, Field(ge=1e-9, le=1e9)] | None = Field(default=None, description="instead of TPOT")
    percentile: Annotated[float, Field(ge=0, lt=100)] | None = Field(
        default=None,
        description="of arrivals that TTFT with its wait holds for; from 90 also held at the slow end of the prediction band",
    )
    request_rate: Annotated[float, Field(ge=1e-9, le=1e9)] | None = Field(default=None, description="requests per second in all")
    concurrency: Annotated[int, Field(ge=1, le=100_000_000)] | None = Field(
        default=None, description="requests in flight in all, each followed by the next"
    )
    weights: tuple[FormatId, ...] | None = Field(
        default=None, description="formats to try, 'stored' among them; None: as stored, and narrower ones the device can run"
    )
    kv_cache: FormatId | None = Field(default=None, description="format of the cache; None: 16 bit")
    engine: Annotated[str, Field(min_length=1, max_length=40)] = "auto"
    usd_per_device_hour: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="your price for any of the devices; None: the market's"
    )
    price: PriceBasis = Field(default="market", description="rental, owned, or market: rental quotes, else owned")
    most_devices: Annotated[int, Field(ge=1, le=4096)] = Field(default=256, description="of one replica")
    top: Annotated[int, Field(ge=1, le=1000)] = Field(default=20, description="deployments to name")

    @property
    def promised_ttft_s(self) -> float:
        """The longest TTFT allowed; infinite where none was asked for."""
        return math.inf if self.ttft_s is None else self.ttft_s

    @property
    def promised_tpot_s(self) -> float:
        """The longest TPOT allowed; infinite where none was asked for."""
        if self.tokens_per_s_per_user is not None:
            return 1.0 / self.tokens_per_s_per_user
        return math.inf if self.tpot_s is None else self.tpot_s

    @property
    def has_traffic(self) -> bool:
        """Whether there is something to carry; else one full replica is compared with another."""
        return self.request_rate is not None or self.concurrency is not None

    @property
    def holds_band(self) -> bool:
        """Whether the promise is held at the slow end of the band."""
        return self.percentile is not None and self.percentile >= BAND_PERCENTILE

    @property
    def waits_at(self) -> float | None:
        """Share of the arrivals whose wait counts in TTFT; ``None`` where nobody waits or no percentile is asked for."""
        return None if self.percentile is None or self.request_rate is None else self.percentile / 100.0

    def scenario(self, hardware: str, weights: str | None) -> Scenario:
        """One device of a kind with one format, before any plan."""
        return Scenario(
            model=self.model,
            hardware=hardware,
            weights=weights,
            kv_cache=self.kv_cache,
            engine=self.engine,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            usd_per_device_hour=self.usd_per_device_hour,
            ownership=Ownership() if self.price == "owned" else None,
        )

    @field_validator("hardware", "weights")
    @classmethod
    def _not_empty(cls, values: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if values is not None and not values:
            raise ValueError(tr("the list is empty: name at least one, or leave it out"))
        return values

    @field_validator("hardware")
    @classmethod
    def _ids_only(cls, values: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for value in values or ():
            if counted(value)[0] is not None:
                raise ValueError(tr("the search chooses the count: write {hardware} without one", hardware=counted(value)[1]))
        return values

    @model_validator(mode="after")
    def _one_of_two(self) -> SearchQuery:
        if self.request_rate is not None and self.concurrency is not None:
            raise ValueError(tr("give a request rate or a concurrency, not both"))
        if self.tpot_s is not None and self.tokens_per_s_per_user is not None:
            raise ValueError(tr("give a TPOT or tokens per second per user, not both"))
        if self.usd_per_device_hour is not None and self.price != "market":
            raise ValueError(tr("give a price of your own or the price basis {price}, not both", price=self.price))
        return self
