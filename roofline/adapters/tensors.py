"""Short makers of tensors and norms, shared by the cards."""

from __future__ import annotations

from roofline.specs.model import Block, Part, Split, Tensor


def matrix(
    operator: str,
    module: str,
    part: Part,
    n_out: int,
    n_in: int,
    *,
    split: Split = "replicated",
    gguf: str = "",
    copies: int = 1,
) -> Tensor:
    """A weight matrix that multiplies every token, or every routed token."""
    return Tensor(operator=operator, module=module, gguf=gguf, part=part, n_out=n_out, n_in=n_in, n_copies=copies, split=split)


def vector(operator: str, module: str, part: Part, n: int, *, split: Split = "replicated", copies: int = 1) -> Tensor:
    """A bias, a norm weight or another elementwise parameter."""
    return Tensor(operator=operator, module=module, part=part, n_out=n, n_copies=copies, use="vector", split=split)


def convolution(module: str, channels: int, columns: int, *, split: Split = "heads") -> Tensor:
    """A depthwise causal convolution: as many weights per channel as columns."""
    return Tensor(
        operator="state_space/convolution",
        module=module,
        gguf="ssm_conv1d",
        part="state_space",
        n_out=channels,
        n_in=columns,
        use="convolution",
        split=split,
    )


def norm(module: str, size: int, kind: str = "rms") -> tuple[Tensor, ...]:
    """Weights of a norm: RMS norm and bias-free layer norm have ``size``, layer norm twice that, ``none`` nothing.

    B. Zhang, R. Sennrich, "Root mean square layer normalization", 2019; J. L. Ba et al., "Layer normalization", 2016.
    """
    n = {"rms": size, "weight": size, "layer": 2 * size, "none": 0}[kind]
    return (vector("norms", module, "norm", n),) if n else ()


def norm_block(sizes: dict[str, int], kind: str) -> Block:
    """The norms of a layer, by module."""
    tensors = tuple(t for module, size in sizes.items() for t in norm(module, size, kind))
    return Block(kind="norms", tensors=tensors, reduces=False)
