"""A published measurement as a load the core can predict: which engine, formats, plan, lengths and batch a row means.

Rules read the columns only, never a model or a source by name; what a row does not say is not guessed but told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from roofline.catalog.boxes import load_box
from roofline.catalog.engines import engine_ids
from roofline.catalog.hardware import load_hardware
from roofline.catalog.measurements import Measurement
from roofline.errors import InputError
from roofline.language import later, tr
from roofline.specs.scenario import Scenario, hardware_parts, is_mixed

Way = Literal["step", "prompt", "static", "saturated", "concurrency", "rate"]
"""How a row was run: one decode step, one prompt, a static batch, a full server, fixed clients, a fixed arrival rate."""

_ENGINES = (
    (r"TensorRT-LLM.*(static|v0\.5)", "tensorrt-llm-2023"),
    (r"TensorRT-LLM|NIM", "tensorrt-llm"),
    (r"vLLM", "vllm"),
    (r"KTransformers v0\.2", "ktransformers-2025-02"),
    (r"KTransformers", "ktransformers"),
    (r"SGLang", "sglang-ep"),
    (r"DeepSeek", "deepseek"),
    (r"Gaudi", "gaudi"),
    (r"JetStream", "jetstream"),
    (r"MLX", "mlx"),
    (r"llama\.cpp.*2024", "llama-cpp-2024"),
    (r"llama\.cpp|Ollama", "llama-cpp"),
)
_SHARE_GPT = (220.0, 200.0)
"""Mean prompt and answer of the ShareGPT conversations, in tokens, where a row only says that they were used."""
_DOUBTS = (later("memory and rate fit two devices, the row says four"),)
"""Reasons of the table itself, as messages."""
_UNTESTED = {"kernel": later("a kernel, not a model"), "spec": later("speculative decoding is not predicted yet")}
KINDS = ("decode_single", "decode_batch", "prefill", "offline_throughput", "server")
"""Kinds of rows that are predicted."""
SAME_TOKENS = later(
    "batched experts with the same tokens in every sequence: they choose the same experts, fewer than random tokens do"
)


@dataclass(frozen=True)
class Case:
    """A row as a load: how it was run, and how its number follows from a wall time."""

    row: Measurement
    scenario: Scenario
    way: Way
    batch: float
    """Sequences at once over the whole system; infinite for as many as fit; requests per second under a rate."""
    cached_tokens: float
    prompt_tokens: float
    output_tokens: float
    scale: float
    """The number is ``scale / time`` for a rate and ``scale * time`` for a time."""
    is_rate: bool
    n_requests: float | None
    doubt: str
    """Why the row is left out of errors and of the fit; empty where it counts."""

    def value(self, time_s: float) -> float:
        """The row's number, in its own unit, if its unit of work takes this long."""
        return self.scale / time_s if self.is_rate else self.scale * time_s


def case(row: Measurement) -> Case:
    """Read a row.

    Raises
    ------
    InputError
        What the row lacks, or why the core cannot predict it.
    """
    if row.kind in _UNTESTED:
        raise InputError(f"{tr(_UNTESTED[row.kind])}.")
    if row.kind not in KINDS:
        raise InputError(tr("kind is {kind!r}; it can be {kinds}.", kind=row.kind[:40], kinds=", ".join(KINDS)))
    for name, value in (("hardware_id", row.hardware_id), ("model_id", row.model_id)):
        if not value:
            raise _unknown(name)
    _check_experts(row)
    devices = _whole(row.n_devices, "n_devices", 1)
    prompt, output = _lengths(row)
    batch = _batch(row, devices, prompt)
    way = _way(row, batch)
    if not row.output_len and "ShareGPT" not in row.input_len and way not in ("prompt", "step"):
        raise _unknown("output_len")
    scenario = _scenario(row, devices, prompt, output)
    depth = float(_depth(row))
    scale, is_rate = _scale(row, way, devices, batch, prompt, output)
    return Case(
        row=row,
        scenario=scenario,
        way=way,
        batch=batch,
        cached_tokens=depth,
        prompt_tokens=prompt,
        output_tokens=output,
        scale=scale,
        is_rate=is_rate,
        n_requests=_requests(row),
        doubt=_doubt(row, way, batch, output),
    )


