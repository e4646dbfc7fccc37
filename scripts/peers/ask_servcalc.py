"""servcalc: its own time to the first token and between tokens, under its vLLM profile."""

from __future__ import annotations

from typing import Any

from common import tell
from servcalc import GpuSpec, Workload, estimate


def whole_s(q: dict[str, Any]) -> float:
    """Seconds from the first prompt to the last token of a batch."""
    tflops, gb_per_s = q["peak_flops_per_s"] / 1e12, q["bandwidth_bytes_per_s"] / 1e9
    device = GpuSpec("device", int(q["memory_bytes"]), gb_per_s, tflops)
    load = Workload(q["input_tokens"], q["output_tokens"], (q["batch"],))
    point = estimate(q["configuration"], device, workload=load).points[0]
    return (point.ttft_ms.mid + (q["output_tokens"] - 1) * point.itl_ms.mid) / 1e3


if __name__ == "__main__":
    tell("servcalc", whole_s)
