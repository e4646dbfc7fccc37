"""Answers as text for a terminal, from the same JSON values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from roofline.specs.scenario import is_mixed
from roofline.units import duration, memory_size, significant, with_prefix

if TYPE_CHECKING:
    import pandas as pd

Json = dict[str, Any]
_SHOWN_COLUMNS = (
    "fits",
    "batch_used",
    "expected_tokens_per_s_per_user",
    "expected_output_tokens_per_s",
    "limit_output_tokens_per_s",
    "expected_ttft_s",
    "expected_usd_per_million_output_tokens",
    "decode_bound",
)
_MISSING = "n/a"
_ANY_NUMBER = 100_000
_GRADES = {
    "A": "facts from the vendor (grade A)",
    "B": "facts at second hand (grade B)",
    "C": "a fact that matters is unverified (grade C)",
}


def _lines(rows: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def _number(value: float | None, unit: str = "") -> str:
    return _MISSING if value is None else f"{significant(value)}{unit}"


def _time(value: float | None) -> str:
    return _MISSING if value is None else duration(value)


def _rate(answer: Json, key: str, unit: str) -> str:
    expected, limit = answer["expected"][key], answer["limit"][key]
    if expected["value"] is None:
        return _MISSING
    band = f"{_number(expected['low'])} to {_number(expected['high'])}"
    return f"{_number(expected['value'])} {unit} ({band}), limit {_number(limit)}"


def _span(answer: Json, key: str) -> str:
    expected, limit = answer["expected"][key], answer["limit"][key]
    if expected["value"] is None:
        return _MISSING
    return f"{_time(expected['value'])} ({_time(expected['low'])} to {_time(expected['high'])}), limit {_time(limit)}"


def _prefill_plan_rows(plan: Json | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    ways = f"tensor {plan['tensor_parallel']}, pipeline {plan['pipeline_parallel']}, data {plan['data_parallel']}"
    return [("prefill plan", f"{ways}, expert {plan['expert_parallel']}. {plan['why']}")]


def estimate_text(answer: Json) -> str:
    """An estimate in a dozen lines."""
    memory, cost, plan = answer["memory"], answer["cost"], answer["plan"]
    formats, ranks = answer["formats"], ", data-parallel attention" if plan["attention_data_parallel"] else ""
    ranks += f", context {plan['context_parallel']}" if plan["context_parallel"] > 1 else ""
    used, usable = memory_size(memory["used_bytes_per_device"]), memory_size(memory["usable_bytes_per_device"])
    rows = [
        ("question", f"{answer['model']} on {_machines(answer)}, batch {answer['batch']:,}"),
        (
            "formats",
            f"weights {formats['weights']}, activations {formats['activations']}, cache {formats['kv_cache']}",
        ),
        (
            "plan",
            f"tensor {plan['tensor_parallel']}, pipeline {plan['pipeline_parallel']}, data {plan['data_parallel']}, "
            f"expert {plan['expert_parallel']}{ranks}. {plan['why']}",
        ),
        *_prefill_plan_rows(answer["prefill_plan"]),
        ("per user", _rate(answer, "tokens_per_s_per_user", "tokens/s")),
        ("in total", _rate(answer, "output_tokens_per_s", "tokens/s")),
        ("time to first token", _span(answer, "ttft_s")),
        *_waiting_rows(answer["waiting"]),
        ("time per output token", _span(answer, "tpot_s")),
        *_several_tokens(answer),
        *_under_load(answer),
        ("per million output tokens", _usd(cost["usd_per_million_output_tokens"])),
        ("per million input tokens", _usd(cost["usd_per_million_input_tokens"])),
        *_cached_price(cost),
        ("price of a device", _device_price(cost)),
        (
            "memory of a device",
            f"{used} of {usable}; at most {memory['max_batch']:,} sequence{'' if memory['max_batch'] == 1 else 's'}",
        ),
        *_tiers(memory["tiers"]),
        ("", answer["sentence"]),
    ]
    if answer["link"]:
        rows.append(("page", f"http://localhost:8501/{answer['link']} (while 'sh scripts/dashboard' runs)"))
    said = ("Does not fit", "Cannot keep up")
    notes = [f"- {line}" for line in answer["reasons"] if not line.startswith(said)]
    return "\n".join([_lines(rows), *notes])


def _waiting_rows(waiting: Json | None) -> list[tuple[str, str]]:
    """Time to first token with its wait, where requests arrive at a rate."""
    if waiting is None:
        return []
    mean, half, most = (duration(waiting[f"ttft_{name}_s"]) for name in ("mean", "p50", "p99"))
    return [("  with its wait", f"{mean} on average, {half} at the median, {most} at the 99th percentile")]


def _several_tokens(answer: Json) -> list[tuple[str, str]]:
    tokens = answer["expected_tokens_per_step"]
    return [] if tokens == 1.0 else [("tokens a step", f"{tokens:.3g}, as {_span(answer, 'decode_step_s')}")]


def _under_load(answer: Json) -> list[tuple[str, str]]:
    found = answer["under_load"]
    if found is None:
        return []
    longest, mean = duration(found["chunk_step_s"]), duration(found["tpot_s"])
    return [("under load", f"{mean} a token; {longest} for the {found['chunk_steps_frac']:.1%} of steps that carry a prompt")]


def _cached_price(cost: Json) -> list[tuple[str, str]]:
    price = cost["usd_per_million_cached_input_tokens"]
    return [] if price is None else [("per million cached input tokens", _usd(price))]


def _machines(answer: Json) -> str:
    """Devices with their count; a mixed box has the counts in its name."""
    scenario, name = answer["scenario"], str(answer["hardware"])
    return name if is_mixed(scenario["hardware"]) else f"{scenario['devices']:,} x {name}"


def _tiers(tiers: list[Json]) -> list[tuple[str, str]]:
    """What every memory holds, where there are several."""
    if len(tiers) < 2:
        return []
    sizes = [(t["name"], memory_size(t["used_bytes"]), t["usable_bytes"]) for t in tiers]
    return [(name, used if usable is None else f"{used} of {memory_size(usable)}") for name, used, usable in sizes]


def _usd(value: float | None) -> str:
    return _MISSING if value is None else f"{significant(value)} USD"


def _device_price(cost: Json) -> str:
    price, basis = cost["usd_per_device_hour"], cost["basis"]
    return f"{_MISSING}: {basis}" if price is None else f"{_usd(price)}/h: {basis}"


_SHOWN_SWINGS = 8


def cost_text(answer: Json) -> str:
    """What tokens cost, reserved and used, with parts, years and what moves it."""
    cost = answer["cost"]
    rows = [("price of a device", _device_price(cost))]
    parts = cost["usd_per_device_hour_parts"] or {}
    rows += [(f"  {name.removesuffix('_usd_per_h')}", f"{_usd(value)}/h") for name, value in parts.items()]
    for label in ("reserved", "used"):
        for name, value in (cost[label] or {}).items():
            rows.append((f"{label}, {name.removeprefix('usd_').replace('_', ' ')}", _usd(value)))
    if answer["usd_per_user_month"]:
        rows.append(("per user and month", f"{_usd(answer['usd_per_user_month']['used'])} as used"))
    rows += [
        ("energy", f"{_number(cost['joules_per_output_token'])} J per output token: {cost['energy']['basis']}"),
        ("carbon", f"{_number(cost['grams_co2e_per_million_tokens'])} g CO2e per million tokens"),
    ]
    lines = [_lines(rows), *_years_text(answer["multi_year"])]
    for swing in answer["sensitivity"]["swings"][:_SHOWN_SWINGS]:
        span = f"{_number(swing['low'])} to {_number(swing['high'])} {swing['unit']}"
        lines.append(
            f"- {swing['name']}, {span}: {_number(swing['at_low'])} to {_usd(swing['at_high'])} per million output tokens"
        )
    return "\n".join([*lines, *(f"- {line}" for line in answer["reasons"])])


def _years_text(several: Json | None) -> list[str]:
    if several is None:
        return []
    rent = several["rent_present_usd"]
    beside = "" if rent is None else f", {_usd(rent)} for renting"
    n = several["years"][-1]["year"]
    return [f"{n} years are worth {_usd(several['own_present_usd'])} today for owning{beside} ({several['basis']})"]


def _payback(answer: Json) -> str:
    if answer["payback_months"] is not None:
        return f"{_number(answer['payback_months'])} months"
    life = answer["life_months"]
    return _MISSING if life is None else f"not within its life of {_number(life)} months"


def breakeven_text(answer: Json) -> str:
    """Where a system of one's own meets an API."""
    api = answer["api"]
    dated = f" ({api['source']})" if api["date"] else ""
    rows = [
        ("", answer["sentence"]),
        (api["id"], f"{_usd(answer['api_usd_per_million_tokens'])} per million tokens of this mix{dated}"),
        ("your own, reserved", f"{_usd(answer['own_reserved_usd_per_million_tokens'])} per million tokens"),
        ("your own, used", f"{_usd(answer['own_used_usd_per_million_tokens'])} per million tokens"),
        ("pays below", f"{_usd(answer['break_even_usd_per_device_hour'])} a device-hour"),
        ("paid back after", _payback(answer)),
    ]
    return _lines(rows)


