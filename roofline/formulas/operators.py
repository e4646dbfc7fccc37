"""Matrix products: FLOPs, bytes, intensity, and how full they keep the arithmetic units."""

from __future__ import annotations

from roofline.units import Floats


def matmul_flops(*, n_tokens: Floats, n_in: Floats, n_out: Floats) -> Floats:
    """FLOPs of a matrix product of tokens with a weight matrix.

        F = 2 B D F                                                              [1, part 1]

    A multiply-add counts as two.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> matmul_flops(n_tokens=2, n_in=3, n_out=4)
    48.0
    """
    return 2.0 * n_tokens * n_in * n_out


def matmul_traffic_bytes(
    *,
    n_tokens: Floats,
    n_in: Floats,
    n_out: Floats,
    weight_bytes_per_parameter: Floats,
    activation_bytes_per_element: Floats,
) -> Floats:
    """Compulsory traffic of a matrix product: weights, inputs and outputs once each.

        Q = b_w D F + b_a B (D + F)                                              [1, part 1]

    Assumes the product is tiled so that nothing is read twice.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> matmul_traffic_bytes(n_tokens=1, n_in=3, n_out=4, weight_bytes_per_parameter=2, activation_bytes_per_element=2)
    38
    """
    return weight_bytes_per_parameter * n_in * n_out + activation_bytes_per_element * n_tokens * (n_in + n_out)


def matmul_intensity_flops_per_byte(
    *,
    n_tokens: Floats,
    n_in: Floats,
    n_out: Floats,
    weight_bytes_per_parameter: Floats,
    activation_bytes_per_element: Floats,
) -> Floats:
    """Arithmetic intensity of a matrix product; tends to 2 B / b_w for few tokens.

        I = 2 B D F / (b_w D F + b_a B (D + F))                                  [1, part 1]

    Assumes each operand moves once.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> shape = {"n_in": 4096, "n_out": 4096, "weight_bytes_per_parameter": 2, "activation_bytes_per_element": 2}
    >>> round(matmul_intensity_flops_per_byte(n_tokens=1, **shape), 3)
    1.0
    """
    traffic = matmul_traffic_bytes(
        n_tokens=n_tokens,
        n_in=n_in,
        n_out=n_out,
        weight_bytes_per_parameter=weight_bytes_per_parameter,
        activation_bytes_per_element=activation_bytes_per_element,
    )
    return matmul_flops(n_tokens=n_tokens, n_in=n_in, n_out=n_out) / traffic


def saturating_frac(*, n_tokens: Floats, half_tokens: Floats) -> Floats:
    """Share of its best rate that a matrix product reaches with few tokens.

        f = m / (m + m0)                                                         [1, r-infinity and n-half]

    m0 is the count at which half the rate is reached: tiles and pipelines fill from there on.

    [1] R. Hockney, "Characterizing computers and optimizing the FACR(l) Poisson-solver", IEEE Trans. Comput. C-32, 1983.

    >>> saturating_frac(n_tokens=64, half_tokens=64)
    0.5
    """
    return n_tokens / (n_tokens + half_tokens)
