"""Questions worth opening with. A preset is a scenario; its link is the preset."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.language import later
from roofline.specs.scenario import Scenario
from roofline.units import MILLI


@dataclass(frozen=True)
class Preset:
    """A named question."""

    id: str
    title: str
    """To be translated."""
    question: str
    scenario: Scenario


PRESETS: tuple[Preset, ...] = (
    Preset(
        "deepseek-16-h100",
        later("DeepSeek-V3 on 16 × H100"),
        "Why is DeepSeek cheap at scale?",
        Scenario(model="deepseek-v3", hardware="h100-sxm", devices=16, input_tokens=4096, output_tokens=1024, batch=128),
    ),
    Preset(
        "deepseek-epyc",
        later("DeepSeek-V3 on an EPYC 9004 with 384 GB"),
        "And why is it dear at home?",
        Scenario(
            model="deepseek-v3",
            hardware="epyc-9654",
            weights="q3_k_m",
            input_tokens=1024,
            output_tokens=512,
            batch=1,
            memory_gib=384,
        ),
    ),
    Preset(
        "deepseek-16-3090",
        later("DeepSeek-V3 on 16 × RTX 3090"),
        "Can a rack of old gaming cards do it?",
        Scenario(
            model="deepseek-v3",
            hardware="rtx3090",
            devices=16,
            weights="q3_k_m",
            input_tokens=1024,
            output_tokens=512,
            batch=1,
        ),
    ),
    Preset(
        "llama-70b-dgx-1",
        later("Llama-3.3-70B on a used DGX-1"),
        "What does a used server with eight old GPUs still do?",
        Scenario(
            model="llama-3.3-70b",
            hardware="v100-sxm2-32",
            devices=8,
            weights="fp16",
            input_tokens=1024,
            output_tokens=512,
            batch=1,
        ),
    ),
    Preset(
        "maverick-cerebras",
        later("Llama-4-Maverick on 20 wafers"),
        "How can one user get 2,500 tokens a second?",
        Scenario(
            model="llama-4-maverick",
            hardware="cerebras-cs3",
            devices=20,
            weights="bf16",
            input_tokens=1024,
            output_tokens=512,
            batch=1,
        ),
    ),
    *(
        Preset(
            f"window-{milliseconds}-ms",
            title,
            "What does waiting for a fuller batch cost each user?",
            Scenario(
                model="deepseek-v3",
                hardware="h100-sxm",
                devices=16,
                input_tokens=1024,
                output_tokens=400,
                request_rate=10.0,
                batching_window_s=milliseconds * MILLI,
            ),
        )
        for milliseconds, title in (
            (5, later("A batching window of 5 ms")),
            (200, later("A batching window of 200 ms")),
        )
    ),
    Preset(
        "llama-70b-h200",
        later("Llama-3.3-70B on one H200"),
        "What does one large GPU serve?",
        Scenario(
            model="llama-3.3-70b",
            hardware="h200-sxm",
            weights="fp8",
            kv_cache="fp8",
            input_tokens=2048,
            output_tokens=512,
            batch=32,
        ),
    ),
    Preset(
        "gpt-oss-mac",
        later("gpt-oss-120b on a Mac"),
        "How fast is a big sparse model on a desk?",
        Scenario(model="gpt-oss-120b", hardware="apple-m4max", input_tokens=2048, output_tokens=512, batch=1),
    ),
    Preset(
        "llama-8b-4090",
        later("Llama-3.1-8B on an RTX 4090"),
        "What does a gaming card do with a small model?",
        Scenario(model="llama-3.1-8b", hardware="rtx4090", weights="q4_k_m", input_tokens=1024, output_tokens=512, batch=1),
    ),
    Preset(
        "700-million-users",
        later("A 700-million-user service"),
        "What do 700 million weekly users need?",
        Scenario(
            model="deepseek-v3",
            hardware="h200-sxm",
            devices=32_768,
            input_tokens=1024,
            output_tokens=400,
            request_rate=46_296.3,
        ),
    ),
)
"""The last one: 700 million people a week, 20 messages each, evenly over the week, times a peak factor of two."""
