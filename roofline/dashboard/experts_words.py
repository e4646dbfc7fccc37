"""What the page Dense and experts says: cards, sentences and tables, every number of them computed."""

from __future__ import annotations

import pandas as pd

from roofline.answers.experts import Mixture, Shared, Speed
from roofline.answers.report import Report
from roofline.dashboard.text import count_words, esc, gb, table
from roofline.figures.words import sig

UNLIKE = "Parts of this model lie in host memory or on unlike devices: speeds, which divide it evenly, are not compared here."
_PERCENT = 100.0


def cards(found: Mixture) -> str:
    """The four headline numbers."""
    counts, report = found.parameters, found.report
    return _row(
        _card("Parameters", count_words(counts.total), f"in {found.n_expert_layers:,} layers of experts and the rest"),
        _card(
            "Active per token",
            count_words(counts.active),
            f"{sig(counts.active / counts.total * _PERCENT)}% of all · {found.n_active} of {found.n_experts} experts a layer",
        ),
        _card(
            f"Experts touched at batch {report.batch:,}",
            f"{sig(found.touched)} of {found.n_experts}",
            f"{sig(found.tokens_per_touched)} tokens for each of them",
        ),
        _card(
            "Batch that saturates",
            sig(found.saturating_tokens),
            f"tokens that meet · {sig(found.filling_tokens)} would do for a dense model",
        ),
    )


def dense_cards(report: Report, parameters: float) -> str:
    """The same for a model without experts."""
    return _row(
        _card("Parameters", count_words(parameters), "every token uses all of them"),
        _card("Batch that saturates", sig(report.critical_batch_dense), "sequences that share one reading of the weights"),
    )


def _row(*items: str) -> str:
    return f'<div class="rf-cards rf-plain">{"".join(items)}</div>'


def _card(label: str, value: str, foot: str) -> str:
    number, _, unit = value.partition(" ")
    shown = f"{esc(number)} <small>{esc(unit)}</small>" if unit else esc(number)
    return (
        f'<section class="rf-card"><h2>{esc(label)}</h2><p class="rf-value">{shown}</p>'
        f'<p class="rf-band">{esc(foot)}</p></section>'
    )


def starving(found: Mixture) -> tuple[str, ...]:
    """Why small batches starve experts, and when they no longer do."""
    report = found.report
    met = f"{count(found.met)} token{'' if found.met == 1 else 's'}"
    plan = "all of them meet" if found.met >= report.batch else f"{met} of a step meet"
    share = sig(found.tokens_per_touched / found.filling_tokens * _PERCENT, 2)
    busy = found.tokens_per_touched >= found.filling_tokens
    verdict = (
        "this load is past it, and experts are busy" if busy else f"this load is at {share}% of it, and experts wait for memory"
    )
    return (
        f"At batch {report.batch:,}, {plan} in one set of experts under this plan. They touch {sig(found.touched)} of "
        f"{found.n_experts} experts in each layer, so that one expert, once read, works for {sig(found.tokens_per_touched)} "
        f"tokens; a dense layer would work for {met}.",
        f"Reading a matrix on {report.hardware_name} takes as long as using it for {sig(found.filling_tokens)} tokens "
        f"({report.formats.gemm_rate} arithmetic). Each expert gets that many once {sig(found.saturating_tokens)} tokens meet: "
        f"{verdict}.",
        f"For each token the step reads {sig(found.read_ratio)} times the weights that a dense model of the same active size "
        f"would. The gap is widest at {count(round(found.worst_tokens))} tokens, {sig(found.worst_ratio)} times: few tokens "
        "touch few experts, many tokens share them all.",
    )


def dense_sentence(report: Report, parameters: float) -> str:
    """What a dense model does with a batch."""
    does = "does" if report.batch >= report.critical_batch_system else "does not"
    return (
        f"{report.model_name} is dense: every token uses all of its {count_words(parameters)} parameters, so that every matrix, "
        f"once read, works for the whole batch. On {report.hardware_name} it takes {sig(report.critical_batch_dense)} sequences "
        f"that share one reading to fill the arithmetic, {sig(report.critical_batch_system)} over this system; "
        f"batch {report.batch:,} {does}."
    )


