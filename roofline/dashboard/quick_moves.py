"""Quick moves: one change each, with its effect told before it is pressed. One element on the page, however many there are."""

from __future__ import annotations

from typing import Any

import streamlit as st

from roofline.answers.moves import WAYS, Kind, Move, Moves, moves
from roofline.answers.moves_words import effects, label, sentence
from roofline.answers.report import Report
from roofline.dashboard import quick_moves_words as words
from roofline.dashboard.state import set_controls
from roofline.language import tr
from roofline.specs.scenario import Scenario, is_mixed

QUICK: tuple[Kind, ...] = ("double_batch", "halve_weights", "bigger_device", "double_devices")
"""Shown first, always in this order; the others fill in where one of them is not possible."""
MOST_DEVICES = 512
"""Of larger systems there are so many plans that moves are worked out on demand."""
_KEY, _KEPT = "quick_moves", "_moves"

_HTML = """
<p class="best"></p>
<div class="quick" role="group"></div>
<details hidden><summary></summary><div class="more" role="group"></div></details>
"""
_CSS = """
:host, .best, button, summary { font-family: var(--st-font); color: var(--st-text-color); }
.best { margin: 0 0 8px; font-size: 15px; line-height: 1.45; }
.quick, .more { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 8px 12px; }
.more { margin-top: 8px; }
button { font-size: 14px; line-height: 1.35; text-align: left; background: transparent; cursor: pointer; padding: 7px 12px;
  border: 1px solid var(--st-border-color); border-radius: 8px; display: flex; flex-direction: column; min-width: 0; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); }
button:focus-visible, summary:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
button strong { font-weight: 600; }
button .helps { color: var(--st-primary-color); font-weight: 600; }
button .effects { font-variant-numeric: tabular-nums; font-size: 13px; opacity: 0.85; }
button[disabled] { cursor: default; border-style: dashed; }
summary { cursor: pointer; font-size: 14px; margin-top: 8px; width: fit-content; color: var(--st-primary-color); }
@media (max-width: 1150px) { .quick, .more { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 480px) { .quick, .more { grid-template-columns: 1fr; } }
"""
_JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  const line = (tag, name, text) => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    return element;
  };
  const button = (move) => {
    const found = document.createElement('button');
    found.type = 'button';
    found.disabled = !move.fits;
    found.append(line('strong', '', move.label));
    if (move.helps) found.append(line('span', 'helps', move.helps));
    found.append(line('span', 'effects', move.effects));
    found.onclick = () => setTriggerValue('move', move.kind);
    return found;
  };
  find('.best').textContent = data.sentence;
  find('.quick').setAttribute('aria-label', data.name);
  find('.quick').replaceChildren(...data.quick.map(button));
  find('.more').setAttribute('aria-label', data.more_name);
  find('.more').replaceChildren(...data.more.map(button));
  find('summary').textContent = data.more_name;
  find('details').hidden = data.more.length === 0;
}
"""
_component = st.components.v2.component("roofline_moves", html=_HTML, css=_CSS, js=_JS)


def draw(report: Report) -> None:
    """The one change that helps most, and buttons for each; of very large systems only when asked for."""
    if report.scenario.devices > MOST_DEVICES and not st.button(tr(words.ASK), help=tr(words.ASK_HELP)):
        return
    found = moves(report)
    st.session_state[_KEPT] = {move.kind: move.scenario for move in found.ranked}
    _component(key=_KEY, data=moves_data(found, anew=_is_open(report.scenario)), on_move_change=_apply)


def _is_open(scenario: Scenario) -> bool:
    """Whether there is a plan to choose and the program chooses it."""
    return scenario.devices > 1 and not is_mixed(scenario.hardware) and all(getattr(scenario, name) is None for name in WAYS)


def _apply() -> None:
    """Let the controls show the scenario of the move that was pressed."""
    scenario = st.session_state.get(_KEPT, {}).get(st.session_state[_KEY].get("move"))
    if scenario is not None:
        set_controls(scenario)


def moves_data(found: Moves, *, anew: bool = False) -> dict[str, Any]:
    """What the buttons show; whether each change has its plan chosen ``anew``."""
    quick = _quick(found)
    more = [move for move in found.ranked if move not in quick]
    return {
        "sentence": f"{sentence(found)} {tr(words.ANEW)}" if anew and quick else sentence(found),
        "name": tr(words.NAME),
        "more_name": tr(words.MORE if quick else words.NONE_FITS, n=len(more)),
        "quick": [_button(move, found) for move in quick],
        "more": [_button(move, found) for move in more],
    }


def _quick(found: Moves) -> list[Move]:
    """The usual moves that are possible and the best one, filled up with those that rank highest; none where none fits."""
    if not any(move.after.fits for move in found.ranked):
        return []
    by_kind = {move.kind: move for move in found.ranked}
    usual = [by_kind[kind] for kind in QUICK if kind in by_kind]
    best = [] if found.best is None or found.best in usual else [found.best]
    kept = [*usual[: len(QUICK) - len(best)], *best]
    others = [move for move in found.ranked if move not in kept]
    return [*kept, *others[: len(QUICK) - len(kept)]]


def _button(move: Move, found: Moves) -> dict[str, Any]:
    parts = [f"{name} {value}".strip().replace(" ", "\N{NO-BREAK SPACE}") for name, value in effects(move, found.now)]
    helps = words.HELPS_MOST if move is found.best else words.HELPS_ONE if move is found.best_for_one else ""
    return {
        "kind": move.kind,
        "label": label(move),
        "fits": move.after.fits,
        "helps": tr(helps),
        "effects": " · ".join(parts),
    }
