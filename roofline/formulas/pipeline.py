"""Pipelines: bubbles and what stages do with few micro-batches."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def fill_drain_frac(*, n_stages: Floats, n_micro_batches: Floats) -> Floats:
    """Share of a pass that stages spend waiting for the pipeline to fill and drain.

        u = (p - 1) / (m + p - 1)                                                [1, sec. 2.3]

    Equal stages, hand-over hidden. Some sources give the share of the ideal time instead, (p - 1) / m.

    [1] Y. Huang et al., "GPipe", NeurIPS 2019. arXiv:1811.06965

    >>> fill_drain_frac(n_stages=4, n_micro_batches=5)
    0.375
    """
    return (n_stages - 1.0) / (n_micro_batches + n_stages - 1.0)


def stage_utilisation_frac(*, n_stages: Floats, n_micro_batches: Floats) -> Floats:
    """Share of stages that have work in steady decode.

        u = min(1, m / p)                                                        [1, part 7]

    A sequence cannot start its next token before the last stage has given it the current one, so m groups of
    sequences keep at most m of p equal stages busy.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> float(stage_utilisation_frac(n_stages=4, n_micro_batches=1))
    0.25
    """
    return np.minimum(1.0, n_micro_batches / n_stages)


def pipelined_s(*, stack_s: Floats, n_stages: Floats, n_micro_batches: Floats) -> Floats:
    """Time of a stack of layers cut into stages when the work comes in micro-batches.

        T = T_stack (m + p - 1) / (m p)                                          [1, sec. 2.3]

    T_stack is the time of the whole batch through all layers, one stage after the other; equal stages. A micro-batch takes
    1 / m of it: true while compute bound, too quick where each micro-batch reads the weights anew.

    [1] Y. Huang et al., "GPipe", NeurIPS 2019. arXiv:1811.06965

    >>> pipelined_s(stack_s=8.0, n_stages=4, n_micro_batches=1)
    8.0
    """
    return stack_s * (n_micro_batches + n_stages - 1.0) / (n_micro_batches * n_stages)


def interleaved_bubble_ratio(*, n_stages: Floats, n_micro_batches: Floats, n_chunks: Floats) -> Floats:
    """Waiting of a pipeline over its ideal time, each stage holding several chunks of layers.

        t_b / t_id = (p - 1) / (v m)                                             [1, sec. 2.2.2]

    With one chunk it is the ratio of `fill_drain_frac` told over the ideal instead of the whole time. Hand-over, v times as
    often, is hidden.

    [1] D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using Megatron-LM", SC 2021.
    arXiv:2104.04473

    >>> interleaved_bubble_ratio(n_stages=4, n_micro_batches=6, n_chunks=2)
    0.25
    """
    return (n_stages - 1.0) / (n_micro_batches * n_chunks)
