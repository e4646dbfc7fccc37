"""The page Find hardware's words: labels, hints, sentences, small tables."""

from __future__ import annotations

from collections import Counter

from roofline.answers.found import Cause, Deployment, Search
from roofline.answers.inverse import Solved
from roofline.answers.report import Plan
from roofline.catalog.hardware import load_hardware
from roofline.dashboard.fields import Values
from roofline.dashboard.text import esc, table
from roofline.figures.words import BOUND_WORDS, sig
from roofline.units import duration

_MOST_NAMED = 3
PACE_WORDS = {"speed": "Tokens/s per user", "tpot": "TPOT", "none": "Any speed"}
TRAFFIC_WORDS = {"rate": "Requests/s", "users": "Requests in flight", "none": "One full replica"}
PRICE_WORDS = {"market": "Rental, else owned", "rental": "Rental only", "owned": "Owned"}
QUESTION_WORDS = {
    "batch": "Largest batch within a TPOT",
    "context": "Longest context",
    "devices": "Fewest devices",
    "bandwidth": "Memory bandwidth needed",
    "price": "Price at which self-hosting pays",
}
CAUSE_WORDS: dict[Cause, str] = {
    "facts": "a fact is missing",
    "memory": "does not fit",
    "ttft": "misses the TTFT",
    "tpot": "misses the TPOT",
    "both": "keeps either time, not both",
    "price": "no price is known",
    "dearer": "keeps the promise, dearer",
}
INTRO = "The cheapest deployments for {model} that keep a promise, over every device, number, plan, format and batch."
SEARCH_LABEL = "Search"
NOT_RUN = (
    "Set the promise, the traffic and what to choose from, then search: some hundred thousand deployments are compared in "
    "a few seconds. Model, prompt and output lengths come from the controls on the left."
)
CHANGED = "The question has changed since this search. Search again to answer the new one."
HELP_TTFT = "Longest time to first token, seconds. Empty: any."
HELP_PERCENTILE = (
    "As expected: the middle of the prediction, no waiting. With a percentile and requests that arrive at random, TTFT includes "
    "the wait that so many stay below; from 90 on, times are taken at the slow end of the prediction band."
)
HELP_HARDWARE = "Empty: all that ship. Names given here go before kinds."
HELP_PRICE = "Rental: median of dated quotes on demand. Owned: purchase, server, power, space and staff over its life."
HELP_USD = "Your own price for an hour of any of the devices."
HELP_FORMATS = "Empty: as stored, and the narrower formats that a device has units for."
HELP_MOST = "Devices in one replica; replicas are added until the traffic is carried."
CHOOSE_ROW = "Choose a row to use it on every page. Costs are for the whole traffic, devices paid for all the time."
FIGURE_KEY = "Each point is a full replica that nothing beats in speed without costing more. Dashed: the promised speed."
LOSERS_KEY = "Every other device with the reason, the nearest to the promise first."
INVERSE_KEY = "One machine, as in the controls on the left, with the question turned round."


def choice_words(values: Values) -> str:
    """What there is to choose from, so that closed is not hidden."""
    names = [load_hardware(name).name for name in values["hw"][:_MOST_NAMED]] or values["cats"] or ["all hardware"]
    more = ", …" if len(values["hw"]) > _MOST_NAMED else ""
    price = "your price" if values["usd"] is not None else PRICE_WORDS[values["price"]].lower()
    return f"Choose from: {', '.join(names)}{more} · {price} · up to {values['most']} devices in a replica"


def percentile_words(value: int) -> str:
    """A percentile as people say it."""
    return "As expected" if not value else f"{value} of 100"


def progress_words(done: int, of: int) -> str:
    """How far a search is."""
    return f"Searching: {done:,} of {of:,} devices and formats"


def examined(found: Search) -> str:
    """How much was compared."""
    return (
        f"{found.n_points:,} points compared: {found.n_plans:,} plans that fit, of {found.n_hardware:,} devices in "
        f"{found.n_options:,} combinations with weight formats."
    )


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
    return " · ".join([*parts, *(["attention DP"] if plan.attention_data_parallel else [])]) or "one device"


def detail_html(item: Deployment) -> str:
    """One deployment, written out."""
    rows = [
        ("Machines", f"{item.replicas:,} × {item.devices_per_replica:,} × {item.hardware_name}, {item.devices:,} in all"),
        ("Plan of one replica", plan_words(item.plan)),
        ("TTFT", _time_words(item.ttft_s, item.held_ttft_s)),
        ("TPOT", _time_words(item.tpot_s, item.held_tpot_s)),
        ("Bound", f"prefill by {BOUND_WORDS[item.bound['prefill']]}, decode by {BOUND_WORDS[item.bound['decode']]}"),
        ("Load", f"{sig(item.requests_per_s)} of {sig(item.most_requests_per_s)} requests/s, {item.utilisation_frac:.0%} used"),
        ("Price", price_words(item.usd_per_device_hour, item.price_basis)),
        ("Per million tokens", _token_words(item.usd_per_million_input_tokens, item.usd_per_million_output_tokens)),
    ]
    return f'<div class="rf-detail">{table(("Deployment", "Value"), rows, caption="The chosen deployment")}</div>'


def price_words(usd_per_device_hour: float | None, basis: str) -> str:
    """A price with what it rests on, or why there is none."""
    return basis if usd_per_device_hour is None else f"{sig(usd_per_device_hour)} USD per device and hour: {basis}"


def _token_words(input_usd: float | None, output_usd: float | None) -> str:
    return "no price is known" if output_usd is None else f"{sig(input_usd)} USD in, {sig(output_usd)} USD out"


def _time_words(expected_s: float, held_s: float) -> str:
    """A time, and what a promise is held against where that is another."""
    if expected_s == held_s:
        return f"{duration(expected_s)} expected"
    return f"{duration(expected_s)} expected, {duration(held_s)} held against the promise"


def causes_html(found: Search) -> str:
    """Losers counted by cause."""
    counted = Counter(item.cause for item in found.losers)
    rows = [(CAUSE_WORDS[cause][:1].upper() + CAUSE_WORDS[cause][1:], f"{n:,}") for cause, n in counted.most_common()]
    return table(("Why", "Devices"), rows, caption="Why the others lost, counted by cause")


def solved_html(found: Solved) -> str:
    """The answer to a question turned round."""
    return f'<p class="rf-answer" role="status">{esc(found.sentence)}</p>'
