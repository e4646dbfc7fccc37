"""Bars with one row: memory by what fills it, time by what takes it. Plain HTML, quicker than a chart."""

from __future__ import annotations

from roofline.answers.report import Bound, Phase, Report, Share
from roofline.dashboard.text import PHASES, esc
from roofline.figures.theme import BOUND_MARKS, Palette
from roofline.figures.words import BOUND_WORDS, operator_name
from roofline.language import later, tr
from roofline.units import duration, memory_size

BOUND_NAMES: dict[Bound, str] = {
    "compute": later("compute"),
    "memory": later("memory"),
    "network": later("network"),
    "host": later("host"),
    "latency": later("latency"),
}
"""What binds, in one word."""
_WORD_SHARE = 0.1
"""Smallest share of a bar that its own word fits in."""
_WHOLE_PERCENT = 0.01
_SMALLEST_ROW = 0.002
"""Operators that take less of a step are summed up as others."""


def memory_bar(report: Report, palette: Palette, scale_bytes: float | None = None) -> str:
    """One device's memory: weights, cache, activations, overhead, free; with a scale, as long as its share of it."""
    memory = report.memory
    weights = tr("weights")
    parts = [
        (weights, float(memory.weights_bytes_per_device)),
        (tr("cache"), float(memory.kv_cache_bytes_per_device)),
        (tr("activations"), float(memory.activation_bytes_per_device)),
        (tr("overhead"), float(memory.overhead_bytes_per_device)),
    ]
    there, used = float(memory.usable_bytes_per_device), float(memory.used_bytes_per_device)
    whole = memory_span_bytes(report)
    colours = dict(zip((name for name, _ in parts), palette.parts, strict=True))
    spans = "".join(_span(name if name == weights else "", size / whole, colours[name], palette) for name, size in parts)
    items = "".join(legend_item(f"{name} {memory_size(size)}", colours[name]) for name, size in parts)
    rest = tr("the device ends at {size}", size=memory_size(there))
    if memory.fits:
        rest = tr("free {size}", size=memory_size(there - used))
    items += legend_item(rest, palette.grid if memory.fits else palette.bad)
    title = tr("{used} of {usable} usable on each device", used=memory_size(used), usable=memory_size(there))
    if not memory.fits:
        spans += f'<span class="rf-end" style="left:{there / whole:.2%}"></span>'
    length = 1.0 if scale_bytes is None else whole / scale_bytes
    return f'{_bar(spans, title, length)}<ul class="rf-legend">{items}</ul>'


def memory_span_bytes(report: Report) -> float:
    """What a bar of memory is long: what there is, or what would be needed where that is more."""
    return max(float(report.memory.usable_bytes_per_device), float(report.memory.used_bytes_per_device))


def bound_bar(report: Report, phase: Phase, palette: Palette) -> str:
    """One step by what takes its time."""
    shares = [s for s in report.shares[phase] if s.seconds > 0]
    total = sum(s.seconds for s in shares)
    spans = "".join(_span(tr(BOUND_NAMES[s.bound]), s.seconds / total, palette.bounds[s.bound], palette) for s in shares)
    items = "".join(legend_item(_share_words(s, total), palette.bounds[s.bound]) for s in shares)
    title = tr("{phase} step of {time} by what takes its time", phase=tr(PHASES[phase]), time=duration(total))
    return f'{_bar(spans, title)}<ul class="rf-legend">{items}</ul>'


def operator_bars(report: Report, phase: Phase, palette: Palette) -> str:
    """Every operator's expected time as a share of the step, longest first, coloured by what binds it; then what lies between."""
    rows = sorted((r for r in report.operators if r.phase == phase), key=lambda r: -r.expected_s)
    total = sum(share.seconds for share in report.shares[phase]) or 1.0
    between = max(0.0, total - sum(r.expected_s for r in rows))
    longest = rows[0].expected_s if rows else 1.0
    small = sum(r.expected_s for r in rows if r.expected_s / total < _SMALLEST_ROW)
    lines = [
        bar_row(
            operator_name(r.name),
            r.expected_s / longest,
            palette.bounds[r.expected_bound],
            f"{duration(r.expected_s)} · {_percent(r.expected_s / total)} · {_marked(r.expected_bound)}",
        )
        for r in rows
        if r.expected_s / total >= _SMALLEST_ROW
    ]
    if between / total >= _SMALLEST_ROW:
        words = f"{duration(between)} · {_percent(between / total)}"
        lines.append(bar_row(tr("launches, gaps and scheduling"), between / longest, palette.bounds["latency"], words))
    if small > 0:
        lines.append(bar_row(tr("others"), small / longest, palette.axis, f"{duration(small)} · {_percent(small / total)}"))
    label = tr("Expected time of {phase} by operator", phase=tr(PHASES[phase]))
    return f'<div class="rf-rows" role="group" aria-label="{esc(label)}">{"".join(lines)}</div>'


def _marked(bound: Bound) -> str:
    return f"{BOUND_MARKS[bound]} {tr(BOUND_NAMES[bound])}"


def _share_words(share: Share, total: float) -> str:
    return (
        f"{BOUND_MARKS[share.bound]} {tr(BOUND_WORDS[share.bound])} {duration(share.seconds)} ({_percent(share.seconds / total)})"
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= _WHOLE_PERCENT else tr("under 1%")


def _bar(spans: str, title: str, length: float = 1.0) -> str:
    return f'<div class="rf-stack" role="img" aria-label="{esc(title)}" style="width:{length:.1%}">{spans}</div>'


def _span(word: str, share: float, colour: str, palette: Palette) -> str:
    shown = esc(word) if share >= _WORD_SHARE else ""
    return f'<span style="width:{share:.2%};background:{colour};color:{palette.on_mark}">{shown}</span>'


def legend_item(text: str, colour: str) -> str:
    """A swatch with its words."""
    return f'<li><span class="rf-swatch" style="background:{colour}" aria-hidden="true"></span>{esc(text)}</li>'


def bar_row(name: str, share: float, colour: str, number: str) -> str:
    """One name, one bar, one number."""
    return (
        f'<div class="rf-row"><span>{esc(name)}</span>'
        f'<span class="track" aria-hidden="true"><span class="bar" style="width:{share:.2%};background:{colour}"></span></span>'
        f'<span class="num">{esc(number)}</span></div>'
    )
