"""Words of the report to print."""

from __future__ import annotations

DOWNLOAD = "Download report"
DOWNLOAD_HELP = "One page to print or keep: numbers with bands, memory, cost, assumptions, sources and the link."
FILE_NAME = "roofline-report.html"
TITLE = "Roofline report: {model}"
HEADLINES = "Numbers"
HEADLINE_COLUMNS = ("What", "Expected", "Band, 10th to 90th percentile", "Limit")
TWO_COLUMNS = ("What", "Value")
BASIS_COLUMNS = ("Assumption", "Value and basis")
VALUE_AND_BASIS = "{value}; {basis}"
BAND = "{low} to {high}"
HEADLINE_FIELDS = (
    ("tokens_per_s_per_user", "Tokens/s per user", False),
    ("output_tokens_per_s", "Tokens/s in total, steady decode", False),
    ("request_output_tokens_per_s", "Tokens/s in total, prompts included", False),
    ("requests_per_s", "Requests/s", False),
    ("ttft_s", "Time to first token", True),
    ("tpot_s", "Time per output token", True),
)
MEMORY = "Memory of one device"
WEIGHTS, CACHE, ACTIVATIONS, OVERHEAD = "Weights", "Cache", "Activations", "Kept by the engine"
USABLE, MOST, FITS, YES, NO = "Usable", "Most sequences that fit", "Fits", "yes", "no"
PLAN = "Plan"
COST = "Cost, energy and bound"
USD_OUTPUT = "USD per million output tokens"
USD_INPUT = "USD per million input tokens"
USD_BOTH = "USD per million tokens of both kinds"
USD_HOUR = "USD per hour, all devices"
JOULES = "Joules per output token"
CARBON = "Grams CO2e per million tokens"
PRICE = "Price"
BOUND = "Bound by"
BOUND_BOTH = "decode: {decode}, prefill: {prefill}"
ASSUMPTIONS = "Assumptions"
SOURCES = "Facts and sources"
NOTES = "Notes"
LINK = "Link to this question"
FOOT = "Limit: nothing real is faster. Expected: what engines reach, with the band that public measurements fall in."
