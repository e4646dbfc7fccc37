"""The Cost and Fleet pages as a visitor has them: read, change, share, go back; wide and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
COST = "cost?v=1&model=llama-3.3-70b&hw=h200-sxm&n=4&w=fp8&batch=64&own=price:25000"
FLEET = "fleet?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=most&f.regions=us:0.5:-6:0.02,asia:0.5:8:0.2"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-trust")).to_be_visible(timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


def typed(page: Page, label: str, value: str) -> None:
    field = page.locator("[data-testid=stMain]").get_by_label(label, exact=True).first
    field.fill(value)
    field.press("Enter")


@pytest.mark.parametrize("address", [COST, FLEET], ids=["cost", "fleet"])
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_both_widths_hold_the_page_and_anyone_can_use_it(
    browser: Browser, app_url: str, address: str, mode: str, size: str
) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = opened(context.new_page(), f"{app_url}{address}")
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()


def test_a_price_is_chosen_changed_and_undone(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{COST}")
    value = page.locator(".rf-value").first
    first = value.inner_text()
    typed(page, "Price of one device (USD)", "50000")
    expect(value).not_to_have_text(first)
    expect(page).to_have_url(re.compile("own=price:50000|own=price%3A50000"))
    page.go_back()
    expect(value).to_have_text(first)
    page.locator("[data-testid=stMain]").get_by_text("It is there: power only").click()
    expect(page).to_have_url(re.compile("own=power"))
    idle(page)


def test_an_assumption_is_changed_and_outlives_another_page(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{FLEET}")
    value = page.locator(".rf-value").first
    first = value.inner_text()
    typed(page, "Weekly users", "70000000")
    expect(value).not_to_have_text(first)
    expect(page).to_have_url(re.compile("f.users=70000000"))
    second = value.inner_text()
    page.get_by_role("link", name="Cost").click()
    expect(page.get_by_text("What a token costs")).to_be_visible()
    page.get_by_role("link", name="Fleet").click()
    expect(page.get_by_text("From users to money")).to_be_visible()
    expect(page.locator(".rf-value").first).to_have_text(second)


def test_steps_are_taken_along_as_a_file(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{FLEET}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Steps (CSV)").click()
    assert "weekly users" in waiting.value.path().read_text(encoding="utf-8")
