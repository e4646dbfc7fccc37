"""Figures and tables as files, made in the browser: pictures that are pictures, numbers that are those on the screen."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from .visits import idle

pytestmark = pytest.mark.browser


def saved(page: Page, name: str, tmp_path: Path, *, nth: int = 0) -> Path:
    page.locator("html[data-saves=on]").wait_for(state="attached", timeout=30_000)
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).nth(nth).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_figure_is_saved_as_picture_and_as_data(page: Page, app_url: str, tmp_path: Path) -> None:
    page.goto(f"{app_url}?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=8")
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").nth(3)).to_be_attached(timeout=60_000)
    idle(page)
    picture = saved(page, "Save this figure as PNG", tmp_path)
    assert picture.name == "roofline.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000  # drawn, not blank
    drawing = ElementTree.parse(saved(page, "Save this figure as SVG", tmp_path, nth=1)).getroot()  # noqa: S314 our own
    words = " ".join(drawing.itertext())
    assert "Tokens/s in total" in words
    assert "expected" in words
    with saved(page, "Save this figure as CSV", tmp_path, nth=1).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    total = [row for row in rows if row["series"] == "expected" and row["y axis"] == "Tokens/s in total"]
    assert len(total) > 10
    chosen = next(row for row in total if float(row["x"]) == 8)
    shown = page.locator(".rf-card", has_text="Tokens/s in total").locator(".rf-value").inner_text()
    assert float(chosen["y"]) == pytest.approx(float(shown.replace(",", "")), rel=0.01)
    whole = json.loads(saved(page, "Save this figure as JSON", tmp_path, nth=1).read_text(encoding="utf-8"))
    assert {trace["name"] for trace in whole["data"]} >= {"expected", "limit", "band"}


def test_a_table_is_saved_with_its_cells(page: Page, app_url: str, tmp_path: Path) -> None:
    page.goto(f"{app_url}?v=1&tab=Memory")
    expect(page.locator(".rf-table").first).to_be_visible(timeout=60_000)
    idle(page)
    path = saved(page, "Save as CSV: Memory in numbers", tmp_path)
    assert path.name == "memory-in-numbers.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    cells = page.get_by_role("group", name="Memory in numbers").locator("tr").all()
    assert len(rows) == len(cells)
    assert rows[1] == [cell.inner_text() for cell in cells[1].locator("th, td").all()]
