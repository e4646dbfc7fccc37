"""Rooflines: ceilings, bounds on time, ridge point, critical batch, utilisation."""

from __future__ import annotations

import numpy as np

from roofline.units import Floats


def ridge_point_flops_per_byte(*, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats) -> Floats:
    """Arithmetic intensity at which compute and memory take equally long.

        I* = C / W                                                               [1, "The Roofline Model"]

    Assumes dense peak and decimal bandwidth. Below it a kernel is bound by memory, above it by compute.

    [1] S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009. doi:10.1145/1498765.1498785

    >>> round(ridge_point_flops_per_byte(peak_flops_per_s=989.4e12, bandwidth_bytes_per_s=3.35e12), 1)
    295.3
    """
    return peak_flops_per_s / bandwidth_bytes_per_s


def balance_bytes_per_flop(*, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats) -> Floats:
    """Bytes a machine can move per FLOP it can do: the inverse of the ridge point.

        b = W / C                                                                [1]

    Assumes dense peak and decimal bandwidth.

    [1] J. McCalpin, "Memory bandwidth and machine balance in current high performance computers", IEEE TCCA, 1995.

    >>> round(balance_bytes_per_flop(peak_flops_per_s=989.4e12, bandwidth_bytes_per_s=3.35e12), 5)
    0.00339
    """
    return bandwidth_bytes_per_s / peak_flops_per_s


def arithmetic_intensity_flops_per_byte(*, work_flops: Floats, traffic_bytes: Floats) -> Floats:
    """FLOPs done per byte moved to or from main memory.

        I = F / Q                                                                [1, "The Roofline Model"]

    Counts compulsory traffic: each operand once.

    [1] S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009. doi:10.1145/1498765.1498785

    >>> arithmetic_intensity_flops_per_byte(work_flops=4e12, traffic_bytes=2e10)
    200.0
    """
    return work_flops / traffic_bytes


def attainable_flops_per_s(
    *, intensity_flops_per_byte: Floats, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats
) -> Floats:
    """Highest rate that the roofline allows at an arithmetic intensity.

        R = min(C, W I)                                                          [1, "The Roofline Model"]

    Assumes compute and traffic overlap fully.

    [1] S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009. doi:10.1145/1498765.1498785

    >>> float(attainable_flops_per_s(intensity_flops_per_byte=2.0, peak_flops_per_s=1e15, bandwidth_bytes_per_s=1e12))
    2000000000000.0
    """
    return np.minimum(peak_flops_per_s, bandwidth_bytes_per_s * intensity_flops_per_byte)


def compute_s(*, work_flops: Floats, peak_flops_per_s: Floats) -> Floats:
    """Time that arithmetic alone takes.

        T_math = F / C                                                           [1, part 1]

    Assumes every unit busy, dense peak at the compute dtype.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> compute_s(work_flops=1e12, peak_flops_per_s=2e14)
    0.005
    """
    return work_flops / peak_flops_per_s


def traffic_s(*, traffic_bytes: Floats, bandwidth_bytes_per_s: Floats) -> Floats:
    """Time that memory traffic alone takes.

        T_comms = Q / W                                                          [1, part 1]

    Assumes traffic streams at full bandwidth.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> traffic_s(traffic_bytes=1e10, bandwidth_bytes_per_s=2e12)
    0.005
    """
    return traffic_bytes / bandwidth_bytes_per_s


def lower_bound_s(
    *, work_flops: Floats, traffic_bytes: Floats, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats
) -> Floats:
    """Shortest time the roofline allows: compute and traffic fully overlapped.

        T = max(F / C, Q / W)                                                    [1, "The Roofline Model"]

    Assumes each operand streams from main memory once, dense peak at the compute dtype.
    Without overlap the time is the sum (`upper_bound_s`), at most twice this.

    [1] S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009. doi:10.1145/1498765.1498785

    >>> float(lower_bound_s(work_flops=4e12, traffic_bytes=1e9, peak_flops_per_s=1e15, bandwidth_bytes_per_s=1e12))
    0.004
    """
    return np.maximum(work_flops / peak_flops_per_s, traffic_bytes / bandwidth_bytes_per_s)


