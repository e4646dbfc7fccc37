"""Quick moves, the preview of a speed, saved questions, why and the report, as a visitor has them."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .visits import PHONE, WIDE, idle, serious_findings, widths

pytestmark = pytest.mark.browser
QUICK = "?v=1&model=llama-3.1-8b&hw=h100-sxm&n=1&batch=32&in=1024&out=256"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(".rf-card")).to_have_count(4, timeout=60_000)
    expect(page.get_by_text("The one change that helps most")).to_be_visible(timeout=60_000)
    idle(page)
    return page


def saved(page: Page) -> Page:
    page.get_by_role("button", name="Saved").click()
    expect(page.get_by_label("Keep this question as")).to_be_visible()
    idle(page)
    return page


def test_a_quick_move_does_what_it_says_and_back_undoes_it(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{QUICK}")
    move = page.get_by_role("button", name=re.compile("Double the batch to 64"))
    expect(move).to_contain_text(re.compile(r"in\stotal\s\+\d+%"))
    before = page.locator(".rf-value").nth(1).inner_text()
    move.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("batch=64"))
    expect(page.locator(".rf-value").nth(1)).not_to_have_text(before)
    expect(page.get_by_role("button", name=re.compile("Double the batch to 128"))).to_be_visible()
    page.go_back()
    expect(page.locator(".rf-value").nth(1)).to_have_text(before)


def test_the_preview_keeps_to_its_schedule_and_stops(page: Page, app_url: str) -> None:
    """Some ten tokens a second, so that a busy machine can still press Stop in time."""
    opened(page, f"{app_url}?v=1&model=llama-3.3-70b&hw=apple-m4max&n=1&w=q4_k_m&batch=1&in=32&out=256")
    speed = float(page.locator(".rf-value").first.inner_text().replace(",", ""))
    page.get_by_role("button", name="Feel this speed").click()
    text = page.get_by_role("region", name="Text at the expected speed")

    def pieces() -> int:
        return len(re.findall(r"\s*\S{1,4}", text.text_content() or ""))

    expect(text).not_to_be_empty()
    begun, first = time.monotonic(), pieces()
    page.wait_for_timeout(2000)
    shown, seconds = pieces() - first, time.monotonic() - begun
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status").filter(has_text="Stopped")).to_be_visible()
    stopped = pieces()
    page.wait_for_timeout(400)
    assert pieces() == stopped
    assert shown / seconds == pytest.approx(speed, rel=0.3)


def test_without_motion_the_whole_text_is_there_at_once(page: Page, app_url: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened(page, f"{app_url}{QUICK}")
    page.get_by_role("button", name="Feel this speed").click()
    expect(page.get_by_role("status").filter(has_text="Without motion")).to_be_visible()
    expect(page.get_by_role("region", name="Text at the expected speed")).to_contain_text("reads its memory faster")


def test_why_opens_as_far_down_as_shapes_and_says_how_to_measure(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{QUICK}")
    page.get_by_role("button", name="Why this speed?").click()
    for title in ("One decode step", "mlp: gate up", "Weights read"):
        page.locator("summary", has_text=title).first.click()
    expect(page.get_by_text("14,336 x 4,096, in 32 layers").first).to_be_visible()
    page.locator("summary", has_text="Measure it yourself").click()
    expect(page.get_by_text("vllm bench serve").first).to_be_visible()


def test_questions_are_kept_opened_and_taken_along(page: Page, browser: Browser, app_url: str, tmp_path: Path) -> None:
    saved(opened(page, f"{app_url}{QUICK}"))
    page.get_by_label("Keep this question as").fill("mine <b>")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("button", name="Open mine <b>")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as file").click()
    found = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert found == {"mine <b>": page.evaluate("location.search")}

    for bad in ("[1]", "{", '{"a": "https://example.org"}', "{}", "x" * 300_000):
        (tmp_path / "bad.json").write_text(bad, encoding="utf-8")
        page.locator("#file").set_input_files(tmp_path / "bad.json")
        expect(page.get_by_role("status").filter(has_text="no file of saved questions")).to_be_visible()
    (tmp_path / "good.json").write_text(json.dumps({"theirs": "?v=1&model=llama-3.1-8b&hw=rtx4090&batch=2"}), encoding="utf-8")
    page.locator("#file").set_input_files(tmp_path / "good.json")
    page.get_by_role("button", name="Open theirs").click()
    expect(page).to_have_url(re.compile("hw=rtx4090"))
    expect(page.locator(".rf-line")).to_contain_text("RTX 4090")
    page.go_back()
    expect(page.locator(".rf-line")).to_contain_text("H100")

    again = saved(opened(page.context.new_page(), app_url))  # a new visit with the same browser
    expect(again.get_by_role("button", name="Open theirs")).to_be_visible()
    again.get_by_role("button", name="Remove theirs").click()
    expect(again.get_by_role("button", name="Open theirs")).to_have_count(0)


def test_start_over_can_be_undone(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{QUICK}")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(".rf-line")).to_contain_text("DeepSeek-V3")
    page.go_back()
    expect(page.locator(".rf-line")).to_contain_text("Llama-3.1-8B")


def test_the_report_comes_down_and_holds_the_link(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}{QUICK}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert "Llama-3.1-8B" in text
    assert f"{app_url}?v=1&amp;model=llama-3.1-8b" in text


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_open_parts_are_clean_in_both_widths(browser: Browser, app_url: str, mode: str, size: str) -> None:
    context = browser.new_context(color_scheme=mode, **(PHONE if size == "phone" else WIDE))
    try:
        page = opened(context.new_page(), f"{app_url}{QUICK}")
        page.get_by_role("button", name="Feel this speed").click()
        page.locator("summary", has_text="more changes").click()
        page.get_by_role("button", name="Why this speed?").click()
        page.locator("summary", has_text="One decode step").first.click()
        assert serious_findings(page) == []
        inner, outer = widths(page)
        assert inner <= outer
        if size == "desktop":
            page.keyboard.press("Escape")
            saved(page)
            assert serious_findings(page) == []
    finally:
        context.close()
