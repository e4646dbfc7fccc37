"""The Accuracy page's sentences, cards and small tables, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.answers.accuracy import Reason, Span, Trust, factor_off
from roofline.answers.refit import Refit
from roofline.answers.validation import Comparison, Summary, speed_ratio
from roofline.dashboard.text import cards_html, esc, table
from roofline.figures.accuracy_plot import KIND_WORDS
from roofline.figures.words import sig

_SHORT = 60
_MOST_EXCEPTIONS = 12
CONSTANT_WORDS = {
    "bandwidth_frac": "share of memory bandwidth",
    "compute_frac": "share of the 16-bit peak",
    "compute_frac_8bit": "share of the 8-bit peak",
    "compute_frac_4bit": "share of the 4-bit peak",
}


def trust_sentence(found: Trust) -> str:
    """How far to trust a number, in one sentence."""
    return (
        f"For half of {found.n:,} public measurements our prediction is within {found.median_error:.0%} of what was measured, "
        f"for nine in ten within {found.p90_error:.0%}; the printed 80% band holds {found.inside_band:.0%} of them."
    )


def unseen_sentence(found: Trust) -> str:
    """The same for sources the constants were not fitted on."""
    return (
        f"These rows also served to fit our constants. For a source the fit had not seen, expect more: a median error of "
        f"{_between(found.left_out_median)} and {_between(found.left_out_p90)} for nine in ten, by kind of measurement, "
        f"with {found.left_out_inside:.0%} inside the band."
    )


def limit_sentence(found: Trust) -> str:
    """Whether anything real is better than its limit."""
    if found.beats_limit:
        names = ", ".join(row.id for row in found.beats_limit)
        return f"{len(found.beats_limit):,} of {found.n:,} measurements that count beat the limit: {names}."
    return f"None of the {found.n:,} measurements that count beats the limit."


def exceptions_html(found: Trust) -> str:
    """Rows that beat the limit and do not count, by name, with the cause."""
    if not found.exceptions:
        return ""
    causes = sorted({row.reason for row in found.exceptions})
    parts = []
    for cause in causes:
        rows = [row for row in found.exceptions if row.reason == cause]
        names = ", ".join(row.id for row in rows[:_MOST_EXCEPTIONS])
        parts.append(f"<li>{len(rows):,} ({esc(names)}): {esc(cause)}.</li>")
    words = "Among the rows left out, these are above it:"
    return f'<p class="rf-note">{words}</p><ul class="rf-list">{"".join(parts)}</ul>'


def trust_cards(found: Trust) -> str:
    """The four headline numbers."""
    cards = (
        ("Half are within", f"{found.median_error:.0%}", f"{_between(found.left_out_median)} for a source not seen"),
        ("Nine in ten are within", f"{found.p90_error:.0%}", f"{_between(found.left_out_p90)} for a source not seen"),
        ("Inside the printed 80% band", f"{found.inside_band:.0%}", f"{found.left_out_inside:.0%} for a source not seen"),
        ("Better than the limit", f"{len(found.beats_limit):,}", f"of {found.n:,} that count, from {found.n_sources:,} sources"),
    )
    return cards_html(cards)


def furthest_table(rows: Sequence[Comparison]) -> str:
    """The rows furthest off, with what they are."""
    head = ("Row", "Off by", "Measured", "Expected", "Limit", "Model", "Machine", "Engine", "Kind", "Load", "Unit", "Source")
    return f'<div class="rf-wide">{table(head, [_far_row(row) for row in rows], caption="Rows furthest off")}</div>'


def _far_row(row: Comparison) -> tuple[object, ...]:
    machine = f"{row.devices} × {row.hardware}" if row.devices not in ("", "1") else row.hardware
    load = f"batch {row.batch}, {row.input_length} in / {row.output_length} out"
    off = f"{factor_off(row):.2f} ×, too {'fast' if speed_ratio(row) > 1 else 'slow'}"
    numbers = tuple(sig(value) for value in (row.measured, row.expected, row.limit))
    kind = KIND_WORDS.get(row.kind, row.kind)
    return (row.id, off, *numbers, row.model, machine, row.engine, kind, load, row.metric, row.source)


def reasons_table(found: Sequence[Reason]) -> str:
    """Why rows do not count."""
    rows = [(f"{item.n:,}", item.reason.rstrip("."), ", ".join(item.kinds)) for item in found]
    return table(("Rows", "Reason", "Kind in the table"), rows, caption="Rows left out, by reason")


def problems_html(rows: Sequence[Comparison]) -> str:
    """Rows of the person's own that could not be compared, beside the field."""
    items = "".join(f"<li><strong>{esc(short(row.id))}</strong>: {esc(row.reason)}</li>" for row in rows)
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'} could not be compared:"
    return f'<div class="rf-bad" role="alert"><p class="rf-bad">{count}</p><ul class="rf-list">{items}</ul></div>'


def own_sentence(public: Trust, own: Summary) -> str:
    """One's own rows beside the public ones."""
    side = "too fast" if own.bias > 0 else "too slow"
    return (
        f"Your {own.n:,} row{'' if own.n == 1 else 's'}: median error {own.median_error:.0%} "
        f"(public rows {public.median_error:.0%}), {own.inside_band:.0%} inside the band; "
        f"predictions are {abs(own.bias):.0%} {side} in the middle."
    )


def refit_html(found: Refit) -> str:
    """One machine's shares and errors, before and after, and how to use them."""
    parts = [f'<h3 class="rf-h">{esc(found.hardware)} under {esc(found.engine)}</h3>']
    if found.shares:
        rows = [
            (CONSTANT_WORDS[share.name], f"{share.shipped:.3f}", _fitted(share.fitted, share.at_bound), f"{share.n:,}")
            for share in found.shares
        ]
        parts.append(table(("Constant", "Shipped", "Yours", "Rows"), rows, caption="Constants before and after"))
        errors = [
            (before.name, f"{before.n:,}", _error(before), _error(after))
            for before, after in zip(found.before, found.after, strict=True)
        ]
        parts.append(table(("Phase", "Rows", "Error before", "Error after"), errors, caption="Errors before and after"))
        parts.append(f'<p class="rf-equation">{esc(use_words(found))}</p>')
    parts += [f'<p class="rf-note">{esc(reason)}</p>' for reason in found.refused]
    return "".join(parts)


def use_words(found: Refit) -> str:
    """The constants in use: as a command, and in Python."""
    given = " ".join(f"--constant {name}={value:.3f}" for name, value in found.constants.items())
    inside = ", ".join(f'"{name}": {value:.3f}' for name, value in found.constants.items())
    return (
        f"roofline estimate --hardware {found.hardware} --engine {found.engine} {given} --model …\n"
        f"evaluate(scenario, constants={{{inside}}})"
    )


def short(text: str) -> str:
    """A text of somebody else's, short."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _error(found: Summary) -> str:
    return f"median {found.median_error:.1%}, bias {found.bias:+.1%}"


def _fitted(value: float, at_bound: bool) -> str:
    return f"{value:.3f}, the edge of what is tried" if at_bound else f"{value:.3f}"


def _between(span: Span) -> str:
    return f"{span[0]:.0%} to {span[1]:.0%}"
