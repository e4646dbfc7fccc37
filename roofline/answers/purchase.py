"""What to buy for a model: every device in every sensible number, for one person who wants a speed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.answers.boxes import box_price
from roofline.answers.longest_context import longest_context_tokens
from roofline.answers.pricing import ownership_price
from roofline.answers.replicas import Option, load_fracs, option, planned
from roofline.answers.search import devices_of
from roofline.answers.speeds import band_end_s
from roofline.catalog.ownership import owned
from roofline.language import tr
from roofline.performance.serving import Service, service
from roofline.specs.advice import PurchaseQuery
from roofline.specs.hardware import Accelerator, Category
from roofline.specs.ownership import Ownership
from roofline.specs.scenario import Scenario
from roofline.units import significant

_BARE: tuple[Category, ...] = ("server CPU", "desktop CPU")
"""Devices whose price leaves out the memory that models lie in."""
_BY_COUNT_FASTER = 1.02
"""Another device is worth naming where one person gets faster by more than this."""


@dataclass(frozen=True)
class Offer:
    """Devices that hold the model in one format, for one person."""

    scenario: Scenario
    """Evaluated, it gives these numbers."""
    hardware: str
    hardware_name: str
    category: Category
    devices: int
    weights: str
    tokens_per_s: float
    tokens_per_s_low: float
    tokens_per_s_high: float
    ttft_s: float
    most_context_tokens: int
    """Prompt and answer that fit under this plan."""
    outlay_usd: float | None
    """To buy the devices with their share of a machine."""
    outlay_basis: str
    usd_per_h: float | None
    """To rent the devices, or to own them where nobody rents them out."""
    price_basis: str
    reaches: bool
    """Whether it is as fast as wished."""


@dataclass(frozen=True)
class PurchaseAdvice:
    """What to buy, cheapest first."""

    query: PurchaseQuery
    sentence: str
    best: tuple[Offer, ...]
    """Of each device the cheapest offer that reaches the speed; those without a purchase price last."""
    offers: tuple[Offer, ...]
    """All that fit: those that reach the speed first, cheapest first, then the others, fastest first."""
    n_hardware: int
    n_unfit: int
    """Devices that do not hold the model in any number allowed."""
    seconds: float


def purchase_advice(query: PurchaseQuery) -> PurchaseAdvice:
    """Devices and numbers of them that hold a model and how fast one person gets, cheapest that reaches the speed first.

    The plan of each number is the one with the shortest time per token; a number is named where it is the least that fits, or
    faster than all smaller ones. Weights as stored and, where the device can run them, narrower.

    Raises
    ------
    RooflineError
        Something that does not exist is named: one sentence says what would be right.
    """
    start, asked = time.perf_counter(), query.search()
    devices = devices_of(asked)
    offers: list[Offer] = []
    for device in devices:
        found = (option(asked, scenario, resolved) for scenario, resolved in device.formats)
        offers += [offer for item in found if item is not None for offer in _offers(query, item)]
    ranked = tuple(sorted(offers, key=_rank))
    best: dict[str, Offer] = {}
    for offer in ranked:
        if offer.reaches:
            best.setdefault(offer.hardware, offer)
    return PurchaseAdvice(
        query=query,
        sentence=_sentence(query, ranked, len(best)),
        best=tuple(best.values()),
        offers=ranked,
        n_hardware=len(devices),
        n_unfit=len(devices) - len({offer.hardware for offer in offers}),
        seconds=time.perf_counter() - start,
    )


def _rank(offer: Offer) -> tuple[bool, float, float, float]:
    if not offer.reaches:
        return True, -offer.tokens_per_s, 0.0, 0.0
    outlay, rent = (np.inf if usd is None else usd for usd in (offer.outlay_usd, offer.usd_per_h))
    return False, outlay, rent, -offer.tokens_per_s


def _offers(query: PurchaseQuery, item: Option) -> Iterator[Offer]:
    """One pass over every plan of a device and format."""
    found, prompt, output = item.found, float(query.input_tokens), float(query.output_tokens)
    times = service(found.structure, item.shard, found.formats, found.machine, 1.0, prompt, output)
    steps = np.broadcast_to(np.asarray(times.decode.expected_s), item.max_batch.shape)[:, 0]
    chosen = _chosen(steps, np.asarray(item.shard.devices_used)[:, 0])
    context = longest_context_tokens(found, item.plans(chosen), query.output_tokens)
    outlay, load = _outlay(found.accelerator), _load_frac(item, times, output)
    for index, most in zip(chosen, context, strict=True):
        yield _offer(query, item, times, int(index), int(most), outlay, float(load[index, 0]))


def _load_frac(item: Option, times: Service, output_tokens: float) -> NDArray[np.float64]:
    """Mean load of the devices under every plan, for one person whose requests follow each other."""
    read_s = np.asarray(times.expected_prompt_s) / item.shard.groups
    written_s = output_tokens / times.tokens_per_step * np.asarray(times.decode.expected_s)
    _, load = load_fracs(times, item.found, item.shard, np.ones_like(item.max_batch), read_s / (read_s + written_s))
    return np.broadcast_to(load, item.max_batch.shape)


def _chosen(step_s: NDArray[np.float64], devices: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of each number of devices the fastest plan, where that is faster than with fewer."""
    kept: list[int] = []
    for index in np.lexsort((step_s, devices)):
        if not kept or step_s[index] * _BY_COUNT_FASTER < step_s[kept[-1]]:
            if kept and devices[kept[-1]] == devices[index]:
                continue
            kept.append(int(index))
    return np.array(kept, dtype=np.int64)


