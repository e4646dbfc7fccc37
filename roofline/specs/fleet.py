"""The question of a fleet: many people, one kind of replica or several, and what is assumed about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from roofline.errors import InputError
from roofline.language import later, tr
from roofline.specs.base import Frozen, printable
from roofline.specs.messages import validation_sentence
from roofline.specs.scenario import Reference, Scenario, counted

_Share = Annotated[float, Field(ge=0, le=1)]
_NEAR_ONE = 1e-6


class Region(Frozen):
    """A part of the world with machines of its own."""

    name: Annotated[str, Field(min_length=1, max_length=30, pattern=r"^[^:,]+$")]
    share: Annotated[float, Field(ge=1e-9, le=1)] = Field(description="of all users")
    utc_offset_h: Annotated[float, Field(ge=-12, le=14)] = 0.0
    round_trip_s: Annotated[float, Field(ge=0, le=10)] = 0.05

    def __str__(self) -> str:
        """As ``name:share:offset:round trip``."""
        return f"{self.name}:{self.share:.12g}:{self.utc_offset_h:.12g}:{self.round_trip_s:.12g}"


class Mixed(Frozen):
    """Other hardware that carries a share of the calls."""

    hardware: Reference = Field(description="with its count of devices per replica, such as 8xmi300x")
    share: Annotated[float, Field(ge=1e-9, le=1)]

    def __str__(self) -> str:
        """As ``hardware:share``."""
        return f"{self.hardware}:{self.share:.12g}"


WORLD = (Region(name=later("world"), share=1.0),)


def _listed(names: tuple[str, ...], form: str) -> BeforeValidator:
    """Read a comma-separated list of colon-separated values."""

    def read(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return value
        items = [item.strip().split(":") for item in value.split(",") if item.strip()]
        wrong = [":".join(item) for item in items if not 2 <= len(item) <= len(names)]
        if wrong:
            raise ValueError(tr("'{given}' is not of the form {form}", given=printable(wrong[0], 40), form=tr(form)))
        return tuple(dict(zip(names, item, strict=False)) for item in items)

    return BeforeValidator(read)


_Regions = Annotated[
    tuple[Region, ...],
    _listed(("name", "share", "utc_offset_h", "round_trip_s"), later("name:share:UTC offset:round trip, such as us:0.4:-6:0.04")),
    Field(min_length=1, max_length=50),
]
_Mix = Annotated[
    tuple[Mixed, ...], _listed(("hardware", "share"), later("hardware:share, such as 8xmi300x:0.3")), Field(max_length=10)
]


class FleetScenario(Frozen):
    """How many people, what they do, and one replica that serves them. ``None`` means: the default, which names its source."""

    replica: Scenario = Field(
        description="one copy of the model with its machines; lengths it states are those of a call, others are assumed"
    )
    weekly_users: Annotated[int, Field(ge=1, le=100_000_000_000)] | None = None
    messages: Annotated[float, Field(ge=1e-6, le=1e5)] | None = Field(default=None, description="per weekly user and day")
    agent_share: _Share | None = Field(default=None, description="of messages that start an agent task")
    agent_calls: Annotated[float, Field(ge=1, le=1e5)] | None = Field(default=None, description="model calls of an agent task")
    result_hit: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="share of calls answered from a cache"
    )
    small_model: Reference | None = Field(default=None, description="model that easy calls are routed to")
    small_hardware: Reference | None = Field(default=None, description="its machine; None: one device of the replica's")
    small_share: _Share | None = Field(default=None, description="of calls that the small model answers")
    peak: Annotated[float, Field(ge=1, lt=24)] | None = Field(default=None, description="busiest hour over the mean, in a region")
    burst: Annotated[float, Field(ge=1, le=100)] | None = Field(default=None, description="busiest minutes over the busiest hour")
    busy: Annotated[float, Field(ge=1e-6, le=1)] | None = Field(
        default=None, description="share of a replica's time used at the worst"
    )
    spares: Annotated[int, Field(ge=0, le=10_000)] | None = Field(
        default=None, description="replicas more than needed, per region"
    )
    speed: Annotated[float, Field(ge=1e-6, le=1e6)] | None = Field(
        default=None, description="tokens a second that each user gets"
    )
    rack_kw: Annotated[float, Field(ge=1e-3, le=1e5)] | None = Field(default=None, description="power of a rack")
    power_budget_w: Annotated[float, Field(ge=1e-3, le=1e13)] | None = Field(
        default=None, description="most power there is, facility included"
    )
    regions: _Regions = WORLD
    mix: _Mix = Field(default=(), description="other hardware beside the replica's, with the share of calls it carries")

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:  # noqa: ANN401
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InputError(validation_sentence(error, type(self).model_fields)) from None

    @model_validator(mode="after")
    def _adds_up(self) -> FleetScenario:
        total = sum(region.share for region in self.regions)
        if abs(total - 1.0) > _NEAR_ONE:
            raise ValueError(tr("the shares of the regions add up to {total:g} and should add up to 1", total=total))
        if sum(other.share for other in self.mix) > 1.0 + _NEAR_ONE:
            raise ValueError(tr("the shares of the mix add up to more than 1"))
        if self.small_model is None and (self.small_share or self.small_hardware):
            raise ValueError(tr("a share or hardware for a small model needs the small model's name"))
        if self.replica.request_rate is not None:
            raise ValueError(tr("a fleet finds its request rate from its users: give a batch, or none"))
        return self

    def on(self, hardware: str) -> Scenario:
        """The replica on other hardware, such as 8xmi300x; its own plan gives way."""
        count, name = counted(hardware)
        ways = dict.fromkeys(("tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel"))
        return self.replica.model_copy(update={"hardware": name, "devices": count or 1, **ways})

    @property
    def small_replica(self) -> Scenario | None:
        """The small model on its machine, in its own formats."""
        if self.small_model is None:
            return None
        formats = dict.fromkeys(("weights", "activations", "batch"))
        host = self.on(self.small_hardware or self.replica.hardware)
        return host.model_copy(update={"model": self.small_model, **formats})
