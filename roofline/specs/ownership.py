"""Owning a machine: what it is assumed to cost, as text and as a value.

on                                   every part at its default
price=25000,life=3,usd_per_kwh=0.1   some parts given, the rest at their defaults
power                                the machine is there already: only its electricity is paid
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_serializer, model_validator

from roofline.specs.base import Frozen, printable

_Usd = Annotated[float, Field(ge=0, le=1e9)]
_Frac = Annotated[float, Field(ge=0, le=1)]

PARTS: dict[str, str] = {
    "price": "price_usd",
    "overhead": "overhead_frac",
    "life": "life_years",
    "residual": "residual_frac",
    "capital": "capital_frac",
    "power": "power_w",
    "host": "host_w",
    "pue": "pue",
    "usd_per_kwh": "usd_per_kwh",
    "hosting": "hosting_usd_per_kw_month",
    "staff": "staff_frac",
}
"""Words of the text form -> fields."""


class Ownership(Frozen):
    """Parts of what owning one device costs. ``None`` means: the default, which names its source."""

    power_only: bool = Field(default=False, description="the machine is there already: only electricity is paid")
    price_usd: _Usd | None = Field(default=None, description="purchase of one device")
    overhead_frac: Annotated[float, Field(ge=0, le=10)] | None = Field(
        default=None, description="server and network, as a share of the price"
    )
    life_years: Annotated[float, Field(ge=0.1, le=50)] | None = None
    residual_frac: _Frac | None = Field(default=None, description="what is left at the end of life, as a share of the outlay")
    capital_frac: _Frac | None = Field(default=None, description="cost of capital, a year")
    power_w: Annotated[float, Field(ge=1e-3, le=1e6)] | None = Field(default=None, description="what one device draws")
    host_w: Annotated[float, Field(ge=0, le=1e6)] | None = Field(default=None, description="what its share of the server draws")
    pue: Annotated[float, Field(ge=1, le=5)] | None = None
    usd_per_kwh: Annotated[float, Field(ge=0, le=100)] | None = None
    hosting_usd_per_kw_month: Annotated[float, Field(ge=0, le=1e5)] | None = None
    staff_frac: _Frac | None = Field(default=None, description="staff and repair, as a share of the outlay, a year")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:  # noqa: ANN401
        return _parts(value) if isinstance(value, str) else value

    @model_serializer
    def _written(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The text form, as links carry it."""
        given = [f"{word}:{getattr(self, name):.12g}" for word, name in PARTS.items() if getattr(self, name) is not None]
        return ",".join((["power"] if self.power_only else []) + given) or "on"


def _parts(text: str) -> dict[str, Any]:
    """The values that text names.

    >>> _parts("price=25000,life=3"), _parts("power"), _parts("on")
    ({'price_usd': '25000', 'life_years': '3'}, {'power_only': True}, {})
    """
    found: dict[str, Any] = {}
    for part in (piece.strip() for piece in text.split(",")):
        word, sign, number = part.replace(":", "=", 1).partition("=")
        name = PARTS.get(word.strip())
        if not sign and part in ("on", "power"):
            found |= {"power_only": True} if part == "power" else {}
        elif not sign or name is None:
            known = ", ".join(PARTS)
            raise ValueError(f"'{printable(part, 40)}' is no part of it: write 'on', 'power', or any of {known} as price=25000")
        elif name in found:
            raise ValueError(f"'{word}' is given twice")
        else:
            found[name] = number.strip()
    return found
