"""Peak memory of a sweep, in a process of its own (Linux): as one table it grows with the points, part by part it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

CODE = """
import sys
import roofline
n, folder = int(sys.argv[1]), sys.argv[2]
given = dict(tensor_parallel=1, pipeline_parallel=1, data_parallel=1, output_tokens=256)
asked = roofline.Scenario(model="llama-3.1-8b", hardware="h100-sxm", **given)
axes = {"batch": range(1, 1001), "input_tokens": range(128, 128 + n // 1000)}
roofline.write_sweep(asked, axes, folder) if folder else roofline.sweep(asked, axes)
status = open("/proc/self/status").read()  # not what getrusage says: that begins with the parent's peak
print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


@pytest.mark.parametrize("n_points", [10**4, 10**5, 10**6, 10**7])
@pytest.mark.parametrize("how", ["one table", "folder"])
def test_peak_memory(benchmark: BenchmarkFixture, tmp_path: Path, how: str, n_points: int) -> None:
    command = [sys.executable, "-c", CODE, str(n_points), str(tmp_path / "out") if how == "folder" else ""]

    def peak_bytes() -> int:
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    benchmark.extra_info["peak_bytes"] = benchmark.pedantic(peak_bytes, rounds=1)
