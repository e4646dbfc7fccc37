"""A device in a link: it comes back whole, cannot grow without limit, and its words do no harm."""

from __future__ import annotations

import base64
import contextlib
import json
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link, load_hardware
from roofline.adapters.inline import CONFIGURATION
from roofline.catalog.hardware import DEVICE, catalog_path, packed_device
from roofline.errors import InputError, RooflineError

MINE = """
sources:
  mine: {title: my bench, retrieved: 2026-11-30}
  idle: {title: not named by any fact, retrieved: 2026-11-30}
accelerators:
  my-box:
    name: My <b>box</b>
    vendor: me
    category: server CPU
    year: 2026
    grade: B
    memory: {value: 64, unit: GiB, source: mine, kind: measured}
    bandwidth: {value: 80, unit: GB/s, source: mine, kind: measured}
    peaks:
      fp32: {value: 2, unit: TFLOP/s, source: mine, kind: measured}
    note: >
      two
      lines
"""


def sealed(content: object) -> str:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return DEVICE.prefix + base64.urlsafe_b64encode(zlib.compress(text)).decode().rstrip("=")


def tables(**changes: object) -> dict:
    fact = {"value": 80, "unit": "GB/s", "source": "derived"}
    entry = {
        "name": "x",
        "vendor": "y",
        "category": "server CPU",
        "year": 2026,
        "grade": "B",
        "memory": {**fact, "unit": "GiB"},
        "bandwidth": fact,
        "peaks": {"fp32": {**fact, "unit": "GFLOP/s"}},
    }
    return {"accelerators": {"x": {**entry, **changes}}}


