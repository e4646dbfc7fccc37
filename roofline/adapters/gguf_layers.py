"""From the tensors of GGUF layers to blocks, and equal layers into groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from roofline.adapters.attention_cards import HeadShape
from roofline.adapters.fields import shown
from roofline.adapters.gguf_header import StoredTensor
from roofline.adapters.gguf_metadata import Metadata
from roofline.adapters.gguf_mixers import Layer, attention_block, fused_pieces, is_delta, recurrent_maker
from roofline.adapters.gguf_roles import RECURRENT_ROLES, ROLES, Place, Role, as_tensor, reshaped, split_name
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.model import Block, LayerGroup, Routing, Tensor

FEED_NORMS = ("ffn_norm", "attn_norm_2", "post_attention_norm", "attn_output_norm", "layer_output_norm", "post_ffw_norm")
"""Norms of which a layer without any runs mixer and feed-forward side by side on one norm."""


@dataclass(frozen=True)
class Named:
    """A tensor of a layer with its role."""

    role: str
    suffix: str
    stored: StoredTensor


def named_tensors(position: int, stored: Mapping[str, StoredTensor]) -> list[Named]:
    """Tensors of a layer by role; experts stored one by one are put together."""
    found: dict[tuple[str, str], list[StoredTensor]] = {}
    for rest, tensor in stored.items():
        found.setdefault(split_name(rest), []).append(tensor)
    return [Named(role, suffix, _stacked(position, role, tensors)) for (role, suffix), tensors in found.items()]


def _stacked(position: int, role: str, tensors: Sequence[StoredTensor]) -> StoredTensor:
    """One tensor of several of equal shape and type."""
    first = tensors[0]
    if len({(t.shape, t.stored_as) for t in tensors}) > 1:
        raise ConfigurationError(
            tr("The experts of 'blk.{layer}.{role}' differ in shape or type, which is not understood.", layer=position, role=role)
        )
    return first if len(tensors) == 1 else replace(first, shape=(*first.shape, len(tensors)))


def layer_groups(metadata: Metadata, layers: Sequence[Mapping[str, StoredTensor]]) -> tuple[LayerGroup, ...]:
    """Layers of equal blocks, tensor types included, in order of their first."""
    n_shared = metadata.optional("attention.shared_kv_layers") or 0
    if n_shared >= len(layers):
        raise ConfigurationError(
            tr("'attention.shared_kv_layers' must be below the {layers:,} layers, not {n:,}.", layers=len(layers), n=n_shared)
        )
    positions: dict[tuple[tuple[Block, ...], bool], list[int]] = {}
    for i, stored in enumerate(layers):
        found = _layer(metadata, i, named_tensors(i, stored), shared=i >= len(layers) - n_shared)
        positions.setdefault(found, []).append(i)
    return tuple(
        LayerGroup(layers=tuple(where), blocks=blocks, parallel=parallel) for (blocks, parallel), where in positions.items()
    )


def _layer(metadata: Metadata, position: int, named: list[Named], *, shared: bool) -> tuple[tuple[Block, ...], bool]:
    """Blocks of a layer, and whether mixer and feed-forward run side by side.

    They do where the file says ``use_parallel_residual``, or where the one norm of the layer stands before both.
    """
    matrices = {n.role: n.stored.shape for n in named if n.suffix in ("weight", "")}
    layer = Layer(metadata, position, matrices)
    tensors = _tensors(layer, named)
    mixers = _mixers(layer, tensors, shared=shared)
    feeds = _feeds(layer, tensors)
    if not mixers and not feeds:
        raise ConfigurationError(tr("Layer {layer:,} has neither a mixer nor a feed-forward.", layer=position))
    norms = Block(kind="norms", tensors=tuple(tensors["norms"]), reduces=False)
    streams = Block(kind="residual streams", tensors=tuple(tensors["streams"]), reduces=False)
    extra = tuple(block for block in (norms, streams) if block.tensors)
    one_norm = layer.has("attn_norm") and not layer.has(*FEED_NORMS)
    parallel = bool(mixers and feeds) and (metadata.raw("use_parallel_residual") is True or one_norm)
    return (*mixers, *feeds, *extra), parallel


def _tensors(layer: Layer, named: list[Named]) -> dict[Place, list[Tensor]]:
    """Tensors of a layer by the block they are in."""
    narrow = {n.role for n in named if n.stored.stored_as == "nvfp4"}
    found: dict[Place, list[Tensor]] = {"attention": [], "state": [], "dense": [], "experts": [], "norms": [], "streams": []}
    for n in named:
        role = _role(layer, n)
        if n.suffix == "scale" and n.role in narrow:
            continue
        stored = n.stored
        if n.role in ("attn_k_b", "attn_v_b"):
            stored = reshaped(stored, layer.size("attention.kv_lora_rank"))
        if role.place == "state" and n.role == "ssm_dt" and n.suffix in ("weight", "") and len(stored.shape) == 1:
            role = replace(role, use="vector")
        if layer.has("attn_kv_b") and n.role in ("attn_k_b", "attn_v_b"):
            role = replace(role, use="vector")
        found[role.place].append(as_tensor(stored, role, n.role, n.suffix))
    return found


def _role(layer: Layer, named: Named) -> Role:
    """What a tensor is; a name that is not known is refused."""
    role = ROLES.get(named.role)
    if is_delta(layer):
        role = RECURRENT_ROLES.get(named.role, role)
    if role is None:
        name = shown(named.stored.name)
        raise ConfigurationError(
            tr(
                "The tensor {tensor} of architecture {architecture} is not understood.",
                tensor=name,
                architecture=shown(layer.metadata.architecture),
            )
        )
    return role


def _mixers(layer: Layer, tensors: Mapping[Place, list[Tensor]], *, shared: bool) -> list[Block]:
    """Recurrence and attention of a layer; both where they run side by side."""
    mixers = []
    maker = recurrent_maker(layer)
    if maker is not None:
        mixers.append(maker(layer).model_copy(update={"tensors": tuple(tensors["state"])}))
    elif tensors["state"]:
        raise ConfigurationError(tr("Layer {layer:,} has tensors of a recurrence of no known kind.", layer=layer.position))
    found = None if is_delta(layer) else attention_block(layer, shared=shared)
    if found is not None:
        block, shape = found
        own = [piece for t in tensors["attention"] for piece in _unfused(t, shape)]
        if shared:
            own = [t.model_copy(update={"use": "vector"}) if t.operator == "attention/key_value" else t for t in own]
        mixers.append(block.model_copy(update={"tensors": tuple(own)}))
    elif tensors["attention"]:
        raise ConfigurationError(tr("Layer {layer:,} has tensors of attention but no queries.", layer=layer.position))
    return mixers


def _unfused(tensor: Tensor, shape: HeadShape | None) -> list[Tensor]:
    fused = tensor.gguf == "attn_qkv" and tensor.use == "matmul" and shape is not None
    return fused_pieces(tensor, shape) if fused and shape is not None else [tensor]


def _feeds(layer: Layer, tensors: Mapping[Place, list[Tensor]]) -> list[Block]:
    """Dense feed-forward and experts of a layer; both where a layer has both."""
    feeds = []
    if tensors["dense"]:
        gated = layer.has("ffn_gate") or layer.rows("ffn_up") == 2 * layer.columns("ffn_down")
        layer.check("ffn_up", 1, layer.columns("ffn_down"), 2 * layer.columns("ffn_down"))
        kind = "gated feed-forward" if gated else "feed-forward"
        feeds.append(Block(kind=kind, tensors=tuple(_halved(layer, tensors["dense"], ""))))
    if tensors["experts"]:
        routing = _routing(layer)
        for tensor in tensors["experts"]:
            if tensor.part == "routed_experts" and tensor.n_copies != routing.n_experts:
                raise ConfigurationError(
                    tr(
                        "'{module}' of layer {layer:,} holds {n:,} experts, not {asked:,}.",
                        module=tensor.module,
                        layer=layer.position,
                        n=tensor.n_copies,
                        asked=routing.n_experts,
                    )
                )
        feeds.append(
            Block(kind="mixture of experts", tensors=tuple(_halved(layer, tensors["experts"], "_exps")), routing=routing)
        )
    return feeds


def _halved(layer: Layer, tensors: list[Tensor], ending: str) -> list[Tensor]:
    """Gate and up of one fused matrix apart."""
    width = layer.columns(f"ffn_down{ending}")
    out = []
    for tensor in tensors:
        fused = tensor.gguf in (f"ffn_up{ending}", f"ffn_gate_up{ending}") and tensor.n_out == 2 * width
        if fused and tensor.use == "matmul":
            half = tensor.model_copy(update={"n_out": width})
            out += [half.model_copy(update={"module": tensor.module.replace("up_proj", "gate_proj")}), half]
        else:
            out.append(tensor)
    return out


def _routing(layer: Layer) -> Routing:
    n_experts, n_active = layer.size("expert_count"), layer.size("expert_used_count")
    if n_active > n_experts:
        raise ConfigurationError(tr("A token cannot visit {n:,} of {of:,} experts.", n=n_active, of=n_experts))
    layer.rows("ffn_up_exps" if layer.has("ffn_up_exps") else "ffn_gate_up_exps")
    layer.rows("ffn_gate_inp")
    return Routing(
        n_experts=n_experts,
        n_active=n_active,
        n_groups=layer.metadata.optional("expert_group_count") or 1,
        n_active_groups=layer.metadata.optional("expert_group_used_count") or 1,
    )
