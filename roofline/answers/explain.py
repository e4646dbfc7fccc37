"""Why a headline number is what it is: formula, your values, inputs, sources, and what they rest on in turn."""

from __future__ import annotations

from roofline.answers.grounds import memory_grounds, price_grounds, step_grounds
from roofline.answers.report import Explanation, Input, Report
from roofline.units import Floats, duration, memory_size, significant, with_prefix

_STEP = (
    "T = sum over operators of smax(FLOPs / (gamma peak), bytes / (beta bandwidth)) "
    "+ collectives + layers x tau_L + tau_S + tau_q B, with smax(x, y) = sqrt(x^2 + y^2)"
)
_SYMBOLS = {
    "share of memory bandwidth": "beta",
    "share of the dense peak": "gamma",
    "time per layer, s": "tau_L",
    "time per step, s": "tau_S",
    "time per sequence and step, s": "tau_q",
}
_RATED = "requests/s x output tokens: what arrives is what leaves"
_ROOFLINE = "S. Williams, A. Waterman, D. Patterson, Roofline, Commun. ACM 52(4), 2009"


def explain(report: Report) -> dict[str, Explanation]:
    """One explanation per headline number; its parts open what it rests on, down to shapes of tensors and printed facts."""
    return {
        "tokens_per_s_per_user": _per_user(report),
        "output_tokens_per_s": _total(report),
        "usd_per_million_output_tokens": _cost(report),
        "memory": _memory(report),
    }


def _facts(report: Report) -> tuple[Input, ...]:
    names = ("memory bandwidth", f"{report.formats.gemm_rate} peak")
    rows = [Input(name, report.sources[name].partition(" (")[0], report.sources[name]) for name in names]
    rows.append(Input("model", report.model_name, report.sources["model structure"]))
    return tuple(rows)


def _per_user(report: Report) -> Explanation:
    step, limit = float(report.expected.decode_step_s), float(report.limit.decode_step_s)
    parts = " + ".join(f"{duration(share.seconds)} {share.bound}" for share in report.shares["decode"] if share.seconds > 0)
    used = sum(row.bytes for row in report.operators if row.phase == "decode")
    work = sum(row.flops for row in report.operators if row.phase == "decode")
    n = f"{report.tokens_per_step:.3g}"
    return Explanation(
        title="Tokens per second for one user",
        equation=f"{'1' if report.tokens_per_step == 1.0 else 'n'} / T with {_STEP}",
        substituted=f"{n} / ({parts}) = {n} / {duration(step)}; the limit is {n} / {duration(limit)}",
        inputs=(
            Input("read per device and step", with_prefix(used, "B"), "ledger: weights, experts touched, cache"),
            Input("computed per device and step", with_prefix(work, "FLOP"), "ledger"),
            Input("mean context", f"{report.context_tokens:,.0f} tokens", "prompt plus half the output"),
            *_facts(report),
            *(Input(f"{_SYMBOLS[a.name]}: {a.name}", a.value, a.basis) for a in report.assumptions if a.name in _SYMBOLS),
        ),
        citation=_ROOFLINE,
        value=f"{significant(float(report.expected.tokens_per_s_per_user))} tokens/s",
        parts=(step_grounds(report, "decode"), _first_token(report)),
    )


def _first_token(report: Report) -> Explanation:
    """Time to first token: not a headline of its own, but the other half of what a person feels."""
    computed = report.scenario.input_tokens * (1.0 - report.scenario.prefix_hit)
    return Explanation(
        title="Time to first token, for comparison",
        value=duration(float(report.expected.ttft_s)),
        equation="steps of prefill over the prompt, chunk by chunk, and the first token's own",
        substituted=f"{computed:,.0f} tokens to compute: {duration(float(report.expected.ttft_s))} expected, "
        f"{duration(float(report.limit.ttft_s))} at the limit",
        inputs=(Input("prompt", f"{report.scenario.input_tokens:,} tokens", "yours"),),
        citation=_ROOFLINE,
        parts=(step_grounds(report, "prefill"),),
    )