def upper_bound_s(
    *, work_flops: Floats, traffic_bytes: Floats, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats
) -> Floats:
    """Time without any overlap of compute and traffic.

        T = F / C + Q / W                                                        [1, part 1]

    At most twice `lower_bound_s`; both still assume full peak and full bandwidth.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> upper_bound_s(work_flops=4e12, traffic_bytes=1e9, peak_flops_per_s=1e15, bandwidth_bytes_per_s=1e12)
    0.005
    """
    return work_flops / peak_flops_per_s + traffic_bytes / bandwidth_bytes_per_s


def soft_maximum_s(*, first_s: Floats, second_s: Floats) -> Floats:
    """Time of two activities that overlap imperfectly.

        T = sqrt(T_1^2 + T_2^2)                                                  [1, n = 2]

    The p = 2 norm: between the maximum (full overlap) and the sum (none), 1.41 times the maximum where both are equal and
    close to it elsewhere. Fits of step times hardly tell p = 2 from larger p.

    [1] S. W. Churchill, R. Usagi, "A general expression for the correlation of rates of transfer and other phenomena",
    AIChE J. 18(6), 1972. doi:10.1002/aic.690180606

    >>> float(soft_maximum_s(first_s=3.0, second_s=4.0))
    5.0
    """
    return np.sqrt(first_s * first_s + second_s * second_s)


def critical_batch_tokens(
    *, peak_flops_per_s: Floats, bandwidth_bytes_per_s: Floats, weight_bytes_per_parameter: Floats
) -> Floats:
    """Tokens in a step at which weights are read as fast as they are used.

        B* = C b_w / (2 W)                                                       [1, parts 1 and 2]

    Weights dominate the traffic and each is used for one multiply-add per token. Cache and activations are left out.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/roofline/

    >>> round(critical_batch_tokens(peak_flops_per_s=394e12, bandwidth_bytes_per_s=810e9, weight_bytes_per_parameter=1.0))
    243
    """
    return peak_flops_per_s * weight_bytes_per_parameter / (2.0 * bandwidth_bytes_per_s)


def critical_batch_experts_tokens(*, critical_batch_tokens: Floats, n_experts: Floats, n_active_experts: Floats) -> Floats:
    """Critical batch of a mixture of experts: each expert sees only its share of the tokens.

        B*_moe = B* E / k                                                        [1, parts 7 and 12]

    All experts resident in the bandwidth considered, uniform routing.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> critical_batch_experts_tokens(critical_batch_tokens=295.0, n_experts=256, n_active_experts=8)
    9440.0
    """
    return critical_batch_tokens * n_experts / n_active_experts


def mfu_frac(*, useful_flops: Floats, time_s: Floats, peak_flops_per_s: Floats) -> Floats:
    """Model FLOPs utilisation: useful work over what the peak could do in the time.

        MFU = F / (T C)                                                          [1, sec. 2]

    Counts the model's own FLOPs, not recomputation or padding, against the dense peak.

    [1] R. Pope et al., "Efficiently scaling transformer inference", 2022. arXiv:2211.05102

    >>> mfu_frac(useful_flops=4e12, time_s=0.01, peak_flops_per_s=1e15)
    0.4
    """
    return useful_flops / (time_s * peak_flops_per_s)


def mbu_frac(*, traffic_bytes: Floats, time_s: Floats, bandwidth_bytes_per_s: Floats) -> Floats:
    """Model bandwidth utilisation: compulsory bytes over what the bandwidth could move in the time.

        MBU = Q / (T W)                                                          [1]

    Counts weights and cache, each once per step; what is read again or moved for activations is not useful.

    [1] M. Agarwal et al., "LLM inference performance engineering: best practices", Databricks, 2023.

    >>> mbu_frac(traffic_bytes=1.6e10, time_s=0.01, bandwidth_bytes_per_s=2e12)
    0.8
    """
    return traffic_bytes / (time_s * bandwidth_bytes_per_s)


