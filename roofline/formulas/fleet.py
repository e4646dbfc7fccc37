"""Fleets: what users ask for, the devices that takes, racks and spares."""

from __future__ import annotations

import numpy as np

from roofline.units import SECONDS_PER_DAY, Floats

_MOST_SPARES = 10_000


def demand_tokens_per_s(*, n_users: Floats, messages_per_day: Floats, n_tokens_per_message: Floats) -> Floats:
    """Tokens per second that users ask for, averaged over the day.

        R = U m G / 86400                                                        [1]

    Users are those active in the time over which messages are counted; a week is seven days. By Little's law, the flow of
    messages times the tokens each brings.

    [1] J. Little, "A proof for the queuing formula L = lambda W", Oper. Res. 9(3), 1961.

    >>> demand_tokens_per_s(n_users=864_000, messages_per_day=10, n_tokens_per_message=500)
    50000.0
    """
    return n_users * messages_per_day * n_tokens_per_message / SECONDS_PER_DAY


def needed_devices(
    *, demand_tokens_per_s: Floats, peak_ratio: Floats, device_tokens_per_s: Floats, utilisation_frac: Floats
) -> Floats:
    """Devices that carry the busiest time of a demand.

        n = R r / (R_1 u)                                                        [1, sec. 3.2, utilisation law]

    r is the busiest rate over the mean; u the share of a device's best rate that is planned for. Not rounded to whole
    devices or replicas.

    [1] E. Lazowska et al., "Quantitative System Performance", Prentice-Hall, 1984.

    >>> needed_devices(demand_tokens_per_s=50_000.0, peak_ratio=2.0, device_tokens_per_s=1000.0, utilisation_frac=0.5)
    200.0
    """
    return demand_tokens_per_s * peak_ratio / (device_tokens_per_s * utilisation_frac)


def two_pool_devices(
    *, input_tokens_per_s: Floats, output_tokens_per_s: Floats, prefill_tokens_per_s: Floats, decode_tokens_per_s: Floats
) -> Floats:
    """Devices, or nodes, of a pool that prefills and one that decodes.

        n = R_in / R_prefill + R_out / R_decode                                  [1, statistics]

    Rates below the line are those of one device, or one node. Where prompts found in a cache count as input, they count in
    the prefill rate too. Not rounded.

    [1] DeepSeek-AI, "DeepSeek-V3/R1 inference system overview", 2025. https://github.com/deepseek-ai/open-infra-index

    >>> rates = {"prefill_tokens_per_s": 50_000.0, "decode_tokens_per_s": 10_000.0}
    >>> two_pool_devices(input_tokens_per_s=200_000.0, output_tokens_per_s=60_000.0, **rates)
    10.0
    """
    return input_tokens_per_s / prefill_tokens_per_s + output_tokens_per_s / decode_tokens_per_s


def whole_replicas(*, n_devices: Floats, n_devices_per_replica: Floats) -> Floats:
    """Whole replicas that provide at least a number of devices.

        r = ceil(n / g)                                                          [1, part 8]

    A replica is the group of devices that holds one copy of the model.

    [1] J. Austin et al., "How to Scale Your Model", 2025. https://jax-ml.github.io/scaling-book/applied-inference/

    >>> float(whole_replicas(n_devices=226.75, n_devices_per_replica=18))
    13.0
    """
    return np.ceil(n_devices / n_devices_per_replica)


def racks(*, n_devices: Floats, n_devices_per_rack: Floats, power_w: Floats, rack_power_w: Floats) -> Floats:
    """Racks that house devices, by room and by power.

        N = ceil(n / min(s, floor(P_rack / P)))                                  [1, ch. 4]

    Power is one device's share of its server at full load. Infinite where a rack cannot feed one device.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> float(racks(n_devices=100, n_devices_per_rack=32, power_w=1300.0, rack_power_w=40_000.0))
    4.0
    """
    fed = np.floor(np.divide(rack_power_w, power_w))
    with np.errstate(divide="ignore"):
        return np.ceil(np.divide(n_devices, np.minimum(n_devices_per_rack, fed)))


def availability_frac(*, n_needed: Floats, n_spare: Floats, up_frac: Floats) -> Floats:
    """Probability that enough of a group with spares are up.

        A = sum over j = 0..k of C(n + k, j) (1 - a)^j a^(n + k - j)             [1, ch. 7]

    n needed, k spare, each up with probability a, independently. Failures that take several at once are left out. Whole
    numbers; the sum takes as many rounds as the largest group has spares, at most ten thousand: more have no value here.

    [1] L. A. Barroso, U. Hölzle, P. Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018.

    >>> round(float(availability_frac(n_needed=1, n_spare=1, up_frac=0.9)), 6)
    0.99
    """
    n = n_needed + n_spare
    ways = 1.0 + 0.0 * n * up_frac
    total = ways * np.power(up_frac, n)
    for j in range(1, int(np.minimum(np.max(n_spare), _MOST_SPARES)) + 1):
        ways = ways * (n - j + 1.0) / j
        term = ways * np.power(1.0 - np.asarray(up_frac), j) * np.power(up_frac, np.maximum(n - j, 0.0))
        total = total + np.where(j <= n_spare, term, 0.0)
    return np.where(np.asarray(n_spare) > _MOST_SPARES, np.nan, total)
