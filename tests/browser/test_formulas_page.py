"""The Formulas page as a visitor has it: choose, change, share, go back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, serious_findings, widths

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-result").first).to_be_visible(timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=30_000)
    return page


def result(page: Page):
    return page.locator(".rf-result .rf-value").first


def test_an_input_changes_the_result_travels_and_is_undone(page: Page, browser: Browser, app_url: str) -> None:
    opened(page, f"{app_url}formulas?formula=lower_bound_s")
    expect(result(page)).to_have_text("4.00 ms")
    field = page.get_by_role("spinbutton", name=re.compile("Work"))
    field.fill("20000000000000")
    field.press("Enter")
    # 2e13 FLOP at 1 PFLOP/s
    expect(result(page)).to_have_text("20.0 ms")
    expect(page).to_have_url(re.compile("work_flops"))
    expect(page.locator("[data-testid=stCode]")).to_contain_text("work_flops=20000000000000")
    other = browser.new_context()
    try:
        expect(result(opened(other.new_page(), page.url))).to_have_text("20.0 ms")
    finally:
        other.close()
    page.get_by_role("link", name="Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible()
    page.go_back()
    expect(result(page)).to_have_text("20.0 ms")
    page.go_back()
    expect(result(page)).to_have_text("4.00 ms")


def test_a_formula_is_found_by_typing(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}formulas")
    box = page.get_by_role("combobox", name=re.compile("Formula")).first
    box.click()
    box.fill("distinct experts")
    box.press("Enter")
    expect(result(page)).to_have_text("163 experts")
    expect(page).to_have_url(re.compile("formula=distinct_experts"))


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_no_sideways_scroll_and_no_serious_finding(browser: Browser, app_url: str, mode: str, size: dict) -> None:
    context = browser.new_context(color_scheme=mode, **size)
    try:
        page = opened(context.new_page(), f"{app_url}formulas?formula=mmc_wait_s,zip:1")
        expect(page.get_by_text("is no input of mmc_wait_s").first).to_be_visible()
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()
