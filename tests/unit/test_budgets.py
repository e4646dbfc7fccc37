"""Budgets that people feel: import, one estimate, a sweep, in processor time. Bars are three times the budget."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from roofline import Scenario, evaluate, sweep

SLACK = 3.0


def test_import_loads_neither_streamlit_nor_plotly() -> None:
    code = "import roofline, sys; print([m for m in ('streamlit', 'plotly', 'pandas') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_import_is_quick() -> None:
    code = "import time; t = time.process_time(); import roofline; print(time.process_time() - t)"

    def once() -> float:
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    assert min(once() for _ in range(3)) < 0.3 * SLACK


@pytest.mark.parametrize("devices", [1, 16])
def test_one_estimate_is_quick(devices: int) -> None:
    def once(batch: int) -> float:
        scenario = Scenario(model="deepseek-v3", hardware="h200-sxm", devices=devices, batch=batch)
        start = time.process_time()
        evaluate(scenario)
        return time.process_time() - start

    once(1)
    assert min(once(batch) for batch in range(2, 60)) < 0.002 * SLACK


def test_a_sweep_grows_with_its_points() -> None:
    scenario = Scenario(model="llama-3.1-8b", hardware="h100-sxm")

    def seconds(n: int) -> float:
        start = time.process_time()
        table = sweep(scenario, {"batch": list(range(1, n + 1)), "input_tokens": list(range(64, 64 + 100))})
        assert len(table) == n * 100
        return time.process_time() - start

    seconds(10)
    assert seconds(2000) < 40 * max(seconds(200), 0.01)
