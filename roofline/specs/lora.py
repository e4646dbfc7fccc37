"""Low-rank adapters that a server holds beside the weights: how many, of which rank. Written as one word."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, model_serializer, model_validator

from roofline.language import tr
from roofline.specs.base import Frozen, printable

_FORM = re.compile(r"(\d{1,6})\s*[x×*]\s*(\d{1,6})")


class Adapters(Frozen):
    """So many adapters of one rank, such as ``8x16``.

    >>> Adapters.model_validate("8x16").rank
    16
    """

    count: Annotated[int, Field(ge=1, le=100_000)]
    rank: Annotated[int, Field(ge=1, le=4096)]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return value
        found = _FORM.fullmatch(value.strip())
        if found is None:
            raise ValueError(
                tr("'{given}' are no adapters: write how many and their rank, such as 8x16", given=printable(value, 40))
            )
        return {"count": int(found[1]), "rank": int(found[2])}

    @model_serializer
    def _written(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.count}x{self.rank}"
