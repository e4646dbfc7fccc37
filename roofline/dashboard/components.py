"""Two small parts that need the browser: a button that copies the address, and a watch over how the page is seen."""

from __future__ import annotations

import streamlit as st

from roofline.figures.theme import Mode
from roofline.language import tr

_LINK_HTML = """
<div class="row">
  <button type="button" class="change">Change</button>
  <button type="button" class="copy">Copy link</button>
  <span class="status" role="status" aria-live="polite"></span>
  <input class="link" aria-label="Link to this page" readonly hidden>
</div>
"""
_LINK_CSS = """
.row { display: flex; gap: 8px; align-items: center; justify-content: flex-end; font-family: var(--st-font); font-size: 14px; }
button { font: inherit; color: var(--st-text-color); background: transparent; border: 1px solid var(--st-border-color);
  border-radius: 8px; padding: 4px 12px; cursor: pointer; white-space: nowrap; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.change { display: none; }
.status { color: var(--st-text-color); order: -1; }
.link { font: inherit; width: 14rem; max-width: 60vw; }
@media (max-width: 767px) { .change { display: inline-block; } .row { justify-content: flex-start; } .status { order: 0; } }
"""
_LINK_JS = """
export default function ({ data, parentElement }) {
  const find = (selector) => parentElement.querySelector(selector);
  const { words } = data;
  find('.change').textContent = words.change;
  find('.copy').textContent = words.copy;
  find('.link').setAttribute('aria-label', words.link);
  const status = find('.status'), field = find('.link');
  const say = (text) => { status.textContent = text; setTimeout(() => { status.textContent = ''; }, 2500); };
  const show = () => { field.hidden = false; field.value = location.href; field.focus(); field.select(); };
  find('.copy').onclick = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say(words.copied);
    } catch {
      show();
      if (document.execCommand('copy')) { field.hidden = true; say(words.copied); } else { say(words.press); }
    }
  };
  find('.change').onclick = () => {
    const button = document.querySelector('[data-testid=stExpandSidebarButton]');
    if (button) button.click();
  };
}
"""
_SCREEN_JS = """
export default function ({ data, setStateValue, setTriggerValue }) {
  const mode = () => {
    const parts = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor.match(/[\\d.]+/g).map(Number);
    return parts[0] + parts[1] + parts[2] < 384 ? 'dark' : 'light';
  };
  const narrow = () => document.querySelector('[data-testid=stMain]').clientWidth < data.narrow_px;
  document.documentElement.lang = data.language;
  let told = data.mode, small = data.narrow, shown = null;
  const show = () => { // the page one is on, into the middle of a menu that scrolls; once for each menu as drawn
    const menu = document.querySelector('.st-key-menu'), here = menu?.querySelector('.rf-here');
    const drawn = here && `${here.textContent} ${menu.scrollWidth}`;
    if (!here || drawn === shown) return;
    const place = here.getBoundingClientRect(), frame = menu.getBoundingClientRect();
    menu.scrollLeft += place.left + place.width / 2 - frame.left - frame.width / 2;
    shown = drawn;
  };
  const check = () => {
    const now = mode();
    show();
    if (now !== told) { told = now; setTriggerValue('mode', now); }
    if (narrow() !== small) { small = !small; setStateValue('narrow', small); }
  };
  check();
  const timer = setInterval(check, 400);
  return () => clearInterval(timer);
}
"""

_link_button = st.components.v2.component("roofline_link", html=_LINK_HTML, css=_LINK_CSS, js=_LINK_JS)
_screen_watch = st.components.v2.component("roofline_screen", js=_SCREEN_JS)
_SCREEN_KEY = "screen_watch"
_NARROW_PX = 500
"""A page this wide or less has room for the figures of a phone only."""


def link_button() -> None:
    """Copy the address; on a phone also a way to the controls."""
    words = {
        "change": tr("Change"),
        "copy": tr("Copy link"),
        "link": tr("Link to this page"),
        "copied": tr("Copied"),
        "press": tr("Press Ctrl+C"),
    }
    _link_button(key="link_button", data={"words": words}, width="content")


def watch_screen(mode: Mode, language: str, *, phone: bool) -> None:
    """Run again when light turns dark or the page narrow; tell screen readers the language; show where the menu stands.

    A phone is known before the first run and is not watched for its width.
    """
    data = {"mode": mode, "language": language, "narrow": seen_narrow(), "narrow_px": 0 if phone else _NARROW_PX}
    _screen_watch(
        key=_SCREEN_KEY,
        data=data,
        height=1,
        on_mode_change=lambda: None,
        on_narrow_change=lambda: None,
        default={"narrow": False},
    )


def seen_narrow() -> bool:
    """Whether the browser has told that the page is narrow."""
    return bool(st.session_state.get(_SCREEN_KEY, {}).get("narrow", False))
