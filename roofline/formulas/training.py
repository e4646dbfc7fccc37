"""Training: work per token, activations kept, tokens for a size."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats

_LINEAR_BYTES = 34.0
"""Activations that a layer keeps outside attention, per token and width, in 16 bit [Korthikanti et al., eq. 1]."""
_SCORE_BYTES = 5.0
"""Of scores, their softmax and its mask, per pair and head [Korthikanti et al., eq. 1]."""


def training_flops(*, n_parameters: Floats, n_tokens: Floats, n_passes: Floats) -> Floats:
    """Work of training a model on tokens.

        F = 2 r P T                                                              [1, sec. 2.1]

    r is 3 with one forward and a backward pass of twice that, 4 where the forward pass is repeated to save memory. Attention
    to other tokens is left out.

    [1] J. Kaplan et al., "Scaling laws for neural language models", 2020. arXiv:2001.08361

    >>> training_flops(n_parameters=1e9, n_tokens=2e10, n_passes=3)
    1.2e+20
    """
    return 2.0 * n_passes * n_parameters * n_tokens


def training_flops_per_token(
    *, n_parameters: Floats, n_layers: Floats, n_heads: Floats, key_size: Floats, value_size: Floats, n_tokens: Floats
) -> Floats:
    """Work of training on one token of a sequence, causal attention included.

        F = 6 P + 3 L N (d_k + d_v) S                                            [1, table 2]

    P are the parameters a token is multiplied by. A query sees half of S on average; backward takes twice the forward pass.

    [1] C. Zhao et al., "Insights into DeepSeek-V3", ISCA 2025. arXiv:2505.09343

    >>> training_flops_per_token(n_parameters=100, n_layers=1, n_heads=2, key_size=4, value_size=4, n_tokens=10)
    1080.0
    """
    return 6.0 * n_parameters + 3.0 * n_layers * n_heads * (key_size + value_size) * n_tokens


def layer_activation_bytes(
    *, n_tokens: Floats, n_sequences: Floats, hidden_size: Floats, n_heads: Floats, n_devices: Floats
) -> Floats:
    """Activations that one layer keeps for the backward pass.

        M = S B D (34 + 5 N S / D) / p                                           [1, eq. 4]

    16 bit, attention not fused, tensor and sequence parallel over p devices.

    [1] V. Korthikanti et al., "Reducing activation recomputation in large transformer models", 2022. arXiv:2205.05198

    >>> layer_activation_bytes(n_tokens=10, n_sequences=1, hidden_size=5, n_heads=2, n_devices=1)
    2700.0
    """
    return n_tokens * n_sequences * (_LINEAR_BYTES * hidden_size + _SCORE_BYTES * n_heads * n_tokens) / n_devices


def selective_saving_frac(*, n_tokens: Floats, hidden_size: Floats, n_heads: Floats) -> Floats:
    """Share of kept activations saved by working out attention again in the backward pass.

        f = x / (34 + x),  x = 5 N S / D                                         [1, sec. 5]

    16 bit, attention not fused.

    [1] V. Korthikanti et al., "Reducing activation recomputation in large transformer models", 2022. arXiv:2205.05198

    >>> round(selective_saving_frac(n_tokens=2048, hidden_size=12288, n_heads=96), 3)
    0.702
    """
    scores = _SCORE_BYTES * n_heads * n_tokens / hidden_size
    return scores / (_LINEAR_BYTES + scores)


def compute_optimal_parameters(*, work_flops: Floats, tokens_per_parameter: Floats) -> Floats:
    """Size of a dense model that spends a budget of training at a ratio of tokens to parameters.

        P = sqrt(F / (6 r))                                                      [1, sec. 3]

    From F = 6 P T with T = r P; about 20 tokens per parameter give the least loss for the work.

    [1] J. Hoffmann et al., "Training compute-optimal large language models", 2022. arXiv:2203.15556

    >>> float(compute_optimal_parameters(work_flops=1.2e20, tokens_per_parameter=20.0))
    1000000000.0
    """
    return np.sqrt(work_flops / (6.0 * tokens_per_parameter))


def step_tokens_per_device(*, n_sequences: Floats, n_tokens: Floats, n_devices: Floats) -> Floats:
    """Tokens of a training step that fall to each device.

        m = B S / n                                                              [1, part 5]

    Data parallel over all devices; to hide gradients it must exceed the ridge point of the link.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/training/

    >>> step_tokens_per_device(n_sequences=1024, n_tokens=4096, n_devices=2048)
    2048.0
    """
    return n_sequences * n_tokens / n_devices
