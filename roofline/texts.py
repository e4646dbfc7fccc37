"""Answers as text for a terminal, from the same JSON values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from roofline.units import GIGA, duration, significant, with_prefix

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


def estimate_text(answer: Json) -> str:
    """An estimate in a dozen lines."""
    memory, cost, plan, scenario = answer["memory"], answer["cost"], answer["plan"], answer["scenario"]
    formats, ranks = answer["formats"], ", data-parallel attention" if plan["attention_data_parallel"] else ""
    used, usable = memory["used_bytes_per_device"] / GIGA, memory["usable_bytes_per_device"] / GIGA
    rows = [
        ("question", f"{answer['model']} on {scenario['devices']:,} x {answer['hardware']}, batch {answer['batch']:,}"),
        (
            "formats",
            f"weights {formats['weights']}, activations {formats['activations']}, cache {formats['kv_cache']}",
        ),
        (
            "plan",
            f"tensor {plan['tensor_parallel']}, pipeline {plan['pipeline_parallel']}, data {plan['data_parallel']}, "
            f"expert {plan['expert_parallel']}{ranks}. {plan['why']}",
        ),
        ("per user", _rate(answer, "tokens_per_s_per_user", "tokens/s")),
        ("in total", _rate(answer, "output_tokens_per_s", "tokens/s")),
        ("time to first token", _span(answer, "ttft_s")),
        ("time per output token", _span(answer, "tpot_s")),
        ("per million output tokens", f"{_number(cost['usd_per_million_output_tokens'])} USD ({cost['basis']})"),
        ("per million input tokens", f"{_number(cost['usd_per_million_input_tokens'])} USD"),
        (
            "memory of a device",
            f"{significant(used)} of {significant(usable)} GB; at most {memory['max_batch']:,} sequences",
        ),
        ("", answer["sentence"]),
    ]
    if answer["link"]:
        rows.append(("link", answer["link"]))
    notes = [f"- {line}" for line in answer["reasons"]]
    return "\n".join([_lines(rows), *notes])


def hardware_text(answer: Json) -> str:
    """A device in a few lines."""
    rows = [
        (answer["id"], f"{answer['vendor']} {answer['name']} ({answer['year']}), grade {answer['grade']}"),
        (
            "memory",
            f"{with_prefix(answer['memory_bytes'], 'B')}, usable {with_prefix(answer['usable_memory_bytes'], 'B')}",
        ),
        ("bandwidth", with_prefix(answer["bandwidth_bytes_per_s"], "B/s")),
    ]
    for dtype, peak in answer["peak_flops_per_s"].items():
        ridge = answer["ridge_point_flops_per_byte"][dtype]
        rows.append((f"{dtype} peak", f"{with_prefix(peak, 'FLOP/s')} dense, ridge point {significant(ridge)} FLOP/B"))
    for item in answer["links"]:
        rate = with_prefix(item["bandwidth_bytes_per_s_per_direction"], "B/s")
        rows.append((f"{item['kind']} link", f"{item['name']}, {rate} per direction, {item['n_devices']} devices"))
    if answer["tdp_w"]:
        rows.append(("power", f"{answer['tdp_w']:g} W"))
    rows += [(name, f"{fact['source']} ({fact['kind']})") for name, fact in answer["sources"].items()]
    return _lines(rows)


def model_text(answer: Json) -> str:
    """A model in a few lines."""
    parameters, cache = answer["parameters"], answer["kv_cache"]
    rows = [(answer["name"], f"{answer['layers']} layers")]
    rows += [(f"parameters, {name.replace('_', ' ')}", f"{count:,}") for name, count in parameters.items() if count]
    rows += [
        ("weights", with_prefix(answer["weight_bytes"], "B")),
        ("cache per token", f"{cache['bytes_per_token']:,.0f} B"),
        ("cache of one sequence", with_prefix(cache["bytes"], "B")),
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
    lines = [f"{'':40} {'rows':>5} {'median':>7} {'90 %':>7} {'in band':>8}"]
    for by, groups in answer["summary"].items():
        lines.append(f"by {by}")
        for name, group in groups.items():
            numbers = f"{group['n']:>5} {group['median_error']:>7.1%} {group['p90_error']:>7.1%} {group['inside_band']:>8.0%}"
            lines.append(f"  {name[:38]:38} {numbers}")
    left = Counter(row["reason"] for row in answer["rows"] if not row["valid"])
    lines += [f"{count:,} left out: {reason}" for reason, count in left.most_common()]
    beaten = [item["id"] for item in answer["beats_limit"]]
    return "\n".join([*lines, f"above the limit: {', '.join(beaten) or 'none'}"])
