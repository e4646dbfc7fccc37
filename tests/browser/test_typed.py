"""Typing a model or a device into its list, as a visitor does."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .visits import idle

pytestmark = pytest.mark.browser


def typed(page: Page, control: str, text: str) -> str:
    """What the control shows after a text and Enter."""
    box = page.get_by_role("combobox", name=control)
    box.click()
    box.fill(text)
    page.keyboard.press("Enter")
    expect(box).not_to_have_value(text)
    idle(page)
    return box.input_value()


def test_a_typed_name_shows_the_entry_and_the_answer_for_it(page: Page, app_url: str) -> None:
    page.goto(app_url)
    expect(page.locator(".rf-card")).to_have_count(4, timeout=60_000)
    assert typed(page, "Model", "qwen3 235b") == "Qwen3-235B-A22B"
    expect(page.locator(".rf-line strong")).to_have_text("Qwen3-235B-A22B")
    assert typed(page, "Hardware", "H200") == "H200 SXM5 141GB"
    box = page.get_by_role("combobox", name="Hardware")
    box.click()
    box.fill("H200 SXM")
    expect(page.get_by_role("option", name="H200 SXM5 141GB", exact=True)).to_have_count(1)
    page.keyboard.press("Escape")
    assert typed(page, "Model", "llama 70b") == "Qwen3-235B-A22B"
    expect(page.get_by_text("This answer is not for 'llama 70b'")).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_text("Llama-3.1-70B", exact=True).click()
    expect(page.locator(".rf-line strong")).to_have_text("Llama-3.1-70B")
    expect(page.get_by_text("This answer is not for")).to_have_count(0)
