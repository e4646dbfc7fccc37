"""Number formats a file states, module by module: from ``quantization_config`` to the format of every tensor.

Embeddings, norms, biases, routers, convolutions and towers stay in 16 bit in every scheme read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.adapters.fields import Fields, shown
from roofline.adapters.modules import ModulePatterns
from roofline.errors import ConfigurationError
from roofline.language import tr
from roofline.specs.model import LayerGroup, Tensor

QUANTIZED_OPERATORS = (
    "attention/query",
    "attention/key_value",
    "attention/output",
    "attention/latent_down",
    "attention/latent_up",
    "attention/gate",
    "attention/index",
    "state_space/in",
    "state_space/out",
    "mlp/gate_up",
    "mlp/down",
    "experts/gate_up",
    "experts/down",
    "shared_experts/gate_up",
    "shared_experts/down",
)
"""Operators whose matrices a checkpoint may store in a narrow format."""

INTEGER_FORMATS: dict[tuple[int, int, bool], str] = {
    (8, 128, True): "int8_g128",
    (8, 128, False): "gptq_int8_g128",
    (4, 128, True): "int4_g128_symmetric",
    (4, 128, False): "int4_g128",
    (4, 64, True): "int4_g64_symmetric",
    (4, 64, False): "int4_g64",
    (4, 32, True): "int4_g32_symmetric",
    (4, 32, False): "int4_g32",
    (3, 128, False): "int3_g128",
    (3, 128, True): "int3_g128",
    (2, 128, False): "int2_g128",
    (2, 128, True): "int2_g128",
}
"""Bits, group size and symmetry to a format."""

ALGORITHMS = {
    "FP8": "fp8",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8",
    "FP8_PB_WO": "fp8_block128",
    "FP8_BLOCK_SCALES": "fp8_block128",
    "NVFP4": "nvfp4",
    "NVFP4_AWQ": "nvfp4",
    "W4A16_NVFP4": "nvfp4",
    "W4A8_NVFP4_FP8": "nvfp4",
    "MXFP8": "mxfp8",
    "W4A8_MXFP4_FP8": "mxfp4",
    "MXFP4": "mxfp4",
    "W4A16_MXFP4": "mxfp4",
    "W4A16": "int4_g128_symmetric",
    "W4A16_AWQ": "int4_g128",
    "W4A8_AWQ": "int4_g128",
    "W8A16": "int8_w8a16",
    "W8A8_SQ_PER_CHANNEL": "int8",
}
"""ModelOpt algorithms to formats."""


MAX_COMPARISONS = 5_000_000
"""Module names against patterns; published files stay far below."""


@dataclass(frozen=True)
class Scheme:
    """Which matrices are stored narrow, and how."""

    default: str | None
    """Format of matrices that nothing names otherwise; None: 16 bit."""
    ignored: ModulePatterns
    named: tuple[tuple[ModulePatterns, str], ...] = ()
    """Formats of matrices by name, before the default."""
    experts: str | None = None
    """Format of routed experts, where the file sets them apart."""
    experts_only: bool = False
    head: bool = False
    """Whether the output head is stored narrow unless it is named as ignored."""

    def format_of(self, layer: int | None, tensor: Tensor) -> str | None:
        """Format of a tensor of one layer; None is 16 bit."""
        if not _may_be_narrow(tensor, head=self.head):
            return None
        if tensor.part == "routed_experts" and self.experts is not None:
            return None if self.ignored.matches(layer, tensor.module) else self.experts
        if self.experts_only and tensor.part != "routed_experts":
            return None
        for patterns, name in self.named:
            if patterns.matches(layer, tensor.module):
                return name
        return None if self.default is None or self.ignored.matches(layer, tensor.module) else self.default

    @property
    def cost(self) -> int:
        """Comparisons that one tensor needs, at most."""
        return self.ignored.cost + sum(patterns.cost for patterns, _ in self.named)

    @property
    def by_layer(self) -> bool:
        """Whether layers of equal shape may differ in format."""
        return self.ignored.by_layer or any(patterns.by_layer for patterns, _ in self.named)


def _may_be_narrow(tensor: Tensor, *, head: bool) -> bool:
    if tensor.use != "matmul" or tensor.n_out == 1:
        return False
    if tensor.operator == "output_head":
        return head and tensor.part == "output_head"
    return tensor.operator in QUANTIZED_OPERATORS


def stored_scheme(config: Mapping[str, object], decoder: Mapping[str, object]) -> Scheme | None:
    """Read a file's quantisation settings; None where it has none."""
    for name in ("quantization_config", "compression_config", "quantization"):
        for place in (config, decoder):
            found = place.get(name)
            if isinstance(found, Mapping) and found:
                return _scheme(Fields(found, {}, name), decoder)
            if found is not None and not isinstance(found, Mapping):
                raise ConfigurationError(tr("{name!r} must be a table, not {value}.", name=name, value=shown(found)))
    return None


