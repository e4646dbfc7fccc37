"""The calculator as a visitor has it: address, history, copied link, phone, accessibility."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-card")).to_have_count(4, timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


def numbers(page: Page) -> list[str]:
    return page.locator(".rf-value").all_inner_texts()


def set_batch(page: Page, batch: int) -> None:
    field = page.get_by_role("spinbutton", name="Batch (sequences at once)")
    field.fill(str(batch))
    field.press("Enter")
    expect(page).to_have_url(re.compile(rf"batch={batch}\b"))
    expect(page.locator(".rf-line")).to_contain_text(f"batch {batch}")
    idle(page)


def rings(page: Page) -> list:
    return page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot')].flatMap(g => g.data)"
        ".filter(t => t.name === 'chosen batch').map(t => t.x[0])"
    )


def test_a_change_shows_in_numbers_address_and_figures(page: Page, app_url: str) -> None:
    opened(page, app_url)
    before = numbers(page)
    set_batch(page, 64)
    assert numbers(page)[:2] != before[:2]
    page.wait_for_function("[...document.querySelectorAll('.js-plotly-plot')].some(g => g.data.some(t => t.x && t.x[0] === 64))")
    assert 64 in rings(page)


def test_back_undoes_and_forward_redoes(page: Page, app_url: str) -> None:
    opened(page, app_url)
    first = numbers(page)
    set_batch(page, 64)
    second = numbers(page)
    page.go_back()
    expect(page.locator(".rf-value").first).to_have_text(first[0])
    idle(page)
    assert numbers(page) == first
    page.go_forward()
    expect(page.locator(".rf-value").first).to_have_text(second[0])


def test_the_copied_link_gives_the_same_numbers_to_somebody_else(page: Page, browser: Browser, app_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, app_url)
    set_batch(page, 96)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "batch=96" in link
    other = browser.new_context()
    try:
        assert numbers(opened(other.new_page(), link)) == numbers(page)
    finally:
        other.close()


def test_the_open_tab_is_part_of_the_link(page: Page, app_url: str) -> None:
    opened(page, app_url)
    page.get_by_role("tab", name="Memory").click()
    expect(page).to_have_url(re.compile("tab=Memory"))
    opened(page, page.url)
    expect(page.get_by_role("tab", name="Memory")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("img", name=re.compile("usable on each device"))).to_be_visible()


def test_why_opens_by_keyboard_and_shows_the_formula(page: Page, app_url: str) -> None:
    opened(page, app_url)
    page.get_by_role("button", name="Why this speed?").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rf-equation").first).to_be_visible()


def test_nothing_is_asked_of_other_hosts(page: Page, app_url: str) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url))
    opened(page, app_url)
    assert not [url for url in outside if not url.startswith((app_url, app_url.replace("http", "ws"), "data:", "blob:"))]


def test_a_phone_needs_no_sideways_scroll(browser: Browser, app_url: str) -> None:
    context = browser.new_context(**PHONE)
    try:
        page = opened(context.new_page(), app_url)
        for tab in ("Cost", "Memory", "Time by operator", "Assumptions and sources"):
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
            idle(page)
            inner, outer = widths(page)
            assert inner <= outer, tab
        page.get_by_role("button", name="Change").click()
        expect(page.get_by_role("spinbutton", name="Batch (sequences at once)")).to_be_visible()
    finally:
        context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_has_no_serious_finding(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        assert serious_findings(opened(context.new_page(), app_url)) == []
    finally:
        context.close()


def test_a_switch_between_light_and_dark_recolours_the_figures(page: Page, app_url: str) -> None:
    page.emulate_media(color_scheme="light")
    opened(page, app_url)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "[...document.querySelectorAll('.js-plotly-plot')].length && [...document.querySelectorAll('.js-plotly-plot')]"
        ".every(g => g.layout.font.color === '#E8ECF2')"
    )
