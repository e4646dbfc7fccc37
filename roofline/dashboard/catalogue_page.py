"""The Catalogue page: every device and model to search, sort, read up with its sources, compare and use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from roofline.answers.browse import (
    MOST_ROOFS,
    DeviceRow,
    ModelRow,
    common_dtypes,
    device_rows,
    matching_devices,
    matching_models,
    model_rows,
    roofs,
)
from roofline.catalog.hardware import catalogue_hardware_id, load_hardware
from roofline.catalog.models import catalogue_model_id, load_model, model_entries
from roofline.dashboard import choices, state
from roofline.dashboard.catalogue_blocks import device_html, model_html, nothing_found, prices_html, roofs_key
from roofline.dashboard.catalogue_tables import columns, device_frame, json_bytes, model_frame
from roofline.dashboard.catalogue_view import (
    CATALOGUE_VIEW,
    EXPERTS,
    KINDS,
    MEMORIES_GB,
    MOST_TEXT,
    USUAL,
    categories,
    ids,
    vendors,
    years,
)
from roofline.dashboard.charts import chart
from roofline.dashboard.fields import Values
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading
from roofline.figures.device_roofs import roofs_alt, roofs_figure
from roofline.figures.theme import Look
from roofline.figures.words import rate_name
from roofline.language import ENGLISH, later, told_in, tr
from roofline.specs.hardware import CATEGORY_WORDS, Accelerator
from roofline.specs.scenario import Scenario
from roofline.units import GIGA

_TABLE, _LISTED = "catalogue_table", "_catalogue_listed"
_OWN = later(
    "Something missing? A device of your own goes in as YAML beside Hardware in the controls, in the form of "
    "hardware_catalog.yaml; a model of your own goes in on the page Model."
)
_HALVES = {"devices": later("Hardware"), "models": later("Models")}
_ENTRIES = {"devices": later("devices"), "models": later("models")}
_USE = {"devices": later("Use this device"), "models": later("Use this model")}
_LAYERS = {"all": later("Dense and experts"), "dense": later("Dense"), "experts": later("With experts")}
_key = CATALOGUE_VIEW.widget


def draw(frame: Frame) -> None:
    """Draw the half of the catalogue that is open."""
    values = CATALOGUE_VIEW.now()
    kind = values["kind"]
    st.segmented_control(tr("Catalogue of"), KINDS, key=_key("kind"), required=True, format_func=lambda half: tr(_HALVES[half]))
    rows = _filtered(values)
    _table(kind, rows)
    chosen = values["show"] or _of_scenario(kind, frame.scenario)
    _entry(values, chosen, frame.scenario)
    if kind == "devices":
        _compare(values, frame.look)
    st.html(f'<p class="rf-note">{tr(_OWN)}</p>')


def _filtered(values: Values) -> tuple[DeviceRow, ...] | tuple[ModelRow, ...]:
    """The filters, and what they leave."""
    cells = st.grid(5, min_column_width=170)
    with cells.cell():
        st.text_input(tr("Search"), key=_key("text"), max_chars=MOST_TEXT, placeholder=tr("name, id, maker…"))
    if values["kind"] == "models":
        with cells.cell():
            st.selectbox(tr("Layers"), EXPERTS, key=_key("experts"), format_func=lambda kind: tr(_LAYERS[kind]))
        with cells.cell():
            _open_list(tr("Released from"), "year", years())
        return matching_models(text=values["text"], experts=values["experts"], year=values["year"])
    with cells.cell():
        _open_list(tr("Maker"), "vendor", vendors())
    with cells.cell():
        _open_list(tr("Kind"), "category", categories(), lambda category: tr(CATEGORY_WORDS[category]))
    with cells.cell():
        _open_list(tr("From year"), "year", years())
    with cells.cell():
        st.selectbox(
            tr("Memory at least"), MEMORIES_GB, key=_key("memory"), format_func=lambda gb: f"{gb} GB" if gb else tr("any")
        )
    return matching_devices(
        text=values["text"],
        vendor=values["vendor"],
        category=values["category"],
        year=values["year"],
        memory_bytes=values["memory"] * GIGA,
    )


def _open_list(label: str, name: str, options: Sequence[Any], words: Callable[[Any], str] = str) -> None:
    st.selectbox(label, options, index=None, key=_key(name), format_func=words, placeholder=tr("any"))


def _table(kind: str, rows: tuple[DeviceRow, ...] | tuple[ModelRow, ...]) -> None:
    """The list to sort and to choose from, and its files."""
    whole = len(ids(kind))
    with st.container(horizontal=True, vertical_alignment="center"):
        count = tr("{n:,} of {whole:,} {entries}.", n=len(rows), whole=whole, entries=tr(_ENTRIES[kind]))
        st.html(f'<p class="rf-note" role="status">{count} {tr(_HOW)}</p>')
        st.button(tr("Clear filters"), on_click=_clear, type="tertiary", disabled=len(rows) == whole)
    if not rows:
        st.html(nothing_found(tr(_ENTRIES[kind])))
        return
    shown = [row.id for row in rows]
    st.session_state[_LISTED] = shown
    table = _frame(rows)
    st.dataframe(
        table,
        hide_index=True,
        key=f"{_TABLE}_{kind}",
        on_select=partial(_picked, kind),
        selection_mode="single-row",
        column_config=columns(table),
        height=420,
        placeholder="n/a",
        alt=tr(
            "{n} {entries} of the catalogue with their main facts; the list below the table chooses the same by keyboard",
            n=len(rows),
            entries=tr(_ENTRIES[kind]),
        ),
    )
    with st.container(horizontal=True):
        st.download_button(tr("Download CSV"), partial(_csv, rows), f"{kind}.csv", "text/csv", on_click="ignore")
        file = f"{kind}.json"
        st.download_button(tr("Download JSON"), partial(json_bytes, kind, shown), file, "application/json", on_click="ignore")


_HOW = later("Click a column's head to sort by it, a row's box to read about it.")


def _frame(rows: tuple[DeviceRow, ...] | tuple[ModelRow, ...]) -> pd.DataFrame:
    devices = [row for row in rows if isinstance(row, DeviceRow)]
    return device_frame(devices) if devices else model_frame([row for row in rows if isinstance(row, ModelRow)])


def _csv(rows: tuple[DeviceRow, ...] | tuple[ModelRow, ...]) -> str:
    """The list as a file, the same in every language."""
    with told_in(ENGLISH):
        return _frame(rows).to_csv(index=False)


def _clear() -> None:
    now = CATALOGUE_VIEW.now()
    CATALOGUE_VIEW.put({**USUAL, "kind": now["kind"], "show": now["show"], "against": now["against"], "dtype": now["dtype"]})


def _picked(kind: str) -> None:
    rows = st.session_state[f"{_TABLE}_{kind}"]["selection"]["rows"]
    listed: list[str] = st.session_state.get(_LISTED, [])
    if rows and rows[0] < len(listed):
        CATALOGUE_VIEW.change(show=listed[rows[0]])


def _of_scenario(kind: str, scenario: Scenario) -> str | None:
    return catalogue_hardware_id(scenario.hardware) if kind == "devices" else catalogue_model_id(scenario.model)


def _entry(values: Values, chosen: str | None, scenario: Scenario) -> None:
    """One entry with all its facts, and a way to use it."""
    kind = values["kind"]
    words = choices.hardware_words if kind == "devices" else choices.model_words
    name = words(chosen) if chosen else tr("One of the {entries}", entries=tr(_ENTRIES[kind]))
    st.html(heading(name))
    usual = _of_scenario(kind, scenario)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hint = tr("{name}, as in the scenario", name=words(usual)) if usual else tr("choose one")
        st.selectbox(tr("Read about"), ids(kind), index=None, key=_key("show"), format_func=words, placeholder=hint, width=420)
        if chosen:
            field = "hardware" if kind == "devices" else "model"
            used = chosen == usual
            label = tr("In use on every page") if used else tr(_USE[kind])
            st.button(label, on_click=state.set_some, args=({field: chosen},), disabled=used, type="primary", key="catalogue_use")
            if kind == "devices":
                _add(chosen, values["against"])
    if chosen is None:
        st.html(f'<p class="rf-answer">{tr("Choose one to see every fact with its source.")}</p>')
    elif kind == "devices":
        _device(load_hardware(chosen))
    else:
        row = next(row for row in model_rows() if row.id == chosen)
        model = load_model(chosen)
        st.html(model_html(row, model_entries()[chosen], model, model.assumptions))


def _add(chosen: str, against: list[str]) -> None:
    st.button(
        tr("Add to the comparison"),
        on_click=CATALOGUE_VIEW.change,
        kwargs={"against": [*against, chosen]},
        disabled=chosen in against or len(against) >= MOST_ROOFS,
    )


def _device(device: Accelerator) -> None:
    """Its facts, and behind a click its many prices."""
    st.html(device_html(device))
    if not device.prices:
        return
    n = len(device.prices)
    count = tr("{n} prices, with dates and sources", n=n) if n > 1 else tr("1 price, with dates and sources")
    prices = st.expander(count, key="catalogue_prices", on_change="rerun")
    if prices.open:
        with prices:
            st.html(prices_html(device.prices, date.today()))


def _compare(values: Values, look: Look) -> None:
    """Several devices on one roofline; the figure comes with the first device."""
    st.html(heading(tr("Compare on one roofline"), tr("Up to {n} devices at one number format; peaks are dense.", n=MOST_ROOFS)))
    names = {row.id: row.name for row in device_rows()}
    left, right = st.columns([4, 1])
    with left:
        st.multiselect(
            tr("Hardware"),
            ids("devices"),
            key=_key("against"),
            format_func=names.__getitem__,
            max_selections=MOST_ROOFS,
            select_all=False,
        )
    chosen = values["against"]
    dtypes = common_dtypes(chosen)
    with right:
        options = dtypes if values["dtype"] in dtypes else (*dtypes, values["dtype"])
        st.selectbox(tr("Peak at"), options, key=_key("dtype"), format_func=rate_name, disabled=not chosen)
    if not chosen:
        return
    found, without = roofs(chosen, values["dtype"])
    if without:
        rate = rate_name(values["dtype"])
        words = tr("No {rate} peak is published for {devices}: left out.", rate=rate, devices=", ".join(without))
        st.html(f'<p class="rf-answer">{esc(words)}</p>')
    if found:
        chart(roofs_figure(found, look), "devices_chart", roofs_alt(found, values["dtype"]))
        st.html(roofs_key(found, look.palette))
