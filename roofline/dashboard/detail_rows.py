"""Rows that only some answers have: waiting, tokens per step, pools, tiers of memory, used and reserved prices, energy."""

from __future__ import annotations

from collections.abc import Iterator

from roofline.answers.longest_context import MOST_CONTEXT_TOKENS, most_context_tokens
from roofline.answers.report import MemoryTier, Plan, Report, Waiting
from roofline.answers.resolve import resolve
from roofline.dashboard import detail_words as words
from roofline.dashboard.bars import bar_row
from roofline.dashboard.text import esc, heading, table
from roofline.figures.theme import Palette
from roofline.figures.words import sig
from roofline.language import tr
from roofline.units import duration, memory_size

_ONE = 1.0


def running_html(report: Report) -> str:
    """How steps run where that is out of the ordinary; nothing where it is not."""
    rows = list(_running_rows(report))
    return _titled(words.RUNNING, rows) if rows else ""


def _running_rows(report: Report) -> Iterator[tuple[str, str]]:
    if report.tokens_per_step != _ONE:
        yield tr(words.TOKENS_PER_STEP), tr(words.TOKENS_PER_STEP_VALUE, tokens=sig(report.tokens_per_step))
        yield tr(words.STEP), duration(float(report.expected.decode_step_s))
    if report.prefill_plan is not None:
        yield tr(words.PREFILL_POOL, n=report.prefill_devices), plan_words(report.prefill_plan)
        yield tr(words.DECODE_POOL, n=report.scenario.devices - report.prefill_devices), plan_words(report.plan)
    if report.offload != "none":
        yield tr(words.OFFLOAD), f"{report.offload}. {report.plan.why}"


def context_rows(report: Report) -> Iterator[tuple[str, str]]:
    """The longest context that so many sequences have room for, under the plan that has most; shared devices only."""
    if report.scenario.prefill_devices is not None:
        return
    scenario = report.scenario.model_copy(update={"offload": report.offload})
    found = resolve(scenario)
    tokens, trained = most_context_tokens(scenario, found, report.batch), found.model.trained_context
    text = (
        tr(words.TOKENS_OR_MORE if tokens >= MOST_CONTEXT_TOKENS else words.TOKENS, n=tokens) if tokens else tr(words.NONE_FITS)
    )
    if trained is not None and tokens > trained:
        text = tr(words.BEYOND_TRAINED, tokens=text, trained=trained)
    yield tr(words.LONGEST_CONTEXT), text


def plan_words(plan: Plan) -> str:
    """A plan by its ways, with why it was taken."""
    ways = (
        (words.TENSOR, plan.tensor_parallel),
        (words.PIPELINE, plan.pipeline_parallel),
        (words.DATA, plan.data_parallel),
        (words.EXPERT, plan.expert_parallel),
        (words.CONTEXT, plan.context_parallel),
    )
    shown = [f"{tr(name)} {n}" for name, n in ways if n > 1] or [tr(words.NOTHING_DIVIDED)]
    return f"{', '.join(shown)}. {plan.why}"


def waiting_html(waiting: Waiting | None) -> str:
    """Time to first token with the wait before it, at a request rate."""
    if waiting is None:
        return ""
    rows = [
        (words.SERVICE, duration(float(waiting.service_s))),
        (words.WAIT, duration(float(waiting.mean_wait_s))),
        (words.FIRST_MEAN, duration(float(waiting.ttft_mean_s))),
        (words.FIRST_P50, duration(float(waiting.ttft_p50_s))),
        (words.FIRST_P90, duration(float(waiting.ttft_p90_s))),
        (words.FIRST_P99, duration(float(waiting.ttft_p99_s))),
        (words.BUSY, f"{float(waiting.prefill_busy_frac):.0%}"),
    ]
    return _titled(words.WAITING, [(tr(name), value) for name, value in rows], tr(words.WAITING_KEY))


def tiers_html(report: Report, palette: Palette) -> str:
    """Every memory that holds part of the model, where there are several."""
    tiers = report.memory.tiers
    if len(tiers) <= 1:
        return ""
    bars = "".join(_tier_row(tier, palette) for tier in tiers)
    bars = f'<div class="rf-rows" role="group" aria-label="{esc(tr(words.TIERS))}">{bars}</div>'
    rows = [(tier.name, memory_size(tier.weights_bytes), memory_size(tier.kv_cache_bytes)) for tier in tiers]
    title = heading(tr(words.TIERS), tr(words.TIERS_KEY))
    return title + bars + table([tr(name) for name in words.TIER_COLUMNS], rows, caption=tr(words.TIERS))


def _tier_row(tier: MemoryTier, palette: Palette) -> str:
    used = memory_size(tier.used_bytes)
    if tier.usable_bytes is None:
        return bar_row(tier.name, _ONE, palette.parts[2], tr(words.TIER_DISK, used=used))
    share = tier.used_bytes / tier.usable_bytes
    colour = palette.parts[0] if share <= _ONE else palette.bad
    number = tr(words.TIER_OF if share <= _ONE else words.TIER_OVER, used=used, usable=memory_size(tier.usable_bytes))
    return bar_row(tier.name, min(_ONE, share), colour, number)


def reserved_html(report: Report) -> str:
    """Each price as reserved, at full use, and as used, over the utilisation."""
    reserved, used = report.cost.reserved, report.cost.used
    if reserved is None or used is None:
        return ""
    names = {
        words.INPUT: "usd_per_million_input_tokens",
        words.CACHED: "usd_per_million_cached_input_tokens",
        words.OUTPUT: "usd_per_million_output_tokens",
        words.BOTH: "usd_per_million_tokens",
        words.REQUEST: "usd_per_request",
    }
    rows = [(tr(label), sig(getattr(reserved, name)), sig(getattr(used, name))) for label, name in names.items()]
    title = heading(tr(words.RESERVED), tr(words.RESERVED_KEY, utilisation=report.scenario.utilisation))
    return title + table([tr(name) for name in words.RESERVED_COLUMNS], rows, caption=tr(words.RESERVED))


def energy_html(report: Report) -> str:
    """Joules and carbon dioxide of tokens, with what they rest on; and the parts of an owned device's hour."""
    energy, parts = report.cost.energy, report.cost.usd_per_device_hour_parts
    rows: list[tuple[str, str]] = []
    if energy is not None:
        rows = [
            (words.JOULES_OUTPUT, sig(energy.joules_per_output_token)),
            (words.JOULES_INPUT, sig(energy.joules_per_input_token)),
            (words.CARBON_BOTH, sig(energy.grams_co2e_per_million_tokens)),
            (words.CARBON_OUTPUT, sig(energy.grams_co2e_per_million_output_tokens)),
            (words.POWER, sig(energy.device_power_w)),
            (words.BASIS, energy.basis),
        ]
    if parts is not None:
        rows += [
            (words.CAPITAL, sig(parts.capital_usd_per_h)),
            (words.ELECTRICITY, sig(parts.electricity_usd_per_h)),
            (words.HOSTING, sig(parts.hosting_usd_per_h)),
            (words.STAFF, sig(parts.staff_usd_per_h)),
        ]
    return _titled(words.ENERGY, [(tr(name), value) for name, value in rows]) if rows else ""


def _titled(title: str, rows: list[tuple[str, str]], key: str = "") -> str:
    """Names with their values under a heading; the title is yet to be translated."""
    head = [tr(name) for name in words.WHAT_VALUE]
    return heading(tr(title), key) + table(head, rows, caption=tr(title))
