"""Speed per user against cost of output: what nothing beats, what keeps the promise, and the cheapest of each device."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10
from typing import Any

from roofline.answers.search_result import Deployment, FrontierPoint, Search
from roofline.figures.log_axis import log_axis
from roofline.figures.theme import Look, Spec, axis_title, base_layout, safe, tint
from roofline.figures.words import sig
from roofline.language import tr
from roofline.units import duration

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 420


def pareto_figure(found: Search, look: Look) -> Spec:
    """The frontier as a line with its points, the winners above it, the promised speed as an upright line."""
    palette = look.palette
    keeps = [p for p in found.cost_frontier if p.meets]
    misses = [p for p in found.cost_frontier if not p.meets]
    winners = [item for item in found.winners if item.usd_per_million_output_tokens is not None]
    shown: list[FrontierPoint | Deployment] = [*found.cost_frontier, *winners]
    data = [
        _line(found.cost_frontier, look),
        _points(misses, tr("frontier, misses the promise"), {"symbol": "circle-open", "size": 8, "color": palette.muted}),
        _points(keeps, tr("frontier, keeps the promise"), {"symbol": "circle", "size": 9, "color": palette.kinds[0]}),
        _deployments(winners, {"symbol": "diamond", "size": 10, "color": palette.kinds[1]}),
    ]
    layout = base_layout(look, height=COMPACT_HEIGHT_PX if look.compact else HEIGHT_PX)
    speeds, usd = [p.tokens_per_s_per_user for p in shown], [p.usd_per_million_output_tokens for p in shown]
    layout["xaxis"] = log_axis(speeds, look, title=axis_title(look, tr("Tokens per second per user")))
    layout["yaxis"] = log_axis(usd, look, title=axis_title(look, tr("USD per million output tokens")))
    layout["shapes"], layout["annotations"] = _promise(found.query.promised_tpot_s, layout["xaxis"]["range"], look)
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": look.font_px}}
    layout["margin"] = {**layout["margin"], "t": 84 if look.compact else 48, "l": 58}
    return {"data": [trace for trace in data if trace["x"]], "layout": layout}


def pareto_alt(found: Search) -> str:
    """The answer of the figure in one sentence."""
    front = found.cost_frontier
    if not front:
        return tr("Speed per user against cost of output: no hardware with a price fits.")
    fast, cheap = front[0], front[-1]
    return tr(
        "Speed per user against cost of output, {n} points that nothing beats: from {cheapest} to {fastest}; "
        "{kept} of them keep the promise.",
        n=len(front),
        cheapest=_point(cheap),
        fastest=_point(fast),
        kept=sum(p.meets for p in front),
    )


def _point(p: FrontierPoint) -> str:
    return tr(
        "{speed} tokens/s at {usd} USD on {n} x {hardware}",
        speed=sig(p.tokens_per_s_per_user),
        usd=sig(p.usd_per_million_output_tokens),
        n=p.devices,
        hardware=p.hardware_name,
    )


def _line(points: Sequence[FrontierPoint], look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [p.tokens_per_s_per_user for p in points],
        "y": [p.usd_per_million_output_tokens for p in points],
        "line": {"color": tint(look.palette.muted, 0.6), "width": 1.5, "shape": "vh"},
        "hoverinfo": "skip",
        "showlegend": False,
        "name": tr("frontier"),
    }


def _points(points: Sequence[FrontierPoint], name: str, marker: dict[str, Any]) -> dict[str, Any]:
    text = [
        _hover(p.hardware_name, p.devices, 1, p.weights, p.batch, p.tokens_per_s_per_user, p.usd_per_million_output_tokens)
        for p in points
    ]
    return _trace(points, name, marker, text)


def _deployments(winners: Sequence[Deployment], marker: dict[str, Any]) -> dict[str, Any]:
    text = [
        _hover(
            w.hardware_name,
            w.devices_per_replica,
            w.replicas,
            w.weights,
            w.batch,
            w.tokens_per_s_per_user,
            w.usd_per_million_output_tokens,
        )
        + f"<br>TTFT {duration(w.ttft_s)}, TPOT {duration(w.tpot_s)}"
        for w in winners
    ]
    return _trace(winners, tr("cheapest for the traffic"), marker, text)


def _trace(
    points: Sequence[FrontierPoint] | Sequence[Deployment], name: str, marker: dict[str, Any], text: list[str]
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [p.tokens_per_s_per_user for p in points],
        "y": [p.usd_per_million_output_tokens for p in points],
        "text": text,
        "hovertemplate": "%{text}<extra></extra>",
        "name": name,
        "marker": marker,
    }


def _hover(name: str, devices: int, replicas: int, weights: str, batch: int, speed: float, usd: float | None) -> str:
    """A deployment in three lines; names are escaped."""
    machines = f"{devices} × {safe(name)}" if replicas == 1 else f"{replicas} × {devices} × {safe(name)}"
    load = tr("weights {weights}, batch {batch:,}", weights=safe(weights), batch=batch)
    merits = tr("{speed} tokens/s per user, {usd} USD per million", speed=sig(speed), usd=sig(usd))
    return f"<b>{machines}</b><br>{load}<br>{merits}"


def _promise(tpot_s: float, across: list[float], look: Look) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The promised speed, where it lies within the frame."""
    if not tpot_s < inf:
        return [], []
    speed, at = 1.0 / tpot_s, -log10(tpot_s)
    if not across[0] < at < across[1]:
        return [], []
    line = {"color": look.palette.text, "width": 1.25, "dash": "5px,4px"}
    shape = {"type": "line", "x0": speed, "x1": speed, "yref": "paper", "y0": 0, "y1": 1, "line": line}
    right = at - across[0] < across[1] - at
    note = {
        "x": at,
        "y": 1,
        "yref": "paper",
        "text": tr("promised {speed} tokens/s", speed=sig(speed)),
        "showarrow": False,
        "xanchor": "left" if right else "right",
        "yanchor": "top",
        "xshift": 6 if right else -6,
        "font": {"size": look.tick_px, "color": look.palette.text},
    }
    return [shape], [note]