def _scheme(fields: Fields, decoder: Mapping[str, object]) -> Scheme:
    inner = fields.inner("quantization")
    method = fields.text("quant_method").lower().replace("_", "-")
    if inner is not None and not method:
        return _modelopt(inner)
    if method == "modelopt" or (not method and fields.raw("quant_algo") is not None) or method.startswith("modelopt"):
        return _modelopt(inner or fields)
    if fields.raw("quantized_layers") is not None:
        return _mixed(fields, _block_format(fields))
    readers = {
        "fp8": _fp8,
        "fbgemm-fp8": _fp8,
        "compressed-tensors": _compressed,
        "awq": _awq,
        "gptq": _gptq,
        "bitsandbytes": _bitsandbytes,
        "mxfp4": _mxfp4,
        "quark": _quark,
    }
    if method not in readers:
        raise ConfigurationError(
            tr(
                "The quantisation method {name} is not understood; known are {known}.",
                name=shown(method or "none"),
                known=", ".join(readers),
            )
        )
    scheme = readers[method](fields)
    narrow_experts = decoder.get("expert_dtype")
    if method == "fp8" and narrow_experts == "fp4":
        return Scheme(scheme.default, scheme.ignored, experts="mxfp4", head=scheme.head)
    return scheme


def _ignored(fields: Fields, *names: str) -> ModulePatterns:
    return ModulePatterns([entry for name in names for entry in fields.listing(name) or []])


def _has_list(fields: Fields, *names: str) -> bool:
    return any(fields.raw(name) for name in names)


def _block_format(fields: Fields) -> str:
    """FP8 by blocks or by tensor."""
    block = fields.whole_numbers("weight_block_size")
    if not block:
        return "fp8"
    if block == [128, 128]:
        return "fp8_block128"
    if block == [1, 32]:
        return "mxfp8"
    raise ConfigurationError(
        tr("'weight_block_size' {block} is not understood; known are [128, 128] and [1, 32].", block=shown(block))
    )


def _fp8(fields: Fields) -> Scheme:
    names = ("modules_to_not_convert", "ignored_layers", "ignore")
    return Scheme(_block_format(fields), _ignored(fields, *names), head=_has_list(fields, *names))


def _integer(bits: int, group: int, *, symmetric: bool, activations: bool = False) -> str:
    """Format id of an integer layout."""
    if group <= 0 or group > 1024:
        rows = {8: "int8" if activations else "int8_w8a16", 4: "int4_channel"}
        if bits in rows:
            return rows[bits]
    found = INTEGER_FORMATS.get((bits, group, symmetric))
    if found is None:
        raise ConfigurationError(
            tr("Integer weights of {bits} bits in groups of {group} are not a format known here.", bits=bits, group=group)
        )
    return found


def _signed(fields: Fields, name: str, fallback: int) -> int:
    """A whole number that may be -1, and 0 only where that is what absence means."""
    if fields.raw(name) == -1:
        return -1
    return fields.size(name, fallback) if fallback else fields.count(name)


