"""The Accuracy page without a browser: its numbers, its filters, and tables of one's own, good and bad."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline.answers.accuracy import trust
from roofline.answers.own_rows import template
from roofline.answers.validation import counted, shipped_validation
from roofline.catalog.calibration import calibration
from roofline.dashboard import accuracy_page
from roofline.dashboard.accuracy_tables import csv_bytes, summary_frame
from roofline.dashboard.accuracy_words import limit_sentence, trust_sentence
from roofline.dashboard.shell import FAULT
from roofline.language import told_in

from .runs import html

APP = str(Path(__file__).parents[2] / "app.py")
HOSTILE = "<img src=x onerror=alert(1)>"
HEAD = "id,hardware_id,model_id,kind,metric,value,weight_format,engine,batch_or_concurrency,input_len,output_len"
GOOD = [f"own-{n},rtx3090,llama-3.1-8b,decode_single,tok/s per user,30,f16,llama-cpp,1,{n}00,128" for n in range(1, 5)]
BAD = f"{HOSTILE},rtx3090,llama-3.1-8b,decode_single,tok/s per user,fast,f16,llama-cpp,1,100,128"


def opened(page: str = "accuracy") -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    app._page_hash = calc_hash(page)
    return app.run()


def figure(app: AppTest) -> dict:
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def marks(app: AppTest) -> dict[str, int]:
    found: dict[str, int] = {}
    for trace in figure(app)["data"]:
        if trace["mode"] == "markers":
            found[trace["name"]] = found.get(trace["name"], 0) + len(trace["text"])
    return found


def pasted(text: str) -> AppTest:
    return opened().text_area(key="rows_text").set_value(text).run()


def test_the_page_opens_with_the_answer() -> None:
    app = opened()
    assert not app.exception
    assert FAULT not in html(app)
    whole = trust(shipped_validation(), calibration())
    assert trust_sentence(whole) in html(app)
    assert limit_sentence(whole) in html(app)
    assert sum(marks(app).values()) == whole.n
    assert all(len(element.proto.alt) > 15 for element in [*app.get("plotly_chart"), *app.dataframe])
    assert '<span class="rf-here" aria-current="page">Accuracy</span>' in html(app)


def test_a_filter_shows_the_kinds_chosen() -> None:
    app = opened()
    app.get("button_group")[0].set_value(["prefill"]).run()
    assert set(marks(app)) == {"prefill"}
    app.selectbox(key="view_device").set_value("rtx3090").run()
    assert not app.exception
    app.get("button_group")[0].set_value(["server"]).run()
    assert "choose others" in html(app)
    app.get("button_group")[0].set_value([]).run()
    assert not app.exception


def test_the_filter_travels_in_the_link() -> None:
    app = opened()
    app.get("button_group")[0].set_value(["prefill", "decode_single"]).run()
    app.selectbox(key="view_device").set_value("rtx3090").run()
    query = {name: value[-1] if isinstance(value, list) else value for name, value in app.query_params.items()}
    assert query["chart"] == "32768,auto,64,decode_single.prefill,rtx3090"
    other = AppTest.from_file(APP, default_timeout=120)
    other._page_hash = calc_hash("accuracy")
    other.query_params["chart"] = query["chart"]
    assert marks(other.run()) == marks(app)
    assert set(marks(app)) == {"decode, one sequence", "prefill"}


def test_a_table_of_ones_own_is_drawn_beside_the_public_rows() -> None:
    app = pasted("\n".join([HEAD, *GOOD]))
    assert not app.exception
    assert marks(app)["yours"] == 4
    assert "Your 4 rows" in html(app)
    assert "could not be compared" not in html(app)
    app.button(key="rows_fit").click().run()
    assert "share of memory bandwidth" in html(app)
    assert "--constant bandwidth_frac=" in html(app)
    assert "0 prefill rows" in html(app)


def test_a_bad_row_is_told_and_nothing_typed_is_lost() -> None:
    text = "\n".join([HEAD, *GOOD[:2], BAD])
    app = pasted(text)
    assert marks(app)["yours"] == 2
    assert "1 row could not be compared" in html(app)
    assert "value must be a number" in html(app)
    assert HOSTILE not in html(app)
    assert app.text_area(key="rows_text").value == text
    app.button(key="rows_fit").click().run()
    assert "Too few rows to fit a constant" in html(app)
    assert app.text_area(key="rows_text").value == text


@pytest.mark.parametrize(
    ("text", "words"),
    [("1,2,3", "lacks the column"), (HEAD, "no rows"), ("x" * 200_001, "at most 200,000"), ("\0" * 10, "lacks the column")],
)
def test_a_text_that_is_no_table_is_told_and_kept(text, words) -> None:
    app = pasted(text)
    assert words in html(app)
    assert app.text_area(key="rows_text").value == text
    assert "yours" not in marks(app)


def test_an_upload_fills_the_field() -> None:
    app = opened()
    app.file_uploader(key="rows_file").set_value(("own.csv", template().encode(), "text/csv")).run()
    assert app.text_area(key="rows_text").value == template()
    assert marks(app)["yours"] == 2
    app.file_uploader(key="rows_file").set_value(("own.csv", b"\xff\xfe\x00", "text/csv")).run()
    assert "The file is not text" in html(app)
    assert app.text_area(key="rows_text").value == template()


def test_the_file_holds_every_row_and_runs_nothing() -> None:
    rows = shipped_validation().rows
    frame = pd.read_csv(StringIO(csv_bytes(rows).decode()), keep_default_na=False)
    assert len(frame) == len(rows)
    assert {"id", "model", "hardware", "engine", "measured", "expected", "limit", "error", "reason", "address"} <= set(frame)


def test_the_file_is_english_whatever_the_page_is_told_in() -> None:
    english = csv_bytes(shipped_validation().rows)
    with told_in("id"):
        assert accuracy_page._file() == english


@pytest.mark.parametrize("by", ["kind", "phase", "engine", "hardware", "source"])
def test_groups_add_up_to_all_rows(by) -> None:
    frame = summary_frame(shipped_validation().summaries, by)
    assert frame["rows"].sum() == len(counted(shipped_validation().rows))
    assert (frame["median error"] <= frame["90th percentile"]).all()
