"""The controls: model, machine, load, formats, plan and price. Each states its unit; a wrong value is told beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from roofline.answers.presets import PRESETS
from roofline.answers.report import Report
from roofline.catalog.boxes import load_box
from roofline.dashboard import choices, own_device, saved
from roofline.dashboard.extras import DIVIDING, OWNING, PLACES, SERVING, Extra
from roofline.dashboard.fields import AUTO, FORMATS, KNOBS, LOADS, MANUAL
from roofline.dashboard.state import LANGUAGE_KEY, key, own, set_controls, set_language
from roofline.dashboard.text import esc
from roofline.figures.words import sig
from roofline.language import LANGUAGES, chosen, tr
from roofline.specs.scenario import Scenario

Problems = Mapping[str, str]

_LOAD_WORDS = {"batch": "Batch", "rate": "Requests/s", "most": "Most that fit"}
_FORMAT_LABELS = {"weights": "Weights", "activations": "Activations", "kv_cache": "Cache (keys and values)"}
_FORMAT_HELP = {
    "weights": "Number format the weights are stored and read in. Fewer bits: less memory and less to read for every token.",
    "activations": "Format of the other side of each matrix product. With the weights it decides which peak rate applies.",
    "kv_cache": "Format of the keys and values kept for every token of every sequence.",
}
_KNOB_LABELS = {
    "tensor_parallel": "Tensor (ways)",
    "pipeline_parallel": "Pipeline (stages)",
    "data_parallel": "Data (copies)",
    "expert_parallel": "Expert (ways)",
}
_KNOB_HELP = {
    "tensor_parallel": "Tensor parallel: devices that share every layer. Each layer then ends in a sum over them.",
    "pipeline_parallel": "Pipeline parallel: groups of layers on different devices, passed through one after the other.",
    "data_parallel": "Data parallel: copies of the model that serve different sequences.",
    "expert_parallel": "Expert parallel: devices over which the experts of a layer are spread.",
}
_PLAN_FIELDS = (*KNOBS, *(extra.field for extra in DIVIDING))
_PRESET_KEY = "preset"
_MOST_TEXT = 200


def controls(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    """Draw every control of the scenario in the sidebar."""
    with st.sidebar:
        st.html('<p class="rf-brand">roofline</p>')
        st.selectbox(
            "Examples",
            PRESETS,
            index=None,
            key=_PRESET_KEY,
            format_func=lambda preset: preset.title,
            placeholder="Start from a question…",
            help="Each example sets every control. Back in the browser undoes it.",
            on_change=_apply_preset,
        )
        saved.draw()
        _machine(problems)
        _load(problems)
        _formats(scenario, report, problems)
        _plan(scenario, report, problems)
        _extras("Serving", SERVING, scenario, problems)
        _extras("Host and disk", PLACES, scenario, problems)
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
    help_text = "Type to search; ids such as deepseek-v3 work too. A model of your own: see the page Model."
    _list("model", "Model", models, choices.model_words, help_text, free=True)
    _problem("model", problems)
    devices = (*choices.hardware(), *own("hardware"))
    _list("hardware", "Hardware", devices, choices.hardware_words, "One device; how many comes next.", free=True)
    _problem("hardware", problems)
    own_device.form()
    left, right = st.columns(2)
    with left:
        _number("devices", "Devices", "How many of them, all paid for.")
    with right:
        words = choices.engine_words
        _list("engine", "Engine", choices.engines(), words, "Software whose measured efficiency the expected numbers use.")
    _problem("devices", problems)
    _problem("engine", problems)


def _load(problems: Problems) -> None:
    st.segmented_control(
        "Load",
        LOADS,
        required=True,
        key=key("load"),
        format_func=_LOAD_WORDS.__getitem__,
        help="How many sequences decode at once over the whole system: given, found from a request rate, or the most that fit.",
        width="stretch",
        wrap=False,
    )
    load = st.session_state[key("load")]
    if load == "batch":
        _number("batch", "Batch (sequences at once)", "Sequences decoding at the same time over the whole system.", coarse=True)
        _problem("batch", problems)
    elif load == "rate":
        _decimal("request_rate", "Requests per second", "Requests that arrive each second; the batch follows from it.", 1.0)
        _problem("request_rate", problems)
    left, right = st.columns(2)
    with left:
        _number("input_tokens", "Prompt (tokens)", "Tokens read before the first answer token.")
    with right:
        _number("output_tokens", "Output (tokens)", "Tokens generated per request.")
    _problem("input_tokens", problems)
    _problem("output_tokens", problems)


def _formats(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    used = [getattr(scenario, name) or "auto" for name in FORMATS]
    if report is not None:
        used = [report.formats.weights_id or scenario.weights or "as stored", report.formats.activations, report.formats.kv_cache]
    with st.expander(f"Formats: {' / '.join(used)}", key="formats", expanded=any(name in problems for name in FORMATS)):
        for name in FORMATS:
            _list(name, _FORMAT_LABELS[name], choices.formats(name), partial(choices.format_words, role=name), _FORMAT_HELP[name])
            _problem(name, problems)


def _plan(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    used = "" if report is None else f" {_plan_words(report)}"
    asked = "manual" if st.session_state[key("plan")] == MANUAL else "auto"
    with st.expander(
        f"Plan: {asked}{used}", key="plan_open", expanded="plan" in problems or any(k in problems for k in _PLAN_FIELDS)
    ):
        st.segmented_control(
            "How devices share the model",
            (AUTO, MANUAL),
            required=True,
            key=key("plan"),
            format_func={AUTO: "Automatic", MANUAL: "Manual"}.__getitem__,
            help="Automatic tries every legal plan and takes the one with the highest expected output.",
            width="stretch",
        )
        if asked == "manual":
            _knobs(problems)
        if report is not None:
            st.html(f'<p class="rf-note">{esc(report.plan.why)}</p>')
        _problem("plan", problems)


def _knobs(problems: Problems) -> None:
    columns = [*st.columns(2), *st.columns(2)]
    for name, column in zip(KNOBS, columns, strict=True):
        with column:
            _number(name, _KNOB_LABELS[name], f"{_KNOB_HELP[name]} Empty: chosen for you.", optional=True)
    for name in KNOBS:
        _problem(name, problems)
    st.selectbox(
        "Attention in data parallel",
        (AUTO, "yes", "no"),
        key=key("attention_data_parallel"),
        format_func={AUTO: "Auto", "yes": "Yes: each device has its own sequences", "no": "No: heads are divided"}.__getitem__,
        help="Whether attention is copied to every device, each with its own sequences, while experts stay spread.",
    )
    _extra_controls(DIVIDING, problems)


def _plan_words(report: Report) -> str:
    plan = report.plan
    parts = {"TP": plan.tensor_parallel, "PP": plan.pipeline_parallel, "DP": plan.data_parallel, "EP": plan.expert_parallel}
    parts["CP"] = plan.context_parallel
    shown = [f"{name} {ways}" for name, ways in parts.items() if ways > 1]
    return " · ".join(shown) or "one device"


def _money(scenario: Scenario, report: Report | None, problems: Problems) -> None:
    per_hour = None if report is None else report.cost.usd_per_device_hour
    price = "no price known" if per_hour is None else f"{sig(per_hour)} USD per device-hour"
    names = ("usd_per_device_hour", "utilisation", *(extra.field for extra in OWNING))
    device = load_box(scenario.hardware)
    if device.configurable_memory:
        help_memory = "Memory bought with one device. Empty: the most it takes."
        _decimal("memory_gib", "Memory fitted (GiB per device)", help_memory, 8.0, optional=True)
        _problem("memory_gib", problems)
    with st.expander(f"Price: {price}", key="price_open", expanded=any(name in problems for name in names)):
        help_price = "Your price. Empty: median of dated quotes, or the cost of owning one."
        _decimal("usd_per_device_hour", "Price (USD per device and hour)", help_price, 0.1, optional=True)
        _problem("usd_per_device_hour", problems)
        _decimal("utilisation", "Utilisation (% of the time)", "Share of the paid time in which tokens are sold.", 5.0)
        _problem("utilisation", problems)
        _extra_controls(OWNING, problems)
        if report is not None:
            st.html(f'<p class="rf-note">{esc(report.cost.basis)}</p>')


def _extras(title: str, extras: Sequence[Extra], scenario: Scenario, problems: Problems) -> None:
    """Controls that most questions leave alone; the title names those in use."""
    used = [extra.label.partition(" (")[0] for extra in extras if getattr(scenario, extra.field) != extra.unset]
    title = f"{title}: {', '.join(used)}" if used else title
    with st.expander(title, key=f"{extras[0].field}_open", expanded=any(extra.field in problems for extra in extras)):
        _extra_controls(extras, problems)


def _extra_controls(extras: Sequence[Extra], problems: Problems) -> None:
    for extra in extras:
        if extra.kind == "text":
            st.text_input(extra.label, key=key(extra.field), help=extra.help, placeholder="none", max_chars=_MOST_TEXT)
        elif extra.kind == "flag":
            words = {AUTO: "Auto", "yes": "Yes", "no": "No"}
            st.selectbox(extra.label, tuple(words), key=key(extra.field), format_func=words.__getitem__, help=extra.help)
        elif extra.kind == "whole":
            _number(extra.field, extra.label, extra.help, optional=True)
        else:
            _decimal(extra.field, extra.label, extra.help, extra.step, optional=True)
        _problem(extra.field, problems)


def _list(
    name: str,
    label: str,
    options: tuple[str, ...],
    words: Callable[[str], str],
    help_text: str,
    *,
    free: bool = False,
) -> None:
    """A list to search; what a link or a person gave stays in sight even when it is not an option."""
    value: str = st.session_state[key(name)]
    shown = options if value in options else (*options, value)
    st.selectbox(label, shown, key=key(name), format_func=words, help=help_text, accept_new_options=free)


def _number(name: str, label: str, help_text: str, *, optional: bool = False, coarse: bool = False) -> None:
    """A whole number; a coarse one steps half a power of two at a time, such as 128, 192, 256."""
    value: int = st.session_state[key(name)] or 0
    step = 1 << max(0, value.bit_length() - 2) if coarse and value > 0 else 1
    if optional:
        st.number_input(label, value=None, step=step, key=key(name), help=help_text, placeholder="auto")
    else:
        st.number_input(label, step=step, key=key(name), help=help_text)


def _decimal(name: str, label: str, help_text: str, step: float, *, optional: bool = False) -> None:
    value = st.session_state[key(name)]
    if value is not None:
        st.session_state[key(name)] = float(value)
    if optional:
        st.number_input(label, value=None, step=step, key=key(name), help=help_text, placeholder="auto", format="%g")
    else:
        st.number_input(label, step=step, key=key(name), help=help_text, format="%g")
