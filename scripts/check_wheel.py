"""Build wheel and sdist, install the wheel alone in a fresh environment, and ask it questions there.

Takes a minute or two and a package registry, so it is no part of the test command: `python scripts/check_wheel.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUESTION = ["estimate", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "4", "--json"]
LIBRARY = """
import roofline
report = roofline.evaluate(roofline.Scenario(model="llama-3.1-8b", hardware="rtx4090", weights="q4_k_m", batch=1))
assert report.expected.tokens_per_s_per_user > 0
assert len(roofline.sweep(report.scenario, {"batch": [1, 2]})) == 2
assert roofline.validate().rows
"""
MISSING = {
    "parquet": ["sweep", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--batch", "1", "--out", "x.parquet"],
    "hub": ["model", "nobody/no-such-model"],
}
"""Extra -> a command that needs it."""


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command with its output, whatever its status."""
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)


def must(*command: object, cwd: Path) -> str:
    """Output of a command that must succeed."""
    done = run(*command, cwd=cwd)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(holds: bool, what: str) -> None:
    """Say one line, and stop where something does not hold."""
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(1)


def environment(folder: Path) -> Path:
    """A fresh virtual environment; its folder of programs."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def built(folder: Path) -> tuple[Path, Path]:
    """Wheel and sdist, made by a builder of their own."""
    programs = environment(folder / "builder")
    must(programs / "pip", "install", "--quiet", "hatchling>=1.27", cwd=folder)
    must(programs / "python", "-m", "hatchling", "build", "-d", folder / "dist", cwd=ROOT)
    (wheel,), (sdist,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    must(programs / "python", "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "again", cwd=source)
    (again,) = (folder / "again").glob("*.whl")
    expect(contents(wheel) == contents(again), "the sdist builds the same wheel")
    return wheel, sdist


def contents(wheel: Path) -> dict[str, int]:
    """Files of a wheel with their checksums, its own list of them apart."""
    with zipfile.ZipFile(wheel) as archive:
        return {item.filename: item.CRC for item in archive.infolist() if not item.filename.endswith("RECORD")}


def answers(programs: Path, empty: Path) -> None:
    """The installed wheel answers with no source tree about."""
    told = json.loads(must(programs / "roofline", *QUESTION, cwd=empty))
    expect(told["memory"]["fits"] and told["expected"]["tpot_s"]["value"] > 0, "the command line answers")
    must(programs / "python", "-c", LIBRARY, cwd=empty)
    expect(True, "the library answers")
    for extra, command in MISSING.items():
        done = run(programs / "roofline", *command, cwd=empty)
        one = done.returncode == 2 and done.stderr.count("\n") == 1
        expect(one and f"roofline[{extra}]" in done.stderr, f"a missing extra '{extra}' is named: {done.stderr.strip()}")
    done = run(programs / "python", "-c", "import roofline.dashboard", cwd=empty)
    expect("roofline[app]" in done.stderr, f"a missing extra 'app' is named: {done.stderr.strip().splitlines()[-1]}")


def main() -> None:
    """Build, install, ask."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        print(f"{wheel.name} {wheel.stat().st_size:,} bytes, {sdist.name} {sdist.stat().st_size:,} bytes", flush=True)
        programs = environment(folder / "clean")
        must(programs / "pip", "install", "--quiet", wheel, cwd=folder)
        (folder / "empty").mkdir()
        answers(programs, folder / "empty")


if __name__ == "__main__":
    main()
