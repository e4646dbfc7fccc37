"""One entry of the catalogue laid out: facts, prices, sources, marks; and the key of the roofline that compares devices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from roofline.answers.browse import ModelRow, Roof, is_old
from roofline.catalog.models import ModelEntry
from roofline.dashboard.details import facts_html, source_html
from roofline.dashboard.text import Markup, count_words, esc, gb, heading, notice, table
from roofline.figures.device_roofs import DASHES, LETTERS, MARKS
from roofline.figures.theme import Palette
from roofline.figures.words import sig
from roofline.specs.hardware import Accelerator, Price
from roofline.specs.model import ModelSpec
from roofline.units import with_prefix

_GRADE_WORDS = {
    "A": "Evidence A: facts from the vendor's own documents.",
    "B": "Evidence B: some facts from secondary sources.",
    "C": "Evidence C: a fact that the roofline rests on is unverified.",
}
_DASH_WORDS = dict(zip(DASHES, ("solid", "dashed", "dotted", "dash and dot"), strict=True))


def device_html(device: Accelerator) -> str:
    """What the catalogue knows about a device, but for its prices."""
    state = " Announced, not shipping." if device.announced else ""
    memory = f" {esc(device.memory_type)} memory." if device.memory_type else ""
    first = f"{esc(device.vendor)}, {esc(device.category)}, {device.year}.{memory}{state} {_grade(device)}"
    names = f'<p class="rf-note">Also found as {esc(", ".join(device.aliases))}.</p>' if device.aliases else ""
    note = f'<p class="rf-note">{esc(device.note)}</p>' if device.note else ""
    return f'<p class="rf-answer">{first}</p>{note}{names}{facts_html(device)}'


def _grade(device: Accelerator) -> str:
    words = _GRADE_WORDS[device.grade]
    return f'<span class="rf-mark">{words}</span>' if device.grade == "C" else words


def prices_html(prices: Sequence[Price], today: date) -> str:
    """Quotes, each with its date; undated and old ones are marked."""
    rows = [
        (
            price.kind,
            f"{price.amount.value:g} {price.amount.unit}",
            price.provider,
            _dated(price.date, today),
            ", ".join(filter(None, (price.commitment, price.region))),
            source_html(price.amount.source),
        )
        for price in prices
    ]
    return table(("Kind", "Price", "By", "Date", "Terms", "Source"), rows, caption="Prices of the device")


def _dated(day: str, today: date) -> str:
    if not day:
        return Markup('<span class="rf-mark">undated</span>')
    return Markup(f'{esc(day)} <span class="rf-mark">over a year old</span>') if is_old(day, today) else day


def model_html(row: ModelRow, entry: ModelEntry, model: ModelSpec, assumptions: Sequence[str]) -> str:
    """Everything the catalogue knows about a model."""
    experts = f"{row.n_active_experts} of {row.n_experts} a layer" if row.n_experts else "none: dense"
    share = "all" if row.active_parameters == row.total_parameters else count_words(row.active_parameters)
    rows = [
        ("Parameters", count_words(row.total_parameters)),
        ("Active for a token", share),
        ("Experts", experts),
        ("Layers, width", f"{row.n_layers:,}, {model.hidden_size:,}"),
        ("Vocabulary", f"{model.vocabulary:,}"),
        ("Trained for", f"{row.trained_context:,} tokens" if row.trained_context else "not stated"),
        ("Weights", f"{gb(row.weight_bytes)}, mostly {row.stored_format}"),
        ("Cache, 16 bit", f"{gb(row.cache_bytes_per_token)} per token" if row.cache_bytes_per_token else "none that grows"),
        ("Architecture", model.architecture),
        ("Released", row.released),
        ("Configuration from", _origin(entry.source)),
        ("Also found as", ", ".join(entry.aliases) or "this name only"),
    ]
    words = "Written down again from its known values." if row.reconstructed else "Counted from its published configuration."
    mark = f'<span class="rf-mark">Reconstructed.</span> {words}' if row.reconstructed else words
    note = f" {esc(entry.note[:1].upper() + entry.note[1:])}." if entry.note else ""
    items = "".join(f"<li>{esc(line)}</li>" for line in assumptions)
    assumed = heading("Assumptions", "", 3) + f'<ul class="rf-list">{items}</ul>' if items else ""
    return f'<p class="rf-answer">{mark}{note}</p>{table(("Fact", "Value"), rows, caption="Facts of the model")}{assumed}'


def _origin(source: str) -> str:
    """A source; its repository linked where it names one."""
    place, _, rest = source.partition(" ")
    if not place.startswith(("github.com/", "huggingface.co/")):
        return source
    link = f'<a href="https://{esc(place)}" target="_blank" rel="noopener noreferrer">{esc(place)}</a>'
    return Markup(f"{link} {esc(rest)}")


def roofs_key(roofs: Sequence[Roof], palette: Palette) -> str:
    """Which line is which, with its numbers."""
    items = "".join(
        f'<li><span aria-hidden="true" style="color:{palette.kinds[i]}">{MARKS[i]}</span> <strong>{LETTERS[i]}</strong> '
        f"{esc(roof.name)}, {_DASH_WORDS[DASHES[i]]}: {with_prefix(roof.peak_flops_per_s, 'FLOP/s')}, "
        f"{with_prefix(roof.bandwidth_bytes_per_s, 'B/s')}, ridge {sig(roof.ridge_flops_per_byte)} FLOP/byte</li>"
        for i, roof in enumerate(roofs)
    )
    return f'<ul class="rf-legend rf-roofs">{items}</ul>'


def nothing_found(kind: str) -> str:
    """Filters that leave nothing."""
    return notice(f"No {kind} like this", "Take a filter away: the list is empty with all of them together.")
