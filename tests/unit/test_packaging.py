"""What the package asks for and ships: bounded dependencies, data inside, and missing extras named.

`scripts/check_wheel.py` builds and installs it for real, `scripts/check_lowest.py` runs tests with the lowest versions.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from roofline import __version__
from roofline.adapters import hub
from roofline.catalog.models import _hub_model
from roofline.cli import app

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [*PROJECT["dependencies"], *(item for extra in PROJECT["optional-dependencies"].values() for item in extra)]


@pytest.mark.parametrize("requirement", [item for item in ASKED if not item.startswith("roofline[")])
def test_every_dependency_is_bounded_on_both_sides(requirement: str) -> None:
    assert re.fullmatch(r"[\w.-]+>=[\d.]+,<[\d.]+", requirement)


def test_the_version_is_told_once() -> None:
    assert PROJECT["version"] == __version__


def without(module: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that does not have a module."""
    hidden = f"import sys; sys.modules[{module!r}] = None; {code}"
    return subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_dashboard_names_its_extra() -> None:
    told = without("streamlit", "import roofline.dashboard").stderr.splitlines()[-1]
    assert told == "ImportError: The dashboard needs Streamlit; install the extra: pip install 'roofline[app]'."


def test_parquet_names_its_extra(tmp_path: Path) -> None:
    args = ["sweep", "--model", "gpt2", "--hardware", "h100-sxm", "--batch", "1", "--out", str(tmp_path / "x.parquet")]
    done = without("pyarrow", f"from roofline.cli import app; app({args!r})")
    assert (done.returncode, done.stderr.count("\n"), "roofline[parquet]" in done.stderr) == (2, 1, True)
    assert not (tmp_path / "x.parquet").exists()


def test_the_hub_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    _hub_model.cache_clear()
    result = CliRunner().invoke(app, ["model", "nobody/no-such-model"])
    assert (result.exit_code, result.stderr.count("\n"), "roofline[hub]" in result.stderr) == (2, 1, True)
    _hub_model.cache_clear()
