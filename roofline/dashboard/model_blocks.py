"""The Model page's cards, layer strip and bars, as plain HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from roofline.answers.anatomy import Anatomy, WeightSize
from roofline.catalog.formats import load_format
from roofline.dashboard.bars import bar_row
from roofline.dashboard.model_words import Kind, kinds, parts, per_layer_words, positions_words, stack_sentence
from roofline.dashboard.text import count_words, esc, gb
from roofline.dashboard.view import View
from roofline.figures.theme import Palette, tint
from roofline.figures.words import sig
from roofline.language import localised, tr
from roofline.units import memory_size

_PERCENT = 100.0
_MOST_CELLS = 160
"""Layers drawn one by one; a taller stack is drawn in runs of one kind."""


def model_cards(found: Anatomy, view: View, cache_format: str) -> str:
    """The four headline numbers."""
    parameters, cache = found.counts.parameters, found.counts.kv_cache
    whole = tr("{size} at {n:,} tokens", size=memory_size(cache.bytes + cache.state_bytes), n=view.context)
    state = tr("{size} state at any length", size=memory_size(cache.state_bytes)) if cache.state_bytes else ""
    cards = [
        _card(tr("Parameters"), count_words(parameters.total), _besides_layers(found)),
        _card(tr("Active per token"), count_words(parameters.active), _active_share(found)),
        _card(
            tr("Weights as stored"),
            memory_size(found.counts.weight_bytes),
            tr("mostly {format}", format=format_name(found.counts.stored_format)),
        ),
        _card(tr("Cache per token, {format}", format=short_format_name(cache_format)), _growth(found), _foot(whole, state)),
    ]
    return f'<div class="rf-cards rf-plain">{"".join(cards)}</div>'


def _besides_layers(found: Anatomy) -> str:
    """Layers, and what is counted apart."""
    towers, draft = found.counts.parameters.vision_audio, found.counts.draft_parameters
    return _foot(
        tr("{n:,} layers", n=found.counts.layers),
        tr("{n} more for images or sound", n=count_words(towers)) if towers else "",
        tr("{n} more to draft", n=count_words(draft)) if draft else "",
    )


def _active_share(found: Anatomy) -> str:
    parameters = found.counts.parameters
    share, multiplied = parameters.active / parameters.total, count_words(parameters.active_matmul)
    return _foot(
        tr("all of them") if share == 1 else tr("{share}% of all", share=sig(share * _PERCENT)),
        tr("{n} multiplied, the rest looked up", n=multiplied) if parameters.active_matmul < parameters.active else "",
    )


def _foot(*words: str) -> str:
    return " · ".join(filter(None, words))


def _growth(found: Anatomy) -> str:
    grown = found.counts.kv_cache.bytes_per_token
    return gb(grown) if grown else tr("none once full")


def _card(label: str, value: str, foot: str) -> str:
    number, _, unit = value.partition(" ")
    shown = f"{esc(number)} <small>{esc(unit)}</small>" if unit else esc(number)
    return (
        f'<section class="rf-card"><h2>{esc(label)}</h2><p class="rf-value">{shown}</p>'
        f'<p class="rf-band">{esc(foot)}</p></section>'
    )


def format_name(format_id: str) -> str:
    """A number format as people write it."""
    return load_format(format_id).name


def short_format_name(format_id: str) -> str:
    """The same without its scales."""
    return format_name(format_id).partition(",")[0]


def layer_strip(found: Anatomy, palette: Palette) -> str:
    """Every layer in order, coloured by kind, with a key in words."""
    all_kinds = kinds(found.layers)
    order = {position: i for i, kind in enumerate(all_kinds) for position in kind.positions}
    sequence = [order[position] for position in sorted(order)]
    title = tr("Layer stack: {stack}", stack=stack_sentence(found))
    first, last = tr("layer 0, after the input table"), tr("layer {n:,}", n=max(order, default=0))
    items = "".join(_key(i, kind, palette) for i, kind in enumerate(all_kinds))
    return (
        f'<div class="rf-layers" role="img" aria-label="{esc(title)}">{_cells(sequence, palette)}</div>'
        f'<div class="rf-ends" aria-hidden="true"><span>{first}</span><span>{last}</span></div>'
        f'<ul class="rf-legend rf-kinds">{items}</ul>'
    )


def _cells(sequence: Sequence[int], palette: Palette) -> str:
    if len(sequence) <= _MOST_CELLS:
        return "".join(f'<span style="{_ground(i, palette)}"></span>' for i in sequence)
    runs = [(i, len(list(same))) for i, same in groupby(sequence)]
    if len(runs) > _MOST_CELLS:
        return f'<span class="rf-many">{tr("too many changes of kind to draw: see the key and the table")}</span>'
    return "".join(f'<span style="{_ground(i, palette)};flex-grow:{n}"></span>' for i, n in runs)


def _ground(kind: int, palette: Palette) -> str:
    """A kind's colour and, beside it, its bands: none, one, two, three."""
    colour = palette.kinds[kind % len(palette.kinds)]
    bands = kind % len(palette.kinds)
    if bands == 0:
        return f"background:{colour}"
    page = palette.page
    stops = [f"{colour} 0"]
    for band in range(1, bands + 1):
        middle = _PERCENT * band / (bands + 1)
        stops += [f"{colour} {middle - 5:.0f}%", f"{page} 0", f"{page} {middle + 5:.0f}%", f"{colour} 0"]
    return f"background:linear-gradient({','.join(stops)})"


