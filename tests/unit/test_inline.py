"""A configuration in a link: it comes back whole, and cannot grow without limit."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline import Scenario, evaluate, link
from roofline.adapters.inline import CONFIGURATION, pack, unpack
from roofline.errors import InputError, RooflineError

CONFIG = {
    "name": "My <b>model</b>",
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "rope_theta": 500000.0,
    "bos_token_id": 1,
}


def packed(text: bytes) -> str:
    return CONFIGURATION.prefix + base64.urlsafe_b64encode(zlib.compress(text)).decode().rstrip("=")


def test_a_model_of_ones_own_travels_in_the_link() -> None:
    scenario = Scenario(model=pack(CONFIG), hardware="h100-sxm", batch=1)
    query = link.to_query(scenario)
    assert len(query) < 400
    decoded = link.from_query(query)
    assert not decoded.problems
    assert decoded.scenario == scenario
    here, there = evaluate(scenario), evaluate(decoded.scenario)
    assert here == there
    assert here.model_name == "My <b>model</b>"
    # Llama-3.2-1B: 1,235,814,400 parameters, tied
    assert here.memory.weights_bytes_per_device == 2 * 1_235_814_400


def test_fields_without_structure_stay_out() -> None:
    assert unpack(pack(CONFIG)) == {k: v for k, v in CONFIG.items() if k not in ("rope_theta", "bos_token_id")}


@pytest.mark.parametrize(
    "ref",
    [
        CONFIGURATION.prefix,
        CONFIGURATION.prefix + "not base64 !",
        CONFIGURATION.prefix + "AAAA",
        packed(b"[1, 2]"),
        packed(b"{"),
        packed(b"\xff\xfe"),
        packed(b"[" * 100_000),
        packed(b" " * (CONFIGURATION.most_bytes + 1)),
        packed(b'{"a": 1}')[:-6],
        CONFIGURATION.prefix + "A" * 4000,
    ],
)
def test_a_damaged_configuration_is_told(ref: str) -> None:
    with pytest.raises(InputError):
        unpack(ref)
    decoded = link.decode({"model": ref, "n": "3"})
    assert decoded.scenario.model == link.DEFAULT.model
    assert decoded.problems


def test_a_bomb_does_not_go_off() -> None:
    with pytest.raises(InputError):
        unpack(packed(b"0" * 2_000_000))


def test_a_configuration_too_large_for_a_link_is_refused() -> None:
    noise = {f"field_{i}": zlib.crc32(str(i).encode()) for i in range(2000)}
    with pytest.raises(InputError, match="characters in a link"):
        pack({**CONFIG, **noise})


@given(st.dictionaries(st.text(max_size=20), st.integers() | st.text(max_size=30) | st.none() | st.booleans(), max_size=12))
def test_any_small_table_is_read_or_told(config: dict[str, object]) -> None:
    ref = packed(json.dumps(config).encode())
    with contextlib.suppress(RooflineError):
        assert evaluate(Scenario(model=ref, hardware="h100-sxm", batch=1)).memory.weights_bytes_per_device > 0
