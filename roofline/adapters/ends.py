"""From fields to what stands before and after the layers: tables, head, final norm, residual streams."""

from __future__ import annotations

from collections.abc import Mapping

from roofline.adapters.families import Habits
from roofline.adapters.fields import Fields
from roofline.adapters.mixers import switched
from roofline.adapters.tensors import matrix, norm, vector
from roofline.language import later, tr
from roofline.specs.model import Block, Tensor

CROSS_ROWS = 8
"""Rows that a cross-attention vision model's input table has beyond its head, for image tokens."""
_SILENT_TIED = later("tie_word_embeddings is absent: the input table is the output head too by the class default.")
_SILENT_UNTIED = later("tie_word_embeddings is absent: the input table is apart from the output head by the class default.")


def has_head(config: Mapping[str, object]) -> bool:
    """False where the file is of a bare trunk: its one class ends in ``Model`` without naming a head."""
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        return True
    name = names[0]
    return not name.endswith("Model") or "LMHead" in name or name == "ChatGLMModel"


def is_tied(config: Mapping[str, object], fields: Fields, habits: Habits) -> bool:
    """Whether one matrix is input table and output head: top level first, then the decoder, then the class."""
    for place in (Fields(config, {}, ""), fields):
        if place.raw("tie_word_embeddings") is not None:
            return place.flag("tie_word_embeddings")
    fields.assume("tie_word_embeddings", tr(_SILENT_TIED if habits.tied else _SILENT_UNTIED))
    return habits.tied


def end_tensors(fields: Fields, habits: Habits, *, tied: bool, head: bool) -> list[Tensor]:
    """Tables, head and final norm of the decoder."""
    hidden, rows = fields.size("hidden_size"), fields.size("vocabulary")
    extra_rows = CROSS_ROWS if fields.listing("cross_attention_layers") else 0
    width = fields.optional("word_embed_proj_dim") or hidden
    tensors = _tables(rows + extra_rows, width, rows, tied=tied and head, head=head)
    if width != hidden:
        tensors.append(matrix("other", "project_in", "other", hidden, width))
        tensors.append(matrix("other", "project_out", "other", width, hidden))
    if head and switched(fields, habits.bias_head):
        tensors.append(vector("output_head", "lm_head.bias", "output_head", rows, split="vocabulary"))
    if learned_positions(fields, habits):
        tensors.append(_lookup("embed_positions", fields.size("positions") + habits.position_offset, hidden))
    if habits.embedding_norm:
        tensors += norm("word_embeddings_layernorm", hidden, habits.norm)
    if fields.flag("do_layer_norm_before", True):
        tensors += norm("norm", hidden, habits.norm)
    return [*tensors, *_per_layer_tables(fields), *_stream_ends(fields)]


def learned_positions(fields: Fields, habits: Habits) -> bool:
    """Whether positions are rows of a table."""
    return habits.learned_positions and not fields.flag("alibi")


def _lookup(module: str, rows: int, width: int) -> Tensor:
    return Tensor(
        operator="embedding",
        module=module,
        gguf="token_embd" if module == "embed_tokens" else "position_embd",
        part="embedding",
        n_out=rows,
        n_in=width,
        use="lookup",
        split="vocabulary" if module == "embed_tokens" else "replicated",
    )


def _tables(rows: int, width: int, head_rows: int, *, tied: bool, head: bool) -> list[Tensor]:
    """Input table and output head, or the one matrix that is both."""
    if not tied:
        tables = [_lookup("embed_tokens", rows, width)]
        if head:
            tables.append(matrix("output_head", "lm_head", "output_head", head_rows, width, split="vocabulary", gguf="output"))
        return tables
    return [matrix("output_head", "lm_head", "embedding", rows, width, split="vocabulary", gguf="token_embd")]


def _per_layer_tables(fields: Fields) -> list[Tensor]:
    """Tables of per-layer inputs: a vector of P per layer for each token.

        V_p L P + h L P + P

    ``embed_tokens_per_layer`` of the Gemma 3n classes.
    """
    size = fields.optional("hidden_size_per_layer_input")
    if not size:
        return []
    hidden, n_layers = fields.size("hidden_size"), fields.size("n_layers")
    rows = fields.size("vocab_size_per_layer_input", fields.size("vocabulary"))
    return [
        _lookup("embed_tokens_per_layer", rows, n_layers * size),
        matrix("other", "per_layer_model_projection", "other", n_layers * size, hidden),
        *norm("per_layer_projection_norm", size),
    ]


def _stream_ends(fields: Fields) -> list[Tensor]:
    """Where several residual streams are folded into one at the end."""
    hidden = fields.size("hidden_size")
    tensors: list[Tensor] = []
    streams = fields.optional("altup_num_inputs")
    if streams and streams > 1:
        tensors.append(matrix("other", "altup_projections", "other", hidden, hidden, copies=2 * (streams - 1)))
    copies = fields.optional("hc_mult")
    if copies:
        tensors.append(matrix("other", "hc_head", "other", copies, copies * hidden))
        tensors.append(vector("other", "hc_head.base", "other", copies + 1))
    if fields.optional("attn_res_block_size"):
        tensors += [*norm("attn_res_norm", hidden), vector("other", "attn_res_score", "other", hidden)]
    return tensors


def stream_block(fields: Fields) -> Block | None:
    """What a layer adds to keep several residual streams, or per-layer inputs.

        hyper-connections: two sites of m c h + m + 3, m = c (c + 2)
        alternating updates: router a h, prediction a^3, correction a^2, h + h;  low-rank branch 2 h r + h
        per-layer input: 2 h P + h

    D. Zhu et al., "Hyper-connections", 2024; C. Baykal et al., "Alternating updates", 2023; the Gemma 3n classes.
    """
    hidden = fields.size("hidden_size")
    tensors: list[Tensor] = []
    copies = fields.optional("hc_mult")
    if copies:
        mixes = copies * (copies + 2)
        tensors.append(matrix("other", "hyper_connections", "other", mixes, copies * hidden, copies=2))
        tensors.append(vector("other", "hyper_connections.base", "other", 2 * (mixes + 3)))
    streams = fields.optional("altup_num_inputs")
    if streams and streams > 1:
        tensors.append(matrix("other", "altup.modality_router", "other", streams, hidden))
        tensors.append(matrix("other", "altup.prediction_coefs", "other", streams**2, streams))
        tensors.append(matrix("other", "altup.correction_coefs", "other", streams, streams))
        tensors += [*norm("altup.router_norm", hidden), vector("other", "altup.correct_output_scale", "other", hidden)]
    rank = fields.optional("laurel_rank")
    if rank and streams:
        tensors.append(matrix("other", "laurel", "other", rank, hidden, copies=2))
        tensors += norm("laurel.post_laurel_norm", hidden)
    size = fields.optional("hidden_size_per_layer_input")
    if size:
        tensors.append(matrix("other", "per_layer_input_gate", "other", size, hidden))
        tensors.append(matrix("other", "per_layer_projection", "other", hidden, size))
        tensors += norm("post_per_layer_input_norm", hidden)
    return Block(kind="residual streams", tensors=tuple(tensors), reduces=False) if tensors else None
