"""A configuration of the person's own: pasted or uploaded, read as text, and put into the link when asked."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from roofline.adapters.files import parse_json
from roofline.adapters.inline import pack
from roofline.catalog.models import load_model
from roofline.dashboard import state
from roofline.dashboard.text import esc
from roofline.errors import RooflineError
from roofline.language import later, tr

MOST_UPLOAD_MB = 1
NAME_CHARACTERS = 60
_TEXT, _NAME, _FILE = "own_text", "own_name", "own_file"
_USED, _UPLOAD_PROBLEM = "_own_used", "_own_upload_problem"
_HELP = later("The config.json that comes with a model on the Hub. Only its structure is read; nothing in it is run.")
_NO_TEXT = later("The file is not text: choose the model's config.json.")
_NOTHING = later("Paste or upload a configuration first.")


@dataclass(frozen=True)
class Own:
    """What the field holds."""

    ref: str | None = None
    """The configuration as a reference, when it is one."""
    problem: str | None = None


def packed(text: str, name: str) -> Own:
    """A text as a model reference, or one sentence on what is wrong with it."""
    if not text.strip():
        return Own()
    try:
        config = parse_json(text, tr("The text"))
        ref = pack({**config, "name": _name(name, config)})
        load_model(ref)
    except RooflineError as error:
        words = str(error)
        return Own(problem=f"{words[:1].upper()}{words[1:]}")
    return Own(ref)


def _name(given: str, config: dict[str, object]) -> str:
    """The person's name for it, else what the file calls itself."""
    path = config.get("_name_or_path")
    last = path.strip("/").rsplit("/", 1)[-1] if isinstance(path, str) else None
    for candidate in (given, config.get("name"), last, config.get("model_type")):
        if isinstance(candidate, str) and candidate.strip():
            return candidate.strip()[:NAME_CHARACTERS]
    return "your model"


def form(used: str) -> str | None:
    """Draw the fields; the reference of a configuration that is pasted but not used yet."""
    with st.expander(tr("A model of your own: paste or upload its config.json"), key="own_open"):
        left, right = st.columns([3, 2])
        with right:
            st.text_input(
                tr("Name"),
                key=_NAME,
                max_chars=NAME_CHARACTERS,
                placeholder=tr("as the file says"),
                persist_state="session",
                help=tr("What the pages call it."),
            )
            st.file_uploader(
                tr("config.json (at most {n} MB)", n=MOST_UPLOAD_MB),
                type=["json"],
                key=_FILE,
                max_upload_size=MOST_UPLOAD_MB,
                on_change=_uploaded,
                help=tr("Its text appears in the field; the file itself is not kept."),
            )
        with left:
            title, about = tr("Configuration (JSON)"), tr(_HELP)
            st.text_area(title, key=_TEXT, height=210, persist_state="session", help=about, placeholder=_EXAMPLE)
            own = packed(_text(), _given_name())
            upload = st.session_state.get(_UPLOAD_PROBLEM)
            _told(tr(upload) if upload else own.problem)
            st.button(tr("Use this model"), on_click=_use, type="primary", key="own_use")
            pending = own.ref if own.ref not in (None, used, st.session_state.get(_USED)) else None
            st.html(f'<p class="rf-note" role="status">{_status(own.ref, pending, used)}</p>')
    return pending


def _status(ref: str | None, pending: str | None, used: str) -> str:
    """Where the configuration in the field has got to."""
    if pending is not None:
        return tr("Understood, and shown below. It is not used yet.")
    if ref is not None and ref == used:
        return tr("In use on every page.")
    return tr("Once used, it becomes part of the link and is kept nowhere else.")


_EXAMPLE = '{"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, …}'


def _told(problem: str | None) -> None:
    if problem:
        st.html(f'<p class="rf-bad" role="alert">{esc(problem)}</p>')


def _text() -> str:
    return str(st.session_state.get(_TEXT) or "")


def _given_name() -> str:
    return str(st.session_state.get(_NAME) or "")


def _uploaded() -> None:
    """Put the file's text into the field, so that it is seen and can be edited."""
    file = st.session_state.get(_FILE)
    st.session_state[_UPLOAD_PROBLEM] = None
    if file is None:
        return
    try:
        st.session_state[_TEXT] = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state[_UPLOAD_PROBLEM] = _NO_TEXT


def _use() -> None:
    """Make the configuration the scenario's model; the field keeps its text."""
    own = packed(_text(), _given_name())
    if own.ref is None:
        if own.problem is None:
            st.session_state[_UPLOAD_PROBLEM] = _NOTHING
        return
    st.session_state[_UPLOAD_PROBLEM] = None
    st.session_state[_USED] = own.ref
    state.set_some({"model": own.ref})
