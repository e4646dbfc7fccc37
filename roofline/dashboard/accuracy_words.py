"""The Accuracy page's sentences, cards and small tables, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.answers.accuracy import Reason, Span, Trust, factor_off
from roofline.answers.refit import Refit
from roofline.answers.validation import Comparison, Summary, speed_ratio
from roofline.dashboard.text import cards_html, esc, heading, table
from roofline.figures.accuracy_plot import KIND_WORDS
from roofline.figures.words import sig
from roofline.language import later, localised, tr

_SHORT = 60
_MOST_EXCEPTIONS = 12
PHASE_WORDS = {"decode": later("decode"), "prefill": later("prefill"), "request": later("request")}
_FAR_HEADS = (
    later("Row"),
    later("Off by"),
    later("Measured"),
    later("Expected"),
    later("Limit"),
    later("Model"),
    later("Machine"),
    later("Engine"),
    later("Kind"),
    later("Load"),
    later("Unit"),
    later("Source"),
)
_TOO_FAST, _TOO_SLOW = later("{factor:.2f} ×, too fast"), later("{factor:.2f} ×, too slow")
CONSTANT_WORDS = {
    "bandwidth_frac": later("share of memory bandwidth"),
    "compute_frac": later("share of the 16-bit peak"),
    "compute_frac_8bit": later("share of the 8-bit peak"),
    "compute_frac_4bit": later("share of the 4-bit peak"),
}

_OWN_FAST = later(
    "{rows}: median error {median:.0%} (public rows {public:.0%}), {inside:.0%} inside the band; "
    "predictions are {bias:.0%} too fast in the middle."
)
_OWN_SLOW = later(
    "{rows}: median error {median:.0%} (public rows {public:.0%}), {inside:.0%} inside the band; "
    "predictions are {bias:.0%} too slow in the middle."
)


def trust_sentence(found: Trust) -> str:
    """How far to trust a number, in one sentence."""
    return tr(
        "For half of {n:,} public measurements our prediction is within {median:.0%} of what was measured, "
        "for nine in ten within {p90:.0%}; the printed 80% band holds {inside:.0%} of them.",
        n=found.n,
        median=found.median_error,
        p90=found.p90_error,
        inside=found.inside_band,
    )


def unseen_sentence(found: Trust) -> str:
    """The same for sources the constants were not fitted on."""
    return tr(
        "These rows also served to fit our constants. For a source the fit had not seen, expect more: a median error of "
        "{median} and {p90} for nine in ten, by kind of measurement, with {inside:.0%} inside the band.",
        median=_between(found.left_out_median),
        p90=_between(found.left_out_p90),
        inside=found.left_out_inside,
    )


def limit_sentence(found: Trust) -> str:
    """Whether anything real is better than its limit."""
    if found.beats_limit:
        n, names = len(found.beats_limit), ", ".join(row.id for row in found.beats_limit)
        return tr("{n:,} of {of:,} measurements that count beat the limit: {names}.", n=n, of=found.n, names=names)
    return tr("None of the {n:,} measurements that count beats the limit.", n=found.n)


def exceptions_html(found: Trust) -> str:
    """Rows that beat the limit and do not count, by name, with the cause."""
    if not found.exceptions:
        return ""
    causes = sorted({row.reason for row in found.exceptions})
    parts = []
    for cause in causes:
        rows = [row for row in found.exceptions if row.reason == cause]
        names = ", ".join(row.id for row in rows[:_MOST_EXCEPTIONS])
        n = localised(f"{len(rows):,}")
        parts.append(f"<li>{n} ({esc(names)}): {esc(cause)}.</li>")
    words = esc(tr("Among the rows left out, these are above it:"))
    return f'<p class="rf-note">{words}</p><ul class="rf-list">{"".join(parts)}</ul>'


def trust_cards(found: Trust) -> str:
    """The four headline numbers."""
    beaten = tr("of {n:,} that count, from {sources:,} sources", n=found.n, sources=found.n_sources)
    cards = (
        (tr("Half are within"), _percent(found.median_error), _not_seen(_between(found.left_out_median))),
        (tr("Nine in ten are within"), _percent(found.p90_error), _not_seen(_between(found.left_out_p90))),
        (tr("Inside the printed 80% band"), _percent(found.inside_band), _not_seen(_percent(found.left_out_inside))),
        (tr("Better than the limit"), localised(f"{len(found.beats_limit):,}"), beaten),
    )
    return cards_html(cards)


def _not_seen(error: str) -> str:
    return tr("{error} for a source not seen", error=error)


def furthest_table(rows: Sequence[Comparison]) -> str:
    """The rows furthest off, with what they are."""
    head = [tr(words) for words in _FAR_HEADS]
    return f'<div class="rf-wide">{table(head, [_far_row(row) for row in rows], caption=tr("Rows furthest off"))}</div>'


def _far_row(row: Comparison) -> tuple[object, ...]:
    machine = f"{row.devices} × {row.hardware}" if row.devices not in ("", "1") else row.hardware
    load = tr("batch {batch}, {input} in / {output} out", batch=row.batch, input=row.input_length, output=row.output_length)
    off = tr(_TOO_FAST if speed_ratio(row) > 1 else _TOO_SLOW, factor=factor_off(row))
    numbers = tuple(sig(value) for value in (row.measured, row.expected, row.limit))
    kind = tr(KIND_WORDS[row.kind]) if row.kind in KIND_WORDS else row.kind
    return (row.id, off, *numbers, row.model, machine, row.engine, kind, load, row.metric, row.source)


def reasons_table(found: Sequence[Reason]) -> str:
    """Why rows do not count."""
    rows = [(localised(f"{item.n:,}"), item.reason.rstrip("."), ", ".join(item.kinds)) for item in found]
    head = (tr("Rows"), tr("Reason"), tr("Kind in the table"))
    return table(head, rows, caption=tr("Rows left out, by reason"))


def problems_html(rows: Sequence[Comparison]) -> str:
    """Rows of the person's own that could not be compared, beside the field."""
    items = "".join(f"<li><strong>{esc(short(row.id))}</strong>: {esc(row.reason)}</li>" for row in rows)
    n = len(rows)
    count = tr("1 row could not be compared:") if n == 1 else tr("{n:,} rows could not be compared:", n=n)
    return f'<div class="rf-bad" role="alert"><p class="rf-bad">{esc(count)}</p><ul class="rf-list">{items}</ul></div>'


