"""Dense and experts: the mixture's numbers against limiting cases, and its figures as data."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from roofline.answers.browse import nearest_models
from roofline.answers.evaluate import evaluate
from roofline.answers.experts import Mixture, dense_twin, mixture
from roofline.catalog.models import load_model
from roofline.figures.model_curves import Filling, experts_alt, experts_figure
from roofline.figures.read_curves import reads_alt, reads_figure
from roofline.figures.theme import Look
from roofline.performance.counts import parameter_counts
from roofline.specs.scenario import Scenario

LOOKS = [Look(mode, compact) for mode in ("light", "dark") for compact in (False, True)]
EXPERT_MODELS = ["deepseek-v3", "mixtral-8x7b", "gpt-oss-120b", "qwen3-235b-a22b", "llama-4-scout", "jamba-v0.1", "kimi-k3"]


def mixed(model: str = "deepseek-v3", hardware: str = "h100-sxm", devices: int = 16, batch: int = 128, **more) -> Mixture:
    found = mixture(evaluate(Scenario(model=model, hardware=hardware, devices=devices, batch=batch, **more)))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def deepseek() -> Mixture:
    return mixed(tensor_parallel=8, pipeline_parallel=2)


def test_a_dense_model_is_no_mixture() -> None:
    assert mixture(evaluate(Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=1))) is None


@pytest.mark.parametrize("ref", EXPERT_MODELS)
def test_the_dense_twins_have_the_active_and_the_total_size(ref) -> None:
    model = load_model(ref)
    counts = parameter_counts(model)
    router = counts.router
    assert parameter_counts(dense_twin(model)).total == counts.active - router
    assert parameter_counts(dense_twin(model, all_experts=True)).total == counts.total - router
    assert not dense_twin(model).routings


def test_one_token_reads_what_the_dense_twin_reads_and_many_read_everything(deepseek) -> None:
    reads = deepseek.reads
    # all but the router, which the twin has not
    assert reads.experts[0] == pytest.approx(reads.same_active[0], rel=0.01)
    assert reads.experts[-1] == pytest.approx(reads.same_total[-1], rel=0.01)
    assert (reads.experts >= reads.same_active).all()
    assert (reads.experts <= reads.same_total * 1.01).all()


def test_an_expert_needs_e_over_k_times_the_tokens_of_a_dense_layer(deepseek) -> None:
    # 8 of 256 experts: each gets a 32nd of the tokens
    assert deepseek.saturating_tokens / deepseek.filling_tokens == pytest.approx(32)


def test_the_tokens_that_meet_follow_the_plan() -> None:
    # two pipeline stages halve the step; expert parallelism over all data-parallel copies brings every sequence together
    assert mixed(tensor_parallel=8, pipeline_parallel=2).met == 64
    assert mixed(tensor_parallel=1, pipeline_parallel=1, expert_parallel=16).met == 128
    # 256 (1 - (1 - 8/256)^64)
    assert mixed(tensor_parallel=8, pipeline_parallel=2).touched == pytest.approx(222.4, abs=0.1)


def test_devices_that_share_pool_their_tokens(deepseek) -> None:
    assert [s.devices for s in deepseek.shared] == [1, 2, 4, 8, 16, 32, 64]
    for item in deepseek.shared:
        assert item.tokens == pytest.approx(deepseek.per_device * item.devices)
        assert item.experts_each * item.devices == 256
    each = [s.tokens_per_touched for s in deepseek.shared]
    read = [s.read_bytes for s in deepseek.shared]
    assert each == sorted(each)
    assert read == sorted(read, reverse=True)
    # 671 GB of weights do not fit eight 80 GB devices
    assert [s.tokens_per_s_per_device is None for s in deepseek.shared] == [True] * 4 + [False] * 3


def test_the_own_batch_is_the_report_s_own_answer(deepseek) -> None:
    here = next(s for s in deepseek.speeds if s.batch == 128)
    assert here.experts == pytest.approx(float(deepseek.report.expected.output_tokens_per_s))


def test_what_does_not_fit_has_no_speed() -> None:
    small = mixed(devices=1, batch=8)
    assert all(speed.experts is None and speed.ratio is None for speed in small.speeds)
    # 37 GB of active weights fit one device
    assert small.speeds[0].same_active is not None


def test_an_engine_that_gives_whole_layers_shares_no_experts() -> None:
    found = mixed("gpt-oss-120b", "apple-m4max", 1, 1)
    assert not found.can_share
    assert found.shared[0].tokens_per_s_per_device is not None
    assert all(s.tokens_per_s_per_device is None for s in found.shared[1:])


@pytest.mark.parametrize("ref", EXPERT_MODELS)
def test_every_kind_of_mixture_is_answered(ref) -> None:
    found = mixed(ref, "b200-sxm", 32, 256)
    assert found.worst_ratio >= 1
    assert found.met in found.curve.tokens
    go.Figure(reads_figure(found, Look()))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_every_property_is_one_that_plotly_knows(deepseek, look) -> None:
    go.Figure(reads_figure(deepseek, look))
    go.Figure(experts_figure(deepseek.curve, deepseek.met, look, Filling(deepseek.filling_tokens, deepseek.saturating_tokens)))


def test_figures_ring_the_scenario_and_say_it(deepseek) -> None:
    spec = reads_figure(deepseek, Look())
    rings = [t for t in spec["data"] if t["name"] == "chosen"]
    assert [ring["x"] for ring in rings] == [[deepseek.met], [deepseek.met]]
    assert rings[0]["y"][0] / rings[1]["y"][0] == pytest.approx(deepseek.read_ratio)
    assert "times as much as a dense model" in reads_alt(deepseek)
    assert f"{deepseek.met:,.0f} tokens, each with 8 of 256" in experts_alt(deepseek.curve, deepseek.met)
    load = experts_figure(deepseek.curve, deepseek.met, Look(), Filling(deepseek.filling_tokens, deepseek.saturating_tokens))
    assert "enough: 296" in [note["text"] for note in load["layout"]["annotations"]]


def test_neighbours_are_of_the_kind_and_size_asked_for() -> None:
    dense = nearest_models(37e9, "dense", 3)
    assert len(dense) == 3
    assert all(row.n_experts == 0 and 20e9 < row.active_parameters < 70e9 for row in dense)
    assert all(row.n_experts > 0 for row in nearest_models(8e9, "experts", 3))
