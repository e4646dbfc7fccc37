"""aiconfigurator: its static mode under vLLM, from its own tables of measured kernels."""

from __future__ import annotations

import logging
from typing import Any

from aiconfigurator.cli.api import cli_estimate
from common import tell

SYSTEMS = {"h100-sxm": "h100_sxm", "h200-sxm": "h200_sxm"}


def whole_s(q: dict[str, Any]) -> float:
    """Seconds from the first prompt to the last token of a batch."""
    logging.disable(logging.CRITICAL)
    found = cli_estimate(
        "meta-llama/Meta-Llama-3.1-8B",
        SYSTEMS[q["hardware"]],
        mode="static",
        backend_name="vllm",
        isl=q["input_tokens"],
        osl=q["output_tokens"],
        batch_size=q["batch"],
    )
    return float(found.ttft + (q["output_tokens"] - 1) * found.tpot) / 1e3


if __name__ == "__main__":
    tell("aiconfigurator", whole_s)
