"""Moves in words: what each does, what it changes, and the one that helps most."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from roofline.answers.moves import Kind, Move, Moves, Outcome
from roofline.catalog.engines import engine_profiles
from roofline.catalog.formats import load_format
from roofline.catalog.hardware import load_hardware
from roofline.language import later, localised, tr
from roofline.units import duration, significant

_LABELS: dict[Kind, str] = {
    "double_batch": later("Double the batch to {value}"),
    "halve_batch": later("Halve the batch to {value}"),
    "halve_weights": later("Weights in {value}"),
    "halve_cache": later("Cache in {value}"),
    "bigger_device": later("Next bigger device: {value}"),
    "double_devices": later("Twice the devices: {value}"),
    "halve_devices": later("Half the devices: {value}"),
    "engine": later("Engine {value}"),
    "free_plan": later("Let the plan be chosen"),
    "halve_prompt": later("Half the prompt: {value} tokens"),
}
_SAME = 0.005
"""Smaller changes are none."""
_TIMES = 10.0
"""Larger ratios are told as a factor."""


def label(move: Move) -> str:
    """What a move does."""
    return tr(_LABELS[move.kind], value=_value(move))


def _value(move: Move) -> str:
    if move.kind == "bigger_device":
        return load_hardware(move.value).name
    if move.kind in ("halve_weights", "halve_cache"):
        return load_format(move.value).name.partition(",")[0]
    if move.kind == "engine":
        return next(profile.name for profile in engine_profiles() if profile.id == move.value)
    return localised(f"{int(move.value):,}") if move.value.isdigit() else move.value


def effects(move: Move, now: Outcome) -> tuple[tuple[str, str], ...]:
    """Each number with its change; one line where it does not fit."""
    after = move.after
    if not after.fits:
        return ((tr("does not fit"), ""),)
    if not now.fits:
        return (
            (tr("it fits"), ""),
            (tr("per user"), tr("{rate} tokens/s", rate=significant(after.tokens_per_s_per_user or 0.0))),
            (tr("in total"), tr("{rate} tokens/s", rate=significant(after.output_tokens_per_s or 0.0))),
            (tr("USD per million"), _known(after.usd_per_million_output_tokens)),
            (tr("first token"), duration(after.ttft_s or 0.0)),
        )
    return (
        (tr("in total"), change(now.output_tokens_per_s, after.output_tokens_per_s)),
        (tr("per user"), change(now.tokens_per_s_per_user, after.tokens_per_s_per_user)),
        (tr("USD per million"), change(now.usd_per_million_output_tokens, after.usd_per_million_output_tokens)),
        (tr("first token"), change(now.ttft_s, after.ttft_s)),
    )


def _known(value: float | None) -> str:
    return "n/a" if value is None else significant(value)


def change(now: float | None, after: float | None) -> str:
    """A change as people say it.

    >>> change(100, 162), change(100, 81), change(2, 50), change(3, 3.001), change(None, 3)
    ('+62%', '−19%', '25.0 times', 'same', 'n/a')
    """
    ratio = _ratio(now, after)
    if ratio is None:
        return "n/a"
    if abs(ratio - 1.0) < _SAME:
        return tr("same")
    if ratio >= _TIMES:
        return tr("{n} times", n=significant(ratio))
    return f"{'+' if ratio > 1 else '−'}{abs(ratio - 1.0):.0%}"


def _ratio(now: float | None, after: float | None) -> float | None:
    return None if now is None or after is None or now <= 0 else after / now


def sentence(found: Moves) -> str:
    """The one change that would help most, and the one that helps a single user most."""
    best, single = found.best, found.best_for_one
    if best is None and not found.now.fits:
        return tr("No single change tried here makes it fit.")
    if best is None:
        return tr("No single change tried here adds output.")
    now, after = found.now, best.after
    if not now.fits:
        return tr(
            "The one change that helps most: {change}. Then it fits, with {rate} tokens/s in total.",
            change=_lower(label(best)),
            rate=significant(after.output_tokens_per_s or 0.0),
        )
    text = tr(
        "The one change that helps most: {change}. Total output {total} {price}; speed for one user {speed}.",
        change=_lower(label(best)),
        total=change(now.output_tokens_per_s, after.output_tokens_per_s),
        price=_paid(now, best),
        speed=change(now.tokens_per_s_per_user, after.tokens_per_s_per_user),
    )
    if single is None or single is best:
        return text
    for_one = tr(
        "For one user it is: {change}, {speed} {price}.",
        change=_lower(label(single)),
        speed=change(now.tokens_per_s_per_user, single.after.tokens_per_s_per_user),
        price=_paid(now, single),
    )
    return f"{text} {for_one}"


def _paid(now: Outcome, move: Move) -> str:
    if move.usd_per_hour_more is None:
        return tr("at a price that is not known")
    ratio = _ratio(now.usd_per_hour, move.after.usd_per_hour)
    if ratio is None or abs(ratio - 1.0) < _SAME:
        return tr("at the same price an hour")
    return tr("at {price} USD an hour", price=change(now.usd_per_hour, move.after.usd_per_hour))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def moves_json(found: Moves) -> dict[str, Any]:
    """Moves as JSON values, each with its place in the order and in words."""
    rows = [
        {
            "kind": move.kind,
            "label": label(move),
            "value": move.value,
            "after": asdict(move.after),
            "effects": effects(move, found.now),
            "gain_tokens_per_s": move.gain_tokens_per_s,
            "gain_for_one_tokens_per_s": move.gain_for_one_tokens_per_s,
            "usd_per_hour_more": move.usd_per_hour_more,
            "gain_tokens_per_usd": move.gain_tokens_per_usd,
        }
        for move in found.ranked
    ]
    return {
        "now": asdict(found.now),
        "best": None if found.best is None else found.best.kind,
        "best_for_one": None if found.best_for_one is None else found.best_for_one.kind,
        "sentence": sentence(found),
        "ranked": rows,
    }
