"""Models that a machine runs: size against speed for one person, with the speed that was wished for."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any

from roofline.answers.advisor import Run
from roofline.figures.log_axis import log_axis
from roofline.figures.theme import Look, Spec, axis_title, base_layout, safe
from roofline.figures.words import sig
from roofline.language import tr

HEIGHT_PX, COMPACT_HEIGHT_PX = 430, 420


def machine_figure(runs: Sequence[Run], wish_tokens_per_s: float, look: Look) -> Spec:
    """Every row as a mark: filled where it is comfortable, open where it is not, a diamond where the host helps."""
    palette = look.palette
    groups = (
        (tr("as wished, on the devices"), "circle", palette.kinds[0], [r for r in runs if r.comfortable and not _helped(r)]),
        (tr("as wished, with the host's help"), "diamond", palette.kinds[2], [r for r in runs if r.comfortable and _helped(r)]),
        (tr("slower, or less context, than wished"), "x-thin-open", palette.muted, [r for r in runs if not r.comfortable]),
    )
    data = [
        _trace(name, {"symbol": symbol, "color": colour, "size": 6 if look.compact else 9}, group)
        for name, symbol, colour, group in groups
        if group
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    layout["xaxis"] = log_axis([run.n_parameters for run in runs], look, title=axis_title(look, tr("Parameters")))
    layout["yaxis"] = log_axis([run.tokens_per_s for run in runs], look, title=axis_title(look, tr("Tokens per second")))
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": look.font_px}}
    layout["margin"] = {**layout["margin"], "t": 96 if look.compact else 48, "l": 58}
    low, high = layout["yaxis"]["range"]
    if wish_tokens_per_s and low < log10(wish_tokens_per_s) < high:
        line = {"color": palette.text, "width": 1.25, "dash": "5px,4px"}
        shape = {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": wish_tokens_per_s,
            "y1": wish_tokens_per_s,
            "line": line,
        }
        note = {
            "x": 1,
            "xref": "paper",
            "y": log10(wish_tokens_per_s),
            "text": tr("wished {rate} tokens/s", rate=sig(wish_tokens_per_s)),
            "showarrow": False,
            "xanchor": "right",
            "yanchor": "bottom",
            "font": {"size": look.tick_px, "color": palette.text},
        }
        layout["shapes"], layout["annotations"] = [shape], [note]
    return {"data": data, "layout": layout}


def machine_alt(sentence: str) -> str:
    """The answer of the figure in one sentence."""
    return tr("Size of each model against its speed on this machine, on log axes. {sentence}", sentence=sentence)


def _helped(run: Run) -> bool:
    return run.scenario.offload != "none"


def _trace(name: str, marker: dict[str, Any], runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [run.n_parameters for run in runs],
        "y": [run.tokens_per_s for run in runs],
        "text": [_hover(run) for run in runs],
        "hovertemplate": "%{text}<extra></extra>",
        "name": name,
        "marker": {**marker, "line": {"width": 1.5, "color": marker["color"]}, "opacity": 0.85},
    }


def _hover(run: Run) -> str:
    """A row in three lines; names are escaped."""
    return tr(
        "<b>{model}</b>, weights {weights}<br>{speed} tokens/s ({low} to {high})<br>{context:,} tokens of context fit",
        model=safe(run.model_name),
        weights=safe(run.weights),
        speed=sig(run.tokens_per_s),
        low=sig(run.tokens_per_s_low),
        high=sig(run.tokens_per_s_high),
        context=run.most_context_tokens,
    )
