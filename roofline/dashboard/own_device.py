"""A device of the person's own: its YAML file, uploaded beside the list, read as text and put into the link."""

from __future__ import annotations

import streamlit as st

from roofline.catalog.hardware import packed_device
from roofline.dashboard import state
from roofline.dashboard.text import esc
from roofline.errors import RooflineError
from roofline.language import later, told_in, tr

MOST_UPLOAD_MB = 1
_NOT_TEXT = later("The file is not text: choose a YAML file in the catalogue's form.")
_FILE, _PROBLEM = "own_device_file", "_own_device_problem"
_HELP = later(
    "One entry in the form of hardware_catalog.yaml, such as 'roofline measure --out mine.yaml' writes on your machine. "
    "It becomes part of the link and is kept nowhere else."
)


def form() -> None:
    """Draw the field, with what is wrong with a file beneath it."""
    problem = st.session_state.get(_PROBLEM)
    with st.expander(tr("A device of your own"), key="own_device_open", expanded=problem is not None):
        st.file_uploader(
            tr("Device file (YAML)"),
            type=["yaml", "yml"],
            key=_FILE,
            max_upload_size=MOST_UPLOAD_MB,
            on_change=_uploaded,
            help=tr(_HELP),
        )
        if problem:
            st.html(f'<p class="rf-bad" role="alert">{esc(tr(problem))}</p>')


def _uploaded() -> None:
    """Make the device of a file the scenario's; one that is not understood changes nothing but the sentence."""
    st.session_state[_PROBLEM] = None
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        with told_in(state.language()):  # callbacks run before a language is chosen
            ref = packed_device(file.getvalue().decode("utf-8-sig"), tr("the file"))
    except UnicodeDecodeError:
        st.session_state[_PROBLEM] = _NOT_TEXT
    except RooflineError as error:
        words = str(error)
        st.session_state[_PROBLEM] = f"{words[:1].upper()}{words[1:]}"
    else:
        state.set_some({"hardware": ref})