def test_a_device_of_ones_own_travels_in_the_link(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    here = Scenario(model="llama-3.1-8b", hardware=str(file), weights="q4_k_m", batch=1)
    there = link.portable(here)
    query = link.to_query(there)
    assert len(query) < 700
    assert str(tmp_path) not in query
    decoded = link.from_query(query)
    assert decoded == link.Decoded(there, ())
    device, sent = load_hardware(str(file)), load_hardware(decoded.scenario.hardware)
    assert sent.model_copy(update={"note": device.note}) == device
    assert sent.note == "two lines"
    assert evaluate(decoded.scenario).expected == evaluate(here).expected


def test_only_sources_that_facts_name_are_sent() -> None:
    assert list(DEVICE.unpack(packed_device(MINE, "mine.yaml"))["sources"]) == ["mine"]


def test_a_model_and_a_device_of_ones_own_fit_into_one_link() -> None:
    assert CONFIGURATION.most_characters + DEVICE.most_characters <= link.MAX_CHARACTERS - 300


def test_entries_of_the_catalogue_fit_but_for_long_price_lists() -> None:
    text = catalog_path().read_text(encoding="utf-8")
    entry = text[text.index("  xeon-8480:\n") : text.index("  xeon-8592:\n")]
    assert load_hardware(packed_device(f"accelerators:\n{entry}", "xeon.yaml")) == load_hardware("xeon-8480")


def test_a_device_may_carry_its_count() -> None:
    decoded = link.decode({"hw": f"2x{packed_device(MINE, 'mine.yaml')}"})
    assert not decoded.problems
    assert decoded.scenario.devices == 2
    assert load_hardware(decoded.scenario.hardware).id == "my-box"


@pytest.mark.parametrize(
    "ref",
    [
        DEVICE.prefix,
        DEVICE.prefix + "not base64 !",
        DEVICE.prefix + "/etc/passwd.yaml",
        DEVICE.prefix + "AAAA",
        DEVICE.prefix + "A" * DEVICE.most_characters,
        sealed([1, 2]),
        sealed(b"{"),
        sealed(b"\xff\xfe"),
        sealed(b"[" * 15_000),
        sealed(b'{"accelerators": ' * 400 + b"1" + b"}" * 400),
        sealed(b" " * (DEVICE.most_bytes + 1)),
        sealed(b"0" * 2_000_000),
        sealed({}),
        sealed({"accelerators": {}}),
        sealed({"accelerators": {"a": 1}}),
        sealed({"accelerators": {**tables()["accelerators"], "b": {}}}),
        sealed({**tables(), "more": {}}),
        sealed(tables(colour="red")),
        sealed(tables(year=10**400)),
        sealed(tables(bandwidth={"value": float("nan"), "unit": "GB/s", "source": "derived"})),
        sealed(tables(bandwidth={"value": float("inf"), "unit": "GB/s", "source": "derived"})),
        sealed(tables(bandwidth={"value": 80, "unit": "GiB", "source": "derived"})),
        sealed(tables(bandwidth={"value": 80, "unit": "GB/s", "source": "nobody"})),
        sealed(tables(peaks={"fp13": {"value": 80, "unit": "GFLOP/s", "source": "derived"}})),
        sealed(tables())[:-6],
    ],
)
def test_a_damaged_device_is_told_in_one_sentence(ref: str) -> None:
    with pytest.raises(RooflineError):
        load_hardware(ref)
    decoded = link.decode({"hw": ref, "n": "3"})
    assert decoded.scenario == link.DEFAULT.model_copy(update={"devices": 3})
    (problem,) = decoded.problems
    assert problem.isprintable()
    assert len(problem) < 400


def test_its_words_reach_no_terminal_raw() -> None:
    device = load_hardware(sealed(tables(name="\x1b[31mred\ud800" * 40, note="\x07", vendor="a\nb")))
    assert (device.name + device.note + device.vendor).isprintable()
    assert len(device.name) == 60
    assert device.vendor == "a b"


def test_a_device_too_large_for_a_link_says_so(tmp_path: Path) -> None:
    noise = "".join(chr(0x4E00 + zlib.crc32(bytes([i % 256, i // 256])) % 20_000) for i in range(3000))
    file = tmp_path / "mine.yaml"
    file.write_text(f"{MINE}    aliases: ['{noise}']\n", encoding="utf-8")
    scenario = Scenario(model="llama-3.1-8b", hardware=str(file), batch=1, weights="q4_k_m")
    assert evaluate(scenario).memory.fits
    with pytest.raises(InputError, match="characters in a link"):
        link.portable(scenario)


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "x" * 300_000, MINE.replace("my-box:", "my-box: &a")])
def test_a_text_that_is_no_device_is_told(text: str) -> None:
    with pytest.raises(RooflineError):
        packed_device(text, "mine.yaml")


def test_an_upload_cannot_hold_the_server_up() -> None:
    start = time.process_time()
    for n in (19_000, 95_000):
        with pytest.raises(RooflineError):
            packed_device(f"accelerators: {{a: {{note: [{'1,' * n}]}}}}", "mine.yaml")
    assert time.process_time() - start < 3.0


values = st.floats() | st.integers() | st.text(max_size=20) | st.none() | st.booleans()
numbers = st.floats(1e-6, 1e12)


@given(st.dictionaries(st.sampled_from(["name", "year", "wired_frac", "links", "prices", "peaks", "memory", "note"]), values))
def test_any_entry_is_read_or_told(changes: dict[str, object]) -> None:
    with contextlib.suppress(RooflineError):
        load_hardware(sealed(tables(**changes)))


@given(numbers, numbers, numbers)
def test_any_figures_come_back_and_are_answered(memory: float, bandwidth: float, peak: float) -> None:
    facts = {"memory": (memory, "GiB"), "bandwidth": (bandwidth, "GB/s")}
    changed = {name: {"value": value, "unit": unit, "source": "derived"} for name, (value, unit) in facts.items()}
    peaks = {"fp32": {"value": peak, "unit": "GFLOP/s", "source": "derived"}}
    ref = packed_device(json.dumps(tables(**changed, peaks=peaks)), "mine.yaml")
    device = load_hardware(ref)
    assert (device.memory.value, device.bandwidth.value, device.peaks["fp32"].value) == (memory, bandwidth, peak)
    scenario = Scenario(model="llama-3.1-8b", hardware=ref, batch=1)
    assert link.from_query(link.to_query(scenario)).scenario == scenario
    report = evaluate(scenario)
    assert report.limit.tpot_s <= report.expected.tpot_s or not report.memory.fits
