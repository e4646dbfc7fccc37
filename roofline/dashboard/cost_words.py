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
from roofline.language import later, localised, tr
from roofline.specs.hardware import Price
from roofline.units import with_prefix

BASES = ("rental", "yours", "owned", "power")
BASIS_WORDS = {
    "rental": later("Rent"),
    "yours": later("Your price"),
    "owned": later("Own it"),
    "power": later("It is there: power only"),
}
TERM_WORDS = {"on-demand": later("On demand"), "committed": later("Committed"), "spot": later("Spot")}
_PART_WORDS = {
    "capital_usd_per_h": later("capital"),
    "electricity_usd_per_h": later("electricity"),
    "hosting_usd_per_h": later("space"),
    "staff_usd_per_h": later("staff and repair"),
}
OWN_API = "yours"
OWN_API_LABELS = (later("Input"), later("Cached input"), later("Output"))
_UNKNOWN = "n/a"
_NEWEST = 5
_GRID_KINDS = {"country": 0, "aggregate": 1, "state": 2}


def cost_sentence(report: Report, sheet: CostSheet | None) -> str:
    """The answer in one sentence."""
    cost, use = report.cost, report.scenario.utilisation
    if not report.memory.fits:
        hour = _usd(cost.usd_per_hour)
        return tr("{sentence} So there is no cost per token; the hour costs {usd}.", sentence=report.sentence, usd=hour)
    if sheet is None:
        return tr("No cost: {basis}. Choose another basis of the price below.", basis=cost.basis)
    row = sheet.row("usd_per_million_output_tokens")
    values = {"used": _usd(row.used_usd), "band": _band(row), "hour": _usd(cost.usd_per_hour)}
    if use == 1.0:
        return tr(
            "A million output tokens cost {used}, expected {band}, with the machines busy all the time. "
            "All devices cost {hour} an hour.",
            **values,
        )
    return tr(
        "A million output tokens cost {used} as used {use:.0%} of the time, expected {band}; "
        "busy all the time it would be {reserved}. All devices cost {hour} an hour.",
        use=use,
        reserved=_usd(row.reserved_usd),
        **values,
    )


def cost_cards(sheet: CostSheet) -> str:
    """The four headline prices, as used."""
    output, inputs, cached, request, user = (
        sheet.row(f"usd_per_{name}")
        for name in ("million_output_tokens", "million_input_tokens", "million_cached_input_tokens", "request", "user_month")
    )
    rate = sheet.requests_per_day
    whose = tr("yours") if is_yours(rate) else tr("usual")
    return cards_html(
        (
            (tr("USD per million output tokens, used"), sig(output.used_usd), _expected(output)),
            (
                tr("USD per million input tokens, used"),
                sig(inputs.used_usd),
                tr("from the cache {usd}", usd=sig(cached.used_usd)),
            ),
            (tr("USD per request, used"), sig(request.used_usd), _expected(request)),
            (
                tr("USD per user and month, used"),
                sig(user.used_usd),
                tr("at {n} requests a day ({whose})", n=sig(rate.value), whose=whose),
            ),
        )
    )


def _expected(row: PriceRow) -> str:
    return tr("expected {band}", band=_band(row))


def price_table(sheet: CostSheet, utilisation: float) -> str:
    """Every price, reserved beside used."""
    used = tr("Used: {utilisation:.0%} of the time", utilisation=utilisation)
    head = (tr("USD per"), tr("Reserved: busy all the time"), used, tr("Expected, as used"))
    rows = [(tr(row.name), sig(row.reserved_usd), sig(row.used_usd), _band(row)) for row in sheet.rows]
    return table(head, rows, caption=tr("Prices, reserved and used, in USD"))


def quotes_table(quotes: Sequence[Price]) -> str:
    """Dated rental quotes."""
    rows = [
        (
            *_quoted(quote),
            tr(quote.commitment),
            quote.region or tr("any"),
            source_html(quote.amount.source),
        )
        for quote in quotes
    ]
    head = (tr("Provider"), tr("Price of one device"), tr("Date"), tr("Terms"), tr("Region"), tr("Source"))
    return table(head, rows, caption=tr("Rental quotes"))


