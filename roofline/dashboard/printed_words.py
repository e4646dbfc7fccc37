"""Words of the report to print."""

from __future__ import annotations

from roofline.answers.report import Bound
from roofline.language import later

DOWNLOAD = later("Download report")
DOWNLOAD_HELP = later("One page to print or keep: numbers with bands, memory, cost, assumptions, sources and the link.")
FILE_NAME = "roofline-report.html"
TITLE = later("Roofline report: {model}")
HEADLINES = later("Numbers")
HEADLINE_COLUMNS = (later("What"), later("Expected"), later("Band, 10th to 90th percentile"), later("Limit"))
TWO_COLUMNS = (later("What"), later("Value"))
BASIS_COLUMNS = (later("Assumption"), later("Value and basis"))
VALUE_AND_BASIS = "{value}; {basis}"
BAND = later("{low} to {high}")
HEADLINE_FIELDS = (
    ("tokens_per_s_per_user", later("Tokens/s per user"), False),
    ("output_tokens_per_s", later("Tokens/s in total, steady decode"), False),
    ("request_output_tokens_per_s", later("Tokens/s in total, prompts included"), False),
    ("requests_per_s", later("Requests/s"), False),
    ("ttft_s", later("Time to first token"), True),
    ("tpot_s", later("Time per output token"), True),
)
MEMORY = later("Memory of one device")
WEIGHTS, CACHE, ACTIVATIONS, OVERHEAD = later("Weights"), later("Cache"), later("Activations"), later("Kept by the engine")
USABLE, MOST, FITS, YES, NO = later("Usable"), later("Most sequences that fit"), later("Fits"), later("yes"), later("no")
PLAN = later("Plan")
COST = later("Cost, energy and bound")
USD_OUTPUT = later("USD per million output tokens")
USD_INPUT = later("USD per million input tokens")
USD_BOTH = later("USD per million tokens of both kinds")
USD_HOUR = later("USD per hour, all devices")
JOULES = later("Joules per output token")
CARBON = later("Grams CO2e per million tokens")
PRICE = later("Price")
BOUND = later("Bound by")
BOUNDS: dict[Bound, str] = {
    "compute": later("compute"),
    "memory": later("memory"),
    "network": later("network"),
    "host": later("host"),
    "latency": later("latency"),
}
BOUND_BOTH = later("decode: {decode}, prefill: {prefill}")
ASSUMPTIONS = later("Assumptions")
SOURCES = later("Facts and sources")
NOTES = later("Notes")
LINK = later("Link to this question")
FOOT = later("Limit: nothing real is faster. Expected: what engines reach, with the band that public measurements fall in.")
