"""The one style block: colours of the mode, cards, bars, tables, and the few corrections Streamlit needs."""

from __future__ import annotations

from functools import cache

from roofline.figures.theme import PALETTES, Mode, tint

_RULES = """
[data-testid=stMainBlockContainer] { padding: 0.9rem 2rem 4rem; max-width: 1500px; }
[data-testid=stLayoutWrapper]:has(> .st-key-head) {
  position: sticky; top: 0; z-index: 90; background: $page; border-bottom: 1px solid $border; margin: 0 -0.25rem;
}
.st-key-head { padding: 0.6rem 2.5rem 0.6rem 0.25rem; }
[data-testid=stHeader] { background: transparent; pointer-events: none; }
[data-testid=stHeader] button { pointer-events: auto; }
[data-testid=stSidebar] [data-testid=stButtonGroup] button { padding: 0 0.3rem; min-width: 0; flex: 1 1 auto; }
.rf-line { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; align-items: baseline; margin: 0; color: $muted; font-size: 0.95rem; }
.rf-line strong { color: $text; font-size: 1.15rem; font-weight: 650; }
.rf-cards { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.75rem; margin: 0; font-variant-numeric: tabular-nums; }
.rf-card { border: 1px solid $border; border-radius: 8px; padding: 12px 16px 38px; background: $card; min-width: 0; }
.rf-card h2 { font-size: 14px; font-weight: 500; color: $muted; margin: 0; padding: 0; line-height: 1.3; }
.rf-value { font-size: 28px; font-weight: 650; color: $text; line-height: 1.25; margin: 2px 0 0; }
.rf-value small { font-size: 15px; font-weight: 500; color: $muted; }
.rf-band { font-size: 14px; color: $muted; margin: 0; line-height: 1.4; }
.rf-bad { color: $bad; font-size: 14px; margin: 0 0 0.25rem; line-height: 1.35; }
.rf-fill { height: 8px; border-radius: 4px; background: $grid; overflow: hidden; margin: 7px 0 5px; display: flex; }
.rf-fill span { display: block; height: 100%; }
.rf-answer { font-size: 1.05rem; color: $text; margin: 0.25rem 0 0; line-height: 1.5; max-width: 75rem; }
.rf-note { font-size: 14px; color: $muted; margin: 0.15rem 0 0; line-height: 1.45; }
.rf-h { font-size: 17px !important; font-weight: 600 !important; color: $text; margin: 0 !important; padding: 0 !important; }
.rf-key { font-size: 14px; color: $muted; margin: 0.15rem 0 0; line-height: 1.4; }
.rf-stack { display: flex; height: 34px; border-radius: 6px; overflow: hidden; background: $grid; margin: 0.5rem 0; }
.rf-stack span { display: flex; align-items: center; justify-content: center; font-size: 13px; font-weight: 600; color: $on_mark; white-space: nowrap; overflow: hidden; border-right: 1px solid $page; }
.rf-legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.4rem; margin: 0 0 0.75rem !important; padding: 0 !important; list-style: none; font-size: 14px; color: $text; font-variant-numeric: tabular-nums; }
.rf-legend li { margin: 0 !important; padding: 0 !important; font-size: 14px !important; }
.rf-swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; }
.rf-rows { display: grid; grid-template-columns: minmax(8rem, 15rem) 1fr auto; gap: 6px 12px; align-items: center; font-size: 14px; margin: 0.5rem 0 1.25rem; font-variant-numeric: tabular-nums; color: $text; }
.rf-rows .bar { height: 14px; border-radius: 3px; min-width: 2px; }
.rf-rows .num { text-align: right; color: $muted; white-space: nowrap; }
.rf-scroll { overflow-x: auto; }
.rf-table { border-collapse: collapse; font-size: 14px; color: $text; font-variant-numeric: tabular-nums; margin: 0.25rem 0 1rem; }
.rf-table th, .rf-table td { text-align: left; padding: 6px 18px 6px 0; border: none; border-bottom: 1px solid $grid; vertical-align: top; font-weight: 400; }
.rf-table thead th { color: $muted; font-weight: 600; }
.rf-mark { color: $bad; font-weight: 600; }
.rf-equation { font-family: ui-monospace, monospace; font-size: 13.5px; background: $code; border-radius: 6px; padding: 8px 10px; margin: 0.3rem 0; white-space: pre-wrap; overflow-wrap: anywhere; color: $text; }
.rf-notice { border: 1px solid $bad; border-left-width: 4px; border-radius: 8px; padding: 12px 16px; color: $text; margin: 0; }
.rf-notice h2 { font-size: 18px; font-weight: 600; margin: 0 0 4px; padding: 0; color: $bad; }
.st-key-why { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.75rem; margin: -3.35rem 0 -0.6rem; position: relative; z-index: 2; pointer-events: none; }
.st-key-why > * { width: auto !important; padding-left: 16px; }
.st-key-why [data-testid=stPopover] { display: flex; justify-content: flex-start; }
.st-key-why button { padding: 0; min-height: 1.6rem; color: $primary; pointer-events: auto; }
[data-testid=stSidebarUserContent] { padding: 0 1rem 2rem; }
.rf-brand { font-size: 20px; font-weight: 650; color: $text; margin: -2.9rem 0 0.4rem; letter-spacing: -0.01em; width: fit-content; position: relative; z-index: 5; }
[data-testid=stSidebar] [data-testid=stVerticalBlock] { gap: 0.6rem; }
.rf-notice ul { margin: 0 0 0 1.1rem; padding: 0; }
.rf-phone { display: none; }
@media (max-width: 900px) {
  .rf-cards { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .rf-card { padding-bottom: 12px; }
  .st-key-why { grid-template-columns: repeat(2, minmax(0, 1fr)); margin-top: -0.5rem; gap: 0 0.75rem; }
}
@media (max-width: 767px) {
  [data-testid=stMainBlockContainer] { padding: 3.4rem 1rem 4rem; }
  .st-key-head { padding-right: 0.25rem; }
  .rf-phone { display: block; }
  [data-testid=stLayoutWrapper]:has(> .st-key-head) { position: static; }
  .rf-card { padding: 10px 12px 12px; }
  .rf-value { font-size: 24px; }
  .rf-rows { grid-template-columns: 1fr auto; }
  .rf-rows .track { grid-column: 1 / -1; grid-row: auto; order: 3; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
"""


@cache
def style_block(mode: Mode) -> str:
    """The style element of one mode."""
    palette = PALETTES[mode]
    colours = {
        "page": palette.page,
        "card": palette.card,
        "text": palette.text,
        "muted": palette.muted,
        "border": palette.border,
        "grid": palette.grid,
        "bad": palette.bad,
        "primary": palette.primary,
        "on_mark": palette.on_mark,
        "code": tint(palette.axis, 0.14),
    }
    rules = _RULES
    for name in sorted(colours, key=len, reverse=True):
        rules = rules.replace(f"${name}", colours[name])
    return f"<style>{rules}</style>"