def count(value: float) -> str:
    """A count, whole where it is.

    >>> count(64.0), count(201.8718)
    ('64', '202')
    """
    return f"{value:,.0f}" if value == round(value) else sig(value)


def speed_table(found: Mixture) -> str:
    """Both models at a few batches."""
    rows = [(f"{s.batch:,}{_here(s, found)}", _rate(s.experts), _rate(s.same_active), _times(s)) for s in found.speeds]
    head = ("Batch", found.report.model_name, "Dense, same active size", "Ratio")
    return table(head, rows, caption="Expected tokens per second of both models by batch")


def curve_frame(found: Mixture) -> pd.DataFrame:
    """Both figures as a table."""
    return pd.DataFrame(
        {
            "tokens in a step": found.curve.tokens,
            "experts touched": found.curve.distinct,
            "tokens per touched expert": found.curve.tokens_per_touched,
            "weights read per token, bytes": found.reads.experts,
            "the same, dense of the same active size": found.reads.same_active,
            "the same, dense of the same total size": found.reads.same_total,
        }
    )


def _here(speed: Speed, found: Mixture) -> str:
    return ", this scenario" if speed.batch == found.report.batch else ""


def _rate(value: float | None) -> str:
    return "does not fit" if value is None else f"{sig(value)} tokens/s"


def _times(speed: Speed) -> str:
    return "" if speed.ratio is None else f"{sig(speed.ratio)} times"


def speed_sentence(found: Mixture) -> str:
    """What the table says about the scenario's own batch."""
    here = next(speed for speed in found.speeds if speed.batch == found.report.batch)
    size = f"{sig(found.parameters.total / found.parameters.active)} times the parameters of its dense counterpart"
    if here.ratio is None:
        who = "the mixture does" if here.experts is None and here.same_active is not None else "both do"
        return f"The mixture has {size}; at batch {here.batch:,} {who} not fit these devices."
    return (
        f"The mixture has {size} and gives {sig(here.ratio)} times its expected output at batch {here.batch:,}. "
        "What the parameters cost is memory and batch; what they buy is quality, which is not counted here."
    )


def shared_table(found: Mixture) -> str:
    """What sharing one set of experts does."""
    rows = [
        (
            f"{s.devices:,}",
            count(s.experts_each),
            count(s.tokens),
            sig(s.tokens_per_touched),
            gb(s.read_bytes),
            _per_device(s, found),
        )
        for s in found.shared
    ]
    head = (
        "Devices",
        "Experts on each",
        "Tokens that meet",
        "Tokens per touched expert",
        "Weights read by each",
        "Expected, per device",
    )
    return table(head, rows, caption="Expert parallelism: devices that share one set of experts")


def _per_device(item: Shared, found: Mixture) -> str:
    if item.devices > 1 and not found.can_share:
        return "not with this engine"
    return _rate(item.tokens_per_s_per_device)


def shared_sentence(found: Mixture) -> str:
    """What the table shows, in words."""
    first, last = found.shared[0], found.shared[-1]
    own = f"{count(found.per_device)} sequence{'' if found.per_device == 1 else 's'}"
    words = (
        f"Each device brings {own} of its own. Alone it would give a touched expert {sig(first.tokens_per_touched)} tokens; "
        f"{last.devices:,} devices that share one set give it {sig(last.tokens_per_touched)}, and each reads "
        f"{gb(last.read_bytes)} of weights a step instead of {gb(first.read_bytes)}. "
    )
    if not found.can_share:
        return words + "This engine gives whole layers to each device: choose the engine 'serving' to see shared experts at work."
    fitting = [s for s in found.shared if s.tokens_per_s_per_device is not None]
    if not fitting:
        return words + "The weights fit none of these groups."
    best = max(fitting, key=lambda s: s.tokens_per_s_per_device or 0.0)
    return (
        words + f"With the network counted, {best.devices:,} of those that fit give{'s' if best.devices == 1 else ''} most each."
    )
