"""The Formulas page: every formula with its sentence, equation, inputs to change, result, curve, assumptions and source."""

from __future__ import annotations

import streamlit as st

from roofline.answers.formula_curve import formula_curve
from roofline.answers.formulary import Formula, Parameter, formulary, plain_name
from roofline.dashboard.details import FIGURE_PX, chart_config
from roofline.dashboard.fields import Values
from roofline.dashboard.formula_view import AGAINST, FORMULA_VIEW, NAME, input_name, inputs, start, step
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, heading, linked, notice
from roofline.errors import InputError
from roofline.figures.formula_plot import formula_alt, formula_figure
from roofline.figures.theme import Look, as_figure
from roofline.figures.words import quantity

_TOPIC, _ALL = "formula_topic", "all"
_MANY = 1e5
"""From here on digits are hard to count."""


def draw(frame: Frame) -> None:
    """Draw the chosen formula."""
    values = FORMULA_VIEW.now()
    formula = _choice(values)
    given = inputs(values)
    st.html(
        f'<h2 class="rf-title">{esc(formula.summary)}</h2>'
        f'<p class="rf-key"><code>{esc(formula.name)}</code> in {esc(formula.topic)}, of {len(formulary())} formulas</p>'
        f'<p class="rf-equation rf-large">{esc(formula.equation)}</p>'
    )
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        _inputs(formula, values)
        st.html(_result(formula, given))
    with pair.cell():
        _curve(formula, given, values[AGAINST], frame.look)
    st.html(_about(formula))
    st.html(heading("The same from the command line"))
    st.code(command(formula, given), language="sh", wrap_lines=True)


def command(formula: Formula, given: dict[str, float]) -> str:
    """What to type for the same answer."""
    return " ".join(["roofline formula", formula.name, *(f"{name}={value:.17g}" for name, value in given.items())])


def _choice(values: Values) -> Formula:
    """Topic and name; the chosen formula stays in the list whatever the topic."""
    found = formulary()
    topics = (_ALL, *dict.fromkeys(f.topic for f in found.values()))
    left, right = st.columns([1, 3])
    with left:
        topic = st.selectbox("Topic", topics, key=_TOPIC, format_func=lambda t: "All topics" if t == _ALL else t.capitalize())
    names = [name for name, f in found.items() if topic in (_ALL, f.topic)]
    if values[NAME] not in names:
        names.insert(0, values[NAME])
    with right:
        st.selectbox(
            "Formula",
            names,
            key=FORMULA_VIEW.widget(NAME),
            format_func=lambda name: f"{plain_name(name)}: {found[name].summary} ({name})",
            help="Type any part of a name or sentence.",
        )
    return found[values[NAME]]


def _inputs(formula: Formula, values: Values) -> None:
    st.html(heading("Inputs", "As in the formula's own example until you change them."))
    cells = st.grid(2, min_column_width=180)
    for parameter in formula.parameters:
        name = input_name(formula, parameter)
        with cells.cell():
            st.number_input(
                _label(parameter, values[name]),
                key=FORMULA_VIEW.widget(name),
                step=step(parameter),
                format="%.10g",
                help=f"`{parameter.name}`",
            )
    unchanged = values == {**start(formula), AGAINST: values[AGAINST]}
    put, usual = FORMULA_VIEW.put, start(formula)
    st.button("Back to the example", on_click=put, args=(usual,), type="tertiary", disabled=unchanged)


def _label(parameter: Parameter, value: float) -> str:
    """An input with its unit and, where the digits are many, its value as people say it."""
    words = plain_name(parameter.name)
    label = f"{words[:1].upper()}{words[1:]} ({parameter.unit})" if parameter.unit else f"{words[:1].upper()}{words[1:]}"
    return f"{label}: {quantity(value, parameter.unit)}" if abs(value) >= _MANY else label


def _result(formula: Formula, given: dict[str, float]) -> str:
    """The result as people say it, and in full."""
    try:
        value = formula.value(given)
    except InputError as error:
        text = str(error)
        return notice("No value for this", esc(text[:1].upper() + text[1:]))
    return (
        f'<section class="rf-card rf-result" role="status"><h2>{esc(plain_name(formula.name))}</h2>'
        f'<p class="rf-value">{esc(quantity(value, formula.unit))}</p>'
        f'<p class="rf-band">{esc(f"{value:,.15g} {formula.unit}")}</p></section>'
    )


def _curve(formula: Formula, given: dict[str, float], against: str, look: Look) -> None:
    st.html(heading("Result against one input", "From a tenth to ten times its value; the others stay."))
    st.selectbox(
        "Against",
        [p.name for p in formula.parameters],
        key=FORMULA_VIEW.widget(AGAINST),
        format_func=plain_name,
    )
    try:
        curve = formula_curve(formula, given, against)
    except InputError as error:
        st.html(f'<p class="rf-answer">No curve: {esc(error)}</p>')
        return
    figure, config = as_figure(formula_figure(curve, look)), chart_config(look, formula.name)
    st.plotly_chart(figure, theme=None, key="formula_chart", config=config, alt=formula_alt(curve))


def _about(formula: Formula) -> str:
    source = f'<p class="rf-answer">{linked(formula.source)}</p>'
    assumed = f'<p class="rf-answer">{linked(formula.assumptions)}</p>' if formula.assumptions else ""
    return heading("Assumptions and limits") + assumed + heading("Source") + source
