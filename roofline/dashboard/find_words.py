"""The page Find hardware's words: labels, hints, sentences, small tables."""

from __future__ import annotations

import math
from collections import Counter

from roofline.answers.inverse import Solved
from roofline.answers.pricing import PriceKind
from roofline.answers.report import Plan
from roofline.answers.search_result import Cause, Deployment, Search
from roofline.catalog.hardware import load_hardware
from roofline.dashboard.choices import model_words
from roofline.dashboard.fields import Values
from roofline.dashboard.text import esc, first_upper, table
from roofline.figures.words import BOUND_WORDS, sig
from roofline.language import later, localised, tr
from roofline.specs.hardware import CATEGORY_WORDS, Category
from roofline.specs.search import SearchQuery
from roofline.units import duration

_MOST_NAMED = 3
PACE_WORDS = {"speed": later("Tokens/s per user"), "tpot": later("TPOT"), "none": later("Any speed")}
TRAFFIC_WORDS = {"rate": later("Requests/s"), "users": later("Requests in flight"), "none": later("One full replica")}
PRICE_WORDS = {"market": later("Rental, else owned"), "rental": later("Rental only"), "owned": later("Owned")}
PAID_WORDS: dict[PriceKind, str] = {
    "rental": later("rented"),
    "ownership": later("owned"),
    "power only": later("power only"),
    "yours": later("your price"),
    "unknown": later("no price is known"),
}
QUESTION_WORDS = {
    "batch": later("Largest batch within a TPOT"),
    "context": later("Longest context"),
    "devices": later("Fewest devices"),
    "bandwidth": later("Memory bandwidth needed"),
    "price": later("Price at which self-hosting pays"),
    "compute-bound": later("Batch from which compute binds"),
}
CAUSE_WORDS: dict[Cause, str] = {
    "facts": later("a fact is missing"),
    "memory": later("does not fit"),
    "ttft": later("misses the TTFT"),
    "tpot": later("misses the TPOT"),
    "both": later("keeps either time, not both"),
    "price": later("no price is known"),
    "dearer": later("keeps the promise, dearer"),
}
INTRO = later("The cheapest deployments for {model} that keep a promise, over every device, number, plan, format and batch.")
SEARCH_LABEL = later("Search")
NOT_RUN = later(
    "Set the promise, the traffic and what to choose from, then search: some hundred thousand deployments are compared in "
    "a few seconds. Model, prompt and output lengths come from the controls on the left."
)
CHANGED = later("This answers an earlier question")
HELP_TTFT = later("Longest time to first token, seconds. Empty: any.")
HELP_PERCENTILE = later(
    "As expected: the middle of the prediction, no waiting. With a percentile and requests that arrive at random, TTFT includes "
    "the wait that so many stay below; from 90 on, times are taken at the slow end of the prediction band."
)
HELP_HARDWARE = later("Empty: all that ship. Names given here go before kinds.")
HELP_PRICE = later("Rental: median of dated quotes on demand. Owned: purchase, server, power, space and staff over its life.")
HELP_USD = later("Your own price for an hour of any of the devices.")
HELP_FORMATS = later("Empty: as stored, and the narrower formats that a device has units for.")
HELP_MOST = later("Devices in one replica; replicas are added until the traffic is carried.")
CHOOSE_ROW = later("Choose a row to use it on every page. Costs are for the whole traffic, devices paid for all the time.")
FIGURE_KEY = later("Each point is a full replica that nothing beats in speed without costing more. Dashed: the promised speed.")
LOSERS_KEY = later("Every other device with the reason, the nearest to the promise first.")
INVERSE_KEY = later("One machine, as in the controls on the left, with the question turned round.")


def choice_words(values: Values) -> str:
    """What there is to choose from, so that closed is not hidden."""
    names = [load_hardware(name).name for name in values["hw"][:_MOST_NAMED]]
    names = names or [category_words(kind) for kind in values["cats"]] or [tr("all hardware")]
    more = ", …" if len(values["hw"]) > _MOST_NAMED else ""
    price = tr("your price") if values["usd"] is not None else tr(PRICE_WORDS[values["price"]]).lower()
    return tr(
        "Choose from: {names} · {price} · up to {n} devices in a replica",
        names=f"{', '.join(names)}{more}",
        price=price,
        n=values["most"],
    )


def changed(ran: SearchQuery, now: SearchQuery) -> str:
    """Whose answer is still shown."""
    again = tr("The question has changed since this search. Search again to answer the new one.")
    if ran.model == now.model:
        return again
    was, is_now = model_words(ran.model), model_words(now.model)
    return tr("It is for {was}, not for {now}.", was=was, now=is_now) + f" {again}"


def category_words(kind: Category) -> str:
    """A kind of hardware."""
    return tr(CATEGORY_WORDS[kind])


def percentile_words(value: int) -> str:
    """A percentile as people say it."""
    return tr("{n} of 100", n=value) if value else tr("As expected")


