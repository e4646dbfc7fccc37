"""Controls that most questions leave alone: one row each, from the field to what its control shows and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from roofline.language import later
from roofline.specs.scenario import Scenario

Kind = Literal["decimal", "whole", "percent", "text", "flag"]
_FLAGS = {None: "auto", True: "yes", False: "no"}
_PERCENT = 100.0


@dataclass(frozen=True)
class Extra:
    """One control."""

    field: str
    label: str
    """To be translated, as its help; a unit in parentheses after a space, in every language."""
    kind: Kind
    help: str
    step: float = 1.0

    @property
    def unset(self) -> Any:  # noqa: ANN401
        """The field where its control is left empty."""
        return Scenario.model_fields[self.field].default

    def shown(self, scenario: Scenario) -> float | str | None:
        """What the control shows; empty for what nobody asked for."""
        value = getattr(scenario, self.field)
        if self.kind == "flag":
            return _FLAGS[value]
        if value == self.unset:
            return "" if self.kind == "text" else None
        if self.kind == "text":
            return str(value)
        if self.kind == "whole":
            return int(value)
        return round(value * _PERCENT, 6) if self.kind == "percent" else float(value)

    def read(self, shown: float | str | None) -> Any:  # noqa: ANN401
        """The field that a control means, unchecked."""
        if self.kind == "flag":
            return {word: flag for flag, word in _FLAGS.items()}.get(str(shown))
        if shown in (None, ""):
            return self.unset
        return shown / _PERCENT if self.kind == "percent" and not isinstance(shown, str) else shown


SERVING = (
    Extra(
        "prefix_hit",
        later("Prompt tokens found in a prefix cache (%)"),
        "percent",
        later("Share of the prompt that an earlier request has left in the cache: prefill computes only the rest."),
        10.0,
    ),
    Extra(
        "speculative",
        later("Draft"),
        "text",
        later(
            "Drafted tokens and how many are accepted: mtp:1@0.85 with the model's own module, ngram:4@0.5 for free, "
            "or a model of the catalogue, such as llama-3.2-1b:4@0.7."
        ),
    ),
    Extra(
        "forced_output",
        later("Output tokens that a grammar forces (%)"),
        "percent",
        later("Structured output: forced tokens are appended without a decode step of their own."),
        10.0,
    ),
    Extra(
        "adapters",
        later("Adapters (number x rank)"),
        "text",
        later("Low-rank adapters held beside the weights: 8x16 is eight of rank 16."),
    ),
    Extra(
        "batching_window_s",
        later("Batching window (s)"),
        "decimal",
        later("Time for which arrivals are collected before a batch starts. Counts at a request rate."),
        0.05,
    ),
)
DIVIDING = (
    Extra(
        "prefill_devices",
        later("Devices that only prefill"),
        "whole",
        later("The rest only decode; the cache of a prompt is sent between them. 0: the best split. Empty: shared devices."),
    ),
    Extra(
        "context_parallel",
        later("Context (ways)"),
        "whole",
        later("Context parallel: devices that share the positions of a sequence, its prompt and its cache. Empty: 1."),
    ),
    Extra(
        "expert_skew",
        later("Expert skew (fullest over mean)"),
        "decimal",
        later("Tokens on the fullest of the devices that experts are spread over, over the mean. Empty: 1, even."),
        0.1,
    ),
    Extra(
        "two_batch_overlap",
        later("Two-batch overlap"),
        "flag",
        later("Each step is cut into two halves, one computing while the other communicates."),
    ),
)
PLACES = (
    Extra(
        "offload",
        later("In host memory"),
        "text",
        later("What the memory of the host holds: layers, layers:20, experts, experts:0.5, cache, or auto. Empty: nothing."),
    ),
    Extra(
        "host", later("Host CPU"), "text", later("Id of the catalogue with its sockets, such as 2xepyc-9654. Empty: a usual one.")
    ),
    Extra("host_memory_gib", later("Host memory (GiB)"), "decimal", later("Empty: the most its CPU takes."), 32.0),
    Extra(
        "disk_gb_per_s",
        later("Disk (GB/s)"),
        "decimal",
        later("Rate at which weights beyond host memory are read. Empty: no disk."),
        1.0,
    ),
)
OWNING = (
    Extra(
        "rental",
        later("Terms of renting"),
        "text",
        later("on-demand, committed or spot. Empty: on-demand."),
    ),
    Extra(
        "ownership",
        later("Own instead of rent"),
        "text",
        later(
            "on: all defaults, each with its source. power: the machine is there, only electricity is paid. Or parts of your "
            "own, such as price=25000,life=4,residual=0.1,capital=0.08,power=700,pue=1.2,usd_per_kwh=0.1."
        ),
    ),
    Extra(
        "grid",
        later("Electricity of"),
        "text",
        later("Country, US state or cloud region: Germany, us-tx, gcp:us-central1. Empty: world."),
    ),
)
EXTRAS = (*SERVING, *DIVIDING, *PLACES, *OWNING)
"""All of them; each field of a scenario has either a control of its own or a row here."""
