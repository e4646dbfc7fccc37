"""The Model page: what a model is made of, and a way to bring one's own."""

from __future__ import annotations

import streamlit as st

from roofline.answers.anatomy import Anatomy, anatomy, own_model
from roofline.catalog.boxes import load_box
from roofline.dashboard import choices
from roofline.dashboard import own_model as own
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.fields import AUTO
from roofline.dashboard.model_blocks import (
    assumptions_html,
    format_name,
    layer_strip,
    model_cards,
    part_bars,
    short_format_name,
    weight_bars,
)
from roofline.dashboard.model_tables import tables
from roofline.dashboard.model_words import stack_sentence
from roofline.dashboard.page_view import PREFIX as VIEW_PREFIX
from roofline.dashboard.shell import Frame
from roofline.dashboard.state import current_view
from roofline.dashboard.text import esc, heading, notice
from roofline.dashboard.view import BATCHES, CONTEXTS, View
from roofline.errors import RooflineError
from roofline.figures.model_curves import CacheMarks, cache_alt, cache_figure, cache_key, experts_alt, experts_figure
from roofline.figures.theme import Look
from roofline.language import later, localised, tr
from roofline.specs.scenario import Scenario

_EXPERTS_KEY = later("Experts of one layer that at least one token of a step visits, when all are equally likely.")


def draw(frame: Frame) -> None:
    """Draw the model of the scenario, or the one that is pasted."""
    pasted = own.form(frame.scenario.model)
    view = current_view()
    cache_format = _cache_format(frame, view)
    try:
        found = anatomy(pasted or frame.scenario.model, kv_cache=cache_format, context=view.context, batch=view.batch)
    except RooflineError as error:
        text = str(error)
        st.html(notice(tr("This model cannot be laid open"), esc(text[:1].upper() + text[1:])))
        return
    st.html(_which(found, frame, pasted) + model_cards(found, view, cache_format))
    st.html(f'<p class="rf-answer">{esc(stack_sentence(found))}</p>')
    _layers(found, frame.look)
    _bars(found, frame.look)
    _controls(found, frame.scenario)
    _figures(found, frame.scenario, view, cache_format, frame.look)
    st.html(heading(tr("The figures as tables")))
    tables(found)
    st.html(
        heading(tr("Assumptions and source"), tr("What was read into the configuration where it is silent."))
        + assumptions_html(found)
    )


def _cache_format(frame: Frame, view: View) -> str:
    """The view's format, else the scenario's."""
    if view.cache != AUTO:
        return view.cache
    return frame.report.formats.kv_cache if frame.report is not None else frame.scenario.kv_cache or "bf16"


def _which(found: Anatomy, frame: Frame, pasted: str | None) -> str:
    """Whose model is shown, where that is not plain."""
    name = f"<strong>{esc(found.counts.name)}</strong>"
    if pasted is not None:
        other = esc(choices.model_words(frame.scenario.model))
        words = tr("{model}, as pasted. The other pages still show {other}.", model=name, other=other)
        return f'<p class="rf-own" role="status">{words}</p>'
    if own_model(frame.scenario.model):
        words = tr("{model} is a model of your own: every page shows it, and it travels in the link.", model=name)
        return f'<p class="rf-own" role="status">{words}</p>'
    return ""


def _layers(found: Anatomy, look: Look) -> None:
    st.html(heading(tr("Layers in order"), tr("One cell is one layer.")) + layer_strip(found, look.palette))


def _bars(found: Anatomy, look: Look) -> None:
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        key = tr("Full colour: what a token visits. Pale: the rest.") if found.experts else tr("A token visits all of them.")
        st.html(heading(tr("Parameters by part"), key) + part_bars(found, look.palette))
    with pair.cell():
        st.html(
            heading(tr("Weights by format"), tr("Scales included, tables as each format keeps them."))
            + weight_bars(found.weights, look.palette)
        )


def _controls(found: Anatomy, scenario: Scenario) -> None:
    """What the figures look at; no part of the scenario."""
    columns = st.grid(3 if found.experts else 2, min_column_width=230)
    with columns.cell():
        st.select_slider(
            tr("Context (tokens)"),
            CONTEXTS,
            key=f"{VIEW_PREFIX}context",
            format_func=lambda tokens: localised(f"{tokens:,}"),
            help=tr("Length of one sequence, for the cache. Does not change the scenario."),
        )
    with columns.cell():
        usual = tr("As in the scenario: {usual}", usual=format_name(scenario.kv_cache) if scenario.kv_cache else tr("16 bit"))
        st.selectbox(
            tr("Cache format"),
            choices.formats("kv_cache"),
            key=f"{VIEW_PREFIX}cache",
            format_func=lambda ref: usual if ref == AUTO else choices.format_words(ref, "kv_cache"),
            help=tr("Format of keys and values, for this page. Does not change the scenario."),
        )
    if found.experts:
        with columns.cell():
            st.select_slider(
                tr("Tokens in a step"),
                BATCHES,
                key=f"{VIEW_PREFIX}batch",
                format_func=lambda tokens: localised(f"{tokens:,}"),
                help=tr("Batch for the experts: in decode, the sequences at once. Does not change the scenario."),
            )


def _figures(found: Anatomy, scenario: Scenario, view: View, cache_format: str, look: Look) -> None:
    pair = st.grid(2 if found.experts else 1, min_column_width=FIGURE_PX)
    device = load_box(scenario.hardware)
    marks = CacheMarks(view.context, scenario.input_tokens + scenario.output_tokens, device.name, device.usable_memory_bytes)
    with pair.cell():
        title = tr("Cache against context, {format}", format=short_format_name(cache_format))
        st.html(heading(title, esc(cache_key(found))))
        if found.cache.least_bytes.any():
            chart(cache_figure(found, marks, look), "cache_chart", cache_alt(found, marks))
        else:
            st.html(f'<p class="rf-answer">{tr("This model keeps neither cache nor state.")}</p>')
    if found.experts is None:
        return
    with pair.cell():
        st.html(heading(tr("Experts touched against tokens in a step"), tr(_EXPERTS_KEY)))
        chart(experts_figure(found.experts, view.batch, look), "experts_chart", experts_alt(found.experts, view.batch))
