"""Answer the questions given as JSON, time a point, and print both: run under another calculator's Python."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

SECONDS = 2.0
"""Processor time spent on timing, at least one call."""


def tell(package: str, whole_s: Callable[[dict[str, Any]], float], most_batch: int | None = None) -> None:
    """Print what a calculator says of the time of whole requests, up to the batch it knows, and what one call of it takes."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    questions = json.loads(sys.argv[1])
    known = [question if most_batch is None or question["batch"] <= most_batch else None for question in questions]
    seconds = [None if question is None else _tried(whole_s, question) for question in known]
    calls, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        calls += 1
        whole_s({**questions[-1], "batch": 1 + calls % 64})
    took = (time.process_time() - start) / calls
    print(json.dumps({"version": version(package), "seconds": seconds, "us_per_point": took * 1e6}))


def _tried(whole_s: Callable[[dict[str, Any]], float], question: dict[str, Any]) -> float | None:
    try:
        return float(whole_s(question))
    except (ValueError, KeyError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return None
