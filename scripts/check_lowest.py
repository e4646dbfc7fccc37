"""Run the quick part of the tests with the lowest versions that pyproject.toml allows, in a fresh environment.

Takes several minutes and a package registry, so it is no part of the test command. Arguments, if any, go to pytest in place of
the quick part: `python scripts/check_lowest.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("app", "hub", "parquet")
TOOLS = ("gguf", "hypothesis", "pint", "pytest", "pytest-benchmark", "pytest-xdist", "scipy")
"""What these tests need; tools are not held at their lowest."""
QUICK = ["tests/unit", "tests/app", "tests/reference", "tests/property/test_scenarios.py", "--ignore=tests/unit/test_budgets.py"]


def lowest() -> list[str]:
    """Every dependency at its lower bound, as requirements.

    >>> "numpy==2.0" in lowest()
    True
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(item for extra in EXTRAS for item in project["optional-dependencies"][extra])]
    return ["{}=={}".format(*re.fullmatch(r"([\w.-]+)>=([\d.]+)(?:,.*)?", item).groups()) for item in wanted]  # type: ignore[union-attr]


def main() -> None:
    """Install, then test."""
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        python = Path(name) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        print(*lowest(), flush=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *lowest(), *TOOLS], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", ROOT], check=True)
        done = subprocess.run([python, "-m", "pytest", "-q", *(sys.argv[1:] or QUICK)], cwd=ROOT, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
