"""How every page is laid out, narrow and wide, in the languages with the longest words: nothing off the page or over words."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
PAGES = (
    "?v=1",
    "compare?v=1&b.n=8&c.w=q4_k_m",
    "find?v=1",
    "machine?v=1&hw=rtx4090&n=1",
    "cost?v=1",
    "fleet?v=1",
    "experts?v=1",
    "model?v=1",
    "stories?v=1&story=batching,32",
    "accuracy?v=1",
    "catalogue?v=1&catalogue=against:h100-sxm/mi300x",
    "formulas?v=1",
)
NARROW_WINDOW = {"viewport": PHONE["viewport"]}
TALLEST_ROW_PX = 260
"""A row of a table stays below this, whatever its columns hold."""
_SPILLED = """() => [...document.querySelectorAll('.rf-table :is(th, td), .rf-row span, .rf-card p, .rf-card h2')]
  .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
_MENU = """() => [...document.querySelectorAll('.st-key-menu :is(a p, .rf-here)')].map((e) => {
  const box = e.getBoundingClientRect();
  return [box.top + box.height / 2, getComputedStyle(e).fontSize];
})"""


def visit(browser: Browser, app_url: str, address: str, language: str, kind: dict[str, Any]) -> Page:
    page = browser.new_page(**kind)
    page.goto(f"{app_url}{address}&lang={language}")
    expect(page.locator(".rf-line")).to_be_visible(timeout=60_000)
    idle(page)
    page.wait_for_timeout(700)  # a narrow window tells so and is drawn again
    idle(page)
    return page


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize(("kind", "language"), [(PHONE, "ko"), (WIDE, "id")], ids=["phone", "wide"])
def test_nothing_leaves_its_place(browser: Browser, app_url: str, address: str, kind: dict[str, Any], language: str) -> None:
    page = visit(browser, app_url, address, language, kind)
    try:
        whole, shown = widths(page)
        assert whole <= shown
        assert page.evaluate(_SPILLED) == []
        heights = page.evaluate("() => [...document.querySelectorAll('.rf-table tr')].map((e) => e.clientHeight)")
        assert max(heights, default=0) < TALLEST_ROW_PX
        expect(page.locator(".modebar-btn")).to_have_count(0)
        if kind is PHONE:
            assert serious_findings(page) == []
        assert page.locator("[data-testid=stException], .rf-notice").count() == 0
    finally:
        page.close()


@pytest.mark.parametrize("address", ["?v=1", "fleet?v=1", "formulas?v=1"])
def test_the_menu_of_a_phone_is_one_row_that_shows_where_one_is(browser: Browser, app_url: str, address: str) -> None:
    page = visit(browser, app_url, address, "en", PHONE)
    try:
        middles, sizes = zip(*page.evaluate(_MENU), strict=True)
        assert max(middles) - min(middles) < 4
        assert len(set(sizes)) == 1
        page.wait_for_function("document.querySelector('.rf-here').getBoundingClientRect().right <= innerWidth", timeout=30_000)
        here = page.locator(".rf-here").bounding_box()
        assert here is not None
        assert here["x"] >= 0
        assert here["x"] + here["width"] <= PHONE["viewport"]["width"]
    finally:
        page.close()


def test_a_narrow_window_has_the_figures_of_a_phone(browser: Browser, app_url: str) -> None:
    said = []
    for kind in (PHONE, NARROW_WINDOW):
        page = visit(browser, app_url, "?v=1", "en", kind)
        words = page.locator(".st-key-roofline_chart .annotation")
        expect(words.first).to_be_attached(timeout=30_000)
        if said:
            expect(words).to_have_count(len(said[0]), timeout=30_000)
        said.append(words.all_inner_texts())
        page.close()
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", [PHONE, WIDE], ids=["phone", "wide"])
def test_why_a_number_is_opens_in_view(browser: Browser, app_url: str, kind: dict[str, Any]) -> None:
    page = visit(browser, app_url, "?v=1", "en", kind)
    try:
        page.locator(".st-key-why button").first.click()
        expect(page.locator(".rf-why")).to_be_visible(timeout=30_000)
        idle(page)
        box = page.locator("[data-testid=stPopoverBody]").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= kind["viewport"]["height"]
    finally:
        page.close()
