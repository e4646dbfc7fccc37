"""ridgepoint: its time to the first token, then tokens at its decode rate; one sequence only, and its own facts."""

from __future__ import annotations

import json
from typing import Any

import ridgepoint
from common import tell

DEVICES = {"h100-sxm": "h100-80gb", "h200-sxm": "h200-141gb"}


def whole_s(q: dict[str, Any]) -> float:
    """Seconds from the first prompt to the last token of a batch."""
    context = q["input_tokens"] + q["output_tokens"] // 2
    text = ridgepoint.fit("llama-3-8b", DEVICES[q["hardware"]], ctx=context, prompt=q["input_tokens"], as_json=True)
    speed = json.loads(text)["speed"]
    return float(speed["ttft_s"]["best"] + (q["output_tokens"] - 1) / speed["decode_tok_s"]["best"])


if __name__ == "__main__":
    tell("ridgepoint", whole_s, most_batch=1)
