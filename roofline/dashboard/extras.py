"""Controls that most questions leave alone: one row each, from the field to what its control shows and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from roofline.specs.scenario import Scenario

Kind = Literal["decimal", "percent", "text"]
_PERCENT = 100.0


@dataclass(frozen=True)
class Extra:
    """One control."""

    field: str
    label: str
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
        if value == self.unset:
            return "" if self.kind == "text" else None
        if self.kind == "text":
            return str(value)
        return round(value * _PERCENT, 6) if self.kind == "percent" else float(value)

    def read(self, shown: float | str | None) -> Any:  # noqa: ANN401
        """The field that a control means, unchecked."""
        if shown in (None, ""):
            return self.unset
        return shown / _PERCENT if self.kind == "percent" and not isinstance(shown, str) else shown


SERVING = (
    Extra(
        "batching_window_s",
        "Batching window (s)",
        "decimal",
        "Time for which arrivals are collected before a batch starts. Counts at a request rate.",
        0.05,
    ),
)
EXTRAS = (*SERVING,)
"""All of them; each field of a scenario has either a control of its own or a row here."""
