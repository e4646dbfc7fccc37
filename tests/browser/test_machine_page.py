"""The My machine page as a visitor has it: what runs, what to buy, use it, take it along; wide and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
ASKED = "machine?v=1&hw=rtx4090&n=1"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-trust")).to_contain_text("models fit", timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


def clean(page: Page) -> None:
    inner, outer = widths(page)
    assert inner <= outer
    assert serious_findings(page) == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_both_questions_are_answered_in_both_widths(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = opened(context.new_page(), f"{app_url}{ASKED}")
        clean(page)
        page.get_by_text("What should I buy for this model?").click()
        expect(page.locator(".rf-trust")).to_contain_text("Cheapest to buy", timeout=30_000)
        idle(page)
        clean(page)
    finally:
        context.close()


def test_a_row_becomes_the_scenario_and_back_undoes_it(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{ASKED}")
    before = page.locator(".rf-line").inner_text()
    page.get_by_role("button", name="Use this").click()
    expect(page.locator(".rf-line")).to_contain_text(re.compile(r"batch 1$"), timeout=30_000)
    idle(page)
    page.go_back()
    expect(page.locator(".rf-line")).to_have_text(before.replace("\n", ""), timeout=30_000)


def test_the_list_is_taken_along_as_a_file(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{ASKED}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename == "my-machine.csv"
    assert "q4_k_m" in waiting.value.path().read_text(encoding="utf-8")
