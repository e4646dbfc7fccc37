"""Ask other calculators the questions asked here: their answers, ours, the measurement, and the time of a point.

Each is installed from the package registry into a virtual environment of its own, under a folder that is named; nothing of
them is kept in this repository, and no test runs this. Prints a table for docs/performance.md.

    python scripts/compare_peers.py FOLDER
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from roofline import Scenario, __version__, evaluate, load_hardware, sweep

PEERS = ("genz-llm", "llm-analysis", "servcalc", "ridgepoint", "aiconfigurator")
ASKED = (
    {"hardware": "h200-sxm", "batch": 8, "input_tokens": 32, "output_tokens": 128, "measured_s": 0.833421},
    {"hardware": "h100-sxm", "batch": 1, "input_tokens": 1024, "output_tokens": 256, "measured_s": None},
    {"hardware": "h100-sxm", "batch": 64, "input_tokens": 1024, "output_tokens": 256, "measured_s": None},
)
"""Llama-3.1-8B in BF16 on one device. The measured one is row vnight-002 of the shipped measurements (vLLM)."""
MODEL = "llama-3.1-8b"
CONFIGURATION = Path(__file__).parents[1] / "roofline" / "catalog" / "data" / "models" / f"{MODEL}.json"


def main() -> None:
    """Install, ask, print."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    home = Path(sys.argv[1]).absolute()
    questions = [{**asked, **_facts(str(asked["hardware"])), "configuration": str(CONFIGURATION)} for asked in ASKED]
    rows = [_ours(), *(_theirs(name, home, questions) for name in PEERS)]
    print(f"| calculator | version | {' | '.join(_words(asked) for asked in ASKED)} | µs a point |")
    print("|---|---|" + "---|" * (len(ASKED) + 1))
    for row in rows:
        print(f"| {' | '.join(row)} |")
    measured = " | ".join("" if asked["measured_s"] is None else f"{asked['measured_s']:.3f}" for asked in ASKED)
    print(f"| measured | vLLM | {measured} | |")


def _facts(hardware: str) -> dict[str, float]:
    """The same facts for all who take them."""
    device = load_hardware(hardware)
    return {
        "peak_flops_per_s": device.peaks["bf16"].base,
        "bandwidth_bytes_per_s": device.bandwidth.base,
        "memory_bytes": device.memory.base,
    }


def _words(asked: dict[str, Any]) -> str:
    return f"{asked['hardware']}, {asked['batch']} x ({asked['input_tokens']} in, {asked['output_tokens']} out), s"


def _scenario(asked: dict[str, Any]) -> Scenario:
    load = {name: asked[name] for name in ("hardware", "batch", "input_tokens", "output_tokens")}
    return Scenario(model=MODEL, weights="bf16", engine="vllm", **load)


def _ours() -> list[str]:
    """Limit and expectation of the whole request, and the time of a point of a sweep of a million."""
    answers = []
    for asked in ASKED:
        report = evaluate(_scenario(asked))
        walls = (asked["batch"] / float(times.requests_per_s) for times in (report.limit, report.expected))
        answers.append("{:.3f}; limit {:.3f}".format(*reversed(list(walls))))
    axes = {"batch": range(1, 101), "input_tokens": range(1, 10_001)}
    sweep(_scenario(ASKED[1]), {"batch": [1, 2]})
    return ["roofline", __version__, *answers, f"{min(_us_per_point(axes) for _ in range(3)):.2f}"]


def _us_per_point(axes: dict[str, range]) -> float:
    start = time.process_time()
    n = len(sweep(_scenario(ASKED[1]), axes))
    return (time.process_time() - start) / n * 1e6


def _theirs(name: str, home: Path, questions: list[dict[str, Any]]) -> list[str]:
    """What one of them answers, in an environment of its own."""
    python = home / name / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", home / name], check=True, timeout=300)
            subprocess.run([python, "-m", "pip", "install", "--quiet", name], check=True, timeout=900)
        script = Path(__file__).parent / "peers" / f"ask_{name.replace('-', '_')}.py"
        out = subprocess.run([python, script, json.dumps(questions)], check=True, timeout=600, capture_output=True, text=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        print(f"{name}: {detail[-1] if detail else error}", file=sys.stderr)
        return [name, "does not install or answer", *("" for _ in questions), ""]
    found = json.loads(out.stdout.strip().splitlines()[-1])
    answers = ["" if seconds is None else f"{seconds:.3f}" for seconds in found["seconds"]]
    return [name, found["version"], *answers, f"{found['us_per_point']:,.0f}"]


if __name__ == "__main__":
    main()