def _total(report: Report) -> Explanation:
    step, rate = float(report.expected.decode_step_s), report.scenario.request_rate
    several = "" if report.tokens_per_step == 1.0 else f" x {report.tokens_per_step:.3g}"
    made = f"{significant(rate)} x {report.scenario.output_tokens:,}" if rate else f"{report.batch:,}{several} / {duration(step)}"
    return Explanation(
        title="Output tokens per second of the whole system",
        equation=_RATED
        if rate
        else f"B{' n' if several else ''} / T: every sequence gets {'n tokens' if several else 'one token'} per step",
        substituted=f"{made} = {significant(float(report.expected.output_tokens_per_s))} tokens/s",
        inputs=(
            Input("sequences at once", f"{report.batch:,}", "yours" if report.scenario.batch else "computed"),
            Input("step", duration(step), "see tokens per second for one user"),
            Input(
                "when prompts share the devices" if report.prefill_plan is None else "as fast as prompts come",
                f"{significant(float(report.expected.request_output_tokens_per_s))} tokens/s",
                "ledger",
            ),
        ),
        citation="J. Austin et al., How to Scale Your Model, part 7, 2025",
        value=f"{significant(float(report.expected.output_tokens_per_s))} tokens/s",
        parts=(step_grounds(report, "decode"),),
    )


def _cost(report: Report) -> Explanation:
    cost, scenario = report.cost, report.scenario
    apart = report.prefill_plan is not None
    rate = float(report.expected.request_output_tokens_per_s if apart else report.expected.output_tokens_per_s)
    devices = scenario.devices - report.prefill_devices
    share = f"{scenario.utilisation:g}"
    price = "unknown" if cost.usd_per_device_hour is None else f"{cost.usd_per_device_hour:.3g} USD/h"
    shown = "n/a" if cost.usd_per_million_output_tokens is None else f"{significant(cost.usd_per_million_output_tokens)} USD"
    return Explanation(
        title="USD per million output tokens",
        equation="n x price / (3600 x rate x utilisation) x 1,000,000"
        + (" x the share of device time that decode takes" if scenario.request_rate else ""),
        substituted=f"{devices:,} x {price} / (3600 x {significant(rate)} x {share}) x 1,000,000 = {shown}",
        inputs=(
            Input("price of a device", price, cost.basis),
            Input("devices", f"{devices:,}", "those that decode" if apart else "yours"),
            Input(
                "output rate",
                f"{significant(rate)} tokens/s",
                "as fast as prompts come" if apart else "decode alone: the devices' time is charged to what it makes",
            ),
            Input("utilisation", f"{scenario.utilisation:.0%}", "yours"),
        ),
        citation="rental price over rate, as Epoch AI and others",
        value=shown,
        parts=(*price_grounds(report), _total(report)),
    )


def _memory(report: Report) -> Explanation:
    memory = report.memory

    def gb(value: Floats) -> str:
        return memory_size(float(value))

    parts = (
        ("weights", memory.weights_bytes_per_device),
        ("cache", memory.kv_cache_bytes_per_device),
        ("activations", memory.activation_bytes_per_device),
        ("overhead", memory.overhead_bytes_per_device),
    )
    whole = f"{gb(memory.used_bytes_per_device)} of {gb(memory.usable_bytes_per_device)}"
    return Explanation(
        title="Memory of one device",
        equation="weights + sequences x cache + activations + overhead <= usable",
        substituted=" + ".join(gb(value) for _, value in parts) + f" = {whole}",
        inputs=(
            *(
                Input(name, gb(value), "ledger" if name != "overhead" else "assumption of the engine profile")
                for name, value in parts
            ),
            Input("cache of one sequence", gb(memory.kv_cache_bytes_per_sequence), "prompt plus output, all layers"),
            Input("usable memory", gb(memory.usable_bytes_per_device), report.sources["memory"]),
            Input("most sequences that fit", f"{memory.max_batch:,}", "floor of what is left over cache of one"),
        ),
        citation="J. Austin et al., How to Scale Your Model, part 8, 2025",
        value=whole,
        parts=memory_grounds(report),
    )