def progress_words(done: int, of: int) -> str:
    """How far a search is."""
    return tr("Searching: {done:,} of {of:,} devices and formats", done=done, of=of)


def examined(found: Search) -> str:
    """How much was compared."""
    return tr(
        "{points:,} points compared: {plans:,} plans that fit, of {devices:,} devices in {options:,} combinations with weight "
        "formats.",
        points=found.n_points,
        plans=found.n_plans,
        devices=found.n_hardware,
        options=found.n_options,
    )


def winners_title(query: SearchQuery) -> str:
    """What the cheapest are the cheapest in."""
    if query.request_rate is not None:
        return tr("Cheapest by USD per hour, for {rate} requests/s", rate=sig(query.request_rate))
    if query.concurrency is not None:
        return tr("Cheapest by USD per hour, for {n:,} requests in flight", n=query.concurrency)
    return tr("Cheapest by USD per million tokens, each one full replica")


def notes_html(found: Search) -> str:
    """What the answer rests on."""
    return "".join(f'<p class="rf-note">{esc(note)}</p>' for note in (examined(found), *found.notes))


def plan_words(plan: Plan) -> str:
    """A plan in a few letters.

    >>> plan_words(Plan(8, 2, 1, 8, False, 16, ""))
    'TP 8 · PP 2 · EP 8'
    """
    ways = {"TP": plan.tensor_parallel, "PP": plan.pipeline_parallel, "DP": plan.data_parallel, "EP": plan.expert_parallel}
    parts = [f"{name} {n}" for name, n in ways.items() if n > 1]
    return " · ".join([*parts, *([tr("attention DP")] if plan.attention_data_parallel else [])]) or tr("one device")


def detail_html(item: Deployment, query: SearchQuery) -> str:
    """One deployment, written out."""
    rows = [
        (tr("Machines"), _machine_words(item)),
        (tr("Plan of one replica"), plan_words(item.plan)),
        (tr("TTFT"), _time_words(item.ttft_s, item.held_ttft_s)),
        (tr("TPOT"), _time_words(item.tpot_s, item.held_tpot_s)),
        (tr("Bound"), _bound_words(item)),
        (tr("Load"), _load_words(item, query)),
        (first_upper(tr(PAID_WORDS[item.price_kind])), price_words(item.usd_per_device_hour, item.price_basis)),
        (tr("Per million tokens"), _token_words(item.usd_per_million_input_tokens, item.usd_per_million_output_tokens)),
    ]
    shown = table((tr("Deployment"), tr("Value")), rows, caption=tr("The chosen deployment"))
    return f'<div class="rf-detail">{shown}</div>'


def _machine_words(item: Deployment) -> str:
    return tr(
        "{replicas:,} × {n:,} × {hardware}, {devices:,} in all",
        replicas=item.replicas,
        n=item.devices_per_replica,
        hardware=item.hardware_name,
        devices=item.devices,
    )


def _bound_words(item: Deployment) -> str:
    prefill, decode = BOUND_WORDS[item.bound["prefill"]], BOUND_WORDS[item.bound["decode"]]
    return tr("prefill by {prefill}, decode by {decode}", prefill=tr(prefill), decode=tr(decode))


def _load_words(item: Deployment, query: SearchQuery) -> str:
    if math.isinf(query.promised_ttft_s) and math.isinf(query.promised_tpot_s):
        message = later("{rate} requests/s, {share:.0%} of the {most} it keeps up with")
    else:
        message = later("{rate} requests/s, {share:.0%} of the {most} at which the promise still holds")
    return tr(
        message,
        rate=sig(item.requests_per_s),
        most=sig(item.most_requests_per_s),
        share=item.utilisation_frac,
    )


def price_words(usd_per_device_hour: float | None, basis: str) -> str:
    """A price with what it rests on, or why there is none."""
    if usd_per_device_hour is None:
        return basis
    return tr("{usd} USD per device and hour: {basis}", usd=sig(usd_per_device_hour), basis=basis)


def _token_words(input_usd: float | None, output_usd: float | None) -> str:
    if output_usd is None:
        return tr("no price is known")
    return tr("{input} USD in, {output} USD out", input=sig(input_usd), output=sig(output_usd))


def _time_words(expected_s: float, held_s: float) -> str:
    """A time, and what a promise is held against where that is another."""
    if expected_s == held_s:
        return tr("{time} expected", time=duration(expected_s))
    return tr("{time} expected, {held} held against the promise", time=duration(expected_s), held=duration(held_s))


def causes_html(found: Search) -> str:
    """Losers counted by cause."""
    counted = Counter(item.cause for item in found.losers)
    rows = [(first_upper(tr(CAUSE_WORDS[cause])), localised(f"{n:,}")) for cause, n in counted.most_common()]
    return table((tr("Why"), tr("Devices")), rows, caption=tr("Why the others lost, counted by cause"))


def solved_html(found: Solved) -> str:
    """The answer to a question turned round."""
    return f'<p class="rf-answer" role="status">{esc(found.sentence)}</p>'
