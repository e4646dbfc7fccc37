"""What a scenario asks of a plan beyond its ways, in words."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.answers.resolve import Resolved
from roofline.specs.scenario import Scenario


def asked_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """A line for every such feature in use."""
    rows = []
    if scenario.context_parallel > 1:
        value = f"{scenario.context_parallel} devices share the positions of a sequence, evenly"
        rows.append(Assumption("context parallelism", value, "as asked; exchanges are not hidden in expected times"))
    if scenario.expert_skew > 1.0:
        value = f"the fullest device has {scenario.expert_skew:g} times the mean"
        rows.append(Assumption("expert skew", value, "as asked; in expected times, where experts are spread over devices"))
    if scenario.two_batch_overlap is None and found.engine.overlaps_batches and scenario.devices > 1:
        value = "halves of a batch hide each other's exchanges, in steps that it makes sooner"
        rows.append(Assumption("two-batch overlap", value, f"as {found.engine.name} does"))
    if scenario.two_batch_overlap:
        value = "halves of a batch hide each other's exchanges; weights are read for each"
        rows.append(Assumption("two-batch overlap", value, "as asked; the limit hides the network anyway"))
    if scenario.prefill_devices is not None:
        value = "the cache of a prompt is sent once it is whole, over the links of the devices that hold it"
        rows.append(Assumption("prefill apart", value, "as asked; the limit sends it while it is made"))
    return rows
