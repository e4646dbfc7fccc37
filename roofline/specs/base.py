"""What every spec shares: frozen, no unknown fields, no NaN or infinity."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def printable(text: str, most: int = 80) -> str:
    r"""Text from outside as one line that any terminal or page can show: no control characters, no lone surrogates.

    >>> printable("a\x1b[31m\nb\ud800")
    'a�[31m�b�'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return shown if len(text) <= most else f"{shown[: most - 3]}..."


class Frozen(BaseModel):
    """A value: immutable, compared by content, closed to unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
