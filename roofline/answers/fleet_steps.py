"""A fleet in words: the chain from users to money, every link with formula, inputs and source."""

from __future__ import annotations

from dataclasses import fields

from roofline.answers.fleet_demand import Demand
from roofline.answers.fleet_report import FleetReport, Step
from roofline.catalog.fleet import Assumed
from roofline.catalog.ownership import Part
from roofline.units import MEGA, significant, with_prefix

_COMPUTED = "computed here"


def assumption_lines(found: Assumed) -> dict[str, str]:
    """Every assumption as a line."""
    parts = {item.name: getattr(found, item.name) for item in fields(Assumed)}
    return {name: f"{part.value:,g} {part.unit} ({part.source})" for name, part in parts.items()}


def sentence(report: FleetReport) -> str:
    """The answer in one line."""
    if not report.fits:
        return f"No fleet: {report.reasons[0]}" if report.reasons else "No fleet: nobody asks for anything."
    kinds = ", ".join(f"{n:,} x {name}" for name, n in report.devices_by_hardware.items())
    power = "" if report.provisioned_power_w is None else f", {with_prefix(report.provisioned_power_w, 'W')}"
    money = "" if report.usd_per_month is None else f", {_usd(report.usd_per_month)} a month"
    budget = report.asked.power_budget_w
    if budget is not None and report.provisioned_power_w is not None and report.provisioned_power_w > budget:
        power += f", more than the {with_prefix(budget, 'W')} there are for {significant(report.users_within_power or 0.0)} users"
    user = "" if report.usd_per_user_month is None else f" ({significant(report.usd_per_user_month)} USD per weekly user)"
    return f"{kinds} in {report.replicas or 0:,} replicas{power}{money}{user}."


def _usd(value: float) -> str:
    return f"{significant(value / MEGA)} million USD" if value >= MEGA else f"{significant(value)} USD"


def _given(name: str, part: Part) -> str:
    return f"{name} = {part.value:,g} {part.unit}"


def chain(report: FleetReport, found: Assumed, wanted: Demand) -> tuple[Step, ...]:
    """All steps, in the order of the reasoning."""
    asking = _asking(found, wanted)
    if not report.fits:
        return tuple(asking)
    return (*asking, *_peaking(report, found, wanted), *_serving(report, found), *_paying(report))


def _asking(found: Assumed, wanted: Demand) -> list[Step]:
    return [
        Step("weekly users", found.weekly_users.value, "users", "given", (), found.weekly_users.source),
        Step(
            "messages",
            wanted.messages_per_s,
            "1/s, mean of a day",
            "users x messages a day / 86,400 s",
            (_given("messages", found.messages),),
            found.messages.source,
        ),
        Step(
            "calls per message",
            wanted.calls_per_message,
            "calls",
            "1 + share of agent tasks x (calls of a task - 1)",
            (_given("agent share", found.agent_share), _given("agent calls", found.agent_calls)),
            found.agent_calls.source,
        ),
        Step(
            "calls that reach a model",
            wanted.model_calls_per_s,
            "1/s, mean of a day",
            "messages x calls per message x (1 - share answered from a cache of results)",
            (_given("result hit", found.result_hit),),
            found.result_hit.source,
        ),
        Step(
            "calls that reach the main model",
            wanted.main_calls_per_s,
            "1/s, mean of a day",
            "calls x (1 - share routed to the small model)",
            (_given("small share", found.small_share),),
            found.small_share.source,
        ),
    ]


