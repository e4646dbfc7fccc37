"""A configuration file of the Hugging Face kind into a model's structure.

Order: merge nested tables, choose habits and defaults by class, plan the layers, build blocks from cards, group equal
layers, assign number formats. The class says only what the file is silent about; fields decide the structure.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from roofline.adapters.encoders import decoder_groups, decoder_layers, encoder_tensors
from roofline.adapters.ends import end_tensors, has_head, is_tied, stream_block
from roofline.adapters.families import Family, family
from roofline.adapters.feeds import feed_forward_blocks, is_parallel, layer_norms
from roofline.adapters.fields import MAX_LAYERS, Fields, merged, shown
from roofline.adapters.mixers import mixer_blocks
from roofline.adapters.plain import plain_format, plain_tensors, with_plain
from roofline.adapters.quantization import main_format, stored_scheme, with_formats
from roofline.adapters.stack import layer_count
from roofline.adapters.towers import tower_tensors
from roofline.adapters.traits import Traits, layer_traits
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.base import printable
from roofline.specs.messages import validation_sentence
from roofline.specs.model import Block, LayerGroup, ModelSpec, Tensor

STRUCTURAL_WORDS = (
    "attn",
    "attention_type",
    "moe",
    "expert",
    "mamba",
    "ssm",
    "lora_rank",
    "latent",
    "linear",
    "sparse",
    "recurrent",
    "block_type",
    "layer_type",
    "shared",
    "hybrid",
    "rank",
    "gate",
    "sink",
    "post_norm",
    "encoder",
)
"""Parts of names that speak of structure: not to be passed over in a class that is not known."""

OTHER_MODELS = ("is_encoder_decoder", "encoder_layers", "type_vocab_size", "position_embedding_type")
"""Fields of encoders and encoder-decoders, which no class that is not known may be read as a decoder with."""

NUMERIC_WORDS = ("dropout", "implementation", "eps", "scal", "coef", "loss", "softcap", "logit", "jitter", "norm_topk", "renorm")
"""Parts of names that change values, not counts."""


def model_from_configuration(config: Mapping[str, object], *, id: str = "", source: str = "") -> ModelSpec:
    """Read a configuration into structure.

    Raises
    ------
    ConfigurationError
        A field that matters is absent, impossible or not understood; the message names it.
    """
    if not isinstance(config, Mapping):
        raise ConfigurationError(tr("A configuration must be a table of fields, not {value}.", value=shown(config)))
    try:
        return _model(config, id, source)
    except ValidationError as error:
        raise ConfigurationError(
            tr("this configuration describes no model: {reason}", reason=validation_sentence(error))
        ) from None


def _model(config: Mapping[str, object], id: str, source: str) -> ModelSpec:
    """The structure of a configuration whose values are within bounds."""
    decoder = merged(config)
    chosen = _family(config, decoder)
    fields = Fields(decoder, chosen.defaults, chosen.name or "a plain decoder")
    n_layers, groups = _stack(fields, chosen)
    scheme = stored_scheme(config, decoder)
    if scheme is not None:
        groups = with_formats(groups, scheme)
    head, tied = has_head(config), is_tied(config, fields, chosen.habits)
    ends = end_tensors(fields, chosen.habits, tied=tied, head=head)
    if chosen.habits.encoder:
        ends += encoder_tensors(fields, chosen.habits)
    ends += _towers(config, fields)
    if scheme is not None:
        ends = [t.model_copy(update={"stored_as": scheme.format_of(None, t)}) for t in ends]
    plain = plain_format(config, decoder, fields, quantised=scheme is not None)
    if plain is not None:
        groups, ends = with_plain(groups, plain), plain_tensors(ends, plain)
    streams = fields.optional("hc_mult")
    hidden = fields.size("hidden_size")
    if not chosen.known:
        _check_unknown(fields, chosen)
    name = printable(id or str(config.get("_name_or_path") or chosen.name or "custom"), 200)
    return ModelSpec(
        id=name,
        name=name,
        architecture=printable(chosen.name),
        hidden_size=hidden,
        stream_size=streams * hidden if streams else None,
        vocabulary=fields.size("vocabulary"),
        n_layers=n_layers,
        trained_context=_context(fields),
        groups=groups,
        ends=tuple(ends),
        tied_embeddings=tied and head,
        draft_parameters=_draft_parameters(fields, groups, hidden),
        stored_format=main_format(groups),
        assumptions=tuple(printable(text, 500) for text in fields.assumptions.values()),
        source=source,
    )


def _family(config: Mapping[str, object], decoder: Mapping[str, object]) -> Family:
    """The decoder's own class where it is known, else the class of the whole."""
    names = [str(value)[:100] for value in (decoder.get("model_type"), config.get("model_type")) if isinstance(value, str)]
    for name in names:
        if family(name).known:
            return family(name)
    return family(names[0] if names else "")


