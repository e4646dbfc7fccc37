"""What the controls hold, as plain values, and the scenario they mean: both directions, without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roofline.dashboard.extras import DIVIDING, EXTRAS
from roofline.errors import InputError
from roofline.language import later, localised, tr
from roofline.specs.scenario import Scenario, is_mixed, total

AUTO = "auto"
"""Option of a list that leaves the choice to the program."""
MANUAL = "manual"
LOADS = ("batch", "rate", "most")
KNOBS = ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel")
FORMATS = ("weights", "activations", "kv_cache")
_PERCENT = 100.0
LABELS: dict[str, str] = {
    "devices": later("Devices"),
    "input_tokens": later("Prompt tokens"),
    "output_tokens": later("Output tokens"),
    "batch": later("Batch"),
    "request_rate": later("Requests per second"),
    "tensor_parallel": later("Tensor parallel"),
    "pipeline_parallel": later("Pipeline parallel"),
    "data_parallel": later("Data parallel"),
    "expert_parallel": later("Expert parallel"),
    "memory_gib": later("Memory fitted"),
    "usd_per_device_hour": later("Price"),
    "utilisation": later("Utilisation"),
    "model": later("Model"),
    "hardware": later("Hardware"),
    **{extra.field: extra.label for extra in EXTRAS},
}

Values = dict[str, Any]
"""Control name -> what it shows."""


def control_values(scenario: Scenario) -> Values:
    """What every control shows for a scenario."""
    adp = scenario.attention_data_parallel
    divided = any(getattr(scenario, extra.field) != extra.unset for extra in DIVIDING)
    manual = divided or adp is not None or any(getattr(scenario, name) is not None for name in KNOBS)
    load = "rate" if scenario.request_rate is not None else "batch" if scenario.batch is not None else "most"
    return {
        "model": scenario.model,
        "hardware": scenario.hardware,
        "devices": scenario.devices,
        "engine": scenario.engine,
        **{name: getattr(scenario, name) or AUTO for name in FORMATS},
        "input_tokens": scenario.input_tokens,
        "output_tokens": scenario.output_tokens,
        "load": load,
        "batch": scenario.batch or 1,
        "request_rate": scenario.request_rate or 1.0,
        "plan": MANUAL if manual else AUTO,
        **{name: getattr(scenario, name) for name in KNOBS},
        "attention_data_parallel": AUTO if adp is None else "yes" if adp else "no",
        "memory_gib": scenario.memory_gib,
        "usd_per_device_hour": scenario.usd_per_device_hour,
        "utilisation": round(scenario.utilisation * _PERCENT, 6),
        **{extra.field: extra.shown(scenario) for extra in EXTRAS},
    }


def asked(values: Mapping[str, Any], last: Scenario) -> tuple[Scenario, dict[str, str]]:
    """The scenario the controls ask for; what cannot be keeps its last value, with a sentence per control."""
    raw = _raw(values)
    good: Values = {}
    problems: dict[str, str] = {}
    for name, value in raw.items():
        found, problem = _one(name, value)
        if problem is None:
            good[name] = found
        else:
            good[name] = getattr(last, name)
            problems[name] = f"{problem} {_used(name, good[name])}"
    if good["request_rate"] is not None:
        good["batch"] = None
    if is_mixed(good["hardware"]):
        good["devices"] = total(good["hardware"])[0]  # a mixed box counts its own devices
    if good["ownership"] is not None and good["usd_per_device_hour"] is not None:
        good["usd_per_device_hour"] = None
        problems["ownership"] = tr("A price of your own and owning exclude each other: the price is left out.")
    return Scenario.model_validate(good), problems


def _raw(values: Mapping[str, Any]) -> Values:
    """Scenario fields as the controls state them, unchecked."""
    manual = values["plan"] == MANUAL
    return {
        "model": values["model"],
        "hardware": values["hardware"],
        "devices": values["devices"],
        "engine": values["engine"],
        **{name: _choice(values[name]) for name in FORMATS},
        "input_tokens": values["input_tokens"],
        "output_tokens": values["output_tokens"],
        "batch": _required(values["batch"]) if values["load"] == "batch" else None,
        "request_rate": _required(values["request_rate"]) if values["load"] == "rate" else None,
        **{name: values[name] if manual else None for name in KNOBS},
        "attention_data_parallel": {"yes": True, "no": False}.get(values["attention_data_parallel"]) if manual else None,
        "memory_gib": values["memory_gib"],
        "usd_per_device_hour": values["usd_per_device_hour"],
        "utilisation": None if values["utilisation"] is None else values["utilisation"] / _PERCENT,
        **{e.field: e.read(values[e.field]) if manual or e not in DIVIDING else e.unset for e in EXTRAS},
    }


def _required(value: Any) -> Any:  # noqa: ANN401
    """A field that may be unset in a scenario but not while its control is shown."""
    return "" if value is None else value


def _choice(value: str | None) -> str | None:
    return None if value in (None, AUTO) else value


def _one(name: str, value: Any) -> tuple[Any, str | None]:  # noqa: ANN401
    """One field checked alone: its value, or a sentence."""
    try:
        checked = Scenario.model_validate({"model": "x", "hardware": "x", name: value})
    except InputError as error:
        return None, _sentence(name, str(error))
    return getattr(checked, name), None


def _sentence(name: str, problem: str) -> str:
    label = tr(LABELS[name]) if name in LABELS else name.replace("_", " ").capitalize()
    if name == "utilisation":
        return tr("{label} must be above 0 and at most 100%.", label=label)
    return f"{label}{problem.removeprefix(name)}"


def _used(name: str, value: Any) -> str:  # noqa: ANN401
    if value is None:
        return tr("The page leaves it to the program.")
    shown = f"{value:.0%}" if name == "utilisation" else localised(f"{value:,}") if isinstance(value, int | float) else str(value)
    return tr("The page still shows {shown}.", shown=shown)
