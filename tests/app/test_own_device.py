"""A device of one's own without a browser: by its link, by its file, and what happens to nonsense."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import link
from roofline.catalog.hardware import load_hardware, packed_device
from roofline.dashboard.shell import FAULT

from .runs import address, html

ROOT = Path(__file__).parents[2]
MINE = """
sources:
  mine: {title: my bench, retrieved: 2026-11-30}
accelerators:
  my-box:
    name: My <b>box</b>
    vendor: me
    category: server CPU
    year: 2026
    grade: B
    memory: {value: 640, unit: GiB, source: mine, kind: measured}
    bandwidth: {value: 80, unit: GB/s, source: mine, kind: measured}
    peaks:
      fp32: {value: 2, unit: TFLOP/s, source: mine, kind: measured}
"""
REF = packed_device(MINE, "mine.yaml")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def uploading(content: bytes, app: AppTest | None = None) -> AppTest:
    app = app or opened(model="llama-3.1-8b", w="q8_0")
    app.file_uploader(key="own_device_file").set_value(("mine.yaml", content, "application/yaml"))
    return app.run()


def test_a_link_with_a_device_shows_its_name_and_keeps_it() -> None:
    app = opened(hw=REF, model="llama-3.1-8b", w="q8_0")
    assert not app.exception
    assert FAULT not in html(app)
    assert app.selectbox(key="in_hardware").value == REF
    assert "your device: My <b>box</b>" in app.selectbox(key="in_hardware").options
    assert "My &lt;b&gt;box&lt;/b&gt;" in html(app)
    assert "<b>box" not in html(app)
    assert address(app)["hw"] == REF


def test_an_uploaded_device_is_used_and_stays_on_offer() -> None:
    app = uploading(MINE.encode())
    assert address(app)["hw"] == REF
    assert load_hardware(link.decode(address(app)).scenario.hardware).id == "my-box"
    app.selectbox(key="in_hardware").set_value("h200-sxm").run()
    assert address(app)["hw"] == "h200-sxm"
    assert "your device: My <b>box</b>" in app.selectbox(key="in_hardware").options


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "The file is not text"),
        (b"a: [", "The file is not YAML"),
        (b"accelerators: {}", "a device file holds one"),
        (MINE.replace("GB/s", "GiB").encode(), "unit GiB is not one of"),
        (MINE.replace("source: mine", "source: nobody").encode(), "is not in the table of sources"),
    ],
)
def test_a_file_that_is_no_device_is_told_beside_its_field(content: bytes, words: str) -> None:
    app = uploading(content)
    before = address(app)
    assert "hw" not in before or not before["hw"].startswith("device:")
    assert words in html(app)
    assert FAULT not in html(app)
    uploading(MINE.encode(), app)
    assert words not in html(app)
    assert address(app)["hw"] == REF


def test_a_damaged_device_of_a_link_is_told() -> None:
    app = opened(hw="device:AAAA", n="3")
    assert "is damaged" in html(app)
    assert address(app).get("hw") is None
    assert address(app)["n"] == "3"


def test_the_device_stays_through_a_change_of_page() -> None:
    app = opened(hw=REF, model="llama-3.1-8b", w="q8_0")
    assert REF in unquote(app.get("page_link")[0].proto.query_string)
    # as the menu's links do it: the harness itself only knows pages that are files
    app._page_hash = calc_hash("model")
    app.run()
    assert not app.exception
    assert app.selectbox(key="in_hardware").value == REF
    assert address(app)["hw"] == REF
