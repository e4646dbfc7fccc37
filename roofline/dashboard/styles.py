"""The one style block: colours of the mode, cards, bars, tables, and the few corrections Streamlit needs."""

from __future__ import annotations

from functools import cache
from importlib import resources

from roofline.figures.theme import PALETTES, Mode, tint


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
        "shade": tint(palette.axis, 0.4),
    }
    rules = (resources.files("roofline.dashboard") / "styles.css").read_text(encoding="utf-8")
    for name in sorted(colours, key=len, reverse=True):
        rules = rules.replace(f"${name}", colours[name])
    return f"<style>{rules}</style>"
