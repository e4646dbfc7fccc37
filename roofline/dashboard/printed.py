"""A report on one page to print or keep: one HTML file with its styles inside, no script, no picture, nothing to load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roofline import link
from roofline.answers.report import Report, Times
from roofline.dashboard import printed_words as words
from roofline.dashboard.text import between, esc, scenario_parts
from roofline.errors import RooflineError
from roofline.figures.theme import LIGHT
from roofline.figures.words import sig
from roofline.language import chosen, localised, tr
from roofline.units import duration, memory_size

_STYLE = f"""
@page {{ size: A4; margin: 10mm 12mm; }}
body {{ font: 10px/1.3 system-ui, sans-serif; color: {LIGHT.text}; background: {LIGHT.page}; }}
body {{ max-width: 190mm; margin: 4mm auto; }}
h1 {{ font-size: 19px; margin: 0; }} h2 {{ font-size: 12.5px; margin: 8px 0 1px; }}
p {{ margin: 2px 0; }} .muted {{ color: {LIGHT.muted}; }} .answer {{ font-size: 11px; margin: 5px 0; }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; vertical-align: top; padding: 1.5px 10px 1.5px 0; border-bottom: 1px solid {LIGHT.grid}; }}
td, thead th {{ font-weight: 400; }} thead th {{ color: {LIGHT.muted}; }} tbody th {{ font-weight: 600; }}
.pair {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0 10mm; }} .link {{ overflow-wrap: anywhere; }}
.small {{ font-size: 8.5px; line-height: 1.25; columns: 2; column-gap: 10mm; overflow-wrap: anywhere; }}
tr {{ break-inside: avoid; }} .small h2 {{ font-size: 11px; }}
.small th, .small td {{ padding: 0.5px 10px 0.5px 0; }}
.small tbody th {{ width: 34%; overflow-wrap: normal; }}
@media screen {{ body {{ font-size: 13px; }} .small {{ font-size: 12px; }} }}
"""


def report_html(report: Report, address: str) -> str:
    """The page: scenario, headline numbers with bands, bound, memory, cost, assumptions, sources, link."""
    first, *rest = scenario_parts(report)
    body = (
        f'<h1>{esc(first)}</h1><p class="muted">{esc(" · ".join(rest))}</p>'
        f'<p class="answer">{esc(report.sentence)}</p>'
        f"<h2>{tr(words.HEADLINES)}</h2>{_table(words.HEADLINE_COLUMNS, headline_rows(report))}"
        f'<div class="pair"><div><h2>{tr(words.MEMORY)}</h2>{_table(words.TWO_COLUMNS, _memory_rows(report))}</div>'
        f"<div><h2>{tr(words.COST)}</h2>{_table(words.TWO_COLUMNS, _cost_rows(report))}</div></div>"
        f'<div class="small"><h2>{tr(words.ASSUMPTIONS)}</h2>{_table(words.BASIS_COLUMNS, _assumption_rows(report))}'
        f"<h2>{tr(words.SOURCES)}</h2>{_table(words.TWO_COLUMNS, report.sources.items())}"
        f'{_notes(report)}</div><h2>{tr(words.LINK)}</h2><p class="link">{_link(report, address)}</p>'
        f'<p class="muted small">{tr(words.FOOT)}</p>'
    )
    return (
        f'<!doctype html><html lang="{chosen()}"><head><meta charset="utf-8"><title>{esc(tr(words.TITLE, model=first))}</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>"
    )


def headline_rows(report: Report) -> Iterable[tuple[str, str, str, str]]:
    """Name, expected, band, limit."""
    for name, label, is_time in words.HEADLINE_FIELDS:
        value, low, high, limit = (
            _shown(times, name, is_time) for times in (report.expected, report.expected_low, report.expected_high, report.limit)
        )
        yield tr(label), value, tr(words.BAND, low=low, high=high), limit
    cost = report.cost
    band = between(cost.usd_per_million_output_tokens_low, cost.usd_per_million_output_tokens_high)
    limit = sig(cost.usd_per_million_output_tokens_at_limit)
    yield tr(words.USD_OUTPUT), sig(cost.usd_per_million_output_tokens), band, limit


def _shown(times: Times, name: str, is_time: bool) -> str:
    value = float(getattr(times, name))
    return duration(value) if is_time else sig(value)


def _memory_rows(report: Report) -> Iterable[tuple[str, str]]:
    memory = report.memory
    sizes = {
        words.WEIGHTS: memory.weights_bytes_per_device,
        words.CACHE: memory.kv_cache_bytes_per_device,
        words.ACTIVATIONS: memory.activation_bytes_per_device,
        words.OVERHEAD: memory.overhead_bytes_per_device,
        words.USABLE: memory.usable_bytes_per_device,
    }
    yield from ((tr(name), memory_size(float(size))) for name, size in sizes.items())
    yield tr(words.MOST), localised(f"{memory.max_batch:,}")
    yield tr(words.FITS), tr(words.YES if memory.fits else words.NO)
    yield tr(words.PLAN), report.plan.why


def _cost_rows(report: Report) -> Iterable[tuple[str, str]]:
    cost = report.cost
    yield tr(words.USD_INPUT), sig(cost.usd_per_million_input_tokens)
    yield tr(words.USD_BOTH), sig(cost.usd_per_million_tokens)
    yield tr(words.USD_HOUR), sig(cost.usd_per_hour)
    yield tr(words.JOULES), sig(cost.joules_per_output_token)
    yield tr(words.CARBON), sig(cost.grams_co2e_per_million_tokens)
    yield tr(words.PRICE), cost.basis
    bound = {phase: tr(words.BOUNDS[found[0].bound]) for phase, found in report.shares.items()}
    yield tr(words.BOUND), tr(words.BOUND_BOTH, decode=bound["decode"], prefill=bound["prefill"])


def _assumption_rows(report: Report) -> Iterable[tuple[str, str]]:
    return ((item.name, words.VALUE_AND_BASIS.format(value=item.value, basis=item.basis)) for item in report.assumptions)


def _notes(report: Report) -> str:
    if not report.reasons:
        return ""
    return f"<h2>{tr(words.NOTES)}</h2>{''.join(f'<p>{esc(reason)}</p>' for reason in report.reasons)}"


def _link(report: Report, address: str) -> str:
    """The question as a link, whole where the address of this page is one."""
    try:
        page = address.partition("?")[0]
        whole = f"{page if page.endswith('/') else f'{page}/'}{link.to_query(report.scenario)}"
    except RooflineError as error:
        return esc(error)
    safe = whole.startswith(("http://", "https://"))
    return f'<a href="{esc(whole)}">{esc(whole)}</a>' if safe else esc(whole)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    columns = "".join(f'<th scope="col">{esc(tr(cell))}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{esc(first)}</th>{"".join(f"<td>{esc(cell)}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
