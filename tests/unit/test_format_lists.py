"""Lists of formats say the true bits first, and offer first what the engine reads."""

from __future__ import annotations

import pytest

from roofline import Scenario
from roofline.catalog.engines import engine_profiles
from roofline.catalog.formats import format_ids, load_format
from roofline.dashboard.choices import format_words, formats, usual_engine
from roofline.dashboard.fields import AUTO, FORMATS
from roofline.language import told_in

SHOWN_CHARACTERS = 34
"""That a list in the sidebar shows before it clips, at its narrowest."""


@pytest.mark.parametrize("role", FORMATS)
def test_bits_come_first_and_are_those_of_the_catalogue(role):
    for ref in formats(role)[1:]:
        words = format_words(ref, role)
        bits, unit, *_ = words.split()
        assert unit == "bit"
        assert float(bits) == pytest.approx(load_format(ref).bits_per_weight, abs=0.0501)
        assert ("." in bits) == (load_format(ref).bits_per_weight % 1 != 0)
        assert len(words) <= SHOWN_CHARACTERS, words


@pytest.mark.parametrize("role", FORMATS)
def test_names_in_a_list_differ(role):
    words = [format_words(ref, role) for ref in formats(role)]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("engine", engine_profiles(), ids=lambda profile: profile.id)
def test_a_list_begins_with_the_engines_ladder_and_goes_on_by_bits(engine):
    found = formats("weights", engine)
    n = 1 + len(engine.weight_ladder)
    assert found[:n] == (AUTO, *engine.weight_ladder)
    rest = [load_format(ref).bits_per_weight for ref in found[n:]]
    assert rest == sorted(rest, reverse=True)
    assert set(found[1:]) == {ref for ref in format_ids() if "weights" in load_format(ref).roles}
    assert [ref for ref in found if "usual" in format_words(ref, "weights", engine)] == [engine.usual_weights]


def test_four_bits_are_told_as_they_are():
    engine = usual_engine(Scenario(model="llama-3.1-8b", hardware="rtx4090"))
    assert format_words("q4_k_m", "weights", engine) == "4.9 bit · Q4_K_M, usual 4 bit"
    with told_in("id"):
        assert format_words("q4_k_m", "weights").startswith("4,9 bit")
