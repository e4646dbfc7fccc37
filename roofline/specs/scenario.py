"""The question: one model on one machine under one load. A link holds exactly this."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from roofline.errors import InputError
from roofline.specs.base import Frozen
from roofline.specs.lora import Adapters
from roofline.specs.messages import validation_sentence
from roofline.specs.ownership import Ownership
from roofline.specs.speculation import Speculation

Tokens = Annotated[int, Field(ge=1, le=10_000_000)]
Ways = Annotated[int, Field(ge=1, le=100_000)]
FormatId = Annotated[str, Field(min_length=1, max_length=40)]
Reference = Annotated[str, Field(min_length=1, max_length=3200)]


_COUNTED = re.compile(r"([1-9]\d{0,6})\s*[x×*]\s*([^\d\s].*)")


def counted(hardware: str) -> tuple[int | None, str]:
    """Split a count off a hardware reference.

    >>> counted("16xh100-sxm"), counted("2 x H100"), counted("rtx4090")
    ((16, 'h100-sxm'), (2, 'H100'), (None, 'rtx4090'))
    """
    found = _COUNTED.fullmatch(hardware.strip())
    return (int(found[1]), found[2]) if found else (None, hardware)


class Scenario(Frozen):
    """What is asked: model, machine, formats, load, plan and price. ``None`` means: choose for me."""

    model: Reference = Field(description="catalogue id, or a path to a configuration")
    hardware: Reference = Field(description="catalogue id, or a path to a YAML file in the catalogue's form")
    devices: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    weights: FormatId | None = Field(default=None, description="format of the weights; None: as the file says")
    activations: FormatId | None = Field(
        default=None, description="format of matrix inputs; None: the device's best for the weights"
    )
    kv_cache: FormatId | None = Field(default=None, description="format of the cache; None: 16 bit")
    input_tokens: Tokens = Field(default=4096, description="prompt length of a request")
    output_tokens: Tokens = Field(default=1024, description="generated tokens of a request")
    batch: Annotated[int, Field(ge=1, le=100_000_000)] | None = Field(
        default=None, description="sequences decoding at once over the whole system; None: the most that fit"
    )
    prefix_hit: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0, description="share of prompt tokens found in a prefix cache: prefill computes the rest"
    )
    speculative: Speculation | None = Field(
        default=None, description="draft, such as mtp:1@0.85, ngram:4@0.5 or MODEL:4@0.7; None: every token a step"
    )
    forced_output: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0, description="share of output tokens that a grammar forces: appended without a decode step of their own"
    )
    adapters: Adapters | None = Field(
        default=None, description="low-rank adapters held beside the weights, such as 8x16: eight of rank 16"
    )
    request_rate: Annotated[float, Field(gt=0, le=1e9)] | None = Field(
        default=None, description="requests per second, instead of a batch"
    )
    batching_window_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        default=0.0, description="time for which arrivals are collected before a batch starts, at a request rate"
    )
    tensor_parallel: Ways | None = None
    pipeline_parallel: Ways | None = None
    expert_parallel: Ways | None = None
    data_parallel: Ways | None = None
    attention_data_parallel: bool | None = None
    context_parallel: Ways = Field(default=1, description="devices that share the positions of a sequence: prompt and cache")
    expert_skew: Annotated[float, Field(ge=1, le=10_000)] = Field(
        default=1.0, description="tokens on the fullest of the devices that experts are spread over, over the mean"
    )
    two_batch_overlap: bool | None = Field(
        default=None, description="cut each step into two halves that hide each other's exchanges; None: as engines do, no"
    )
    prefill_devices: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="devices that only prefill, the rest only decode; 0 or auto: the best split; None: shared"
    )
    engine: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        default="auto", description="engine profile; auto: by device"
    )
    memory_gib: Annotated[float, Field(gt=0, le=1e7)] | None = Field(
        default=None, description="memory fitted to one device, where it is the buyer's choice, GiB"
    )
    usd_per_device_hour: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="your price; None: median of the dated quotes, else owned"
    )
    rental: Literal["on-demand", "committed", "spot"] = Field(default="on-demand", description="terms of rental quotes")
    ownership: Ownership | None = Field(
        default=None, description="own the devices instead of renting them; as text: on, power, or price=25000,life=4"
    )
    grid: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        default=None, description="country, state or cloud region whose electricity is used; None: the world's average"
    )
    utilisation: Annotated[float, Field(ge=1e-6, le=1)] = Field(default=1.0, description="share of the time that is sold or used")

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:  # noqa: ANN401
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InputError(validation_sentence(error)) from None

    @model_validator(mode="before")
    @classmethod
    def _count_in_hardware(cls, values: Any) -> Any:  # noqa: ANN401
        """Read ``16xh100-sxm`` as 16 devices."""
        if not isinstance(values, dict) or not isinstance(values.get("hardware"), str):
            return values
        count, hardware = counted(values["hardware"])
        if count is None:
            return values
        if values.get("devices", count) not in (count, str(count)):
            raise ValueError(f"hardware says {count} devices and devices says {values['devices']}: give one of them")
        return {**values, "hardware": hardware, "devices": count}

    @field_validator("prefill_devices", mode="before")
    @classmethod
    def _best_split(cls, value: Any) -> Any:  # noqa: ANN401
        """Read ``auto`` as the best split."""
        return 0 if value == "auto" else value

    @model_validator(mode="after")
    def _one_load(self) -> Scenario:
        if self.batch is not None and self.request_rate is not None:
            raise ValueError("give a batch or a request rate, not both")
        return self

    @model_validator(mode="after")
    def _one_price(self) -> Scenario:
        if self.usd_per_device_hour is not None and self.ownership is not None:
            raise ValueError("give a price per device hour or ownership, not both")
        return self