def _offer(
    query: PurchaseQuery,
    item: Option,
    times: Service,
    index: int,
    most_context_tokens: int,
    outlay: tuple[float | None, str],
    load_frac: float,
) -> Offer:
    found, engine, decode = item.found, item.found.engine, times.decode

    def at(values: object) -> float:
        return float(np.broadcast_to(np.asarray(values), item.max_batch.shape)[index, 0])

    devices = int(at(item.shard.devices_used))
    expected, limit = at(decode.expected_s), at(decode.limit_s)
    low, high = (times.tokens_per_step / float(band_end_s(expected, limit, engine.decode_time_band[end])) for end in (1, 0))
    speed = times.tokens_per_step / expected
    price = box_price(item.scenario, found.accelerator, load_frac) if item.price.load_usd_per_h else item.price
    return Offer(
        scenario=planned(item.scenario, found, item.shard, index).model_copy(update={"devices": devices, "batch": 1}),
        hardware=found.accelerator.id,
        hardware_name=found.accelerator.name,
        category=found.accelerator.category,
        devices=devices,
        weights=found.formats.weights_label,
        tokens_per_s=speed,
        tokens_per_s_low=low,
        tokens_per_s_high=high,
        ttft_s=at(times.expected_ttft_s),
        most_context_tokens=most_context_tokens,
        outlay_usd=None if outlay[0] is None else devices * outlay[0],
        outlay_basis=outlay[1],
        usd_per_h=None if price.usd_per_h is None else devices * price.usd_per_h,
        price_basis=price.basis,
        reaches=speed >= query.least_tokens_per_s,
    )


def _outlay(accelerator: Accelerator) -> tuple[float | None, str]:
    """To buy one device with its share of a machine, and what that rests on."""
    if accelerator.category in _BARE:
        return None, tr("its price leaves out the memory that the model lies in")
    found = owned(Ownership(), accelerator)
    price = ownership_price(found)
    if price.outlay_usd is None or found.price_usd is None:
        return None, tr("no purchase price is known")
    told = {"usd": found.price_usd.value, "source": found.price_usd.source}
    if not found.overhead_frac.value:
        return price.outlay_usd, tr("{usd:,.0f} USD, {source}", **told)
    share = found.overhead_frac.value
    return price.outlay_usd, tr("{usd:,.0f} USD, {source} and {share:.0%} for its share of the machine", share=share, **told)


def _sentence(query: PurchaseQuery, ranked: tuple[Offer, ...], n_reaching: int) -> str:
    """What the advice comes to."""
    if not ranked:
        return tr("No device of the catalogue holds this model in up to {n} of it.", n=query.most_devices)
    best, wish = ranked[0], query.least_tokens_per_s
    machine = tr("{n} x {device} (weights {weights})", n=best.devices, device=best.hardware_name, weights=best.weights)
    told = {"wish": wish, "machine": machine, "speed": significant(best.tokens_per_s)}
    if not best.reaches:
        return tr(
            "Nothing reaches {wish:g} tokens/s with up to {n} devices; the fastest is {machine} at {speed} tokens/s.",
            n=query.most_devices,
            **told,
        )
    if best.outlay_usd is None:
        return tr(
            "{n} kinds of device reach {wish:g} tokens/s, none with a purchase price; {machine} gives {speed} tokens/s.",
            n=n_reaching,
            **told,
        )
    return tr(
        "{n} kinds of device reach {wish:g} tokens/s. Cheapest to buy: {machine}, {usd:,.0f} USD, {speed} tokens/s.",
        n=n_reaching,
        usd=best.outlay_usd,
        **told,
    )
