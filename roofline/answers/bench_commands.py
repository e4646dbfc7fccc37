"""The commands that would measure a scenario, and the numbers that should come out.

Flags of `vllm serve` and `vllm bench serve` (vLLM 0.11), `llama-bench` and `llama-batched-bench` (llama.cpp), `mlx_lm.benchmark`.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.engines import base_engine
from roofline.catalog.models import model_entries
from roofline.language import tr
from roofline.units import Floats, duration, significant

_WAVES = 4
"""Times every slot is filled, so that start and end weigh little."""
_LEAST_PROMPTS, _MOST_PROMPTS = 16, 10_000
_RATED_S = 600.0
"""For which requests arrive, at a rate."""
_ALL_LAYERS = 99
_WIDE_CACHES = ("bf16", "fp16", "fp32")
_GGUF, _MODEL = "MODEL.gguf", "MODEL"


@dataclass(frozen=True)
class Compared:
    """A number of a tool, and what is expected of it."""

    name: str
    expected: str


@dataclass(frozen=True)
class Measuring:
    """How to measure a scenario."""

    commands: tuple[str, ...]
    compared: tuple[Compared, ...]
    notes: tuple[str, ...]


def measuring(report: Report) -> Measuring:
    """Commands for the engine of a report."""
    found = resolve(report.scenario.model_copy(update={"offload": report.offload}))
    engine = base_engine(found.engine.id, found.accelerator)
    if engine.id == "mlx":
        return _mlx(report)
    if engine.kind in ("llama.cpp", "cpu"):
        return _llama(report, on_device=engine.kind != "cpu")
    return _served(report, engine.id, engine.name)


def repository(model: str) -> str:
    """The name a model has on the Hugging Face Hub, or a stand-in.

    >>> repository("deepseek-v3"), repository("my/config.json")
    ('deepseek-ai/DeepSeek-V3', 'MODEL')
    """
    entry = model_entries().get(model)
    return next((alias for alias in entry.aliases if "/" in alias), _MODEL) if entry else _MODEL


def _served(report: Report, engine: str, name: str) -> Measuring:
    scenario, model = report.scenario, quote(repository(report.scenario.model))
    rate = scenario.request_rate
    n_prompts = rate * _RATED_S if rate else _WAVES * report.batch
    load = f"--request-rate {rate:g}" if rate else f"--max-concurrency {report.batch}"
    bench = (
        f"vllm bench serve --model {model} --dataset-name random --random-input-len {scenario.input_tokens} "
        f"--random-output-len {scenario.output_tokens} --ignore-eos {load} "
        f"--num-prompts {round(min(max(n_prompts, _LEAST_PROMPTS), _MOST_PROMPTS))}"
    )
    serve = (_serve(report, model),) if engine == "vllm" else ()
    notes = [*_weight_notes(report), *_unsaid(report)]
    if engine != "vllm":
        notes.insert(0, tr("Start {engine} with this plan first, its OpenAI-compatible endpoint on port 8000.", engine=name))
    times, waiting = report.expected, report.waiting
    first = duration(float(times.ttft_s if waiting is None else waiting.ttft_mean_s))
    compared = (
        Compared("Mean TPOT", duration(float(times.tpot_s))),
        Compared("Output token throughput", _rate(times.request_output_tokens_per_s)),
        Compared("Mean TTFT", tr("{time} with one request at a time", time=first) if waiting is None else first),
    )
    return Measuring((*serve, bench), compared, tuple(notes))


def _serve(report: Report, model: str) -> str:
    plan, scenario = report.plan, report.scenario
    tensor, data = plan.tensor_parallel, plan.data_parallel
    if plan.attention_data_parallel:  # there every rank of the group is a replica of attention
        tensor, data = 1, data * tensor
    ways = {"tensor-parallel-size": tensor, "pipeline-parallel-size": plan.pipeline_parallel, "data-parallel-size": data}
    flags = [f"--{name} {n}" for name, n in ways.items() if n > 1]
    flags += ["--enable-expert-parallel"] if plan.expert_parallel > 1 or plan.attention_data_parallel else []
    flags += [f"--kv-cache-dtype {report.formats.kv_cache}"] if report.formats.kv_cache not in _WIDE_CACHES else []
    flags += ["--quantization fp8"] if report.formats.weights_id == "fp8" else []
    length = scenario.input_tokens + scenario.output_tokens
    flags += [f"--max-model-len {length}", f"--max-num-seqs {max(1, report.batch // data)}"]
    return f"vllm serve {model} {' '.join(flags)}"


def _llama(report: Report, *, on_device: bool) -> Measuring:
    scenario, cache = report.scenario, report.formats.kv_cache
    layers = f"-ngl {_ALL_LAYERS}" if on_device else "-ngl 0"
    kept = "" if cache in _WIDE_CACHES else f" -ctk {cache} -ctv {cache}"
    host = ' -ot "exps=CPU"' if report.offload == "experts" else ""
    shared = f"-m {_GGUF} {layers}{kept}{host}"
    commands = [
        f"llama-bench {shared} -p {scenario.input_tokens} -n 0",
        f"llama-bench {shared} -p 0 -n {scenario.output_tokens} -d {scenario.input_tokens}",
    ]
    compared = [Compared(f"pp{scenario.input_tokens}", _rate(_prompt_tokens_per_s(report)))]
    if report.batch > 1:
        length = report.batch * (scenario.input_tokens + scenario.output_tokens)
        commands[1] = (
            f"llama-batched-bench {shared} -c {length} -npp {scenario.input_tokens} -ntg {scenario.output_tokens} "
            f"-npl {report.batch}"
        )
        compared.append(Compared("S_TG", _rate(report.expected.output_tokens_per_s)))
    else:
        name = f"tg{scenario.output_tokens} @ d{scenario.input_tokens}"
        compared.append(Compared(name, _rate(report.expected.tokens_per_s_per_user)))
    notes = [_stands_for(_GGUF, report), *_unsaid(report)]
    if report.offload not in ("none", "experts"):
        notes.append(tr("Host memory holds {parts}: lower -ngl, or set -ot, to match.", parts=report.offload))
    return Measuring(tuple(commands), tuple(compared), tuple(notes))


def _prompt_tokens_per_s(report: Report) -> float:
    """Of one prompt on an idle machine."""
    return report.scenario.input_tokens / float(report.expected.ttft_s)


def _mlx(report: Report) -> Measuring:
    scenario = report.scenario
    command = (
        f"mlx_lm.benchmark --model MODEL --prompt-tokens {scenario.input_tokens} --generation-tokens {scenario.output_tokens}"
    )
    many = [tr("It runs one sequence; the batch of this scenario needs a script of its own.")] if report.batch > 1 else []
    return Measuring(
        (command,),
        (Compared("generation_tps", _rate(report.expected.tokens_per_s_per_user)),),
        (_stands_for(_MODEL, report), *many, *_unsaid(report)),
    )


def _rate(tokens_per_s: Floats) -> str:
    return tr("{rate} tokens/s", rate=significant(float(tokens_per_s)))


def _stands_for(word: str, report: Report) -> str:
    """What to put in place of a word of the commands."""
    return tr("{word}: {model} in {format}.", word=word, model=report.model_name, format=report.formats.weights)


def _weight_notes(report: Report) -> list[str]:
    given = report.formats.weights_id
    if given in (None, "fp8", "bf16", "fp16"):
        return []
    return [tr("Give --model a checkpoint whose weights are in {format}.", format=given)]


def _unsaid(report: Report) -> list[str]:
    """What the commands leave out."""
    scenario = report.scenario
    lines = []
    if scenario.speculative is not None:
        lines.append(tr("Set up the draft {draft} in the engine as well.", draft=scenario.speculative))
    if scenario.prefix_hit > 0:
        lines.append(
            tr("Prompts must share {share:.0%} of their tokens: use a data set with common prefixes.", share=scenario.prefix_hit)
        )
    if report.prefill_plan is not None:
        lines.append(tr("Prefill has devices of its own: start both pools as the engine's guide says."))
    return lines