def formula_text(answer: Json) -> str:
    """A formula worked out in a few lines."""
    rows = [
        (answer["name"], f"{significant(answer['value'])} {answer['unit']}".rstrip()),
        ("", answer["summary"]),
        ("equation", " ".join(answer["equation"].split())),
        *((name, f"{value:g} {answer['units'][name]}".rstrip()) for name, value in answer["inputs"].items()),
        ("assumptions", answer["assumptions"]),
        ("source", answer["source"]),
    ]
    return _lines(rows)


def fleet_text(answer: Json) -> str:
    """A fleet: the answer, every step that leads to it, and what moves it."""
    rows = [(step["name"], f"{_number(step['value'])} {step['unit']}") for step in answer["steps"]]
    lines = [answer["sentence"], _lines(rows)]
    if answer["devices"] is not None:
        lines.append(f"Were every region to serve any other: {answer['devices_if_pooled']:,} devices.")
    for swing in answer["swings"][:_SHOWN_SWINGS]:
        span = f"{_number(swing['low'])} to {_number(swing['high'])} {swing['unit']}"
        lines.append(f"- {swing['name']}, {span}: {swing['at_low']:,.0f} to {swing['at_high']:,.0f} devices")
    return "\n".join([*lines, *(f"- {line}" for line in answer["reasons"])])


