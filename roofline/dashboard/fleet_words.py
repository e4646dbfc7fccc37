"""The Fleet page's cards and tables, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import isfinite

from roofline.answers.fleet_day import Day
from roofline.answers.fleet_examples import OVERVIEW, Published
from roofline.answers.fleet_report import FleetReport, Site, Step
from roofline.answers.fleet_steps import GIVEN
from roofline.catalog.fleet import Assumed
from roofline.dashboard.cost_words import part_row
from roofline.dashboard.quantities import CALL, DAY, PEOPLE, SMALL_SHARE
from roofline.dashboard.text import cards_html, count_words, esc, table
from roofline.figures.words import sig
from roofline.language import localised, tr
from roofline.units import duration, with_prefix

_UNKNOWN = "n/a"
_QUANTITIES = {quantity.field: quantity for quantity in (*PEOPLE, *CALL, *DAY, SMALL_SHARE)}


def fleet_cards(found: FleetReport) -> str:
    """The four headline numbers."""
    worst = max(found.sites, key=lambda site: site.ttft_seen_s)
    racks = tr("racks not known") if found.racks is None else tr("{n:,} racks", n=found.racks)
    power = tr("facility included")
    if found.mean_power_w is not None:
        power = tr("facility included, {power} on average", power=_watts(found.mean_power_w))
    waits = {"region": worst.region, "share": worst.waits_frac}
    return cards_html(
        (
            (tr("Devices"), _whole(found.devices or 0), tr("{n:,} replicas, {racks}", n=found.replicas or 0, racks=racks)),
            (tr("Power to provide"), _watts(found.provisioned_power_w), power),
            (
                tr("USD a month"),
                _money(found.usd_per_month),
                tr("{usd} USD per weekly user", usd=sig(found.usd_per_user_month)),
            ),
            (
                tr("Time to first token seen"),
                _time(worst.ttft_seen_s),
                tr("mean in the busiest minutes, {region}; {share:.1%} wait for a place", **waits),
            ),
        )
    )


def people_words(found: Assumed) -> str:
    """How many people there are, in words."""
    return tr("{count} people a week.", count=count_words(found.weekly_users.value))


def totals_table(found: FleetReport) -> str:
    """What the whole comes to, a message and a token at a time."""
    rows = [
        (tr("Output tokens a second, mean of a day"), sig(found.output_tokens_per_s)),
        (tr("Output tokens a second, every region at its peak"), sig(found.peak_output_tokens_per_s)),
        (tr("Devices, were any region to serve any other"), _whole(found.devices_if_pooled)),
        (tr("USD an hour"), _money(found.usd_per_hour)),
        (tr("USD per message"), sig(found.usd_per_message)),
        (tr("USD per million output tokens"), sig(found.usd_per_million_output_tokens)),
        (tr("Joules per message"), sig(found.joules_per_message)),
        (tr("Grams CO₂e per message"), sig(found.grams_co2e_per_message)),
        (tr("Idle device-hours a day"), _whole(round(found.idle_device_hours_per_day))),
    ]
    if found.users_within_power is not None:
        rows.append((tr("Weekly users that the power there is would carry"), count_words(found.users_within_power)))
    return table((tr("What"), tr("Value")), rows, caption=tr("The fleet in numbers"))


def day_sentence(found: Day) -> str:
    """Idle capacity over the day."""
    return tr(
        "Most is asked at {busiest:02d}:00 UTC, least at {quietest:02d}:00, when {idle:.0%} of the replicas have nothing "
        "to do; over the day {mean:.0%}.",
        busiest=found.busiest_hour,
        quietest=found.quietest_hour,
        idle=found.night_idle_frac,
        mean=found.mean_idle_frac,
    )


def chain_table(found: FleetReport) -> str:
    """Every step from users to money."""
    head = (tr("Step"), tr("Value"), tr("Unit"), tr("Formula"), tr("With"), tr("Source"))
    rows = [
        (step.name, sig(step.value), step.unit, step.formula, "; ".join(step.inputs) or _earlier(step), tr(step.source))
        for step in found.steps
    ]
    return table(head, rows, caption=tr("From users to money, step by step"))


def _earlier(step: Step) -> str:
    return "" if step.formula == tr(GIVEN) else tr("the steps above")


def sites_table(found: FleetReport) -> str:
    """Every pool of every region."""
    head = (
        tr("Region"),
        tr("Pool"),
        tr("Replicas"),
        tr("Devices"),
        tr("Racks"),
        tr("Batch"),
        tr("Tokens/s for each"),
        tr("Busy, mean"),
        tr("Idle at night"),
        tr("Wait for a place"),
        tr("First token seen"),
        tr("With the spares gone"),
    )
    rows = [_site_row(site) for site in found.sites]
    return table(head, rows, caption=tr("Regions and pools"))


def _site_row(site: Site) -> tuple[object, ...]:
    held = site.capacity
    return (
        site.region,
        site.pool,
        _whole(site.replicas),
        _whole(site.devices),
        _whole(site.racks),
        _whole(held.batch),
        sig(held.tokens_per_s_per_user),
        localised(f"{site.busy_frac:.0%}"),
        localised(f"{site.night_idle_frac:.0%}"),
        localised(f"{site.waits_frac:.1%}"),
        _time(site.ttft_seen_s),
        _time(site.ttft_seen_after_failures_s),
    )


def assumptions_table(found: Assumed) -> str:
    """Every assumption with range and source; what the person gave is marked."""
    rows = [part_row(_QUANTITIES[item.name], getattr(found, item.name)) for item in fields(found)]
    head = (tr("Assumption"), tr("Value"), tr("Range"), tr("Source"))
    return table(head, rows, caption=tr("Assumptions, with ranges and sources"))


def published_table(rows: Sequence[Published]) -> str:
    """A published day beside the same from its parts."""
    head = (tr("What"), tr("Published"), tr("Computed"), tr("Unit"), tr("From"))
    body = [(row.name, _exact(row.published), _exact(row.computed), row.unit, row.formula) for row in rows]
    return f'{table(head, body, caption=tr("A published day, worked out again"))}<p class="rf-note">{esc(OVERVIEW)}</p>'


def _exact(value: float) -> str:
    return localised(f"{value:,.6g}")


def reasons_html(found: FleetReport) -> str:
    """What could not be told, or is not met."""
    lines = "".join(f"<li>{esc(line)}</li>" for line in found.reasons)
    return f'<ul class="rf-list">{lines}</ul>' if lines else ""


def _watts(value: float | None) -> str:
    return _UNKNOWN if value is None else with_prefix(value, "W")


def _money(value: float | None) -> str:
    return _UNKNOWN if value is None else count_words(value)


def _whole(value: int | None) -> str:
    return _UNKNOWN if value is None else localised(f"{value:,}")


def _time(value: float) -> str:
    return duration(value) if isfinite(value) else tr("never")
