"""What a headline rests on, as far down as it goes: step, operators, bytes and work, structure, facts of the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from roofline.answers.report import Explanation, Input, OperatorRow, Phase, Report
from roofline.catalog.boxes import load_box
from roofline.catalog.formats import load_format
from roofline.catalog.hardware import sources
from roofline.catalog.models import load_model
from roofline.formulas.experts import distinct_experts
from roofline.specs.hardware import Accelerator, Fact, Price
from roofline.specs.model import Attend, ModelSpec, Tensor
from roofline.units import duration, memory_size, significant, with_prefix

_LEAST_SHARE = 0.001
"""Operators that take less of a step are summed up in its total only."""
_PHASE_TITLES: dict[Phase, str] = {"decode": "One decode step", "prefill": "One prefill step"}
_WAITING = ("time per layer, s", "time per step, s", "time per sequence and step, s", "latency of a collective, s")
_ROUTED = "experts/"
_ROOFLINE = "S. Williams, A. Waterman, D. Patterson, Roofline, Commun. ACM 52(4), 2009"


def step_grounds(report: Report, phase: Phase) -> Explanation:
    """A step as the sum of its operators and of what lies between them, each opened in turn."""
    rows = sorted((row for row in report.operators if row.phase == phase), key=lambda row: -row.expected_s)
    total = sum(share.seconds for share in report.shares[phase])
    between = max(0.0, total - sum(row.expected_s for row in rows))
    model, device = load_model(report.scenario.model), load_box(report.scenario.hardware)
    shown = [row for row in rows if row.expected_s >= _LEAST_SHARE * total]
    return Explanation(
        title=_PHASE_TITLES[phase],
        value=duration(total),
        equation="sum over operators + launches, gaps and scheduling",
        substituted=f"{duration(total - between)} in {len(rows)} operators + {duration(between)} between = {duration(total)}",
        inputs=tuple(Input(a.name, a.value, a.basis) for a in report.assumptions if a.name in _WAITING),
        citation="ledger of the step; constants of the engine profile",
        parts=tuple(_operator(report, row, model, device) for row in shown),
    )


def _operator(report: Report, row: OperatorRow, model: ModelSpec, device: Accelerator) -> Explanation:
    """One operator against the roofline."""
    if row.network_bytes > 0:
        return _exchange(row, device)
    parts = [_weights(report, row, model)] if row.weight_bytes > 0 else []
    parts += [_cache(report, row, model)] if row.cache_bytes > 0 else []
    parts += [_work(report, row, model)] if row.flops > 0 else []
    parts += [*_rate_facts(report, row, device)]
    return Explanation(
        title=row.name.replace("/", ": ").replace("_", " "),
        value=duration(row.expected_s),
        equation="at least max(work / peak, bytes / bandwidth); expected adds the shares that an engine reaches of both",
        substituted=(
            f"max({duration(row.compute_limit_s)}, {duration(row.memory_limit_s)}) = {duration(row.limit_s)} at the limit, "
            f"bound by {row.bound}; {duration(row.expected_s)} expected"
        ),
        inputs=(
            Input("layers", f"{row.count:g}", "model structure"),
            Input("work on one device", with_prefix(row.flops, "FLOP"), "opened below"),
            Input("read on one device", with_prefix(row.bytes, "B"), "opened below"),
        ),
        citation=_ROOFLINE,
        parts=tuple(parts),
    )


def _exchange(row: OperatorRow, device: Accelerator) -> Explanation:
    links = tuple(fact_grounds(f"{link.kind} link, {link.name}", link.bandwidth) for link in device.links)
    return Explanation(
        title=row.name.replace("/", ": ").replace("_", " "),
        value=duration(row.expected_s),
        equation="bytes sent / link bandwidth, and a latency for each collective",
        substituted=f"{with_prefix(row.network_bytes, 'B')} sent by one device: {duration(row.limit_s)} at the limit, "
        f"{duration(row.expected_s)} expected",
        inputs=(Input("collectives in a step", f"{row.count:g}", "plan"),),
        citation="R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
        parts=links,
    )


def _tensors(model: ModelSpec, operator: str) -> Iterator[tuple[int, Tensor]]:
    """Every tensor of an operator, with the number of layers that have it."""
    for group in model.groups:
        for block in group.blocks:
            yield from ((group.n_layers, tensor) for tensor in block.tensors if tensor.operator == operator)
    yield from ((1, tensor) for tensor in model.ends if tensor.operator == operator)


def _weights(report: Report, row: OperatorRow, model: ModelSpec) -> Explanation:
    """Bytes of weights that one device reads for an operator in one step."""
    tensors = tuple(_tensors(model, row.name))
    numbers = sum(layers * tensor.n_parameters for layers, tensor in tensors)
    each = f"{significant(row.weight_bytes / numbers)} B" if numbers else "n/a"
    rows = tuple(
        Input(tensor.module, f"{_shape(tensor)}, in {layers} layers" if layers > 1 else _shape(tensor), model.source)
        for layers, tensor in tensors
    )
    return Explanation(
        title="Weights read",
        value=with_prefix(row.weight_bytes, "B"),
        equation="numbers x bytes read for each: bits / 8, over the devices that share them, times the share of experts touched",
        substituted=f"{with_prefix(numbers, '').strip()} numbers x {each} = {with_prefix(row.weight_bytes, 'B')}",
        inputs=(*rows, _format_input(report), *_sharing(report, row, model)),
        citation=f"shapes: {model.source or 'the file given'}",
    )


def _shape(tensor: Tensor) -> str:
    copies = f"{tensor.n_copies} x " if tensor.n_copies > 1 else ""
    return f"{copies}{tensor.n_out:,} x {tensor.n_in:,}" if tensor.n_in > 1 else f"{copies}{tensor.n_out:,}"


def _format_input(report: Report) -> Input:
    if report.formats.weights_id is None:
        return Input("weight format", report.formats.weights, "as the file says, tensor by tensor")
    found = load_format(report.formats.weights_id)
    return Input("weight format", f"{found.name}: {found.bits_per_weight:.4g} bits", "layout of the format, scales included")


def _sharing(report: Report, row: OperatorRow, model: ModelSpec) -> Iterator[Input]:
    plan = report.plan
    yield Input(
        "tensor x pipeline x data ways", f"{plan.tensor_parallel} x {plan.pipeline_parallel} x {plan.data_parallel}", plan.why
    )
    if row.name.startswith(_ROUTED) and model.routings:
        routing = model.routings[0]
        tokens = report.batch if row.phase == "decode" else report.scenario.input_tokens
        touched = distinct_experts(n_experts=routing.n_experts, n_active_experts=routing.n_active, n_tokens=float(tokens))
        value = (
            f"{significant(float(touched))} of {routing.n_experts}, each token {routing.n_active}, for {tokens:,} tokens at once"
        )
        yield Input("experts touched in a layer", value, "E (1 - (1 - k/E)^B), uniform routing")


def _attends(model: ModelSpec, operator: str) -> Iterator[tuple[int, Attend]]:
    kind = operator.rpartition("/")[2]
    for group in model.groups:
        for block in group.blocks:
            yield from ((group.n_layers, attend) for attend in block.attends if attend.kind == kind)


def _cache(report: Report, row: OperatorRow, model: ModelSpec) -> Explanation:
    """Bytes of cache that one device reads for an operator in one step."""
    found = load_format(report.formats.kv_cache)
    rows = tuple(
        Input(f"kept per token in each of {layers} layers", f"{attend.cache_elements:,} numbers", model.source)
        for layers, attend in _attends(model, row.name)
    )
    return Explanation(
        title="Cache read",
        value=with_prefix(row.cache_bytes, "B"),
        equation="sequences x context x numbers per token x bits / 8, over the devices that share them",
        substituted=f"{with_prefix(row.cache_bytes, 'B')} on one device",
        inputs=(
            Input("sequences at once, whole system", f"{report.batch:,}", "yours" if report.scenario.batch else "computed"),
            Input("mean context", f"{report.context_tokens:,.0f} tokens", "prompt plus half the output"),
            *rows,
            Input("cache format", f"{found.name}: {found.bits_per_weight:.4g} bits", "layout of the format"),
        ),
        citation=f"structure: {model.source or 'the file given'}",
    )


def _work(report: Report, row: OperatorRow, model: ModelSpec) -> Explanation:
    """Arithmetic of an operator on one device."""
    attends = tuple(_attends(model, row.name))
    heads = (
        Input("heads, key and value size", f"{a.n_heads} x ({a.key_size} + {a.value_size}), in {layers} layers", model.source)
        for layers, a in attends
    )
    tokens = f"{report.batch:,}" if row.phase == "decode" else f"{report.scenario.input_tokens:,}"
    return Explanation(
        title="Work",
        value=with_prefix(row.flops, "FLOP"),
        equation="2 x heads x (key size + value size) x keys visited, for every token"
        if attends
        else "2 x numbers that a token is multiplied by, for every token",
        substituted=f"{with_prefix(row.flops, 'FLOP')} on one device",
        inputs=(Input("tokens in the step, whole system", tokens, "a multiply and an add count as two"), *heads),
        citation="J. Austin et al., How to Scale Your Model, part 4, 2025",
    )


def _rate_facts(report: Report, row: OperatorRow, device: Accelerator) -> Iterator[Explanation]:
    """The two ceilings an operator is held against."""
    dtype = report.formats.attention_rate if row.weight_bytes == 0 else report.formats.gemm_rate
    peak = next((fact for name, fact in device.peaks.items() if name == dtype), None)
    if peak is not None and row.flops > 0:
        yield fact_grounds(f"Dense {dtype} peak", peak)
    yield fact_grounds("Memory bandwidth", device.bandwidth)


def fact_grounds(title: str, fact: Fact) -> Explanation:
    """A fact with the document it is printed in: there is nothing below."""
    source = sources().get(fact.source)
    return Explanation(
        title=title,
        value=f"{fact.value:g} {fact.unit}",
        equation="as printed in the source",
        substituted=f"{fact.value:g} {fact.unit}",
        inputs=(Input("kind", fact.kind, fact.note or "a fact of the catalogue"),),
        citation=f"{source.title}, {source.retrieved}" if source else fact.source,
        url=source.url if source else "",
    )


def price_grounds(report: Report) -> tuple[Explanation, ...]:
    """The dated quotes behind the price of a device; nothing where it is your own price."""
    if report.cost.price_kind not in ("rental", "ownership"):
        return ()
    wanted = "rental" if report.cost.price_kind == "rental" else "purchase"
    quotes = [price for price in load_box(report.scenario.hardware).prices if price.kind == wanted]
    return tuple(_quote(price) for price in sorted(quotes, key=lambda price: price.date, reverse=True))


def _quote(price: Price) -> Explanation:
    found = fact_grounds(f"{price.provider or 'Quote'}, {price.date or 'undated'}", price.amount)
    terms = Input("terms", ", ".join(part for part in (price.commitment, price.region) if part), "of the quote")
    return replace(found, inputs=(terms, *found.inputs))


def memory_grounds(report: Report) -> tuple[Explanation, ...]:
    """Weights by operator, and the memory that programs can use."""
    model, device = load_model(report.scenario.model), load_box(report.scenario.hardware)
    rows = sorted((r for r in report.operators if r.phase == "decode"), key=lambda r: -sum(n for n in _numbers(model, r.name)))
    inputs = tuple(
        Input(row.name, f"{with_prefix(sum(_numbers(model, row.name)), '').strip()} numbers", model.source)
        for row in rows
        if any(_numbers(model, row.name))
    )
    weights = Explanation(
        title="Weights",
        value=memory_size(float(report.memory.weights_bytes_per_device)),
        equation="numbers x bits / 8, over the devices that share them",
        substituted=f"{memory_size(float(report.memory.weights_bytes_per_device))} on one device",
        inputs=(*inputs, _format_input(report)),
        citation=f"shapes: {model.source or 'the file given'}",
    )
    return weights, fact_grounds("Memory that programs see", device.visible_memory or device.memory)


def _numbers(model: ModelSpec, operator: str) -> list[int]:
    return [layers * tensor.n_parameters for layers, tensor in _tensors(model, operator)]
