"""The Model page as a visitor has it: paste, use, calculate, share, go back."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
SMALL = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
}
HOSTILE = "<b>mine</b><img src=x onerror=alert(1)>"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-card")).to_have_count(4, timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


def numbers(page: Page) -> list[str]:
    return page.locator(".rf-value").all_inner_texts()


def paste(page: Page, text: str, name: str = "") -> None:
    page.get_by_text("A model of your own").click()
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Configuration (JSON)").fill(text)


def test_a_pasted_model_goes_to_the_calculator_and_to_somebody_else(page: Page, browser: Browser, app_url: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    opened(page, f"{app_url}model")
    paste(page, json.dumps(SMALL), HOSTILE)
    page.get_by_role("button", name="Use this model").click()
    expect(page).to_have_url(re.compile("model=config"))
    expect(page.locator(".rf-line strong")).to_have_text(HOSTILE)
    expect(page.locator(".rf-value").first).to_have_text("1.24 billion")
    page.get_by_role("link", name="Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible()
    expect(page.locator(".rf-card")).to_have_count(4)
    idle(page)
    calculated = numbers(page)
    assert page.locator("[data-testid=stMain] img").count() == 0
    other = browser.new_context()
    try:
        assert numbers(opened(other.new_page(), page.url)) == calculated
    finally:
        other.close()
    page.go_back()
    expect(page.locator(".rf-value").first).to_have_text("1.24 billion")
    page.go_forward()
    expect(page.locator(".rf-value").first).to_have_text(calculated[0])


def test_a_damaged_paste_is_told_beside_the_field_and_kept(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}model")
    paste(page, '{"model_type": ')
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_role("alert").filter(has_text="not JSON")).to_be_visible()
    expect(page.get_by_role("textbox", name="Configuration (JSON)")).to_have_value('{"model_type": ')
    page.get_by_role("link", name="Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible()
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page.get_by_text("Active per token")).to_be_visible()
    page.get_by_text("A model of your own").click()
    expect(page.get_by_role("textbox", name="Configuration (JSON)")).to_have_value('{"model_type": ')


def test_the_pages_are_reached_by_keyboard_with_the_question(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}?batch=64")
    expect(page.locator("[aria-current=page]", has_text="Calculator")).to_be_visible()
    page.get_by_role("link", name="Model", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rf-here[aria-current=page]", has_text="Model")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/model\?v=1&batch=64"))
    page.go_back()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"batch=64"))


def test_a_table_is_taken_along_as_a_file(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}model")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename == "layers.csv"


@pytest.mark.parametrize("ref", ["llama-3.1-8b", "deepseek-v3", "gemma-3-27b", "qwen3.5-27b", "jamba-v0.1", "kimi-k3"])
def test_a_phone_needs_no_sideways_scroll(browser: Browser, app_url: str, ref: str) -> None:
    context = browser.new_context(**PHONE)
    try:
        page = opened(context.new_page(), f"{app_url}model?v=1&model={ref}")
        page.get_by_text("A model of your own").click()
        expect(page.get_by_role("button", name="Use this model")).to_be_visible()
        idle(page)
        inner, outer = widths(page)
        assert inner <= outer
    finally:
        context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_has_no_serious_finding(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = opened(context.new_page(), f"{app_url}model")
        paste(page, '{"model_type": ')
        page.get_by_role("button", name="Use this model").click()
        expect(page.get_by_role("alert").filter(has_text="not JSON")).to_be_visible()
        idle(page)
        assert serious_findings(page) == []
    finally:
        context.close()
