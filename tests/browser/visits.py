"""What every visit of the dashboard needs: a phone and a wide screen, and to know when a page has come to rest."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

PHONE = {"viewport": {"width": 390, "height": 844}, "user_agent": "Mozilla/5.0 (Linux; Android 15) Mobile Mobi Chrome"}
WIDE = {"viewport": {"width": 1440, "height": 900}}


def idle(page: Page) -> None:
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=30_000)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=30_000)


def widths(page: Page) -> list[int]:
    return page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.querySelector('[data-testid=stMain]'))")


def serious_findings(page: Page) -> list[tuple[str, list[str]]]:
    """What axe-core finds serious or critical on a page, with the markup it means."""
    found = Axe().run(page).response["violations"]
    return [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")]
