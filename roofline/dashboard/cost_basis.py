"""The basis of a price, chosen on the Cost page: rented, your own figure, owned in parts, or power alone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from roofline.answers.costing import ordered_quotes
from roofline.answers.pricing import PriceKind
from roofline.answers.report import Report
from roofline.catalog.boxes import load_box
from roofline.catalog.ownership import owned
from roofline.dashboard.cost_words import (
    BASES,
    BASIS_WORDS,
    TERM_WORDS,
    newest_quotes,
    owned_table,
    parts_bars,
    quote_words,
    quotes_table,
)
from roofline.dashboard.page_controls import bound, change, number
from roofline.dashboard.quantities import OWNED, POWERED, PRICE, Quantity
from roofline.dashboard.text import esc, heading
from roofline.figures.theme import Look
from roofline.figures.words import sig
from roofline.language import localised, tr
from roofline.specs.hardware import Price
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario

_KINDS = {"on-demand": ("on-demand",), "committed": ("committed", "reserved"), "spot": ("spot",)}


def basis_of(scenario: Scenario, kind: PriceKind = "rental") -> str:
    """Which basis is in force: the one a scenario asks for, or owning, where the price of what nobody rents out is of that kind.

    >>> basis_of(Scenario(model="llama-3.1-8b", hardware="h100-sxm", ownership="power"))
    'power'
    >>> basis_of(Scenario(model="llama-3.1-8b", hardware="apple-m4max"), "ownership")
    'owned'
    """
    if scenario.usd_per_device_hour is not None:
        return "yours"
    if scenario.ownership is None:
        return "owned" if kind == "ownership" else "rental"
    return "power" if scenario.ownership.power_only else "owned"


def choose(report: Report, look: Look) -> None:
    """The basis, its own controls, and what it comes to."""
    scenario, per_hour = report.scenario, report.cost.usd_per_device_hour
    words = tr("Not known") if per_hour is None else tr("{usd} USD for one device", usd=sig(per_hour))
    st.html(heading(tr("What an hour costs"), esc(words)))
    current = basis_of(scenario, report.cost.price_kind)
    control = bound("basis", current, lambda basis: _take(scenario, basis, per_hour))
    st.segmented_control(tr("Basis of the price"), BASES, required=True, format_func=_basis_words, wrap=True, **control)
    if current == "rental":
        _terms(scenario)
    elif current == "yours":
        _yours(scenario)
    if current == "owned" and scenario.ownership is None:
        words = tr("Nobody is known to rent this device out, so this is what owning it costs.")
        st.html(f'<p class="rf-note">{esc(words)}</p>')
    st.html(f'<p class="rf-note">{esc(report.cost.basis)}</p>')
    if current == "rental":
        _quotes(scenario)
    if report.cost.usd_per_device_hour_parts is not None:
        st.html(parts_bars(report.cost.usd_per_device_hour_parts, look.palette))


def details(report: Report) -> None:
    """Every part of owning, with a control of its own."""
    scenario = report.scenario
    if basis_of(scenario, report.cost.price_kind) not in ("owned", "power"):
        return
    device, given = load_box(scenario.hardware), scenario.ownership or Ownership()
    found = owned(given, device, scenario.grid)
    key = tr("Leave a field empty for its default, whose source stands in the table.")
    st.html(heading(tr("Every part of owning"), key))
    columns = st.grid(4, min_column_width=190)
    for quantity in POWERED if found.power_only else (*OWNED, *POWERED):
        part = getattr(found, quantity.field)
        with columns.cell():
            number(
                quantity,
                Ownership.model_fields[quantity.field],
                getattr(given, quantity.field),
                partial(_own_part, scenario, quantity),
                placeholder=tr("not known") if part is None else localised(f"{quantity.shown(part.value):g}"),
            )
    st.html(owned_table(found))


def _basis_words(basis: str) -> str:
    return tr(BASIS_WORDS[basis])


def _take(scenario: Scenario, basis: str, per_hour: float | None) -> None:
    """Change to another basis; what was given of the machine is kept."""
    held = scenario.ownership or Ownership()
    price = round(per_hour, 4) if per_hour is not None else 1.0
    change(
        scenario,
        usd_per_device_hour=price if basis == "yours" else None,
        ownership=held.model_copy(update={"power_only": basis == "power"}) if basis in ("owned", "power") else None,
    )


def _terms(scenario: Scenario) -> None:
    control = bound("terms", scenario.rental, lambda terms: change(scenario, rental=terms))
    options = tuple(TERM_WORDS)
    st.segmented_control(
        tr("Terms of renting"), options, required=True, format_func=lambda terms: tr(TERM_WORDS[terms]), **control
    )


def _quotes(scenario: Scenario) -> None:
    """The newest in short, all of them on request."""
    quotes = ordered_quotes(load_box(scenario.hardware).prices, _KINDS[scenario.rental])
    if not quotes:
        return
    st.html(newest_quotes(quotes))
    title = tr("All quotes on these terms: {n:,}", n=len(quotes))
    with st.expander(title, key="quotes_open", on_change="rerun") as opened:
        if opened.open:
            st.html(quotes_table(quotes))


def _yours(scenario: Scenario) -> None:
    """One's own figure, typed or taken from a quote."""
    field = Scenario.model_fields[PRICE.field]
    number(PRICE, field, scenario.usd_per_device_hour, lambda usd: change(scenario, usd_per_device_hour=usd))
    quotes = ordered_quotes(load_box(scenario.hardware).prices, tuple(kind for kinds in _KINDS.values() for kind in kinds))
    if quotes:
        control = bound("quote", None, partial(_from_quote, scenario))
        placeholder = tr("Provider, terms, date…")
        st.selectbox(tr("Start from a quote"), quotes, index=None, placeholder=placeholder, format_func=quote_words, **control)


def _from_quote(scenario: Scenario, quote: Price | None) -> None:
    if quote is not None:
        change(scenario, usd_per_device_hour=quote.amount.base)


def _own_part(scenario: Scenario, quantity: Quantity, value: float | None) -> None:
    held = scenario.ownership or Ownership()
    change(scenario, ownership=held.model_copy(update={quantity.field: value}))
