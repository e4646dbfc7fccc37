"""The Cost page's sentences, cards and tables, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from roofline.answers.api import Against
from roofline.answers.costing import CostSheet, PriceRow, is_yours
from roofline.answers.owning import MultiYear
from roofline.answers.pricing import HourlyParts
from roofline.answers.report import Report
from roofline.catalog.apis import load_api
from roofline.catalog.grids import grids
from roofline.catalog.ownership import Owned, Part
from roofline.dashboard.bars import bar_row
from roofline.dashboard.details import source_html
from roofline.dashboard.quantities import OWNED, POWERED, Quantity
from roofline.dashboard.text import Markup, between, cards_html, esc, first_upper, table
from roofline.figures.theme import Palette
from roofline.figures.words import sig
from roofline.specs.hardware import Price
from roofline.units import with_prefix

BASES = ("rental", "yours", "owned", "power")
BASIS_WORDS = {"rental": "Rent", "yours": "Your price", "owned": "Own it", "power": "It is there: power only"}
TERM_WORDS = {"on-demand": "On demand", "committed": "Committed", "spot": "Spot"}
_PART_WORDS = {
    "capital_usd_per_h": "capital",
    "electricity_usd_per_h": "electricity",
    "hosting_usd_per_h": "space",
    "staff_usd_per_h": "staff and repair",
}
OWN_API = "yours"
OWN_API_LABELS = ("Input", "Cached input", "Output")
_UNKNOWN = "n/a"
_NEWEST = 5
_GRID_KINDS = {"country": 0, "aggregate": 1, "state": 2}


def cost_sentence(report: Report, sheet: CostSheet | None) -> str:
    """The answer in one sentence."""
    cost, use = report.cost, report.scenario.utilisation
    if not report.memory.fits:
        return f"{report.sentence} So there is no cost per token; the hour costs {_usd(cost.usd_per_hour)}."
    if sheet is None:
        return f"No cost: {cost.basis}. Choose another basis of the price below."
    row = sheet.row("usd_per_million_output_tokens")
    if use == 1.0:
        return (
            f"A million output tokens cost {_usd(row.used_usd)}, expected {_band(row)}, with the machines busy all the time. "
            f"All devices cost {_usd(cost.usd_per_hour)} an hour."
        )
    return (
        f"A million output tokens cost {_usd(row.used_usd)} as used {use:.0%} of the time, expected {_band(row)}; "
        f"busy all the time it would be {_usd(row.reserved_usd)}. All devices cost {_usd(cost.usd_per_hour)} an hour."
    )


def cost_cards(sheet: CostSheet) -> str:
    """The four headline prices, as used."""
    output, inputs, cached, request, user = (
        sheet.row(f"usd_per_{name}")
        for name in ("million_output_tokens", "million_input_tokens", "million_cached_input_tokens", "request", "user_month")
    )
    rate = sheet.requests_per_day
    return cards_html(
        (
            ("USD per million output tokens, used", sig(output.used_usd), f"expected {_band(output)}"),
            ("USD per million input tokens, used", sig(inputs.used_usd), f"from the cache {sig(cached.used_usd)}"),
            ("USD per request, used", sig(request.used_usd), f"expected {_band(request)}"),
            (
                "USD per user and month, used",
                sig(user.used_usd),
                f"at {sig(rate.value)} requests a day ({'yours' if is_yours(rate) else 'usual'})",
            ),
        )
    )


def price_table(sheet: CostSheet, utilisation: float) -> str:
    """Every price, reserved beside used."""
    head = ("USD per", "Reserved: busy all the time", f"Used: {utilisation:.0%} of the time", "Expected, as used")
    rows = [(row.name, sig(row.reserved_usd), sig(row.used_usd), _band(row)) for row in sheet.rows]
    return table(head, rows, caption="Prices, reserved and used, in USD")


def quotes_table(quotes: Sequence[Price]) -> str:
    """Dated rental quotes."""
    rows = [
        (
            quote.provider or "not named",
            f"{quote.amount.value:g} {quote.amount.unit}",
            quote.date or "undated",
            quote.commitment,
            quote.region or "any",
            source_html(quote.amount.source),
        )
        for quote in quotes
    ]
    return table(("Provider", "Price of one device", "Date", "Terms", "Region", "Source"), rows, caption="Rental quotes")


def newest_quotes(quotes: Sequence[Price]) -> str:
    """The newest quotes, in short."""
    rows = [(q.provider or "not named", f"{q.amount.value:g} {q.amount.unit}", q.date or "undated") for q in quotes[:_NEWEST]]
    return table(("Newest quotes", "One device", "Date"), rows, caption="The newest rental quotes")


def quote_words(quote: Price) -> str:
    """A quote in a list."""
    return f"{quote.amount.base:g} USD/h, {quote.provider or 'not named'}, {quote.commitment}, {quote.date or 'undated'}"


def parts_bars(parts: HourlyParts, palette: Palette) -> str:
    """What an hour of an owned device is made of."""
    total = parts.total_usd_per_h or 1.0
    rows = [
        bar_row(_PART_WORDS[item.name], value / total, colour, f"{sig(value)} USD/h · {value / total:.0%}")
        for item, colour in zip(fields(parts), palette.kinds, strict=True)
        for value in (getattr(parts, item.name),)
    ]
    label = f"Parts of an owned hour of {sig(parts.total_usd_per_h)} USD"
    return f'<div class="rf-rows rf-parts" role="group" aria-label="{esc(label)}">{"".join(rows)}</div>'


def owned_table(found: Owned) -> str:
    """Every part of owning with its range and source."""
    shown = POWERED if found.power_only else (*OWNED, *POWERED)
    rows = [part_row(quantity, getattr(found, quantity.field)) for quantity in shown]
    head = ("Part", "Value", "Range", "Source")
    return f'<div class="rf-chain">{table(head, rows, caption="Parts of the cost of owning, with sources")}</div>'


def part_row(quantity: Quantity, part: Part | None) -> tuple[object, ...]:
    """An assumption as a row of a table, in the unit of its control; what the person gave is marked."""
    if part is None:
        return quantity.name, _UNKNOWN, "", "not known: give your own"
    value, low, high = (quantity.shown(number) for number in (part.value, part.low, part.high))
    span = "" if low == high else between(low, high)
    source = Markup(f"<strong>{esc(part.source)}</strong>") if is_yours(part) else part.source
    return quantity.name, f"{value:,.10g} {quantity.unit or part.unit}", span, source


def energy_table(report: Report) -> str:
    """Energy and carbon of tokens at work."""
    found = report.cost.energy
    if found is None or found.joules_per_output_token is None:
        return f'<p class="rf-answer">No energy: {esc(found.basis if found else _UNKNOWN)}.</p>'
    rows = [
        ("Power of one device with its share of the server, in decode", f"{with_prefix(found.device_power_w or 0.0, 'W')}"),
        ("Joules per output token", sig(found.joules_per_output_token)),
        ("Joules per input token", sig(found.joules_per_input_token)),
        ("Grams CO₂e per million tokens in this mix", sig(found.grams_co2e_per_million_tokens)),
        ("Grams CO₂e per million output tokens", sig(found.grams_co2e_per_million_output_tokens)),
    ]
    return f'{table(("What", "Value"), rows, caption="Energy and carbon")}<p class="rf-note">{esc(found.basis)}</p>'


def api_words(ref: str) -> str:
    """A public price in a list."""
    if ref == OWN_API:
        return "Your own figures"
    price = load_api(ref)
    return f"{price.id}: {price.input_usd_per_million:g} in, {price.output_usd_per_million:g} out"


def grid_ids() -> list[str]:
    """Every grid: countries, regions of the world, states, cloud regions."""
    return sorted(grids(), key=lambda ref: (_GRID_KINDS.get(grids()[ref].kind, len(_GRID_KINDS)), grids()[ref].name))


def grid_words(ref: str) -> str:
    """A grid in a list."""
    grid = grids()[ref]
    carbon = "carbon not known" if grid.carbon_g_per_kwh is None else f"{grid.carbon_g_per_kwh.value:g} g CO₂e/kWh"
    return f"{grid.name}: {carbon}"


def api_line(found: Against) -> str:
    """The API's prices with date and source."""
    api = found.api
    dated = f", {api.date}, {api.source}" if api.date else ""
    note = f" {first_upper(api.note)}." if api.note else ""
    name = api.name if api.date else first_upper(api.name)
    return (
        f"{name} is {api.input_usd_per_million:g} USD per million input tokens, {api.cached_usd_per_million:g} from the cache "
        f"and {api.output_usd_per_million:g} for output{dated}.{note}"
    )


