"""A search in parts: every reason to lose, the sentences, bad input, links that reproduce a deployment, the budget."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from roofline import SearchQuery, evaluate, link, search
from roofline.catalog.hardware import hardware_ids, load_hardware
from roofline.cli import app
from roofline.errors import InputError, RooflineError

RUNNER = CliRunner()
BASE = {"model": "llama-3.3-70b", "hardware": ("h100-sxm", "l40s"), "most_devices": 16}


def ask(**wishes: object) -> SearchQuery:
    return SearchQuery(**{**BASE, **wishes})


@pytest.mark.parametrize(
    ("wishes", "cause", "words"),
    [
        ({"hardware": ("gaudi1",)}, "facts", "no published"),
        ({"hardware": ("rtx4090",), "most_devices": 1, "weights": ("stored",)}, "memory", "Does not fit on up to 1 of it"),
        ({"hardware": ("h100-sxm",), "tpot_s": 1e-4}, "tpot", "best reachable .* promised 100 µs"),
        ({"hardware": ("h100-sxm",), "ttft_s": 1e-4}, "ttft", "TTFT too long: best reachable"),
        ({"hardware": ("cerebras-cs3",)}, "price", "no price is known"),
        ({"hardware": ("h100-sxm", "l40s"), "top": 1}, "dearer", "times the cheapest"),
    ],
)
def test_every_loser_has_its_reason(wishes: dict[str, object], cause: str, words: str) -> None:
    found = search(ask(**wishes)).losers[0]
    assert found.cause == cause
    assert re.search(words, found.reason)


def test_a_device_may_keep_either_part_of_a_promise_and_not_both() -> None:
    """Deep pipelines start late and many tensor ways decode fast: between the two bests lies a promise that no plan keeps."""
    alone = search(ask(hardware=("h100-sxm",), weights=("stored",), tpot_s=1e-9)).losers[0]
    both = search(ask(hardware=("h100-sxm",), weights=("stored",), ttft_s=alone.best_ttft_s, tpot_s=alone.best_tpot_s))
    assert not both.winners
    assert both.losers[0].cause == "both"
    assert "No plan keeps both" in both.losers[0].reason


def test_a_broken_promise_names_what_binds_and_the_nearest_point() -> None:
    found = search(ask(ttft_s=1e-3, tpot_s=1e-4, request_rate=1.0))
    assert not found.winners
    assert found.nearest is not None
    assert "Nothing keeps the promise. Nearest:" in found.sentence
    assert f"prefill is bound by {found.nearest.bound['prefill']}" in found.sentence
    assert f"decode is bound by {found.nearest.bound['decode']}" in found.sentence


def test_no_price_and_no_room_are_said() -> None:
    assert "without one," in search(ask(hardware=("cerebras-cs3",))).sentence
    nothing = search(ask(hardware=("rtx4090",), most_devices=1, weights=("stored",)))
    assert nothing.sentence.startswith("Nothing fits")
    assert nothing.nearest is None


def test_hardware_without_a_price_is_on_the_throughput_frontier_alone() -> None:
    found = search(ask(hardware=("cerebras-cs3",)))
    assert not found.cost_frontier
    assert all(p.usd_per_million_output_tokens is None for p in found.throughput_frontier)
    assert found.throughput_frontier


def test_your_own_price_scales_the_bill() -> None:
    once, twice = (search(ask(usd_per_device_hour=usd, request_rate=2.0)).winners for usd in (1.0, 2.0))
    assert [2.0 * a.usd_per_hour for a in once] == pytest.approx([b.usd_per_hour for b in twice])
    assert once[0].usd_per_hour == once[0].devices


def test_without_traffic_full_replicas_are_compared_by_the_token() -> None:
    found = search(ask(tpot_s=0.05))
    usd = [item.usd_per_million_tokens for item in found.winners]
    assert usd == sorted(usd)
    assert {item.replicas for item in found.winners} == {1}
    assert "USD a million tokens" in found.sentence


def test_what_is_free_is_found_too() -> None:
    found = search(ask(usd_per_device_hour=0.0, request_rate=1.0, top=1))
    assert found.winners[0].usd_per_hour == 0.0
    assert found.losers[0].reason == "Keeps the promise at 0 USD an hour."


def test_points_of_a_frontier_evaluate_to_themselves_but_for_the_digits_of_their_rate() -> None:
    found = search(ask(tpot_s=0.05))
    for point in (*found.cost_frontier, *found.throughput_frontier):
        report = evaluate(point.scenario)
        assert report.batch <= point.batch
        assert report.batch == pytest.approx(point.batch, rel=2e-5, abs=1.0)
        assert report.expected.tokens_per_s_per_user == pytest.approx(point.tokens_per_s_per_user, rel=2e-5)
        assert report.cost.usd_per_million_output_tokens == pytest.approx(point.usd_per_million_output_tokens, rel=2e-5)


@pytest.mark.parametrize("load", [{}, {"request_rate": 10.0}, {"request_rate": 1 / 3}, {"concurrency": 300}])
def test_a_deployment_opens_with_a_rate_that_people_can_read_and_that_is_kept(load) -> None:
    found = search(ask(tpot_s=0.05, **load))
    for scenario in (item.scenario for item in (*found.winners, *found.cost_frontier, *found.throughput_frontier)):
        assert len(repr(scenario.request_rate).replace(".", "").strip("0")) <= 6
        assert evaluate(scenario).memory.fits
    for item in found.winners:
        assert item.scenario.request_rate * item.replicas <= item.requests_per_s * (1.0 + 1e-12)
        assert item.requests_per_s == pytest.approx(load.get("request_rate", item.requests_per_s))


@pytest.mark.parametrize("promise", [{}, {"tpot_s": 0.05}])
def test_what_a_deployment_keeps_up_with_agrees_with_its_report(promise) -> None:
    """Without a promise a replica is as full as it can be; with one, no fuller."""
    for item in search(ask(**promise)).winners:
        most = evaluate(item.scenario).sustained_requests_per_s
        if promise:
            assert item.most_requests_per_s <= most * (1.0 + 1e-9)
        else:
            assert item.most_requests_per_s == pytest.approx(most, rel=1e-9)


def test_every_winner_says_whether_it_is_rented_or_owned() -> None:
    def paid(price: str) -> set[str]:
        return {item.price_kind for item in search(ask(hardware=("h100-sxm", "rtx4090"), price=price)).winners}

    assert paid("rental") == {"rental"}
    assert paid("owned") == {"ownership"}


def test_a_slow_end_is_a_harder_promise() -> None:
    expected, slow = (search(ask(hardware=("h100-sxm",), tpot_s=0.03, request_rate=5.0, percentile=p)) for p in (50.0, 95.0))
    assert slow.winners[0].usd_per_hour >= expected.winners[0].usd_per_hour
    assert slow.winners[0].tpot_high_s <= 0.03
    assert "slow end" in slow.notes[0]
    assert search(ask(tpot_s=1e-4, percentile=95.0)).losers[0].reason.count("slow end of the band") == 1


def test_waiting_makes_a_promise_harder_and_is_told() -> None:
    wishes = {"hardware": ("h100-sxm",), "ttft_s": 1.5, "tpot_s": 0.03, "request_rate": 5.0}
    alone, waits = search(ask(**wishes)), search(ask(**wishes, percentile=80.0))
    best = waits.winners[0]
    assert best.usd_per_hour >= alone.winners[0].usd_per_hour
    assert best.ttft_s < best.held_ttft_s <= 1.5
    assert "80 of 100 arrivals" in waits.notes[0]
    report = evaluate(best.scenario)
    assert report.waiting.ttft_p50_s <= best.held_ttft_s <= report.waiting.ttft_p90_s


def test_prices_are_rentals_or_owned_by_choice() -> None:
    rented, own = (search(ask(tpot_s=0.05, request_rate=2.0, price=basis)) for basis in ("rental", "owned"))
    assert all("quotes" in item.price_basis for item in rented.winners)
    assert all(item.price_basis.startswith("owned") for item in own.winners)
    for item in own.winners:
        report = evaluate(link.from_query(link.to_query(item.scenario)).scenario)
        assert report.cost.usd_per_hour * item.replicas == pytest.approx(item.usd_per_hour)
    nobody = search(ask(hardware=("apple-m4max",), price="rental")).losers[0]
    assert (nobody.cause, "nobody is known to rent out" in nobody.reason) == ("price", True)


def test_an_executor_finds_the_same_and_progress_can_be_told() -> None:
    seen: list[int] = []

    def told(run, entries):
        for n, entry in enumerate(entries):
            seen.append(n)
            yield run(entry)

    query = ask(tpot_s=0.05, request_rate=2.0)
    with ThreadPoolExecutor(2) as pool:
        apart = search(query, pool.map)
    alone = search(query, told)
    assert apart.winners == alone.winners
    assert apart.cost_frontier == alone.cost_frontier
    assert len(seen) == alone.n_options


def test_a_link_of_a_winner_evaluates_to_it() -> None:
    for item in search(ask(tpot_s=0.05, concurrency=100)).winners:
        again = evaluate(link.from_query(link.to_query(item.scenario)).scenario)
        assert again.expected.tpot_s == item.tpot_s
        assert again.expected.ttft_s == item.ttft_s
        assert again.batch == item.batch


def test_tokens_per_second_per_user_is_tpot_turned_round() -> None:
    by_speed, by_time = search(ask(tokens_per_s_per_user=40.0)), search(ask(tpot_s=0.025))
    assert [w.scenario for w in by_speed.winners] == [w.scenario for w in by_time.winners]


def test_announced_parts_are_left_out_unless_asked_for() -> None:
    """With nothing but one device a replica and a small model, the whole catalogue is a quick search."""
    query = SearchQuery(model="llama-3.1-8b", most_devices=1, weights=("stored",), top=1)
    known = {load_hardware(name).id for name in hardware_ids()}
    found = search(query)
    assert {item.hardware for item in found.losers} | {found.winners[0].scenario.hardware} == known
    assert search(query.model_copy(update={"announced": True})).n_hardware == len(hardware_ids(announced=True))


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"hardware": ()}, "the list is empty"),
        ({"hardware": ("8xh100-sxm",)}, "write h100-sxm without one"),
        ({"ttft_s": 0.0}, "ttft_s must be at least 1e-09"),
        ({"request_rate": 1.0, "concurrency": 2}, "not both"),
        ({"tpot_s": 1.0, "tokens_per_s_per_user": 2.0}, "not both"),
        ({"percentile": 100.0}, "percentile"),
        ({"price": "owned", "usd_per_device_hour": 1.0}, "not both"),
        ({"price": "stolen"}, "market.*rental.*owned"),
        ({"most_devices": 0}, "most_devices must be at least 1"),
    ],
)
def test_bad_input_gets_a_sentence(wishes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ask(**wishes)


@pytest.mark.parametrize("wishes", [{"model": "lama"}, {"hardware": ("h1000",)}, {"weights": ("fp9",)}, {"kv_cache": "fp9"}])
def test_what_does_not_exist_is_refused(wishes: dict[str, object]) -> None:
    with pytest.raises(RooflineError, match="no "):
        search(ask(**wishes))


def command(*args: str) -> dict:
    result = RUNNER.invoke(app, [*args, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


SEARCH = ("search", "--model", "llama-3.3-70b", "--hardware", "h100-sxm,l40s", "--tpot", "0.03", "--request-rate", "2")


def test_the_command_line_gives_links_that_evaluate() -> None:
    answer = command(*SEARCH, "--weights", "fp8,stored")
    best = answer["winners"][0]
    assert evaluate(link.from_query(best["link"]).scenario).expected.tpot_s == best["tpot_s"]
    assert {"weights", "scenario", "usd_per_hour", "replicas"} <= best.keys()
    assert answer["cost_frontier"][0]["link"].startswith("?v=1")
    assert answer["examined"]["hardware"] == 2
    assert answer["nearest"] is None


def test_text_has_the_winner_and_the_reasons() -> None:
    shown = RUNNER.invoke(app, [*SEARCH, "--top", "1"]).stdout
    assert shown.startswith("Cheapest: ")
    assert "times the cheapest" in shown
    broken = RUNNER.invoke(app, [*SEARCH, "--ttft", "0.00001"]).stdout
    assert "miss the TTFT" in broken
    nothing = RUNNER.invoke(app, ["search", "--model", "llama-3.3-70b", "--hardware", "rtx4090", "--most-devices", "1"])
    assert "do not fit it" in nothing.stdout


def test_solve_answers_with_a_link() -> None:
    answer = command("solve", "batch", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--tpot", "0.02")
    assert answer["unit"] == "sequences"
    assert evaluate(link.from_query(answer["link"]).scenario).batch == answer["value"]
    text = RUNNER.invoke(app, ["solve", "devices", "--model", "llama-3.1-8b", "--hardware", "rtx4090", "--tpot", "1e-9"]).stdout
    assert text.startswith("TPOT too long")


def test_the_link_of_a_device_file_carries_the_device(tmp_path: pytest.TempPathFactory) -> None:
    device = load_hardware("l40s").model_dump(mode="json", exclude={"id", "prices"}, exclude_none=True)
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps({"accelerators": {"mine": device}}), encoding="utf-8")
    answer = command("solve", "batch", "--model", "llama-3.1-8b", "--hardware", str(file), "--tpot", "0.5")
    assert answer["value"] > 1
    assert "hw=device:" in answer["link"]


@pytest.mark.parametrize("model", ["deepseek-v3", "llama-3.3-70b", "gpt-oss-120b"])
def test_the_whole_catalogue_is_searched_in_seconds(model: str) -> None:
    """Five seconds on two free cores; counted in processor time, since tests share the machine."""
    start = time.process_time()
    found = search(SearchQuery(model=model, ttft_s=2.0, tpot_s=0.03, request_rate=10.0))
    assert time.process_time() - start < 5.0
    assert found.n_hardware >= 100
    assert found.winners
    assert found.cost_frontier
