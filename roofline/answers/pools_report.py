"""The report of a system whose prefill and decode have devices of their own: money, plans and reasons of both pools."""

from __future__ import annotations

from dataclasses import replace

from roofline.answers.economics import cost, spread
from roofline.answers.energy import DeviceSeconds, Work
from roofline.answers.pools import Pools
from roofline.answers.report import Cost, Memory, Plan, Report, Times
from roofline.answers.resolve import Resolved
from roofline.language import tr
from roofline.performance.prefix import compared_prefills, prompt_parts
from roofline.performance.sharding import Shard
from roofline.performance.steps import Setting
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
    """Fewest devices of the whole system, where those that decode are too few; no sequence without a prompt."""
    if not split.prefill.fits:
        memory = replace(memory, max_batch=0)
    if split.decode.fits[0]:
        return replace(memory, min_devices=None, fitting_weights=None, fitting_pair=None)
    if memory.min_devices is None:
        return memory
    return replace(memory, min_devices=memory.min_devices + split.prefill.n_devices)


def _decode_why(split: Pools, scenario: Scenario) -> str:
    if not _holds(split):
        return tr("Decodes on {n} of {devices} devices.", n=split.n_decode, devices=scenario.devices)
    rate, plans = significant(split.decode_requests_per_s), split.decode.n_candidates
    if plans > 1:
        return tr(
            "Decodes on {n} of {devices} devices: {rate} requests/s, most tokens of {plans} plans.",
            n=split.n_decode,
            devices=scenario.devices,
            rate=rate,
            plans=plans,
        )
    return tr(
        "Decodes on {n} of {devices} devices: {rate} requests/s, under the only plan.",
        n=split.n_decode,
        devices=scenario.devices,
        rate=rate,
    )


def _holds(split: Pools) -> bool:
    """Whether both pools hold their part: without one there is no rate of the other."""
    return split.prefill.fits and bool(split.decode.fits[0])


def _prefill_why(split: Pools) -> str:
    pool = split.prefill
    if not pool.fits:
        return tr("No plan of {n} devices holds the weights and one prompt.", n=pool.n_devices)
    if not _holds(split):
        return tr("{n} devices prefill.", n=pool.n_devices)
    return tr(
        "{n} devices prefill, {share}: up to {rate} requests/s, soonest first token of {plans} plans.",
        n=pool.n_devices,
        share=tr("the split that serves most requests") if split.is_chosen else tr("as asked"),
        rate=significant(split.prefill_requests_per_s),
        plans=pool.n_candidates,
    )


def _reasons(split: Pools, request_rate: float | None) -> tuple[str, ...]:
    """Which pool sets the pace, and what stays idle."""
    pool = split.prefill
    lines = []
    if not pool.fits:
        lines.append(tr("The {n} prefill devices do not hold the weights and one prompt: give them more.", n=pool.n_devices))
    elif split.decode_requests_per_s > 0.0 and request_rate is None:
        lines.append(
            tr("The devices that prefill set the pace; the others wait for part of the time.")
            if split.prefill_requests_per_s < split.decode_requests_per_s
            else tr("The devices that decode set the pace; the others wait for part of the time.")
        )
    idle = pool.n_devices - int(pool.shard.devices_used)
    if idle > 0:
        lines.append(
            tr("{idle} of {n} prefill devices stay idle under their plan but are paid for.", idle=idle, n=pool.n_devices)
        )
    return tuple(lines)


def pooled_cost(report: Report, scenario: Scenario, found: Resolved, split: Pools) -> Cost:
    """Input tokens pay for the devices that prefill, output tokens for those that decode, busy or waiting."""
    prompt = float(scenario.input_tokens)
    setting = Setting(found.structure, split.prefill.shard, found.formats, found.machine)
    compared = setting.steps(compared_prefills(found.structure, found.machine, prompt))
    parts = prompt_parts(prompt, split.service, compared)

    def taken(times: Times) -> DeviceSeconds:
        """Device time of tokens: every device of a pool, over what the whole system makes."""
        prefill_s = split.prefill.n_devices / (float(times.requests_per_s) * parts.computed_tokens)
        return spread(parts, prefill_s, split.n_decode / float(times.request_output_tokens_per_s))

    work = Work(
        prefill_load_frac=min(1.0, max(report.mfu["prefill"], report.mbu["prefill"])),
        decode_load_frac=min(1.0, max(report.mfu["decode"], report.mbu["decode"])),
    )
    return cost(scenario, found.accelerator, found.price, split.speeds, taken, work)
