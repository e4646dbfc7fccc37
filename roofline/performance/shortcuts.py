"""Ways of serving that spare work: what a prefix cache already holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofline.units import Floats


@dataclass(frozen=True)
class Shortcuts:
    """What a server need not compute; nothing is spared unless said."""

    prefix_hit_frac: float = 0.0

    def computed_tokens(self, prompt_tokens: Floats) -> Floats:
        """Prompt tokens that prefill computes: those not in the cache, and the last one always, whose logits are wanted.

        >>> float(Shortcuts(prefix_hit_frac=0.75).computed_tokens(4000.0)), float(Shortcuts(0.9).computed_tokens(1.0))
        (1000.0, 1.0)
        """
        return np.maximum(1.0, np.asarray(prompt_tokens) * (1.0 - self.prefix_hit_frac))


PLAIN = Shortcuts()
"""Every prompt token computed, every output token a step."""
