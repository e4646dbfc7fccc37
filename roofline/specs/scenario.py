"""The question: one model on one machine under one load. A link holds exactly this."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from roofline.language import tr
from roofline.specs.lora import Adapters
from roofline.specs.offload import parsed_offload
from roofline.specs.ownership import Ownership
from roofline.specs.question import Question
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


def hardware_parts(hardware: str) -> tuple[tuple[int, str], ...]:
    """Counts and ids of a box with several kinds of devices; one part where there is one kind.

    >>> hardware_parts("2xrtx3090+rtx4090"), hardware_parts("rtx4090")
    (((2, 'rtx3090'), (1, 'rtx4090')), ((1, 'rtx4090'),))
    """
    if hardware.lower().endswith((".yaml", ".yml")):
        return ((1, hardware),)
    found: dict[str, int] = {}
    for text in hardware.split("+") if is_mixed(hardware) else [hardware]:
        count, ref = counted(text)
        found[ref.strip()] = found.get(ref.strip(), 0) + (count or 1)
    return tuple((count, ref) for ref, count in found.items())


def is_mixed(hardware: str) -> bool:
    """Whether a reference names several kinds of devices: parts joined by a plus sign that each say something."""
    parts = hardware.split("+")
    is_file = hardware.lower().endswith((".yaml", ".yml"))
    return len(parts) > 1 and all(part.strip() for part in parts) and not is_file


def total(hardware: str) -> tuple[int | None, str]:
    """Devices a reference counts, where it does, and the reference without a count that stands for all of it.

    >>> total("16xh100-sxm"), total("2xrtx3090 + rtx4090"), total("rtx3090+rtx3090")
    ((16, 'h100-sxm'), (3, '2xrtx3090+1xrtx4090'), (2, 'rtx3090'))
    """
    if not is_mixed(hardware):
        return counted(hardware)
    parts = hardware_parts(hardware)
    n_devices = sum(count for count, _ in parts)
    return n_devices, parts[0][1] if len(parts) == 1 else "+".join(f"{count}x{ref}" for count, ref in parts)


class Scenario(Question):
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
    request_rate: Annotated[float, Field(ge=1e-9, le=1e9)] | None = Field(
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
        default=None, description="cut each step into two halves that hide each other's exchanges; None: as the engine does"
    )
    prefill_devices: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="devices that only prefill, the rest only decode; 0 or auto: the best split; None: shared"
    )
    engine: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        default="auto", description="engine profile; auto: by device"
    )
    memory_gib: Annotated[float, Field(ge=1e-3, le=1e7)] | None = Field(
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
    offload: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        default="none", description="what host memory holds: none, layers, layers:N, experts, experts:SHARE, cache or auto"
    )
    host: Reference | None = Field(default=None, description="CPU of the host, with its sockets; None: a usual one")
    host_memory_gib: Annotated[float, Field(ge=1e-3, le=1e7)] | None = Field(
        default=None, description="memory of the host, GiB; None: the most its CPU takes"
    )
    disk_gb_per_s: Annotated[float, Field(ge=1e-6, le=1e5)] | None = Field(
        default=None, description="rate at which weights beyond host memory are read in every step, GB/s; None: they must fit"
    )

    @model_validator(mode="before")
    @classmethod
    def _count_in_hardware(cls, values: Any) -> Any:  # noqa: ANN401
        """Read ``16xh100-sxm`` as 16 devices."""
        if not isinstance(values, dict) or not isinstance(values.get("hardware"), str):
            return values
        count, hardware = total(values["hardware"])
        if count is None:
            return values
        if values.get("devices", count) not in (count, str(count)):
            raise ValueError(
                tr(
                    "hardware says {count} devices and devices says {devices}: give one of them",
                    count=count,
                    devices=str(values["devices"]),
                )
            )
        return {**values, "hardware": hardware, "devices": count}

    @field_validator("prefill_devices", mode="before")
    @classmethod
    def _best_split(cls, value: Any) -> Any:  # noqa: ANN401
        """Read ``auto`` as the best split."""
        return 0 if value == "auto" else value

    @model_validator(mode="after")
    def _offload_is_known(self) -> Scenario:
        if self.offload != "none":
            parsed_offload(self.offload)
        return self

    @model_validator(mode="after")
    def _one_load(self) -> Scenario:
        if self.batch is not None and self.request_rate is not None:
            raise ValueError(tr("give a batch or a request rate, not both"))
        return self

    @model_validator(mode="after")
    def _one_price(self) -> Scenario:
        if self.usd_per_device_hour is not None and self.ownership is not None:
            raise ValueError(tr("give a price per device hour or ownership, not both"))
        return self
