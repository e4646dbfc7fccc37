"""Machines from the hardware catalogue, or from a file in its form.

The catalogue is YAML written for people, and reading all of it takes about a second. Its content therefore lies beside
this module as JSON too (written by `scripts/compile_catalog.py`), and is read from there while the checksum of the YAML
holds; a changed YAML is read itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from roofline.adapters.envelope import Envelope
from roofline.catalog.names import Names
from roofline.errors import CatalogError, InputError, UnknownIdError
from roofline.language import cached, later, tr
from roofline.specs.base import printable
from roofline.specs.hardware import Accelerator, Fact, Price, Source

MAX_FILE_BYTES = 200_000
"""Largest device file that is read: twenty times the largest entry of the catalogue, and parsed within seconds."""

_MOST_NAME, _MOST_WORDS = 60, 300
"""Longest name, and longest other text, of a device in a link that is kept whole."""

_MOST_WRITTEN = 2
"""Times what a link holds that a file for it may take, with its spaces and remarks: larger ones are not even parsed."""

MAX_DEPTH = 10
"""Deepest nesting of a device file; the catalogue needs six levels."""

DEVICE = Envelope(
    prefix="device:",
    noun=later("device"),
    advice=later("leave out notes, prices and links that do not matter"),
    remedy=later("add its YAML file again"),
    most_characters=1250,
    most_bytes=20_000,
)
"""A device inside a reference; seven times as much as an entry of the catalogue usually needs."""

COMPILED = Path(__file__).parent / "data" / "hardware_catalog.json"
"""The catalogue in the form that loads fast."""

_MOST_NAMED = 3
"""Providers that a price names; of more, their number."""

_TERMS = (later("on-demand"), later("committed"), later("reserved"), later("spot"))
"""Terms of rental quotes as messages: a quote keeps its terms in English, and is told with `tr`."""

_SIZES = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")
_RATES = ("GB/s", "TB/s", "Gbit/s")
_UNITS = {
    "memory": _SIZES,
    "visible_memory": _SIZES,
    "bandwidth": _RATES,
    "links": _RATES,
    "peaks": ("GFLOP/s", "TFLOP/s", "PFLOP/s", "TOP/s"),
    "tdp": ("W", "kW"),
    "prices": ("USD", "USD/h"),
}


def hardware_ids(announced: bool = False) -> tuple[str, ...]:
    """Every device of the catalogue; those that do not ship yet only when asked for."""
    entries = _content()["accelerators"].items()
    return tuple(key for key, entry in entries if announced or not entry.get("announced", False))


def sources() -> dict[str, Source]:
    """Where the facts of the catalogue come from, by the id that facts name."""
    return dict(_sources())


def load_hardware(ref: str) -> Accelerator:
    """A device by its id, by the name people type for it, from a YAML file in the catalogue's form, or packed in a link."""
    if is_own_device(ref):
        return _own_device(ref)
    if ref.lower().endswith((".yaml", ".yml")):
        return _from_file(Path(ref))
    key = catalogue_hardware_id(ref)
    if key is None:
        raise UnknownIdError("hardware", ref, _content()["accelerators"])
    return _known(key)


def catalogue_hardware_id(ref: str) -> str | None:
    """The id meant by a spelling; ``None`` where the catalogue has no such device."""
    return hardware_names().entry(ref)


def is_own_device(ref: str) -> bool:
    """Whether a reference holds a device itself."""
    return DEVICE.holds(ref)


def packed_device(text: str, where: str) -> str:
    """The device of a YAML text as a reference that travels in a link, with its sources that the catalogue lacks.

    Raises
    ------
    RooflineError
        The text is no device, or too large for a link.
    """
    if len(text) > _MOST_WRITTEN * DEVICE.most_bytes:
        n, advice = len(text), tr(DEVICE.advice)
        raise InputError(
            tr("{where} holds {n:,} characters, too many for a device in a link: {advice}.", where=where, n=n, advice=advice)
        )
    tables = _file_tables(text, where)
    device = _only_device(tables, where)
    named = {fact.source for _, fact in facts(device)} - _sources().keys()
    ref = DEVICE.pack({**tables, "sources": {key: entry for key, entry in tables["sources"].items() if key in named}})
    _own_device(ref)
    return ref


def packed_device_file(path: Path) -> str:
    """The device of a YAML file as a reference that travels in a link."""
    return packed_device(_file_text(path), path.name)


def facts(device: Accelerator) -> tuple[tuple[str, Fact], ...]:
    """Every fact of a device with the path of its field."""
    found: list[tuple[str, Fact | None]] = [
        ("memory", device.memory),
        ("visible_memory", device.visible_memory),
        ("bandwidth", device.bandwidth),
        ("tdp", device.tdp),
    ]
    found += [(f"peaks.{dtype}", fact) for dtype, fact in device.peaks.items()]
    for n, link in enumerate(device.links):
        found += [(f"links.{n}.bandwidth", link.bandwidth), (f"links.{n}.pair", link.pair)]
    found += [(f"prices.{n}.amount", price.amount) for n, price in enumerate(device.prices)]
    return tuple((path, fact) for path, fact in found if fact is not None)