def against_table(found: Against) -> str:
    """Break-even in numbers."""
    even = found.break_even_tokens_per_day
    never = "never, at this price and speed"
    rows = [
        ("USD per million tokens in this mix, the API", sig(found.api_usd_per_million_tokens)),
        ("The same on your own system, reserved", sig(found.own_reserved_usd_per_million_tokens)),
        ("The same, used", sig(found.own_used_usd_per_million_tokens)),
        ("Break-even utilisation", never if found.break_even_utilisation is None else f"{found.break_even_utilisation:.1%}"),
        ("Break-even tokens a day", never if even is None else with_prefix(even, "").strip()),
        ("A device-hour must cost less than, at your utilisation", f"{sig(found.break_even_usd_per_device_hour)} USD"),
        ("Months until it has paid for itself", _months(found)),
    ]
    return table(("What", "Value"), rows, caption="Your own system against the API")


def _months(found: Against) -> str:
    return "never, or not owned" if found.payback_months is None else sig(found.payback_months)


def years_sentence(found: MultiYear) -> str:
    """Owning against renting over the years."""
    last = found.years[-1].year
    if found.rent_present_usd is None:
        return f"Over {last} years owning costs {_usd(found.own_present_usd)} in today's money. No rental of it is known."
    since = (
        f"from the end of year {found.cheaper_from_year} on" if found.cheaper_from_year is not None else "in none of these years"
    )
    return (
        f"Over {last} years owning costs {_usd(found.own_present_usd)} in today's money, renting all the time "
        f"{_usd(found.rent_present_usd)}. Less is paid in all for owning {since}."
    )


def years_words(years: int) -> str:
    """A horizon in a list; none is the life of a machine."""
    return f"{years:,}" if years else "Life of a machine"


def years_table(found: MultiYear) -> str:
    """Money of every year, USD."""
    head = ("End of year", "Bought less sold", "Running", "Owning, in all", "Renting", "Renting, in all")
    rows = [
        (
            row.year,
            f"{row.outlay_usd:,.0f}",
            f"{row.running_usd:,.0f}",
            f"{row.own_cumulative_usd:,.0f}",
            _whole(row.rent_usd),
            _whole(row.rent_cumulative_usd),
        )
        for row in found.years
    ]
    return table(head, rows, caption="Money of every year in USD, owned and rented")


def _whole(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.0f}"


def _usd(value: float | None) -> str:
    return f"{sig(value)} USD"


def _band(row: PriceRow) -> str:
    return "n/a" if row.low_usd is None else between(row.low_usd, row.high_usd)
