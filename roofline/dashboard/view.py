"""What the Model and Accuracy pages look at: a context, a format, a batch; kinds of measurements, a device.

Part of the address, no part of the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from roofline.answers.mapping import KINDS
from roofline.catalog.hardware import catalogue_hardware_id
from roofline.dashboard.choices import formats
from roofline.dashboard.fields import AUTO

CONTEXTS = tuple(2**k for k in range(10, 21))
"""Tokens, powers of two."""
BATCHES = tuple(2**k for k in range(14))
"""Tokens in a step, powers of two."""
_WITH_ROWS = 5
"""Parts of the text where measurements are chosen too."""


@dataclass(frozen=True)
class View:
    """View switches."""

    context: int = 32_768
    cache: str = AUTO
    """Cache format, or as in the scenario."""
    batch: int = 64
    kinds: tuple[str, ...] = KINDS
    """Of measurements that are drawn."""
    device: str = AUTO
    """Whose measurements are drawn, or all."""


def written(view: View) -> str | None:
    """The view as one short text for the address; none for the usual one.

    >>> written(View()), written(View(cache="fp8", batch=256))
    (None, '32768,fp8,256')
    >>> written(View(kinds=("prefill", "server"), device="l40s"))
    '32768,auto,64,prefill.server,l40s'
    """
    usual = View()
    kinds = tuple(kind for kind in KINDS if kind in view.kinds)
    parts = [f"{view.context}", view.cache, f"{view.batch}"]
    if (kinds, view.device) != (usual.kinds, usual.device):
        parts += [".".join(kinds), view.device]
    elif (view.context, view.cache, view.batch) == (usual.context, usual.cache, usual.batch):
        return None
    return ",".join(parts)


def read(text: str | None) -> View:
    """The view of an address; whatever it does not know is as usual.

    >>> read("65536,fp8,256").context, read("7,zip").cache, read(None) == View()
    (65536, 'auto', True)
    >>> read("32768,auto,64,prefill.lies,h999").kinds, read("32768,auto,64,,l40s").device
    (('prefill',), 'l40s')
    """
    usual = View()
    parts = [*(text or "").split(","), "", "", ""]
    known = {str(tokens): tokens for tokens in CONTEXTS}, {str(tokens): tokens for tokens in BATCHES}
    cache = parts[1] if parts[1] in formats("kv_cache") else usual.cache
    kinds, device = usual.kinds, usual.device
    if len(given := (text or "").split(",")) == _WITH_ROWS:
        kinds = tuple(kind for kind in KINDS if kind in given[3].split("."))
        device = given[4] if catalogue_hardware_id(given[4]) == given[4] else usual.device
    return View(known[0].get(parts[0], usual.context), cache, known[1].get(parts[2], usual.batch), kinds, device)
