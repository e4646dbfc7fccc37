"""Words of the rows that only some answers have."""

from __future__ import annotations

from roofline.language import later

WHAT_VALUE = (later("What"), later("Value"))
RUNNING = later("How it runs")
TOKENS_PER_STEP = later("Output tokens of a step, each sequence")
TOKENS_PER_STEP_VALUE = later("{tokens} on average: drafted or forced tokens ride along")
STEP = later("Time of such a step, drafts included")
PREFILL_POOL = later("{n:,} devices only prefill")
DECODE_POOL = later("{n:,} devices only decode")
OFFLOAD = later("In host memory")
TENSOR, PIPELINE, DATA, EXPERT, CONTEXT = later("tensor"), later("pipeline"), later("data"), later("expert"), later("context")
NOTHING_DIVIDED = later("nothing divided")

WAITING = later("Waiting for the first token")
WAITING_KEY = later("At the request rate asked for: a prompt waits for the step that runs and for prompts before it.")
SERVICE = later("Reading the prompt itself")
WAIT = later("Wait before it, on average")
FIRST_MEAN = later("Time to first token, on average")
FIRST_P50 = later("half of the requests within")
FIRST_P90 = later("9 in 10 within")
FIRST_P99 = later("99 in 100 within")
BUSY = later("Share of the time in which prompts are read")

TIERS = later("Memories that hold the model")
TIERS_KEY = later("Each bar: what is used of what programs can use.")
TIER_COLUMNS = (later("Memory"), later("Weights"), later("Cache"))
TIER_OF = later("{used} of {usable}")
TIER_OVER = later("{used}, and has {usable}")
TIER_DISK = later("{used} on disk")

RESERVED = later("Reserved and used, USD")
RESERVED_KEY = later("Reserved: busy all the time. Used: busy {utilisation:.0%} of the time, and paid for all of it.")
RESERVED_COLUMNS = (later("Price of"), later("Reserved"), later("Used"))
INPUT = later("a million input tokens")
CACHED = later("a million cached input tokens")
OUTPUT = later("a million output tokens")
BOTH = later("a million tokens of both kinds")
REQUEST = later("a request")

ENERGY = later("Energy and carbon dioxide")
JOULES_OUTPUT = later("Joules per output token")
JOULES_INPUT = later("Joules per input token")
CARBON_BOTH = later("Grams CO2e per million tokens of both kinds")
CARBON_OUTPUT = later("Grams CO2e per million output tokens")
POWER = later("Watts of one device with its share of the server, in decode")
BASIS = later("Rests on")
CAPITAL = later("Capital, USD per device-hour")
ELECTRICITY = later("Electricity, USD per device-hour")
HOSTING = later("Space, USD per device-hour")
STAFF = later("Staff, USD per device-hour")
