"""What property tests draw from: values that a model, a machine or a load can have."""

from __future__ import annotations

from hypothesis import strategies as st

work_flops = st.just(0.0) | st.floats(1.0, 1e21)
traffic_bytes = st.just(0.0) | st.floats(1.0, 1e15)
peaks_flops_per_s = st.floats(1e9, 1e19)
bandwidths_bytes_per_s = st.floats(1e8, 1e17)
times_s = st.floats(1e-12, 1e6)
payloads_bytes = st.just(0.0) | st.floats(1e-3, 1e13)
"""Below a thousandth of a byte, rounding is all there is."""
links_bytes_per_s = st.floats(1e6, 1e13)
latencies_s = st.floats(0.0, 1e-2)
fractions = st.floats(0.0, 1.0)
growth = st.floats(1.0, 100.0)

device_counts = st.integers(1, 4096)
few_tokens = st.integers(0, 300)
token_counts = st.integers(1, 1_000_000)
spans_tokens = st.integers(1, 400)
stage_counts = st.integers(1, 512)
loads = st.floats(0.0, 0.99)

machines = st.fixed_dictionaries({"peak_flops_per_s": peaks_flops_per_s, "bandwidth_bytes_per_s": bandwidths_bytes_per_s})
links = st.fixed_dictionaries({"link_bytes_per_s": links_bytes_per_s, "latency_s": latencies_s})


@st.composite
def routings(draw: st.DrawFn) -> dict[str, int]:
    """Experts of a layer and how many a token visits."""
    n_experts = draw(st.integers(1, 2048))
    return {"n_experts": n_experts, "n_active_experts": draw(st.integers(1, n_experts))}
