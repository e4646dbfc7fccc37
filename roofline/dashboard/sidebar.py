"""The controls: model, machine, load, formats, plan and price. Each states its unit; a wrong value is told beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from roofline.answers.presets import PRESETS
from roofline.answers.report import Report
from roofline.catalog.boxes import can_be_linked, load_box
from roofline.dashboard import choices, own_device, saved
from roofline.dashboard.extras import DIVIDING, OWNING, PLACES, SERVING, Extra
from roofline.dashboard.fields import AUTO, FORMATS, KNOBS, LOADS, MANUAL
from roofline.dashboard.state import LANGUAGE_KEY, choose, key, own, refused, set_controls, set_language, set_some
from roofline.dashboard.text import esc
from roofline.dashboard.typed import WORDS
from roofline.errors import RooflineError
from roofline.figures.words import sig
from roofline.language import LANGUAGES, chosen, later, tr
from roofline.specs.scenario import Scenario

Problems = Mapping[str, str]

_LOAD_WORDS = {"batch": later("Batch"), "rate": later("Requests/s"), "most": later("Most that fit")}
_FORMAT_LABELS = {"weights": later("Weights"), "activations": later("Activations"), "kv_cache": later("Cache (keys and values)")}
_FORMAT_HELP = {
    "weights": later(
        "Number format the weights are stored and read in. Fewer bits: less memory and less to read for every token."
    ),
    "activations": later("Format of the other side of each matrix product. With the weights it decides which peak rate applies."),
    "kv_cache": later("Format of the keys and values kept for every token of every sequence."),
}
_KNOB_LABELS = {
    "tensor_parallel": later("Tensor (ways)"),
    "pipeline_parallel": later("Pipeline (stages)"),
    "data_parallel": later("Data (copies)"),
    "expert_parallel": later("Expert (ways)"),
}
_KNOB_HELP = {
    "tensor_parallel": later("Tensor parallel: devices that share every layer. Each layer then ends in a sum over them."),
    "pipeline_parallel": later("Pipeline parallel: groups of layers on different devices, passed through one after the other."),
    "data_parallel": later("Data parallel: copies of the model that serve different sequences."),
    "expert_parallel": later("Expert parallel: devices over which the experts of a layer are spread."),
}
_PLAN_WORDS = {AUTO: later("Automatic"), MANUAL: later("Manual")}
_ATTENTION_WORDS = {
    AUTO: later("Auto"),
    "yes": later("Yes: each device has its own sequences"),
    "no": later("No: heads are divided"),
}
_FLAG_WORDS = {AUTO: later("Auto"), "yes": later("Yes"), "no": later("No")}
_PLAN_FIELDS = (*KNOBS, *(extra.field for extra in DIVIDING))
_PRESET_KEY, _ALONE = "preset", "_alone"
_MOST_TEXT = 200


def controls(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    """Draw every control of the scenario in the sidebar."""
    with st.sidebar:
        st.html('<p class="rf-brand">roofline</p>')
        st.selectbox(
            tr("Examples"),
            PRESETS,
            index=None,
            key=_PRESET_KEY,
            format_func=lambda preset: tr(preset.title),
            placeholder=tr("Start from a question…"),
            help=tr("Each example sets every control. Back in the browser undoes it."),
            on_change=_apply_preset,
        )
        saved.draw()
        _machine(problems)
        _load(problems)
        _formats(scenario, report, problems)
        _plan(scenario, report, problems)
        _extras(tr("Serving"), SERVING, scenario, problems)
        _extras(tr("Host and disk"), PLACES, scenario, problems)
        _money(scenario, report, problems)
        _language()


def _language() -> None:
    st.session_state[LANGUAGE_KEY] = chosen()
    words = {code: language.name for code, language in LANGUAGES.items()}
    st.selectbox(
        f"{tr('Language')} 🌐",
        tuple(words),
        key=LANGUAGE_KEY,
        format_func=words.__getitem__,
        help=tr("Texts and the way numbers are written. The link carries it."),
        on_change=lambda: set_language(st.session_state[LANGUAGE_KEY]),
    )


def _apply_preset() -> None:
    preset = st.session_state.get(_PRESET_KEY)
    if preset is not None:
        set_controls(preset.scenario)
        st.session_state[_PRESET_KEY] = None


def _problem(name: str, problems: Problems) -> None:
    if name in problems:
        st.html(f'<p class="rf-bad" role="alert">{esc(problems[name])}</p>')


def _machine(problems: Problems) -> None:
    models = (*choices.models(), *own("model"))
    help_text = tr("Type to search; ids such as deepseek-v3 work too. A model of your own: see the page Model.")
    _list("model", tr("Model"), models, choices.model_words, help_text, free=True)
    _problem("model", problems)
    _instead("model")
    devices = (*choices.hardware(), *own("hardware"))
    _list(
        "hardware",
        tr("Hardware"),
        devices,
        choices.hardware_words,
        tr("One device; how many comes next."),
        free=True,
        on_change=_alone,
    )
    _problem("hardware", problems)
    _instead("hardware")
    own_device.form()
    left, right = st.columns(2)
    with left:
        _number("devices", tr("Devices"), tr("How many of them, all paid for."))
    with right:
        help_engine = tr("Software whose measured efficiency the expected numbers use.")
        _list("engine", tr("Engine"), choices.engines(), choices.engine_words, help_engine)
    _problem("devices", problems)
    alone = st.session_state.get(_ALONE)
    if alone is not None and (alone, 1) == (st.session_state[key("hardware")], st.session_state[key("devices")]):
        text = tr("{hardware} has no link to another device: devices were set to 1.", hardware=choices.hardware_words(alone))
        st.html(f'<p class="rf-note" role="status">{esc(text)}</p>')
    _problem("engine", problems)


def _alone() -> None:
    """A machine chosen that cannot be linked is one machine, until a person says otherwise."""
    chosen_one: str = st.session_state[key("hardware")]
    try:
        is_many = not can_be_linked(chosen_one) and st.session_state[key("devices")] not in (None, 1)
    except RooflineError:  # what was typed is no device: told beside the control
        return
    st.session_state[_ALONE] = chosen_one if is_many else None
    if is_many:
        set_some({"devices": 1})


def _instead(name: str) -> None:
    """Entries to take instead of what was typed, that still shown among them."""
    found = refused().get(name)
    if found is None:
        return
    words = WORDS[name]
    st.pills(
        tr("Choose instead"),
        (*(entry for entry in found.choices if entry != found.kept), found.kept),
        key=f"instead_{name}",
        format_func=lambda entry: tr("keep {name}", name=words(entry)) if entry == found.kept else words(entry),
        on_change=lambda: choose(name, st.session_state[f"instead_{name}"]),
    )


def _load(problems: Problems) -> None:
    st.segmented_control(
        tr("Load"),
        LOADS,
        required=True,
        key=key("load"),
        format_func=lambda load: tr(_LOAD_WORDS[load]),
        help=tr(
            "How many sequences decode at once over the whole system: given, found from a request rate, or the most that fit."
        ),
        width="stretch",
        wrap=False,
    )
    load = st.session_state[key("load")]
    if load == "batch":
        help_batch = tr("Sequences decoding at the same time over the whole system.")
        _number("batch", tr("Batch (sequences at once)"), help_batch, coarse=True)
        _problem("batch", problems)
    elif load == "rate":
        help_rate = tr("Requests that arrive each second; the batch follows from it.")
        _decimal("request_rate", tr("Requests per second"), help_rate, 1.0)
        _problem("request_rate", problems)
    left, right = st.columns(2)
    with left:
        _number("input_tokens", tr("Prompt (tokens)"), tr("Tokens read before the first answer token."))
    with right:
        _number("output_tokens", tr("Output (tokens)"), tr("Tokens generated per request."))
    _problem("input_tokens", problems)
    _problem("output_tokens", problems)


def _formats(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    used = [getattr(scenario, name) or tr("auto") for name in FORMATS]
    if report is not None:
        weights = report.formats.weights_id or scenario.weights or tr("as stored")
        used = [weights, report.formats.activations, report.formats.kv_cache]
    title = tr("Formats: {used}", used=" / ".join(used))
    with st.expander(title, key="formats", expanded=any(name in problems for name in FORMATS)):
        engine = choices.usual_engine(scenario)
        for name in FORMATS:
            words = partial(choices.format_words, role=name, engine=engine)
            _list(name, tr(_FORMAT_LABELS[name]), choices.formats(name, engine), words, tr(_FORMAT_HELP[name]))
            _problem(name, problems)


def _plan(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    manual = st.session_state[key("plan")] == MANUAL
    used = [tr("manual") if manual else tr("auto"), *([] if report is None else [_plan_words(report)])]
    title = tr("Plan: {used}", used=" ".join(used))
    with st.expander(title, key="plan_open", expanded="plan" in problems or any(k in problems for k in _PLAN_FIELDS)):
        st.segmented_control(
            tr("How devices share the model"),
            (AUTO, MANUAL),
            required=True,
            key=key("plan"),
            format_func=lambda plan: tr(_PLAN_WORDS[plan]),
            help=tr("Automatic tries every legal plan and takes the one with the highest expected output."),
            width="stretch",
        )
        if manual:
            _knobs(problems)
        if report is not None:
            st.html(f'<p class="rf-note">{esc(report.plan.why)}</p>')
        _problem("plan", problems)


def _knobs(problems: Problems) -> None:
    columns = [*st.columns(2), *st.columns(2)]
    for name, column in zip(KNOBS, columns, strict=True):
        with column:
            _number(name, tr(_KNOB_LABELS[name]), f"{tr(_KNOB_HELP[name])} {tr('Empty: chosen for you.')}", optional=True)
    for name in KNOBS:
        _problem(name, problems)
    st.selectbox(
        tr("Attention in data parallel"),
        tuple(_ATTENTION_WORDS),
        key=key("attention_data_parallel"),
        format_func=lambda choice: tr(_ATTENTION_WORDS[choice]),
        help=tr("Whether attention is copied to every device, each with its own sequences, while experts stay spread."),
    )
    _extra_controls(DIVIDING, problems)


def _plan_words(report: Report) -> str:
    plan = report.plan
    parts = {"TP": plan.tensor_parallel, "PP": plan.pipeline_parallel, "DP": plan.data_parallel, "EP": plan.expert_parallel}
    parts["CP"] = plan.context_parallel
    shown = [f"{name} {ways}" for name, ways in parts.items() if ways > 1]
    return " · ".join(shown) or tr("one device")


def _money(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    per_hour = None if report is None else report.cost.usd_per_device_hour
    price = tr("no price known") if per_hour is None else tr("{price} USD per device-hour", price=sig(per_hour))
    names = ("usd_per_device_hour", "utilisation", *(extra.field for extra in OWNING))
    device = load_box(scenario.hardware)
    if device.configurable_memory:
        help_memory = tr("Memory bought with one device. Empty: the most it takes.")
        _decimal("memory_gib", tr("Memory fitted (GiB per device)"), help_memory, 8.0, optional=True)
        _problem("memory_gib", problems)
    with st.expander(tr("Price: {price}", price=price), key="price_open", expanded=any(name in problems for name in names)):
        help_price = tr("Your price. Empty: median of dated quotes, or the cost of owning one.")
        _decimal("usd_per_device_hour", tr("Price (USD per device and hour)"), help_price, 0.1, optional=True)
        _problem("usd_per_device_hour", problems)
        _decimal("utilisation", tr("Utilisation (% of the time)"), tr("Share of the paid time in which tokens are sold."), 5.0)
        _problem("utilisation", problems)
        _extra_controls(OWNING, problems)
        if report is not None:
            st.html(f'<p class="rf-note">{esc(report.cost.basis)}</p>')


def _extras(title: str, extras: Sequence[Extra], scenario: Scenario, problems: Problems) -> None:
    """Controls that most questions leave alone; the title names those in use."""
    used = [tr(extra.label).partition(" (")[0] for extra in extras if getattr(scenario, extra.field) != extra.unset]
    title = f"{title}: {', '.join(used)}" if used else title
    with st.expander(title, key=f"{extras[0].field}_open", expanded=any(extra.field in problems for extra in extras)):
        _extra_controls(extras, problems)


def _extra_controls(extras: Sequence[Extra], problems: Problems) -> None:
    for extra in extras:
        label, help_text = tr(extra.label), tr(extra.help)
        if extra.kind == "text":
            st.text_input(label, key=key(extra.field), help=help_text, placeholder=tr("none"), max_chars=_MOST_TEXT)
        elif extra.kind == "flag":
            words = {flag: tr(word) for flag, word in _FLAG_WORDS.items()}
            st.selectbox(label, tuple(words), key=key(extra.field), format_func=words.__getitem__, help=help_text)
        elif extra.kind == "whole":
            _number(extra.field, label, help_text, optional=True)
        else:
            _decimal(extra.field, label, help_text, extra.step, optional=True)
        _problem(extra.field, problems)


def _list(
    name: str,
    label: str,
    options: tuple[str, ...],
    words: Callable[[str], str],
    help_text: str,
    *,
    free: bool = False,
    on_change: Callable[[], None] | None = None,
) -> None:
    """A list to search; what a link or a person gave stays in sight even when it is not an option."""
    value: str = st.session_state[key(name)]
    shown = options if value in options else (*options, value)
    st.selectbox(label, shown, key=key(name), format_func=words, help=help_text, accept_new_options=free, on_change=on_change)


def _number(name: str, label: str, help_text: str, *, optional: bool = False, coarse: bool = False) -> None:
    """A whole number; a coarse one steps half a power of two at a time, such as 128, 192, 256.

    The control itself takes any number: one for whole numbers cuts 2.7 to 2 and 1e3 to 1 before anyone can object.
    """
    value = int(st.session_state[key(name)] or 0)
    step = 1 << max(0, value.bit_length() - 2) if coarse and value > 0 else 1
    _decimal(name, label, help_text, float(step), optional=optional)


def _decimal(name: str, label: str, help_text: str, step: float, *, optional: bool = False) -> None:
    value = st.session_state[key(name)]
    if value is not None:
        st.session_state[key(name)] = float(value)
    if optional:
        st.number_input(label, value=None, step=step, key=key(name), help=help_text, placeholder=tr("auto"), format="%g")
    else:
        st.number_input(label, step=step, key=key(name), help=help_text, format="%g")
