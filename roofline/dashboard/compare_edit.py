"""Adding, changing, swapping and removing the scenarios that A is compared with: all of it writes the link and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from roofline.answers.compare import variants
from roofline.dashboard import choices, state
from roofline.dashboard.compare_words import NO_OTHERS, SWAP_HELP, VARIANT_WORDS
from roofline.dashboard.fields import AUTO, FORMATS, KNOBS, LABELS, LOADS, MANUAL, Values, asked, control_values
from roofline.dashboard.text import esc
from roofline.language import ENGLISH, chosen, later, tr
from roofline.link import COMPARED, VERSION, encode
from roofline.link_compare import encode_others
from roofline.specs.scenario import Scenario

_LETTER_KEY, _EDITED = "cmp_letter", "_cmp_edited"
_LOAD_WORDS = {"batch": later("Batch"), "rate": later("Requests/s"), "most": later("Most that fit")}
_NAMES = {
    "engine": later("Engine"),
    "weights": later("Weights"),
    "activations": later("Activations"),
    "kv_cache": later("Cache"),
    "load": later("Load"),
    **LABELS,
}
_COLUMNS = 4
_FIRST_FIELDS = ("model", "hardware", "devices", "weights", "engine", "input_tokens", "output_tokens")
_MORE_FIELDS = ("load", "activations", "kv_cache", "usd_per_device_hour", *KNOBS)


@dataclass(frozen=True)
class Board:
    """The scenarios on the table."""

    first: Scenario
    others: dict[str, Scenario]

    @property
    def free(self) -> str | None:
        """The next letter nobody has."""
        return next((letter for letter in COMPARED if letter not in self.others), None)


def editor(board: Board, calculator: Any) -> None:  # noqa: ANN401
    """Buttons to add, and the controls of one of the others, with a way to the page that answers it alone."""
    if not board.others:
        st.html(f'<p class="rf-answer">{esc(tr(NO_OTHERS))}</p>')
    if board.free is not None:
        _adders(board, board.free)
    if not board.others:
        return
    with st.container(border=True, key="cmp_edit"):
        letter = _letter(board)
        _actions(board, letter, calculator)
        _fields(board, letter)


def _adders(board: Board, free: str) -> None:
    """One button for each question worth asking next."""
    with st.container(horizontal=True, key="cmp_add", vertical_alignment="center"):
        st.html(f'<p class="rf-key">{esc(tr("Add {letter}:", letter=free.upper()))}</p>', width="content")
        for name, scenario in variants(board.first).items():
            st.button(tr(VARIANT_WORDS[name]), key=f"cmp_add_{name}", on_click=_put, args=(board, free, scenario))


def _letter(board: Board) -> str:
    """Whose controls are shown."""
    letters = list(board.others)
    if st.session_state.get(_LETTER_KEY) not in letters:
        st.session_state[_LETTER_KEY] = letters[-1]
    words = str.upper
    st.segmented_control(tr("Change"), letters, key=_LETTER_KEY, format_func=words, required=True, on_change=_forget)
    return str(st.session_state[_LETTER_KEY])


def _forget() -> None:
    st.session_state[_EDITED] = None


def _actions(board: Board, letter: str, calculator: Any) -> None:  # noqa: ANN401
    name = letter.upper()
    with st.container(horizontal=True, key="cmp_actions", vertical_alignment="center"):
        swap, words = tr("Swap {letter} with A", letter=name), tr(SWAP_HELP)
        st.button(swap, key="cmp_swap", on_click=_swap, args=(board, letter), help=words)
        if board.free is not None:
            copy = tr("Copy {letter} to {free}", letter=name, free=board.free.upper())
            st.button(copy, key="cmp_copy", on_click=_put, args=(board, board.free, board.others[letter]))
        st.button(tr("Remove {letter}", letter=name), key="cmp_remove", on_click=_remove, args=(board, letter))
        query = encode(board.others[letter]) or {"v": VERSION}
        if chosen() != ENGLISH:
            query[state.LANGUAGE_KEY] = chosen()
        label = tr("Open {letter} in the Calculator", letter=name)
        st.page_link(calculator, label=label, query_params=query, width="content")


def _put(board: Board, letter: str, scenario: Scenario) -> None:
    _write(board.first, {**board.others, letter: scenario})
    st.session_state[_LETTER_KEY] = letter
    _forget()


def _remove(board: Board, letter: str) -> None:
    _write(board.first, {name: scenario for name, scenario in board.others.items() if name != letter})
    _forget()


def _swap(board: Board, letter: str) -> None:
    """A takes the other's place; what was asked of the rest stays."""
    state.set_controls(board.others[letter])
    _write(board.others[letter], {**board.others, letter: board.first})
    _forget()


