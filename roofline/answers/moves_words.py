"""Moves in words: what each does, what it changes, and the one that helps most."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from roofline.answers.moves import Move, Moves, Outcome
from roofline.catalog.engines import engine_profiles
from roofline.catalog.formats import load_format
from roofline.catalog.hardware import load_hardware
from roofline.units import duration, significant

_SAME = 0.005
"""Smaller changes are none."""
_TIMES = 10.0
"""Larger ratios are told as a factor."""


def label(move: Move) -> str:
    """What a move does."""
    words = {
        "double_batch": "Double the batch to {value}",
        "halve_batch": "Halve the batch to {value}",
        "halve_weights": "Weights in {value}",
        "halve_cache": "Cache in {value}",
        "bigger_device": "Next bigger device: {value}",
        "double_devices": "Twice the devices: {value}",
        "halve_devices": "Half the devices: {value}",
        "engine": "Engine {value}",
        "free_plan": "Let the plan be chosen",
        "halve_prompt": "Half the prompt: {value} tokens",
    }
    return words[move.kind].format(value=_value(move))


def _value(move: Move) -> str:
    if move.kind == "bigger_device":
        return load_hardware(move.value).name
    if move.kind in ("halve_weights", "halve_cache"):
        return load_format(move.value).name.partition(",")[0]
    if move.kind == "engine":
        return next(profile.name for profile in engine_profiles() if profile.id == move.value)
    return f"{int(move.value):,}" if move.value.isdigit() else move.value


def effects(move: Move, now: Outcome) -> tuple[tuple[str, str], ...]:
    """Each number with its change; one line where it does not fit."""
    after = move.after
    if not after.fits:
        return (("does not fit", ""),)
    if not now.fits:
        return (
            ("it fits", ""),
            ("per user", f"{significant(after.tokens_per_s_per_user or 0.0)} tokens/s"),
            ("in total", f"{significant(after.output_tokens_per_s or 0.0)} tokens/s"),
            ("USD per million", _known(after.usd_per_million_output_tokens)),
            ("first token", duration(after.ttft_s or 0.0)),
        )
    return (
        ("in total", change(now.output_tokens_per_s, after.output_tokens_per_s)),
        ("per user", change(now.tokens_per_s_per_user, after.tokens_per_s_per_user)),
        ("USD per million", change(now.usd_per_million_output_tokens, after.usd_per_million_output_tokens)),
        ("first token", change(now.ttft_s, after.ttft_s)),
    )


def _known(value: float | None) -> str:
    return "n/a" if value is None else significant(value)


def change(now: float | None, after: float | None) -> str:
    """A change as people say it.

    >>> change(100, 162), change(100, 81), change(2, 50), change(3, 3.001), change(None, 3)
    ('+62%', '−19%', '25.0 times', 'same', 'n/a')
    """
    if now is None or after is None or now <= 0:
        return "n/a"
    ratio = after / now
    if abs(ratio - 1.0) < _SAME:
        return "same"
    if ratio >= _TIMES:
        return f"{significant(ratio)} times"
    return f"{'+' if ratio > 1 else '−'}{abs(ratio - 1.0):.0%}"


def sentence(found: Moves) -> str:
    """The one change that would help most, and the one that helps a single user most."""
    best, single = found.best, found.best_for_one
    if best is None:
        return "No single change tried here adds output."
    now, after = found.now, best.after
    if not now.fits:
        total = significant(after.output_tokens_per_s or 0.0)
        return f"The one change that helps most: {_lower(label(best))}. Then it fits, with {total} tokens/s in total."
    text = (
        f"The one change that helps most: {_lower(label(best))}. "
        f"Total output {change(now.output_tokens_per_s, after.output_tokens_per_s)} {_paid(found.now, best)}; "
        f"speed for one user {change(now.tokens_per_s_per_user, after.tokens_per_s_per_user)}."
    )
    if single is None or single is best:
        return text
    speed = change(now.tokens_per_s_per_user, single.after.tokens_per_s_per_user)
    return f"{text} For one user it is: {_lower(label(single))}, {speed} {_paid(found.now, single)}."


def _paid(now: Outcome, move: Move) -> str:
    price = change(now.usd_per_hour, move.after.usd_per_hour)
    if move.usd_per_hour_more is None:
        return "at a price that is not known"
    return "at the same price an hour" if price in ("same", "n/a") else f"at {price} USD an hour"


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