def catalog_path() -> Path:
    """The catalogue: inside the installed package, or at the root of a checkout."""
    packaged = COMPILED.with_suffix(".yaml")
    return packaged if packaged.exists() else Path(__file__).parents[2] / packaged.name


def compiled(raw: bytes) -> str:
    """The catalogue as JSON with the checksum of its YAML, one accelerator a line."""
    content = _parse(raw.decode("utf-8"), "hardware_catalog.yaml")
    lines = ",\n".join(f"{json.dumps(key)}:{json.dumps(entry)}" for key, entry in content["accelerators"].items())
    start = json.dumps({"sha256": hashlib.sha256(raw).hexdigest(), "sources": content["sources"]})
    return f'{start[:-1]}, "accelerators": {{\n{lines}\n}}}}\n'


def rental_usd_per_h(accelerator: Accelerator, commitment: str = "on-demand") -> tuple[float, str] | None:
    """What renting the device costs, and what that rests on.

    The median over providers, each with its newest quotes; an undated quote counts only where a provider has no other.
    """
    newest = _rentals(accelerator, commitment)
    if not newest:
        return None
    used = [price for group in newest for price in group]
    providers = tr("{n} providers", n=len(newest)) if len(newest) > 1 else tr("1 provider")
    named = "" if len(newest) > _MOST_NAMED else f" ({', '.join(group[0].provider for group in newest)})"
    return (
        median(median(p.amount.base for p in group) for group in newest),
        tr(
            "median of {providers}, newest {terms} quotes ({extent})",
            providers=providers + named,
            terms=tr(commitment),
            extent=_extent(used),
        ),
    )


def rental_span_usd_per_h(accelerator: Accelerator, commitment: str = "on-demand") -> tuple[float, float] | None:
    """The cheapest and the dearest provider, each by the median of its newest quotes."""
    found = [median(p.amount.base for p in group) for group in _rentals(accelerator, commitment)]
    return (min(found), max(found)) if found else None


def _rentals(accelerator: Accelerator, commitment: str) -> list[list[Price]]:
    """The newest quotes of every provider for a commitment; reserved capacity is a commitment."""
    kinds = ("committed", "reserved") if commitment == "committed" else (commitment,)
    quotes = [p for p in accelerator.prices if p.kind == "rental" and p.commitment in kinds]
    return [_newest([p for p in quotes if p.provider == name]) for name in dict.fromkeys(p.provider for p in quotes)]


def purchase_usd(accelerator: Accelerator) -> tuple[float, str] | None:
    """What buying the device costs, and what that rests on: new where a price is known, else used."""
    quotes = [p for p in accelerator.prices if p.kind == "purchase"]
    new = [p for p in quotes if not p.commitment.startswith("used")]
    used = new or quotes
    if not used:
        return None
    extent = _extent(used)
    basis = tr("median of new prices ({extent})", extent=extent) if new else tr("median of used prices ({extent})", extent=extent)
    return median(p.amount.base for p in used), basis


def _newest(quotes: Sequence[Price]) -> list[Price]:
    latest = max(p.date for p in quotes)
    return [p for p in quotes if p.date == latest]


def _extent(quotes: Sequence[Price]) -> str:
    """How many quotes and of which dates."""
    dates = sorted({p.date for p in quotes if p.date})
    undated = sum(not p.date for p in quotes)
    parts = [tr("{n} quotes", n=len(quotes)) if len(quotes) > 1 else tr("1 quote")]
    if dates:
        parts.append(dates[0] if len(dates) == 1 else tr("{first} to {last}", first=dates[0], last=dates[-1]))
    if undated:
        parts.append(tr("{n} undated", n=undated) if dates else tr("undated"))
    return ", ".join(parts)


@cache
def _content() -> dict[str, Any]:
    """The shipped catalogue as plain values."""
    raw = catalog_path().read_bytes()
    if COMPILED.exists():
        content: dict[str, Any] = json.loads(COMPILED.read_text(encoding="utf-8"))
        if content.pop("sha256") == hashlib.sha256(raw).hexdigest():
            return content
    return _parse(raw.decode("utf-8"), "hardware_catalog.yaml")


@cache
def _sources() -> dict[str, Source]:
    return _valid_sources(_content()["sources"], "hardware_catalog.yaml")


@cache
def hardware_names() -> Names:
    """What devices are called: by id, by alias, by name."""
    entries = _content()["accelerators"].items()
    return Names({key: (entry["name"], *entry.get("aliases", ()), key) for key, entry in entries})


@cache
def _known(key: str) -> Accelerator:
    return _device(key, _content()["accelerators"][key], _sources(), "hardware_catalog.yaml")


def _from_file(path: Path) -> Accelerator:
    return device_of_text(_file_text(path), path.name)


def device_of_text(text: str, where: str) -> Accelerator:
    """The one device of a YAML text, whose facts may also name sources of the catalogue."""
    return _only_device(_file_tables(text, where), where)