def _check_experts(row: Measurement) -> None:
    """Refuse a run with fewer experts a token than the model has."""
    fewer = re.search(r"(\d+) routed experts used of (\d+)", row.notes)
    if fewer is not None and fewer[1] != fewer[2]:
        told = tr("{n} experts a token were used instead of {of}: another model than the one named.", n=fewer[1], of=fewer[2])
        raise InputError(told)


def engine_id(row: Measurement) -> str:
    """The profile a row names, or that stands for its software; Apple's backend never had the separate unpacking of prompts."""
    if row.engine in engine_ids():
        return row.engine
    for pattern, profile in _ENGINES:
        if re.search(pattern, row.engine):
            apart = profile == "llama-cpp-2024" and load_box(row.hardware_id).category == "Apple"
            return "llama-cpp" if apart else profile
    if not row.engine:
        raise InputError(tr("the engine is not known."))
    raise InputError(tr("no profile for the engine {engine!r}.", engine=row.engine[:60]))


def _is_mixture(row: Measurement) -> bool:
    return row.params_note.startswith("MoE")


def _requests(row: Measurement) -> float | None:
    """Requests in the queue, where the row says."""
    if re.fullmatch(r"\d{1,9}", row.n_requests) and int(row.n_requests) > 0:
        return float(row.n_requests)
    told = re.search(r"(\d+) (?:requests|prompts queued)", f"{row.engine} {row.notes}")
    return None if told is None else float(told[1])


def _whole(text: str, name: str, default: int | None) -> int:
    if not text:
        if default is None:
            raise _unknown(name)
        return default
    if not re.fullmatch(r"\d{1,7}", text) or int(text) < 1:
        raise InputError(tr("{name} is {text!r}, not a whole number.", name=name, text=text[:40]))
    return int(text)


def _lengths(row: Measurement) -> tuple[float, float]:
    """Prompt and output tokens; a prompt of zero is an empty context, and a step with no more told is of that context."""
    if "ShareGPT" in row.input_len:
        return _SHARE_GPT
    prompt = re.match(r"\d{1,8}(?!\d)", row.input_len)
    if prompt is None or (row.input_len != prompt[0] and " at depth " not in row.input_len):
        raise _no_tokens("input_len", row.input_len)
    output = re.fullmatch(r"\d{1,8}", row.output_len)
    if output is None and row.output_len:
        raise _no_tokens("output_len", row.output_len)
    return float(prompt[0]), float(output[0]) if output else 0.0


def _unknown(name: str) -> InputError:
    return InputError(tr("{name} is not known.", name=name))


def _no_tokens(name: str, text: str) -> InputError:
    if not text:
        return _unknown(name)
    return InputError(tr("{name} is {text!r}, not a number of tokens.", name=name, text=text[:40]))


def _depth(row: Measurement) -> int:
    found = re.search(r"at depth (\d{1,8})(?!\d)", row.input_len)
    return int(found[1]) if found else 0


def _batch(row: Measurement, devices: int, prompt: float) -> float:
    """Sequences at once over the system; infinite for as many as fit."""
    text = row.batch_or_concurrency
    if text.startswith("max"):
        return float("inf")
    found = re.match(r"(\d{1,9}(?:\.\d{1,9})?)(?!\d)", text)
    if text.startswith("INF"):
        return float("inf")
    if found is None:
        name = "batch_or_concurrency"
        if not text:
            raise _unknown(name)
        raise InputError(tr("{name} is {text!r}, not a number.", name=name, text=text[:40]))
    number = float(found[1])
    if "tokens/GPU" in text:
        return number * devices / prompt
    return number * devices if "per GPU" in text or "per rank" in text else number


def _way(row: Measurement, batch: float) -> Way:
    """How the row was run, from its kind, its metric and what it says of the batch."""
    if "req/s" in row.batch_or_concurrency:
        return "rate"
    if row.kind == "prefill":
        return "prompt"
    if row.metric.startswith("E2E"):
        return "static"
    if batch == float("inf"):
        return "saturated"
    if row.kind == "decode_single":
        return "step"
    if row.kind == "offline_throughput":
        return "static" if re.search(r"static", row.engine + row.notes, re.IGNORECASE) else "concurrency"
    if row.kind == "server" or "concurrency" in row.notes:
        return "concurrency"
    return "step"


