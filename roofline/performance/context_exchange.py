"""Context parallelism: devices that share the positions of a sequence, each with a part of its prompt and of its cache.

Positions are dealt out so that every device has as many keys to visit; what passes between them is whichever is less, keys and
values on their way round all devices, or queries on their way out and partial results back.
"""

from __future__ import annotations

import numpy as np

from roofline.formulas.sequence import passed_query_bytes, ring_attention_bytes
from roofline.performance.ledger import ACTIVATION_BYTES, Load
from roofline.performance.machine import Rates
from roofline.performance.reach import held_tokens
from roofline.performance.sharding import Shard
from roofline.performance.structure import Structure
from roofline.units import Floats


def exchange_bytes(structure: Structure, load: Load, shard: Shard, formats: Rates) -> Floats:
    """Bytes one device sends for the attention of all layers in a step."""
    total: Floats = 0.0
    for term in structure.attends:
        attend = term.attend
        entries = held_tokens(attend, load.n_cached + load.n_new) * attend.cache_elements
        ring = ring_attention_bytes(
            cache_bytes=load.n_sequences * entries * formats.cache_bytes_per_element / shard.ways("kv_heads", attend.n_kv_heads),
            n_devices=shard.context,
        )
        passed = passed_query_bytes(
            n_tokens=load.n_tokens,
            n_heads=attend.n_heads / shard.attention_tensor,
            key_size=attend.absorbed_key_size or attend.key_size,
            value_size=attend.absorbed_value_size or attend.value_size,
            n_devices=shard.context,
            bytes_per_element=ACTIVATION_BYTES,
        )
        total = total + term.count * np.minimum(ring, passed)
    return total