def _awq(fields: Fields) -> Scheme:
    symmetric = not fields.flag("zero_point", True)
    name = _integer(fields.size("bits", 4), _signed(fields, "group_size", 128), symmetric=symmetric)
    return Scheme(name, _ignored(fields, "modules_to_not_convert"))


def _gptq(fields: Fields) -> Scheme:
    """GPTQ stores zero points whether or not its quantisation is symmetric."""
    name = _integer(fields.size("bits", 4), _signed(fields, "group_size", 128), symmetric=False)
    dynamic = fields.table("dynamic") or {}
    skipped = [f"re:{key[2:]}" for key in dynamic if isinstance(key, str) and key.startswith("-:")]
    return Scheme(name, ModulePatterns(skipped), head=fields.flag("lm_head"))


def _bitsandbytes(fields: Fields) -> Scheme:
    ignored = _ignored(fields, "llm_int8_skip_modules")
    if fields.flag("load_in_8bit"):
        return Scheme("int8", ignored)
    return Scheme("nf4_dq" if fields.flag("bnb_4bit_use_double_quant") else "nf4", ignored)


def _mxfp4(fields: Fields) -> Scheme:
    """Expert matrices only, as published with gpt-oss."""
    return Scheme("mxfp4", _ignored(fields, "modules_to_not_convert"), experts_only=True)


def _weights_format(weights: Fields, layout: str, *, activations: bool) -> str:
    """Format of one compressed-tensors group of weights."""
    bits, kind = weights.size("num_bits", 8), weights.text("type", "int")
    group, strategy = _signed(weights, "group_size", 0), weights.text("strategy")
    if "nvfp4" in layout:
        return "nvfp4"
    if "mxfp4" in layout:
        return "mxfp4"
    if kind == "float":
        if bits == 4:
            return "nvfp4" if group == 16 else "mxfp4"
        if strategy == "block":
            return "fp8_block128"
        return "mxfp8" if group == 32 else "fp8"
    symmetric = weights.flag("symmetric", True)
    return _integer(bits, group if strategy in ("group", "") else -1, symmetric=symmetric, activations=activations)


def _compressed(fields: Fields) -> Scheme:
    """compressed-tensors: groups of targets, each with its weights' layout."""
    groups = fields.table("config_groups")
    if not groups:
        raise ConfigurationError(tr("'config_groups' of the quantisation must name at least one group."))
    default, named = None, []
    ignored = _ignored(fields, "ignore")
    for key in list(groups)[:1000]:
        group = Fields(groups, {}, "config_groups").inner(str(key))
        weights = group.inner("weights") if group is not None else None
        if group is None or weights is None:
            continue
        layout = group.text("format") or fields.text("format")
        found = _weights_format(weights, layout, activations=group.table("input_activations") is not None)
        targets = group.listing("targets") or ["Linear"]
        if "Linear" in targets:
            default = found
        else:
            named.append((ModulePatterns(targets), found))
    return Scheme(default, ignored, tuple(named), head=_has_list(fields, "ignore"))


def _algorithm(name: str) -> str:
    found = ALGORITHMS.get(name.upper())
    if found is None:
        raise ConfigurationError(
            tr(
                "The quantisation algorithm {name} is not understood; known are {known}.",
                name=shown(name),
                known=", ".join(ALGORITHMS),
            )
        )
    return found


def _modelopt(fields: Fields) -> Scheme:
    if fields.text("quant_algo").upper() == "MIXED_PRECISION":
        return _mixed(fields, None)
    ignored = _ignored(fields, "exclude_modules", "ignore", "modules_to_not_convert")
    if not fields.text("quant_algo") and fields.table("config_groups"):
        return _compressed(fields)
    return Scheme(_algorithm(fields.text("quant_algo")), ignored, head=not ignored.is_empty)


