"""What host memory holds, read from its short text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from roofline.language import tr

OffloadKind = Literal["none", "layers", "experts", "cache", "auto"]
_KINDS: dict[str, OffloadKind] = {"none": "none", "layers": "layers", "experts": "experts", "cache": "cache", "auto": "auto"}


@dataclass(frozen=True)
class Offload:
    """A kind, and how much of it."""

    kind: OffloadKind
    amount: float | None = None
    """Layers, or share of the routed experts; ``None``: as few layers as needed, all experts."""


def parsed_offload(text: str) -> Offload:
    """Read ``none``, ``layers``, ``layers:20``, ``experts``, ``experts:0.5``, ``cache`` or ``auto``.

    >>> parsed_offload("layers:20"), parsed_offload("experts:0")
    (Offload(kind='layers', amount=20.0), Offload(kind='none', amount=None))
    """
    name, colon, amount = text.strip().lower().partition(":")
    kind = _KINDS.get(name)
    if kind is None or (colon and kind not in ("layers", "experts")):
        raise ValueError(
            tr("offload is {given!r}; it can be none, layers, layers:N, experts, experts:SHARE, cache or auto", given=text)
        )
    if not colon:
        return Offload(kind)
    pattern = r"\d{1,6}" if kind == "layers" else r"\d(\.\d{1,9})?|\.\d{1,9}"
    number = float(amount) if re.fullmatch(pattern, amount) else math.nan
    if kind == "layers" and math.isnan(number):
        raise ValueError(tr("offload is {given!r}; layers takes a whole number of layers, such as layers:20", given=text))
    if kind == "experts" and not 0.0 <= number <= 1.0:
        raise ValueError(tr("offload is {given!r}; experts takes a share from 0 to 1, such as experts:0.5", given=text))
    return Offload(kind, number) if number > 0.0 else Offload("none")
