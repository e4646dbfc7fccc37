"""Another language as a visitor has it: chosen in the controls, carried by the link, named to screen readers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from roofline.language import LANGUAGES, told_in, tr

from .visits import idle

pytestmark = pytest.mark.browser


def test_a_language_is_chosen_and_travels_in_the_link(page: Page, browser: Browser, app_url: str) -> None:
    page.goto(f"{app_url}?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=8")
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible(timeout=60_000)
    idle(page)
    box = page.get_by_role("combobox", name="Language")
    box.click()
    box.fill(LANGUAGES["ko"].name)
    box.press("Enter")
    with told_in("ko"):
        title, menu = tr("Tokens/s per user"), tr("Catalogue")
    expect(page.get_by_text(title).first).to_be_visible(timeout=30_000)
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    assert "lang=ko" in page.url
    assert "batch=8" in page.url
    page.get_by_role("link", name=menu).click()
    expect(page).to_have_url(re.compile("catalogue.*lang=ko"), timeout=30_000)
    other = browser.new_context()
    try:
        visit = other.new_page()
        visit.goto(page.url)
        expect(visit.get_by_text(menu).first).to_be_visible(timeout=60_000)
        expect(visit.locator("html")).to_have_attribute("lang", "ko")
    finally:
        other.close()
