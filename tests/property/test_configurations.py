"""A damaged configuration gives a model or one of our errors, never anything else."""

from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.adapters.configuration import model_from_configuration
from roofline.catalog.models import model_entries
from roofline.errors import RooflineError
from roofline.performance.counts import count_model

DATA = resources.files("roofline.catalog") / "data" / "models"
CONFIGURATIONS = [json.loads((DATA / entry.file).read_text(encoding="utf-8")) for entry in model_entries().values()]
NAMES = sorted({name for config in CONFIGURATIONS for name in [*config, *(config.get("text_config") or {})]})

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.sampled_from([10**6, 10**9, 10**40, "", "auto", "M*E-", "1,2", "full_attention", "mamba"])
    | st.floats(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)


@given(
    config=st.sampled_from(CONFIGURATIONS),
    removed=st.lists(st.sampled_from(NAMES), max_size=3),
    changed=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3),
    nested=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_damage_is_told(config: dict[str, Any], removed: list[str], changed: dict[str, Any], nested: bool) -> None:
    damaged = copy.deepcopy(config)
    inner = damaged["text_config"] if nested and isinstance(damaged.get("text_config"), dict) else damaged
    for name in removed:
        inner.pop(name, None)
    inner.update(changed)
    try:
        answer = count_model(model_from_configuration(damaged))
    except RooflineError:
        return
    assert 0 < answer["parameters"]["active"] <= answer["parameters"]["total"]


@given(VALUES)
def test_any_value_is_no_crash(value: Any) -> None:
    try:
        model_from_configuration(value)
    except RooflineError:
        return


def test_deep_nesting_is_no_crash() -> None:
    config: dict[str, Any] = {}
    for _ in range(3000):
        config = {"text_config": config}
    try:
        model_from_configuration(config)
    except RooflineError:
        return