def _context(fields: Fields) -> int | None:
    """Longest context the file names; a class default says nothing about a model."""
    return fields.optional("context", largest=10**12) if fields.stated("context") else None


def _check_unknown(fields: Fields, chosen: Family) -> None:
    """An unknown class is read as a plain decoder only if every field about structure was understood."""
    for name in (*OTHER_MODELS, *fields.unread()):
        lowered = name.lower()
        structural = name in OTHER_MODELS or any(word in lowered for word in STRUCTURAL_WORDS)
        if structural and not any(word in lowered for word in NUMERIC_WORDS) and fields.raw(name):
            raise ConfigurationError(
                tr(
                    "model_type {model_type} is not known, and its field {field} is not understood.",
                    model_type=shown(chosen.name),
                    field=shown(name),
                )
            )
    fields.assume(
        "model_type",
        tr("model_type {model_type} is not known: read as a plain gated decoder from its fields.", model_type=shown(chosen.name)),
    )


def _draft_parameters(fields: Fields, groups: tuple[LayerGroup, ...], hidden: int) -> int:
    """Parameters of multi-token-prediction modules, without copies of the tables.

        per module: one more layer of the last kind, 2 h h to join two inputs, three norms

    DeepSeek-AI, "DeepSeek-V3 technical report", 2024, section 2.2.
    """
    modules = fields.count("draft_layers", largest=MAX_LAYERS)
    if not modules:
        return 0
    last = max(groups, key=lambda group: group.layers[-1])
    layer = sum(t.n_parameters for block in last.blocks for t in block.tensors)
    return modules * (layer + 2 * hidden * hidden + 3 * hidden)


def _towers(config: Mapping[str, object], fields: Fields) -> list[Tensor]:
    """Towers of the whole model, whose class the top level names."""
    name = config.get("model_type")
    whole = family(name[:100] if isinstance(name, str) else "")
    outer = Fields(config, {}, whole.name)
    outer.assumptions = fields.assumptions
    return tower_tensors(outer, whole.habits, fields.size("hidden_size"))


def _stack(fields: Fields, chosen: Family) -> tuple[int, tuple[LayerGroup, ...]]:
    """How many layers, and what they are."""
    if chosen.habits.encoder:
        return decoder_layers(fields), decoder_groups(fields, chosen.habits)
    n_layers = layer_count(fields)
    return n_layers, _groups(fields, chosen, layer_traits(fields, chosen.habits, n_layers))


def _groups(fields: Fields, chosen: Family, traits: tuple[Traits, ...]) -> tuple[LayerGroup, ...]:
    """Layers with equal traits, in order of their first."""
    positions: dict[Traits, list[int]] = {}
    for position, trait in enumerate(traits):
        positions.setdefault(trait, []).append(position)
    return tuple(
        LayerGroup(
            layers=tuple(where),
            blocks=layer_blocks(fields, chosen, trait),
            parallel=is_parallel(fields, chosen.habits),
        )
        for trait, where in positions.items()
    )


def layer_blocks(fields: Fields, chosen: Family, traits: Traits) -> tuple[Block, ...]:
    """Mixer, feed-forward and norms of one layer."""
    mixer = mixer_blocks(fields, chosen.habits, traits) * (2 if chosen.habits.double_layers else 1)
    feed = feed_forward_blocks(fields, chosen.habits, traits)
    streams = stream_block(fields)
    norms = layer_norms(fields, chosen.habits, traits)
    blocks = (*mixer, *feed, *((norms,) if norms.tensors else ()))
    return (*blocks, streams) if streams else blocks
