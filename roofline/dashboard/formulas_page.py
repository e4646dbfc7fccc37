"""The Formulas page: every formula with its sentence, equation, inputs to change, result, curve, assumptions and source."""

from __future__ import annotations

import streamlit as st

from roofline.answers.formula_curve import formula_curve
from roofline.answers.formulary import Formula, Parameter, formulary, plain_name, unit_words
from roofline.dashboard.charts import FIGURE_PX, chart
from roofline.dashboard.fields import Values
from roofline.dashboard.formula_view import AGAINST, FORMULA_VIEW, NAME, input_name, inputs, start, step
from roofline.dashboard.shell import Frame
from roofline.dashboard.text import esc, first_upper, heading, linked, notice
from roofline.errors import InputError
from roofline.figures.formula_plot import formula_alt, formula_figure
from roofline.figures.theme import Look
from roofline.figures.words import quantity
from roofline.language import later, localised, tr

_TOPIC, _ALL = "formula_topic", "all"
_MANY = 1e5
"""From here on digits are hard to count."""
TOPICS = {
    "attention": later("attention"),
    "bounds": later("bounds"),
    "capital": later("capital"),
    "collectives": later("collectives"),
    "cost": later("cost"),
    "energy": later("energy"),
    "exchange": later("exchange"),
    "experts": later("experts"),
    "fleet": later("fleet"),
    "hierarchy": later("hierarchy"),
    "imbalance": later("imbalance"),
    "manyserver": later("manyserver"),
    "memory": later("memory"),
    "operators": later("operators"),
    "overlap": later("overlap"),
    "ownership": later("ownership"),
    "pipeline": later("pipeline"),
    "profit": later("profit"),
    "queueing": later("queueing"),
    "sequence": later("sequence"),
    "serving": later("serving"),
    "sharding": later("sharding"),
    "speculation": later("speculation"),
    "training": later("training"),
    "waiting": later("waiting"),
}


def draw(frame: Frame) -> None:
    """Draw the chosen formula."""
    values = FORMULA_VIEW.now()
    formula = _choice(values)
    given = inputs(values)
    st.html(
        f'<h2 class="rf-title">{esc(formula.summary)}</h2>'
        f'<p class="rf-key">{_place(formula)}</p>'
        f'<p class="rf-equation rf-large">{esc(formula.equation)}</p>'
    )
    pair = st.grid(2, min_column_width=FIGURE_PX)
    with pair.cell():
        _inputs(formula, values)
        st.html(_result(formula, given))
    with pair.cell():
        _curve(formula, given, values[AGAINST], frame.look)
    st.html(_about(formula))
    st.html(heading(tr("The same from the command line")))
    st.code(command(formula, given), language="sh", wrap_lines=True)


def command(formula: Formula, given: dict[str, float]) -> str:
    """What to type for the same answer."""
    return " ".join(["roofline formula", formula.name, *(f"{name}={value:.17g}" for name, value in given.items())])


def _place(formula: Formula) -> str:
    """The formula among the others."""
    name, topic = f"<code>{esc(formula.name)}</code>", tr(TOPICS[formula.topic])
    return tr("{name} in {topic}, of {n} formulas", name=name, topic=topic, n=len(formulary()))


def _topic(topic: str) -> str:
    return tr("All topics") if topic == _ALL else tr(TOPICS[topic]).capitalize()


def _choice(values: Values) -> Formula:
    """Topic and name; the chosen formula stays in the list whatever the topic."""
    found = formulary()
    topics = (_ALL, *dict.fromkeys(f.topic for f in found.values()))
    left, right = st.columns([1, 3])
    with left:
        topic = st.selectbox(tr("Topic"), topics, key=_TOPIC, format_func=_topic)
    names = [name for name, f in found.items() if topic in (_ALL, f.topic)]
    if values[NAME] not in names:
        names.insert(0, values[NAME])
    with right:
        st.selectbox(
            tr("Formula"),
            names,
            key=FORMULA_VIEW.widget(NAME),
            format_func=lambda name: f"{plain_name(name)}: {found[name].summary} ({name})",
            help=tr("Type any part of a name or sentence."),
        )
    return found[values[NAME]]


def _inputs(formula: Formula, values: Values) -> None:
    st.html(heading(tr("Inputs"), tr("As in the formula's own example until you change them.")))
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
    st.button(tr("Back to the example"), on_click=put, args=(usual,), type="tertiary", disabled=unchanged)


def _label(parameter: Parameter, value: float) -> str:
    """An input with its unit and, where the digits are many, its value as people say it."""
    label = first_upper(plain_name(parameter.name))
    label = f"{label} ({unit_words(parameter.unit)})" if parameter.unit else label
    return f"{label}: {quantity(value, parameter.unit)}" if abs(value) >= _MANY else label


def _result(formula: Formula, given: dict[str, float]) -> str:
    """The result as people say it, and in full."""
    try:
        value = formula.value(given)
    except InputError as error:
        return notice(tr("No value for this"), esc(first_upper(str(error))))
    in_full = f"{localised(f'{value:,.15g}')} {unit_words(formula.unit)}"
    return (
        f'<section class="rf-card rf-result" role="status"><h2>{esc(plain_name(formula.name))}</h2>'
        f'<p class="rf-value">{esc(quantity(value, formula.unit))}</p>'
        f'<p class="rf-band">{esc(in_full)}</p></section>'
    )


def _curve(formula: Formula, given: dict[str, float], against: str, look: Look) -> None:
    st.html(heading(tr("Result against one input"), tr("From a tenth to ten times its value; the others stay.")))
    st.selectbox(
        tr("Against"),
        [p.name for p in formula.parameters],
        key=FORMULA_VIEW.widget(AGAINST),
        format_func=plain_name,
    )
    try:
        curve = formula_curve(formula, given, against)
    except InputError as error:
        st.html(f'<p class="rf-answer">{tr("No curve: {why}", why=esc(error))}</p>')
        return
    chart(formula_figure(curve, look), "formula_chart", formula_alt(curve))


def _about(formula: Formula) -> str:
    source = f'<p class="rf-answer">{linked(formula.source)}</p>'
    assumed = f'<p class="rf-answer">{linked(formula.assumptions)}</p>' if formula.assumptions else ""
    return heading(tr("Assumptions and limits")) + assumed + heading(tr("Source")) + source
