"""The Catalogue page as a visitor has it: filter, compare, use, share, go back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, serious_findings, widths

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("[data-testid=stDataFrame] canvas").first).to_be_visible(timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=30_000)
    return page


def test_a_search_narrows_travels_and_is_undone(page: Page, browser: Browser, app_url: str) -> None:
    opened(page, f"{app_url}catalogue")
    count = page.get_by_text(re.compile(r"\d+ of \d+ devices"))
    everything = count.inner_text()
    field = page.get_by_role("textbox", name="Search")
    field.fill("instinct mi300")
    field.press("Enter")
    expect(page).to_have_url(re.compile("text"))
    expect(count).not_to_have_text(everything)
    few = count.inner_text()
    other = browser.new_context()
    try:
        expect(opened(other.new_page(), page.url).get_by_text(few)).to_be_visible()
    finally:
        other.close()
    page.go_back()
    expect(count).to_have_text(everything)


def test_a_chosen_device_is_used_on_every_page(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}catalogue?catalogue=show:mi300x")
    expect(page.get_by_role("heading", name="Instinct MI300X")).to_be_visible()
    page.get_by_role("button", name="Use this device").click()
    expect(page).to_have_url(re.compile("hw=mi300x"))
    page.get_by_role("link", name="Calculator").click()
    expect(page.locator(".rf-line")).to_contain_text("Instinct MI300X")


def test_a_row_of_the_table_is_read_about(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}catalogue?catalogue=text:mi300x")
    page.locator("[data-testid=stDataFrame] .dvn-scroller").first.click(position={"x": 15, "y": 52})
    expect(page).to_have_url(re.compile("show"))
    expect(page.get_by_role("heading", name=re.compile("MI300X"))).to_be_visible()


def test_devices_are_compared(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}catalogue?catalogue=against:h100-sxm/mi300x")
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    expect(page.get_by_role("figure", name=re.compile("Rooflines at BF16"))).to_be_attached()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download JSON").click()
    assert waiting.value.suggested_filename == "devices.json"


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_no_sideways_scroll_and_no_serious_finding(browser: Browser, app_url: str, mode: str, size: dict) -> None:
    context = browser.new_context(color_scheme=mode, **size)
    try:
        page = opened(context.new_page(), f"{app_url}catalogue?catalogue=against:h100-sxm/mi300x,zip:1")
        expect(page.get_by_text("means nothing here").first).to_be_visible()
        expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()