def _mixed(fields: Fields, default: str | None) -> Scheme:
    """Formats listed per module; experts by the format of the first one listed."""
    listed = fields.table("quantized_layers") or {}
    named: dict[str, list[str]] = {}
    for module, setting in list(listed.items())[:1_000_000]:
        algorithm = setting.get("quant_algo") if isinstance(setting, Mapping) else setting
        if isinstance(algorithm, str) and isinstance(module, str):
            named.setdefault(_algorithm(algorithm), []).append(module)
    ignored = _ignored(fields, "exclude_modules", "ignore", "modules_to_not_convert")
    return Scheme(default, ignored, tuple((ModulePatterns(modules), name) for name, modules in named.items()))


def _quark(fields: Fields) -> Scheme:
    """Quark: one layout for all, exceptions by layer name."""
    settings = fields.inner("global_quant_config")
    weight = settings.inner("weight") if settings is not None else None
    ignored = _ignored(fields, "exclude")
    if weight is None:
        raise ConfigurationError(tr("'global_quant_config' of the quantisation must say how 'weight' is stored."))
    named = []
    for pattern in list(fields.table("layer_quant_config") or {})[:10_000]:
        own = Fields(fields.table("layer_quant_config") or {}, {}, "layer_quant_config").inner(str(pattern))
        inside = own.inner("weight") if own is not None else None
        if inside is not None:
            named.append((ModulePatterns([pattern]), _quark_format(inside)))
    return Scheme(_quark_format(weight), ignored, tuple(named), head=not ignored.is_empty)


def _quark_format(weight: Fields) -> str:
    dtype, group = weight.text("dtype").lower(), _signed(weight, "group_size", 0)
    if dtype.startswith("fp8"):
        return "mxfp8" if group == 32 else "fp8"
    if dtype in ("fp4", "mxfp4"):
        return "nvfp4" if group == 16 else "mxfp4"
    if dtype.startswith(("fp6", "mxfp6")):
        return "mxfp6"
    if dtype in ("int4", "uint4", "int8", "uint8"):
        symmetric = weight.flag("symmetric", True)
        return _integer(int(dtype[-1]), group, symmetric=symmetric, activations=True)
    raise ConfigurationError(tr("The quantisation type {name} is not understood.", name=shown(dtype)))


def with_formats(groups: tuple[LayerGroup, ...], scheme: Scheme) -> tuple[LayerGroup, ...]:
    """Layers with the format of each tensor; layers that differ in format become groups of their own."""
    n_looks = sum((g.n_layers if scheme.by_layer else 1) * len(b.tensors) for g in groups for b in g.blocks)
    if n_looks * scheme.cost > MAX_COMPARISONS:
        raise ConfigurationError(tr("The quantisation names more module patterns than can be compared with all layers."))
    out: list[LayerGroup] = []
    for group in groups:
        tensors = [t for block in group.blocks for t in block.tensors]
        if not scheme.by_layer:
            out.append(_formatted(group, group.layers, tuple(scheme.format_of(group.layers[0], t) for t in tensors)))
            continue
        found: dict[tuple[str | None, ...], list[int]] = {}
        for layer in group.layers:
            found.setdefault(tuple(scheme.format_of(layer, t) for t in tensors), []).append(layer)
        out += [_formatted(group, tuple(layers), formats) for formats, layers in found.items()]
    return tuple(out)


def _formatted(group: LayerGroup, layers: tuple[int, ...], formats: tuple[str | None, ...]) -> LayerGroup:
    given = iter(formats)
    blocks = []
    for block in group.blocks:
        tensors = tuple(t.model_copy(update={"stored_as": next(given)}) for t in block.tensors)
        blocks.append(block.model_copy(update={"tensors": tensors}))
    return group.model_copy(update={"layers": layers, "blocks": tuple(blocks)})


def main_format(groups: tuple[LayerGroup, ...]) -> str:
    """Format that most parameters in the layers have."""
    sizes: dict[str, int] = {}
    for group in groups:
        for tensor in (t for block in group.blocks for t in block.tensors):
            name = tensor.stored_as or "bf16"
            sizes[name] = sizes.get(name, 0) + tensor.n_parameters * group.n_layers
    return max(sizes, key=lambda name: sizes[name], default="bf16")
