"""The Accuracy page as a visitor has it: read, filter, paste, fit, take along; wide and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
HEAD = "id,hardware_id,model_id,kind,metric,value,weight_format,engine,batch_or_concurrency,input_len,output_len"
GOOD = [f"own-{n},rtx3090,llama-3.1-8b,decode_single,tok/s per user,30,f16,llama-cpp,1,{n}00,128" for n in range(1, 5)]
BAD = "<b>mine</b><img src=x onerror=alert(1)>,rtx3090,llama-3.1-8b,decode_single,tok/s per user,fast,f16,llama-cpp,1,100,128"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-trust")).to_be_visible(timeout=60_000)
    expect(page.locator("[data-testid=stPlotlyChart] .main-svg").first).to_be_attached(timeout=60_000)
    idle(page)
    return page


def paste(page: Page) -> None:
    page.get_by_text("Your own measurements: paste").click()
    field = page.get_by_role("textbox", name="Measurements (CSV")
    field.fill("\n".join([HEAD, *GOOD, BAD]))
    field.press("Control+Enter")
    page.get_by_role("button", name="Fit the constants").click()
    expect(page.get_by_text("share of memory bandwidth")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("alert").filter(has_text="value must be a number").first).to_be_visible()
    idle(page)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_own_rows_are_compared_and_fitted_in_both_widths(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = context.new_page()
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        opened(page, f"{app_url}accuracy")
        paste(page)
        page.wait_for_function("document.querySelector('.js-plotly-plot').data.some(t => t.name === 'yours' && t.x.length === 4)")
        assert page.locator("[data-testid=stMain] img").count() == 0
        inner, outer = widths(page)
        assert inner <= outer
        assert serious_findings(page) == []
    finally:
        context.close()


def test_all_rows_are_taken_along_as_a_file(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}accuracy")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download all rows").click()
    assert waiting.value.suggested_filename == "accuracy.csv"
    assert len(waiting.value.path().read_text(encoding="utf-8").splitlines()) == 1450


def test_the_question_and_the_table_outlive_a_look_at_another_page(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}accuracy?v=1&batch=64")
    paste(page)
    page.get_by_role("link", name="Calculator").click()
    expect(page.get_by_text("Tokens/s per user").first).to_be_visible()
    expect(page.locator(".rf-line")).to_contain_text("batch 64")
    page.get_by_role("link", name="Accuracy").click()
    expect(page.locator(".rf-trust")).to_be_visible()
    expect(page.get_by_text("Your 4 rows")).to_be_visible()