def _scenario(row: Measurement, devices: int, prompt: float, output: float) -> Scenario:
    engine = engine_id(row)
    pipeline, data = _whole(row.pp, "pp", 1), _whole(row.dp, "dp", 1)
    expert = _whole(row.ep, "ep", 1)
    spread = row.ep != "" and data == expert and data > 1
    open_ways = devices // (pipeline * data)
    if row.tp or spread or open_ways == devices == 1:
        tensor = _whole(row.tp, "tp", 1)
    elif engine.startswith("llama"):
        tensor, pipeline = 1, devices
    else:
        tensor = max(1, open_ways)
    hardware, host = device_and_host(row.hardware_id)
    apart = tensor > 1 and row.attention_data_parallel == "yes"
    return Scenario.model_validate(
        {
            "model": row.model_id,
            "hardware": hardware,
            "devices": devices,
            "weights": _weights(row.weight_format, engine),
            "kv_cache": _cache(row.kv_format, row.weight_format),
            "input_tokens": max(1, round(prompt)),
            "output_tokens": max(1, round(output)),
            "batch": 1,
            "tensor_parallel": tensor,
            "pipeline_parallel": pipeline,
            "data_parallel": data,
            "expert_parallel": expert if spread else tensor if apart else None,
            "attention_data_parallel": apart,
            "engine": engine,
            "host": host,
            "offload": "none" if host is None else "experts" if engine.startswith("ktransformers") else "layers",
        }
    )


def device_and_host(hardware: str) -> tuple[str, str | None]:
    """Devices of a row, and the CPU beside them that holds part of the model: ``rtx4090+2xxeon-6454s``."""
    if not is_mixed(hardware):
        return hardware, None
    parts = [(count, ref, "CPU" in load_hardware(ref).category) for count, ref in hardware_parts(hardware)]
    named = {is_cpu: "+".join(f"{count}x{ref}" for count, ref, cpu in parts if cpu == is_cpu) for is_cpu in (False, True)}
    return named[False].removeprefix("1x"), named[True] or None


def _weights(text: str, engine: str) -> str | None:
    """Format of the weights; MXFP4 checkpoints come as their makers stored them, or as llama.cpp packs them."""
    if not text:
        raise _unknown("weight_format")
    name = text.split(" (")[0].split("/")[0].strip().lower()
    if name == "mxfp4":
        return "mxfp4_moe" if engine.startswith("llama") else None
    return name


def _cache(text: str, weights: str) -> str | None:
    """Format of the cache; FP8 and NVFP4 checkpoints bring scales for an 8-bit one."""
    if text == "checkpoint default" and weights in ("fp8", "nvfp4"):
        return "fp8"
    name = text.split(" ")[0].split("/")[0].strip().lower()
    return name if name in ("fp8", "fp16", "f16", "bf16", "int8") else None


def _scale(row: Measurement, way: Way, devices: int, batch: float, prompt: float, output: float) -> tuple[float, bool]:
    """How the number follows from a time: of a step, of the prompts, or of a whole batch."""
    metric = row.metric
    if metric in ("TPOT ms", "TTFT ms"):
        return 1e3, False
    if metric == "E2E latency s":
        return 1.0, False
    if metric == "tok/s per user":
        return 1.0, True
    share = {"per GPU": 1.0 / devices, "per 8-GPU node": 8.0 / devices}
    part = next((value for word, value in share.items() if metric.endswith(word)), 1.0)
    if metric.startswith("prefill tok/s"):
        return batch * prompt * part, True
    if metric.startswith(("tok/s total output", "tok/s output")):
        # rates of full servers come per turnover of one sequence: the batch is filled in when memory is known
        sequences = 1.0 if way in ("saturated", "concurrency", "rate") else batch
        return sequences * part * (1.0 if way == "step" else output), True
    raise InputError(tr("the metric {metric!r} is not predicted.", metric=metric[:60]))


def _doubt(row: Measurement, way: Way, batch: float, output: float) -> str:
    """Why a row should not count."""
    notes = row.notes
    if row.doubt:
        return tr(row.doubt)
    if "OUTLIER" in notes:
        return tr("flagged as an outlier where it was transcribed")
    if "SIMULATED" in notes:
        return tr("simulated, not run")
    if row.batch_or_concurrency.startswith("INF"):
        return tr("all requests at once with unknown spread of lengths: the batch is not known")
    if way == "rate" and row.metric.startswith("tok/s") and row.value > 0.85 * batch * output:
        return tr("below saturation a server delivers what it is offered: nothing is tested")
    if row.kind == "decode_batch" and _is_mixture(row) and batch > 1 and row.engine.startswith("llama.cpp"):
        return tr(SAME_TOKENS)
    return ""
