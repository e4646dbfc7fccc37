"""How long a changed control takes while many people change one every few seconds: websocket sessions against one replica.

    python scripts/load_dashboard.py 5 10 20 40

Each session opens the first page and, once all have, changes the batch every five seconds, at a moment of its own. Times
run until the server has sent all of the page. Driver and server share the machine, so the figures are what it carries at least.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
from dashboard_client import Session, replica

EVERY_S, LASTING_S = 5.0, 30.0
QUERY = {"v": "1", "model": "llama-3.3-70b", "hw": "h200-sxm", "n": "1", "w": "fp8", "batch": "32"}
LABEL = "Batch (sequences at once)"


async def person(base: str, seed: int, ready: asyncio.Barrier) -> list[float]:
    """Times of one person's changes."""
    chance, taken = random.Random(seed), []  # noqa: S311 a load, not a secret
    async with Session(base, QUERY) as session:
        await session.open()
        await ready.wait()
        await asyncio.sleep(chance.uniform(0, EVERY_S))
        end = time.monotonic() + LASTING_S
        while time.monotonic() < end:
            start = time.monotonic()
            taken.append(await session.change(LABEL, chance.randrange(1, 200)))
            await asyncio.sleep(max(0.0, EVERY_S - (time.monotonic() - start)))
    return taken


async def people(base: str, n: int) -> list[float]:
    """Times of all changes of so many people."""
    ready = asyncio.Barrier(n)
    return [taken for each in await asyncio.gather(*(person(base, seed, ready) for seed in range(n))) for taken in each]


def process(pid: int) -> tuple[float, float]:
    """Processor seconds and resident megabytes of a process, where the system tells."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return float("nan"), float("nan")
    fields = stat.read_text().rsplit(")", 1)[1].split()
    ticks, pages = int(fields[11]) + int(fields[12]), int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """One row for each number of people."""
    print("people  changes  median ms  p95 ms  CPU ms a change  server MB  load average")
    with replica() as (base, pid):
        for n in map(int, sys.argv[1:] or ("5", "10", "20")):
            before, _ = process(pid)
            taken = np.array(asyncio.run(people(base, n))) * 1e3
            used, resident = process(pid)
            per_change = 1e3 * (used - before) / (taken.size + n)
            middle, late = np.percentile(taken, (50, 95))
            load = os.getloadavg()[0]
            print(f"{n:6} {taken.size:8} {middle:10.0f} {late:7.0f} {per_change:16.0f} {resident:10.0f} {load:13.1f}", flush=True)


if __name__ == "__main__":
    main()
