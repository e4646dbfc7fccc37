"""The stories in words: every claim and verdict is made of computed numbers and follows the slider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roofline.answers.stories import MANY, Place, Told
from roofline.dashboard.choices import format_words, hardware_words
from roofline.dashboard.text import count_words
from roofline.figures.story_plot import ChartWords
from roofline.figures.words import BOUND_WORDS, sig
from roofline.specs.scenario import counted
from roofline.units import duration, memory_size, with_prefix


@dataclass(frozen=True)
class StoryWords:
    """What a story says."""

    short: str
    title: str
    slider: str
    claim: Callable[[Told], str]
    verdict: Callable[[Told], str]
    chart: ChartWords | None = None
    figure_title: str = ""
    place: Callable[[Place], str] = lambda place: f"{place:,}" if isinstance(place, int) else place


NO_STORY = "No story is called that, or it has no such place: the first one is shown."
OWN_SCENARIO = "Stories ask questions of their own; the sidebar keeps yours."


def _bound(names: Mapping[str, str], key: str) -> str:
    bounds: dict[str, str] = {str(bound): words for bound, words in BOUND_WORDS.items()}
    return bounds[names[key]]


def _scale_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"{names['model']} has {count_words(n['total'])} parameters and uses {count_words(n['active'])} of them for a token. "
        f"A token needs little arithmetic, yet memory must hold everything: "
        f"it is cheap only where many people share that memory."
    )


def _scale_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    there = f"{n['devices']:.0f} × {names['there']}"
    if n["usd_there"] < n["usd_home"]:
        return (
            f"With {n['batch']:,.0f} people at once on {there}, a million output tokens costs {sig(n['usd_there'])} USD; "
            f"at home on one {names['home']}, alone, {sig(n['usd_home'])} USD: {sig(n['ratio'])} times as much."
        )
    return (
        f"With only {n['batch']:,.0f} at once, {there} is the dear one: {sig(n['usd_there'])} USD for a million output tokens "
        f"against {sig(n['usd_home'])} at home on one {names['home']}. From {n['from_batch']:,.0f} at once it is the cheaper one."
    )


def _batching_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"One {names['hardware']} writes {sig(n['total_alone'])} tokens/s of {names['model']} for one person, "
        f"because every token reads all weights. Read for many at once, the same bytes serve all of them."
    )


def _batching_verdict(told: Told) -> str:
    n = told.numbers
    if not n["fits"]:
        return f"{n['batch']:,.0f} at once do not fit: memory ends at {n['max_batch']:,.0f}."
    return (
        f"With {n['batch']:,.0f} at once it delivers {sig(n['gain'])} times as much in total, "
        f"each user keeps {n['kept']:.0%} of the speed, and a million output tokens costs {sig(n['usd'])} USD "
        f"instead of {sig(n['usd_alone'])}. About {n['critical']:,.0f} at once would fill the arithmetic units; "
        f"memory ends at {n['max_batch']:,.0f}."
    )


def _phases_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"Reading a prompt on a {names['hardware']} is bound by {_bound(names, 'prefill_bound')}: "
        f"all its tokens share one reading of the weights, "
        f"and {n['mfu_prefill']:.0%} of the arithmetic is in use. Writing goes token by token."
    )


def _phases_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    if not n["fits"]:
        return f"{n['batch']:,.0f} at once do not fit: memory ends at {n['max_batch']:,.0f}."
    return (
        f"With {n['batch']:,.0f} at once, writing is bound by {_bound(names, 'decode_bound')}: {n['mbu_decode']:.0%} of the "
        f"bandwidth and {n['mfu_decode']:.1%} of the arithmetic are in use. The machine reads {sig(n['prefill'])} tokens/s "
        f"and writes {sig(n['decode'])}: an output token takes {sig(n['ratio'])} times as long as one of the prompt."
    )


def _home_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"At home, memory decides what runs and bandwidth how fast. {names['hardware']}: "
        f"{memory_size(n['usable_bytes'])} in all, read at {with_prefix(n['bandwidth'], 'B/s')}. "
        f"Models are taken in about 4 bits, for one person."
    )


def _home_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"It holds {n['held']:.0f} of these {n['of']:.0f} models. The largest, {names['largest']}, writes {sig(n['largest'])} "
        f"tokens/s, bound by {_bound(names, 'bound')}; the fastest, {names['fastest']}, {sig(n['fastest'])}."
    )


def _experts_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"A token of {names['model']} visits {n['active']:.0f} of {n['experts']:.0f} experts in each layer. "
        f"Different tokens choose different ones, so a few of them already wake many experts, each for very little work."
    )


def _experts_verdict(told: Told) -> str:
    n = told.numbers
    return (
        f"A step of {n['batch']:,.0f} tokens reads {sig(n['touched'])} experts ({n['touched_share']:.0%}), "
        f"and each of them works for {sig(n['each'])} tokens. A dense model would fill a {told.names['hardware']} "
        f"with {n['dense']:,.0f} tokens in a step; this one needs {n['critical']:,.0f}."
    )


def _context_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"Every token in a conversation leaves keys and values behind that must stay in memory and be read for each new token. "
        f"With short prompts of {n['short']:,.0f} tokens, one {names['hardware']} serves {n['fit_short']:,.0f} people "
        f"with {names['model']}."
    )


def _context_verdict(told: Told) -> str:
    n = told.numbers
    if not n["fit"]:
        return f"Not one conversation of {n['tokens']:,.0f} tokens fits beside the weights."
    return (
        f"A conversation with {n['tokens']:,.0f} tokens of prompt keeps {memory_size(n['cache_bytes'])}, "
        f"so {n['fit']:,.0f} fit at once, the first token takes {duration(n['ttft_s'])}, "
        f"and a million output tokens costs {sig(n['usd'])} USD: "
        f"{sig(n['ratio'])} times as much as with short prompts."
    )


def _bits_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return (
        f"Decode of {names['model']} on a {names['hardware']} is mostly reading, so fewer bits are more speed. In "
        f"{format_words(names['wide'], 'weights')} the weights take {memory_size(n['bytes_wide'])}."
    )


def _bits_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    name = format_words(names["format"], "weights")
    if names["format"] == names["wide"]:
        return f"In {name} one person gets {sig(n['one'])} tokens/s: move the slider to fewer bits."
    return (
        f"In {name} they take {memory_size(n['bytes'])} instead of {memory_size(n['bytes_wide'])}. "
        f"One person gets {sig(n['one'])} tokens/s, "
        f"{sig(n['faster_one'])} times the speed; with {n['many']:.0f} at once each gets only {sig(n['faster_many'])} times, "
        f"for arithmetic and cache do not shrink with the weights."
    )


def _network_claim(told: Told) -> str:
    names = told.names
    return (
        f"Tensor parallelism cuts every layer of {names['model']} over several {names['hardware']}: each reads less, "
        f"and all wait for one another twice a layer."
    )


def _network_verdict(told: Told) -> str:
    n = told.numbers
    if n["ways"] == 1:
        return "On one device nobody waits: move the slider to more."
    return (
        f"{n['ways']:.0f} devices give each user {sig(n['speedup'])} times the speed of one, "
        f"at {sig(n['usd_ratio'])} times the cost of a token: {n['waiting']:.0%} of a step is waiting and sending, "
        f"{n['reading']:.0%} is reading. "
        f"Of these counts, {n['best']:.0f} is the fastest."
    )


def _millions_claim(told: Told) -> str:
    n = told.numbers
    return (
        f"A chat service is sized by its busiest minutes. The more people share machines, the fuller these run: "
        f"with {n['users_first']:,.0f} people a week a device serves {n['users_per_device_first']:,.0f} of them."
    )


def _millions_verdict(told: Told) -> str:
    n = told.numbers
    return (
        f"{count_words(n['users'])[:1].upper()}{count_words(n['users'])[1:]} people a week: {told.names['sentence']} "
        f"A device serves {n['users_per_device']:,.0f} of them."
    )


def _machine(place: Place) -> str:
    count, hardware = counted(str(place))
    return f"{count} × {hardware_words(hardware)}" if count else hardware_words(hardware)


def _format(place: Place) -> str:
    return format_words(str(place), "weights")


def _users(place: Place) -> str:
    return count_words(float(place))


_AT_ONCE = "Sequences decoding at once (batch)"
_USD = "USD per million output tokens"
WORDS: dict[str, StoryWords] = {
    "scale": StoryWords(
        "DeepSeek",
        "Why DeepSeek is cheap at scale and dear at home",
        "People at once in the data centre",
        _scale_claim,
        _scale_verdict,
        ChartWords(_AT_ONCE, _USD, {"there": "data centre", "home": "at home"}),
        "Cost against people at once",
    ),
    "batching": StoryWords(
        "Batching",
        "Why batching is the whole trick",
        "Sequences at once",
        _batching_claim,
        _batching_verdict,
        figure_title="Throughput and speed against batch",
    ),
    "phases": StoryWords(
        "Reading and writing",
        "Reading and writing are two different machines",
        "Sequences at once",
        _phases_claim,
        _phases_verdict,
        figure_title="Roofline: ● decode, ◆ prefill",
    ),
    "home": StoryWords(
        "At home",
        "What a 3090, a Mac or an EPYC can run",
        "Machine",
        _home_claim,
        _home_verdict,
        ChartWords("", "Tokens/s for one person", {"speed": "tokens/s"}, absent="does not fit"),
        "Speed for one person",
        _machine,
    ),
    "experts": StoryWords(
        "Experts",
        "Why small batches starve experts",
        "Tokens in a step",
        _experts_claim,
        _experts_verdict,
        figure_title="Experts touched and tokens for each",
    ),
    "context": StoryWords(
        "Long context",
        "Why long context costs",
        "Prompt (tokens)",
        _context_claim,
        _context_verdict,
        ChartWords("Prompt (tokens)", _USD, {"usd": "with the most that fit"}),
        "Cost against prompt",
    ),
    "bits": StoryWords(
        "Fewer bits",
        "What halving the bits buys",
        "Format of the weights",
        _bits_claim,
        _bits_verdict,
        ChartWords("", "Tokens/s per user", {"one": "alone", "many": f"{MANY} at once"}, place=_format),
        "Speed by format",
        _format,
    ),
    "network": StoryWords(
        "Many devices",
        "Many devices for one layer",
        "Devices that share each layer",
        _network_claim,
        _network_verdict,
        ChartWords("Devices", "Tokens/s per user", {"user": "expected", "ideal": "without waiting"}),
        "Speed against devices",
    ),
    "millions": StoryWords(
        "700 million people",
        "What 700 million weekly users need",
        "People a week",
        _millions_claim,
        _millions_verdict,
        ChartWords("People a week", "Devices", {"devices": "devices"}),
        "Devices against people",
        _users,
    ),
}
