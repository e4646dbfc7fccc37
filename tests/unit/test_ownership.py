"""Owning, power and grids: the text form, sourced defaults, and one sentence for what cannot be."""

from __future__ import annotations

import pytest

from roofline import Scenario, evaluate
from roofline.answers.energy import devices_in_power
from roofline.catalog.grids import grids, load_grid
from roofline.catalog.hardware import load_hardware
from roofline.catalog.ownership import owned, systems
from roofline.errors import InputError, UnknownIdError
from roofline.specs.ownership import PARTS, Ownership


def ask(**given: object) -> Scenario:
    return Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=8, **given)


def test_the_text_form_is_read_and_written() -> None:
    text = "price=25000,life=4,residual=0.1,capital=0.08,power=700,pue=1.2,usd_per_kwh=0.1,hosting=150,staff=0.05,overhead=0.3"
    found = ask(ownership=text).ownership
    assert found == Ownership(
        price_usd=25000, life_years=4, residual_frac=0.1, capital_frac=0.08, power_w=700, pue=1.2, usd_per_kwh=0.1,
        hosting_usd_per_kw_month=150, staff_frac=0.05, overhead_frac=0.3,
    )  # fmt: skip
    assert ask(ownership=str(found)).ownership == found
    assert ask(ownership="on").ownership == Ownership()
    assert str(ask(ownership="power, pue=1.5").ownership) == "power,pue:1.5"
    assert set(PARTS.values()) | {"power_only"} == set(Ownership.model_fields)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("prize=3", "is no part"),
        ("price", "is no part"),
        ("", "is no part"),
        ("price=cheap", "a number"),
        ("price=nan", "finite"),
        ("life=0", "at least 0.1"),
        ("residual=2", "at most 1"),
        ("pue=0.5", "at least 1"),
        ("price=1,price=2", "twice"),
    ],
)
def test_what_cannot_be_owned_is_told(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        ask(ownership=text)


def test_one_price_at_a_time() -> None:
    with pytest.raises(InputError, match="not both"):
        ask(ownership="on", usd_per_device_hour=2)


def test_every_default_names_its_source() -> None:
    found = owned(Ownership(), load_hardware("h100-sxm"))
    parts = [value for name, value in vars(found).items() if name != "power_only"]
    assert all(part.source and part.low <= part.value <= part.high for part in parts)
    given = owned(Ownership(pue=1.1), load_hardware("h100-sxm"))
    assert (given.pue.value, given.pue.source, given.pue.low) == (1.1, "yours", 1.1)


@pytest.mark.parametrize("device", ["h100-sxm", "rtx4090", "apple-m3ultra", "epyc-9654", "b200-sxm", "mi300x"])
def test_owned_devices_have_a_price_with_its_parts(device: str) -> None:
    cost = evaluate(Scenario(model="qwen2.5-0.5b", hardware=device, batch=1, ownership="on")).cost
    assert cost.price_kind == "ownership"
    assert cost.usd_per_device_hour == pytest.approx(cost.usd_per_device_hour_parts.total_usd_per_h)
    power = evaluate(Scenario(model="qwen2.5-0.5b", hardware=device, batch=1, ownership="power")).cost
    assert power.usd_per_device_hour == pytest.approx(cost.usd_per_device_hour_parts.electricity_usd_per_h)


def test_the_server_of_an_h100_draws_what_the_system_says() -> None:
    """DGX H100: 10.2 kW for eight devices of 700 W, 575 W each for the rest."""
    found = owned(Ownership(), load_hardware("h100-sxm"))
    assert found.host_w.value == pytest.approx(575)
    assert systems()["h100-sxm"].n_devices == 8


def test_a_missing_price_or_power_is_said() -> None:
    cost = evaluate(Scenario(model="qwen2.5-0.5b", hardware="tpu-v6e", batch=1, ownership="on")).cost
    assert (cost.usd_per_device_hour, cost.joules_per_output_token) == (None, None)
    assert "price=25000" in cost.basis
    given = evaluate(Scenario(model="qwen2.5-0.5b", hardware="tpu-v6e", batch=1, ownership="price=5000,power=200")).cost
    assert given.usd_per_device_hour > 0
    assert given.joules_per_output_token > 0


def test_carbon_follows_the_grid() -> None:
    """Norway 30.1 and the United States 369.5 g/kWh in 2023 (codecarbon)."""
    clean, usual = (evaluate(ask(grid=grid)).cost for grid in ("nor", "United States"))
    assert usual.grams_co2e_per_million_tokens / clean.grams_co2e_per_million_tokens == pytest.approx(369.5 / 30.1)
    world = evaluate(ask()).cost
    assert world.energy.grid == "world"
    assert "no grid is chosen" in world.energy.basis


def test_grids_are_found_by_id_and_name() -> None:
    assert len(grids()) > 250
    assert load_grid("GCP:us-central1").carbon_g_per_kwh.value == 430
    with pytest.raises(UnknownIdError, match="nearest"):
        load_grid("Germania")


def test_electricity_of_the_grid_is_taken_where_owned() -> None:
    cheap, dear = (owned(Ownership(), load_hardware("h100-sxm"), grid).usd_per_kwh for grid in ("us-tx", "ita"))
    assert (cheap.value, dear.value) == (0.066, 0.3696)
    assert owned(Ownership(), load_hardware("rtx4090"), "deu").usd_per_kwh.value == 0.4169


def test_busier_devices_draw_more_but_cost_fewer_joules_a_token() -> None:
    few, many = (evaluate(Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=n)).cost.energy for n in (1, 64))
    assert few.joules_per_output_token > many.joules_per_output_token
    assert 0.12 * 700 + 575 < few.device_power_w < 700 + 575


def test_a_megawatt_carries_so_many_devices() -> None:
    """1 MW over PUE 1.3 and 1,275 W each: 603 H100."""
    assert devices_in_power(owned(Ownership(), load_hardware("h100-sxm")), 1e6) == 603
    assert devices_in_power(owned(Ownership(), load_hardware("tpu-v6e")), 1e6) is None


def test_rental_terms() -> None:
    on_demand, committed, spot = (evaluate(ask(rental=terms)).cost for terms in ("on-demand", "committed", "spot"))
    assert on_demand.usd_per_device_hour > committed.usd_per_device_hour > spot.usd_per_device_hour
    assert "2026" in committed.basis
    assert "Lambda" in committed.basis
    with pytest.raises(InputError, match="on-demand"):
        ask(rental="forever")
    assert "no spot rental" in evaluate(Scenario(model="qwen2.5-0.5b", hardware="apple-m2ultra", rental="spot")).cost.basis
