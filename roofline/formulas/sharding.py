"""Dividing a model: what its collectives cost together, and how far dividing helps."""

from __future__ import annotations

from roofline.units import Floats


def serial_collectives_s(*, n_layers: Floats, n_collectives_per_layer: Floats, collective_s: Floats) -> Floats:
    """Time of collectives that come one after the other in every layer.

        T = L c t                                                                [1, latency calculations]

    With t the latency of an empty message, the floor of a step that no bandwidth lowers. Nothing is hidden.

    [1] C. Chen, "Transformer inference arithmetic", kipply's blog, 2022. https://kipp.ly/transformer-inference-arithmetic/

    >>> serial_collectives_s(n_layers=80, n_collectives_per_layer=2, collective_s=1e-5)
    0.0016
    """
    return n_layers * n_collectives_per_layer * collective_s


def tensor_exchange_s(
    *,
    n_layers: Floats,
    n_exchanges_per_layer: Floats,
    n_tokens: Floats,
    hidden_size: Floats,
    bytes_per_element: Floats,
    link_bytes_per_s: Floats,
) -> Floats:
    """Time that activations of a step spend on the links of a tensor group.

        T = L c m D b_a / W_n                                                    [1, latency calculations]

    c counts how often the whole activation crosses a link in a layer: 4 for two all-reduces around a ring of many devices.
    Latency is left out.

    [1] C. Chen, "Transformer inference arithmetic", kipply's blog, 2022. https://kipp.ly/transformer-inference-arithmetic/

    >>> shape = {"n_layers": 80, "n_exchanges_per_layer": 4, "hidden_size": 8192, "bytes_per_element": 2}
    >>> round(tensor_exchange_s(n_tokens=512, link_bytes_per_s=3e11, **shape), 5)
    0.00895
    """
    return n_layers * n_exchanges_per_layer * n_tokens * hidden_size * bytes_per_element / link_bytes_per_s


def most_tensor_devices(
    *, feed_forward_size: Floats, n_tokens: Floats, bandwidth_bytes_per_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Devices beyond which a feed-forward bound by memory becomes bound by its links.

        p* = F W_n / (m W)                                                       [1, part 7, generation]

    Gathering 2 m D bytes then takes longer than reading 2 D F / p. Weights and activations of equal width; W_n counts both
    directions of the ring.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> most_tensor_devices(feed_forward_size=16384, n_tokens=32, bandwidth_bytes_per_s=8e11, link_bytes_per_s=1e11)
    64.0
    """
    return feed_forward_size * link_bytes_per_s / (n_tokens * bandwidth_bytes_per_s)


def two_dimensional_devices(*, feed_forward_size: Floats, hidden_size: Floats) -> Floats:
    """Devices of a three-dimensional torus above which weights are better divided by both sides than by one.

        n* = 18 F / D                                                            [1, part 7, question 7]

    By one side over three axes a feed-forward takes 4 m D / (3 W_n); by both it takes 2 m D / (x W_n) over two axes and
    4 m F x / (n W_n) over the third, least at their geometric mean.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> two_dimensional_devices(feed_forward_size=16384, hidden_size=4096)
    72.0
    """
    return 18.0 * feed_forward_size / hidden_size


def latency_bound_bytes(*, n_devices: Floats, link_bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """Size of an array, divided over devices, below which sending a share takes less than its latency.

        V* = p W_n alpha                                                         [1, part 7, appendix C]

    Below it more bandwidth does not help.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> round(latency_bound_bytes(n_devices=8, link_bytes_per_s=4.5e10, latency_s=1e-6))
    360000
    """
    return n_devices * link_bytes_per_s * latency_s
