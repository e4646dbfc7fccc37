"""Ways of serving that spare work: a prefix cache, drafted tokens, and tokens that a grammar forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from roofline.formulas.speculation import expected_tokens_per_step
from roofline.units import Floats

if TYPE_CHECKING:
    from roofline.performance.structure import Structure


@dataclass(frozen=True)
class Draft:
    """Tokens proposed for each verification step, and what proposes them."""

    n_tokens: int
    acceptance_frac: float
    structure: Structure | None = None
    """Of one draft step; None where drafting costs nothing."""
    is_module: bool = False
    """A layer of the model's own: its tables are the model's, and the host schedules it together with the model."""

    @cached_property
    def held(self) -> Structure | None:
        """What is held in memory beside the model."""
        if self.structure is None or not self.is_module:
            return self.structure
        return replace(self.structure, matrices=tuple(term for term in self.structure.matrices if term.in_layers))


@dataclass(frozen=True)
class Shortcuts:
    """What a server need not compute, or computes together; nothing is spared unless said."""

    prefix_hit_frac: float = 0.0
    forced_frac: float = 0.0
    """Share of output tokens that a grammar leaves no choice about: appended, and computed along with the next step."""
    draft: Draft | None = None

    def computed_tokens(self, prompt_tokens: Floats) -> Floats:
        """Prompt tokens that prefill computes: those not in the cache, and the last one always, whose logits are wanted.

        >>> float(Shortcuts(prefix_hit_frac=0.75).computed_tokens(4000.0)), float(Shortcuts(0.9).computed_tokens(1.0))
        (1000.0, 1.0)
        """
        return np.maximum(1.0, np.asarray(prompt_tokens) * (1.0 - self.prefix_hit_frac))

    @cached_property
    def n_logits(self) -> float:
        """Positions of a sequence whose logits a step needs: one, and one for each drafted token."""
        return 1.0 if self.draft is None else 1.0 + self.draft.n_tokens

    @cached_property
    def sampled_tokens_per_step(self) -> float:
        """Tokens a step decides on: its own, and those accepted of a draft."""
        if self.draft is None:
            return 1.0
        return float(expected_tokens_per_step(acceptance_frac=self.draft.acceptance_frac, n_draft_tokens=self.draft.n_tokens))

    @cached_property
    def tokens_per_step(self) -> float:
        """Output tokens that a step yields to each sequence.

            t / (1 - f)

        with t those decided on, each followed by f / (1 - f) forced ones.

        >>> Shortcuts(forced_frac=0.5).tokens_per_step, Shortcuts(draft=Draft(1, 0.5)).tokens_per_step
        (2.0, 1.5)
        """
        return self.sampled_tokens_per_step / (1.0 - self.forced_frac)

    @cached_property
    def new_tokens_per_step(self) -> float:
        """Tokens that a step computes for each sequence: g + 1 positions to decide on, and what was forced since the last one.

            g + 1 + t f / (1 - f)

        >>> Shortcuts(forced_frac=0.5).new_tokens_per_step, Shortcuts(draft=Draft(4, 0.7)).new_tokens_per_step
        (2.0, 5.0)
        """
        return self.n_logits + self.sampled_tokens_per_step * self.forced_frac / (1.0 - self.forced_frac)


PLAIN = Shortcuts()
"""Every prompt token computed, every output token a step."""
