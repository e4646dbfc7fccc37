"""Words of the rows that only some answers have."""

from __future__ import annotations

WHAT_VALUE = ("What", "Value")
RUNNING = "How it runs"
TOKENS_PER_STEP = "Output tokens of a step, each sequence"
TOKENS_PER_STEP_VALUE = "{tokens} on average: drafted or forced tokens ride along"
STEP = "Time of such a step, drafts included"
PREFILL_POOL = "{n:,} devices only prefill"
DECODE_POOL = "{n:,} devices only decode"
OFFLOAD = "In host memory"
TENSOR, PIPELINE, DATA, EXPERT, CONTEXT = "tensor", "pipeline", "data", "expert", "context"
NOTHING_DIVIDED = "nothing divided"

WAITING = "Waiting for the first token"
WAITING_KEY = "At the request rate asked for: a prompt waits for the step that runs and for prompts before it."
SERVICE = "Reading the prompt itself"
WAIT = "Wait before it, on average"
FIRST_MEAN = "Time to first token, on average"
FIRST_P50 = "half of the requests within"
FIRST_P90 = "9 in 10 within"
FIRST_P99 = "99 in 100 within"
BUSY = "Share of the time in which prompts are read"

TIERS = "Memories that hold the model"
TIERS_KEY = "Each bar: what is used of what programs can use."
TIER_COLUMNS = ("Memory", "Weights", "Cache")
TIER_OF = "{used} of {usable}"
TIER_OVER = "{used}, and has {usable}"
TIER_DISK = "{used} on disk"

RESERVED = "Reserved and used, USD"
RESERVED_KEY = "Reserved: busy all the time. Used: busy {utilisation} of the time, and paid for all of it."
RESERVED_COLUMNS = ("Price of", "Reserved", "Used")
INPUT = "a million input tokens"
CACHED = "a million cached input tokens"
OUTPUT = "a million output tokens"
BOTH = "a million tokens of both kinds"
REQUEST = "a request"

ENERGY = "Energy and carbon dioxide"
JOULES_OUTPUT = "Joules per output token"
JOULES_INPUT = "Joules per input token"
CARBON_BOTH = "Grams CO2e per million tokens of both kinds"
CARBON_OUTPUT = "Grams CO2e per million output tokens"
POWER = "Watts of one device with its share of the server, in decode"
BASIS = "Rests on"
CAPITAL = "Capital, USD per device-hour"
ELECTRICITY = "Electricity, USD per device-hour"
HOSTING = "Space, USD per device-hour"
STAFF = "Staff, USD per device-hour"
