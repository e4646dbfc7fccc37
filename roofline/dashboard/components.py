"""Two small parts that need the browser: a button that copies the address; light or dark watched and the language named."""

from __future__ import annotations

import streamlit as st

from roofline.figures.theme import Mode
from roofline.language import tr

_LINK_HTML = """
<div class="row">
  <button type="button" class="change"></button>
  <button type="button" class="copy"></button>
  <span class="status" role="status" aria-live="polite"></span>
  <input class="link" readonly hidden>
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
_THEME_JS = """
export default function ({ data, setTriggerValue }) {
  const mode = () => {
    const parts = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor.match(/[\\d.]+/g).map(Number);
    return parts[0] + parts[1] + parts[2] < 384 ? 'dark' : 'light';
  };
  document.documentElement.lang = data.language;
  let told = data.mode;
  const check = () => {
    const now = mode();
    if (now !== told) { told = now; setTriggerValue('mode', now); }
  };
  check();
  const timer = setInterval(check, 400);
  return () => clearInterval(timer);
}
"""

_link_button = st.components.v2.component("roofline_link", html=_LINK_HTML, css=_LINK_CSS, js=_LINK_JS)
_theme_watch = st.components.v2.component("roofline_theme", js=_THEME_JS)


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


def watch_theme(mode: Mode, language: str) -> None:
    """Run again when the person or the system switches between light and dark; tell screen readers the language."""
    _theme_watch(key="theme_watch", data={"mode": mode, "language": language}, height=1, on_mode_change=lambda: None)
