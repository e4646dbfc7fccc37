"""llm-analysis: its whole request at full efficiency of arithmetic and memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import tell
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import GPUConfig, ModelConfig, ParallelismConfig, get_dtype_config_by_name


def whole_s(q: dict[str, Any]) -> float:
    """Seconds from the first prompt to the last token of a batch."""
    told = json.loads(Path(q["configuration"]).read_text(encoding="utf-8"))
    model = ModelConfig(
        name="model",
        num_layers=told["num_hidden_layers"],
        n_head=told["num_attention_heads"],
        num_key_value_heads=told["num_key_value_heads"],
        hidden_dim=told["hidden_size"],
        ffn_embed_dim=told["intermediate_size"],
        expansion_ratio=told["intermediate_size"] / told["hidden_size"],
        vocab_size=told["vocab_size"],
        max_seq_len=told["max_position_embeddings"],
        model_type="llama",
    )
    gb, gb_per_s = q["memory_bytes"] / 1e9, q["bandwidth_bytes_per_s"] / 1e9
    device = GPUConfig("device", gb, gb_per_s, 450, 8e-6, q["peak_flops_per_s"] / 1e12)
    half = get_dtype_config_by_name("w16a16e16")
    both = LLMAnalysis(model, device, half, ParallelismConfig(), flops_efficiency=1.0, hbm_memory_efficiency=1.0)
    found = both.inference(batch_size_per_gpu=q["batch"], seq_len=q["input_tokens"], num_tokens_to_generate=q["output_tokens"])
    return float(found["total_latency"])


if __name__ == "__main__":
    tell("llm-analysis", whole_s)
