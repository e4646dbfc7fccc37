"""Controls on a page that show and change what is kept elsewhere, in the scenario or the address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from pydantic.fields import FieldInfo

from roofline.dashboard import state
from roofline.dashboard.fields import control_values
from roofline.dashboard.quantities import Quantity
from roofline.language import tr
from roofline.specs.scenario import Scenario


def bound(name: str, value: Any, write: Callable[[Any], None]) -> dict[str, Any]:  # noqa: ANN401
    """Key and callback of a control that shows a value, and hands over the new one before the next run."""
    key = f"page_{name}"
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: write(st.session_state[key])}


def change(scenario: Scenario, **fields: Any) -> None:  # noqa: ANN401
    """Let the scenario's own controls show other values; those beside them keep what was typed. Callbacks only."""
    before, after = control_values(scenario), control_values(scenario.model_copy(update=fields))
    state.set_some({name: value for name, value in after.items() if value != before[name]})


def number(
    quantity: Quantity,
    info: FieldInfo,
    value: float | None,
    write: Callable[[float | None], None],
    *,
    help_text: str | None = None,
    placeholder: str | None = None,
) -> None:
    """A number of a page; with a placeholder it may be left empty, and says what then holds."""
    shown = quantity.shown(value)
    control = bound(quantity.field, shown, lambda new: write(quantity.read(new)))
    empty: dict[str, Any] = {} if placeholder is None else {"value": None, "placeholder": placeholder}
    st.number_input(tr(quantity.label), help=help_text, **quantity.settings(info, shown), **empty, **control)