@cached(maxsize=64)
def _own_device(ref: str) -> Accelerator:
    """The device of a reference; its words are shown on one line, whatever is in them."""
    where = tr("the device in this link")
    device = _only_device(_tables(_printable(DEVICE.unpack(ref)), where), where)
    return device.model_copy(update={"name": printable(device.name, _MOST_NAME) or tr("your device")})


def _printable(content: Any, depth: int = 0) -> Any:  # noqa: ANN401
    """Plain values, not too deep, with every text as one line that any page can show."""
    if depth > MAX_DEPTH:
        raise InputError(
            tr("the device in this link is nested deeper than {n} levels: {remedy}.", n=MAX_DEPTH, remedy=tr(DEVICE.remedy))
        )
    if isinstance(content, dict):
        return {printable(key): _printable(value, depth + 1) for key, value in content.items()}
    if isinstance(content, list):
        return [_printable(value, depth + 1) for value in content]
    return printable(" ".join(content.split()), _MOST_WORDS) if isinstance(content, str) else content


def _file_text(path: Path) -> str:
    """What a device file holds, of bounded size."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or tr("it is not UTF-8 text")
        raise CatalogError(tr("{file} cannot be read: {reason}.", file=path.name[-60:], reason=reason)) from error
    return text


def _file_tables(text: str, where: str) -> dict[str, Any]:
    """The tables of a device file, which nobody has looked at yet."""
    if len(text.encode()) > MAX_FILE_BYTES:
        raise CatalogError(
            tr("{where} is larger than {most:,} bytes, too large for a device file.", where=where, most=MAX_FILE_BYTES)
        )
    _refuse_tricks(text, where)
    return _parse(text, where)


def _only_device(tables: dict[str, Any], where: str) -> Accelerator:
    if len(tables["accelerators"]) != 1:
        raise CatalogError(
            tr("{where} holds {n} accelerators; a device file holds one.", where=where, n=len(tables["accelerators"]))
        )
    ((key, entry),) = tables["accelerators"].items()
    own = _valid_sources(tables["sources"], where)
    return _device(key, entry, {**_sources(), **own}, where)


def _parse(text: str, where: str) -> dict[str, Any]:
    """YAML as plain values: safe loader, no duplicate keys, dates as text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        loaded = YAML(typ="safe", pure=True).load(text)
        content = json.loads(json.dumps(loaded, default=str))
    except (YAMLError, RecursionError, TypeError, ValueError) as error:
        raise _not_yaml(where, error) from error
    return _tables(content, where)


def _tables(content: Any, where: str) -> dict[str, Any]:  # noqa: ANN401
    """The two tables of a catalogue, and nothing beside them."""
    tables: dict[str, Any] = {"sources": {}, "accelerators": {}}
    tables |= content if isinstance(content, dict) else {}
    for name, table in tables.items():
        if name not in ("sources", "accelerators") or not isinstance(table, dict):
            raise CatalogError(
                tr("{where}: the tables are 'sources' and 'accelerators', each id: entry; see {name!r}.", where=where, name=name)
            )
    return tables


def _refuse_tricks(text: str, where: str) -> None:
    """No anchors, tags or deep nesting in a file of facts: they make a small file dear to read."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if getattr(event, "anchor", None) or getattr(event, "tag", None) or depth > MAX_DEPTH:
                line = event.start_mark.line + 1
                raise CatalogError(
                    tr("{where}, line {line}: anchors, aliases, tags and deep nesting are not allowed.", where=where, line=line)
                )
    except (YAMLError, ValueError) as error:
        raise _not_yaml(where, error) from error


def _not_yaml(where: str, error: Exception) -> CatalogError:
    """With the reason of a parser, on one line."""
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or type(error).__name__).splitlines()[0]
    reason = f"{problem}, line {mark.line + 1}" if mark else problem
    return CatalogError(tr("{where} is not YAML as the catalogue uses it: {reason}.", where=where, reason=reason))


def _valid_sources(table: dict[str, Any], where: str) -> dict[str, Source]:
    try:
        return {key: Source.model_validate(entry) for key, entry in table.items()}
    except ValidationError as error:
        raise CatalogError(f"{where}: sources: {_first(error)}.") from error


def _device(key: str, entry: Any, known: Container[str], where: str) -> Accelerator:  # noqa: ANN401
    """A validated device whose every source is known."""
    if not isinstance(entry, dict):
        raise CatalogError(tr("{where}: {device}: an accelerator is a table of fields.", where=where, device=key))
    try:
        device = Accelerator.model_validate({**entry, "id": key})
    except ValidationError as error:
        raise CatalogError(f"{where}: {key}: {_first(error)}.") from error
    for path, fact in facts(device):
        told = {"where": where, "device": key, "fact": path}
        if fact.source not in known:
            raise CatalogError(
                tr("{where}: {device}: {fact}: source {source!r} is not in the table of sources.", **told, source=fact.source)
            )
        allowed = _UNITS[path.split(".")[0]]
        if fact.unit not in allowed:
            units = ", ".join(allowed)
            raise CatalogError(
                tr("{where}: {device}: {fact}: unit {unit} is not one of {units}.", **told, unit=fact.unit, units=units)
            )
    return device


def _first(error: ValidationError) -> str:
    """The first complaint: field and reason."""
    detail = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
