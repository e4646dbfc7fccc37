"""What the page My machine asks beside the scenario: which of two questions, and when a model is comfortable to use."""

from __future__ import annotations

from roofline.catalog.boxes import box_devices, has_host_memory
from roofline.dashboard.fields import Values
from roofline.dashboard.pairs import number, one_of, pairs_view, yes_no
from roofline.specs.advice import COMFORTABLE_TOKENS_PER_S, MachineQuery, PurchaseQuery
from roofline.specs.scenario import Scenario

QUESTIONS = ("runs", "buy")
CONTEXTS = (0, *(2**k for k in range(12, 21)))
MOST = (1, 2, 4, 8, 16, 32)
USUAL: Values = {
    "ask": "runs",
    "speed": COMFORTABLE_TOKENS_PER_S,
    "context": 0,
    "host": False,
    "slow": False,
    "every": False,
    "most": 8,
    "new": False,
}


def can_offload(scenario: Scenario) -> bool:
    """Whether every device of the machine has a host with memory of its own."""
    return all(has_host_memory(device) for _, device in box_devices(scenario.hardware))


def machine_query(values: Values, scenario: Scenario) -> MachineQuery:
    """What the machine of the scenario can run."""
    return MachineQuery(
        machine=scenario,
        least_tokens_per_s=values["speed"] or 0.0,
        least_context_tokens=values["context"],
        offload=values["host"] and can_offload(scenario),
    )


def purchase_query(values: Values, scenario: Scenario) -> PurchaseQuery:
    """What to buy for the model of the scenario."""
    return PurchaseQuery(
        model=scenario.model,
        input_tokens=scenario.input_tokens,
        output_tokens=scenario.output_tokens,
        least_tokens_per_s=values["speed"] or 0.0,
        announced=values["new"],
        kv_cache=scenario.kv_cache,
        engine=scenario.engine,
        most_devices=values["most"],
    )


MACHINE_VIEW = pairs_view(
    "mine",
    USUAL,
    {
        "ask": one_of(QUESTIONS),
        "speed": number(0, 1e9),
        "context": one_of(CONTEXTS),
        "host": yes_no,
        "slow": yes_no,
        "every": yes_no,
        "most": one_of(MOST),
        "new": yes_no,
    },
)
