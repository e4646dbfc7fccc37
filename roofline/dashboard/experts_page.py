"""The page Dense and experts: what a mixture touches, why small batches starve it, and what sharing its experts does."""

from __future__ import annotations

from functools import partial

import streamlit as st

from roofline.answers.browse import Experts, nearest_models
from roofline.answers.experts import Mixture, mixture
from roofline.answers.report import Report
from roofline.catalog.models import load_model
from roofline.dashboard import compute_bound_note, state
from roofline.dashboard.calculator import refused
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.experts_words import (
    UNLIKE,
    cards,
    curve_frame,
    dense_cards,
    dense_sentence,
    shared_sentence,
    shared_table,
    speed_sentence,
    speed_table,
    starving,
)
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import count_words, esc, heading
from roofline.figures.model_curves import Filling, experts_alt, experts_figure
from roofline.figures.read_curves import reads_alt, reads_figure
from roofline.figures.theme import Look
from roofline.language import later, tr
from roofline.performance.counts import parameter_counts

_OFFERED = 3
_TOUCHED_KEY = later(
    "Dashed: all experts, and the tokens that keep one busy. Dotted: where each gets as many. Ring: this scenario."
)
_READS_KEY = later("Solid: this model. Dashed: dense, same active size. Dotted: dense, same total size. Rings: this scenario.")
_TWIN_KEY = later(
    "The same layers without router, each feed-forward as large as a token uses. Expected output in total on the same devices, "
    "each model with its own best plan."
)
_SHARED_KEY = later("Devices that share one set of experts; each keeps attention, and its sequences, to itself.")


def draw(frame: Frame) -> None:
    """Draw the model of the scenario as a mixture, or say that it is dense."""
    if frame.report is None:
        refused(frame)
        return
    found = mixture(frame.report)
    if found is None:
        _dense(frame.report)
    else:
        _experts(found, frame.look)


def _dense(report: Report) -> None:
    parameters = parameter_counts(load_model(report.scenario.model))
    st.html(dense_cards(report, parameters.total))
    st.html(f'<p class="rf-answer">{esc(dense_sentence(report, parameters.total))}</p>')
    compute_bound_note.draw(report, "dense")
    _offer(tr("Models with experts that use about as many parameters a token"), parameters.active, "experts")


def _experts(found: Mixture, look: Look) -> None:
    st.html(cards(found) + _text(*starving(found)))
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        st.html(heading(tr("Experts touched, and what each gets"), tr(_TOUCHED_KEY)))
        full = Filling(found.filling_tokens, found.saturating_tokens)
        chart(experts_figure(found.curve, found.met, look, full), "mixture_chart", experts_alt(found.curve, found.met))
    with pair.cell():
        st.html(heading(tr("Weights read for each token"), tr(_READS_KEY)))
        chart(reads_figure(found, look), "reads_chart", reads_alt(found))
    st.download_button(tr("Download both as CSV"), partial(_csv, found), "experts.csv", "text/csv", on_click="ignore")
    compute_bound_note.draw(found.report, "experts")
    if found.speeds:
        _speeds(found)
    else:
        st.html(_text(tr(UNLIKE)))
    _offer(tr("Dense models that use about as many parameters a token"), found.parameters.active, "dense")


def _speeds(found: Mixture) -> None:
    """What it comes to: against a dense model, and by how many devices share the experts."""
    twin = heading(tr("Against a dense model of the same active size"), tr(_TWIN_KEY))
    st.html(twin + _text(speed_sentence(found)) + speed_table(found))
    shared = heading(tr("What expert parallelism does"), tr(_SHARED_KEY))
    st.html(shared + _text(shared_sentence(found)) + shared_table(found))


def _csv(found: Mixture) -> bytes:
    return curve_frame(found).to_csv(index=False).encode()


def _text(*sentences: str) -> str:
    return "".join(f'<p class="rf-answer">{esc(sentence)}</p>' for sentence in sentences)


def _offer(title: str, active: float, experts: Experts) -> None:
    """Models to go on with."""
    st.html(heading(title, tr("A button puts the model into the scenario; Back in the browser undoes it.")))
    with st.container(horizontal=True, key="offered"):
        for row in nearest_models(active, experts, _OFFERED):
            used, total = count_words(row.active_parameters), count_words(row.total_parameters)
            label = f"{row.name}: {total}"
            if row.n_experts:
                label = tr("{model}: {active} active of {total}", model=row.name, active=used, total=total)
            st.button(label, on_click=state.set_some, args=({"model": row.id},), key=f"offer_{row.id}")
