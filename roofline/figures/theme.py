"""How figures look: the palette for light and dark, type sizes, the common layout and the one wrapper."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import plotly.graph_objects as go

from roofline.answers.report import Bound, Phase
from roofline.language import separators

Spec = dict[str, Any]
"""A figure as plain data: ``{"data": [...], "layout": {...}}`` of Plotly."""

Mode = Literal["light", "dark"]
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", sans-serif'


@dataclass(frozen=True)
class Palette:
    """Colours of one mode; marks hold 3:1 on the page, text 4.5:1."""

    page: str
    card: str
    text: str
    muted: str
    grid: str
    axis: str
    border: str
    primary: str
    bounds: dict[Bound, str]
    phases: dict[Phase, str]
    parts: tuple[str, str, str, str]
    """Weights, cache, activations, overhead: steps of one hue, then grey."""
    kinds: tuple[str, str, str, str]
    """Kinds of layers, scenarios A to D, and series of a figure that has neither bounds nor phases."""
    ramp: tuple[str, ...]
    """From little to much: pale enough everywhere for words on it."""
    on_mark: str
    """Ink on a filled mark."""
    good: str
    bad: str


LIGHT = Palette(
    page="#FFFFFF",
    card="#FFFFFF",
    text="#1B2430",
    muted="#566070",
    grid="#E6E9EE",
    axis="#9AA3AF",
    border="#D5DAE1",
    primary="#0B5CAD",
    bounds={"compute": "#D4500C", "memory": "#123F8C", "network": "#0A8F7C", "host": "#B455D9", "latency": "#4B4A45"},
    phases={"prefill": "#A8124A", "decode": "#0878B8"},
    parts=("#123F8C", "#4C78E0", "#8FB0EC", "#7B8794"),
    kinds=("#4C78E0", "#C46A12", "#12553F", "#7A1070"),
    ramp=("#EEF4FB", "#CFE1F5", "#A9CBEF", "#82B2E5", "#5D9BDB"),
    on_mark="#FFFFFF",
    good="#1A7F37",
    bad="#B42318",
)
DARK = Palette(
    page="#14181F",
    card="#1A1F28",
    text="#E8ECF2",
    muted="#A6B0BF",
    grid="#2A313C",
    axis="#5B6675",
    border="#384252",
    primary="#6FB3F2",
    bounds={"compute": "#F26A35", "memory": "#B5CBF7", "network": "#5CE6AE", "host": "#B866F2", "latency": "#8A8A84"},
    phases={"prefill": "#FF5C8A", "decode": "#6FDCF7"},
    parts=("#B5CBF7", "#7C9FE8", "#4A68B0", "#7B8794"),
    kinds=("#A9C7F2", "#FDB548", "#2FA387", "#E05CF0"),
    ramp=("#1B2738", "#23395A", "#2C4D7D", "#35609A", "#3F74B5"),
    on_mark="#14181F",
    good="#4CC38A",
    bad="#FF8A80",
)
PALETTES: dict[Mode, Palette] = {"light": LIGHT, "dark": DARK}

BOUND_MARKS: dict[Bound, str] = {"compute": "■", "memory": "●", "network": "◆", "host": "▲", "latency": "✚"}
"""A sign beside each colour, so that colour never stands alone."""

SERIES_DASHES = ("solid", "7px,4px", "2px,3px", "8px,3px,2px,3px")
SERIES_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
SERIES_MARKS = ("●", "■", "◆", "▲")
"""Beside the colours of ``Palette.kinds``, in their order: how lines are broken, points drawn and words marked."""


@dataclass(frozen=True)
class Look:
    """What a figure needs to know of where it is shown."""

    mode: Mode = "light"
    compact: bool = False
    """A phone or a narrow window: fewer ticks and labels, no zoom."""

    @property
    def palette(self) -> Palette:
        """Colours of the mode."""
        return PALETTES[self.mode]

    @property
    def tick_px(self) -> int:
        """Size of tick text."""
        return 11 if self.compact else 12

    @property
    def font_px(self) -> int:
        """Size of labels."""
        return 12 if self.compact else 13


def tint(colour: str, alpha: float) -> str:
    """A hex colour made translucent.

    >>> tint("#0878B8", 0.5)
    'rgba(8,120,184,0.5)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def safe(text: str) -> str:
    """A name from a file or a link, harmless inside Plotly's small HTML."""
    return escape(text, quote=True)


def axis(look: Look, **own: object) -> dict[str, Any]:
    """One axis: thin line, thin grid, ticks outside."""
    palette = look.palette
    common: dict[str, Any] = {
        "showline": True,
        "linewidth": 1,
        "linecolor": palette.axis,
        "gridcolor": palette.grid,
        "gridwidth": 1,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": palette.axis,
        "tickfont": {"size": look.tick_px, "color": palette.muted},
        "fixedrange": look.compact,
    }
    return {**common, **own}


def axis_title(look: Look, text: str) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": text, "font": {"size": look.font_px, "color": look.palette.text}, "standoff": 8}


def base_layout(look: Look, *, height: int, left: int = 68) -> dict[str, Any]:
    """What all figures share: transparent ground, no legend, no template."""
    palette = look.palette
    margin = {"l": 46, "r": 10, "t": 12, "b": 46} if look.compact else {"l": left, "r": 20, "t": 12, "b": 54}
    return {
        "template": None,
        "height": height,
        "margin": margin,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": look.font_px, "color": palette.text},
        "showlegend": False,
        "separators": separators(),
        "hovermode": "closest",
        "dragmode": False if look.compact else "zoom",
        "hoverlabel": {
            "bgcolor": palette.card,
            "bordercolor": palette.axis,
            "font": {"family": FONT, "size": 13, "color": palette.text},
            "namelength": -1,
            "align": "left",
        },
    }


def as_figure(spec: Spec) -> go.Figure:
    """Wrap a figure without validating it again: tests validate each kind once, every page change would pay for it."""
    return go.Figure(data=spec["data"], layout=spec["layout"], _validate=False)
