"""Money and fleets against figures that others have published: annuities, owning an H100, DeepSeek's day, 700 million users."""

from __future__ import annotations

import pytest
from scipy.stats import poisson

from roofline.formulas import capital, cost, fleet, manyserver, ownership, profit
from roofline.formulas.energy import energy_j_per_token, mean_power_w


@pytest.mark.parametrize(
    ("rate", "periods", "sum_usd", "payment_usd", "tolerance"),
    [
        (0.075 / 12, 12 * 15, 200_000.0, 1854.0247200054619, 1e-12),  # numpy-financial, documentation of pmt
        (0.05, 20, 20.0, 1.6, 4e-3),  # PyPSA, documentation of annuity: annuity(20, 0.05) * 20 = 1.6
        (0.08, 4, 1.0, 0.301921, 1e-6),  # tables of compound interest, capital recovery, 8 %, 4 years
        (0.0, 4, 30_000.0, 7_500.0, 1e-12),  # straight line
    ],
)
def test_annuities(rate: float, periods: float, sum_usd: float, payment_usd: float, tolerance: float) -> None:
    found = capital.payment_usd(purchase_usd=sum_usd, residual_frac=0.0, n_payments=periods, interest_frac=rate)
    assert float(found) == pytest.approx(payment_usd, rel=tolerance)


def test_present_values_are_those_of_a_spreadsheet() -> None:
    """numpy-financial, documentation of npv: five flows at 28.1 % are worth nothing."""
    flows = (-100.0, 39.0, 59.0, 55.0, 20.0)
    worth = sum(flow * float(ownership.present_frac(discount_frac=0.281, n_years=year)) for year, flow in enumerate(flows))
    assert worth == pytest.approx(-0.0084785916384548798, rel=1e-9)


def test_an_h100_over_four_years() -> None:
    """30,000 USD over four years of 8,766 hours: 0.856 USD an hour, and 1.499 at 60 % use with 700 W at 0.08 USD/kWh, PUE 1.3."""
    yearly = capital.payment_usd(purchase_usd=30_000.0, residual_frac=0.0, n_payments=4, interest_frac=0.0)
    hourly = float(yearly) / 8766
    electricity = ownership.electricity_usd_per_h(power_w=700.0, pue=1.3, electricity_usd_per_kwh=0.08)
    assert hourly == pytest.approx(0.8555784, rel=1e-6)
    assert hourly / 0.6 + electricity == pytest.approx(1.498764, rel=1e-6)


def test_the_day_of_deepseek() -> None:
    """226.75 nodes of eight H800 at 2 USD cost 87,072 USD; tokens at R1 prices would bring 562,027: 545 % over cost."""
    spent = 226.75 * 8 * 24 * 2.0
    assert spent == 87_072
    per_token = cost.rental_usd_per_token(
        n_devices=226.75 * 8, price_usd_per_h=2.0, tokens_per_s=168e9 / 86_400, utilisation_frac=1.0
    )
    assert float(per_token) * 168e9 == pytest.approx(87_072, rel=1e-12)
    earned = profit.revenue_usd(
        n_cached_tokens=342e9,
        n_missed_tokens=266e9,
        n_output_tokens=168e9,
        input_usd_per_token=0.55e-6,
        cached_usd_per_token=0.14e-6,
        output_usd_per_token=2.19e-6,
    )
    assert float(earned) == pytest.approx(562_027, rel=2e-4)
    assert round(profit.markup_ratio(revenue_usd=562_027, cost_usd=spent) * 100) == 545
    assert profit.markup_ratio(revenue_usd=float(earned), cost_usd=spent) == pytest.approx(5.45, abs=0.01)


def test_the_nodes_of_deepseek() -> None:
    """Token totals over the rates of a node (73.7k prefill with cache hits, 14.8k decode) give the 226.75 nodes reported."""
    busy = fleet.two_pool_devices(
        input_tokens_per_s=608e9 / 86_400,
        output_tokens_per_s=168e9 / 86_400,
        prefill_tokens_per_s=73_700.0,
        decode_tokens_per_s=14_800.0,
    )
    assert float(busy) == pytest.approx(226.75, rel=1e-3)


def test_700_million_users() -> None:
    """Twenty messages a week of 400 tokens: 9.26 million tokens/s; 16,685 GPUs at 1,850 tokens/s, twice the mean, 60 % used."""
    asked = fleet.demand_tokens_per_s(n_users=700e6, messages_per_day=20 / 7, n_tokens_per_message=400)
    assert asked == pytest.approx(9.259259e6, rel=1e-6)
    need = fleet.needed_devices(demand_tokens_per_s=9.26e6, peak_ratio=2.0, device_tokens_per_s=1850.0, utilisation_frac=0.6)
    assert fleet.whole_replicas(n_devices=need, n_devices_per_replica=1) == 16_685


def test_energy_of_a_token_on_an_h100() -> None:
    """700 W, PUE 1.3 and 1,850 tokens/s a GPU: 0.4919 J."""
    rated = mean_power_w(idle_power_w=70.0, busy_power_w=700.0, utilisation_frac=1.0)
    assert energy_j_per_token(n_devices=1, power_w=rated, pue=1.3, tokens_per_s=1850.0) == pytest.approx(0.4918919, rel=1e-6)


@pytest.mark.parametrize(("servers", "load"), [(110, 100.0), (1_050, 1_000.0), (20_200, 20_000.0)])
def test_a_large_pool_is_erlang_c(servers: int, load: float) -> None:
    """Against Erlang B from the Poisson distribution of another library."""
    blocked = poisson.pmf(servers, load) / poisson.cdf(servers, load)
    chance = servers * blocked / (servers - load * (1.0 - blocked))
    assert float(manyserver.pool_waiting_frac(n_servers=servers, offered_load=load)) == pytest.approx(chance, rel=0.05)
