"""Measurements of the person's own: pasted or uploaded, compared, and the two leading constants fitted to them."""

from __future__ import annotations

import logging

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
from roofline.language import cached, later, tr

MOST_UPLOAD_MB = 1
_TEXT, _FILE = "rows_text", "rows_file"
_UPLOAD_PROBLEM, _FITTED = "_rows_problem", "_rows_fitted"
_NOT_TEXT = "not text"
"""Kept of a file that cannot be read; of one that is too large, its size."""
_OPTIONAL = later("n_devices (else one), tp, pp, ep, dp, kv_format, source_name, notes")
_TOO_LARGE = later("The file has {n:,} bytes; at most {most:,} are read.")
_NO_TEXT = later("The file is not text: save the table as CSV (UTF-8).")
_KEPT = 32
"""Tables whose comparison is remembered."""

_own_rows = cached(maxsize=_KEPT)(own_rows)


@cached(maxsize=_KEPT)
def _refit(text: str) -> tuple[Refit, ...]:
    return refit(_own_rows(text).measurements)


def form() -> OwnRows | None:
    """Draw the field; what it holds, when it is a table."""
    with st.expander(tr("Your own measurements: paste or upload a table"), key="rows_open"):
        left, right = st.columns([3, 2])
        with right:
            st.html(f'<p class="rf-note">{_columns_html()}</p>')
            st.download_button(tr("Download a template"), template(), "measurements.csv", "text/csv", on_click="ignore")
            st.file_uploader(
                tr("CSV file (at most {n:,} rows)", n=MOST_ROWS),
                type=["csv", "tsv", "txt"],
                key=_FILE,
                max_upload_size=MOST_UPLOAD_MB,
                on_change=_uploaded,
                help=tr("Its text appears in the field; the file itself is not kept."),
            )
        with left:
            st.text_area(
                tr("Measurements (CSV, or cells copied from a spreadsheet)"),
                key=_TEXT,
                height=260,
                persist_state="session",
                placeholder=template(),
                help=tr("Compared on this server, written to no file, and not part of the link."),
            )
            found, problem = _read(_text())
            problem = _upload_problem() or problem
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
    st.html(heading(tr("Your measurements"), esc(own_sentence(public, summary("own", "own", known)))))
    own_table(rows)
    st.button(tr("Fit the constants to these rows"), key="rows_fit", on_click=_fit, type="primary")
    if st.session_state.get(_FITTED) != _text():
        st.html(f'<p class="rf-note">{esc(tr(_FIT_WORDS))}</p>')
        return
    try:
        fits = _refit(_text())
    except RooflineError as error:
        st.html(f'<p class="rf-bad" role="alert">{esc(error)}</p>')
        return
    st.html("".join(refit_html(item) for item in fits) + f'<p class="rf-note">{esc(tr(_AFTER_WORDS))}</p>')


_FIT_WORDS = later(
    "Finds, for each machine and engine, the share of memory bandwidth at which half of the decode rows are predicted too fast "
    "and half too slow, and the same for the share of the peak from prefill rows."
)
_AFTER_WORDS = later(
    "Errors after are those of the same rows the constants were fitted to: rows you keep back are the better test. "
    "Launch times, link shares and the band stay as shipped. The Calculator and links do not hold constants of your own."
)


def _columns_html() -> str:
    needed = ", ".join(f"<code>{esc(name)}</code>" for name in NEEDED)
    return tr(
        "Needed: {needed}. May be left out: {optional}. Models and devices by name or id of the catalogues. "
        "Kinds: {kinds}. Metrics: {metrics}.",
        needed=needed,
        optional=esc(tr(_OPTIONAL)),
        kinds=esc(", ".join(KINDS)),
        metrics=esc(", ".join(METRICS)),
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
        return None, tr("Something in this table went wrong on our side; the text is kept.")


def _text() -> str:
    return str(st.session_state.get(_TEXT) or "")


def _upload_problem() -> str | None:
    """What was wrong with the last file, told now: where it was read no language is chosen yet."""
    found = st.session_state.get(_UPLOAD_PROBLEM)
    if found is None:
        return None
    return tr(_NO_TEXT) if found == _NOT_TEXT else tr(_TOO_LARGE, n=found, most=MOST_CHARACTERS)


def _fit() -> None:
    st.session_state[_FITTED] = _text()


def _uploaded() -> None:
    """Put the file's text into the field, so that it is seen and can be edited."""
    file = st.session_state.get(_FILE)
    st.session_state[_UPLOAD_PROBLEM] = None
    if file is None:
        return
    if file.size > MOST_CHARACTERS:
        st.session_state[_UPLOAD_PROBLEM] = file.size
        return
    try:
        st.session_state[_TEXT] = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state[_UPLOAD_PROBLEM] = _NOT_TEXT
