"""What the page Dense and experts says: cards, sentences and tables, every number of them computed."""

from __future__ import annotations

import pandas as pd

from roofline.answers.experts import Mixture, Shared, Speed
from roofline.answers.report import Report
from roofline.dashboard.text import count_words, esc, gb, table
from roofline.figures.words import sig
from roofline.language import later, localised, tr

UNLIKE = later(
    "Parts of this model lie in host memory or on unlike devices: speeds, which divide it evenly, are not compared here."
)
_PERCENT = 100.0


def cards(found: Mixture) -> str:
    """The four headline numbers."""
    counts, report = found.parameters, found.report
    share = sig(counts.active / counts.total * _PERCENT)
    return _row(
        _card(
            tr("Parameters"),
            count_words(counts.total),
            tr("in {n:,} layers of experts and the rest", n=found.n_expert_layers),
        ),
        _card(
            tr("Active per token"),
            count_words(counts.active),
            tr("{share}% of all · {k} of {n} experts a layer", share=share, k=found.n_active, n=found.n_experts),
        ),
        _card(
            tr("Experts touched at batch {batch:,}", batch=report.batch),
            tr("{touched} of {n}", touched=sig(found.touched), n=found.n_experts),
            tr("{n} tokens for each of them", n=sig(found.tokens_per_touched)),
        ),
        _card(
            tr("Critical batch"),
            sig(found.saturating_tokens),
            tr("tokens that meet · {n} would do for a dense model", n=sig(found.filling_tokens)),
        ),
    )


