"""A fleet in words: the chain from users to money, every link with formula, inputs and source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from roofline.answers.fleet_demand import Demand
from roofline.answers.fleet_report import FleetReport, Step
from roofline.catalog.boxes import load_box
from roofline.catalog.fleet import NAMES, Assumed
from roofline.catalog.ownership import Part
from roofline.language import later, localised, tr
from roofline.units import MEGA, count_words, significant, with_prefix

GIVEN = later("given")
"""Formula of what starts the chain."""
_COMPUTED = later("computed here")
_Row = tuple[str, float | None, str, str, tuple[str, ...], str]
"""A step, its value perhaps not known."""


def assumption_lines(found: Assumed) -> dict[str, str]:
    """Every assumption as a line."""
    parts = {item.name: getattr(found, item.name) for item in fields(Assumed)}
    return {name: f"{_amount(part)} ({tr(part.source)})" for name, part in parts.items()}


def sentence(report: FleetReport) -> str:
    """The answer in one line."""
    if not report.fits:
        if report.reasons:
            return tr("No fleet: {reason}", reason=report.reasons[0])
        return tr("No fleet: nobody asks for anything.")
    kinds = ", ".join(f"{localised(f'{n:,}')} x {load_box(ref).name}" for ref, n in report.devices_by_hardware.items())
    parts = [tr("{devices} in {n:,} replicas", devices=kinds, n=report.replicas or 0), *_powered(report), *_paid(report)]
    return f"{', '.join(parts)}."


def _powered(report: FleetReport) -> Iterator[str]:
    """Power to provide, and how far what there is would go."""
    power, budget = report.provisioned_power_w, report.asked.power_budget_w
    if power is not None:
        yield with_prefix(power, "W")
        if budget is not None and power > budget:
            there = with_prefix(budget, "W")
            if report.users_within_power is None:
                yield tr("more than the {power} there are", power=there)
            else:
                users = significant(report.users_within_power)
                yield tr("more than the {power} there are for {users} users", power=there, users=users)


def _paid(report: FleetReport) -> Iterator[str]:
    if report.usd_per_month is not None:
        user = tr("{usd} USD per weekly user", usd=significant(report.usd_per_user_month or 0.0))
        yield f"{tr('{usd} a month', usd=_usd(report.usd_per_month))} ({user})"


def _usd(value: float) -> str:
    return f"{count_words(value) if value >= MEGA else significant(value)} USD"


def _given(found: Assumed, name: str) -> str:
    return f"{tr(NAMES[name])} = {_amount(getattr(found, name))}"


def _amount(part: Part) -> str:
    return f"{localised(f'{part.value:,g}')} {tr(part.unit)}"


def chain(report: FleetReport, found: Assumed, wanted: Demand) -> tuple[Step, ...]:
    """All steps, in the order of the reasoning."""
    asking = _asking(found, wanted)
    if not report.fits:
        return tuple(asking)
    return (*asking, *_peaking(report, found, wanted), *_serving(report, found), *_paying(report))


def _asking(found: Assumed, wanted: Demand) -> list[Step]:
    return [
        Step(tr("weekly users"), found.weekly_users.value, tr("users"), tr(GIVEN), (), found.weekly_users.source),
        Step(
            tr("messages"),
            wanted.messages_per_s,
            tr("1/s, mean of a day"),
            tr("users x messages a day / 86,400 s"),
            (_given(found, "messages"),),
            found.messages.source,
        ),
        Step(
            tr("calls per message"),
            wanted.calls_per_message,
            tr("calls"),
            tr("1 + share of agent tasks x (calls of a task - 1)"),
            (_given(found, "agent_share"), _given(found, "agent_calls")),
            found.agent_calls.source,
        ),
        Step(
            tr("calls that reach a model"),
            wanted.model_calls_per_s,
            tr("1/s, mean of a day"),
            tr("messages x calls per message x (1 - share answered from a cache of results)"),
            (_given(found, "result_hit"),),
            found.result_hit.source,
        ),
        Step(
            tr("calls that reach the main model"),
            wanted.main_calls_per_s,
            tr("1/s, mean of a day"),
            tr("calls x (1 - share routed to the small model)"),
            (_given(found, "small_share"),),
            found.small_share.source,
        ),
    ]


def _peaking(report: FleetReport, found: Assumed, wanted: Demand) -> list[Step]:
    computed = found.input_tokens.value * (1.0 - found.prefix_hit.value)
    return [
        Step(
            tr("output tokens"),
            report.output_tokens_per_s,
            tr("tokens/s, mean of a day"),
            tr("calls x output tokens of a call"),
            (_given(found, "output_tokens"),),
            found.output_tokens.source,
        ),
        Step(
            tr("prompt tokens to compute"),
            wanted.model_calls_per_s * computed,
            tr("tokens/s, mean of a day"),
            tr("calls x prompt tokens x (1 - share found in the prefix cache)"),
            (_given(found, "input_tokens"), _given(found, "prefix_hit")),
            found.prefix_hit.source,
        ),
        Step(
            tr("output tokens in the busiest minutes"),
            report.peak_output_tokens_per_s,
            tr("tokens/s, every region at its own peak"),
            tr("output tokens x peak hour over mean x busiest minutes over that hour"),
            (_given(found, "peak"), _given(found, "burst")),
            found.peak.source,
        ),
    ]


def _at_once(report: FleetReport) -> Step:
    held = sum(placed.peak_calls_per_s * placed.capacity.batch * placed.capacity.request_s for placed in report.sites)
    return Step(
        tr("answers being written at once"),
        held,
        tr("calls in the busiest minutes"),
        tr("calls a second x time in a replica"),
        (tr("time in a replica = batch x time of a replica per call"),),
        "J. Little, Oper. Res. 9(3), 1961",
    )


def _serving(report: FleetReport, found: Assumed) -> list[Step]:
    steps = [_at_once(report)]
    for placed in report.sites:
        carried, where = placed.capacity, f"{placed.region}, {placed.pool}"
        steps += [
            Step(
                tr("time of a replica per call: {where}", where=where),
                carried.request_s,
                "s",
                tr("1 / calls a second of a full replica, prefill and decode taking turns"),
                (tr("batch = {n:,}, the largest at which every user gets the speed", n=carried.batch), _given(found, "speed")),
                tr("expected rates of one replica"),
            ),
            Step(
                tr("replicas: {where}", where=where),
                placed.replicas,
                tr("replicas"),
                tr("ceil(calls at the worst x time of a call / busy share) + spares"),
                (
                    tr("calls at the worst = {n} 1/s", n=significant(placed.peak_calls_per_s)),
                    _given(found, "busy"),
                    _given(found, "spares"),
                ),
                found.busy.source,
            ),
            Step(
                tr("time to first token seen: {where}", where=where),
                placed.ttft_seen_s,
                tr("s, mean in the busiest minutes"),
                tr("round trip + wait for a place and for prefill ahead + prefill"),
                (
                    tr("calls that wait for a place = {share:.1%}", share=placed.waits_frac),
                    tr("wait = {n} s", n=significant(placed.wait_s)),
                ),
                tr("S. Halfin, W. Whitt, Oper. Res. 29(3), 1981, for places; M/D/1 for prefill"),
            ),
        ]
    return steps


def _paying(report: FleetReport) -> list[Step]:
    rows: list[_Row] = [
        *_machines(report),
        (
            tr("power to provide"),
            report.provisioned_power_w,
            "W",
            tr("devices x (rated power + share of the server) x PUE"),
            (),
            tr("catalogue and defaults of ownership"),
        ),
        (
            tr("power used"),
            report.mean_power_w,
            tr("W, mean of a day"),
            tr("busy share at working power, the rest idle"),
            (),
            _COMPUTED,
        ),
        (
            tr("idle at night and between"),
            report.idle_device_hours_per_day,
            tr("device-hours a day"),
            tr("devices x 24 x (1 - mean busy share)"),
            (),
            _COMPUTED,
        ),
        *_money(report),
    ]
    return [
        Step(name, value, unit, formula, inputs, source)
        for name, value, unit, formula, inputs, source in rows
        if value is not None
    ]


def _machines(report: FleetReport) -> tuple[_Row, ...]:
    fed = tr("devices / devices a rack feeds, whole systems")
    return (
        (tr("devices"), report.devices, tr("devices"), tr("replicas x devices of a replica"), (), _COMPUTED),
        (tr("racks"), report.racks, tr("racks"), fed, (), report.assumptions["rack_kw"]),
    )


def _money(report: FleetReport) -> tuple[_Row, ...]:
    month, user = report.usd_per_month, report.usd_per_user_month
    return (
        (tr("money"), month, tr("USD a month"), tr("devices x price of an hour x 730.5"), _bases(report), tr("see inputs")),
        (tr("per user"), user, tr("USD a month per weekly user"), tr("money / weekly users"), (), _COMPUTED),
    )


def _bases(report: FleetReport) -> tuple[str, ...]:
    """The mean price of an hour of each hardware, and what it rests on."""
    lines = []
    for hardware, devices in report.devices_by_hardware.items():
        placed = [site for site in report.sites if site.capacity.scenario.hardware == hardware]
        usd = sum((site.usd_per_device_hour or 0.0) * site.devices for site in placed) / devices
        lines.append(f"{load_box(hardware).name}: {significant(usd)} USD/h, {placed[-1].capacity.basis}")
    return tuple(lines)
