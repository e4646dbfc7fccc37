"""The page My machine's words."""

from __future__ import annotations

from roofline.answers.advisor import Run
from roofline.answers.purchase import Offer
from roofline.dashboard.text import between, esc, table
from roofline.figures.words import BOUND_WORDS, sig
from roofline.language import later, localised, tr
from roofline.specs.scenario import Scenario
from roofline.units import duration, memory_size

QUESTION_WORDS = {"runs": later("What can my machine run?"), "buy": later("What should I buy for this model?")}
RUNS_KEY = later(
    "One person at a time. Choose a row to use it on every page. Only electricity is paid: the machine is there already."
)
BUY_KEY = later(
    "One person at a time: of each device the cheapest number of them that reaches the speed. Choose a row to use it."
)
FIGURE_KEY = later("Each mark is one model in one format; its speed is expected for one sequence at the lengths on the left.")
HELP_SPEED = later("People read about 5 tokens a second; 10 is comfortable.")
HELP_HOST = later(
    "What does not fit on the devices is left to host memory: layers, or the routed experts. Takes a few seconds; the host "
    "is the usual one for the device unless you name yours under Host and disk."
)
NO_HOST = later("This machine has one memory for all: there is no host memory to leave anything to.")
BUY_NOTES = later(
    "To buy: median of dated purchase prices, with a share for the machine around the devices. Processors have no such price "
    "here since the memory that a model lies in is bought apart. Per hour: rented, or owned where nobody rents it out."
)
MEASURE_TITLE = later("Your machine is not in the list, or you want it measured")
MEASURE_STEPS = later(
    "Install the package on your machine and time its memory and its matrix products. Nothing leaves your machine: the result is "
    "one small YAML file that you can read."
)
MEASURE_COMMAND = "pip install .\nroofline measure --out mine.yaml\nroofline advise --hardware mine.yaml"
MEASURE_UPLOAD = later(
    "The last line answers there and then. To see it here, open 'A device of your own' under the list of hardware on the left "
    "and choose mine.yaml: the facts become part of the link and are kept nowhere else."
)
NOTHING_SHOWN = later("Nothing is as wished: lower the speed or the context, or show the slower ones too.")

_PLACES = {
    "none": later("on the devices"),
    "layers": later("some layers on the host"),
    "experts": later("experts on the host"),
}


def machine_words(scenario: Scenario, name: str) -> str:
    """The machine, and where to change it."""
    return tr(
        "Your machine: {n:,} × {device}, as chosen under Hardware in the controls on the left.", n=scenario.devices, device=name
    )


def context_words(tokens: int) -> str:
    """A least context."""
    return tr("{n:,} tokens", n=tokens) if tokens else tr("any")


def place_words(run: Run) -> str:
    """Where the model lies."""
    return tr(_PLACES[run.scenario.offload])


def run_html(run: Run) -> str:
    """One row, written out."""
    used, usable = memory_size(run.used_bytes_per_device), memory_size(run.usable_bytes_per_device)
    rows = [
        (tr("Speed"), _speed(run)),
        (tr("Decode is bound by"), tr(BOUND_WORDS[run.bound])),
        (tr("Prompt"), _prompt(run)),
        (tr("Context that fits"), _context(run)),
        (tr("Memory of one device"), tr("{used} of {usable}", used=used, usable=usable)),
        (tr("Where the model lies"), place_words(run)),
        (tr("Electricity"), _electricity(run)),
    ]
    return f'<div class="rf-detail">{table((tr("Model"), tr("Value")), rows, caption=tr("The chosen model"))}</div>'


def _speed(row: Run | Offer) -> str:
    band = between(row.tokens_per_s_low, row.tokens_per_s_high)
    return tr("{rate} tokens/s, {band}", rate=sig(row.tokens_per_s), band=band)


def _prompt(run: Run) -> str:
    rate, first = sig(run.prefill_tokens_per_s), duration(run.ttft_s)
    return tr("{rate} tokens/s; first token after {time}", rate=rate, time=first)


def _context(run: Run) -> str:
    n, trained = run.most_context_tokens, run.trained_context_tokens
    if trained is None:
        return tr("{n:,} tokens; trained for not stated", n=n)
    return tr("{n:,} tokens; trained for {trained:,} tokens", n=n, trained=trained)


def _electricity(run: Run) -> str:
    usd = run.electricity_usd_per_million_output_tokens
    return tr("power not known") if usd is None else tr("{usd} USD per million output tokens", usd=sig(usd))


def offer_title(offer: Offer) -> str:
    """Which machine."""
    return tr("{n:,} × {device}, weights {weights}", n=offer.devices, device=offer.hardware_name, weights=offer.weights)


def offer_html(offer: Offer) -> str:
    """One row, written out."""
    outlay, hour = offer.outlay_usd, offer.usd_per_h
    rows = [
        (tr("Speed"), _speed(offer)),
        (tr("First token after"), duration(offer.ttft_s)),
        (tr("Context that fits"), tr("{n:,} tokens", n=offer.most_context_tokens)),
        (tr("To buy"), _priced(None if outlay is None else localised(f"{outlay:,.0f}"), offer.outlay_basis)),
        (tr("Per hour"), _priced(None if hour is None else sig(hour), offer.price_basis)),
    ]
    return f'<div class="rf-detail">{table((tr("Machine"), tr("Value")), rows, caption=tr("The chosen machine"))}</div>'


def _priced(usd: str | None, basis: str) -> str:
    return basis if usd is None else f"{usd} USD: {basis}"


def problems_html(problems: tuple[str, ...]) -> str:
    """Models that could not be tried."""
    return "".join(f'<p class="rf-note">{esc(problem)}</p>' for problem in problems)


def model_line(name: str) -> str:
    """The model, and where to change it."""
    return tr(
        "For {model}, as chosen under Model in the controls on the left, with prompt and output lengths from there.", model=name
    )
