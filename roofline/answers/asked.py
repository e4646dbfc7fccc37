"""What a scenario asks of a plan beyond its ways, in words."""

from __future__ import annotations

from roofline.answers.report import Assumption
from roofline.answers.resolve import Resolved
from roofline.language import tr
from roofline.specs.scenario import Scenario


def asked_assumptions(found: Resolved, scenario: Scenario) -> list[Assumption]:
    """A line for every such feature in use."""
    rows = []
    if scenario.context_parallel > 1:
        value = tr("{devices} devices share the positions of a sequence, evenly", devices=scenario.context_parallel)
        basis = tr("as asked; exchanges are not hidden in expected times")
        rows.append(Assumption(tr("context parallelism"), value, basis))
    if scenario.expert_skew > 1.0:
        value = tr("the fullest device has {skew:g} times the mean", skew=scenario.expert_skew)
        basis = tr("as asked; in expected times, where experts are spread over devices")
        rows.append(Assumption(tr("expert skew"), value, basis))
    if scenario.two_batch_overlap is None and found.engine.overlaps_batches and scenario.devices > 1:
        value = tr("halves of a batch hide each other's exchanges, in steps that it makes sooner")
        rows.append(Assumption(tr("two-batch overlap"), value, tr("as {engine} does", engine=found.engine.name)))
    if scenario.two_batch_overlap:
        value = tr("halves of a batch hide each other's exchanges; weights are read for each")
        rows.append(Assumption(tr("two-batch overlap"), value, tr("as asked; the limit hides the network anyway")))
    if scenario.prefill_devices is not None:
        value = tr("the cache of a prompt is sent once it is whole, over the links of the devices that hold it")
        rows.append(Assumption(tr("prefill apart"), value, tr("as asked; the limit sends it while it is made")))
    return rows