def _key(i: int, kind: Kind, palette: Palette) -> str:
    swatch = f'<span class="rf-swatch rf-tall" style="{_ground(i, palette)}" aria-hidden="true"></span>'
    n = len(kind.positions)
    count = tr("1 layer") if n == 1 else tr("{n:,} layers", n=n)
    rest = f"{per_layer_words(kind)} · {positions_words(kind.positions, most=i == 0)}"
    return f"<li>{swatch}<span><strong>{count}</strong> {esc(kind.name)}<br><small>{esc(rest)}</small></span></li>"


def part_bars(found: Anatomy, palette: Palette) -> str:
    """Parameters by part: all of them, and of those what a token visits."""
    counted = parts(found.counts.parameters)
    most = max((part.total for part in counted), default=1)
    whole = found.counts.parameters.total
    lines = []
    for part in counted:
        number = f"{count_words(part.total)} · {_percent(part.total / whole)}"
        if part.active != part.total:
            number = tr("{total} · active {active}", total=count_words(part.total), active=count_words(part.active))
        lines.append(_two_bars(part.name, part.total / most, part.active / most, number, palette))
    return _rows(tr("Parameters by part"), lines)


def _two_bars(name: str, total: float, active: float, number: str, palette: Palette) -> str:
    """Pale: all parameters; full colour: active ones."""
    colour = palette.kinds[0]
    bars = (
        f'<span class="bar" style="width:{total:.2%};background:{tint(colour, 0.35)}">'
        f'<span class="bar" style="width:{active / total if total else 0:.2%};background:{colour}"></span></span>'
    )
    return (
        f'<div class="rf-row"><span>{esc(name)}</span><span class="track" aria-hidden="true">{bars}</span>'
        f'<span class="num">{esc(number)}</span></div>'
    )


def weight_bars(sizes: Sequence[WeightSize], palette: Palette) -> str:
    """The weights in each format; the one the file states is marked."""
    most = max(size.bytes for size in sizes)
    lines = [
        bar_row(
            format_name(size.format),
            size.bytes / most,
            palette.kinds[0] if size.stored else palette.axis,
            tr("as stored · {size}", size=memory_size(size.bytes)) if size.stored else memory_size(size.bytes),
        )
        for size in sizes
    ]
    return _rows(tr("Weights by format"), lines)


def _rows(label: str, lines: Sequence[str]) -> str:
    return f'<div class="rf-rows" role="group" aria-label="{esc(label)}">{"".join(lines)}</div>'


def _percent(share: float) -> str:
    return localised(f"{share:.0%}") if share >= 1 / _PERCENT else tr("under 1%")


def assumptions_html(found: Anatomy) -> str:
    """What was read into the configuration, and where it is from."""
    lines = found.counts.assumptions or (tr("None: the configuration says everything that is counted."),)
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    about = tr(
        "Configuration: {source}. Architecture {architecture}; width {width:,}; vocabulary {vocabulary:,}.",
        source=esc(found.counts.source),
        architecture=esc(found.model.architecture),
        width=found.model.hidden_size,
        vocabulary=found.model.vocabulary,
    )
    trained = found.model.trained_context
    window = f" {tr('Trained for {n:,} tokens.', n=trained)}" if trained else ""
    return f'<ul class="rf-list">{items}</ul><p class="rf-note">{about}{window}</p>'