def clocked_peak_flops_per_s(*, n_units: Floats, flops_per_cycle: Floats, clock_cycles_per_s: Floats) -> Floats:
    """Peak of a chip from its units and its clock.

        C = n f w                                                                [1, part 12]

    w is what one unit does in a cycle: 1 per lane for additions, 2 where it multiplies and adds, thousands on a matrix unit.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/gpus/

    >>> clocked_peak_flops_per_s(n_units=132, flops_per_cycle=4096, clock_cycles_per_s=1.83e9)
    989429760000000.0
    """
    return n_units * flops_per_cycle * clock_cycles_per_s


def streamed_tokens_per_s(*, n_sequences: Floats, traffic_bytes: Floats, bandwidth_bytes_per_s: Floats) -> Floats:
    """Highest token rate that reading memory once a step allows.

        R = B W / Q                                                              [1, part 7]

    Q is what a step of all sequences reads: the weights visited, and every cache. No sequence gains more than one token a
    step; compute and network are left out.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> streamed_tokens_per_s(n_sequences=1, traffic_bytes=1.6e10, bandwidth_bytes_per_s=8e11)
    50.0
    """
    return n_sequences * bandwidth_bytes_per_s / traffic_bytes


def decode_step_s(
    *,
    work_flops: Floats,
    weight_bytes: Floats,
    cache_bytes: Floats,
    peak_flops_per_s: Floats,
    bandwidth_bytes_per_s: Floats,
    exposed_s: Floats,
) -> Floats:
    """Time of a decode step: attention reads the cache, then matrices are bound by weights or by compute.

        T = Q_kv / W + max(F / C, Q_w / W) + T_x                                 [1, part 7]

    Attention in decode is taken to be bound by memory always. T_x is what nothing hides: collectives, launches.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> machine = {"peak_flops_per_s": 1e15, "bandwidth_bytes_per_s": 1e12}
    >>> float(decode_step_s(work_flops=4e12, weight_bytes=1e9, cache_bytes=2e9, exposed_s=0.001, **machine))
    0.007
    """
    matrices = np.maximum(work_flops / peak_flops_per_s, weight_bytes / bandwidth_bytes_per_s)
    return cache_bytes / bandwidth_bytes_per_s + matrices + exposed_s


def balanced_batch_tokens(
    *,
    weight_bytes: Floats,
    work_flops_per_token: Floats,
    traffic_bytes_per_token: Floats,
    peak_flops_per_s: Floats,
    bandwidth_bytes_per_s: Floats,
) -> Floats:
    """Critical batch where each token brings traffic of its own, activations or cache.

        B* = (Q_w / W) / (F_1 / C - q / W)                                       [1, part 2]

    Compute and memory take equally long at it. Infinite where the traffic of a token outlasts its work: no batch is bound by
    compute then. `critical_batch_tokens` is the case q = 0.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/tpus/

    >>> machine = {"peak_flops_per_s": 1e14, "bandwidth_bytes_per_s": 1e12}
    >>> float(balanced_batch_tokens(weight_bytes=1e9, work_flops_per_token=2e9, traffic_bytes_per_token=1e7, **machine))
    100.0
    """
    spare_s = work_flops_per_token / peak_flops_per_s - traffic_bytes_per_token / bandwidth_bytes_per_s
    with np.errstate(divide="ignore"):
        return np.divide(weight_bytes / bandwidth_bytes_per_s, np.maximum(spare_s, 0.0 * spare_s))


def pass_s(*, step_s: Floats, n_tokens: Floats, critical_batch_tokens: Floats) -> Floats:
    """Time of a pass of many tokens, told by the step that only reads the weights.

        T = T_step max(1, m / B*)                                                [1, real benchmarks]

    Flat up to the critical batch, in proportion beyond. Weights dominate the traffic; attention is left out.

    [1] C. Chen, "Transformer inference arithmetic", kipply's blog, 2022. https://kipp.ly/transformer-inference-arithmetic/

    >>> float(pass_s(step_s=0.02, n_tokens=600, critical_batch_tokens=300))
    0.04
    """
    return step_s * np.maximum(1.0, n_tokens / critical_batch_tokens)
