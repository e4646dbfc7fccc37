"""How long a rerun of a page takes on the server, once it is warm."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

APP = Path(__file__).parents[1] / "app.py"


@pytest.mark.parametrize("name", ["calculator", "experts", "model", "catalogue"])
def test_rerun(benchmark: BenchmarkFixture, name: str) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    if name != "calculator":
        app._page_hash = calc_hash(name)  # the harness itself only knows pages that are files
    batches = iter(range(1, 10**9))

    def changed() -> AppTest:
        app.query_params["batch"] = str(next(batches) % 500 + 1)
        return app.run()

    changed()
    assert not benchmark.pedantic(changed, rounds=8).exception
