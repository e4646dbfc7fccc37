"""A scenario as a query string, both ways: readable, versioned, only what differs from the default page.

    ?v=1&model=llama-3.3-70b&hw=h200-sxm&n=1&w=fp8&batch=32

``most`` stands for the largest batch that fits. What cannot be read is named and left at its
default; the rest is kept. A link opens no file: model and hardware are ids of the catalogues,
or carry the facts of a model or device of the person's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from roofline.adapters.files import CONFIGURATION_NAME, is_folder, read_json
from roofline.adapters.inline import is_inline, pack
from roofline.answers.presets import PRESETS
from roofline.catalog.boxes import box_id, load_box
from roofline.catalog.fleet import CALL, settled
from roofline.catalog.hardware import packed_device_file
from roofline.catalog.models import catalogue_model_id, load_model
from roofline.errors import LinkError, RooflineError
from roofline.language import tr
from roofline.link_names import NAMES, known_hardware, known_model
from roofline.performance.served import draft_model
from roofline.specs.base import printable
from roofline.specs.fleet import FleetScenario
from roofline.specs.messages import validation_sentence
from roofline.specs.scenario import Scenario, counted
from roofline.specs.speculation import LOOKUP, MODULE

VERSION = "1"
"""Goes up when a key changes its meaning, or the default page a value: a link leaves out what is as on that page."""
OLDER: Mapping[str, Callable[[Mapping[str, str]], dict[str, str]]] = {}
"""Older version -> how its links read in the version after it, where the default page was another included."""
MAX_CHARACTERS = 4000
DEFAULT = PRESETS[0].scenario
"""The page without a query."""
FLEET_PREFIX = "f."
"""Keys of a fleet, beside those of its replica."""
COMPARED = ("b", "c", "d")
"""Scenarios beside the first, A; each holds its differences from A after its letter, such as ``b.hw=h200-sxm``."""
PAGE_KEYS = frozenset({"plot", "map", "story"})
"""Keys of what a page looks at: the curves and the map of a comparison, a story with its place."""
VIEW_KEYS = frozenset(
    {"tab", "page", "lang", "theme", "embed", "embed_options", "chart", "axis", "find", "mine", "formula", "catalogue", "cost"}
)
"""Keys of view switches and of the host, left alone."""

_FIELDS: dict[str, str] = {
    "model": "model",
    "hw": "hardware",
    "n": "devices",
    "w": "weights",
    "a": "activations",
    "kv": "kv_cache",
    "in": "input_tokens",
    "out": "output_tokens",
    "hit": "prefix_hit",
    "spec": "speculative",
    "forced": "forced_output",
    "lora": "adapters",
    "batch": "batch",
    "rate": "request_rate",
    "window": "batching_window_s",
    "tp": "tensor_parallel",
    "pp": "pipeline_parallel",
    "ep": "expert_parallel",
    "dp": "data_parallel",
    "adp": "attention_data_parallel",
    "cp": "context_parallel",
    "skew": "expert_skew",
    "tbo": "two_batch_overlap",
    "pd": "prefill_devices",
    "engine": "engine",
    "mem": "memory_gib",
    "usd": "usd_per_device_hour",
    "util": "utilisation",
    "off": "offload",
    "host": "host",
    "hostmem": "host_memory_gib",
    "disk": "disk_gb_per_s",
    "rent": "rental",
    "own": "ownership",
    "grid": "grid",
}
_FLEET_FIELDS: dict[str, str] = {
    "users": "weekly_users",
    "messages": "messages",
    "agents": "agent_share",
    "calls": "agent_calls",
    "result": "result_hit",
    "small": "small_model",
    "smallhw": "small_hardware",
    "smallshare": "small_share",
    "peak": "peak",
    "burst": "burst",
    "busy": "busy",
    "spares": "spares",
    "speed": "speed",
    "rack": "rack_kw",
    "power": "power_budget_w",
    "regions": "regions",
    "mix": "mix",
}
_COUNT = "n"
"""Read after the hardware, which may count its devices itself."""
_OPEN = frozenset(key for key, name in _FIELDS.items() if Scenario.model_fields[name].default is None)
"""Keys whose value may be left to the program."""
_WORDS: dict[str, str] = {"batch": "most", "pd": "shared"}
_AUTO = "auto"
_EXCLUDING = (("batch", "request_rate"), ("usd_per_device_hour", "ownership"), ("ownership", "usd_per_device_hour"))
"""What is given of the first takes the place of what another scenario had of the second."""


@dataclass(frozen=True)
class Decoded:
    """A link as read."""

    scenario: Scenario
    problems: tuple[str, ...]


def of_page(key: str) -> bool:
    """Whether a key of the address belongs to a page and not to its scenario."""
    return key in PAGE_KEYS or key.startswith(tuple(f"{letter}." for letter in COMPARED))


def encode(scenario: Scenario, base: Scenario = DEFAULT) -> dict[str, str]:
    """Query parameters of a scenario, in fixed order: how it differs from another; empty where it does not."""
    changed = {
        key: _written(key, getattr(scenario, name))
        for key, name in _FIELDS.items()
        if getattr(scenario, name) != getattr(base, name) and not (key == "batch" and scenario.request_rate is not None)
    }
    return {"v": VERSION, **changed} if changed else {}


def to_query(scenario: Scenario) -> str:
    """The query string of a scenario, with its question mark."""
    return "?" + urlencode(encode(scenario) or {"v": VERSION}, safe="/:,@")


def holdable(scenario: Scenario) -> Scenario:
    """The same question as `portable` has it, if a link can hold it.

    Raises
    ------
    RooflineError
        It names something unknown, or a file that cannot be carried.
    """
    load_model(scenario.model)
    load_box(scenario.hardware)
    found = portable(scenario)
    query = encode(found)
    for key, text in query.items():
        if key in _FIELDS:
            _values(key, text, found.hardware)
    n_characters = _length(query)
    if n_characters > MAX_CHARACTERS:
        raise LinkError(
            tr("This scenario takes a link of {n:,} characters; the longest is {most:,}.", n=n_characters, most=MAX_CHARACTERS)
        )
    return found


def portable(scenario: Scenario) -> Scenario:
    """The same question with a model file or device file carried inside, so that its link works elsewhere.

    Raises
    ------
    RooflineError
        The file is no configuration or device, or too large for a link.
    """
    return scenario.model_copy(update={"model": _portable_model(scenario.model), "hardware": _portable_device(scenario.hardware)})


def _portable_model(ref: str) -> str:
    if is_inline(ref) or catalogue_model_id(ref) is not None:
        return ref
    path = Path(ref)
    file = path / CONFIGURATION_NAME if is_folder(path) else path
    name = file.parent.name if file.name == CONFIGURATION_NAME else file.stem
    return pack({**read_json(file), "name": name})


def _portable_device(ref: str) -> str:
    if box_id(ref) is not None:
        return ref
    return packed_device_file(Path(ref))


def decode(query: Mapping[str, str], base: Scenario = DEFAULT) -> Decoded:
    """The scenario a link holds, and what in it could not be read; what it does not say is as in another."""
    if _length(query) > MAX_CHARACTERS:
        return Decoded(base, (tr("The link is longer than {n:,} characters: the default page is shown.", n=MAX_CHARACTERS),))
    problems: list[str] = []
    left = tr("Left at its default.") if base is DEFAULT else tr("Left as in A.")
    query = _of_this_version(query)
    if query.get("v", VERSION) != VERSION:
        found = _shown(query["v"])
        problems.append(
            tr(
                "The link is of version {found}; this program reads version {known} and took what it knows.",
                found=found,
                known=VERSION,
            )
        )
    values: dict[str, object] = {}
    for key, text in sorted(query.items(), key=lambda pair: pair[0] == _COUNT):
        if key == "v" or key in VIEW_KEYS or key.startswith(FLEET_PREFIX) or of_page(key):
            continue
        if key not in _FIELDS:
            problems.append(_no_part(key))
            continue
        try:
            values.update(_values(key, text, query.get("hw", "") if "hardware" in values else base.hardware))
        except (ValidationError, RooflineError) as error:
            reason = validation_sentence(error) if isinstance(error, ValidationError) else str(error)
            counted_by_hardware = key == _COUNT and "devices" in values
            problems.append(
                f"{_unread(key, text, reason)} {tr('The count of the hardware stands.') if counted_by_hardware else left}"
            )
    return _checked(values, problems, base)


def _length(query: Mapping[str, str]) -> int:
    """Characters of a query as people read it."""
    return sum(len(key) + len(text) + 2 for key, text in query.items())


def _of_this_version(query: Mapping[str, str]) -> Mapping[str, str]:
    """A link of an older version, version by version as this one would have written it."""
    while (version := query.get("v", VERSION)) in OLDER:
        query = {**OLDER[version](query), "v": str(int(version) + 1)}
    return query


def _no_part(key: str) -> str:
    return tr("'{key}' is not part of a link: left out.", key=_shown(key))


def _unread(key: str, text: str, reason: str) -> str:
    return tr("{key}={value} could not be read: {reason}", key=key, value=_shown(text), reason=reason)


@dataclass(frozen=True)
class DecodedFleet:
    """A link to a fleet as read."""

    fleet: FleetScenario
    problems: tuple[str, ...]


def encode_fleet(asked: FleetScenario) -> dict[str, str]:
    """Query parameters of a fleet: those of its replica with the call planned for, and what was given of the rest."""
    asked = settled(asked)
    written = {
        FLEET_PREFIX + key: _written_fleet(getattr(asked, name))
        for key, name in _FLEET_FIELDS.items()
        if getattr(asked, name) != FleetScenario.model_fields[name].default
    }
    return {**(encode(asked.replica) or {"v": VERSION}), **written}


def decode_fleet(query: Mapping[str, str]) -> DecodedFleet:
    """The fleet a link holds, and what in it could not be read; every part is left at its default by itself."""
    replica = decode(query)
    call = {name: getattr(replica.scenario, name) for name in CALL}  # a link states its call, where it is the default's too
    served = replica.scenario.model_copy(update={"request_rate": None, **call})
    problems, asked = list(replica.problems), FleetScenario(replica=served)
    if replica.scenario.request_rate is not None:
        problems.append(tr("A fleet finds its request rate from its users: the rate is left out."))
    keys = {FLEET_PREFIX + key: field for key, field in _FLEET_FIELDS.items()}
    problems += [_no_part(k) for k in query if k.startswith(FLEET_PREFIX) and k not in keys]
    too_long = _length(query) > MAX_CHARACTERS
    for key, field in keys.items():
        if key not in query or too_long:
            continue
        try:
            asked = _with_fleet_value(asked, field, query[key])
        except RooflineError as error:
            problems.append(f"{_unread(key, query[key], str(error))} {tr('Left at its default.')}")
    return DecodedFleet(asked, tuple(problems))


def _with_fleet_value(asked: FleetScenario, field: str, text: str) -> FleetScenario:
    """A fleet with one more value, checked with those before it; a link opens no file."""
    held = {name: getattr(asked, name) for name in FleetScenario.model_fields}
    return checked_fleet({**held, field: text})


def checked_fleet(values: Mapping[str, object]) -> FleetScenario:
    """A fleet of these values that a link may hold: it names nothing but what the catalogues have.

    Raises
    ------
    RooflineError
        A value cannot be, or names a file or something unknown.
    """
    found = FleetScenario(**values)
    if found.small_model is not None:
        known_model(found.small_model)
    for hardware in (*(other.hardware for other in found.mix), *filter(None, [found.small_hardware])):
        known_hardware(counted(hardware)[1])
    return found


def _written_fleet(value: object) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, tuple) else _written("", value)


def from_query(text: str) -> Decoded:
    """Decode a query string, or a whole address that holds one.

    Raises
    ------
    LinkError
        The text holds no query at all.
    """
    return decode(pairs(text))


def pairs(text: str) -> dict[str, str]:
    """The keys and values of a query string, or of a whole address that holds one.

    Raises
    ------
    LinkError
        The text holds no query at all.
    """
    if "?" not in text and "=" not in text:
        raise LinkError(
            tr(
                "'{text}' is not a link: it starts with '?' and holds key=value pairs, such as ?v=1&model=llama-3.1-8b.",
                text=_shown(text),
            )
        )
    query = text.partition("#")[0] if "://" in text else text
    return dict(parse_qsl(query.partition("?")[2] if "?" in query else query, keep_blank_values=True))


def _checked(values: dict[str, object], problems: list[str], base: Scenario) -> Decoded:
    """The scenario of values that hold one by one; a batch beside a rate gives way, and says so."""
    for name, other in _EXCLUDING:
        if values.get(name) is not None and other not in values:
            values[other] = None
    if values.get("request_rate") is not None:
        if values.get("batch") is not None:
            problems.append(tr("The link has both a batch and a request rate: the batch is left out."))
        values["batch"] = None
    if values.get("usd_per_device_hour") is not None and values.get("ownership") is not None:
        problems.append(tr("The link has both a price and ownership: the price is left out."))
        values["usd_per_device_hour"] = None
    return Decoded(base.model_copy(update=values), tuple(problems))


def _written(key: str, value: object) -> str:
    if value is None:
        return _WORDS.get(key, _AUTO)
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(value + 0.0).removesuffix(".0") if isinstance(value, float) else str(value)  # adding zero takes the sign off it


def _values(key: str, text: str, hardware: str) -> dict[str, object]:
    """Fields that one value of a link sets, validated alone; a count of devices beside the hardware, which may hold one too."""
    name = _FIELDS[key]
    if text == _WORDS.get(key, _AUTO) and key in _OPEN:
        return {name: None}
    checked = Scenario.model_validate({"model": "x", "hardware": hardware if key == _COUNT else "x", name: text})
    if key in NAMES:
        NAMES[key](getattr(checked, name))
    if checked.speculative is not None and checked.speculative.draft not in (MODULE, LOOKUP):
        draft_model(checked.speculative.draft)
    given = {name, "devices"} if key == "hw" else {name}
    return {field: getattr(checked, field) for field in checked.model_fields_set & given}


def _shown(text: str) -> str:
    return printable(text, 40)