def hardware_text(answer: Json) -> str:
    """A device in a few lines."""
    rows = [
        (answer["id"], f"{_full_name(answer)} ({answer['year']}), {_GRADES[answer['grade']]}"),
        (
            "memory",
            f"{with_prefix(answer['memory_bytes'], 'B')} on the label, {memory_size(answer['usable_memory_bytes'])} usable",
        ),
        ("bandwidth", with_prefix(answer["bandwidth_bytes_per_s"], "B/s")),
    ]
    for dtype, peak in answer["peak_flops_per_s"].items():
        ridge = answer["ridge_point_flops_per_byte"][dtype]
        rows.append((f"{dtype} peak", f"{with_prefix(peak, 'FLOP/s')} dense, ridge point {significant(ridge)} FLOP/B"))
    for item in answer["links"]:
        rate = with_prefix(item["bandwidth_bytes_per_s_per_direction"], "B/s")
        reach = "any number of" if item["n_devices"] >= _ANY_NUMBER else f"{item['n_devices']:,}"
        rows.append((f"{item['kind']} link", f"{item['name']}, {rate} per direction, {reach} devices"))
    if answer["tdp_w"]:
        rows.append(("power", f"{answer['tdp_w']:g} W"))
    rows += [(name, f"{fact['source']} ({fact['kind']})") for name, fact in answer["sources"].items()]
    return _lines(rows)


def measure_text(answer: Json) -> str:
    """What was measured, and where it went or what to keep."""
    lines = [hardware_text(answer), answer["note"]]
    if answer["file"]:
        name = answer["file"]
        return "\n".join(
            [*lines, f"Written to {name}: roofline estimate --model llama-3.1-8b --weights q4_k_m --hardware {name}"]
        )
    return "\n".join([*lines, "", answer["yaml"].rstrip()])


def _full_name(answer: Json) -> str:
    vendor, name = str(answer["vendor"]), str(answer["name"])
    return name if name.lower().startswith(vendor.lower()) else f"{vendor} {name}"


def model_text(answer: Json) -> str:
    """A model in a few lines."""
    parameters, cache = answer["parameters"], answer["kv_cache"]
    rows = [(answer["name"], f"{answer['layers']} layers")]
    rows += [(f"parameters, {name.replace('_', ' ')}", f"{count:,}") for name, count in parameters.items() if count]
    rows += [
        ("weights", memory_size(answer["weight_bytes"])),
        ("cache per token", f"{cache['bytes_per_token']:,.0f} B"),
        ("cache of one sequence", memory_size(cache["bytes"])),
        ("prefill", with_prefix(answer["flops"]["prefill"], "FLOP")),
        ("decode, one token", with_prefix(answer["flops"]["decode"], "FLOP")),
    ]
    if answer["experts"]:
        experts = answer["experts"]
        rows.append(
            (
                "experts",
                f"{experts['total']} of which {experts['active']} a token, {significant(experts['distinct'])} touched",
            )
        )
    return _lines(rows)


def table_text(table: pd.DataFrame) -> str:
    """A sweep: its axes and the columns people look at first."""
    axes = list(table.columns[: list(table.columns).index("batch_used")])
    return table[axes + [name for name in _SHOWN_COLUMNS if name in table]].to_string(
        index=False, float_format=lambda x: significant(x)
    )


