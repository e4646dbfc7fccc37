"""Speculative decoding as asked for: who drafts, how many tokens, how many are accepted. Written as one word."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, model_serializer, model_validator

from roofline.language import tr
from roofline.specs.base import Frozen, printable

MODULE = "mtp"
"""The model's own multi-token-prediction module drafts."""
LOOKUP = "ngram"
"""Earlier text drafts: nothing is computed."""

_FORM = re.compile(r"(.+):(\d{1,3})@(\d*\.?\d+(?:e-?\d{1,3})?)")


class Speculation(Frozen):
    """A draft, such as ``mtp:1@0.85``, ``llama-3.2-1b:4@0.7`` or ``ngram:4@0.5``.

    >>> str(Speculation.model_validate("llama-3.2-1b:4@0.70"))
    'llama-3.2-1b:4@0.7'
    """

    draft: Annotated[str, Field(min_length=1, max_length=100)] = Field(description="mtp, ngram, or a model's catalogue id")
    n_tokens: Annotated[int, Field(ge=1, le=64)] = Field(description="tokens drafted for each verification")
    acceptance: Annotated[float, Field(ge=0, le=1)] = Field(description="chance that a drafted token is accepted, given its past")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return value
        found = _FORM.fullmatch(value.strip())
        if found is None:
            raise ValueError(
                tr(
                    "'{given}' is not a draft: write who drafts, how many tokens and the share accepted, "
                    "such as mtp:1@0.85, ngram:4@0.5 or llama-3.2-1b:4@0.7",
                    given=printable(value, 40),
                )
            )
        return {"draft": found[1], "n_tokens": int(found[2]), "acceptance": float(found[3])}

    @model_serializer
    def _written(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.draft}:{self.n_tokens}@{repr(self.acceptance).removesuffix('.0')}"
