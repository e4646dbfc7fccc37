"""The plain number format of a file: what tensors have that no quantisation names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roofline.adapters.fields import Fields, shown
from roofline.language import tr
from roofline.specs.model import LayerGroup, Tensor

DTYPES: Mapping[str, str | None] = {
    "float32": "fp32",
    "float": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": None,
}
"""PyTorch's names, with or without its own before them, to format ids; None is the 16 bit that is assumed elsewhere."""


def plain_format(config: Mapping[str, object], decoder: Mapping[str, object], fields: Fields, *, quantised: bool) -> str | None:
    """Format that ``torch_dtype`` or ``dtype`` states, of the whole model before its decoder; None is bf16.

    Where it is absent, or is none that is known, 16 bit is assumed and said, unless a quantisation says how most is stored.
    """
    stated = [place.get(name) for place in (config, decoder) for name in ("torch_dtype", "dtype")]
    name = next((value for value in stated if value not in (None, "", "auto")), None)
    plain = name.removeprefix("torch.").lower() if isinstance(name, str) else ""
    if plain in DTYPES:
        return DTYPES[plain]
    if name is not None:
        fields.assume("torch_dtype", tr("dtype {name} is not known: 16 bit is assumed for plain tensors.", name=shown(name)))
    elif not quantised:
        fields.assume("torch_dtype", tr("The file states no dtype: 16 bit is assumed."))
    return None


def with_plain(groups: Iterable[LayerGroup], plain: str) -> tuple[LayerGroup, ...]:
    """Layers whose tensors have this format where they have none of their own."""
    return tuple(
        group.model_copy(
            update={
                "blocks": tuple(
                    block.model_copy(update={"tensors": tuple(plain_tensors(block.tensors, plain))}) for block in group.blocks
                )
            }
        )
        for group in groups
    )


def plain_tensors(tensors: Iterable[Tensor], plain: str) -> list[Tensor]:
    """The same for tensors outside the layers."""
    return [t if t.stored_as is not None else t.model_copy(update={"stored_as": plain}) for t in tensors]
