"""Measurements of the person's own: pasted or uploaded, compared, and the two leading constants fitted to them."""

from __future__ import annotations

import logging
from functools import lru_cache

import streamlit as st

from roofline.answers.accuracy import Trust
from roofline.answers.mapping import KINDS
from roofline.answers.own_rows import METRICS, MOST_CHARACTERS, MOST_ROWS, NEEDED, OwnRows, own_rows, template
from roofline.answers.refit import Refit, refit
from roofline.answers.validation import counted, summary
from roofline.dashboard.accuracy_tables import own_table
from roofline.dashboard.accuracy_words import own_sentence, problems_html, refit_html
from roofline.dashboard.text import esc, heading
from roofline.errors import RooflineError

MOST_UPLOAD_MB = 1
_TEXT, _FILE = "rows_text", "rows_file"
_UPLOAD_PROBLEM, _FITTED = "_rows_problem", "_rows_fitted"
_OPTIONAL = "n_devices (else one), tp, pp, ep, dp, kv_format, source_name, notes"
_KEPT = 32
"""Tables whose comparison is remembered."""

_own_rows = lru_cache(maxsize=_KEPT)(own_rows)


@lru_cache(maxsize=_KEPT)
def _refit(text: str) -> tuple[Refit, ...]:
    return refit(_own_rows(text).measurements)


def form() -> OwnRows | None:
    """Draw the field; what it holds, when it is a table."""
    with st.expander("Your own measurements: paste or upload a table", key="rows_open"):
        left, right = st.columns([3, 2])
        with right:
            st.html(f'<p class="rf-note">{_columns_html()}</p>')
            st.download_button("Download a template", template(), "measurements.csv", "text/csv", on_click="ignore")
            st.file_uploader(
                f"CSV file (at most {MOST_ROWS:,} rows)",
                type=["csv", "tsv", "txt"],
                key=_FILE,
                max_upload_size=MOST_UPLOAD_MB,
                on_change=_uploaded,
                help="Its text appears in the field; the file itself is not kept.",
            )
        with left:
            st.text_area(
                "Measurements (CSV, or cells copied from a spreadsheet)",
                key=_TEXT,
                height=260,
                persist_state="session",
                placeholder=template(),
                help="Compared on this server, written to no file, and not part of the link.",
            )
            found, problem = _read(_text())
            problem = st.session_state.get(_UPLOAD_PROBLEM) or problem
            if problem:
                st.html(f'<p class="rf-bad" role="alert">{esc(problem)}</p>')
            if found is not None and found.problems:
                st.html(problems_html(found.problems))
    return found


def results(found: OwnRows, public: Trust) -> None:
    """The rows beside their predictions, and the constants they ask for."""
    rows = found.validation.rows
    known = counted(rows)
    if not known:
        return
    st.html(heading("Your measurements", esc(own_sentence(public, summary("own", "own", known)))))
    own_table(rows)
    st.button("Fit the constants to these rows", key="rows_fit", on_click=_fit, type="primary")
    if st.session_state.get(_FITTED) != _text():
        st.html(f'<p class="rf-note">{_FIT_WORDS}</p>')
        return
    try:
        fits = _refit(_text())
    except RooflineError as error:
        st.html(f'<p class="rf-bad" role="alert">{esc(error)}</p>')
        return
    st.html("".join(refit_html(item) for item in fits) + f'<p class="rf-note">{_AFTER_WORDS}</p>')


_FIT_WORDS = (
    "Finds, for each machine and engine, the share of memory bandwidth at which half of the decode rows are predicted too fast "
    "and half too slow, and the same for the share of the peak from prefill rows."
)
_AFTER_WORDS = (
    "Errors after are those of the same rows the constants were fitted to: rows you keep back are the better test. "
    "Launch times, link shares and the band stay as shipped. The Calculator and links do not hold constants of your own."
)


def _columns_html() -> str:
    needed = ", ".join(f"<code>{esc(name)}</code>" for name in NEEDED)
    return (
        f"Needed: {needed}. May be left out: {esc(_OPTIONAL)}. Models and devices by name or id of the catalogues. "
        f"Kinds: {esc(', '.join(KINDS))}. Metrics: {esc(', '.join(METRICS))}."
    )


def _read(text: str) -> tuple[OwnRows | None, str | None]:
    """The table, or one sentence on what is wrong with it."""
    if not text.strip():
        return None, None
    try:
        return _own_rows(text), None
    except RooflineError as error:
        words = str(error)
        return None, f"{words[:1].upper()}{words[1:]}"
    except Exception:
        logging.getLogger(__name__).exception("a table of measurements could not be compared")
        return None, "Something in this table went wrong on our side; the text is kept."


def _text() -> str:
    return str(st.session_state.get(_TEXT) or "")


def _fit() -> None:
    st.session_state[_FITTED] = _text()


def _uploaded() -> None:
    """Put the file's text into the field, so that it is seen and can be edited."""
    file = st.session_state.get(_FILE)
    st.session_state[_UPLOAD_PROBLEM] = None
    if file is None:
        return
    if file.size > MOST_CHARACTERS:
        st.session_state[_UPLOAD_PROBLEM] = f"The file has {file.size:,} bytes; at most {MOST_CHARACTERS:,} are read."
        return
    try:
        st.session_state[_TEXT] = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state[_UPLOAD_PROBLEM] = "The file is not text: save the table as CSV (UTF-8)."
