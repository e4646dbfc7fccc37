"""Serving: rates of requests and tokens, pools of prefill and decode, cached prompts."""

from __future__ import annotations

from roofline.units import Floats


def decode_tokens_per_s(*, n_sequences: Floats, step_s: Floats) -> Floats:
    """Tokens that a decode step yields per second; of one sequence, the speed its user sees.

        R = B / T                                                                [1, part 7]

    Every sequence gains one token a step.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/inference/

    >>> decode_tokens_per_s(n_sequences=32, step_s=0.016)
    2000.0
    """
    return n_sequences / step_s


def requests_per_s(*, n_sequences: Floats, step_s: Floats, n_output_tokens: Floats) -> Floats:
    """Requests that steady decode finishes per second.

        q = B / (T G)                                                            [1, part 8, throughput]

    A finished sequence is replaced at once; prefill runs elsewhere.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> requests_per_s(n_sequences=40, step_s=0.02, n_output_tokens=500)
    4.0
    """
    return n_sequences / (step_s * n_output_tokens)


def prefill_decode_ratio(*, prefill_s: Floats, n_sequences: Floats, step_s: Floats, n_output_tokens: Floats) -> Floats:
    """Prefill servers for each decode server when both pools are busy.

        P / D = T_prefill B / (T G)                                              [1, part 8, disaggregation]

    A prefill server works on one prompt at a time; the cache moves for free.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> prefill_decode_ratio(prefill_s=1.0, n_sequences=40, step_s=0.02, n_output_tokens=500)
    4.0
    """
    return prefill_s * n_sequences / (step_s * n_output_tokens)


def prefix_hit_frac(*, n_cached_tokens: Floats, n_input_tokens: Floats) -> Floats:
    """Share of prompt tokens whose keys and values are found in a cache.

        h = T_cached / T                                                         [1, statistics]

    Prefill works on the rest, 1 - h, but attends to all.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 inference system overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> prefix_hit_frac(n_cached_tokens=3072, n_input_tokens=4096)
    0.75
    """
    return n_cached_tokens / n_input_tokens
