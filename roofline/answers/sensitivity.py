"""How an answer moves with each assumption: every one over its range, the others held."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from roofline.answers.economics import device_price
from roofline.answers.evaluate import evaluate
from roofline.answers.pricing import DevicePrice, ownership_price
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.catalog.boxes import load_box
from roofline.catalog.hardware import rental_span_usd_per_h
from roofline.catalog.ownership import owned
from roofline.language import later, tr
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario

_WORDS: dict[str, str] = {
    "price_usd": later("purchase price"),
    "power_w": later("power of a device"),
    "overhead_frac": later("server and network"),
    "life_years": later("life"),
    "residual_frac": later("residual value"),
    "capital_frac": later("cost of capital"),
    "host_w": later("power of the server"),
    "pue": later("PUE"),
    "usd_per_kwh": later("electricity price"),
    "hosting_usd_per_kw_month": later("space"),
    "staff_frac": later("staff and repair"),
}
"""Assumptions of an owned hour -> messages."""
OF_THE_TIME = later("of the time")
"""Unit of utilisation."""
_USE_SPAN = 2.0
"""Utilisation is varied between half of what is given and twice as much, at most all the time."""


@dataclass(frozen=True)
class Swing:
    """One bar of a tornado: an assumption over its range, and the answer at both ends."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    """As a message."""
    at_low: float
    """The answer where the assumption is at its low end."""
    at_high: float
    source: str

    @property
    def width(self) -> float:
        """How far the answer moves."""
        return abs(self.at_high - self.at_low)


@dataclass(frozen=True)
class Sensitivity:
    """An answer and what moves it, the widest swing first."""

    answer: str
    unit: str
    value: float | None
    swings: tuple[Swing, ...]


def widest_first(swings: Iterable[Swing]) -> tuple[Swing, ...]:
    """Those that move the answer, in order of how far."""
    return tuple(sorted((s for s in swings if s.width > 0.0), key=lambda s: -s.width))


def sensitivity(scenario: Scenario) -> Sensitivity:
    """USD per million output tokens, as used, against utilisation, speed and every part of the price."""
    report = evaluate(scenario)
    usd = report.cost.usd_per_million_output_tokens
    swings = [] if usd is None else [*_use(report, usd), *_speed(report, usd), *_price(report, usd)]
    return Sensitivity(tr("price of a million output tokens"), "USD", usd, widest_first(swings))


def _use(report: Report, usd: float) -> list[Swing]:
    scenario = report.scenario
    use, price = scenario.utilisation, device_price(scenario, resolve(scenario).price)
    low, high = use / _USE_SPAN, min(1.0, use * _USE_SPAN)
    now = _used_usd_per_h(price, report, use)
    at_low, at_high = (usd * _used_usd_per_h(price, report, end) / now if now else usd for end in (low, high))
    return [Swing(tr("utilisation"), use, low, high, OF_THE_TIME, at_low, at_high, tr("half to twice yours"))]


def _used_usd_per_h(price: DevicePrice, report: Report, utilisation: float) -> float:
    """An hour of a device that decodes, with the idle hours that are paid for it."""
    load = min(1.0, max(report.mfu["decode"], report.mbu["decode"]))
    return float(price.at_load(load * utilisation)) / utilisation


def _speed(report: Report, usd: float) -> list[Swing]:
    """Engines differ: the band of expected speed."""
    low, high = report.cost.usd_per_million_output_tokens_low, report.cost.usd_per_million_output_tokens_high
    if low is None or high is None:
        return []
    slow, mean, fast = (
        float(times.output_tokens_per_s) for times in (report.expected_low, report.expected, report.expected_high)
    )
    return [Swing(tr("output speed"), mean, slow, fast, later("tokens/s"), high, low, tr("band of expected times"))]


def _price(report: Report, usd: float) -> list[Swing]:
    scenario = report.scenario
    found = resolve(scenario)
    price = device_price(scenario, found.price)
    if price.usd_per_h is None or price.usd_per_h <= 0 or price.kind == "yours":
        return []
    if price.kind == "rental":
        span = rental_span_usd_per_h(load_box(scenario.hardware), scenario.rental) or (price.usd_per_h, price.usd_per_h)
        cheap, dear = (usd * end / price.usd_per_h for end in span)
        return [Swing(tr("rental price"), price.usd_per_h, *span, "USD/h", cheap, dear, price.basis)]
    parts = owned(scenario.ownership or Ownership(), found.accelerator, scenario.grid)
    now = _used_usd_per_h(price, report, scenario.utilisation)

    def at(name: str, value: float) -> float:
        moved = ownership_price(replace(parts, **{name: replace(getattr(parts, name), value=value)}))
        return usd * _used_usd_per_h(moved, report, scenario.utilisation) / now

    return [
        Swing(tr(word), part.value, part.low, part.high, part.unit, at(name, part.low), at(name, part.high), tr(part.source))
        for name, word in _WORDS.items()
        for part in (getattr(parts, name),)
        if part is not None
    ]
