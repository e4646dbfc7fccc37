"""What a headline rests on, as far down as it goes: step, operators, bytes and work, structure, facts of the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from roofline.answers.report import BOUND_NAMES, Explanation, Input, OperatorRow, Phase, Report, Term
from roofline.answers.wording import FACT_KINDS, LINK_KINDS
from roofline.catalog.boxes import load_box
from roofline.catalog.formats import load_format
from roofline.catalog.hardware import sources
from roofline.catalog.models import load_model
from roofline.language import later, localised, tr
from roofline.specs.hardware import Accelerator, Fact, Price
from roofline.specs.model import Attend, ModelSpec, Tensor
from roofline.units import BITS_PER_BYTE, duration, memory_size, significant, with_prefix

_LEAST_SHARE = 0.001
"""Operators that take less of a step are summed up in its total only."""
_PHASE_TITLES: dict[Phase, str] = {"decode": later("One decode step"), "prefill": later("One prefill step")}
_WAITING = (
    later("time per layer, s"),
    later("time per step, s"),
    later("time per sequence and step, s"),
    later("latency of a collective, s"),
)
_ROUTED = "experts"
_ALL_TOUCHED = 1.0 - 1e-9
_ROOFLINE = "S. Williams, A. Waterman, D. Patterson, Roofline, Commun. ACM 52(4), 2009"


def step_grounds(report: Report, phase: Phase) -> Explanation:
    """A step as the sum of its operators and of what lies between them, each opened in turn."""
    rows = sorted((row for row in report.operators if row.phase == phase), key=lambda row: -row.expected_s)
    total = sum(share.seconds for share in report.shares[phase])
    between = max(0.0, total - sum(row.expected_s for row in rows))
    model, device = load_model(report.scenario.model), load_box(report.scenario.hardware)
    shown = [row for row in rows if row.expected_s >= _LEAST_SHARE * total]
    names = [tr(name) for name in _WAITING]
    return Explanation(
        title=tr(_PHASE_TITLES[phase]),
        value=duration(total),
        equation=tr("sum over operators + launches, gaps and scheduling"),
        substituted=tr(
            "{busy} of operators + {between} between = {total}",
            busy=duration(total - between),
            between=duration(between),
            total=duration(total),
        ),
        inputs=(
            Input(tr("operators"), localised(f"{len(rows):,}"), tr("ledger")),
            *(Input(a.name, a.value, a.basis) for a in report.assumptions if a.name in names),
        ),
        citation=tr("ledger of the step; constants of the engine profile"),
        parts=tuple(_operator(report, row, model, device) for row in shown),
    )


def _operator(report: Report, row: OperatorRow, model: ModelSpec, device: Accelerator) -> Explanation:
    """One operator against the roofline."""
    if row.network_bytes > 0:
        return _exchange(row, device)
    parts = [_weights(report, row, model)] if row.weight_bytes > 0 else []
    parts += [_cache(report, row, model)] if row.cache_bytes > 0 else []
    parts += [_work(row, model)] if row.flops > 0 else []
    parts += [*_rate_facts(row, device)]
    return Explanation(
        title=row.name.replace("/", ": ").replace("_", " "),
        value=duration(row.expected_s),
        equation=tr("at least max(work / peak, bytes / bandwidth); expected adds the shares that an engine reaches of both"),
        substituted=tr(
            "{longer} = {limit} at the limit, bound by {bound}; {expected} expected",
            longer=_sum(f"max({duration(t.compute_limit_s)}, {duration(t.memory_limit_s)})" for t in row.terms),
            limit=duration(row.limit_s),
            bound=tr(BOUND_NAMES[row.bound]),
            expected=duration(row.expected_s),
        ),
        inputs=(
            Input(tr("layers"), localised(f"{row.count:g}"), tr("model structure")),
            Input(tr("work on one device"), with_prefix(row.flops, "FLOP"), tr("opened below")),
            Input(tr("read on one device"), with_prefix(row.bytes, "B"), tr("opened below")),
        ),
        citation=_ROOFLINE,
        parts=tuple(parts),
    )


def _sum(parts: Iterable[str]) -> str:
    """A sum of what is written out."""
    return " + ".join(parts)


def _exchange(row: OperatorRow, device: Accelerator) -> Explanation:
    links = tuple(
        fact_grounds(tr("{kind} link, {name}", kind=tr(LINK_KINDS[link.kind]), name=link.name), link.bandwidth)
        for link in device.links
    )
    return Explanation(
        title=row.name.replace("/", ": ").replace("_", " "),
        value=duration(row.expected_s),
        equation=tr("bytes sent / link bandwidth, and a latency for each collective"),
        substituted=tr(
            "{sent} sent by one device: {limit} at the limit, {expected} expected",
            sent=with_prefix(row.network_bytes, "B"),
            limit=duration(row.limit_s),
            expected=duration(row.expected_s),
        ),
        inputs=(Input(tr("collectives in a step"), localised(f"{row.count:g}"), tr("plan")),),
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
    rows = (Input(tensor.module, _shape_in(tensor, layers), model.source) for layers, tensor in _tensors(model, row.name))
    amount = with_prefix(row.weight_bytes, "B")
    return Explanation(
        title=tr("Weights read"),
        value=amount,
        equation=tr("bytes stored, in all layers, over the devices that share them, times the share that the tokens touch"),
        substituted=f"{_sum(_weights_of(row, term, model) for term in row.terms if term.weight_bytes > 0)} = {amount}",
        inputs=(*rows, _format_input(report), *_sharing(report, row, model)),
        citation=_shapes_of(model),
    )


def _weights_of(row: OperatorRow, term: Term, model: ModelSpec) -> str:
    stored, ways = with_prefix(term.stored_bytes, "B"), localised(f"{term.ways:.4g}")
    if term.touched_frac > _ALL_TOUCHED:
        return f"{stored} / {ways}"
    if _chooses_experts(row, model):
        n_experts = model.routings[0].n_experts
        return f"{stored} x {significant(term.touched_frac * n_experts)} / {localised(f'{n_experts:,}')} / {ways}"
    return f"{stored} x {significant(term.touched_frac)} / {ways}"


def _chooses_experts(row: OperatorRow, model: ModelSpec) -> bool:
    """Whether tokens choose among the weights of a row, and not among adapters to them."""
    return bool(model.routings) and row.name.rpartition("/")[0].endswith(_ROUTED)


def _shapes_of(model: ModelSpec) -> str:
    return tr("shapes: {source}", source=model.source or tr("the file given"))


def _shape_in(tensor: Tensor, layers: int) -> str:
    """Its numbers, and in how many layers."""
    shape = _shape(tensor)
    return tr("{shape}, in {layers} layers", shape=shape, layers=layers) if layers > 1 else shape


def _shape(tensor: Tensor) -> str:
    copies = f"{tensor.n_copies} x " if tensor.n_copies > 1 else ""
    return copies + localised(f"{tensor.n_out:,} x {tensor.n_in:,}" if tensor.n_in > 1 else f"{tensor.n_out:,}")


def _format_input(report: Report) -> Input:
    if report.formats.weights_id is None:
        return Input(tr("weight format"), report.formats.weights, tr("as the file says, tensor by tensor"))
    return Input(tr("weight format"), _bits(report.formats.weights_id), tr("layout of the format, scales included"))


def _bits(number_format: str) -> str:
    found = load_format(number_format)
    return tr("{format}: {bits:.4g} bits", format=found.name, bits=found.bits_per_weight)


def _sharing(report: Report, row: OperatorRow, model: ModelSpec) -> Iterator[Input]:
    plan = report.plan
    ways = f"{plan.tensor_parallel} x {plan.pipeline_parallel} x {plan.data_parallel}"
    yield Input(tr("tensor x pipeline x data ways"), ways, plan.why)
    if not _chooses_experts(row, model):
        return
    routing = model.routings[0]
    for term in row.terms:
        value = tr(
            "{touched} of {experts}, each token {active}, for {tokens} tokens at once",
            touched=significant(term.touched_frac * routing.n_experts),
            experts=routing.n_experts,
            active=routing.n_active,
            tokens=significant(term.met_tokens),
        )
        yield Input(tr("experts touched in a layer"), value, tr("E (1 - (1 - k/E)^B), uniform routing"))


def _attends(model: ModelSpec, operator: str) -> Iterator[tuple[int, Attend]]:
    kind = operator.rpartition("/")[2]
    for group in model.groups:
        for block in group.blocks:
            yield from ((group.n_layers, attend) for attend in block.attends if attend.kind == kind)


def _cache(report: Report, row: OperatorRow, model: ModelSpec) -> Explanation:
    """Bytes of cache that one device reads for an operator in one step."""
    rows = tuple(
        Input(
            tr("kept per token in each of {layers} layers", layers=layers),
            tr("{numbers:,} numbers", numbers=attend.cache_elements),
            model.source,
        )
        for layers, attend in _attends(model, row.name)
    )
    term, amount = row.terms[0], with_prefix(row.cache_bytes, "B")
    number_format = load_format(report.formats.kv_cache)
    numbers = _sum(_numbers_of(term, number_format.bits_per_weight) for term in row.terms)
    kept = bool(tuple(_attends(model, row.name)))
    return Explanation(
        title=tr("Cache read"),
        value=amount,
        equation=tr("sequences x context x numbers per token x bits / 8, over the devices that share them"),
        substituted=f"{numbers} = {amount}" if kept else tr("{amount} on one device", amount=amount),
        inputs=(
            Input(tr("sequences at once, one group and stage"), significant(term.sequences), tr("ledger")),
            Input(
                tr("in the cache of each before the step"),
                tr("{tokens} tokens", tokens=localised(f"{term.cached_tokens:,.0f}")),
                tr("ledger"),
            ),
            *rows,
            Input(tr("cache format"), _bits(report.formats.kv_cache), tr("layout of the format")),
        ),
        citation=tr("structure: {source}", source=model.source or tr("the file given")),
    )


def _numbers_of(term: Term, bits: float) -> str:
    """Numbers that a term moves, as bits over the devices that share them."""
    numbers = with_prefix(term.cache_bytes * term.ways * BITS_PER_BYTE / bits, "").strip()
    return f"{numbers} x {localised(f'{bits:.4g}')} / 8 / {localised(f'{term.ways:.4g}')}"


def _work(row: OperatorRow, model: ModelSpec) -> Explanation:
    """Arithmetic of an operator on one device."""
    attends = tuple(_attends(model, row.name))
    heads = (
        Input(
            tr("heads, key and value size"),
            tr("{shape}, in {layers} layers", shape=f"{a.n_heads} x ({a.key_size} + {a.value_size})", layers=layers),
            model.source,
        )
        for layers, a in attends
    )
    amount, matrices = with_prefix(row.flops, "FLOP"), tuple(term for term in row.terms if term.weight_bytes > 0)
    products = _sum(
        f"2 x {with_prefix(term.flops / (2.0 * term.tokens), '').strip()} x {significant(term.tokens)}" for term in matrices
    )
    note = tr("a multiply and an add count as two")
    return Explanation(
        title=tr("Work"),
        value=amount,
        equation=tr("2 x heads x (key size + value size) x keys visited, for every token")
        if attends
        else tr("2 x numbers that a token is multiplied by, for every token"),
        substituted=f"{products} = {amount}" if matrices else tr("{amount} on one device", amount=amount),
        inputs=(
            Input(tr("tokens that share one reading, on one device"), _sum(significant(t.tokens) for t in row.terms), note),
            *heads,
        ),
        citation="J. Austin et al., How to Scale Your Model, part 4, 2025",
    )


def _rate_facts(row: OperatorRow, device: Accelerator) -> Iterator[Explanation]:
    """The two ceilings an operator is held against."""
    peak = next((fact for name, fact in device.peaks.items() if name == row.rate), None)
    if peak is not None and row.flops > 0:
        yield fact_grounds(tr("Dense {rate} peak", rate=row.rate), peak)
    yield fact_grounds(tr("Memory bandwidth"), device.bandwidth)


def fact_grounds(title: str, fact: Fact) -> Explanation:
    """A fact with the document it is printed in: there is nothing below."""
    source = sources().get(fact.source)
    value = f"{localised(f'{fact.value:g}')} {fact.unit}"
    return Explanation(
        title=title,
        value=value,
        equation=tr("as printed in the source"),
        substituted=value,
        inputs=(Input(tr("kind"), tr(FACT_KINDS[fact.kind]), fact.note or tr("a fact of the catalogue")),),
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
    found = fact_grounds(f"{price.provider or tr('Quote')}, {price.date or tr('undated')}", price.amount)
    terms = Input(tr("terms"), ", ".join(part for part in (price.commitment, price.region) if part), tr("of the quote"))
    return replace(found, inputs=(terms, *found.inputs))


def memory_grounds(report: Report) -> tuple[Explanation, ...]:
    """Weights by operator, and the memory that programs can use."""
    model, device = load_model(report.scenario.model), load_box(report.scenario.hardware)
    rows = sorted((r for r in report.operators if r.phase == "decode"), key=lambda r: -sum(n for n in _numbers(model, r.name)))
    inputs = tuple(
        Input(row.name, tr("{amount} numbers", amount=with_prefix(sum(_numbers(model, row.name)), "").strip()), model.source)
        for row in rows
        if any(_numbers(model, row.name))
    )
    size = memory_size(float(report.memory.weights_bytes_per_device))
    weights = Explanation(
        title=tr("Weights"),
        value=size,
        equation=tr("numbers x bits / 8, over the devices that share them"),
        substituted=tr("{amount} on one device", amount=size),
        inputs=(*inputs, _format_input(report)),
        citation=_shapes_of(model),
    )
    return weights, fact_grounds(tr("Memory that programs see"), device.visible_memory or device.memory)


def _numbers(model: ModelSpec, operator: str) -> list[int]:
    return [layers * tensor.n_parameters for layers, tensor in _tensors(model, operator)]
