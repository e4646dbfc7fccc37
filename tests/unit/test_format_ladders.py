"""One ladder of formats for each engine, in its data; whatever offers a narrower format takes it from there."""

from __future__ import annotations

import pytest

from roofline import Scenario, evaluate
from roofline.answers.compare import variants
from roofline.answers.field_map import AXES
from roofline.answers.moves import moves
from roofline.answers.moves_words import sentence
from roofline.answers.replicas import weight_formats
from roofline.answers.resolve import resolve
from roofline.catalog.engines import engine_profiles
from roofline.catalog.formats import load_format
from roofline.dashboard.quick_moves import moves_data

GGUF = ("gguf", "gguf mix")
ENGINES = [profile for profile in engine_profiles() if not profile.is_ideal]
TIGHT = [
    ("llama-3.3-70b", "2xrtx3090", 128, "auto"),
    ("llama-3.1-405b", "5xh100-sxm", 8, "vllm"),
    ("llama-3.3-70b", "1xh100-sxm", 4, "tensorrt-llm"),
    ("llama-3.3-70b", "1xapple-m3max", 1, "mlx"),
    ("deepseek-v3", "8xh100-sxm", 64, "vllm"),
]


@pytest.mark.parametrize("profile", ENGINES, ids=lambda profile: profile.id)
def test_a_ladder_holds_weights_that_the_engine_reads(profile):
    """GGUF is read by llama.cpp and what shares its files; vLLM, TensorRT-LLM, Gaudi and JetStream take checkpoints."""
    families = {load_format(name).family for name in profile.weight_ladder}
    reads_gguf = (profile.kind in ("llama.cpp", "cpu") and profile.id != "mlx") or profile.id.startswith("ktransformers")
    assert families <= set(GGUF) if reads_gguf else families.isdisjoint(GGUF)
    assert all("weights" in load_format(name).roles for name in profile.weight_ladder)
    assert all("kv_cache" in load_format(name).roles for name in profile.cache_ladder)
    assert {profile.usual_weights, *profile.searched_weights} <= set(profile.weight_ladder)


@pytest.mark.parametrize(("model", "hardware", "batch", "engine"), TIGHT)
def test_what_is_offered_is_of_the_engines_ladder_and_fits(model, hardware, batch, engine):
    load = Scenario(model=model, hardware=hardware, batch=batch, engine=engine)
    found, memory = resolve(load), evaluate(load).memory
    assert not memory.fits
    ladder = found.engine.weight_ladder
    assert memory.fitting_weights is None or memory.fitting_pair is None
    if memory.fitting_weights is not None:
        assert memory.fitting_weights in ladder
        assert evaluate(load.model_copy(update={"weights": memory.fitting_weights})).memory.fits
    if memory.fitting_pair is not None:
        pair = memory.fitting_pair
        assert pair.weights in ladder
        assert pair.batch < batch
        assert evaluate(load.model_copy(update={"weights": pair.weights, "batch": pair.batch})).memory.fits
        assert not evaluate(load.model_copy(update={"weights": pair.weights, "batch": pair.batch + 1})).memory.fits
    if memory.fitting_weights is memory.fitting_pair is None and memory.max_batch < 1:
        least = [evaluate(load.model_copy(update={"weights": name, "batch": 1})).memory.fits for name in ladder]
        assert not any(least)


def test_weights_and_batch_are_offered_together_where_neither_alone_does():
    load = Scenario(model="llama-3.3-70b", hardware="rtx3090", devices=2, batch=128)
    report = evaluate(load)
    pair = report.memory.fitting_pair
    assert (report.memory.fitting_weights, pair.weights) == (None, "q4_k_m")
    assert f"q4_k_m weights with batch {pair.batch}" in report.sentence


@pytest.mark.parametrize(("hardware", "engine"), [("h100-sxm", "vllm"), ("rtx4090", "llama-cpp"), ("apple-m3max", "mlx")])
def test_moves_maps_variants_and_searches_take_the_same_ladder(hardware, engine):
    load = Scenario(model="llama-3.1-8b", hardware=hardware, engine=engine, batch=1)
    found = resolve(load)
    ladder = set(found.engine.weight_ladder)
    assert variants(load)["bits"].weights in ladder
    assert {move.value for move in moves(evaluate(load)).ranked if move.kind == "halve_weights"} <= ladder
    assert set(AXES["weights"](load.model_copy(update={"weights": "bf16"}))) - {"bf16"} == ladder
    assert set(weight_formats(found)[1:]) <= set(weight_formats(found, whole=True)[1:]) <= ladder


def test_where_no_single_change_makes_it_fit_there_are_no_cards_of_it():
    found = moves(evaluate(Scenario(model="deepseek-v3", hardware="rtx3090", batch=64)))
    assert not any(move.after.fits for move in found.ranked)
    assert sentence(found) == "No single change tried here makes it fit."
    assert moves_data(found)["quick"] == []
    assert len(moves_data(found)["more"]) == len(found.ranked)
