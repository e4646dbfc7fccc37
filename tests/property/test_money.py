"""Laws of money: what doubles, what adds up, what never falls."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link, sweep
from roofline.answers.api import against_api
from roofline.answers.curves import batch_curve
from roofline.answers.owning import multi_year
from roofline.answers.pricing import hourly_parts, outlay_usd
from roofline.answers.sensitivity import sensitivity
from roofline.catalog.hardware import load_hardware
from roofline.catalog.ownership import owned
from roofline.formulas.capital import payment_usd
from roofline.specs.ownership import PARTS, Ownership

BASE = Scenario(model="llama-3.3-70b", hardware="h200-sxm", devices=4, batch=32, input_tokens=2000, output_tokens=500)

ownerships = st.builds(
    Ownership,
    price_usd=st.floats(0, 1e6),
    overhead_frac=st.floats(0, 2),
    life_years=st.floats(0.5, 20),
    residual_frac=st.floats(0, 1),
    capital_frac=st.just(0.0) | st.floats(1e-6, 0.5),
    power_w=st.floats(1, 3000),
    host_w=st.floats(0, 3000),
    pue=st.floats(1, 2),
    usd_per_kwh=st.floats(0, 1),
    hosting_usd_per_kw_month=st.floats(0, 500),
    staff_frac=st.floats(0, 0.5),
)


def parts(ownership: Ownership):
    return hourly_parts(owned(ownership, load_hardware("h200-sxm")))


@given(ownerships)
def test_doubling_a_price_doubles_that_part(ownership: Ownership) -> None:
    before = parts(ownership)
    dearer = parts(ownership.model_copy(update={"price_usd": 2 * ownership.price_usd}))
    assert dearer.capital_usd_per_h == pytest.approx(2 * before.capital_usd_per_h)
    assert dearer.staff_usd_per_h == pytest.approx(2 * before.staff_usd_per_h)
    assert dearer.electricity_usd_per_h == before.electricity_usd_per_h
    current = parts(ownership.model_copy(update={"usd_per_kwh": 2 * ownership.usd_per_kwh}))
    assert current.electricity_usd_per_h == pytest.approx(2 * before.electricity_usd_per_h)
    assert current.capital_usd_per_h == before.capital_usd_per_h
    space = parts(ownership.model_copy(update={"hosting_usd_per_kw_month": 2 * ownership.hosting_usd_per_kw_month}))
    assert space.hosting_usd_per_h == pytest.approx(2 * before.hosting_usd_per_h)
    assert before.total_usd_per_h == pytest.approx(before.capital_usd_per_h + before.running_usd_per_h)


@given(ownerships)
def test_without_interest_capital_is_a_straight_line(ownership: Ownership) -> None:
    plain = ownership.model_copy(update={"capital_frac": 0.0})
    found = owned(plain, load_hardware("h200-sxm"))
    lost = outlay_usd(found) * (1 - plain.residual_frac)
    assert parts(plain).capital_usd_per_h == pytest.approx(lost / plain.life_years / 8766, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 100), st.floats(0.01, 1.0), st.none() | st.floats(0.05, 2))
def test_utilisation_moves_used_cost_and_leaves_reserved(price: float, utilisation: float, rate: float | None) -> None:
    load = {"request_rate": rate, "batch": None} if rate else {}
    full = evaluate(BASE.model_copy(update={"usd_per_device_hour": price, **load})).cost
    half = evaluate(BASE.model_copy(update={"usd_per_device_hour": price, "utilisation": utilisation / 2, **load})).cost
    twice = evaluate(BASE.model_copy(update={"usd_per_device_hour": 2 * price, **load})).cost
    for kind in ("input", "cached_input", "output"):
        name = f"usd_per_million_{kind}_tokens"
        assert getattr(half.used, name) == pytest.approx(getattr(full.used, name) * 2 / utilisation)
        assert getattr(half.reserved, name) == pytest.approx(getattr(full.reserved, name))
        assert getattr(twice.used, name) == pytest.approx(2 * getattr(full.used, name))
        assert getattr(half, name) == getattr(half.used, name)
    assert full.used == full.reserved
    assert full.used.usd_per_million_cached_input_tokens <= full.used.usd_per_million_input_tokens


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20_000), st.integers(1, 4_000), st.none() | st.floats(0.01, 1), st.just(0.0) | st.floats(0.01, 0.99))
def test_parts_of_a_request_add_up(prompt: int, output: int, rate: float | None, hit: float) -> None:
    load = {"request_rate": rate, "batch": None} if rate else {}
    scenario = BASE.model_copy(update={"input_tokens": prompt, "output_tokens": output, "prefix_hit": hit, **load})
    report = evaluate(scenario)
    if not report.memory.fits:
        return
    used = report.cost.used
    computed = max(1.0, prompt * (1.0 - hit))
    cached = prompt - computed
    read = computed * used.usd_per_million_input_tokens + cached * used.usd_per_million_cached_input_tokens
    whole = (read + output * used.usd_per_million_output_tokens) / 1e6
    assert used.usd_per_request == pytest.approx(whole)
    assert used.usd_per_million_tokens * (prompt + output) / 1e6 == pytest.approx(whole)
    if rate:
        assert used.usd_per_request * rate * 3600 == pytest.approx(report.cost.usd_per_hour)


@settings(deadline=None)
@given(ownerships, st.booleans(), st.sampled_from(["deu", "gcp:us-central1", None]))
def test_a_link_carries_ownership_and_grid(ownership: Ownership, power_only: bool, grid: str | None) -> None:
    rounded = {name: None if name == "life_years" else round(getattr(ownership, name), 6) for name in PARTS.values()}
    given_parts = Ownership.model_validate({**rounded, "power_w": 700, "power_only": power_only})
    scenario = BASE.model_copy(update={"ownership": given_parts, "grid": grid})
    decoded = link.from_query(link.to_query(scenario))
    assert not decoded.problems
    assert decoded.scenario == scenario


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["on-demand", "on"]), st.integers(1, 20_000), st.integers(1, 4_000), st.floats(0, 0.99), st.floats(1, 2000)
)
def test_break_even_solved_is_break_even_evaluated(basis: str, prompt: int, output: int, cached: float, charged: float) -> None:
    """At the utilisation, and at the price of a device, named as break-even, both sides cost the same."""
    priced = {"ownership": Ownership()} if basis == "on" else {}
    scenario = BASE.model_copy(update={"input_tokens": prompt, "output_tokens": output, "prefix_hit": cached, **priced})
    if not evaluate(scenario).memory.fits:
        return
    api = f"{charged / 100}/{charged / 400}/{charged / 25}"
    found = against_api(scenario, api)
    assert found.crosses is (found.own_reserved_usd_per_million_tokens <= found.api_usd_per_million_tokens)
    if found.crosses:
        there = against_api(scenario.model_copy(update={"utilisation": max(1e-6, found.break_even_utilisation)}), api)
        assert there.own_used_usd_per_million_tokens == pytest.approx(found.api_usd_per_million_tokens)
        daily = found.break_even_tokens_per_day * found.api_usd_per_million_tokens / 1e6
        assert daily == pytest.approx(24 * there.own_usd_per_hour)
    else:
        assert "never cross" in found.sentence
        assert (found.break_even_utilisation, found.break_even_tokens_per_day) == (None, None)
    pays = basis == "on" and found.own_used_usd_per_million_tokens <= found.api_usd_per_million_tokens
    assert (found.payback_months is not None) is pays
    assert found.payback_months is None or found.payback_months <= found.life_months
    paid = {"usd_per_device_hour": found.break_even_usd_per_device_hour, "ownership": None}
    assert against_api(scenario.model_copy(update=paid), api).break_even_utilisation == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(ownerships, st.integers(1, 12))
def test_years_of_cash_are_worth_the_hourly_price(ownership: Ownership, years: int) -> None:
    """Over a whole life the present value of all payments, as an annuity, is the price of an hour times the hours."""
    scenario = BASE.model_copy(update={"ownership": ownership.model_copy(update={"life_years": float(years)})})
    found = multi_year(scenario)
    annuity = payment_usd(
        purchase_usd=found.own_present_usd, residual_frac=0.0, n_payments=years, interest_frac=ownership.capital_frac
    )
    yearly = float(annuity)
    hourly = evaluate(scenario).cost.usd_per_hour
    assert yearly == pytest.approx(hourly * 8766, rel=1e-6, abs=1e-6)
    assert len(found.years) == years + 1
    assert found.years[-1].own_cumulative_usd == pytest.approx(sum(year.own_usd for year in found.years), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 200), st.floats(0.05, 1))
def test_every_swing_is_the_answer_asked_again(batch: int, use: float) -> None:
    scenario = BASE.model_copy(update={"batch": batch, "utilisation": use, "ownership": Ownership()})
    found = sensitivity(scenario)
    assert found.value == evaluate(scenario).cost.usd_per_million_output_tokens
    widths = [swing.width for swing in found.swings]
    assert widths == sorted(widths, reverse=True)
    by_name = {swing.name: swing for swing in found.swings}
    for name, field in (("electricity price", "usd_per_kwh"), ("life", "life_years"), ("purchase price", "price_usd")):
        swing = by_name[name]
        asked = scenario.model_copy(update={"ownership": Ownership(**{field: swing.high})})
        assert swing.at_high == pytest.approx(evaluate(asked).cost.usd_per_million_output_tokens)


LOADS = st.one_of(
    st.builds(lambda rate: {"request_rate": rate, "batch": None}, st.floats(0.001, 6)),
    st.builds(lambda batch: {"batch": batch}, st.integers(1, 256)),
    st.just({"batch": None}),
)
SYSTEMS = st.sampled_from(
    [
        {"model": "llama-3.3-70b", "hardware": "h200-sxm", "devices": 4},
        {"model": "qwen3-235b-a22b", "hardware": "mi325x", "devices": 8, "weights": "fp8"},
        {"model": "llama-3.3-70b", "hardware": "h100-sxm", "devices": 8, "pipeline_parallel": 8},
        {"model": "deepseek-v3", "hardware": "h200-sxm", "devices": 32, "prefill_devices": 16},
        {"model": "llama-3.1-8b", "hardware": "apple-m4max", "weights": "q4_k_m"},
    ]
)
PAID = st.sampled_from([{}, {"ownership": Ownership()}, {"ownership": Ownership(power_only=True)}, {"usd_per_device_hour": 2.0}])
LENGTHS = st.fixed_dictionaries({"input_tokens": st.integers(1, 20_000), "output_tokens": st.integers(2, 4_000)})
USE = st.sampled_from([1.0, 0.5, 0.1])


@settings(max_examples=120, deadline=None)
@given(SYSTEMS, LOADS, PAID, LENGTHS, USE)
def test_nothing_is_cheaper_than_the_limit(system: dict, load: dict, paid: dict, lengths: dict, use: float) -> None:
    cost = evaluate(Scenario(**system, **lengths, utilisation=use).model_copy(update={**load, **paid})).cost
    if cost.used is None:
        return
    ends = (cost.usd_per_million_output_tokens_at_limit, cost.usd_per_million_output_tokens_low)
    ends += (cost.usd_per_million_output_tokens, cost.usd_per_million_output_tokens_high)
    assert all(low <= high * (1 + 1e-9) for low, high in itertools.pairwise(ends))


@settings(max_examples=60, deadline=None)
@given(SYSTEMS, LOADS, LENGTHS, USE)
def test_electricity_is_the_energy_that_is_told(system: dict, load: dict, lengths: dict, use: float) -> None:
    """A machine that is there costs the joules of a token at work, and those of its idle hours; nothing else."""
    owner = Ownership(power_only=True)
    scenario = Scenario(**system, **lengths).model_copy(update={**load, "ownership": owner})
    device = load_hardware(system["hardware"])
    report, found = evaluate(scenario), owned(owner, device)
    if not report.memory.fits:
        return
    tariff = found.usd_per_kwh.value / 3.6e6
    busy = report.cost.energy.joules_per_output_token * tariff * 1e6
    assert report.cost.usd_per_million_output_tokens == pytest.approx(busy)
    idle_w = device.tdp.base * found.idle_frac.value + found.host_w.value
    waiting = busy * idle_w / report.cost.energy.device_power_w
    used = evaluate(scenario.model_copy(update={"utilisation": use})).cost.usd_per_million_output_tokens
    assert used == pytest.approx(busy + waiting * (1 / use - 1))


@settings(max_examples=30, deadline=None)
@given(SYSTEMS, LENGTHS, USE, st.lists(st.floats(0.001, 6), min_size=1, max_size=4), PAID)
def test_a_table_of_loads_costs_what_each_load_costs(
    system: dict, lengths: dict, use: float, rates: list[float], paid: dict
) -> None:
    if "prefill_devices" in system:
        return
    scenario = Scenario(**system, **lengths, utilisation=use).model_copy(update=paid)
    table = sweep(scenario, {"request_rate": rates})
    for rate, (_, row) in zip(rates, table.iterrows(), strict=True):
        cost = evaluate(scenario.model_copy(update={"request_rate": rate})).cost
        for label, end in (("expected", ""), ("limit", "_at_limit"), ("low", "_low"), ("high", "_high")):
            usd = getattr(cost, f"usd_per_million_output_tokens{end}")
            assert row[f"{label}_usd_per_million_output_tokens"] == pytest.approx(np.nan if usd is None else usd, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(SYSTEMS, st.integers(1, 64), PAID, USE)
def test_the_curve_of_costs_passes_through_the_answer(system: dict, batch: int, paid: dict, use: float) -> None:
    report = evaluate(Scenario(**system, batch=batch, utilisation=use).model_copy(update=paid))
    if not report.memory.fits or report.cost.used is None:
        return
    curve = batch_curve(report)
    at = int(np.flatnonzero(curve.batch == batch)[0])
    assert curve.usd_per_million_output_tokens[at] == pytest.approx(report.cost.usd_per_million_output_tokens)
    assert curve.usd_per_million_output_tokens_at_limit[at] == pytest.approx(report.cost.usd_per_million_output_tokens_at_limit)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 256), st.sampled_from(["pipeline_parallel", "data_parallel"]))
def test_devices_without_work_are_not_busy(devices: int, batch: int, way: str) -> None:
    """What all devices do is what one does of the same work, be it spread over them or left to a few."""
    ways = {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1, way: 2 ** (devices % 4)}
    scenario = Scenario(model="llama-3.1-8b", hardware="h100-sxm", devices=ways[way], batch=batch, **ways)
    report = evaluate(scenario)
    if not report.memory.fits:
        return
    made_per_s, context = float(report.expected.output_tokens_per_s), report.context_tokens
    flops = made_per_s * (2 * 7.5046e9 + 4 * 32 * 32 * 128 * context)  # of all tokens: matrices, and attention to the context
    assert report.mfu["decode"] == pytest.approx(flops / (report.scenario.devices * 989.4e12), rel=0.03)
    assert report.mbu["decode"] <= 1.0
