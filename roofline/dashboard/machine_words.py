"""The page My machine's words."""

from __future__ import annotations

from roofline.answers.advisor import Run
from roofline.answers.purchase import Offer
from roofline.dashboard.text import between, esc, table
from roofline.figures.words import BOUND_WORDS, sig
from roofline.specs.scenario import Scenario
from roofline.units import duration, memory_size

QUESTION_WORDS = {"runs": "What can my machine run?", "buy": "What should I buy for this model?"}
RUNS_KEY = "One person at a time. Choose a row to use it on every page. Only electricity is paid: the machine is there already."
BUY_KEY = "One person at a time: of each device the cheapest number of them that reaches the speed. Choose a row to use it."
FIGURE_KEY = "Each mark is one model in one format; its speed is expected for one sequence at the lengths on the left."
HELP_SPEED = "People read about 5 tokens a second; 10 is comfortable."
HELP_HOST = (
    "What does not fit on the devices is left to host memory: layers, or the routed experts. Takes a few seconds; the host "
    "is the usual one for the device unless you name yours under Host and disk."
)
NO_HOST = "This machine has one memory for all: there is no host memory to leave anything to."
BUY_NOTES = (
    "To buy: median of dated purchase prices, with a share for the machine around the devices. Processors have no such price "
    "here since the memory that a model lies in is bought apart. Per hour: rented, or owned where nobody rents it out."
)
MEASURE_TITLE = "Your machine is not in the list, or you want it measured"
MEASURE_STEPS = (
    "Install the package on your machine and time its memory and its matrix products. Nothing leaves your machine: the result is "
    "one small YAML file that you can read."
)
MEASURE_COMMAND = "pip install .\nroofline measure --out mine.yaml\nroofline advise --hardware mine.yaml"
MEASURE_UPLOAD = (
    "The last line answers there and then. To see it here, open 'A device of your own' under the list of hardware on the left "
    "and choose mine.yaml: the facts become part of the link and are kept nowhere else."
)
NOTHING_SHOWN = "Nothing is as wished: lower the speed or the context, or show the slower ones too."


def machine_words(scenario: Scenario, name: str) -> str:
    """The machine, and where to change it."""
    return f"Your machine: {scenario.devices:,} × {name}, as chosen under Hardware in the controls on the left."


def context_words(tokens: int) -> str:
    """A least context."""
    return f"{tokens:,} tokens" if tokens else "any"


def place_words(run: Run) -> str:
    """Where the model lies."""
    return {"none": "on the devices", "layers": "some layers on the host", "experts": "experts on the host"}[run.scenario.offload]


def run_html(run: Run) -> str:
    """One row, written out."""
    trained = "not stated" if run.trained_context_tokens is None else f"{run.trained_context_tokens:,} tokens"
    electricity = run.electricity_usd_per_million_output_tokens
    rows = [
        ("Speed", f"{sig(run.tokens_per_s)} tokens/s, {between(run.tokens_per_s_low, run.tokens_per_s_high)}"),
        ("Decode is bound by", BOUND_WORDS[run.bound]),
        ("Prompt", f"{sig(run.prefill_tokens_per_s)} tokens/s; first token after {duration(run.ttft_s)}"),
        ("Context that fits", f"{run.most_context_tokens:,} tokens; trained for {trained}"),
        ("Memory of one device", f"{memory_size(run.used_bytes_per_device)} of {memory_size(run.usable_bytes_per_device)}"),
        ("Where the model lies", place_words(run)),
        ("Electricity", "power not known" if electricity is None else f"{sig(electricity)} USD per million output tokens"),
    ]
    return f'<div class="rf-detail">{table(("Model", "Value"), rows, caption="The chosen model")}</div>'


def offer_html(offer: Offer) -> str:
    """One row, written out."""
    bought = offer.outlay_basis
    if offer.outlay_usd is not None:
        bought = f"{offer.outlay_usd:,.0f} USD: {offer.outlay_basis}"
    rows = [
        ("Speed", f"{sig(offer.tokens_per_s)} tokens/s, {between(offer.tokens_per_s_low, offer.tokens_per_s_high)}"),
        ("First token after", duration(offer.ttft_s)),
        ("Context that fits", f"{offer.most_context_tokens:,} tokens"),
        ("To buy", bought),
        ("Per hour", offer.price_basis if offer.usd_per_h is None else f"{sig(offer.usd_per_h)} USD: {offer.price_basis}"),
    ]
    return f'<div class="rf-detail">{table(("Machine", "Value"), rows, caption="The chosen machine")}</div>'


def problems_html(problems: tuple[str, ...]) -> str:
    """Models that could not be tried."""
    return "".join(f'<p class="rf-note">{esc(problem)}</p>' for problem in problems)


def model_line(name: str) -> str:
    """The model, and where to change it."""
    return f"For {name}, as chosen under Model in the controls on the left, with prompt and output lengths from there."
