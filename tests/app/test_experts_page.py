"""The page Dense and experts without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline.dashboard.experts_words import UNLIKE
from roofline.dashboard.shell import FAULT

from .runs import address, html

APP = str(Path(__file__).parents[2] / "app.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app._page_hash = calc_hash("experts")
    return app.run()


def values(app: AppTest) -> list[str]:
    return [re.sub("<[^>]*>", "", shown) for shown in re.findall(r'<p class="rf-value">(.*?)</p>', html(app))]


def test_a_mixture_is_laid_open() -> None:
    app = opened(tp="8", pp="2")
    assert not app.exception
    # DeepSeek-V3: 671 B, 37.6 B with the tables; 64 tokens of a stage touch 256 (1 - (1 - 8/256)^64) experts
    assert values(app)[:3] == ["671 billion", "37.6 billion", "222 of 256"]
    charts = app.get("plotly_chart")
    assert len(charts) == 2
    assert all(len(chart.proto.alt) > 40 for chart in charts)
    assert "128, this scenario" in html(app)
    assert "64 tokens of a step meet" in html(app)
    assert [b.proto.label for b in app.get("download_button")] == ["Download both as CSV"]


def test_a_dense_model_says_so_and_offers_experts() -> None:
    app = opened(model="llama-3.3-70b")
    assert "Llama-3.3-70B-Instruct is dense" in html(app)
    assert not app.get("plotly_chart")
    offers = [b for b in app.button if "active of" in b.label]
    assert len(offers) == 3
    offers[0].click()
    app.run()
    assert address(app)["model"] != "llama-3.3-70b"
    assert len(app.get("plotly_chart")) == 2


@pytest.mark.parametrize(
    "query",
    [
        {"n": "1", "batch": "8"},
        {"model": "gpt-oss-120b", "hw": "apple-m4max", "n": "1", "batch": "1"},
        {"model": "mixtral-8x7b", "n": "2", "batch": "most"},
        {"rate": "2"},
        {"batch": "100000"},
        {"model": "jamba-v0.1", "hw": "h200-sxm", "n": "8", "batch": "16384"},
    ],
    ids=str,
)
def test_every_load_gets_an_answer_in_words(query) -> None:
    app = opened(**query)
    assert not app.exception
    assert FAULT not in html(app)
    assert not re.search(r"\bnan\b|\bn/a\b|>None<", html(app))


def test_experts_in_host_memory_are_laid_open_without_the_comparison() -> None:
    app = opened(model="gpt-oss-120b", hw="rtx4090", n="1", batch="1", host="epyc-9654", off="experts")
    assert not app.exception
    assert UNLIKE in html(app)
    assert len(app.get("plotly_chart")) == 2


def test_a_scenario_without_an_answer_is_refused_like_anywhere() -> None:
    app = opened(ep="300")
    assert not app.exception
    assert "No answer for this" in html(app)
    assert "Let the program choose the plan" in [b.label for b in app.button]


def test_a_damaged_link_is_told() -> None:
    app = opened(batch="zip", model="mixtral-8x7b")
    assert "Part of the link could not be read" in html(app)
    assert address(app)["model"] == "mixtral-8x7b"
