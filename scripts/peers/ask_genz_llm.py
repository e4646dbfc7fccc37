"""genz-llm: prefill and one decode step at the middle of the generation, both at full efficiency."""

from __future__ import annotations

from typing import Any

from common import tell
from GenZ import decode_moddeling, prefill_moddeling


def whole_s(q: dict[str, Any]) -> float:
    """Seconds from the first prompt to the last token of a batch."""
    device = {
        "Flops": q["peak_flops_per_s"] / 1e12,
        "Memory_size": q["memory_bytes"] / 1e9,
        "Memory_BW": q["bandwidth_bytes_per_s"] / 1e9,
        "ICN": 450,
        "real_values": True,
    }
    shared = {"model": "meta-llama/Llama-3.1-8B", "batch_size": q["batch"], "system_name": device, "bits": "bf16"}
    prefill = prefill_moddeling(input_tokens=q["input_tokens"], **shared)["Latency"]
    step = decode_moddeling(input_tokens=q["input_tokens"], output_tokens=q["output_tokens"] // 2, Bb=1, **shared)["Latency"]
    return (prefill + (q["output_tokens"] - 1) * step) / 1e3


if __name__ == "__main__":
    tell("genz-llm", whole_s)
