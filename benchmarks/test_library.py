"""How long what people do takes: import, one estimate, sweeps, search, reading, links, figures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import roofline
from roofline import Scenario, SearchQuery, evaluate, link, search, sweep, write_sweep
from roofline.adapters.files import load_model_file
from roofline.answers.curves import batch_curve
from roofline.figures.curves import throughput_figure
from roofline.figures.roofline_plot import roofline_figure
from roofline.figures.theme import Look, as_figure

CONFIGURATIONS = Path(roofline.__file__).parent / "catalog" / "data" / "models"
ASKED = {
    "1 device": Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8),
    "70B on 8": Scenario(model="llama-3.3-70b", hardware="h100-sxm", devices=8, tensor_parallel=8, batch=8),
    "DeepSeek on 16, open plan": Scenario(model="deepseek-v3", hardware="h100-sxm", devices=16, batch=8),
}
GIVEN_PLAN = Scenario(
    model="llama-3.1-8b", hardware="h100-sxm", tensor_parallel=1, pipeline_parallel=1, data_parallel=1, output_tokens=256
)


def load_axes(n_points: int) -> dict[str, range]:
    """Batches and prompts, crossed."""
    n_batches = min(1000, n_points // 10)
    return {"batch": range(1, n_batches + 1), "input_tokens": range(128, 128 + n_points // n_batches)}


def test_import(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", "import roofline"],), {"check": True}, rounds=5)


@pytest.mark.parametrize("name", ASKED)
def test_evaluate(benchmark: BenchmarkFixture, name: str) -> None:
    batches = iter(range(1, 10**9))
    benchmark(lambda: evaluate(ASKED[name].model_copy(update={"batch": next(batches) % 4096 + 1})))


@pytest.mark.parametrize("n_points", [10**3, 10**4, 10**5, 10**6, 10**7])
def test_sweep(benchmark: BenchmarkFixture, n_points: int) -> None:
    table = benchmark.pedantic(sweep, (GIVEN_PLAN, load_axes(n_points)), rounds=3 if n_points > 10**6 else 5, warmup_rounds=1)
    assert len(table) == n_points


@pytest.mark.parametrize("n_points", [10**3, 10**4, 10**5])
def test_sweep_of_open_plans(benchmark: BenchmarkFixture, n_points: int) -> None:
    axes = load_axes(n_points)
    table = benchmark.pedantic(sweep, (ASKED["DeepSeek on 16, open plan"], axes), rounds=3, warmup_rounds=1)
    assert len(table) == n_points


@pytest.mark.parametrize("n_points", [10**6, 10**7])
def test_sweep_to_a_folder(benchmark: BenchmarkFixture, n_points: int, tmp_path: Path) -> None:
    folder = tmp_path / "out"

    def emptied() -> tuple[tuple[Any, ...], dict[str, Any]]:
        shutil.rmtree(folder, ignore_errors=True)
        return (GIVEN_PLAN, load_axes(n_points), folder), {}

    assert benchmark.pedantic(write_sweep, setup=emptied, rounds=2).rows == n_points


def test_search_of_the_whole_catalogue(benchmark: BenchmarkFixture) -> None:
    asked = SearchQuery(model="llama-3.3-70b", ttft_s=2.0, tpot_s=0.03, request_rate=10)
    assert benchmark.pedantic(search, (asked,), rounds=3).winners


@pytest.mark.parametrize("name", ["llama-3.1-8b", "deepseek-v3", "jamba-v0.1"])
def test_configuration(benchmark: BenchmarkFixture, name: str) -> None:
    assert benchmark(load_model_file, CONFIGURATIONS / f"{name}.json").vocabulary


def test_link(benchmark: BenchmarkFixture) -> None:
    scenario = ASKED["DeepSeek on 16, open plan"]
    assert benchmark(lambda: link.from_query(link.to_query(scenario)).scenario) == scenario


@pytest.mark.parametrize("name", ASKED)
def test_figures(benchmark: BenchmarkFixture, name: str) -> None:
    report = evaluate(ASKED[name])
    look = Look()

    def built() -> object:
        curve = batch_curve(report)
        return [as_figure(figure(report, curve, look)) for figure in (roofline_figure, throughput_figure)]

    assert benchmark(built)
