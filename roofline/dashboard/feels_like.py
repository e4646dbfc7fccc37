"""What a speed feels like: text that appears by the schedule that is expected, in the browser, after a press of a button."""

from __future__ import annotations

from math import isfinite
from typing import Any

import streamlit as st

from roofline.answers.report import Report
from roofline.dashboard import quick_moves_words as words
from roofline.language import separators, tr
from roofline.units import duration, significant

_HTML = """
<button type="button"></button> <span class="status" role="status" aria-live="polite"></span>
<p class="text" role="region" hidden></p>
"""
_CSS = """
:host, button, .status, .text { font-family: var(--st-font); color: var(--st-text-color); }
button { font-size: 14px; background: transparent; cursor: pointer; padding: 4px 12px;
  border: 1px solid var(--st-border-color); border-radius: 8px; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.status { font-size: 14px; margin-left: 8px; }
.text { font-size: 15px; line-height: 1.5; height: 11em; overflow-y: auto; margin: 8px 0 0; padding: 8px 12px; max-width: 60rem;
  box-sizing: border-box; border: 1px solid var(--st-border-color); border-radius: 8px; }
"""
_JS = """
const PIECE = /\\s*([\\uAC00-\\uD7A3]{1,2}|[^\\s\\uAC00-\\uD7A3]{1,4})/g;
export default function ({ data, parentElement }) {
  const find = (selector) => parentElement.querySelector(selector);
  const button = find('button'), status = find('.status'), text = find('.text');
  const pieces = data.text.match(PIECE);
  const fill = (words) => words.replace('{tokens}', pieces.length).replace('{whole}', seconds(whole));
  const seconds = (value) => value >= 1 ? value.toFixed(1).replace('.', data.decimal) + ' s' : Math.round(value * 1000) + ' ms';
  const whole = data.first_s + Math.ceil((pieces.length - 1) / data.per_step) * data.step_s;
  let frame = 0, begun = 0, shown = -1;
  const say = (words) => { if (status.textContent !== words) status.textContent = words; };
  const end = (words) => {
    cancelAnimationFrame(frame);
    frame = 0;
    button.textContent = data.words.start;
    say(words);
  };
  const due = (elapsed) => elapsed < data.first_s ? 0
    : Math.min(pieces.length, Math.floor(1 + Math.floor((elapsed - data.first_s) / data.step_s) * data.per_step));
  const tick = () => {
    if (!text.isConnected) { cancelAnimationFrame(frame); return; }
    const count = due((performance.now() - begun) / 1000);
    if (count !== shown) {
      shown = count;
      text.textContent = pieces.slice(0, count).join('');
      text.scrollTop = text.scrollHeight;
      say(count === 0 ? data.words.wait : data.words.run);
    }
    if (count >= pieces.length) { end(fill(data.words.done)); return; }
    frame = requestAnimationFrame(tick);
  };
  const start = () => {
    text.hidden = false;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      text.textContent = data.text;
      say(fill(data.words.still));
      return;
    }
    begun = performance.now();
    shown = -1;
    button.textContent = data.words.stop;
    tick();
  };
  button.textContent = data.words.start;
  status.textContent = '';
  text.textContent = '';
  text.hidden = true;
  text.setAttribute('aria-label', data.words.name);
  text.tabIndex = 0;
  button.onclick = () => { if (frame) end(data.words.stopped); else start(); };
  return () => cancelAnimationFrame(frame);
}
"""
_component = st.components.v2.component("roofline_feel", html=_HTML, css=_CSS, js=_JS)


def draw(report: Report) -> None:
    """The button, and behind it the text."""
    data = preview_data(report)
    if data is not None:
        _component(key="feels_like", data=data)


def preview_data(report: Report) -> dict[str, Any] | None:
    """The schedule of one user's tokens: the first, then as many as a step yields, a step apart; None where nothing comes."""
    waiting, per_step = report.waiting, report.tokens_per_step
    first_s = float(report.expected.ttft_s if waiting is None else waiting.ttft_mean_s)
    step_s = float(report.expected.tpot_s) * per_step
    if not (isfinite(first_s) and isfinite(step_s)):
        return None
    told = {"first": duration(first_s), "rate": significant(float(report.expected.tokens_per_s_per_user))}
    kept = {"tokens": "{tokens}", "whole": "{whole}"}
    shown = {
        "wait": words.FEEL_WAIT,
        "run": words.FEEL_RUN,
        "done": words.FEEL_DONE,
        "still": words.FEEL_STILL,
        "start": words.FEEL,
        "stop": words.FEEL_STOP,
        "stopped": words.FEEL_STOPPED,
        "name": words.FEEL_NAME,
    }
    return {
        "first_s": first_s,
        "step_s": step_s,
        "per_step": per_step,
        "decimal": separators()[0],
        "text": tr(words.FEEL_TEXT),
        "words": {name: tr(text, **told, **kept) for name, text in shown.items()},
    }