def dense_cards(report: Report, parameters: float) -> str:
    """The same for a model without experts."""
    return _row(
        _card(tr("Parameters"), count_words(parameters), tr("every token uses all of them")),
        _card(
            tr("Critical batch"),
            sig(report.critical_batch_dense),
            tr("sequences that share one reading of the weights"),
        ),
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
    return f"{_meeting(found)} {_touching(found)}", f"{_filling(found)} {_verdict(found)}", _reading(found)


def _meeting(found: Mixture) -> str:
    """How many tokens of the step come together."""
    batch = found.report.batch
    if found.met >= batch:
        return tr("At batch {batch:,}, all of them meet in one set of experts under this plan.", batch=batch)
    return tr(
        "At batch {batch:,}, {tokens} of a step meet in one set of experts under this plan.",
        batch=batch,
        tokens=_tokens(found.met),
    )


def _touching(found: Mixture) -> str:
    return tr(
        "They touch {touched} of {n} experts in each layer, so that one expert, once read, works for {each} tokens; "
        "a dense layer would work for {tokens}.",
        touched=sig(found.touched),
        n=found.n_experts,
        each=sig(found.tokens_per_touched),
        tokens=_tokens(found.met),
    )


def _filling(found: Mixture) -> str:
    return tr(
        "Reading a matrix on {hardware} takes as long as using it for {n} tokens ({rate} arithmetic).",
        hardware=found.report.hardware_name,
        n=sig(found.filling_tokens),
        rate=found.report.formats.gemm_rate,
    )


def _verdict(found: Mixture) -> str:
    """Whether this load keeps experts busy."""
    saturating = sig(found.saturating_tokens)
    if found.tokens_per_touched >= found.filling_tokens:
        return tr(
            "Each expert gets that many once {n} tokens meet: this load is past it, and experts are busy.",
            n=saturating,
        )
    return tr(
        "Each expert gets that many once {n} tokens meet: this load is at {share}% of it, and experts wait for memory.",
        n=saturating,
        share=sig(found.tokens_per_touched / found.filling_tokens * _PERCENT, 2),
    )


def _reading(found: Mixture) -> str:
    return tr(
        "For each token the step reads {ratio} times the weights that a dense model of the same active size would. "
        "The gap is widest at {tokens} tokens, {worst} times: few tokens touch few experts, many tokens share them all.",
        ratio=sig(found.read_ratio),
        tokens=count(round(found.worst_tokens)),
        worst=sig(found.worst_ratio),
    )


def _tokens(n: float) -> str:
    return tr("1 token") if n == 1 else tr("{n} tokens", n=count(n))


def dense_sentence(report: Report, parameters: float) -> str:
    """What a dense model does with a batch."""
    dense = tr(
        "{model} is dense: every token uses all of its {parameters} parameters, so that every matrix, once read, "
        "works for the whole batch.",
        model=report.model_name,
        parameters=count_words(parameters),
    )
    numbers = {
        "hardware": report.hardware_name,
        "dense": sig(report.critical_batch_dense),
        "system": sig(report.critical_batch_system),
        "batch": report.batch,
    }
    if report.batch >= report.critical_batch_system:
        filled = tr(
            "On {hardware} the critical batch is {dense} sequences that share one reading, {system} over this system; "
            "batch {batch:,} is past it.",
            **numbers,
        )
    else:
        filled = tr(
            "On {hardware} the critical batch is {dense} sequences that share one reading, {system} over this system; "
            "batch {batch:,} is below it.",
            **numbers,
        )
    return f"{dense} {filled}"


def count(value: float) -> str:
    """A count, whole where it is.

    >>> count(64.0), count(201.8718)
    ('64', '202')
    """
    return localised(f"{value:,.0f}") if value == round(value) else sig(value)


def speed_table(found: Mixture) -> str:
    """Both models at a few batches."""
    rows = [(_batch(s, found), _rate(s.experts), _rate(s.same_active), _times(s)) for s in found.speeds]
    head = (tr("Batch"), found.report.model_name, tr("Dense, same active size"), tr("Ratio"))
    return table(head, rows, caption=tr("Expected tokens per second of both models by batch"))


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


def _batch(speed: Speed, found: Mixture) -> str:
    here = speed.batch == found.report.batch
    return tr("{batch:,}, this scenario", batch=speed.batch) if here else localised(f"{speed.batch:,}")


def _rate(value: float | None) -> str:
    return tr("does not fit") if value is None else tr("{rate} tokens/s", rate=sig(value))


def _times(speed: Speed) -> str:
    return "" if speed.ratio is None else tr("{ratio} times", ratio=sig(speed.ratio))


def speed_sentence(found: Mixture) -> str:
    """What the table says about the scenario's own batch."""
    here = next(speed for speed in found.speeds if speed.batch == found.report.batch)
    size = sig(found.parameters.total / found.parameters.active)
    if here.ratio is not None:
        return tr(
            "The mixture has {size} times the parameters of its dense counterpart and gives {ratio} times its expected output "
            "at batch {batch:,}. What the parameters cost is memory and batch; what they buy is quality, "
            "which is not counted here.",
            size=size,
            ratio=sig(here.ratio),
            batch=here.batch,
        )
    if here.experts is None and here.same_active is not None:
        return tr(
            "The mixture has {size} times the parameters of its dense counterpart; "
            "at batch {batch:,} the mixture does not fit these devices.",
            size=size,
            batch=here.batch,
        )
    return tr(
        "The mixture has {size} times the parameters of its dense counterpart; at batch {batch:,} both do not fit these devices.",
        size=size,
        batch=here.batch,
    )


def shared_table(found: Mixture) -> str:
    """What sharing one set of experts does."""
    rows = [
        (
            localised(f"{s.devices:,}"),
            count(s.experts_each),
            count(s.tokens),
            sig(s.tokens_per_touched),
            gb(s.read_bytes),
            _per_device(s, found),
        )
        for s in found.shared
    ]
    head = (
        tr("Devices"),
        tr("Experts on each"),
        tr("Tokens that meet"),
        tr("Tokens per touched expert"),
        tr("Weights read by each"),
        tr("Expected, per device"),
    )
    return table(head, rows, caption=tr("Expert parallelism: devices that share one set of experts"))


def _per_device(item: Shared, found: Mixture) -> str:
    if item.devices > 1 and not found.can_share:
        return tr("not with this engine")
    return _rate(item.tokens_per_s_per_device)


def shared_sentence(found: Mixture) -> str:
    """What the table shows, in words."""
    first, last = found.shared[0], found.shared[-1]
    brought = tr(
        "Each device brings {sequences} of its own.",
        sequences=tr("1 sequence") if found.per_device == 1 else tr("{n} sequences", n=count(found.per_device)),
    )
    given = tr(
        "Alone it would give a touched expert {alone} tokens; {devices:,} devices that share one set give it {shared}, "
        "and each reads {bytes} of weights a step instead of {bytes_alone}.",
        alone=sig(first.tokens_per_touched),
        devices=last.devices,
        shared=sig(last.tokens_per_touched),
        bytes=gb(last.read_bytes),
        bytes_alone=gb(first.read_bytes),
    )
    return f"{brought} {given} {_best(found)}"


def _best(found: Mixture) -> str:
    """How many devices give most, each."""
    if not found.can_share:
        return tr("This engine gives whole layers to each device: choose the engine 'serving' to see shared experts at work.")
    fitting = [s for s in found.shared if s.tokens_per_s_per_device is not None]
    if not fitting:
        return tr("The weights fit none of these groups.")
    best = max(fitting, key=lambda s: s.tokens_per_s_per_device or 0.0)
    if best.devices == 1:
        return tr("With the network counted, 1 of those that fit gives most each.")
    return tr("With the network counted, {devices:,} of those that fit give most each.", devices=best.devices)