def newest_quotes(quotes: Sequence[Price]) -> str:
    """The newest quotes, in short."""
    head = (tr("Newest quotes"), tr("One device"), tr("Date"))
    return table(head, (_quoted(quote) for quote in quotes[:_NEWEST]), caption=tr("The newest rental quotes"))


def _quoted(quote: Price) -> tuple[str, str, str]:
    """Who asks how much, and when."""
    amount = localised(f"{quote.amount.value:g}")
    return quote.provider or tr("not named"), f"{amount} {quote.amount.unit}", quote.date or tr("undated")


def quote_words(quote: Price) -> str:
    """A quote in a list."""
    provider, _, date = _quoted(quote)
    return ", ".join((localised(f"{quote.amount.base:g} USD/h"), provider, tr(quote.commitment), date))


def parts_bars(parts: HourlyParts, palette: Palette) -> str:
    """What an hour of an owned device is made of."""
    total = parts.total_usd_per_h or 1.0
    rows = [
        bar_row(tr(_PART_WORDS[item.name]), value / total, colour, f"{sig(value)} USD/h · {localised(f'{value / total:.0%}')}")
        for item, colour in zip(fields(parts), palette.kinds, strict=True)
        for value in (getattr(parts, item.name),)
    ]
    label = tr("Parts of an owned hour of {usd} USD", usd=sig(parts.total_usd_per_h))
    return f'<div class="rf-rows" role="group" aria-label="{esc(label)}">{"".join(rows)}</div>'


def owned_table(found: Owned) -> str:
    """Every part of owning with its range and source."""
    shown = POWERED if found.power_only else (*OWNED, *POWERED)
    rows = [part_row(quantity, getattr(found, quantity.field)) for quantity in shown]
    head = (tr("Part"), tr("Value"), tr("Range"), tr("Source"))
    caption = tr("Parts of the cost of owning, with sources")
    return table(head, rows, caption=caption)


def part_row(quantity: Quantity, part: Part | None) -> tuple[object, ...]:
    """An assumption as a row of a table, in the unit of its control; what the person gave is marked."""
    if part is None:
        return quantity.name, _UNKNOWN, "", tr("not known: give your own")
    value, low, high = (quantity.shown(number) for number in (part.value, part.low, part.high))
    span = "" if low == high else between(low, high)
    source = Markup(f"<strong>{esc(tr(part.source))}</strong>") if is_yours(part) else part.source
    return quantity.name, f"{localised(f'{value:,.10g}')} {quantity.unit or tr(part.unit)}", span, source


def energy_table(report: Report) -> str:
    """Energy and carbon of tokens at work."""
    found = report.cost.energy
    if found is None or found.joules_per_output_token is None:
        words = tr("No energy: {basis}.", basis=found.basis if found else _UNKNOWN)
        return f'<p class="rf-answer">{esc(words)}</p>'
    power = with_prefix(found.device_power_w or 0.0, "W")
    rows = [
        (tr("Power of one device with its share of the server, in decode"), power),
        (tr("Joules per output token"), sig(found.joules_per_output_token)),
        (tr("Joules per input token"), sig(found.joules_per_input_token)),
        (tr("Grams CO₂e per million tokens in this mix"), sig(found.grams_co2e_per_million_tokens)),
        (tr("Grams CO₂e per million output tokens"), sig(found.grams_co2e_per_million_output_tokens)),
    ]
    numbers = table((tr("What"), tr("Value")), rows, caption=tr("Energy and carbon"))
    return f'{numbers}<p class="rf-note">{esc(found.basis)}</p>'


def api_words(ref: str) -> str:
    """A public price in a list."""
    if ref == OWN_API:
        return tr("Your own figures")
    price = load_api(ref)
    costs = {"inputs": price.input_usd_per_million, "outputs": price.output_usd_per_million}
    return tr("{api}: {inputs:g} in, {outputs:g} out", api=price.id, **costs)


