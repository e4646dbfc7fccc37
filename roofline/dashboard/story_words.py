"""The stories in words: every claim and verdict is made of computed numbers and follows the slider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roofline.answers.stories import Place, Told
from roofline.dashboard.choices import format_words, hardware_words
from roofline.dashboard.text import count_words, first_upper
from roofline.figures.story_plot import ChartWords
from roofline.figures.words import BOUND_WORDS, sig
from roofline.language import later, localised, tr
from roofline.specs.scenario import counted
from roofline.units import duration, memory_size, with_prefix


@dataclass(frozen=True)
class StoryWords:
    """What a story says; its words are to be translated where they are shown."""

    short: str
    title: str
    slider: str
    claim: Callable[[Told], str]
    verdict: Callable[[Told], str]
    chart: ChartWords | None = None
    figure_title: str = ""
    place: Callable[[Place], str] = lambda place: localised(f"{place:,}") if isinstance(place, int) else place


NO_STORY = later("No story is called that, or it has no such place: the first one is shown.")
OWN_SCENARIO = later("Stories ask questions of their own; the sidebar keeps yours.")


def _bound(names: Mapping[str, str], key: str) -> str:
    bounds: dict[str, str] = {str(bound): words for bound, words in BOUND_WORDS.items()}
    return tr(bounds[names[key]])


def _scale_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return tr(
        "{model} has {total} parameters and uses {active} of them for a token. A token needs little arithmetic, "
        "yet memory must hold everything: it is cheap only where many people share that memory.",
        model=names["model"],
        total=count_words(n["total"]),
        active=count_words(n["active"]),
    )


def _scale_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    values = {
        "batch": n["batch"],
        "there": f"{n['devices']:.0f} × {names['there']}",
        "usd_there": sig(n["usd_there"]),
        "home": names["home"],
        "usd_home": sig(n["usd_home"]),
    }
    if n["usd_there"] < n["usd_home"]:
        return tr(
            "With {batch:,.0f} people at once on {there}, a million output tokens costs {usd_there} USD; "
            "at home on one {home}, alone, {usd_home} USD: {ratio} times as much.",
            **values,
            ratio=sig(n["ratio"]),
        )
    return tr(
        "With only {batch:,.0f} at once, {there} is the dear one: {usd_there} USD for a million output tokens "
        "against {usd_home} at home on one {home}. From {from_batch:,.0f} at once it is the cheaper one.",
        **values,
        from_batch=n["from_batch"],
    )


def _batching_claim(told: Told) -> str:
    return tr(
        "One {hardware} writes {speed} tokens/s of {model} for one person, because every token reads all weights. "
        "Read for many at once, the same bytes serve all of them.",
        hardware=told.names["hardware"],
        speed=sig(told.numbers["total_alone"]),
        model=told.names["model"],
    )


def _too_many(told: Told) -> str:
    n = told.numbers
    return tr("{batch:,.0f} at once do not fit: memory ends at {most:,.0f}.", batch=n["batch"], most=n["max_batch"])


def _batching_verdict(told: Told) -> str:
    n = told.numbers
    if not n["fits"]:
        return _too_many(told)
    return tr(
        "With {batch:,.0f} at once it delivers {gain} times as much in total, each user keeps {kept:.0%} of the speed, "
        "and a million output tokens costs {usd} USD instead of {usd_alone}. "
        "The critical batch is about {critical:,.0f}; memory ends at {most:,.0f}.",
        batch=n["batch"],
        gain=sig(n["gain"]),
        kept=n["kept"],
        usd=sig(n["usd"]),
        usd_alone=sig(n["usd_alone"]),
        critical=n["critical"],
        most=n["max_batch"],
    )


def _phases_claim(told: Told) -> str:
    return tr(
        "Reading a prompt on a {hardware} is bound by {bound}: all its tokens share one reading of the weights, "
        "and {share:.0%} of the arithmetic is in use. Writing goes token by token.",
        hardware=told.names["hardware"],
        bound=_bound(told.names, "prefill_bound"),
        share=told.numbers["mfu_prefill"],
    )


def _phases_verdict(told: Told) -> str:
    n = told.numbers
    if not n["fits"]:
        return _too_many(told)
    return tr(
        "With {batch:,.0f} at once, writing is bound by {bound}: {bandwidth:.0%} of the bandwidth and {arithmetic:.1%} of the "
        "arithmetic are in use. The machine reads {read} tokens/s and writes {written}: "
        "an output token takes {ratio} times as long as one of the prompt.",
        batch=n["batch"],
        bound=_bound(told.names, "decode_bound"),
        bandwidth=n["mbu_decode"],
        arithmetic=n["mfu_decode"],
        read=sig(n["prefill"]),
        written=sig(n["decode"]),
        ratio=sig(n["ratio"]),
    )


def _home_claim(told: Told) -> str:
    n = told.numbers
    return tr(
        "At home, memory decides what runs and bandwidth how fast. {hardware}: {memory} in all, read at {bandwidth}. "
        "Models are taken in about 4 bits, for one person.",
        hardware=told.names["hardware"],
        memory=memory_size(n["usable_bytes"]),
        bandwidth=with_prefix(n["bandwidth"], "B/s"),
    )


def _home_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    return tr(
        "It holds {held:.0f} of these {all:.0f} models. The largest, {largest}, writes {speed} tokens/s, bound by {bound}; "
        "the fastest, {fastest}, {most}.",
        held=n["held"],
        all=n["of"],
        largest=names["largest"],
        speed=sig(n["largest"]),
        bound=_bound(names, "bound"),
        fastest=names["fastest"],
        most=sig(n["fastest"]),
    )


def _experts_claim(told: Told) -> str:
    n = told.numbers
    return tr(
        "A token of {model} visits {active:.0f} of {experts:.0f} experts in each layer. "
        "Different tokens choose different ones, so a few of them already wake many experts, each for very little work.",
        model=told.names["model"],
        active=n["active"],
        experts=n["experts"],
    )


def _experts_verdict(told: Told) -> str:
    n = told.numbers
    return tr(
        "A step of {batch:,.0f} tokens reads {touched} experts ({share:.0%}), and each of them works for {each} tokens. "
        "On a {hardware} the critical batch of a dense model is {dense:,.0f} tokens in a step, that of this one {critical:,.0f}.",
        batch=n["batch"],
        touched=sig(n["touched"]),
        share=n["touched_share"],
        each=sig(n["each"]),
        hardware=told.names["hardware"],
        dense=n["dense"],
        critical=n["critical"],
    )


def _context_claim(told: Told) -> str:
    n, names = told.numbers, told.names
    return tr(
        "Every token in a conversation leaves keys and values behind that must stay in memory and be read for each new token. "
        "With short prompts of {short:,.0f} tokens, one {hardware} serves {people:,.0f} people with {model}.",
        short=n["short"],
        hardware=names["hardware"],
        people=n["fit_short"],
        model=names["model"],
    )


def _context_verdict(told: Told) -> str:
    n = told.numbers
    if not n["fit"]:
        return tr("Not one conversation of {n:,.0f} tokens fits beside the weights.", n=n["tokens"])
    return tr(
        "A conversation with {n:,.0f} tokens of prompt keeps {size}, so {fit:,.0f} fit at once, the first token takes {wait}, "
        "and a million output tokens costs {usd} USD: {ratio} times as much as with short prompts.",
        n=n["tokens"],
        size=memory_size(n["cache_bytes"]),
        fit=n["fit"],
        wait=duration(n["ttft_s"]),
        usd=sig(n["usd"]),
        ratio=sig(n["ratio"]),
    )


def _bits_claim(told: Told) -> str:
    names = told.names
    return tr(
        "Decode of {model} on a {hardware} is mostly reading, so fewer bits are more speed. In {format} the weights take {size}.",
        model=names["model"],
        hardware=names["hardware"],
        format=_format(names["wide"]),
        size=memory_size(told.numbers["bytes_wide"]),
    )


def _bits_verdict(told: Told) -> str:
    n, names = told.numbers, told.names
    values = {"format": _format(names["format"]), "speed": sig(n["one"])}
    if names["format"] == names["wide"]:
        return tr("In {format} one person gets {speed} tokens/s: move the slider to fewer bits.", **values)
    return tr(
        "In {format} they take {size} instead of {wide}. One person gets {speed} tokens/s, {faster} times the speed; "
        "with {many:.0f} at once each gets only {faster_many} times, for arithmetic and cache do not shrink with the weights.",
        **values,
        size=memory_size(n["bytes"]),
        wide=memory_size(n["bytes_wide"]),
        faster=sig(n["faster_one"]),
        many=n["many"],
        faster_many=sig(n["faster_many"]),
    )


def _network_claim(told: Told) -> str:
    return tr(
        "Tensor parallelism cuts every layer of {model} over several {hardware}: each reads less, "
        "and all wait for one another twice a layer.",
        model=told.names["model"],
        hardware=told.names["hardware"],
    )


def _network_verdict(told: Told) -> str:
    n = told.numbers
    if n["ways"] == 1:
        return tr("On one device nobody waits: move the slider to more.")
    return tr(
        "{devices:.0f} devices give each user {speedup} times the speed of one, at {usd} times the cost of a token: "
        "{waiting:.0%} of a step is waiting and sending, {reading:.0%} is reading. Of these counts, {best:.0f} is the fastest.",
        devices=n["ways"],
        speedup=sig(n["speedup"]),
        usd=sig(n["usd_ratio"]),
        waiting=n["waiting"],
        reading=n["reading"],
        best=n["best"],
    )


def _millions_claim(told: Told) -> str:
    n = told.numbers
    return tr(
        "A chat service is sized by its busiest minutes. The more people share machines, the fuller these run: "
        "with {users:,.0f} people a week a device serves {each:,.0f} of them.",
        users=n["users_first"],
        each=n["users_per_device_first"],
    )


def _millions_verdict(told: Told) -> str:
    n = told.numbers
    return tr(
        "{users} people a week: {sentence} A device serves {each:,.0f} of them.",
        users=first_upper(count_words(n["users"])),
        sentence=told.names["sentence"],
        each=n["users_per_device"],
    )


def _machine(place: Place) -> str:
    count, hardware = counted(str(place))
    return f"{count} × {hardware_words(hardware)}" if count else hardware_words(hardware)


def _format(place: Place) -> str:
    return format_words(str(place), "weights")


def _users(place: Place) -> str:
    return count_words(float(place))


_AT_ONCE = later("Sequences decoding at once (batch)")
_USD = later("USD per million output tokens")
WORDS: dict[str, StoryWords] = {
    "scale": StoryWords(
        later("DeepSeek"),
        later("Why DeepSeek is cheap at scale and dear at home"),
        later("People at once in the data centre"),
        _scale_claim,
        _scale_verdict,
        ChartWords(_AT_ONCE, _USD, {"there": later("data centre"), "home": later("at home")}),
        later("Cost against people at once"),
    ),
    "batching": StoryWords(
        later("Batching"),
        later("Why batching is the whole trick"),
        later("Sequences at once"),
        _batching_claim,
        _batching_verdict,
        figure_title=later("Throughput and speed against batch"),
    ),
    "phases": StoryWords(
        later("Reading and writing"),
        later("Reading and writing are two different machines"),
        later("Sequences at once"),
        _phases_claim,
        _phases_verdict,
        figure_title=later("Roofline: ● decode, ◆ prefill"),
    ),
    "home": StoryWords(
        later("At home"),
        later("What a 3090, a Mac or an EPYC can run"),
        later("Machine"),
        _home_claim,
        _home_verdict,
        ChartWords("", later("Tokens/s for one person"), {"speed": later("tokens/s")}, absent=later("does not fit")),
        later("Speed for one person"),
        _machine,
    ),
    "experts": StoryWords(
        later("Experts"),
        later("Why small batches starve experts"),
        later("Tokens in a step"),
        _experts_claim,
        _experts_verdict,
        figure_title=later("Experts touched and tokens for each"),
    ),
    "context": StoryWords(
        later("Long context"),
        later("Why long context costs"),
        later("Prompt (tokens)"),
        _context_claim,
        _context_verdict,
        ChartWords(later("Prompt (tokens)"), _USD, {"usd": later("with the most that fit")}),
        later("Cost against prompt"),
    ),
    "bits": StoryWords(
        later("Fewer bits"),
        later("What halving the bits buys"),
        later("Format of the weights"),
        _bits_claim,
        _bits_verdict,
        ChartWords("", later("Tokens/s per user"), {"one": later("alone"), "many": later("32 at once")}, place=_format),
        later("Speed by format"),
        _format,
    ),
    "network": StoryWords(
        later("Many devices"),
        later("Many devices for one layer"),
        later("Devices that share each layer"),
        _network_claim,
        _network_verdict,
        ChartWords(later("Devices"), later("Tokens/s per user"), {"user": later("expected"), "ideal": later("without waiting")}),
        later("Speed against devices"),
    ),
    "millions": StoryWords(
        later("700 million people"),
        later("What 700 million weekly users need"),
        later("People a week"),
        _millions_claim,
        _millions_verdict,
        ChartWords(later("People a week"), later("Devices"), {"devices": later("devices")}),
        later("Devices against people"),
        _users,
    ),
}
