"""What stands where on the roofline: ceilings, operators, the path of the batch, and the axes that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log10, sqrt

import numpy as np

from roofline.answers.report import BatchCurve, OperatorRow, Phase, Report
from roofline.figures.theme import Look
from roofline.figures.words import rate_name

HEIGHT_PX, COMPACT_HEIGHT_PX = 460, 400
_WIDE_PX, _COMPACT_PX = (348.0, 394.0), (300.0, 342.0)
"""Narrowest plots that labels are placed for; a wider one only spreads them."""
_DECADES = 6.0
"""Most decades of either axis; what lies lower is in the table."""
_ROOM_ABOVE, _ROOM_RIGHT = 3.2, 1.6
"""Factors past the highest ceiling and the last point."""


@dataclass(frozen=True)
class Ceiling:
    """A flat roof: one peak rate and the number formats that share it."""

    flops_per_s: float
    name: str
    in_use: bool
    ridge: float


@dataclass(frozen=True)
class Dot:
    """An operator as a point."""

    row: OperatorRow
    x: float
    y: float
    share: float

    @property
    def size_px(self) -> float:
        """Diameter: area by share of the step."""
        return 8 + 16 * sqrt(self.share)


@dataclass(frozen=True)
class Step:
    """A whole decode step at one batch."""

    batch: int
    x: float
    y: float


@dataclass(frozen=True)
class Scale:
    """Both log axes and the pixels labels are placed in."""

    x: tuple[float, float]
    y: tuple[float, float]
    plot_px: tuple[float, float]

    def px(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the top left corner."""
        across = log10(x / self.x[0]) / log10(self.x[1] / self.x[0])
        up = log10(y / self.y[0]) / log10(self.y[1] / self.y[0])
        return across * self.plot_px[0], (1 - up) * self.plot_px[1]

    def height(self, fraction: float) -> float:
        """The rate at a share of the vertical axis."""
        return float(10 ** (log10(self.y[0]) + fraction * log10(self.y[1] / self.y[0])))


@dataclass(frozen=True)
class Scene:
    """Everything a roofline shows."""

    report: Report
    roofs: tuple[Ceiling, ...]
    dots: tuple[Dot, ...]
    path: tuple[Step, ...]
    scale: Scale

    @property
    def peak(self) -> float:
        """The ceiling in use."""
        return self.report.peak_flops_per_s[self.report.formats.gemm_rate]

    @property
    def roof_start(self) -> tuple[float, float]:
        """Where the memory roof enters the plot."""
        x = max(self.scale.x[0], self.scale.y[0] / self.report.bandwidth_bytes_per_s)
        return x, x * self.report.bandwidth_bytes_per_s


def scene(report: Report, curve: BatchCurve, look: Look) -> Scene:
    """Ceilings, points and path of a report on common axes; points off the axes are left to the table."""
    roofs, points, path = ceilings(report), _dots(report), _path(curve)
    scale = _scale(report, roofs, points, path, look)
    shown = tuple(p for p in points if p.x >= scale.x[0] and p.y >= scale.y[0])
    return Scene(report, roofs, shown, path, scale)


def ceilings(report: Report) -> tuple[Ceiling, ...]:
    """Every distinct peak of the device, highest first."""
    by_rate: dict[float, list[str]] = {}
    for dtype, rate in report.peak_flops_per_s.items():
        by_rate.setdefault(rate, []).append(dtype)
    used = report.peak_flops_per_s[report.formats.gemm_rate]
    return tuple(
        Ceiling(
            flops_per_s=rate,
            name=rate_name(report.formats.gemm_rate) if rate == used else ", ".join(map(rate_name, by_rate[rate])),
            in_use=rate == used,
            ridge=rate / report.bandwidth_bytes_per_s,
        )
        for rate in sorted(by_rate, reverse=True)
    )


def _dots(report: Report) -> tuple[Dot, ...]:
    """Operators that do arithmetic and touch memory, each at its intensity and expected rate."""
    totals = {phase: sum(r.expected_s for r in report.operators if r.phase == phase) for phase in ("prefill", "decode")}
    return tuple(
        Dot(row, row.intensity, row.flops / row.expected_s, row.expected_s / totals[row.phase])
        for row in report.operators
        if row.flops > 0 and row.expected_s > 0 and isfinite(row.intensity) and row.intensity > 0
    )


def _path(curve: BatchCurve) -> tuple[Step, ...]:
    """The decode step at every batch that fits."""
    columns = (np.atleast_1d(c) for c in (curve.batch, curve.intensity_flops_per_byte, curve.flops_per_s_per_device))
    rows = [(float(b), float(x), float(y)) for b, x, y in zip(*columns, strict=True)]
    return tuple(Step(round(b), x, y) for b, x, y in rows if b <= curve.max_batch and isfinite(x * y) and x * y > 0)


def _scale(report: Report, roofs: tuple[Ceiling, ...], points: tuple[Dot, ...], path: tuple[Step, ...], look: Look) -> Scale:
    xs = [p.x for p in points] + [s.x for s in path]
    ys = [p.y for p in points] + [s.y for s in path]
    right = max([*xs, roofs[0].ridge * 8]) * _ROOM_RIGHT
    top = roofs[0].flops_per_s * _ROOM_ABOVE
    left = max(min([min(xs, default=1.0) / 3, report.ridge_flops_per_byte / 300]), right / 10**_DECADES)
    bottom = max(min([*ys, top / 1000]) / 4, top / 10**_DECADES)
    return Scale((left, right), (bottom, top), _COMPACT_PX if look.compact else _WIDE_PX)


def symbol(phase: Phase) -> str:
    """The mark of a phase: diamonds read prompts, circles write answers."""
    return "diamond" if phase == "prefill" else "circle"
