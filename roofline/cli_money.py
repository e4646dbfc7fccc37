"""Commands about money: `cost`, `breakeven` and `fleet`. They take every option of `estimate` and a few of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from roofline import link as links
from roofline.answers.api import against_api, crossing
from roofline.answers.evaluate import evaluate
from roofline.answers.fleet import fleet as plan_fleet
from roofline.answers.owning import multi_year
from roofline.answers.sensitivity import sensitivity
from roofline.answers.serialise import report_json
from roofline.errors import InputError, MissingFactError
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario
from roofline.texts import breakeven_text, cost_text, fleet_text

Answer = Callable[[dict[str, Any], bool, Callable[[dict[str, Any]], str]], None]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")]


def add_commands(app: typer.Typer, template: Callable[..., None], answer: Answer) -> None:
    """Add the commands to an application, with the scenario options of a command that has them."""
    for command in (cost, breakeven, fleet):
        app.command()(_with_scenario(command, template, answer))


def _with_scenario(command: Callable[..., Any], template: Callable[..., None], answer: Answer) -> Callable[..., None]:
    """A command with the options of `template` before its own; what was given of them comes as one mapping."""
    shared = {n: p for n, p in inspect.signature(template, eval_str=True).parameters.items() if n != "as_json"}
    own = {n: p for n, p in inspect.signature(command, eval_str=True).parameters.items() if n != "given"}

    def run(**values: Any) -> None:  # noqa: ANN401
        given = {name: values[name] for name in shared if values[name] is not None}
        found, text = command(given, **{name: values[name] for name in own if name != "as_json"})
        answer(found, values["as_json"], text)

    as_json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    options = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*shared.values(), *own.values())]
    run.__signature__ = inspect.Signature([*options, as_json])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


Found = tuple[dict[str, Any], Callable[[dict[str, Any]], str]]


def cost(
    given: dict[str, Any],
    requests_per_user: Annotated[
        float | None, typer.Option(help="Requests of a user in a month: adds the price per user.")
    ] = None,
    years: Annotated[int | None, typer.Option(help="Years of the multi-year view; default: the life of a machine.")] = None,
) -> Found:
    """What tokens cost and why: parts, several years of owning and renting, and what moves the answer."""
    if requests_per_user is not None and not 0 < requests_per_user <= 1e9:
        raise InputError("requests per user must lie above 0.")
    scenario = Scenario.model_validate(given)
    report = report_json(evaluate(scenario))
    used, reserved = report["cost"]["used"], report["cost"]["reserved"]
    per_user = None
    if requests_per_user is not None and used is not None:
        per_user = {
            "used": used["usd_per_request"] * requests_per_user,
            "reserved": reserved["usd_per_request"] * requests_per_user,
        }
    try:
        several, reasons = asdict(multi_year(scenario, years)), []
    except MissingFactError as error:
        several, reasons = None, [f"No multi-year view: {error}"]
    found = {
        "scenario": report["scenario"],
        "link": _link(scenario),
        "cost": report["cost"],
        "usd_per_user_month": per_user,
        "multi_year": several,
        "sensitivity": asdict(sensitivity(scenario)),
        "reasons": [*report["reasons"], *reasons],
    }
    return found, cost_text


def breakeven(
    given: dict[str, Any],
    api: Annotated[
        str | None, typer.Option(help="Public price such as openai/gpt-4o-mini, or input/cached/output; default: this model's.")
    ] = None,
) -> Found:
    """Your own system against an API: utilisation, tokens a day and months at which it pays, if it ever does."""
    scenario = Scenario.model_validate(given)
    found = against_api(scenario, api)
    lines = crossing(found)
    points = {name: values.tolist() for name, values in asdict(lines).items()}
    shown = {"scenario": scenario.model_dump(mode="json"), "link": _link(scenario), **asdict(found), "lines": points}
    return shown, breakeven_text


def fleet(
    given: dict[str, Any],
    weekly_users: Annotated[int | None, typer.Option(help="People who use it in a week.")] = None,
    messages: Annotated[float | None, typer.Option(help="Messages of a weekly user, a day.")] = None,
    agent_share: Annotated[float | None, typer.Option(help="Share of messages that start an agent task.")] = None,
    agent_calls: Annotated[float | None, typer.Option(help="Model calls of an agent task.")] = None,
    result_hit: Annotated[float | None, typer.Option(help="Share of calls answered from a cache of results.")] = None,
    small_model: Annotated[str | None, typer.Option(help="Model that easy calls are routed to.")] = None,
    small_hardware: Annotated[str | None, typer.Option(help="Its machine, such as h100-sxm.")] = None,
    small_share: Annotated[float | None, typer.Option(help="Share of calls that go there.")] = None,
    peak: Annotated[float | None, typer.Option(help="Busiest hour over the mean, in a region.")] = None,
    burst: Annotated[float | None, typer.Option(help="Busiest minutes over the busiest hour.")] = None,
    busy: Annotated[float | None, typer.Option(help="Share of a replica's time that may be used at the worst.")] = None,
    spares: Annotated[int | None, typer.Option(help="Replicas more than needed, per region and pool.")] = None,
    speed: Annotated[float | None, typer.Option(help="Tokens a second that each user gets.")] = None,
    rack_kw: Annotated[float | None, typer.Option(help="Power of a rack, kW.")] = None,
    power_budget_w: Annotated[float | None, typer.Option(help="Most power there is, facility included, W.")] = None,
    regions: Annotated[str | None, typer.Option(help="name:share:UTC offset:round trip, …, such as us:0.4:-6:0.04")] = None,
    mix: Annotated[str | None, typer.Option(help="Other hardware with its share of calls, such as 8xmi300x:0.3")] = None,
) -> Found:
    """Many people on many machines: users a week into devices, racks, power, money and waiting. One replica is the scenario."""
    asked = {key: value for key, value in locals().items() if key != "given" and value is not None}
    question = FleetScenario(replica=Scenario.model_validate(given), **asked)
    try:
        replica = links.portable(question.replica)
        link_text = "?" + urlencode(links.encode_fleet(question.model_copy(update={"replica": replica})), safe="/:,")
    except InputError:
        link_text = None
    return {"link": link_text, **asdict(plan_fleet(question))}, fleet_text


def _link(scenario: Scenario) -> str | None:
    try:
        return links.to_query(links.portable(scenario))
    except InputError:
        return None