def validation_text(answer: Json) -> str:
    """Errors by group, then what could not be compared, by reason."""
    lines = [f"{'':40} {'rows':>5} {'median':>7} {'90 %':>7} {'bias':>7} {'in band':>8}"]
    for by, groups in answer["summary"].items():
        lines.append(f"by {by}")
        for name, group in groups.items():
            errors = f"{group['median_error']:>7.1%} {group['p90_error']:>7.1%} {group['bias']:>+7.1%}"
            numbers = f"{group['n']:>5} {errors} {group['inside_band']:>8.0%}"
            lines.append(f"  {name[:38]:38} {numbers}")
    left = Counter(row["reason"] for row in answer["rows"] if not row["valid"])
    lines += [f"{count:,} left out: {reason}" for reason, count in left.most_common()]
    beaten = [item["id"] for item in answer["beats_limit"]]
    lines.append(f"above the limit: {', '.join(beaten) or 'none'}")
    return "\n".join([*lines, *(line for item in answer.get("refit", ()) for line in _refit_lines(item))])


def _refit_lines(item: Json) -> list[str]:
    """The shares of one machine before and after, its errors, and how to use them."""
    lines = [f"refit of {item['hardware']} under {item['engine']}"]
    for share in item["shares"]:
        edge = ", at the edge of what is tried" if share["at_bound"] else ""
        lines.append(f"  {share['name']:38} {share['n']:>5} {share['shipped']:>7.3f} to {share['fitted']:.3f}{edge}")
    for before, after in zip(item["before"], item["after"], strict=True):
        errors = f"{before['median_error']:>7.1%} to {after['median_error']:.1%}"
        lines.append(f"  {'median error, ' + before['name']:38} {before['n']:>5} {errors}")
    if item["constants"]:
        given = " ".join(f"--constant {name}={value:.3f}" for name, value in item["constants"].items())
        lines.append(f"  use: roofline estimate --hardware {item['hardware']} --engine {item['engine']} {given} --model …")
    return [*lines, *(f"  {reason}" for reason in item["refused"])]


_LISTED = 10
_CAUSES = {
    "facts": "lack a fact",
    "memory": "do not fit it",
    "ttft": "miss the TTFT",
    "tpot": "miss the TPOT",
    "both": "keep TTFT or TPOT, not both",
    "price": "have no price",
    "dearer": "cost more",
}


_PAID = {"rental": "rent", "ownership": "owning", "power only": "power", "yours": "you", "unknown": "n/a"}


def search_text(answer: Json) -> str:
    """The cheapest deployments as a table, and why the others lost."""
    lines = [answer["sentence"]]
    shown = answer["winners"][:_LISTED] or [item for item in (answer["nearest"],) if item]
    head = ("USD/h", "paid by", "USD/M out", "replicas", "weights", "batch", "TTFT", "TPOT", "use")
    lines += columns([head, *(_deployment_row(item) for item in shown)]) if shown else []
    causes = Counter(item["cause"] for item in answer["losers"])
    if causes:
        lines.append(f"Others: {', '.join(f'{n} {_CAUSES[cause]}' for cause, n in causes.most_common())}.")
    named = {item["cause"]: item for item in reversed(answer["losers"])}
    lines += [f"- {item['hardware']}: {item['reason']}" for item in named.values()]
    seen = answer["examined"]
    lines.append(
        f"{seen['points']:,} points: {seen['plans']:,} plans of {seen['hardware']} devices in {_time(answer['seconds'])}."
    )
    return "\n".join([*lines, *answer["notes"]])


def _deployment_row(item: Json) -> tuple[str, ...]:
    plan = item["plan"]
    names = ("tensor", "pipeline", "data", "expert")
    ways = ", ".join(f"{name} {plan[f'{name}_parallel']}" for name in names if plan[f"{name}_parallel"] > 1)
    system = f"{item['replicas']:,} of {item['devices_per_replica']} x {item['hardware_name']}" + (f" ({ways})" if ways else "")
    return (
        _number(item["usd_per_hour"]),
        _PAID[item["price_kind"]],
        _number(item["usd_per_million_output_tokens"]),
        system,
        item["weights"],
        f"{item['batch']:,}",
        _time(item["ttft_s"]),
        _time(item["tpot_s"]),
        f"{item['utilisation_frac']:.0%}",
    )


def columns(table: list[tuple[str, ...]]) -> list[str]:
    """Rows of a table with their cells under each other."""
    widths = [max(len(row[n]) for row in table) for n in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
