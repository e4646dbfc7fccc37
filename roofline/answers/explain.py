"""Why a headline number is what it is: formula, your values, inputs, sources, and what they rest on in turn."""

from __future__ import annotations

from roofline.answers.explain_parts import memory_grounds, price_grounds, step_grounds
from roofline.answers.report import BOUND_NAMES, Explanation, Input, Report
from roofline.language import later, localised, tr
from roofline.units import Floats, duration, memory_size, significant, with_prefix

_STEP = (
    "T = sum over operators of smax(FLOPs / (gamma peak), bytes / (beta bandwidth)) "
    "+ collectives + layers x tau_L + tau_S + tau_q B, with smax(x, y) = sqrt(x^2 + y^2)"
)
_SYMBOLS = {
    later("share of memory bandwidth"): "beta",
    later("share of the dense peak"): "gamma",
    later("time per layer, s"): "tau_L",
    later("time per step, s"): "tau_S",
    later("time per sequence and step, s"): "tau_q",
}
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
    names = (tr("memory bandwidth"), tr("{rate} peak", rate=report.formats.gemm_rate))
    rows = [Input(name, report.sources[name].partition(" (")[0], report.sources[name]) for name in names]
    rows.append(Input(tr("model"), report.model_name, report.sources[tr("model structure")]))
    return tuple(rows)


def _per_user(report: Report) -> Explanation:
    step, limit = float(report.expected.decode_step_s), float(report.limit.decode_step_s)
    shares = (share for share in report.shares["decode"] if share.seconds > 0)
    parts = " + ".join(f"{duration(share.seconds)} {tr(BOUND_NAMES[share.bound])}" for share in shares)
    used = sum(row.bytes for row in report.operators if row.phase == "decode")
    work = sum(row.flops for row in report.operators if row.phase == "decode")
    n, symbols = localised(f"{report.tokens_per_step:.3g}"), {tr(name): symbol for name, symbol in _SYMBOLS.items()}
    share, value = _decode_share(report), _rate(report.expected.tokens_per_s_per_user)
    shared = "" if share is None else f"{significant(share)} x "
    symbol = ("s x " if shared else "") + ("1" if report.tokens_per_step == 1.0 else "n")
    return Explanation(
        title=tr("Tokens per second for one user"),
        equation=tr("{n} / T with {equation}", n=symbol, equation=_STEP)
        + (tr("; s is the share of every second that prefill leaves") if shared else ""),
        substituted=tr(
            "{n} / ({parts}) = {n} / {step} = {value}; the limit is {of_limit} / {limit}",
            n=f"{shared}{n}",
            parts=parts,
            step=duration(step),
            value=value,
            of_limit=n,
            limit=duration(limit),
        ),
        inputs=(
            Input(tr("read per device and step"), with_prefix(used, "B"), tr("ledger: weights, experts touched, cache")),
            Input(tr("computed per device and step"), with_prefix(work, "FLOP"), tr("ledger")),
            Input(
                tr("mean context"), tr("{tokens:,.0f} tokens", tokens=report.context_tokens), tr("prompt plus half the output")
            ),
            *_facts(report),
            *(Input(f"{symbols[a.name]}: {a.name}", a.value, a.basis) for a in report.assumptions if a.name in symbols),
        ),
        citation=_ROOFLINE,
        value=value,
        plain=_plain_step(report),
        parts=(step_grounds(report, "decode"), _first_token(report)),
    )


def _plain_step(report: Report) -> str:
    most = max(report.shares["decode"], key=lambda share: share.seconds)
    values = {
        "step": duration(float(report.expected.decode_step_s)),
        "rate": _rate(report.expected.tokens_per_s_per_user),
        "time": duration(most.seconds),
        "bound": tr(BOUND_NAMES[most.bound]),
    }
    if report.tokens_per_step == 1.0:
        return tr(
            "A step writes one token for each user and takes {step}: {rate}. Most of it, {time}, goes to {bound}.", **values
        )
    return tr(
        "A step writes {n} tokens for each user on average and takes {step}: {rate}. Most of it, {time}, goes to {bound}.",
        n=localised(f"{report.tokens_per_step:.3g}"),
        **values,
    )