def own_sentence(public: Trust, own: Summary) -> str:
    """One's own rows beside the public ones."""
    rows = tr("Your 1 row") if own.n == 1 else tr("Your {n:,} rows", n=own.n)
    return tr(
        _OWN_FAST if own.bias > 0 else _OWN_SLOW,
        rows=rows,
        median=own.median_error,
        public=public.median_error,
        inside=own.inside_band,
        bias=abs(own.bias),
    )


def refit_html(found: Refit) -> str:
    """One machine's shares and errors, before and after, and how to use them."""
    parts = [heading(tr("{hardware} under {engine}", hardware=found.hardware, engine=found.engine), level=3)]
    if found.shares:
        rows = [
            (tr(CONSTANT_WORDS[share.name]), _share(share.shipped), _fitted(share.fitted, share.at_bound), f"{share.n}")
            for share in found.shares
        ]
        head = (tr("Constant"), tr("Shipped"), tr("Yours"), tr("Rows"))
        parts.append(table(head, rows, caption=tr("Constants before and after")))
        errors = [
            (tr(PHASE_WORDS[before.name]), f"{before.n}", _error(before), _error(after))
            for before, after in zip(found.before, found.after, strict=True)
        ]
        head = (tr("Phase"), tr("Rows"), tr("Error before"), tr("Error after"))
        parts.append(table(head, errors, caption=tr("Errors before and after")))
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
    return tr("median {median:.1%}, bias {bias:+.1%}", median=found.median_error, bias=found.bias)


def _fitted(value: float, at_bound: bool) -> str:
    return tr("{share}, the edge of what is tried", share=_share(value)) if at_bound else _share(value)


def _between(span: Span) -> str:
    return tr("{low:.0%} to {high:.0%}", low=span[0], high=span[1])


def _percent(value: float) -> str:
    return localised(f"{value:.0%}")


def _share(value: float) -> str:
    return localised(f"{value:.3f}")
