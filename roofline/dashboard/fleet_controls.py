"""The Fleet page's controls: every assumption in a field of its own, written to the address."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from roofline import link
from roofline.answers.fleet_examples import EXAMPLES, FleetExample
from roofline.catalog.fleet import Assumed, fleet_defaults
from roofline.dashboard import carried, choices, state
from roofline.dashboard.fleet_words import people_words
from roofline.dashboard.page_controls import bound, change, number
from roofline.dashboard.quantities import CALL, DAY, PEOPLE, SMALL_SHARE, Quantity
from roofline.dashboard.text import esc, first_upper, heading
from roofline.errors import RooflineError
from roofline.language import later, localised, tr
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario

_TYPED = "_fleet_typed"
_EXAMPLE_KEY = "fleet_example"
_MOST_TEXT = 400
_NONE = "none"
_TEXTS = {
    "regions": (later("Regions"), later("name:share:UTC offset:round trip in s, …, such as us:0.4:-6:0.04,eu:0.6:1:0.03")),
    "mix": (later("Other hardware beside it"), later("hardware:share of calls, such as 8xmi300x:0.3. Empty: none.")),
}
_BLOCKS = ((later("People"), PEOPLE), (later("A call"), CALL), (later("A day, and what stands ready"), DAY))


def example_list() -> None:
    """Fleets to start from."""
    st.selectbox(
        tr("Examples of fleets"),
        EXAMPLES,
        index=None,
        key=_EXAMPLE_KEY,
        format_func=lambda example: tr(example.title),
        placeholder=tr("Start from a fleet…"),
        help=tr("Sets the model, the machine and every assumption. Back in the browser undoes it."),
        on_change=_take_example,
        width=420,
    )


def _take_example() -> None:
    example: FleetExample | None = st.session_state.get(_EXAMPLE_KEY)
    if example is not None:
        state.set_controls(example.fleet.replica)
        _carry(example.fleet)
        st.session_state[_EXAMPLE_KEY] = None


def assumptions(asked: FleetScenario, found: Assumed, scenario: Scenario) -> None:
    """Every assumption, group by group."""
    for title, quantities in _BLOCKS:
        st.html(heading(tr(title), people_words(found) if quantities is PEOPLE else "", level=3))
        columns = st.grid(len(quantities), min_column_width=165)
        for quantity in quantities:
            with columns.cell():
                _number(quantity, asked, found, scenario)
    _places(asked, found, scenario)


def _number(quantity: Quantity, asked: FleetScenario, found: Assumed, scenario: Scenario) -> None:
    name = quantity.field
    write: Callable[[float | None], None] = partial(_ask, asked, name)
    info = FleetScenario.model_fields.get(name)
    if info is None:
        info, write = Scenario.model_fields[name], partial(_ask_call, scenario, name)
    part = getattr(found, name, None)
    if part is None:
        empty, help_text = tr("no limit"), tr("Facility included.")
        number(quantity, info, getattr(asked, name), write, placeholder=empty, help_text=help_text)
        return
    help_text = tr("{unit}. Usual: {usual}", unit=tr(part.unit), usual=_usual(quantity))
    number(quantity, info, part.value, write, help_text=help_text)
    problem = _typed_problem(asked, name)
    _still(problem and f"{quantity.name}{problem.removeprefix(name)}", localised(f"{quantity.shown(part.value):,.9g}"))


def _typed_problem(asked: FleetScenario, name: str) -> str:
    """Why what was typed into a field could not be; empty where it could."""
    typed = st.session_state.get(_TYPED, {}).get(name)
    return "" if typed is None else _problem(asked, name, typed)


def _still(problem: str, value: str) -> None:
    if problem:
        told = tr("{problem} The page still shows {value}.", problem=first_upper(problem), value=value)
        st.html(f'<p class="rf-bad" role="alert">{esc(told)}</p>')


def _usual(quantity: Quantity) -> str:
    default = fleet_defaults()[quantity.field]
    return f"{localised(f'{quantity.shown(default.value):,.9g}')}, {default.source}"


def _ask_call(scenario: Scenario, name: str, value: float | None) -> None:
    change(scenario, **{name: Scenario.model_fields[name].default if value is None else value})


def _ask(asked: FleetScenario, name: str, value: object) -> None:
    """Carry a fleet with one other value; one that cannot be is kept in its field. Callbacks only."""
    typed = {key: kept for key, kept in st.session_state.get(_TYPED, {}).items() if key != name}
    try:
        changed = _with(asked, name, value)
    except RooflineError:
        typed[name] = str(value)
    else:
        _carry(changed)
    st.session_state[_TYPED] = typed


def _with(asked: FleetScenario, name: str, value: object) -> FleetScenario:
    default = fleet_defaults().get(name)
    usual = default is not None and value == default.value
    held = {field: getattr(asked, field) for field in FleetScenario.model_fields}
    return link.checked_fleet({**held, **_with_it(name, value), name: None if usual else value})


def _with_it(name: str, value: object) -> dict[str, None]:
    """Without a small model there is neither share nor machine of one."""
    return {"small_share": None, "small_hardware": None} if name == "small_model" and value is None else {}


def _carry(asked: FleetScenario) -> None:
    st.session_state[_TYPED] = {}
    state.carry(link.FLEET_PREFIX, carried.fleet_part(asked))


def _places(asked: FleetScenario, found: Assumed, scenario: Scenario) -> None:
    """Regions, other hardware, and the small model."""
    st.html(heading(tr("Where, and on what"), level=3))
    columns = st.grid(2, min_column_width=330)
    for name, (label, help_text) in _TEXTS.items():
        with columns.cell():
            held = ",".join(str(item) for item in getattr(asked, name))
            _text(asked, name, (tr(label), tr(help_text)), held, partial(_ask, asked, name))
    columns = st.grid(3, min_column_width=220)
    with columns.cell():
        models = (_NONE, *choices.models())
        current = asked.small_model or _NONE
        shown = models if current in models else (*models, current)
        control = bound("small_model", current, lambda ref: _ask(asked, "small_model", None if ref == _NONE else ref))
        st.selectbox(tr("Small model for easy calls"), shown, format_func=_model_words, **control)
    if asked.small_model is None:
        return
    with columns.cell():
        device, held = choices.hardware_words(scenario.hardware), asked.small_hardware or ""
        help_text = tr("Such as 1xh100-sxm. Empty: one {device}.", device=device)
        write = partial(_ask_small_hardware, asked)
        _text(asked, "small_hardware", (tr("Its machine"), help_text), held, write)
    with columns.cell():
        info = FleetScenario.model_fields[SMALL_SHARE.field]
        number(SMALL_SHARE, info, found.small_share.value, partial(_ask, asked, SMALL_SHARE.field), help_text=_usual(SMALL_SHARE))


def _ask_small_hardware(asked: FleetScenario, text: str) -> None:
    _ask(asked, "small_hardware", text.strip() or None)


def _text(asked: FleetScenario, name: str, words: tuple[str, str], value: str, write: Callable[[str], None]) -> None:
    """A field of text; what could not be read stays in it, with the reason under it."""
    problem = _typed_problem(asked, name)
    label, help_text = words
    control = bound(name, st.session_state[_TYPED][name] if problem else value, write)
    st.text_input(label, help=help_text, max_chars=_MOST_TEXT, **control)
    _still(problem, value or tr("none"))


def _problem(asked: FleetScenario, name: str, typed: str) -> str:
    """Why a value cannot be; worked out where it is shown, as callbacks know no language."""
    try:
        _with(asked, name, typed)
    except RooflineError as error:
        return str(error)
    return ""


def _model_words(ref: str) -> str:
    return tr("None") if ref == _NONE else choices.model_words(ref)
