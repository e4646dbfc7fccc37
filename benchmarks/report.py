"""The figures of a run as a table: python -m pytest benchmarks --benchmark-json=FILE, then python benchmarks/report.py FILE."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Print a row for each benchmark."""
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("| what | median | shortest | rounds | peak memory |")
    print("|---|---|---|---|---|")
    for row in found["benchmarks"]:
        stats, peak = row["stats"], row["extra_info"].get("peak_bytes")
        name = row["name"].removeprefix("test_").replace("_", " ").replace("[", ": ").rstrip("]")
        memory = "" if peak is None else f"{peak / 2**20:,.0f} MiB"
        print(f"| {name} | {_told(stats['median'])} | {_told(stats['min'])} | {stats['rounds']} | {memory} |")


def _told(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


if __name__ == "__main__":
    main()
