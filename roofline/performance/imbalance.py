"""How much more the fullest of the devices that share experts has to do: all others wait for it at every layer."""

from __future__ import annotations

import numpy as np

from roofline.formulas.experts import distinct_experts
from roofline.formulas.imbalance import greatest_load_ratio
from roofline.performance.sharding import Shard
from roofline.specs.model import Routing
from roofline.units import Floats


def load_ratio(routing: Routing, shard: Shard) -> Floats:
    """Visits of the fullest device over the mean: as asked, but no more than routing can bring about.

    A tensor group that cuts every expert shares each visit alike.
    """
    if shard.expert_skew == 1.0:
        return 1.0
    most = greatest_load_ratio(n_ranks=shard.expert, n_experts=routing.n_experts, n_active_experts=routing.n_active)
    return np.minimum(shard.expert_skew, np.maximum(1.0, most))


def fullest_share(routing: Routing, n_tokens: Floats, shard: Shard) -> tuple[Floats, Floats]:
    """Visits, and experts touched, of the fullest device over the even share; it touches no more than all it holds."""
    ratio = load_ratio(routing, shard)
    if np.all(np.asarray(ratio) == 1.0):
        return 1.0, 1.0
    even = distinct_experts(n_experts=routing.n_experts, n_active_experts=routing.n_active, n_tokens=n_tokens)
    visited = np.minimum(ratio * routing.n_active, routing.n_experts)
    touched = distinct_experts(n_experts=routing.n_experts, n_active_experts=visited, n_tokens=n_tokens)
    return ratio, np.maximum(touched / even, 1.0)
