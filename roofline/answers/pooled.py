"""The report of a system whose prefill and decode have devices of their own: money, plans and reasons of both pools."""

from __future__ import annotations

from dataclasses import replace

from roofline.answers.economics import cost, spread
from roofline.answers.energy import DeviceSeconds, Work
from roofline.answers.pools import Pools
from roofline.answers.report import Cost, Memory, Plan, Report, Times
from roofline.answers.resolve import Resolved
from roofline.performance.prefix import prompt_parts
from roofline.performance.sharding import Shard
from roofline.specs.scenario import Scenario
from roofline.units import significant


def plan_of(shard: Shard, why: str) -> Plan:
    """A plan as whole numbers."""
    return Plan(
        tensor_parallel=int(shard.tensor),
        pipeline_parallel=int(shard.pipeline),
        data_parallel=int(shard.data),
        expert_parallel=int(shard.expert),
        attention_data_parallel=bool(shard.attention_data),
        devices_used=int(shard.devices_used),
        why=why,
        context_parallel=int(shard.context),
    )


def decode_scenario(scenario: Scenario, split: Pools) -> Scenario:
    """What is asked of the devices that decode."""
    return scenario.model_copy(update={"devices": split.n_decode})


def with_pools(report: Report, scenario: Scenario, found: Resolved, split: Pools) -> Report:
    """The report of the devices that decode, made one of the whole system."""
    own, lines = _reasons(split, scenario.request_rate), report.reasons
    if not split.prefill.fits and split.decode.fits[0]:
        lines = tuple(line for line in lines if line != report.sentence)
        report = replace(report, sentence=own[0])
    return replace(
        report,
        scenario=scenario,
        plan=replace(report.plan, why=_decode_why(split, scenario)),
        prefill_plan=plan_of(split.prefill.shard, _prefill_why(split)),
        prefill_devices=split.prefill.n_devices,
        memory=_memory(report.memory, split),
        cost=pooled_cost(report, scenario, found, split),
        reasons=(*own, *lines),
    )


def _memory(memory: Memory, split: Pools) -> Memory:
    """Fewest devices of the whole system, where those that decode are too few."""
    if split.decode.fits[0]:
        return replace(memory, min_devices=None, fitting_weights=None)
    if memory.min_devices is None:
        return memory
    return replace(memory, min_devices=memory.min_devices + split.prefill.n_devices)


def _decode_why(split: Pools, scenario: Scenario) -> str:
    text = f"Decodes on {split.n_decode} of {scenario.devices} devices: {significant(split.decode_requests_per_s)} requests/s"
    plans = split.decode.n_candidates
    return f"{text}, most tokens of {plans} plans." if plans > 1 else f"{text}, under the only plan."


def _prefill_why(split: Pools) -> str:
    pool = split.prefill
    if not pool.fits:
        return f"No plan of {pool.n_devices} devices holds the weights and one prompt."
    share = "the split that serves most requests" if split.is_chosen else "as asked"
    rate = significant(split.prefill_requests_per_s)
    return (
        f"{pool.n_devices} devices prefill, {share}: up to {rate} requests/s, soonest first token of {pool.n_candidates} plans."
    )


def _reasons(split: Pools, request_rate: float | None) -> tuple[str, ...]:
    """Which pool sets the pace, and what stays idle."""
    pool = split.prefill
    lines = []
    if not pool.fits:
        lines.append(f"The {pool.n_devices} prefill devices do not hold the weights and one prompt: give them more.")
    elif split.decode_requests_per_s > 0.0 and request_rate is None:
        slower = "prefill" if split.prefill_requests_per_s < split.decode_requests_per_s else "decode"
        lines.append(f"The devices that {slower} set the pace; the others wait for part of the time.")
    idle = pool.n_devices - int(pool.shard.devices_used)
    if idle > 0:
        lines.append(f"{idle} of {pool.n_devices} prefill devices stay idle under their plan but are paid for.")
    return tuple(lines)


def pooled_cost(report: Report, scenario: Scenario, found: Resolved, split: Pools) -> Cost:
    """Input tokens pay for the devices that prefill, output tokens for those that decode, busy or waiting."""
    parts = prompt_parts(
        found.structure, split.prefill.shard, found.formats, found.machine, float(scenario.input_tokens), split.service
    )

    def taken(times: Times) -> DeviceSeconds:
        """Device time of tokens: every device of a pool, over what the whole system makes."""
        prefill_s = split.prefill.n_devices / (float(times.requests_per_s) * parts.computed_tokens)
        return spread(parts, prefill_s, split.n_decode / float(times.request_output_tokens_per_s))

    work = Work(
        prefill_load_frac=max(report.mfu["prefill"], report.mbu["prefill"]),
        decode_load_frac=max(report.mfu["decode"], report.mbu["decode"]),
    )
    return cost(scenario, found.accelerator, found.price, split.speeds, taken, work)
