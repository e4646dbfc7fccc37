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
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario

_TYPED = "_fleet_typed"
_EXAMPLE_KEY = "fleet_example"
_MOST_TEXT = 400
_NONE = "none"
_TEXTS = {
    "regions": ("Regions", "name:share:UTC offset:round trip in s, …, such as us:0.4:-6:0.04,eu:0.6:1:0.03"),
    "mix": ("Other hardware beside it", "hardware:share of calls, such as 8xmi300x:0.3. Empty: none."),
}
_BLOCKS = (("People", PEOPLE), ("A call", CALL), ("A day, and what stands ready", DAY))


def example_list() -> None:
    """Fleets to start from."""
    st.selectbox(
        "Examples of fleets",
        EXAMPLES,
        index=None,
        key=_EXAMPLE_KEY,
        format_func=lambda example: example.title,
        placeholder="Start from a fleet…",
        help="Sets the model, the machine and every assumption. Back in the browser undoes it.",
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
        st.html(heading(title, people_words(found) if quantities is PEOPLE else "", level=3))
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
        number(quantity, info, getattr(asked, name), write, placeholder="no limit", help_text="Facility included.")
        return
    number(quantity, info, part.value, write, help_text=f"{part.unit}. Usual: {_usual(quantity)}")


def _usual(quantity: Quantity) -> str:
    default = fleet_defaults()[quantity.field]
    return f"{quantity.shown(default.value):,g}, {default.source}"


def _ask_call(scenario: Scenario, name: str, value: float | None) -> None:
    change(scenario, **{name: Scenario.model_fields[name].default if value is None else value})


def _ask(asked: FleetScenario, name: str, value: object) -> None:
    """Carry a fleet with one other value; one that cannot be is kept in its field and told. Callbacks only."""
    default = fleet_defaults().get(name)
    usual = default is not None and value == default.value
    held = {field: getattr(asked, field) for field in FleetScenario.model_fields}
    typed = {key: kept for key, kept in st.session_state.get(_TYPED, {}).items() if key != name}
    try:
        changed = link.checked_fleet({**held, **_with_it(name, value), name: None if usual else value})
    except RooflineError as error:
        typed[name] = (str(value), str(error))
    else:
        _carry(changed)
    st.session_state[_TYPED] = typed


def _with_it(name: str, value: object) -> dict[str, None]:
    """Without a small model there is neither share nor machine of one."""
    return {"small_share": None, "small_hardware": None} if name == "small_model" and value is None else {}


def _carry(asked: FleetScenario) -> None:
    st.session_state[_TYPED] = {}
    state.carry(link.FLEET_PREFIX, carried.fleet_part(asked))


def _places(asked: FleetScenario, found: Assumed, scenario: Scenario) -> None:
    """Regions, other hardware, and the small model."""
    st.html(heading("Where, and on what", level=3))
    columns = st.grid(2, min_column_width=330)
    for name, (label, help_text) in _TEXTS.items():
        with columns.cell():
            _text(name, label, help_text, ",".join(str(item) for item in getattr(asked, name)), partial(_ask, asked, name))
    columns = st.grid(3, min_column_width=220)
    with columns.cell():
        models = (_NONE, *choices.models())
        current = asked.small_model or _NONE
        shown = models if current in models else (*models, current)
        control = bound("small_model", current, lambda ref: _ask(asked, "small_model", None if ref == _NONE else ref))
        st.selectbox("Small model for easy calls", shown, format_func=_model_words, **control)
    if asked.small_model is None:
        return
    with columns.cell():
        help_text = f"Such as 1xh100-sxm. Empty: one {choices.hardware_words(scenario.hardware)}."
        held = asked.small_hardware or ""
        _text("small_hardware", "Its machine", help_text, held, lambda text: _ask(asked, "small_hardware", text.strip() or None))
    with columns.cell():
        info = FleetScenario.model_fields[SMALL_SHARE.field]
        number(SMALL_SHARE, info, found.small_share.value, partial(_ask, asked, SMALL_SHARE.field), help_text=_usual(SMALL_SHARE))


def _text(name: str, label: str, help_text: str, value: str, write: Callable[[str], None]) -> None:
    """A field of text; what could not be read stays in it, with the reason under it."""
    typed, problem = st.session_state.get(_TYPED, {}).get(name, (value, ""))
    st.text_input(label, help=help_text, max_chars=_MOST_TEXT, **bound(name, typed, write))
    if problem:
        st.html(f'<p class="rf-bad" role="alert">{esc(first_upper(problem))} The page still shows {esc(value or _NONE)}.</p>')


def _model_words(ref: str) -> str:
    return "None" if ref == _NONE else choices.model_words(ref)