def _write(first: Scenario, others: Mapping[str, Scenario]) -> None:
    """Put the others into the link, in place of those there."""
    old = {name: None for name in state.page_values() if name.partition(".")[0] in COMPARED}
    state.set_page({**old, **encode_others(first, others)})


def _fields(board: Board, letter: str) -> None:
    """The controls of one scenario; each shows what the link says."""
    values, as_a = control_values(board.others[letter]), control_values(board.first)
    load = {"batch": ("batch",), "rate": ("request_rate",)}.get(values["load"], ())
    _grid(board, letter, (*_FIRST_FIELDS, *load))
    used = [_label(name) for name in _MORE_FIELDS if values[name] != as_a[name]]
    title = tr("More: {names}", names=", ".join(used)) if used else tr("More: load, formats, price, plan")
    with st.expander(title, key="cmp_more", on_change="rerun") as more:
        if more.open:
            _grid(board, letter, _MORE_FIELDS)


def _grid(board: Board, letter: str, names: Sequence[str]) -> None:
    """Controls in rows of four, each with what is wrong with it."""
    values, as_a = control_values(board.others[letter]), control_values(board.first)
    edited = st.session_state.get(_EDITED)
    problems = {} if edited is None else _taken(*edited)[1]
    for start in range(0, len(names), _COLUMNS):
        for name, column in zip(names[start : start + _COLUMNS], st.columns(_COLUMNS), strict=False):
            with column:
                _field(board, letter, name, values[name], changed=values[name] != as_a[name])
                if name in problems:
                    st.html(f'<p class="rf-bad" role="alert">{esc(problems[name])}</p>')


def _label(name: str) -> str:
    return tr(_NAMES[name])


def _field(board: Board, letter: str, name: str, value: Any, *, changed: bool) -> None:  # noqa: ANN401
    """One control; a mark where it differs from A."""
    key = f"cmp_{name}"
    st.session_state[key] = float(value) if isinstance(value, int) else value
    label = tr("{name} (not as A)", name=_label(name)) if changed else _label(name)
    common: dict[str, Any] = {"key": key, "on_change": _edit, "args": (board, letter, name)}
    lists = _lists()
    if name in lists:
        options, words = lists[name]
        shown = options if value in options else (*options, value)
        st.selectbox(label, shown, format_func=words, **common)
    else:
        step = 1.0 if isinstance(value, int) or name in KNOBS else 0.1
        st.number_input(label, value=None, step=step, placeholder=tr("auto"), format="%g", **common)


def _lists() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Controls that are lists: options and words."""
    return {
        "model": ((*choices.models(), *state.own("model")), choices.model_words),
        "hardware": ((*choices.hardware(), *state.own("hardware")), choices.hardware_words),
        "engine": (choices.engines(), choices.engine_words),
        "load": (LOADS, lambda load: tr(_LOAD_WORDS[load])),
        **{role: (choices.formats(role), partial(choices.format_words, role=role)) for role in FORMATS},
    }


def _edit(board: Board, letter: str, name: str) -> None:
    """Take one control over; what cannot be is told beside it and changes nothing."""
    before = board.others[letter]
    values = {**control_values(before), name: st.session_state[f"cmp_{name}"]}
    if name in KNOBS:
        values["plan"] = MANUAL if any(values[knob] is not None for knob in KNOBS) else AUTO
    st.session_state[_EDITED] = values, before
    _write(board.first, {**board.others, letter: _taken(values, before)[0]})


def _taken(values: Values, before: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario that controls ask for, and a sentence for each that cannot be taken over."""
    scenario, problems = asked(values, before)
    scenario, unknown = choices.known(scenario, before)
    return scenario, {**problems, **unknown}
