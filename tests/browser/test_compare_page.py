"""Compare and Stories as a visitor has them: add, change, go back, send the link; move a slider; wide and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
TWO = "v=1&model=llama-3.3-70b&hw=h200-sxm&n=1&w=fp8&batch=32&b.hw=h100-sxm&b.n=2&c.hw=rtx4090"


def opened(page: Page, url: str, charts: int) -> Page:
    page.goto(url)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart]")).to_have_count(charts, timeout=30_000)
    idle(page)
    return page


def traces(page: Page) -> list[str]:
    return page.evaluate("document.querySelector('.js-plotly-plot').data.map(t => t.name)")


def no_serious_findings(page: Page) -> None:
    assert serious_findings(page) == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize(("path", "charts"), [(f"compare?{TWO}", 2), ("stories?story=bits", 1)])
def test_both_pages_hold_in_both_widths_and_themes(
    browser: Browser, app_url: str, mode: str, size: str, path: str, charts: int
) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = context.new_page()
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        opened(page, f"{app_url}{path}", charts)
        inner, outer = widths(page)
        assert inner <= outer
        no_serious_findings(page)
    finally:
        context.close()


def test_a_comparison_is_made_undone_and_sent(browser: Browser, page: Page, app_url: str) -> None:
    opened(page, f"{app_url}compare?v=1&model=llama-3.1-8b&n=1&batch=16", 2)
    page.get_by_role("button", name="Twice the batch").click()
    expect(page.get_by_text("In total B delivers")).to_be_visible(timeout=30_000)
    page.wait_for_url("**b.batch=32**")
    idle(page)
    assert "B" in traces(page)
    link = page.url
    page.go_back()
    expect(page.get_by_text("Nothing is compared yet")).to_be_visible(timeout=30_000)
    page.go_forward()
    expect(page.get_by_text("In total B delivers")).to_be_visible(timeout=30_000)
    other = browser.new_context(**WIDE)
    try:
        fresh = opened(other.new_page(), link, 2)
        expect(fresh.get_by_text("In total B delivers")).to_be_visible()
        assert "B" in traces(fresh)
    finally:
        other.close()


def test_numbers_and_map_are_taken_along_as_files(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}compare?{TWO}", 2)
    for name, file, first in (
        ("Download the numbers (CSV)", "compare.csv", "scenario,number,expected"),
        ("Download the map (CSV)", "map.csv", "input_tokens,batch"),
    ):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        assert waiting.value.suggested_filename == file
        assert waiting.value.path().read_text(encoding="utf-8").startswith(first)


def test_a_slider_moves_the_verdict_and_opens_in_the_calculator(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}stories?story=batching,32", 1)
    verdict = page.locator(".rf-verdict")
    expect(verdict).to_contain_text("With 32 at once")
    page.get_by_role("slider", name="Sequences at once").press("ArrowRight")
    expect(verdict).to_contain_text("With 64 at once", timeout=30_000)
    page.wait_for_url("**story=batching*64**")
    page.go_back()
    expect(verdict).to_contain_text("With 32 at once", timeout=30_000)
    idle(page)
    page.get_by_role("link", name="Open in the Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible(timeout=30_000)
    expect(page.locator(".rf-line")).to_contain_text("Llama-3.3-70B")
    expect(page.locator(".rf-line")).to_contain_text("batch 32")
