"""The Find hardware page as a visitor has it: ask, read, use, take along, go back; wide and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
ASKED = "find?v=1&model=llama-3.3-70b&find=hw:h100-sxm/l40s,most:16"


def searched(page: Page, url: str) -> Page:
    page.goto(url)
    page.get_by_role("button", name="Search", exact=True).click(timeout=60_000)
    expect(page.locator(".rf-trust")).to_contain_text("Cheapest: ", timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_a_search_answers_in_both_widths(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = searched(context.new_page(), f"{app_url}{ASKED}")
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()


def test_the_link_of_an_answer_answers_again_and_a_row_opens_the_calculator(page: Page, app_url: str) -> None:
    searched(page, f"{app_url}{ASKED}")
    answer = page.locator(".rf-trust").inner_text()
    page.goto(page.url)
    expect(page.locator(".rf-trust")).to_have_text(answer, timeout=60_000)
    idle(page)
    page.get_by_role("link", name="Open in the Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible(timeout=30_000)
    expect(page.locator(".rf-line")).to_contain_text("requests/s")
    page.go_back()
    expect(page.locator(".rf-trust")).to_have_text(answer, timeout=30_000)


def test_deployments_are_taken_along_as_a_file(page: Page, app_url: str) -> None:
    searched(page, f"{app_url}{ASKED}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").first.click()
    assert waiting.value.suggested_filename == "deployments.csv"
    assert "?v=1" in waiting.value.path().read_text(encoding="utf-8")
