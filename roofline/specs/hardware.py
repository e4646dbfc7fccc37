"""A machine as facts, each with unit, source and kind."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

from pydantic import Field, PositiveInt

from roofline.errors import MissingFactError
from roofline.language import later
from roofline.specs.base import Frozen
from roofline.specs.formats import Dtype
from roofline.units import Unit, to_base

Category = Literal[
    "datacentre GPU",
    "TPU",
    "accelerator",
    "workstation GPU",
    "consumer GPU",
    "Apple",
    "embedded GPU",
    "server CPU",
    "desktop CPU",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""In the order people look for them."""
CATEGORY_WORDS: dict[Category, str] = {
    "datacentre GPU": later("datacentre GPU"),
    "TPU": later("TPU"),
    "accelerator": later("accelerator"),
    "consumer GPU": later("consumer GPU"),
    "workstation GPU": later("workstation GPU"),
    "embedded GPU": later("embedded GPU"),
    "Apple": later("Apple"),
    "server CPU": later("server CPU"),
    "desktop CPU": later("desktop CPU"),
}


class Source(Frozen):
    """Where facts come from."""

    title: str
    url: str = Field(default="", description="address, or a repository path with its commit")
    retrieved: str = Field(description="date, ISO")


class Fact(Frozen):
    """A printed value with its unit and source."""

    value: float = Field(ge=1e-6, le=1e12)
    unit: Unit
    source: str
    kind: Literal["datasheet", "measured", "derived", "estimate", "unverified"] = "datasheet"
    note: str = ""

    @property
    def base(self) -> float:
        """The value in base units."""
        return to_base(self.value, self.unit)


class Link(Frozen):
    """A way out of the device, per direction."""

    kind: Literal["scale-up", "scale-out", "host"]
    name: str
    bandwidth: Fact = Field(description="what one device can send at once, one direction")
    n_devices: PositiveInt = Field(default=1, le=10_000_000, description="devices that reach each other over it")
    in_switch_reduction: bool = False
    pair: Fact | None = Field(
        default=None, description="what one device can send to one peer, where a mesh gives less than the whole"
    )


class Price(Frozen):
    """What somebody asked for a device, and when."""

    kind: Literal["rental", "purchase"]
    amount: Fact
    provider: str = ""
    date: str = Field(default="", description="ISO; empty where the quote is undated")
    region: str = ""
    commitment: str = "on-demand"


class Accelerator(Frozen):
    """One device as software sees it."""

    id: str
    name: str
    vendor: str
    category: Category
    year: int = Field(ge=1950, le=2200)
    architecture: str = Field(default="", description="chip generation, with its kind of memory where one generation has several")
    announced: bool = Field(default=False, description="not shipping: hidden unless asked for")
    grade: Literal["A", "B", "C"] = Field(description="A vendor evidence, B secondary, C a roofline-critical fact is unverified")
    memory_type: str = ""
    memory: Fact = Field(description="capacity as labelled")
    visible_memory: Fact | None = Field(default=None, description="capacity as the driver shows it")
    configurable_memory: bool = Field(default=False, description="capacity is the buyer's choice (CPU sockets, Apple)")
    wired_frac: float = Field(default=1.0, gt=0, le=1, description="share that the accelerator may use of unified memory")
    bandwidth: Fact
    peaks: dict[Dtype, Fact] = Field(description="dense")
    links: tuple[Link, ...] = ()
    tdp: Fact | None = None
    prices: tuple[Price, ...] = ()
    aliases: tuple[str, ...] = ()
    note: str = ""

    @property
    def memory_bytes(self) -> float:
        """Capacity as labelled."""
        return self.memory.base

    @cached_property
    def usable_memory_bytes(self) -> float:
        """Capacity that programs can see, times the share the accelerator may wire.

        The driver's figure where known. Else DRAM sold by the "GB" is counted in GiB, since its chips and stacks have
        power-of-two sizes (an 80 GB part shows 80 GiB less its reserved pages); on-chip SRAM is taken as printed.
        """
        if self.visible_memory is not None:
            return self.visible_memory.base * self.wired_frac
        return to_base(self.memory.value, "GiB" if self.is_counted_in_gib else self.memory.unit) * self.wired_frac

    @property
    def is_counted_in_gib(self) -> bool:
        """Whether its printed gigabytes are binary ones."""
        return self.memory.unit == "GB" and "SRAM" not in self.memory_type

    @cached_property
    def bandwidth_bytes_per_s(self) -> float:
        """Main-memory bandwidth."""
        return self.bandwidth.base

    def peak_flops_per_s(self, dtype: Dtype) -> float:
        """Dense peak rate of a dtype; refuses where none is published."""
        if dtype not in self.peaks:
            raise MissingFactError(f"{self.id} has no published {dtype} peak; it has {', '.join(sorted(self.peaks)) or 'none'}.")
        return self.peaks[dtype].base

    def link(self, kind: str) -> Link | None:
        """The link of a kind, if the device has one."""
        return next((link for link in self.links if link.kind == kind), None)
