"""What the Model page looks at: a context, a cache format, a batch. Part of the address, no part of the scenario."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.dashboard.choices import formats
from roofline.dashboard.fields import AUTO

CONTEXTS = tuple(2**k for k in range(10, 21))
"""Tokens, powers of two."""
BATCHES = tuple(2**k for k in range(14))
"""Tokens in a step, powers of two."""


@dataclass(frozen=True)
class View:
    """View switches of the Model page."""

    context: int = 32_768
    cache: str = AUTO
    """Cache format, or as in the scenario."""
    batch: int = 64


def written(view: View) -> str | None:
    """The view as one short text for the address; none for the usual one.

    >>> written(View()), written(View(cache="fp8", batch=256))
    (None, '32768,fp8,256')
    """
    return None if view == View() else f"{view.context},{view.cache},{view.batch}"


def read(text: str | None) -> View:
    """The view of an address; whatever it does not know is as usual.

    >>> read("65536,fp8,256").context, read("7,zip").cache, read(None) == View()
    (65536, 'auto', True)
    """
    usual = View()
    parts = [*(text or "").split(","), "", "", ""]
    known = {str(tokens): tokens for tokens in CONTEXTS}, {str(tokens): tokens for tokens in BATCHES}
    cache = parts[1] if parts[1] in formats("kv_cache") else usual.cache
    return View(known[0].get(parts[0], usual.context), cache, known[1].get(parts[2], usual.batch))
