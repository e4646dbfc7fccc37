"""Number controls as data: label, step and bounds, and the way between a field and what its control shows."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any, Literal

from pydantic.fields import FieldInfo

from roofline.language import later, tr
from roofline.units import MEGA

Kind = Literal["whole", "decimal", "percent", "mega"]
_FACTORS: dict[Kind, float] = {"whole": 1.0, "decimal": 1.0, "percent": 100.0, "mega": 1.0 / MEGA}
_DIGITS = 9


@dataclass(frozen=True)
class Quantity:
    """One number that a page asks for."""

    field: str
    label: str
    """To be translated; a unit in parentheses after a space, in every language."""
    kind: Kind
    step: float
    """Zero: the power of ten of the value."""

    @property
    def name(self) -> str:
        """The label without its unit."""
        return tr(self.label).partition(" (")[0]

    @property
    def unit(self) -> str:
        """The unit in the label; empty where it has none."""
        return tr(self.label).partition(" (")[2].rstrip(")")

    def shown(self, value: float | None) -> float | None:
        """What the control shows: never a whole number's own control, which cuts 2.7 to 2 and 1e3 to 1 without a word."""
        return None if value is None else round(float(value) * _FACTORS[self.kind], _DIGITS)

    def read(self, shown: float | None) -> float | None:
        """The field that the control means; where it is no whole number and should be, the field's own check says so."""
        if shown is None:
            return None
        return int(shown) if self.kind == "whole" and float(shown).is_integer() else shown / _FACTORS[self.kind]

    def settings(self, info: FieldInfo, value: float | None = None) -> dict[str, Any]:
        """Step, bounds and format of the control, from the bounds of the field."""
        low, high = _bounds(info)
        step = self.step or 10.0 ** floor(log10(max(1.0, value or 1.0)))
        return {
            "step": float(step),
            "min_value": self.shown(low),
            "max_value": self.shown(high),
            "format": "%g",
        }


def _bounds(info: FieldInfo) -> tuple[float | None, float | None]:
    """The bounds of a field; one it may not reach is left to the check behind the control."""
    found: dict[str, float] = {}
    for item in (info, *_arms(info.annotation)):
        for rule in getattr(item, "metadata", ()) or getattr(item, "__metadata__", ()):
            for part in (rule, *getattr(rule, "metadata", ())):
                for name in ("ge", "gt", "le", "lt"):
                    value = getattr(part, name, None)
                    if value is not None:
                        found[name] = value
    return found.get("ge", found.get("gt")), found.get("le", found.get("lt"))


def _arms(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """The members of ``Annotated[...] | None``."""
    return getattr(annotation, "__args__", ())


OWNED = (
    Quantity("price_usd", later("Price of one device (USD)"), "decimal", 500.0),
    Quantity("overhead_frac", later("Server and network (% of price)"), "percent", 5.0),
    Quantity("life_years", later("Life (years)"), "decimal", 1.0),
    Quantity("residual_frac", later("Residual value (% of outlay)"), "percent", 5.0),
    Quantity("capital_frac", later("Cost of capital (% a year)"), "percent", 1.0),
    Quantity("hosting_usd_per_kw_month", later("Space (USD per kW, month)"), "decimal", 10.0),
    Quantity("staff_frac", later("Staff, repair (% of outlay, year)"), "percent", 1.0),
)
"""Parts of an owned hour beside electricity."""
POWERED = (
    Quantity("power_w", later("Power of one device (W)"), "decimal", 50.0),
    Quantity("host_w", later("Its share of the server (W)"), "decimal", 50.0),
    Quantity("pue", later("PUE of the facility"), "decimal", 0.05),
    Quantity("usd_per_kwh", later("Electricity (USD/kWh)"), "decimal", 0.01),
)
"""Parts of its electricity."""
PEOPLE = (
    Quantity("weekly_users", later("Weekly users"), "whole", 0),
    Quantity("messages", later("Messages a day, each"), "decimal", 0.5),
    Quantity("agent_share", later("Agent tasks (% of messages)"), "percent", 1.0),
    Quantity("agent_calls", later("Calls of an agent task"), "decimal", 1.0),
    Quantity("result_hit", later("Answers from a cache (%)"), "percent", 5.0),
)
CALL = (
    Quantity("input_tokens", later("Prompt (tokens)"), "whole", 100),
    Quantity("prefix_hit", later("Of it in the prefix cache (%)"), "percent", 5.0),
    Quantity("output_tokens", later("Output (tokens)"), "whole", 50),
    Quantity("speed", later("Speed for each user (tokens/s)"), "decimal", 5.0),
)
DAY = (
    Quantity("peak", later("Busiest hour over mean"), "decimal", 0.1),
    Quantity("burst", later("Busiest minutes over that hour"), "decimal", 0.1),
    Quantity("busy", later("Busy at the worst (%)"), "percent", 5.0),
    Quantity("spares", later("Spare replicas, per region"), "whole", 1),
    Quantity("rack_kw", later("Power of a rack (kW)"), "decimal", 10.0),
    Quantity("power_budget_w", later("Power there is (MW)"), "mega", 1.0),
)
UTILISATION = Quantity("utilisation", later("Utilisation (% of the time)"), "percent", 5.0)
PREFIX_HIT = Quantity("prefix_hit", later("Prompt in the cache (%)"), "percent", 10.0)
PRICE = Quantity("usd_per_device_hour", later("USD per device and hour"), "decimal", 0.1)
SMALL_SHARE = Quantity("small_share", later("Calls it answers (%)"), "percent", 5.0)
