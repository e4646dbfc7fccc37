"""Field dictionary: the names under which configuration files state a quantity, in order of precedence.

A dotted name is a key of a nested table. The names are those of the published configuration classes and of the
configuration files beside the checkpoints.
"""

from __future__ import annotations

ALIASES: dict[str, tuple[str, ...]] = {
    "hidden_size": ("hidden_size", "n_embd", "d_model", "emb_dim"),
    "n_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"),
    "n_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"),
    "n_kv_heads": (
        "num_key_value_heads",
        "num_kv_heads",
        "num_query_groups",
        "num_attention_groups",
        "attn_config.kv_n_heads",
    ),
    "key_size": ("head_dim", "attention_head_dim", "kv_channels", "d_kv"),
    "value_size": ("v_head_dim",),
    "nope_size": ("qk_nope_head_dim",),
    "rope_size": ("qk_rope_head_dim",),
    "query_rank": ("q_lora_rank",),
    "latent_rank": ("kv_lora_rank",),
    "output_rank": ("o_lora_rank",),
    "window": ("sliding_window", "sliding_window_size", "attention_window_size", "window_size"),
    "ffn_size": (
        "intermediate_size",
        "ffn_hidden_size",
        "n_inner",
        "ffn_dim",
        "d_ff",
        "decoder_ffn_dim",
        "ff_intermediate_size",
        "block_ff_dim",
    ),
    "expert_size": ("moe_intermediate_size", "expert_ffn_hidden_size", "ffn_config.ffn_hidden_size"),
    "shared_size": (
        "shared_expert_intermediate_size",
        "moe_shared_expert_intermediate_size",
        "share_expert_dim",
        "shared_intermediate_size",
    ),
    "n_experts": (
        "n_routed_experts",
        "num_local_experts",
        "num_experts",
        "moe_num_experts",
        "ffn_config.moe_num_experts",
    ),
    "n_active": (
        "num_experts_per_tok",
        "num_experts_per_token",
        "moe_topk",
        "moe_top_k",
        "top_k_experts",
        "experts_per_token",
        "moe_k",
        "num_selected_experts",
        "ffn_config.moe_top_k",
    ),
    "n_shared": (
        "n_shared_experts",
        "num_shared_experts",
        "num_shared_expert",
        "moe_num_shared_experts",
    ),
    "n_groups": ("n_group", "num_expert_group"),
    "n_active_groups": ("topk_group",),
    "vocabulary": ("padded_vocab_size", "vocab_size"),
    "positions": ("n_positions", "max_position_embeddings", "max_target_positions", "n_ctx"),
    "context": (
        "max_position_embeddings",
        "n_positions",
        "max_sequence_length",
        "model_max_length",
        "seq_length",
        "max_seq_len",
        "n_ctx",
        "max_target_positions",
    ),
    "state_size": ("mamba_d_state", "ssm_state_size", "state_size"),
    "convolution_size": ("mamba_d_conv", "conv_kernel", "conv1d_width", "conv_L_cache", "linear_conv_kernel_dim"),
    "state_heads": ("mamba_n_heads", "mamba_num_heads", "n_mamba_heads", "num_heads"),
    "state_head_size": ("mamba_d_head", "mamba_head_dim", "mamba_headdim"),
    "state_groups": ("mamba_n_groups", "mamba_ngroups", "n_groups"),
    "state_expansion": ("expand", "mamba_expand"),
    "step_rank": ("time_step_rank", "mamba_dt_rank"),
    "state_chunk": ("chunk_size", "mamba_chunk_size"),
    "draft_layers": (
        "num_nextn_predict_layers",
        "mtp_num_hidden_layers",
        "num_mtp_modules",
        "num_mtp_layers",
    ),
    "layer_kinds": ("layers_block_type", "layer_types", "block_types"),
}
"""Quantity to names, first explicit value wins."""

NESTED_DECODERS: tuple[tuple[str, ...], ...] = (
    ("text_config",),
    ("llm_config",),
    ("language_config",),
    ("thinker_config", "text_config"),
)
"""Where files of many-sense models keep the decoder."""