def _peaking(report: FleetReport, found: Assumed, wanted: Demand) -> list[Step]:
    computed = found.input_tokens.value * (1.0 - found.prefix_hit.value)
    return [
        Step(
            "output tokens",
            report.output_tokens_per_s,
            "tokens/s, mean of a day",
            "calls x output tokens of a call",
            (_given("output tokens", found.output_tokens),),
            found.output_tokens.source,
        ),
        Step(
            "prompt tokens to compute",
            wanted.model_calls_per_s * computed,
            "tokens/s, mean of a day",
            "calls x prompt tokens x (1 - share found in the prefix cache)",
            (_given("input tokens", found.input_tokens), _given("prefix hit", found.prefix_hit)),
            found.prefix_hit.source,
        ),
        Step(
            "output tokens in the busiest minutes",
            report.peak_output_tokens_per_s,
            "tokens/s, every region at its own peak",
            "output tokens x peak hour over mean x busiest minutes over that hour",
            (_given("peak", found.peak), _given("burst", found.burst)),
            found.peak.source,
        ),
    ]


def _at_once(report: FleetReport) -> Step:
    held = sum(placed.peak_calls_per_s * placed.capacity.batch * placed.capacity.request_s for placed in report.sites)
    return Step(
        "answers being written at once",
        held,
        "calls in the busiest minutes",
        "calls a second x time in a replica",
        ("time in a replica = batch x time of a replica per call",),
        "J. Little, Oper. Res. 9(3), 1961",
    )


def _serving(report: FleetReport, found: Assumed) -> list[Step]:
    steps = [_at_once(report)]
    for placed in report.sites:
        carried, where = placed.capacity, f"{placed.region}, {placed.pool}"
        steps += [
            Step(
                f"time of a replica per call: {where}",
                carried.request_s,
                "s",
                "1 / calls a second of a full replica, prefill and decode taking turns",
                (f"batch = {carried.batch:,}, the largest at which every user gets the speed", _given("speed", found.speed)),
                "expected rates of one replica",
            ),
            Step(
                f"replicas: {where}",
                placed.replicas,
                "replicas",
                "ceil(calls at the worst x time of a call / busy share) + spares",
                (
                    f"calls at the worst = {significant(placed.peak_calls_per_s)} 1/s",
                    _given("busy", found.busy),
                    _given("spares", found.spares),
                ),
                found.busy.source,
            ),
            Step(
                f"time to first token seen: {where}",
                placed.ttft_seen_s,
                "s, mean in the busiest minutes",
                "round trip + wait for a place and for prefill ahead + prefill",
                (f"calls that wait for a place = {placed.waits_frac:.1%}", f"wait = {significant(placed.wait_s)} s"),
                "S. Halfin, W. Whitt, Oper. Res. 29(3), 1981, for places; M/D/1 for prefill",
            ),
        ]
    return steps


def _paying(report: FleetReport) -> list[Step]:
    rows: list[tuple[str, float | None, str, str, tuple[str, ...], str]] = [
        ("devices", report.devices, "devices", "replicas x devices of a replica", (), _COMPUTED),
        ("racks", report.racks, "racks", "devices / devices a rack feeds, whole systems", (), report.assumptions["rack_kw"]),
        (
            "power to provide",
            report.provisioned_power_w,
            "W",
            "devices x (rated power + share of the server) x PUE",
            (),
            "catalogue and defaults of ownership",
        ),
        ("power used", report.mean_power_w, "W, mean of a day", "busy share at working power, the rest idle", (), _COMPUTED),
        (
            "idle at night and between",
            report.idle_device_hours_per_day,
            "device-hours a day",
            "devices x 24 x (1 - mean busy share)",
            (),
            _COMPUTED,
        ),
        ("money", report.usd_per_month, "USD a month", "devices x price of an hour x 730.5", _bases(report), "see inputs"),
        ("per user", report.usd_per_user_month, "USD a month per weekly user", "money / weekly users", (), _COMPUTED),
    ]
    return [
        Step(name, value, unit, formula, inputs, source)
        for name, value, unit, formula, inputs, source in rows
        if value is not None
    ]


def _bases(report: FleetReport) -> tuple[str, ...]:
    found = {placed.capacity.scenario.hardware: placed.capacity for placed in report.sites}
    return tuple(f"{name}: {significant(c.usd_per_device_hour or 0.0)} USD/h, {c.basis}" for name, c in found.items())
