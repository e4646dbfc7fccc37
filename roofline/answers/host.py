"""What the operating system tells of this machine: processor, cores, caches, memory."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from roofline.errors import InputError
from roofline.language import tr
from roofline.specs.base import printable
from roofline.units import GIBI, KIBI, MEBI

ASSUMED_CACHE_BYTES = int(64 * MEBI)
"""Last-level cache where the system does not tell: more than most processors have for one program."""
_SUFFIXES = {"K": KIBI, "M": MEBI, "G": GIBI}
_NARROW_UNITS = re.compile(r"amx_\w+|avx512_(?:vnni|bf16|fp16)|avx_vnni|i8mm|bf16|asimddp|asimdhp")
"""Instructions that multiply in 8 or 16 bit faster than in 32, as Linux names them."""


@dataclass(frozen=True)
class Host:
    """The machine as the system shows it to a program."""

    processor: str
    vendor: str
    n_cores: int
    """That this program may use."""
    cache_bytes: int
    """Of the last level, the whole of it."""
    memory_bytes: int
    """That this program may use, others included."""
    free_bytes: int
    narrow_units: tuple[str, ...]
    """Instructions for narrow products, which NumPy does not use."""
    load: float
    """Programs that ran or waited in the last minute."""


def this_host() -> Host:
    """The machine this runs on.

    Raises
    ------
    InputError
        The system does not tell how much memory there is.
    """
    info = fields(_text("/proc/cpuinfo"))
    memory, free = _memory()
    return Host(
        processor=printable(info.get("model name") or platform.processor() or platform.machine() or "CPU", 60),
        vendor=_vendor(info),
        n_cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        cache_bytes=_cache_bytes(Path("/sys/devices/system/cpu/cpu0/cache")),
        memory_bytes=memory,
        free_bytes=free,
        narrow_units=tuple(sorted(set(_NARROW_UNITS.findall(info.get("flags") or info.get("Features") or "")))),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    )


def fields(text: str) -> dict[str, str]:
    r"""The first value of each ``name : value`` line, as in the files of /proc.

    >>> fields("processor : 0\nmodel name : A\nmodel name : B")
    {'processor': '0', 'model name': 'A'}
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def size_bytes(text: str) -> int:
    """A size as Linux prints it.

    >>> size_bytes("32768K"), size_bytes("24683520 kB")
    (33554432, 25275924480)
    """
    found = re.match(r"(\d+)\s*([KMG]?)", text.strip().upper())
    return int(int(found[1]) * _SUFFIXES.get(found[2], 1)) if found else 0


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _vendor(info: Mapping[str, str]) -> str:
    vendor = info.get("vendor_id", "")
    return {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(vendor) or printable(vendor or platform.system() or "unknown", 40)


def _cache_bytes(folder: Path) -> int:
    """The largest cache that a core reaches."""
    return max((size_bytes(_text(file)) for file in folder.glob("index*/size")), default=0) or ASSUMED_CACHE_BYTES


def _memory() -> tuple[int, int]:
    """All memory and what is free of it, within the limit of a container."""
    info = fields(_text("/proc/meminfo"))
    total, free = size_bytes(info.get("MemTotal", "")), size_bytes(info.get("MemAvailable", ""))
    if not total:
        total = _installed_bytes()
        free = total // 2
    limit = size_bytes(_text("/sys/fs/cgroup/memory.max")) or total
    used = size_bytes(_text("/sys/fs/cgroup/memory.current")) if limit < total else 0
    return min(total, limit), min(free, max(limit - used, 0))


def _installed_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        raise InputError(tr("this system does not tell how much memory it has: measure on Linux or macOS.")) from None
