"""Every formula is fed quantities with the units its parameter names claim, and must return the unit its own name claims.

Counts, sizes and tokens are pure numbers. Formulas are found by looking, so a new one is covered as soon as it exists; a
name whose unit cannot be read fails.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator

import numpy as np
import pint
import pytest

import roofline.formulas

UNITS = {
    "flops": "FLOP", "flop": "FLOP",
    "bytes": "byte", "byte": "byte", "bits": "bit",
    "s": "second", "h": "hour", "day": "day", "years": "year", "year": "year",
    "w": "watt", "j": "joule", "kwh": "kilowatt_hour",
    "usd": "USD",
    "g": "gram",
}  # fmt: skip
PURE = {
    "tokens", "token", "experts", "expert", "pairs", "sequences", "sequence", "arrivals",
    "parameter", "parameters", "weight", "element", "layer", "step", "cycle", "cycles",
    "requests", "messages", "message", "devices", "device", "nodes", "replicas", "racks", "servers",
    "size", "rank", "load", "frac", "ratio", "speedup", "pue",
}  # fmt: skip

COUNTED_FROM_SHAPES = {
    # A product of sizes is a pure number: that it counts operations is not in its arguments.
    "operators.matmul_flops": "dimensionless",
    "operators.matmul_intensity_flops_per_byte": "1 / byte",
    "attention.attention_flops": "dimensionless",
    # The 2 is FLOP per parameter and token, so the ratio that is left over is in FLOP.
    "bounds.critical_batch_tokens": "FLOP",
    "attention.fused_attention_intensity_flops_per_byte": "1 / byte",
    "training.training_flops": "dimensionless",
    "training.training_flops_per_token": "dimensionless",
    "training.compute_optimal_parameters": "FLOP ** 0.5",
    # 16 bit is in the coefficient.
    "training.layer_activation_bytes": "dimensionless",
}


@pytest.fixture(scope="module")
def registry() -> pint.UnitRegistry:
    """Separate dimensions for work, data, time, power, money and mass; nothing else."""
    found = pint.UnitRegistry(None)
    for definition in (
        "FLOP = [work]", "byte = [data]", "bit = byte / 8",
        "second = [time]", "hour = 3600 * second", "day = 24 * hour", "year = 8766 * hour",
        "watt = [power]", "joule = watt * second", "kilowatt_hour = 1000 * watt * hour",
        "USD = [money]", "gram = [mass]",
    ):  # fmt: skip
        found.define(definition)
    return found


def formulas() -> Iterator[tuple[str, Callable[..., object]]]:
    for info in pkgutil.iter_modules(roofline.formulas.__path__):
        module = importlib.import_module(f"roofline.formulas.{info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{info.name}.{name}", function


FORMULAS = dict(formulas())


def unit(name: str) -> str:
    """Unit a name claims: what its last word, before and after ``_per_``, stands for."""
    if name.startswith("n_"):
        return "dimensionless"
    above, *below = name.split("_per_")
    parts = [_word(above.split("_")[-1], name), *(_word(part.split("_")[-1], name) for part in below)]
    return " / ".join(f"({part})" if part != "dimensionless" else "1" for part in parts)


def _word(word: str, name: str) -> str:
    assert word in UNITS or word in PURE, f"{name}: '{word}' is neither a unit nor a pure number"
    return UNITS.get(word, "dimensionless")


def arguments(function: Callable[..., object], registry: pint.UnitRegistry, scale: float | np.ndarray) -> dict[str, object]:
    found: dict[str, object] = {}
    for position, name in enumerate(inspect.signature(function).parameters):
        value = 0.25 * scale if name.endswith("_frac") else (3.0 + position) * scale
        dimension = registry.parse_units(unit(name))
        found[name] = value if dimension.dimensionless else registry.Quantity(value, dimension)
    return found


def test_formulas_are_found():
    assert len(FORMULAS) > 50
    assert set(COUNTED_FROM_SHAPES) <= set(FORMULAS)


@pytest.mark.parametrize("scale", [1.0, np.array([1.0, 2.0])], ids=["scalar", "array"])
@pytest.mark.parametrize("key", FORMULAS)
def test_result_has_the_unit_of_its_name(key, scale, registry):
    function = FORMULAS[key]
    expected = registry.parse_units(COUNTED_FROM_SHAPES.get(key) or unit(function.__name__))
    result = function(**arguments(function, registry, scale))
    found = registry.Quantity(result, "dimensionless") if not isinstance(result, registry.Quantity) else result
    assert found.dimensionality == expected.dimensionality, f"{key} returns {found.units}, its name says {expected}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("peak_flops_per_s", "FLOP / second"),
        ("weight_bytes_per_parameter", "byte"),
        ("balance_bytes_per_flop", "byte / FLOP"),
        ("tokens_per_s", "1 / second"),
        ("electricity_usd_per_kwh", "USD / kilowatt_hour"),
        ("n_active_experts", "dimensionless"),
    ],
)
def test_names_are_read(name, expected, registry):
    assert registry.parse_units(unit(name)).dimensionality == registry.parse_units(expected).dimensionality


@pytest.mark.parametrize("name", ["speed", "time_ms", "peak_tflops"])
def test_unknown_units_are_refused(name):
    with pytest.raises(AssertionError, match="neither"):
        unit(name)


def test_a_wrong_formula_is_caught(registry):
    wrong = registry.Quantity(1.0, "byte") / registry.Quantity(1.0, "FLOP / second")
    assert wrong.dimensionality != registry.parse_units(unit("traffic_s")).dimensionality