def _decode_share(report: Report) -> float | None:
    """Share of the devices' time that prefill leaves to decode where requests arrive at a rate; None where nothing is shared."""
    scenario, expected = report.scenario, report.expected
    if scenario.request_rate is None or report.prefill_plan is not None:
        return None
    return float(expected.decode_step_s / (expected.tpot_s * report.tokens_per_step))


def _rate(tokens_per_s: Floats) -> str:
    return tr("{rate} tokens/s", rate=significant(float(tokens_per_s)))


def _first_token(report: Report) -> Explanation:
    """Time to first token: not a headline of its own, but the other half of what a person feels."""
    computed = report.scenario.input_tokens * (1.0 - report.scenario.prefix_hit)
    return Explanation(
        title=tr("Time to first token, for comparison"),
        value=duration(float(report.expected.ttft_s)),
        equation=tr("steps of prefill over the prompt, chunk by chunk, and the first token's own"),
        substituted=tr(
            "{tokens:,.0f} tokens to compute: {expected} expected, {limit} at the limit",
            tokens=computed,
            expected=duration(float(report.expected.ttft_s)),
            limit=duration(float(report.limit.ttft_s)),
        ),
        inputs=(Input(tr("prompt"), tr("{tokens:,} tokens", tokens=report.scenario.input_tokens), tr("yours")),),
        citation=_ROOFLINE,
        parts=(step_grounds(report, "prefill"),),
    )


def _total(report: Report) -> Explanation:
    step, rate = float(report.expected.decode_step_s), report.scenario.request_rate
    several = "" if report.tokens_per_step == 1.0 else localised(f" x {report.tokens_per_step:.3g}")
    batch = localised(f"{report.batch:,}")
    arriving = localised(f"{report.scenario.output_tokens:,}")
    made = f"{significant(rate)} x {arriving}" if rate else f"{batch}{several} / {duration(step)}"
    value = _rate(report.expected.output_tokens_per_s)
    return Explanation(
        title=tr("Output tokens per second of the whole system"),
        equation=_total_equation(rated=bool(rate), several=bool(several)),
        substituted=f"{made} = {value}",
        inputs=(
            Input(tr("sequences at once"), batch, tr("yours") if report.scenario.batch else tr("computed")),
            Input(tr("step"), duration(step), tr("see tokens per second for one user")),
            Input(
                tr("when prompts share the devices") if report.prefill_plan is None else tr("as fast as prompts come"),
                _rate(report.expected.request_output_tokens_per_s),
                tr("ledger"),
            ),
        ),
        citation="J. Austin et al., How to Scale Your Model, part 7, 2025",
        value=value,
        plain=tr(
            "{batch:,} sequences are written at once, a step takes {step}: together {rate}.",
            batch=report.batch,
            step=duration(step),
            rate=value,
        ),
        parts=(step_grounds(report, "decode"),),
    )


def _total_equation(*, rated: bool, several: bool) -> str:
    if rated:
        return tr("requests/s x output tokens: what arrives is what leaves")
    if several:
        return tr("B n / T: every sequence gets n tokens per step")
    return tr("B / T: every sequence gets one token per step")


