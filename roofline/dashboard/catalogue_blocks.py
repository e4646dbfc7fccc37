"""One entry of the catalogue laid out: facts, prices, sources, marks; and the key of the roofline that compares devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from roofline.answers.browse import ModelRow, Roof, is_old
from roofline.catalog.models import ModelEntry
from roofline.dashboard.details import facts_html, source_html
from roofline.dashboard.text import Markup, count_words, esc, gb, heading, notice, table
from roofline.figures.device_roofs import DASHES, LETTERS, MARKS
from roofline.figures.theme import Palette
from roofline.figures.words import sig
from roofline.language import later, localised, tr
from roofline.specs.hardware import CATEGORY_WORDS, Accelerator, Price
from roofline.specs.model import ModelSpec
from roofline.units import memory_size, with_prefix

_GRADE_WORDS = {
    "A": later("Evidence A: facts from the vendor's own documents."),
    "B": later("Evidence B: some facts from secondary sources."),
    "C": later("Evidence C: a fact that the roofline rests on is unverified."),
}
_DASH_WORDS = dict(zip(DASHES, (later("solid"), later("dashed"), later("dotted"), later("dash and dot")), strict=True))
_PRICE_KINDS = {"rental": later("rental"), "purchase": later("purchase")}


def device_html(device: Accelerator) -> str:
    """What the catalogue knows about a device, but for its prices."""
    state = f" {tr('Announced, not shipping.')}" if device.announced else ""
    memory = f" {tr('{kind} memory.', kind=esc(device.memory_type))}" if device.memory_type else ""
    first = f"{esc(device.vendor)}, {esc(tr(CATEGORY_WORDS[device.category]))}, {device.year}.{memory}{state} {_grade(device)}"
    also = tr("Also found as {names}.", names=esc(", ".join(device.aliases)))
    names = f'<p class="rf-note">{also}</p>' if device.aliases else ""
    note = f'<p class="rf-note">{esc(device.note)}</p>' if device.note else ""
    return f'<p class="rf-answer">{first}</p>{note}{names}{facts_html(device)}'


def _grade(device: Accelerator) -> str:
    words = tr(_GRADE_WORDS[device.grade])
    return f'<span class="rf-mark">{words}</span>' if device.grade == "C" else words


def prices_html(prices: Sequence[Price], today: date) -> str:
    """Quotes, each with its date; undated and old ones are marked."""
    rows = [
        (
            tr(_PRICE_KINDS[price.kind]),
            localised(f"{price.amount.value:g} {price.amount.unit}"),
            price.provider,
            _dated(price.date, today),
            ", ".join(filter(None, (price.commitment, price.region))),
            source_html(price.amount.source),
        )
        for price in prices
    ]
    head = (tr("Kind"), tr("Price"), tr("By"), tr("Date"), tr("Terms"), tr("Source"))
    return table(head, rows, caption=tr("Prices of the device"))


def _dated(day: str, today: date) -> str:
    if not day:
        return Markup(f'<span class="rf-mark">{tr("undated")}</span>')
    old = f'<span class="rf-mark">{tr("over a year old")}</span>'
    return Markup(f"{esc(day)} {old}") if is_old(day, today) else day


def model_html(row: ModelRow, entry: ModelEntry, model: ModelSpec, assumptions: Sequence[str]) -> str:
    """Everything the catalogue knows about a model."""
    rows = [
        *_sizes(row, model),
        (tr("Architecture"), model.architecture),
        (tr("Released"), row.released),
        (tr("Configuration from"), _origin(entry.source)),
        (tr("Also found as"), ", ".join(entry.aliases) or tr("this name only")),
    ]
    first = tr("Counted from its published configuration.")
    if row.reconstructed:
        mark = f'<span class="rf-mark">{tr("Reconstructed.")}</span>'
        first = f"{mark} {tr('Written down again from its known values.')}"
    note = f" {esc(entry.note[:1].upper() + entry.note[1:])}." if entry.note else ""
    items = "".join(f"<li>{esc(line)}</li>" for line in assumptions)
    assumed = heading(tr("Assumptions"), "", 3) + f'<ul class="rf-list">{items}</ul>' if items else ""
    facts = table((tr("Fact"), tr("Value")), rows, caption=tr("Facts of the model"))
    return f'<p class="rf-answer">{first}{note}</p>{facts}{assumed}'


def _sizes(row: ModelRow, model: ModelSpec) -> Iterator[tuple[str, str]]:
    """What is counted of a model."""
    per_token = gb(row.cache_bytes_per_token)
    all_used = row.active_parameters == row.total_parameters
    yield tr("Parameters"), count_words(row.total_parameters)
    yield tr("Active for a token"), tr("all") if all_used else count_words(row.active_parameters)
    experts = tr("{k} of {n} a layer", k=row.n_active_experts, n=row.n_experts)
    yield tr("Experts"), experts if row.n_experts else tr("none: dense")
    yield tr("Layers, width"), f"{localised(f'{row.n_layers:,}')}, {localised(f'{model.hidden_size:,}')}"
    yield tr("Vocabulary"), localised(f"{model.vocabulary:,}")
    yield tr("Trained for"), tr("{n:,} tokens", n=row.trained_context) if row.trained_context else tr("not stated")
    yield tr("Weights"), tr("{size}, mostly {format}", size=memory_size(row.weight_bytes), format=row.stored_format)
    yield tr("Cache, 16 bit"), tr("{size} per token", size=per_token) if row.cache_bytes_per_token else tr("none that grows")


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
        f"{_roof_words(roof, i)}</li>"
        for i, roof in enumerate(roofs)
    )
    return f'<ul class="rf-legend rf-roofs">{items}</ul>'


def _roof_words(roof: Roof, i: int) -> str:
    return tr(
        "{device}, {dash}: {peak}, {bandwidth}, ridge {ridge} FLOP/byte",
        device=esc(roof.name),
        dash=tr(_DASH_WORDS[DASHES[i]]),
        peak=with_prefix(roof.peak_flops_per_s, "FLOP/s"),
        bandwidth=with_prefix(roof.bandwidth_bytes_per_s, "B/s"),
        ridge=sig(roof.ridge_flops_per_byte),
    )


def nothing_found(entries: str) -> str:
    """Filters that leave none of the entries, named in words."""
    title = tr("No {entries} like this", entries=entries)
    return notice(title, tr("Take a filter away: the list is empty with all of them together."))