def grid_ids() -> list[str]:
    """Every grid: countries, regions of the world, states, cloud regions."""
    return sorted(grids(), key=lambda ref: (_GRID_KINDS.get(grids()[ref].kind, len(_GRID_KINDS)), grids()[ref].name))


def grid_words(ref: str) -> str:
    """A grid in a list."""
    grid = grids()[ref]
    carbon = grid.carbon_g_per_kwh
    words = tr("carbon not known") if carbon is None else localised(f"{carbon.value:g} g CO₂e/kWh")
    return f"{grid.name}: {words}"


def api_line(found: Against) -> str:
    """The API's prices with date and source."""
    api = found.api
    dated = f", {api.date}, {api.source}" if api.date else ""
    note = f" {first_upper(api.note)}." if api.note else ""
    name = api.name if api.date else first_upper(api.name)
    charged = tr(
        "{name} is {inputs:g} USD per million input tokens, {cached:g} from the cache and {outputs:g} for output{dated}.",
        name=name,
        inputs=api.input_usd_per_million,
        cached=api.cached_usd_per_million,
        outputs=api.output_usd_per_million,
        dated=dated,
    )
    return charged + note


def against_table(found: Against) -> str:
    """Break-even in numbers."""
    even = found.break_even_tokens_per_day
    share, never = found.break_even_utilisation, tr("never, at this price and speed")
    rows = [
        (tr("USD per million tokens in this mix, the API"), sig(found.api_usd_per_million_tokens)),
        (tr("The same on your own system, reserved"), sig(found.own_reserved_usd_per_million_tokens)),
        (tr("The same, used"), sig(found.own_used_usd_per_million_tokens)),
        (tr("Break-even utilisation"), never if share is None else localised(f"{share:.1%}")),
        (tr("Break-even tokens a day"), never if even is None else with_prefix(even, "").strip()),
        (tr("A device-hour must cost less than, at your utilisation"), _usd(found.break_even_usd_per_device_hour)),
        (tr("Months until it has paid for itself"), _months(found)),
    ]
    return table((tr("What"), tr("Value")), rows, caption=tr("Your own system against the API"))


def _months(found: Against) -> str:
    if found.life_months is None:
        return tr("not bought")
    if found.payback_months is None:
        return tr("not within its life of {n} months", n=sig(found.life_months))
    return sig(found.payback_months)


def years_sentence(found: MultiYear) -> str:
    """Owning against renting over the years."""
    last = found.years[-1].year
    if found.rent_present_usd is None:
        own = _usd(found.own_present_usd)
        return tr("Over {n} years owning costs {own} in today's money. No rental of it is known.", n=last, own=own)
    both = tr(
        "Over {n} years owning costs {own} in today's money, renting all the time {rent}.",
        n=last,
        own=_usd(found.own_present_usd),
        rent=_usd(found.rent_present_usd),
    )
    if found.cheaper_from_year is None:
        return f"{both} {tr('Less is paid in all for owning in none of these years.')}"
    since = tr("Less is paid in all for owning from the end of year {year} on.", year=found.cheaper_from_year)
    return f"{both} {since}"


def years_words(years: int) -> str:
    """A horizon in a list; none is the life of a machine."""
    return localised(f"{years:,}") if years else tr("Life of a machine")


def years_table(found: MultiYear) -> str:
    """Money of every year, USD."""
    head = (
        tr("End of year"),
        tr("Bought less sold"),
        tr("Running"),
        tr("Owning, in all"),
        tr("Renting"),
        tr("Renting, in all"),
    )
    rows = [
        (
            row.year,
            _whole(row.outlay_usd),
            _whole(row.running_usd),
            _whole(row.own_cumulative_usd),
            _whole(row.rent_usd),
            _whole(row.rent_cumulative_usd),
        )
        for row in found.years
    ]
    return table(head, rows, caption=tr("Money of every year in USD, owned and rented"))


def _whole(value: float | None) -> str:
    return _UNKNOWN if value is None else localised(f"{value:,.0f}")


def _usd(value: float | None) -> str:
    return f"{sig(value)} USD"


def _band(row: PriceRow) -> str:
    return "n/a" if row.low_usd is None else between(row.low_usd, row.high_usd)
