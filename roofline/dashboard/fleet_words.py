"""The Fleet page's cards and tables, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import isfinite

from roofline.answers.fleet_day import Day
from roofline.answers.fleet_examples import OVERVIEW, Published
from roofline.answers.fleet_report import FleetReport, Site, Step
from roofline.catalog.fleet import Assumed
from roofline.dashboard.cost_words import part_row
from roofline.dashboard.quantities import CALL, DAY, PEOPLE, SMALL_SHARE
from roofline.dashboard.text import cards_html, count_words, esc, table
from roofline.figures.words import sig
from roofline.units import duration, with_prefix

_UNKNOWN = "n/a"
_QUANTITIES = {quantity.field: quantity for quantity in (*PEOPLE, *CALL, *DAY, SMALL_SHARE)}


def fleet_cards(found: FleetReport) -> str:
    """The four headline numbers."""
    worst = max(found.sites, key=lambda site: site.ttft_seen_s)
    racks = "racks not known" if found.racks is None else f"{found.racks:,} racks"
    mean = "" if found.mean_power_w is None else f", {_watts(found.mean_power_w)} on average"
    return cards_html(
        (
            ("Devices", f"{found.devices or 0:,}", f"{found.replicas or 0:,} replicas, {racks}"),
            ("Power to provide", _watts(found.provisioned_power_w), f"facility included{mean}"),
            ("USD a month", _money(found.usd_per_month), f"{sig(found.usd_per_user_month)} USD per weekly user"),
            (
                "Time to first token seen",
                _time(worst.ttft_seen_s),
                f"mean in the busiest minutes, {worst.region}; {worst.waits_frac:.1%} wait for a place",
            ),
        )
    )


def people_words(found: Assumed) -> str:
    """How many people there are, in words."""
    return f"{count_words(found.weekly_users.value)} people a week."


def totals_table(found: FleetReport) -> str:
    """What the whole comes to, a message and a token at a time."""
    rows = [
        ("Output tokens a second, mean of a day", sig(found.output_tokens_per_s)),
        ("Output tokens a second, every region at its peak", sig(found.peak_output_tokens_per_s)),
        ("Devices, were any region to serve any other", _whole(found.devices_if_pooled)),
        ("USD an hour", _money(found.usd_per_hour)),
        ("USD per message", sig(found.usd_per_message)),
        ("USD per million output tokens", sig(found.usd_per_million_output_tokens)),
        ("Joules per message", sig(found.joules_per_message)),
        ("Grams CO₂e per message", sig(found.grams_co2e_per_message)),
        ("Idle device-hours a day", _whole(round(found.idle_device_hours_per_day))),
    ]
    if found.users_within_power is not None:
        rows.append(("Weekly users that the power there is would carry", count_words(found.users_within_power)))
    return table(("What", "Value"), rows, caption="The fleet in numbers")


def day_sentence(found: Day) -> str:
    """Idle capacity over the day."""
    busiest, quietest = f"{found.busiest_hour:02d}:00", f"{found.quietest_hour:02d}:00"
    return (
        f"Most is asked at {busiest} UTC, least at {quietest}, when {found.night_idle_frac:.0%} of the replicas have nothing "
        f"to do; over the day {found.mean_idle_frac:.0%}."
    )


def chain_table(found: FleetReport) -> str:
    """Every step from users to money."""
    head = ("Step", "Value", "Unit", "Formula", "With", "Source")
    rows = [
        (step.name, sig(step.value), step.unit, step.formula, "; ".join(step.inputs) or _earlier(step), step.source)
        for step in found.steps
    ]
    return f'<div class="rf-chain">{table(head, rows, caption="From users to money, step by step")}</div>'


def _earlier(step: Step) -> str:
    return "" if step.formula == "given" else "the steps above"


def sites_table(found: FleetReport) -> str:
    """Every pool of every region."""
    head = (
        "Region",
        "Pool",
        "Replicas",
        "Devices",
        "Racks",
        "Batch",
        "Tokens/s for each",
        "Busy, mean",
        "Idle at night",
        "Wait for a place",
        "First token seen",
        "With the spares gone",
    )
    rows = [_site_row(site) for site in found.sites]
    return f'<div class="rf-wide">{table(head, rows, caption="Regions and pools")}</div>'


def _site_row(site: Site) -> tuple[object, ...]:
    held = site.capacity
    return (
        site.region,
        site.pool,
        f"{site.replicas:,}",
        f"{site.devices:,}",
        _whole(site.racks),
        f"{held.batch:,}",
        sig(held.tokens_per_s_per_user),
        f"{site.busy_frac:.0%}",
        f"{site.night_idle_frac:.0%}",
        f"{site.waits_frac:.1%}",
        _time(site.ttft_seen_s),
        _time(site.ttft_seen_after_failures_s),
    )


def assumptions_table(found: Assumed) -> str:
    """Every assumption with range and source; what the person gave is marked."""
    rows = [part_row(_QUANTITIES[item.name], getattr(found, item.name)) for item in fields(found)]
    head = ("Assumption", "Value", "Range", "Source")
    return f'<div class="rf-chain">{table(head, rows, caption="Assumptions, with ranges and sources")}</div>'


def published_table(rows: Sequence[Published]) -> str:
    """A published day beside the same from its parts."""
    head = ("What", "Published", "Computed", "Unit", "From")
    body = [(row.name, f"{row.published:,.6g}", f"{row.computed:,.6g}", row.unit, row.formula) for row in rows]
    return f'{table(head, body, caption="A published day, worked out again")}<p class="rf-note">{esc(OVERVIEW)}</p>'


def reasons_html(found: FleetReport) -> str:
    """What could not be told, or is not met."""
    lines = "".join(f"<li>{esc(line)}</li>" for line in found.reasons)
    return f'<ul class="rf-list">{lines}</ul>' if lines else ""


def _watts(value: float | None) -> str:
    return _UNKNOWN if value is None else with_prefix(value, "W")


def _money(value: float | None) -> str:
    return _UNKNOWN if value is None else count_words(value)


def _whole(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _time(value: float) -> str:
    return duration(value) if isfinite(value) else "never"