def _cost(report: Report) -> Explanation:
    cost, scenario = report.cost, report.scenario
    apart = report.prefill_plan is not None
    rate = float(report.expected.request_output_tokens_per_s if apart else report.expected.output_tokens_per_s)
    devices, million = localised(f"{scenario.devices - report.prefill_devices:,}"), localised("1,000,000")
    use, share = localised(f"{scenario.utilisation:g}"), _decode_share(report)
    hourly = cost.usd_per_device_hour_decoding
    price = tr("unknown") if hourly is None else f"{significant(hourly)} USD/h"
    shown = "n/a" if cost.usd_per_million_output_tokens is None else f"{significant(cost.usd_per_million_output_tokens)} USD"
    equation = (
        tr("n x price / (3600 x rate x utilisation) x 1,000,000 x the share of device time that decode takes")
        if share is not None
        else tr("n x price / (3600 x rate x utilisation) x 1,000,000")
    )
    shared, shares = "", tuple[Input, ...]()
    if share is not None:
        shared = f" x {significant(share)}"
        shares = (Input(tr("share of device time that decode takes"), significant(share), tr("what prefill leaves of a second")),)
    paid_by_load = cost.usd_per_device_hour_parts is not None
    basis = cost.basis + (tr("; while it decodes, with the power that this takes") if paid_by_load else "")
    return Explanation(
        title=tr("USD per million output tokens"),
        equation=equation,
        substituted=f"{devices} x {price} / (3600 x {significant(rate)} x {use}) x {million}{shared} = {shown}",
        inputs=(
            Input(tr("price of a device"), price, basis),
            Input(tr("devices"), devices, tr("those that decode") if apart else tr("yours")),
            Input(
                tr("output rate"),
                _rate(rate),
                tr("as fast as prompts come") if apart else tr("decode alone: the devices' time is charged to what it makes"),
            ),
            Input(tr("utilisation"), localised(f"{scenario.utilisation:.0%}"), tr("yours")),
            *shares,
        ),
        citation=tr("rental price over rate, as Epoch AI and others"),
        value=shown,
        plain=tr(
            "A device costs {price}; {devices} of them write {rate} and are used {share:.0%} of the time: {usd} a million.",
            price=price,
            devices=devices,
            rate=_rate(rate),
            share=scenario.utilisation,
            usd=shown,
        ),
        parts=(*price_grounds(report), _total(report)),
    )


def _memory(report: Report) -> Explanation:
    memory = report.memory

    def gb(value: Floats) -> str:
        return memory_size(float(value))

    parts = (
        (tr("weights"), memory.weights_bytes_per_device, tr("ledger")),
        (tr("cache"), memory.kv_cache_bytes_per_device, tr("ledger")),
        (tr("activations"), memory.activation_bytes_per_device, tr("ledger")),
        (tr("overhead"), memory.overhead_bytes_per_device, tr("assumption of the engine profile")),
    )
    whole = tr("{used} of {usable}", used=gb(memory.used_bytes_per_device), usable=gb(memory.usable_bytes_per_device))
    most, of_one = localised(f"{memory.max_batch:,}"), gb(memory.kv_cache_bytes_per_sequence)
    return Explanation(
        title=tr("Memory of one device"),
        equation=tr("weights + sequences x cache + activations + overhead <= usable"),
        substituted=" + ".join(gb(value) for _, value, _ in parts) + f" = {whole}",
        inputs=(
            *(Input(name, gb(value), source) for name, value, source in parts),
            Input(tr("cache of one sequence"), of_one, tr("prompt plus output, all layers")),
            Input(tr("usable memory"), gb(memory.usable_bytes_per_device), report.sources[tr("memory")]),
            Input(tr("most sequences that fit"), most, tr("floor of what is left over cache of one")),
        ),
        citation="J. Austin et al., How to Scale Your Model, part 8, 2025",
        value=whole,
        plain=tr(
            "Weights take {weights}, {batch:,} sequences {cache}; in all {used} of {usable} are used. At most {most} fit.",
            weights=gb(memory.weights_bytes_per_device),
            batch=report.batch,
            cache=gb(memory.kv_cache_bytes_per_device),
            used=gb(memory.used_bytes_per_device),
            usable=gb(memory.usable_bytes_per_device),
            most=most,
        ),
        parts=memory_grounds(report),
    )
