"""Words and small HTML that cards, bars and tables share. Whatever comes from a file or a link is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from roofline.answers.report import Phase, Report
from roofline.dashboard.saves import table_save
from roofline.figures.labels import CHARACTER_FRAC, text_width
from roofline.figures.words import sig
from roofline.language import later, localised, tr
from roofline.specs.scenario import Scenario, is_mixed
from roofline.units import Floats, with_prefix
from roofline.units import count_words as count_words

PHASES: dict[Phase, str] = {"prefill": later("prefill"), "decode": later("decode")}


def esc(text: object) -> str:
    """Text made harmless in HTML."""
    return escape(str(text), quote=True)


def between(low: Floats | None, high: Floats | None) -> str:
    """A band in words.

    >>> between(48.12, 74.4)
    '48.1 to 74.4'
    """
    return tr("{low} to {high}", low=sig(low), high=sig(high))


def gb(value: Floats) -> str:
    """Bytes as people buy them.

    >>> gb(85.9e9)
    '85.9 GB'
    """
    return with_prefix(float(value), "B")


def count_of(scenario: Scenario, hardware_name: str) -> str:
    """Devices in words."""
    return hardware_name if is_mixed(scenario.hardware) else f"{localised(f'{scenario.devices:,}')} × {hardware_name}"


def formats_words(report: Report) -> str:
    """The three number formats in a phrase."""
    formats = report.formats
    return tr(
        "weights {weights}, {rate} arithmetic, {cache} cache",
        weights=formats.weights,
        rate=formats.gemm_rate,
        cache=formats.kv_cache,
    )


def scenario_parts(report: Report) -> tuple[str, ...]:
    """The scenario in words, part by part."""
    scenario, rate = report.scenario, report.scenario.request_rate
    load = tr("batch {batch:,}", batch=report.batch) if rate is None else tr("{rate:,.6g} requests/s", rate=rate)
    return (
        report.model_name,
        count_of(scenario, report.hardware_name),
        formats_words(report),
        tr("{input:,} in / {output:,} out", input=scenario.input_tokens, output=scenario.output_tokens),
        load,
    )


def linked(text: str) -> str:
    """Prose of our own files as HTML: names in backquotes as code, addresses, DOIs and arXiv numbers as links.

    >>> linked("`a` <b>.")
    '<code>a</code> &lt;b&gt;.'
    """
    return _MARKED.sub(_marked, esc(text))


def _marked(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return f"<code>{found['code']}</code>"
    whole = found[0].rstrip(".,;")
    start, rest = next(((start, whole.removeprefix(name)) for name, start in _HOSTS.items() if whole.startswith(name)))
    return f'<a href="{start}{rest}" target="_blank" rel="noopener noreferrer">{whole}</a>{found[0][len(whole) :]}'


_HOSTS = {"https://": "https://", "doi:": "https://doi.org/", "arXiv:": "https://arxiv.org/abs/"}
_MARKED = re.compile(r"`(?P<code>[^`]+)`|(?:https://|doi:(?=10\.)|arXiv:(?=\d))[^\s,)]+")


class Markup(str):
    """HTML of our own making, put into a table as it is."""

    __slots__ = ()


def cell_html(cell: object) -> str:
    """A cell, escaped unless it is markup of our own."""
    return cell if isinstance(cell, Markup) else esc(cell)


def _room(cell: object) -> str:
    """A class by the length of a cell's longest line: a number stays in one line, a long text does not become a tower."""
    text = max(re.split(r"<br\s*/?>", cell), key=len) if isinstance(cell, Markup) else str(cell)
    length = text_width(re.sub(r"<[^>]*>", "", text) if isinstance(cell, Markup) else text, 1.0) / CHARACTER_FRAC
    return next((f' class="{name}"' for most, name in _ROOMS if length <= most), "")


_ROOMS = ((14, "rf-short"), (40, ""), (90, "rf-text"), (10**9, "rf-prose"))
"""Most characters -> the class that gives the column its width."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str) -> str:
    """A plain table; the first column heads its row. Cells are escaped."""
    columns = "".join(f'<th scope="col">{esc(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row"{_room(first)}>{cell_html(first)}</th>'
        f"{''.join(f'<td{_room(cell)}>{cell_html(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="rf-tabled"><div class="rf-scroll" tabindex="0" role="group" aria-label="{esc(caption)}">'
        f'<table class="rf-table"><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>{table_save(caption)}</div>'
    )


def heading(text: str, key: str = "", level: int = 2) -> str:
    """A heading with the key of a figure under it; ``key`` is markup of our own."""
    line = f'<p class="rf-key">{key}</p>' if key else ""
    return f'<h{level} class="rf-h">{esc(text)}</h{level}>{line}'


def cards_html(cards: Iterable[tuple[str, str, str]]) -> str:
    """Headline numbers: label with unit, value, and a word on it."""
    body = "".join(
        f'<section class="rf-card"><h2>{esc(label)}</h2><p class="rf-value">{esc(value)}</p>'
        f'<p class="rf-band">{esc(foot)}</p></section>'
        for label, value, foot in cards
    )
    return f'<div class="rf-cards rf-plain">{body}</div>'


def first_upper(text: str) -> str:
    """A sentence with a capital.

    >>> first_upper("no price is known.")
    'No price is known.'
    """
    return text[:1].upper() + text[1:]


def notice(title: str, body: str, *, extra: str = "") -> str:
    """A framed word of warning; ``body`` is markup of our own."""
    return f'<div class="rf-notice {extra}" role="alert"><h2>{esc(title)}</h2>{body}</div>'
