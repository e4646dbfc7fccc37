"""Fleets worth opening with, and the published day of one of them, worked out again."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.answers.fleet import fleet
from roofline.formulas.cost import rental_usd
from roofline.formulas.fleet import two_pool_devices
from roofline.formulas.profit import markup_ratio, revenue_usd
from roofline.language import later, localised, tr
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario
from roofline.units import PER_MILLION, SECONDS_PER_DAY

OVERVIEW = "DeepSeek-V3/R1 inference system overview, 2025-03-01 (deepseek-ai/open-infra-index, 56d8685)"
_INPUT, _CACHED, _OUTPUT = 608e9, 342e9, 168e9
"""Tokens of the 24 hours up to 2025-02-28, 12:00 UTC."""
_NODES, _PEAK_NODES, _DEVICES_PER_NODE, _USD_PER_DEVICE_HOUR = 226.75, 278.0, 8, 2.0
_CONTEXT = 4989.0
"""Mean length of the cache that an output token reads."""
_CALL_OUTPUT = _CONTEXT / (_INPUT / _OUTPUT + 0.5)
"""A call whose cache is that long on average: its prompt, and half of its output."""


@dataclass(frozen=True)
class FleetExample:
    """A named question about many people."""

    id: str
    title: str
    """As a message."""
    note: str
    """As a message."""
    fleet: FleetScenario


@dataclass(frozen=True)
class Published:
    """A number somebody published, and the same from the numbers beside it."""

    name: str
    unit: str
    published: float
    computed: float
    formula: str


_DEEPSEEK = FleetExample(
    "deepseek-2025-02",
    later("DeepSeek's own service, February 2025"),
    later(
        "Tokens of a day, cache hits, speed and price as published. The length of a call is not: it follows from the mean cache "
        "of 4,989 tokens. Calls a day stand in the field of weekly users."
    ),
    FleetScenario(
        replica=Scenario(
            model="deepseek-v3",
            hardware="h800",
            devices=176,
            prefill_devices=32,
            input_tokens=round(_CALL_OUTPUT * _INPUT / _OUTPUT),
            output_tokens=round(_CALL_OUTPUT),
            prefix_hit=round(_CACHED / _INPUT, 4),
            usd_per_device_hour=_USD_PER_DEVICE_HOUR,
        ),
        weekly_users=round(_OUTPUT / round(_CALL_OUTPUT)),
        messages=1.0,
        peak=round(_PEAK_NODES / _NODES, 3),
        burst=1.0,
        busy=1.0,
        spares=0,
        speed=20.0,
    ),
)
EXAMPLES: tuple[FleetExample, ...] = (
    FleetExample(
        "700-million",
        later("700 million people a week on DeepSeek-V3"),
        later("What people ask for is as reported of ChatGPT in July 2025; the model is one whose structure is public."),
        FleetScenario(
            replica=Scenario(
                model="deepseek-v3",
                hardware="h200-sxm",
                devices=16,
                input_tokens=1155,
                output_tokens=211,
                prefix_hit=0.366,
            ),
            regions="us:0.4:-6:0.04,eu:0.3:1:0.03,asia:0.3:8:0.06",
        ),
    ),
    _DEEPSEEK,
    FleetExample(
        "office",
        later("An office of 5,000 on its own H100s"),
        later("One region, one model of 70 billion weights in 8 bit, bought instead of rented."),
        FleetScenario(
            replica=Scenario(
                model="llama-3.3-70b",
                hardware="h100-sxm",
                devices=2,
                weights="fp8",
                kv_cache="fp8",
                input_tokens=1155,
                output_tokens=211,
                prefix_hit=0.366,
                ownership="on",
            ),
            weekly_users=5000,
            messages=10.0,
            peak=3.0,
        ),
    ),
)


def published_day() -> tuple[Published, ...]:
    """The published day of DeepSeek-V3/R1 from its own parts."""
    devices = _NODES * _DEVICES_PER_NODE
    nodes = two_pool_devices(
        input_tokens_per_s=_INPUT / SECONDS_PER_DAY,
        output_tokens_per_s=_OUTPUT / SECONDS_PER_DAY,
        prefill_tokens_per_s=73.7e3,
        decode_tokens_per_s=14.8e3,
    )
    spent = rental_usd(n_devices=devices, price_usd_per_h=_USD_PER_DEVICE_HOUR, rented_h=24.0)
    earned = revenue_usd(
        n_cached_tokens=_CACHED,
        n_missed_tokens=_INPUT - _CACHED,
        n_output_tokens=_OUTPUT,
        cached_usd_per_token=0.14 / PER_MILLION,
        input_usd_per_token=0.55 / PER_MILLION,
        output_usd_per_token=2.19 / PER_MILLION,
    )
    markup = markup_ratio(revenue_usd=562_027.0, cost_usd=87_072.0)
    return (
        Published(
            tr("nodes of eight H800"),
            tr("nodes, mean of a day"),
            _NODES,
            float(nodes),
            tr("608 G input tokens / (73.7 k/s a node) + 168 G output tokens / (14.8 k/s a node), over 86,400 s"),
        ),
        Published(
            tr("the same at the busiest hour, as the example above plans it"),
            tr("nodes"),
            _PEAK_NODES,
            (fleet(_DEEPSEEK.fleet).devices or 0) / _DEVICES_PER_NODE,
            tr("expected rates of this program, whole replicas of 22 nodes"),
        ),
        Published(tr("cost"), tr("USD a day"), 87_072.0, float(spent), tr("226.75 nodes x 8 devices x 2 USD/h x 24 h")),
        Published(
            tr("revenue, were all tokens sold at R1 prices"),
            tr("USD a day"),
            562_027.0,
            float(earned),
            tr("342 G cached x 0.14 + 266 G input x 0.55 + 168 G output x 2.19 USD per million"),
        ),
        Published(tr("profit over cost"), tr("ratio"), 5.45, float(markup), localised("(562,027 - 87,072) / 87,072")),
    )
