"""The page Dense and experts as a visitor has it: change the load, change the model, go back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, serious_findings, widths

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-card")).to_have_count(4, timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=30_000)
    return page


def test_another_batch_changes_the_answer_and_is_undone(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}experts?v=1&tp=8&pp=2")
    touched = page.locator(".rf-value").nth(2)
    expect(touched).to_have_text(re.compile("^222 of 256"))
    field = page.get_by_label("Batch (sequences at once)").last
    field.fill("8")
    field.press("Enter")
    # 4 of 8 sequences in each of two stages: 256 (1 - (1 - 8/256)^4)
    expect(touched).to_have_text(re.compile(r"^30\.5 of 256"))
    page.go_back()
    expect(touched).to_have_text(re.compile("^222 of 256"))


def test_a_dense_model_offers_experts_and_travels(page: Page, browser: Browser, app_url: str) -> None:
    page.goto(f"{app_url}experts?v=1&model=llama-3.3-70b")
    expect(page.get_by_text("Llama-3.3-70B-Instruct is dense")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name=re.compile("active of")).first.click()
    expect(page.locator(".rf-card")).to_have_count(4)
    name = page.locator(".rf-line strong").inner_text()
    other = browser.new_context()
    try:
        expect(opened(other.new_page(), page.url).locator(".rf-line strong")).to_have_text(name)
    finally:
        other.close()
    page.go_back()
    expect(page.get_by_text("Llama-3.3-70B-Instruct is dense")).to_be_visible()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_no_sideways_scroll_and_no_serious_finding(browser: Browser, app_url: str, mode: str, size: dict) -> None:
    context = browser.new_context(color_scheme=mode, **size)
    try:
        page = opened(context.new_page(), f"{app_url}experts")
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()
